//! A collective, as one rank calls it.

use loggp_schedule::ScheduleError;

use super::Prerequisite;

/// Declares the kinds of collectives, each with its name.
macro_rules! collective_kinds {
    ($($Kind:ident = $name:literal,)+) => {
        /// A kind of collective.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum CollectiveKind {
            $($Kind,)+
        }

        impl CollectiveKind {
            /// All kinds, in the order of their numbers.
            pub const ALL: [CollectiveKind; [$($name),+].len()] = [$(CollectiveKind::$Kind),+];

            /// Returns MPI's name for it in small letters, without `MPI_`.
            pub fn name(self) -> &'static str {
                match self {
                    $(CollectiveKind::$Kind => $name,)+
                }
            }
        }
    };
}

// A recording has their numbers: their order stays.
collective_kinds! {
    Barrier = "barrier",
    Bcast = "bcast",
    Reduce = "reduce",
    Allreduce = "allreduce",
    Scan = "scan",
    Exscan = "exscan",
    Gather = "gather",
    Gatherv = "gatherv",
    Scatter = "scatter",
    Scatterv = "scatterv",
    Allgather = "allgather",
    Allgatherv = "allgatherv",
    Alltoall = "alltoall",
    Alltoallv = "alltoallv",
    Alltoallw = "alltoallw",
    ReduceScatter = "reduce_scatter",
    ReduceScatterBlock = "reduce_scatter_block",
    NeighborAllgather = "neighbor_allgather",
    NeighborAllgatherv = "neighbor_allgatherv",
    NeighborAlltoall = "neighbor_alltoall",
    NeighborAlltoallv = "neighbor_alltoallv",
    NeighborAlltoallw = "neighbor_alltoallw",
}

impl CollectiveKind {
    /// Returns the kind with this name, or `None`.
    pub fn find(name: &str) -> Option<CollectiveKind> {
        CollectiveKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns whether it combines values.
    pub fn is_reduction(self) -> bool {
        use CollectiveKind::*;
        matches!(self, Reduce | Allreduce | Scan | Exscan | ReduceScatter | ReduceScatterBlock)
    }

    /// Returns whether it has a root.
    pub fn has_root(self) -> bool {
        use CollectiveKind::*;
        matches!(self, Bcast | Reduce | Gather | Gatherv | Scatter | Scatterv)
    }

    /// Returns whether ranks exchange messages with their neighbours alone.
    pub fn is_of_neighbors(self) -> bool {
        self >= CollectiveKind::NeighborAllgather
    }
}

/// How many bytes a rank exchanges with each member (with each neighbour, in collectives of these).
#[derive(Clone, Copy, Debug)]
pub enum Sizes<'a> {
    Same(u64),
    /// In the order of members. Those that are missing are 0.
    Each(&'a [u64]),
}

impl Sizes<'_> {
    /// Returns the bytes for a member.
    pub fn of(self, member: usize) -> u64 {
        match self {
            Sizes::Same(bytes) => bytes,
            Sizes::Each(all) => all.get(member).copied().unwrap_or(0),
        }
    }

    /// Returns the bytes for all of this many members, at most `u64::MAX`.
    pub fn total(self, members: usize) -> u64 {
        match self {
            Sizes::Same(bytes) => bytes.saturating_mul(members as u64),
            Sizes::Each(all) => all.iter().fold(0, |sum: u64, bytes| sum.saturating_add(*bytes)),
        }
    }
}

/// A collective, as one rank calls it.
#[derive(Clone, Copy, Debug)]
pub struct CollectiveCall<'a> {
    pub kind: CollectiveKind,
    /// The root's place among the members; it does not matter where there is none.
    pub root: usize,
    /// What this rank gives. In a broadcast and in reductions it is the whole message; in `ReduceScatter` and
    /// `ReduceScatterBlock` the part of each member.
    pub sent: Sizes<'a>,
    /// The bytes that this rank gets.
    pub received: Sizes<'a>,
    /// The size of an element, at which libraries divide messages; 0 if it is not known.
    pub element: u64,
    /// Whether the operation of a reduction is commutative.
    pub is_commutative: bool,
    /// Whether it is the immediate form, such as `MPI_Ibcast`.
    pub is_immediate: bool,
    /// The neighbours to whom this rank sends, by their places among the members, in the order of sizes. A `None`
    /// is no process.
    pub destinations: &'a [Option<usize>],
    /// The neighbours from whom it receives.
    pub sources: &'a [Option<usize>],
}

