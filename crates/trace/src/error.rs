//! The error for a file that is not a trace.

use std::fmt;

use loggp_model::text::escaped;

/// The version of both forms of file. It grows when an older reader would read a newer file wrongly.
pub(super) const VERSION: u64 = 1;

/// The refusal of a file of another version.
pub(super) const OTHER_VERSION: &str = "it has another version of its form, and only version 1 is read; take the loggp that wrote it, or write it anew";

/// The reason why a file is not a trace, in one sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is not the trace of a run: {0}")]
pub struct TraceError(String);

impl TraceError {
    pub(super) fn new(why: impl fmt::Display) -> TraceError {
        // The reason may quote the file at any length, so the quotation is cut; the place stands after the
        // quotation.
        let why = why.to_string();
        let (why, place) = why.split_at(why.rfind(" at line ").unwrap_or(why.len()));
        TraceError(format!("{}{place}", escaped(why).max_chars(400)))
    }
}
