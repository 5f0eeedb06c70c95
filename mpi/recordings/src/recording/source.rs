//! A recording as a source of calls, in pieces that do not grow with the program.

use super::MpiRecording;
use super::stream::RankReader;
use crate::call::RankCalls;
use crate::error::ProgramError;
use crate::source::{CallSource, TakeCalls};

/// The most calls in one piece.
const PIECE: usize = 1024;

impl CallSource for MpiRecording {
    fn ranks(&self) -> usize {
        MpiRecording::ranks(self)
    }

    fn read_rank(&mut self, rank: usize, take: TakeCalls) -> Result<(), ProgramError> {
        let wrong = |error: super::RecordingError| match error {
            super::RecordingError::Rank { rank, byte, what } => {
                ProgramError::of_rank(rank, format!("byte {byte}: {what}"))
            }
            error => ProgramError::of_rank(rank, error.to_string()),
        };
        let mut reader = self.calls(rank).map_err(wrong)?;
        let mut piece = RankCalls { begin: reader.begin(), ..RankCalls::default() };
        while let Some(call) = reader.next_call().map_err(wrong)? {
            piece.calls.push(call);
            if piece.calls.len() == PIECE {
                complete(&mut piece, &reader);
                take(&piece)?;
                piece.calls.clear();
            }
        }
        complete(&mut piece, &reader);
        piece.unmodelled = reader.unmodelled().to_vec();
        take(&piece)
    }
}

/// Adds to a piece what the reader has come to know since the one before.
fn complete(piece: &mut RankCalls, reader: &RankReader) {
    piece.communicators.extend_from_slice(&reader.communicators()[piece.communicators.len()..]);
    piece.places.extend_from_slice(&reader.places()[piece.places.len()..]);
    (piece.end, piece.is_whole) = (reader.end(), reader.is_whole());
}