impl<'a> CollectiveCall<'a> {
    /// Returns a call that gives and gets nothing, with a commutative operation.
    pub fn new(kind: CollectiveKind) -> CollectiveCall<'a> {
        CollectiveCall {
            kind,
            root: 0,
            sent: Sizes::Same(0),
            received: Sizes::Same(0),
            element: 0,
            is_commutative: true,
            is_immediate: false,
            destinations: &[],
            sources: &[],
        }
    }

    /// Returns the same call as another kind, with root 0: a part of the whole.
    pub(crate) fn part(
        &self,
        kind: CollectiveKind,
        sent: Sizes<'a>,
        received: Sizes<'a>,
    ) -> CollectiveCall<'a> {
        CollectiveCall { kind, root: 0, sent, received, ..*self }
    }

    /// Returns the bytes by which libraries choose, for a member, and for all.
    ///
    /// For a member: the whole message in a broadcast and in reductions; otherwise what a rank gives each other
    /// one, or their mean. For all: as much times the number of ranks.
    pub fn measure(&self, ranks: usize) -> (u64, u64) {
        use CollectiveKind::*;
        let P = ranks as u64;
        match self.kind {
            Bcast | Reduce | Allreduce | Scan | Exscan => (self.whole(), self.whole()),
            Allgatherv => {
                let total = self.received.total(ranks);
                (total / P.max(1), total)
            }
            ReduceScatter => {
                let total = self.sent.total(ranks);
                (total / P.max(1), total)
            }
            Allgather | Gather | Scatter | Alltoall | ReduceScatterBlock => {
                let block = self.sent.of(0).max(self.received.of(0));
                (block, block.saturating_mul(P))
            }
            Barrier | Gatherv | Scatterv | Alltoallv | Alltoallw => (0, 0),
            _ => (0, 0),
        }
    }

    /// Returns the bytes of the whole message, where all ranks have one of the same length. A barrier's is empty.
    pub(crate) fn whole(&self) -> u64 {
        match self.kind {
            CollectiveKind::Barrier => 0,
            _ => self.sent.of(0).max(self.received.of(0)),
        }
    }

    /// Returns the size of an element: the one that is known, or the largest of 8, 4 and 1 that divides all bytes.
    pub(crate) fn element_size(&self, ranks: usize) -> u64 {
        let divides = |size: u64| {
            let sizes = |sizes: Sizes| (0..ranks).all(|rank| sizes.of(rank).is_multiple_of(size));
            match self.kind {
                CollectiveKind::ReduceScatter => sizes(self.sent),
                _ => self.whole().is_multiple_of(size),
            }
        };
        let known = [self.element].into_iter().filter(|size| *size > 0);
        known.chain([8, 4]).find(|size| divides(*size)).unwrap_or(1)
    }

    /// Returns an error if the sizes are so large that their sums have no number.
    pub(crate) fn check(&self, ranks: usize) -> Result<(), ScheduleError> {
        const MOST: u64 = 1 << 56;
        let of = |sizes: Sizes| sizes.total(ranks.max(self.sources.len()).max(self.destinations.len()));
        if of(self.sent).max(of(self.received)) > MOST {
            let name = self.kind.name();
            return Err(ScheduleError::new(format!(
                "{name} has more than {MOST} bytes over {ranks} ranks; give fewer"
            )));
        }
        if let Some(place) =
            self.destinations.iter().chain(self.sources).flatten().find(|place| **place >= ranks)
        {
            let name = self.kind.name();
            return Err(ScheduleError::new(format!(
                "{name} has a neighbour {place} among {ranks} ranks; give one below that"
            )));
        }
        if ranks <= self.root && self.kind.has_root() {
            let (name, root) = (self.kind.name(), self.root);
            return Err(ScheduleError::new(format!(
                "{name} has root {root} among {ranks} ranks; give one below that"
            )));
        }
        Ok(())
    }
}

/// A rank's place in a collective.
#[derive(Clone, Copy, Debug)]
pub struct Member<'a> {
    /// The ranks of the schedule that take part, in the order of the communicator.
    pub members: &'a [u32],
    /// This rank's place among the members.
    pub id: usize,
    /// The tag of all messages.
    pub tag: u32,
    /// The operations that the collective waits for.
    pub before: &'a [Prerequisite],
}
