//! Why a recording cannot be read.

use std::borrow::Cow;
use std::io;

use super::bytes::Wrong;

/// Why a recording cannot be read: one sentence, with the rank and the byte of its file where they are known.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("{0}")]
    Request(String),
    #[error("byte {byte}: {what}")]
    Header { byte: u64, what: Cow<'static, str> },
    #[error("rank {rank}, byte {byte}: {what}")]
    Rank { rank: usize, byte: u64, what: Cow<'static, str> },
}

impl RecordingError {
    /// Converts an error in a header whose bytes begin at `from`.
    pub(super) fn header(from: u64, Wrong { at, what }: Wrong) -> Self {
        RecordingError::Header { byte: from + at as u64, what }
    }
}
