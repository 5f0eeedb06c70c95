//! Where the calls of a program come from.

use crate::call::RankCalls;
use crate::error::ProgramError;

/// A recorded program, which hands over its calls rank by rank.
pub trait CallSource {
    /// Returns the number of ranks.
    fn ranks(&self) -> usize;

    /// Hands the calls of a rank to `take`, in one piece or in several. Each piece has all communicators and
    /// places of the pieces before it. `end` and `is_whole` count in the last one. A rank may be read again.
    ///
    /// A receive from any rank or with any tag gets the message that it really took if its completion is in the
    /// same piece, or if the receive itself already says so.
    fn read_rank(&mut self, rank: usize, take: TakeCalls) -> Result<(), ProgramError>;

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
