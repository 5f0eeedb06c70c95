//! Accesses to windows of checked programs: which bytes, by whom, and what orders them. Two that nothing orders are a fault if one
//! of them writes.
//!
//! An access lasts until a call ends it: a fence, an unlock, a flush, or the end of an exposure. Between fences all are beside each
//! other. Others are in order if a message, a collective, a lock or an atomic tells the later rank that the earlier access has
//! ended: so each rank has a clock, which counts the ends of all ranks that it can know of.

use loggp_mpi_trace::recording::post::{Access, AccessKind, Address, Guard};
use rustc_hash::FxHashMap;

use crate::board::CollectiveId;
use crate::failure::place_text;

/// The accesses to all windows, and the knowledge that ranks have of their ends.
#[derive(Default)]
pub(crate) struct Accesses {
    /// The accesses by window and the rank whose memory it is.
    pub known: FxHashMap<(u32, u32), Vec<KnownAccess>>,
    /// The rank that was the first to free a window, and its fences until then.
    pub freed: FxHashMap<u32, (usize, u64)>,
    /// The clock of each rank: the ends of all ranks that it can know of.
    pub clocks: Vec<Vec<u64>>,
    /// The ends that ranks knew of which came to a collective, and the number of ranks that have left it.
    pub meetings: FxHashMap<CollectiveId, (Vec<u64>, usize)>,
    /// The ends that ranks knew of which gave back a lock: one that they had alone, and one that they shared.
    pub locks: FxHashMap<(u32, u32), [Vec<u64>; 2]>,
    /// The ends that ranks knew of which made an atomic call for a memory.
    pub atomics: FxHashMap<(u32, u32), Vec<u64>>,
}

/// An access, by whom and from where.
pub(crate) struct KnownAccess {
    pub what: Access,
    pub by: usize,
    pub place: Address,
    /// The number of its end among those of its rank, once it has ended.
    pub end: Option<u64>,
}

/// The most accesses of a rank's memory that are known at once.
const MOST_KNOWN: usize = 1024;

/// Adds to a clock the ends that another one knows of.
pub(crate) fn merge(into: &mut Vec<u64>, from: &[u64]) {
    into.resize(into.len().max(from.len()), 0);
    into.iter_mut().zip(from).for_each(|(ours, theirs)| *ours = (*ours).max(*theirs));
}

impl Accesses {
    /// Notes that an access of a rank ends, and returns the number of that.
    pub(crate) fn end(&mut self, by: usize) -> u64 {
        self.clocks[by][by] += 1;
        self.clocks[by][by]
    }

    /// Forgets what has ended and all know of, and then the oldest.
    pub(crate) fn make_room(&mut self, key: (u32, u32)) {
        let Some(known) = self.known.get_mut(&key).filter(|known| known.len() >= MOST_KNOWN) else { return };
        let clocks = &self.clocks;
        let is_known_to_all = |access: &KnownAccess| {
            access.end.is_some_and(|end| clocks.iter().all(|clock| clock[access.by] >= end))
        };
        known.retain(|access| !is_known_to_all(access));
        known.drain(..known.len().saturating_sub(MOST_KNOWN / 2));
    }
}

impl KnownAccess {
    /// Returns whether the rank of the access is that whose memory it is.
    pub(crate) fn is_own(&self) -> bool {
        matches!(self.what.kind, AccessKind::Load | AccessKind::Store)
    }

    /// Returns whether nothing orders the two, of which this one has come first, where a rank makes the other that knows of these
    /// ends.
    fn is_beside(&self, other: &KnownAccess, clock: &[u64]) -> bool {
        use Guard::{Exclusive, Fence, Nothing, Shared, Start};
        if self.by == other.by {
            let is_of_other_epoch = self.what.guard == Start && other.what.guard != Start;
            return self.end.is_none() && !is_of_other_epoch && !(self.is_own() && other.is_own());
        }
        match (self.what.guard, other.what.guard) {
            (Fence | Nothing, Fence | Nothing) => self.what.phase == other.what.phase,
            (Start, Start) => true,
            (Shared, Shared | Nothing) | (Exclusive, Nothing) | (Nothing, Shared | Exclusive) => {
                self.end.is_none_or(|end| clock[self.by] < end)
            }
            _ => false,
        }
    }

    /// Returns the bytes that both reach for, from and to, if they may not.
    pub(crate) fn conflict(&self, other: &KnownAccess, clock: &[u64]) -> Option<(u64, u64)> {
        use AccessKind::{Accumulate, Get, Load};
        let reads = |access: &KnownAccess| matches!(access.what.kind, Get | Load);
        let both_sum = self.what.kind == Accumulate && other.what.kind == Accumulate;
        if reads(self) && reads(other) || both_sum || !self.is_beside(other, clock) {
            return None;
        }
        self.what.pieces.iter().find_map(|(from, bytes)| {
            let of_both = other
                .what
                .pieces
                .iter()
                .map(|(start, length)| (*from.max(start), (from + bytes).min(start + length)));
            of_both.into_iter().find(|(from, to)| from < to)
        })
    }

    /// Returns the access as text, such as `MPI_Put of rank 0 at main (put.c:12)`.
    pub(crate) fn text(&self) -> String {
        let before = if self.what.name == "a store" { " before the call" } else { "" };
        format!("{} of rank {}{before}{}", self.what.name, self.by, place_text(&self.place))
    }
}
