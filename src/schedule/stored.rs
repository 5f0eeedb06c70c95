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
#[error("{sentence}")]
pub struct ScheduleError {
    sentence: String,
    /// The rank and the number of one of the operations that wait for each other, if that is what is wrong.
    in_circle: Option<(u32, u32)>,
}

impl ScheduleError {
    /// The error that says so.
    pub fn new(sentence: impl Into<String>) -> ScheduleError {
        ScheduleError { sentence: sentence.into(), in_circle: None }
    }

    /// The error that operations of a rank wait for each other, as this one does.
    pub(super) fn circle(rank: u32, operation: u32) -> ScheduleError {
        let name = format!("number {operation}, counted from 0,");
        ScheduleError { sentence: ScheduleError::circle_of(rank, &name), in_circle: Some((rank, operation)) }
    }

    /// What is wrong, in the words of who knows a name of the operation with this number, if operations wait for each other.
    pub fn naming(&self, name: impl FnOnce(u32) -> Option<String>) -> String {
        let named = self.in_circle.and_then(|(rank, operation)| Some((rank, name(operation)?)));
        named.map_or_else(|| self.sentence.clone(), |(rank, name)| ScheduleError::circle_of(rank, &name))
    }

    fn circle_of(rank: u32, name: &str) -> String {
        format!("operations of rank {rank} wait for each other, as {name} does; leave out a requirement")
    }
}

/// What every rank does. A [`ScheduleBuilder`](crate::ScheduleBuilder) makes it, and a [`Player`](crate::Player) says how long it takes.
///
/// Ranks that do the same share a script: they exchange messages with the same ranks, or with ranks as far away, or with those
/// whose numbers differ from theirs in the same bits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// What each rank does.
    pub(super) ranks: Vec<Role>,
    /// The operations of all scripts, each script's in the order in which they were written.
    pub(super) operations: Vec<Packed>,
    /// Where the followers of each operation of a script begin; and the number of all.
    pub(super) first: Vec<u32>,
    /// The operations that wait for another one, by that.
    pub(super) followers: Vec<Follower>,
    /// The number of all ranks' operations.
    pub(super) len: usize,
    /// The number of all ranks' requirements.
    pub(super) requirements: usize,
}

/// What a rank does: a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Role {
    /// The number of its first operation among those of all ranks.
    pub begin: u32,
    /// Where its script begins.
    pub place: u32,
    /// How many operations that has.
    pub len: u32,
    /// The rank from which its peers are counted.
    pub origin: u32,
    /// What is flipped in the numbers of its peers after that: of ranks that exchange with those that are some bits away, each
    /// finds its own in the script of the first.
    pub flip: u32,
}

/// An operation as it is stored in a script, or as a rank does it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Packed {
    /// Its length in bytes; of a computation in picoseconds.
    pub size: u64,
    /// Whom it is sent to or received from; in a script how far away that is.
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

/// Any sender, or any tag; and the peer of a computation.
pub(super) const ANY: u32 = u32::MAX;

/// An operation that waits for another one, by its number in its script; and whether that must only have begun.
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
        self.len
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The number of all requirements.
    pub fn requirements(&self) -> usize {
        self.requirements
    }

    /// What a rank does, in the order in which it was written.
    ///
    /// # Panics
    ///
    /// If there is no such rank.
    pub fn operations(&self, rank: usize) -> impl ExactSizeIterator<Item = Placed> + '_ {
        let named = |number: u32| (number != ANY).then_some(number);
        let Role { begin, len, .. } = self.ranks[rank];
        (0..len).map(move |number| {
            let Packed { size, peer, tag, kind, cpu, nic, .. } = self.operation(rank, begin + number);
            let what = match kind {
                Kind::Send => Operation::Send { to: peer, bytes: size, tag },
                Kind::Recv => Operation::Recv { from: named(peer), bytes: size, tag: named(tag) },
                Kind::Calc => Operation::Calc(Time::from_ps(size as i64)),
            };
            Placed { what, cpu, nic }
        })
    }

    /// What waits for what in a rank, by what is waited for.
    ///
    /// # Panics
    ///
    /// If there is no such rank.
    pub fn requirements_of(&self, rank: usize) -> impl Iterator<Item = Requirement> + '_ {
        let Role { place, len, .. } = self.ranks[rank];
        (0..len).flat_map(move |earlier| {
            self.followers((place + earlier) as usize).iter().map(move |follower| Requirement {
                later: follower.operation(),
                earlier,
                begun: follower.waits_for_begin(),
            })
        })
    }

    /// How many sends and computations wait for nothing.
    pub(super) fn ready_at_once(&self) -> usize {
        let mut before = vec![0];
        let is_ready = |packed: &Packed| packed.kind != Kind::Recv && packed.needs == 0;
        before.extend(self.operations.iter().scan(0, |count, packed| {
            *count += usize::from(is_ready(packed));
            Some(*count)
        }));
        let of_rank = |role: &Role| before[(role.place + role.len) as usize] - before[role.place as usize];
        self.ranks.iter().map(of_rank).sum()
    }

    /// The numbers of a rank's operations among all.
    pub(super) fn range(&self, rank: usize) -> std::ops::Range<u32> {
        let Role { begin, len, .. } = self.ranks[rank];
        begin..begin + len
    }

    /// Where a rank's operation lies in the scripts.
    #[inline]
    pub(super) fn place(&self, rank: usize, operation: u32) -> usize {
        let Role { begin, place, .. } = self.ranks[rank];
        (place + (operation - begin)) as usize
    }

    /// A rank's operation, by its number among all.
    #[inline]
    pub(super) fn operation(&self, rank: usize, operation: u32) -> Packed {
        let packed = self.operations[self.place(rank, operation)];
        Packed { peer: self.ranks[rank].peer(packed.peer, self.ranks.len() as u32), ..packed }
    }

    /// What the script of a rank calls a peer.
    #[inline]
    pub(super) fn in_script(&self, rank: usize, peer: u32) -> u32 {
        let Role { origin, flip, .. } = self.ranks[rank];
        distance(origin, peer ^ flip, self.ranks.len() as u32)
    }

    /// The operations that wait for one at a place in the scripts.
    #[inline]
    pub(super) fn followers(&self, place: usize) -> &[Follower] {
        &self.followers[self.first[place] as usize..self.first[place + 1] as usize]
    }

    /// Whether each of a rank's operations waits until the one before it is done, as calls that block do.
    pub(super) fn is_in_row(&self, rank: usize) -> bool {
        let Role { place, len, .. } = self.ranks[rank];
        (1..len).all(|later| {
            let before = (place + later - 1) as usize;
            self.followers(before).contains(&Follower::new(later, false))
        })
    }
}

impl Role {
    /// The peer that a script calls so.
    #[inline]
    pub(super) fn peer(&self, in_script: u32, ranks: u32) -> u32 {
        let Role { origin, flip, .. } = *self;
        match in_script {
            ANY => ANY,
            ahead if ahead < ranks - origin => (origin + ahead) ^ flip,
            ahead => (ahead - (ranks - origin)) ^ flip,
        }
    }
}

/// How far ahead of a rank another one is, where the first one comes after the last.
#[inline]
pub(super) fn distance(origin: u32, peer: u32, ranks: u32) -> u32 {
    if peer >= origin { peer - origin } else { peer + (ranks - origin) }
}
