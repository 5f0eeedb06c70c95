//! Schedules in memory.

use loggp_model::time::Time;

use super::operations::{ANY, OperationKind, OperationList, PackedOperation};

/// An operation of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Send a message.
    Send {
        /// The receiver.
        to: u32,
        /// Length in bytes.
        bytes: u64,
        /// Tag, below `u32::MAX`.
        tag: u32,
    },
    /// Receive a message.
    Recv {
        /// The sender; `None` for any.
        from: Option<u32>,
        /// Length in bytes as the receiver states it; costs depend on the message's own length.
        bytes: u64,
        /// Tag, below `u32::MAX`; `None` for any.
        tag: Option<u32>,
    },
    /// Compute for this time.
    Calc(Time),
    /// Wait until this moment of the run to send, unless the gap before the rank's next send lasts as long.
    /// GOAL and LogGOPSim have no such operation.
    WaitUntil(Time),
    /// Put something into another rank's memory, for which that one does nothing. GOAL and LogGOPSim have no such
    /// operation, nor the next two.
    Put {
        /// The rank whose memory it is.
        to: u32,
        /// Length in bytes.
        bytes: u64,
    },
    /// Get something from another rank's memory. It has begun when it is asked for, and is done when it is there.
    Get {
        /// The rank whose memory it is.
        from: u32,
        /// Length of the request in bytes.
        asked: u32,
        /// Length of what comes back in bytes.
        bytes: u64,
    },
    /// Wait until all is there that this rank has put into a memory, or into all.
    Flush {
        /// The rank whose memory it is; `None` for all.
        to: Option<u32>,
    },
}

impl Operation {
    /// Returns what its rank does that GOAL and LogGOPSim do not know, in words, or `None` if they do.
    #[doc(hidden)]
    pub fn beyond_goal(&self) -> Option<&'static str> {
        match self {
            Operation::Send { .. } | Operation::Recv { .. } | Operation::Calc(_) => None,
            Operation::WaitUntil(_) => Some("waits for a moment"),
            Operation::Put { .. } | Operation::Get { .. } | Operation::Flush { .. } => {
                Some("reaches into another one's memory")
            }
        }
    }
}

/// An operation together with the part of its rank's hardware that performs it. Only LogGOPSim's rules use
/// several parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlacedOperation {
    /// The operation.
    pub operation: Operation,
    /// The number of the processor within the rank.
    pub cpu: u8,
    /// The number of the network interface within the rank; a computation needs none.
    pub nic: u8,
}

/// A requirement: one operation of a rank waits for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// The operation that waits, by its number in the rank.
    pub later: u32,
    /// The operation that it waits for, by its number in the rank.
    pub earlier: u32,
    /// `true` if the earlier operation needs only have begun and not be done.
    pub begun: bool,
}

/// The reason why a schedule is invalid, in one sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{sentence}")]
pub struct ScheduleError {
    sentence: String,
    /// For a cycle, the rank and the number of one of its operations.
    in_cycle: Option<(u32, u32)>,
}

impl ScheduleError {
    /// Creates an error with this sentence.
    pub fn new(sentence: impl Into<String>) -> ScheduleError {
        ScheduleError { sentence: sentence.into(), in_cycle: None }
    }

    /// Creates the error for a cycle that contains this operation of this rank.
    pub(super) fn cycle(rank: u32, operation: u32) -> ScheduleError {
        let name = format!("number {operation}, counted from 0,");
        ScheduleError {
            sentence: ScheduleError::cycle_sentence(rank, &name),
            in_cycle: Some((rank, operation)),
        }
    }

    /// Returns the sentence, in which for a cycle the operation has the name that `name` returns for its
    /// number, if any.
    pub fn sentence_naming(&self, name: impl FnOnce(u32) -> Option<String>) -> String {
        let named = self.in_cycle.and_then(|(rank, operation)| Some((rank, name(operation)?)));
        named.map_or_else(|| self.sentence.clone(), |(rank, name)| ScheduleError::cycle_sentence(rank, &name))
    }

