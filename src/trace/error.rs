//! Why a file is not a trace.

use std::fmt;

/// Why a file is not a trace, in one sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is not the trace of a run: {0}")]
pub struct TraceError(String);

impl TraceError {
    pub(super) fn new(why: impl fmt::Display) -> TraceError {
        TraceError(why.to_string().replace(char::is_control, " ")) // it may quote the file
    }
}
