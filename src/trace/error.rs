//! The error for a file that is not a trace.

use std::fmt;

use crate::text::escaped;

/// The reason why a file is not a trace, in one sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is not the trace of a run: {0}")]
pub struct TraceError(String);

impl TraceError {
    pub(super) fn new(why: impl fmt::Display) -> TraceError {
        // The reason may quote the file at any length, so the quotation is cut; the place stands after it.
        let why = why.to_string();
        let (why, place) = why.split_at(why.rfind(" at line ").unwrap_or(why.len()));
        TraceError(format!("{}{place}", escaped(why).max_chars(400)))
    }
}
