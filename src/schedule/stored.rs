//! A schedule as it is kept in memory.

use crate::time::Time;

/// What a rank does at one point of its schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Send a message.
    Send {
        /// The receiver.
        to: u32,
        /// How long it is.
        bytes: u64,
        /// What tells it from others between the same two; below `u32::MAX`.
        tag: u32,
    },
    /// Receive a message.
    Recv {
        /// The sender; nothing for any.
        from: Option<u32>,
        /// How long it is said to be; the message's own length counts.
        bytes: u64,
        /// Its tag, below `u32::MAX`; nothing for any.
        tag: Option<u32>,
    },
    /// Compute for so long.
    Calc(Time),
}

/// An operation, and which part of its rank's hardware it is for. Only LogGOPSim's rules know several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// What is done.
    pub what: Operation,
    /// Which of the rank's processors does it.
    pub cpu: u8,
    /// Which of its network interfaces sends or receives; a computation needs none.
    pub nic: u8,
}

/// A requirement: an operation that another one of the same rank has to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// The one that waits, as the rank's operations are counted.
    pub later: u32,
    /// The one that it waits for.
    pub earlier: u32,
    /// Whether the earlier one must only have begun, and need not be done.
    pub begun: bool,
}

/// What is wrong with a schedule, in one sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ScheduleError(String);

impl ScheduleError {
    /// The error that says so.
    pub fn new(sentence: impl Into<String>) -> ScheduleError {
        ScheduleError(sentence.into())
    }
}

/// What every rank does. A [`ScheduleBuilder`](crate::ScheduleBuilder) makes it, and a [`Player`](crate::Player) says how long it takes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// Where each rank's operations begin and end.
    pub(super) ranks: Vec<(u32, u32)>,
    /// All operations, each rank's in the order in which they were written.
    pub(super) operations: Vec<Packed>,
    /// Where each operation's followers begin; and the number of all.
    pub(super) first: Vec<u32>,
    /// The operations that wait for another one, by that.
    pub(super) followers: Vec<Follower>,
}

/// An operation as it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Packed {
    /// Its length in bytes; of a computation in picoseconds.
    pub size: u64,
    /// Whom it is sent to or received from.
    pub peer: u32,
    /// Its tag.
    pub tag: u32,
    /// For how many operations it waits.
    pub needs: u32,
    /// What it is.
    pub kind: Kind,
    /// Which processor does it.
    pub cpu: u8,
    /// Which network interface.
    pub nic: u8,
}

/// What kind of operation it is. Where several become free at once LogGOPSim takes them in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Send,
    Recv,
    Calc,
}

/// Any sender, or any tag.
pub(super) const ANY: u32 = u32::MAX;

/// An operation that waits for another one; and whether that must only have begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Follower(u32);

impl Follower {
    /// The flag of those that only wait for a beginning.
    const BEGUN: u32 = 1 << 31;

    /// An operation that waits for the end of another one, or for its beginning.
    pub(super) fn new(operation: u32, waits_for_begin: bool) -> Follower {
        Follower(operation | if waits_for_begin { Follower::BEGUN } else { 0 })
    }

    /// The operation.
    #[inline]
    pub(super) fn operation(self) -> u32 {
        self.0 & !Follower::BEGUN
    }

    /// Whether the other one must only have begun.
    #[inline]
    pub(super) fn waits_for_begin(self) -> bool {
        self.0 & Follower::BEGUN != 0
    }
}

impl Schedule {
    /// The most operations that a schedule has.
    pub const MOST_OPERATIONS: usize = (1 << 31) - 1;
    /// The most ranks that it has.
    pub const MOST_RANKS: usize = 1 << 24;

    /// The number of ranks.
    pub fn ranks(&self) -> usize {
        self.ranks.len()
    }

    /// The number of all operations.
    pub fn len(&self) -> usize {
        self.operations.len()
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// The number of all requirements.
    pub fn requirements(&self) -> usize {
        self.followers.len()
    }

    /// What a rank does, in the order in which it was written.
    ///
    /// # Panics
    ///
    /// If there is no such rank.
    pub fn operations(&self, rank: usize) -> impl ExactSizeIterator<Item = Placed> + '_ {
        let named = |number: u32| (number != ANY).then_some(number);
        self.operations[self.range(rank)].iter().map(
            move |&Packed { size, peer, tag, kind, cpu, nic, .. }| {
                let what = match kind {
                    Kind::Send => Operation::Send { to: peer, bytes: size, tag },
                    Kind::Recv => Operation::Recv { from: named(peer), bytes: size, tag: named(tag) },
                    Kind::Calc => Operation::Calc(Time::from_ps(size as i64)),
                };
                Placed { what, cpu, nic }
            },
        )
    }

    /// What waits for what in a rank, by what is waited for.
    ///
    /// # Panics
    ///
    /// If there is no such rank.
    pub fn requirements_of(&self, rank: usize) -> impl Iterator<Item = Requirement> + '_ {
        let range = self.range(rank);
        let begin = range.start as u32;
        range.flat_map(move |earlier| {
            self.followers(earlier as u32).iter().map(move |follower| Requirement {
                later: follower.operation() - begin,
                earlier: earlier as u32 - begin,
                begun: follower.waits_for_begin(),
            })
        })
    }

    /// Where a rank's operations lie among all.
    pub(super) fn range(&self, rank: usize) -> std::ops::Range<usize> {
        let (begin, end) = self.ranks[rank];
        begin as usize..end as usize
    }

    /// An operation by its number among all.
    #[inline]
    pub(super) fn operation(&self, operation: u32) -> &Packed {
        &self.operations[operation as usize]
    }

    /// All operations.
    pub(super) fn all(&self) -> &[Packed] {
        &self.operations
    }

    /// Those that wait for an operation.
    #[inline]
    pub(super) fn first_follower(&self, operation: u32) -> &u32 {
        &self.first[operation as usize]
    }

    /// The operations that wait for one.
    #[inline]
    pub(super) fn followers(&self, operation: u32) -> &[Follower] {
        let place = operation as usize;
        &self.followers[self.first[place] as usize..self.first[place + 1] as usize]
    }
}
