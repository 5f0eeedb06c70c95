//! Why a file is not a trace.

use std::fmt;

use crate::text::outside;

/// Why a file is not a trace, in one sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is not the trace of a run: {0}")]
pub struct TraceError(String);

impl TraceError {
    pub(super) fn new(why: impl fmt::Display) -> TraceError {
        // It may quote the file, as long as that is; and then it says where.
        let why = why.to_string();
        let (why, place) = why.split_at(why.rfind(" at line ").unwrap_or(why.len()));
        TraceError(format!("{}{place}", outside(why).most(400)))
    }
}