    fn cycle_sentence(rank: u32, name: &str) -> String {
        format!("operations of rank {rank} wait for each other, as {name} does; leave out a requirement")
    }
}

/// The operations of every rank. A [`ScheduleBuilder`](crate::ScheduleBuilder) makes a schedule,
/// and a [`Player`](crate::Player) plays it.
///
/// Equal ranks share a script: those that exchange messages with the same ranks, with ranks at the same
/// distances, or with ranks whose numbers differ from theirs in the same bits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// The script of each rank.
    pub(super) ranks: Vec<RankScript>,
    /// The operations of all scripts, each script's in the order in which they were written.
    pub(super) operations: OperationList,
    /// For each operation of the scripts, the index of its first follower; at the end the number of
    /// followers.
    pub(super) first: Vec<u32>,
    /// The operations that wait for another, sorted by the other.
    pub(super) followers: Vec<Follower>,
    pub(super) len: usize,
    pub(super) requirements: usize,
    /// The number of sends, computations and waits of all ranks that wait for nothing.
    pub(super) initially_ready: usize,
}

/// The script of a rank, and how its peers are numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RankScript {
    /// The number of the rank's first operation among those of all ranks.
    pub begin: u32,
    /// The index of the script's first operation.
    pub index: u32,
    /// The number of operations.
    pub len: u32,
    /// The rank from which the script counts peers.
    pub origin: u32,
    /// Bits that are then flipped in the number of a peer. With these, ranks whose peers differ from them in
    /// the same bits share the script of the first such rank.
    pub flip: u32,
    /// True if each operation waits until the one before it is done, like blocking calls.
    pub is_in_row: bool,
}

/// An operation that waits for another one: its number in the script, and a flag if the other needs only have
/// begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Follower(u32);

impl Follower {
    const ONLY_START: u32 = 1 << 31;

    /// Creates a follower that waits for the other operation's beginning or for its end.
    pub(super) fn new(operation: u32, waits_for_begin: bool) -> Follower {
        Follower(operation | if waits_for_begin { Follower::ONLY_START } else { 0 })
    }

    /// Returns the number of the operation that waits.
    #[inline]
    pub(super) fn operation(self) -> u32 {
        self.0 & !Follower::ONLY_START
    }

    /// Returns whether the other operation needs only have begun.
    #[inline]
    pub(super) fn needs_only_start(self) -> bool {
        self.0 & Follower::ONLY_START != 0
    }
}

impl PackedOperation {
    fn placed(self) -> PlacedOperation {
        let named = |number: u32| (number != ANY).then_some(number);
        let PackedOperation { kind, peer, tag, cpu, nic, .. } = self;
        let operation = match kind {
            OperationKind::Send(bytes) => Operation::Send { to: peer, bytes, tag },
            OperationKind::Recv(bytes) => Operation::Recv { from: named(peer), bytes, tag: named(tag) },
            OperationKind::Calc(time) => Operation::Calc(time),
            OperationKind::WaitUntil(time) => Operation::WaitUntil(time),
            OperationKind::Put(bytes) => Operation::Put { to: peer, bytes },
            OperationKind::Get(bytes) => Operation::Get { from: peer, asked: tag, bytes },
            OperationKind::Flush => Operation::Flush { to: named(peer) },
        };
        PlacedOperation { operation, cpu, nic }
    }
}

impl Schedule {
    /// The most operations that a schedule can have.
    pub const MOST_OPERATIONS: usize = (1 << 31) - 1;
    /// The most ranks that a schedule can have.
    pub const MOST_RANKS: usize = 1 << 24;

    /// Returns the number of ranks.
    pub fn ranks(&self) -> usize {
        self.ranks.len()
    }

    /// Returns the number of operations of all ranks.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether the schedule has no operations.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the number of requirements of all ranks.
    pub fn requirements(&self) -> usize {
        self.requirements
    }

