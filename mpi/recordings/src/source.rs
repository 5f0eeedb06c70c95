//! Where the calls of a program come from.

use crate::call::{RankCalls, Unmodelled};
use crate::error::ProgramError;

/// A recorded program, which hands over its calls rank by rank.
pub trait CallSource {
    /// Returns the number of ranks.
    fn ranks(&self) -> usize;

    /// Hands the calls of a rank to `take`, in one piece or in several. Each piece has all communicators and
    /// places of the pieces before it. `end` and `is_whole` count in the last one. A rank may be read again.
    fn read_rank(&mut self, rank: usize, take: TakeCalls) -> Result<(), ProgramError>;

    /// Returns whether what completes a receive says so, and which message it took. Else one that never completes may have
    /// taken any.
    fn knows_taken(&self) -> bool {
        true
    }

    /// Returns the calls that were read as computing and are in no rank's list, once everything is read.
    fn unread(&self) -> Vec<Unmodelled> {
        Vec::new()
    }

    /// Returns sentences about what the source could not read and left out, once everything is read.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }
}

/// What takes a piece of a rank's calls.
pub type TakeCalls<'a> = &'a mut dyn FnMut(&RankCalls) -> Result<(), ProgramError>;

impl CallSource for Vec<RankCalls> {
    fn ranks(&self) -> usize {
        self.len()
    }

    fn read_rank(&mut self, rank: usize, take: TakeCalls) -> Result<(), ProgramError> {
        take(&self[rank])
    }
}