    /// Returns the operations of a rank in the order in which they were written.
    ///
    /// # Panics
    ///
    /// If there is no such rank.
    pub fn operations(&self, rank: usize) -> impl ExactSizeIterator<Item = PlacedOperation> + '_ {
        self.range(rank).map(move |operation| self.placed(rank, operation))
    }

    /// Returns an operation of a rank by its number within the rank, or `None` if there is none.
    pub fn operation_at(&self, rank: usize, number: u32) -> Option<PlacedOperation> {
        let RankScript { begin, len, .. } = *self.ranks.get(rank)?;
        (number < len).then(|| self.placed(rank, begin + number))
    }

    fn placed(&self, rank: usize, operation: u32) -> PlacedOperation {
        self.operation(rank, operation).placed()
    }

    /// Returns the requirements of a rank, sorted by the earlier operation, those for its end first, and then in
    /// the order in which they were added.
    ///
    /// # Panics
    ///
    /// If there is no such rank.
    pub fn requirements_of(&self, rank: usize) -> impl Iterator<Item = Requirement> + '_ {
        let RankScript { index, len, .. } = self.ranks[rank];
        (0..len).flat_map(move |earlier| {
            self.followers((index + earlier) as usize).iter().map(move |follower| Requirement {
                later: follower.operation(),
                earlier,
                begun: follower.needs_only_start(),
            })
        })
    }

    /// Returns what a rank does that LogGOPSim does not know, if one does.
    pub(super) fn beyond_goal(&self) -> Option<&'static str> {
        self.operations.iter().find_map(|packed| packed.placed().operation.beyond_goal())
    }

    /// Returns the numbers of a rank's operations among those of all ranks.
    pub(super) fn range(&self, rank: usize) -> std::ops::Range<u32> {
        let RankScript { begin, len, .. } = self.ranks[rank];
        begin..begin + len
    }

    /// Returns the index in the scripts of a rank's operation.
    #[inline]
    pub(super) fn index(&self, rank: usize, operation: u32) -> usize {
        let RankScript { begin, index, .. } = self.ranks[rank];
        (index + (operation - begin)) as usize
    }

    /// Returns a rank's operation by its number among those of all ranks.
    #[inline(always)]
    pub(super) fn operation(&self, rank: usize, operation: u32) -> PackedOperation {
        self.operation_of(&self.ranks[rank], operation)
    }

    /// Returns the operation of a number among those of all ranks, which is one of this rank.
    #[inline(always)]
    pub(super) fn operation_of(&self, script: &RankScript, operation: u32) -> PackedOperation {
        let packed = self.operations.get((script.index + (operation - script.begin)) as usize);
        PackedOperation { peer: script.peer(packed.peer, self.ranks.len() as u32), ..packed }
    }

    /// Returns the number that the script of a rank has for a peer.
    #[inline]
    pub(super) fn peer_in_script(&self, rank: usize, peer: u32) -> u32 {
        let RankScript { origin, flip, .. } = self.ranks[rank];
        distance(origin, peer ^ flip, self.ranks.len() as u32)
    }

    /// Returns the operations that wait for the one at an index in the scripts.
    #[inline]
    pub(super) fn followers(&self, index: usize) -> &[Follower] {
        &self.followers[self.first[index] as usize..self.first[index + 1] as usize]
    }

    /// Computes whether each of a rank's operations waits until the one before it is done.
    pub(super) fn is_in_row(&self, rank: usize) -> bool {
        let RankScript { index, len, .. } = self.ranks[rank];
        (1..len).all(|later| {
            let before = (index + later - 1) as usize;
            self.followers(before).contains(&Follower::new(later, false))
        })
    }
}

impl RankScript {
    /// Returns the peer for a number in the script.
    #[inline]
    pub(super) fn peer(&self, in_script: u32, ranks: u32) -> u32 {
        let RankScript { origin, flip, .. } = *self;
        match in_script {
            ANY => ANY,
            ahead if ahead < ranks - origin => (origin + ahead) ^ flip,
            ahead => (ahead - (ranks - origin)) ^ flip,
        }
    }
}

/// Returns how far `peer` is ahead of `origin` on the ring of all ranks.
#[inline]
pub(super) fn distance(origin: u32, peer: u32, ranks: u32) -> u32 {
    if peer >= origin { peer - origin } else { peer + (ranks - origin) }
}
