//! Schedules: what every rank of a parallel program sends, receives and computes, and what of it must come first.
//!
//! A schedule has no data and no code, so millions of ranks fit into memory: an operation takes 28 bytes, and a
//! requirement four.

mod desk;
mod loggopsim;
mod papers;
mod player;
mod progress;
mod queue;
#[cfg(test)]
mod replay_tests;

use crate::time::Time;

pub use player::{Played, Player, Rules};
use player::{not_received, refuse, stuck};

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

/// What every rank does. A [`ScheduleBuilder`] makes it, and a [`Player`](crate::Player) says how long it takes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// Where each rank's operations begin and end.
    ranks: Vec<(u32, u32)>,
    /// All operations, each rank's in the order in which they were written.
    operations: Vec<Packed>,
    /// Where each operation's followers begin; and the number of all.
    first: Vec<u32>,
    /// The operations that wait for another one, by that.
    followers: Vec<Follower>,
}

/// An operation as it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Packed {
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
pub(crate) enum Kind {
    Send,
    Recv,
    Calc,
}

/// Any sender, or any tag.
pub(crate) const ANY: u32 = u32::MAX;

/// An operation that waits for another one; and whether that must only have begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Follower(u32);

impl Follower {
    /// The flag of those that only wait for a beginning.
    const BEGUN: u32 = 1 << 31;

    /// The operation.
    #[inline]
    pub fn operation(self) -> u32 {
        self.0 & !Follower::BEGUN
    }

    /// Whether the other one must only have begun.
    #[inline]
    pub fn waits_for_begin(self) -> bool {
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
    pub(crate) fn range(&self, rank: usize) -> std::ops::Range<usize> {
        let (begin, end) = self.ranks[rank];
        begin as usize..end as usize
    }

    /// An operation by its number among all.
    #[inline]
    pub(crate) fn operation(&self, operation: u32) -> &Packed {
        &self.operations[operation as usize]
    }

    /// All operations.
    pub(crate) fn all(&self) -> &[Packed] {
        &self.operations
    }

    /// Those that wait for an operation.
    #[inline]
    pub(crate) fn first_follower(&self, operation: u32) -> &u32 {
        &self.first[operation as usize]
    }

    /// The operations that wait for one.
    #[inline]
    pub(crate) fn followers(&self, operation: u32) -> &[Follower] {
        let place = operation as usize;
        &self.followers[self.first[place] as usize..self.first[place + 1] as usize]
    }
}

/// Makes a schedule, a rank after the other.
///
/// ```
/// use loggp::{Operation, Params, Player, ScheduleBuilder, US};
///
/// // Rank 0 sends to 1, which computes for 5 us and sends back.
/// let mut schedule = ScheduleBuilder::new(2)?;
/// schedule.rank(0)?;
/// schedule.add(Operation::Send { to: 1, bytes: 1, tag: 0 })?;
/// schedule.add(Operation::Recv { from: Some(1), bytes: 1, tag: Some(0) })?;
/// schedule.rank(1)?;
/// let receive = schedule.add(Operation::Recv { from: Some(0), bytes: 1, tag: Some(0) })?;
/// let compute = schedule.add(Operation::Calc(5 * US))?;
/// let send = schedule.add(Operation::Send { to: 0, bytes: 1, tag: 0 })?;
/// schedule.requires(compute, receive)?;
/// schedule.requires(send, compute)?;
///
/// let params = Params::builder(2).L(6 * US).o(2 * US).g(4 * US).build()?;
/// let replayed = Player::new(params).run(&schedule.build()?)?;
/// assert_eq!((replayed.time, replayed.finishes), (25 * US, vec![25 * US, 17 * US]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ScheduleBuilder {
    /// What there is of it.
    schedule: Schedule,
    /// The rank that is being written, if any.
    rank: Option<u32>,
    /// Its requirements: what is waited for, and what waits.
    requirements: Vec<(u32, Follower)>,
    /// Whether each of its requirements waits for what was written earlier, so that none wait for each other.
    in_order: bool,
    /// How many ranks there are to be.
    most: usize,
}

impl ScheduleBuilder {
    /// A schedule of so many ranks, which do nothing yet.
    pub fn new(ranks: usize) -> Result<ScheduleBuilder, ScheduleError> {
        if ranks == 0 || ranks > Schedule::MOST_RANKS {
            let most = Schedule::MOST_RANKS;
            return Err(ScheduleError(format!(
                "{ranks} is not a number of ranks; give one from 1 to {most}"
            )));
        }
        Ok(ScheduleBuilder {
            schedule: Schedule { first: vec![0], ..Schedule::default() },
            rank: None,
            requirements: Vec::new(),
            in_order: true,
            most: ranks,
        })
    }

    /// The number of ranks.
    pub fn ranks(&self) -> usize {
        self.most
    }

    /// Begins a rank. What is added belongs to it. Ranks come in their order, each once.
    pub fn rank(&mut self, rank: usize) -> Result<(), ScheduleError> {
        self.end_rank()?;
        let (next, last) = (self.schedule.ranks.len(), self.most - 1);
        if rank > last {
            return Err(ScheduleError(format!("there is no rank {rank}; there are ranks 0 to {last}")));
        }
        if rank != next {
            return Err(ScheduleError(match next > last {
                true => format!("rank {rank} comes again; write each once"),
                false => format!("rank {rank} comes where rank {next} belongs; write all in their order"),
            }));
        }
        let begin = self.schedule.operations.len() as u32;
        self.schedule.ranks.push((begin, begin));
        self.rank = Some(rank as u32);
        Ok(())
    }

    /// Adds an operation to the rank. Returns its number in the rank.
    pub fn add(&mut self, what: Operation) -> Result<u32, ScheduleError> {
        self.place(Placed { what, cpu: 0, nic: 0 })
    }

    /// Adds an operation for a processor and a network interface of the rank. Returns its number in the rank.
    pub fn place(&mut self, placed: Placed) -> Result<u32, ScheduleError> {
        let Some(rank) = self.rank else {
            return Err(ScheduleError("an operation belongs to no rank; begin one first".into()));
        };
        let Placed { what, cpu, nic } = placed;
        let nic = if matches!(what, Operation::Calc(_)) { 0 } else { nic };
        let last = self.ranks() - 1;
        let is_there = |peer: u32, does: &str| match (peer as usize) <= last {
            true => Ok(peer),
            false => {
                Err(ScheduleError(format!("rank {rank} {does} rank {peer}, and there are ranks 0 to {last}")))
            }
        };
        let is_tag = |tag: u32| match tag {
            ANY => Err(ScheduleError(format!("{ANY} is no tag; give one below it"))),
            tag => Ok(tag),
        };
        let (kind, peer, size, tag) = match what {
            Operation::Send { to, bytes, tag } => {
                (Kind::Send, is_there(to, "sends to")?, bytes, is_tag(tag)?)
            }
            Operation::Recv { from, bytes, tag } => {
                let from = from.map_or(Ok(ANY), |from| is_there(from, "receives from"))?;
                (Kind::Recv, from, bytes, tag.map_or(Ok(ANY), is_tag)?)
            }
            Operation::Calc(time) if (Time::ZERO..Time::MAX).contains(&time) => {
                (Kind::Calc, 0, time.as_ps() as u64, 0)
            }
            Operation::Calc(time) => {
                return Err(ScheduleError(format!(
                    "{time} is no time to compute for; give one from 0 to less than {}",
                    Time::MAX
                )));
            }
        };
        let schedule = &mut self.schedule;
        if schedule.operations.len() >= Schedule::MOST_OPERATIONS {
            let most = Schedule::MOST_OPERATIONS;
            return Err(ScheduleError(format!("there are more than {most} operations; give fewer")));
        }
        schedule.operations.push(Packed { size, peer, tag, needs: 0, kind, cpu, nic });
        let (begin, end) = &mut schedule.ranks[rank as usize];
        *end += 1;
        Ok(*end - *begin - 1)
    }

    /// An operation of the rank is not done before another one has been done.
    pub fn requires(&mut self, later: u32, earlier: u32) -> Result<(), ScheduleError> {
        self.require(Requirement { later, earlier, begun: false })
    }

    /// An operation of the rank is not begun before another one has been begun.
    pub fn irequires(&mut self, later: u32, earlier: u32) -> Result<(), ScheduleError> {
        self.require(Requirement { later, earlier, begun: true })
    }

    /// An operation of the rank waits for another one.
    pub fn require(&mut self, requirement: Requirement) -> Result<(), ScheduleError> {
        let Requirement { later, earlier, begun } = requirement;
        let (begin, end) = self.rank.map_or((0, 0), |rank| self.schedule.ranks[rank as usize]);
        if let Some(none) = [later, earlier].into_iter().find(|operation| *operation >= end - begin) {
            return Err(ScheduleError(format!(
                "a requirement names operation {none}, counted from 0, and its rank has {}",
                end - begin
            )));
        }
        if self.schedule.followers.len() + self.requirements.len() >= u32::MAX as usize {
            return Err(ScheduleError(format!("there are {} requirements and more; give fewer", u32::MAX)));
        }
        self.in_order &= earlier < later;
        self.schedule.operations[(begin + later) as usize].needs += 1;
        let flag = if begun { Follower::BEGUN } else { 0 };
        self.requirements.push((earlier, Follower((begin + later) | flag)));
        Ok(())
    }

    /// The schedule, if no operations wait for each other. Ranks that were not written do nothing.
    pub fn build(mut self) -> Result<Schedule, ScheduleError> {
        self.end_rank()?;
        let end = self.schedule.operations.len() as u32;
        self.schedule.ranks.resize(self.most, (end, end));
        self.schedule.operations.shrink_to_fit();
        self.schedule.followers.shrink_to_fit();
        Ok(self.schedule)
    }

    /// Ends the rank that is being written, if any: its requirements are put in order.
    fn end_rank(&mut self) -> Result<(), ScheduleError> {
        let Some(rank) = self.rank.take() else { return Ok(()) };
        let Schedule { ranks, operations, first, followers } = &mut self.schedule;
        let (begin, end) = ranks[rank as usize];
        // By what is waited for, and then as written.
        self.requirements.sort_unstable_by_key(|(earlier, Follower(later))| (*earlier, *later));
        let mut rest = self.requirements.drain(..).peekable();
        for operation in 0..end - begin {
            while let Some((_, follower)) = rest.next_if(|(earlier, _)| *earlier == operation) {
                followers.push(follower);
            }
            first.push(followers.len() as u32);
        }
        drop(rest);
        if std::mem::replace(&mut self.in_order, true) {
            return Ok(());
        }
        // Whatever can be done is done; what is left waits for itself.
        let mut needs: Vec<u32> =
            operations[begin as usize..].iter().map(|operation| operation.needs).collect();
        let mut free: Vec<u32> = (begin..end).filter(|op| needs[(op - begin) as usize] == 0).collect();
        let mut done = 0;
        while let Some(operation) = free.pop() {
            done += 1;
            for follower in self.schedule.followers(operation) {
                let left = &mut needs[(follower.operation() - begin) as usize];
                *left -= 1;
                if *left == 0 {
                    free.push(follower.operation());
                }
            }
        }
        match needs.iter().position(|needs| *needs > 0) {
            Some(first) if done < end - begin => Err(ScheduleError(format!(
                "operations of rank {rank} wait for each other, as number {first}, counted from 0, does; leave out a \
                 requirement"
            ))),
            _ => Ok(()),
        }
    }
}

impl ScheduleError {
    /// The error that says so.
    pub fn new(sentence: impl Into<String>) -> ScheduleError {
        ScheduleError(sentence.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::US;

    fn calcs(n: usize) -> ScheduleBuilder {
        let mut builder = ScheduleBuilder::new(2).unwrap();
        builder.rank(0).unwrap();
        (0..n).for_each(|n| assert_eq!(builder.add(Operation::Calc(US)), Ok(n as u32)));
        builder
    }

    #[test]
    fn what_was_written_is_there() {
        let mut builder = ScheduleBuilder::new(3).unwrap();
        builder.rank(0).unwrap();
        let placed = Placed { what: Operation::Send { to: 0, bytes: 9, tag: 4 }, cpu: 1, nic: 2 };
        assert_eq!(builder.place(placed), Ok(0));
        assert_eq!(builder.add(Operation::Calc(3 * US)), Ok(1));
        builder.irequires(1, 0).unwrap();
        builder.rank(1).unwrap();
        let receive = Operation::Recv { from: None, bytes: 9, tag: None };
        assert_eq!(builder.add(receive), Ok(0));
        let schedule = builder.build().unwrap();
        assert_eq!((schedule.ranks(), schedule.len(), schedule.requirements()), (3, 3, 1));
        let of = |rank| schedule.operations(rank).collect::<Vec<_>>();
        assert_eq!(of(0), [placed, Placed { what: Operation::Calc(3 * US), cpu: 0, nic: 0 }]);
        assert_eq!(of(1), [Placed { what: receive, cpu: 0, nic: 0 }]);
        assert_eq!(of(2), []);
        let requirements: Vec<_> = schedule.requirements_of(0).collect();
        assert_eq!(requirements, [Requirement { later: 1, earlier: 0, begun: true }]);
    }

    #[test]
    fn an_operation_is_small() {
        assert_eq!(size_of::<Packed>(), 24);
        assert_eq!(size_of::<Follower>(), 4);
    }

    #[test]
    fn refuses_in_one_sentence() {
        let said = |error: ScheduleError| error.to_string();
        assert!(said(ScheduleBuilder::new(0).unwrap_err()).contains("0 is not a number of ranks"));
        let mut builder = calcs(1);
        assert!(said(builder.rank(0).unwrap_err()).contains("rank 0 comes where rank 1 belongs"));
        assert!(said(builder.rank(2).unwrap_err()).contains("there is no rank 2; there are ranks 0 to 1"));
        assert!(said(builder.add(Operation::Calc(US)).unwrap_err()).contains("belongs to no rank"));
        let mut builder = calcs(1);
        let send = Operation::Send { to: 2, bytes: 1, tag: 0 };
        assert!(
            said(builder.add(send).unwrap_err())
                .contains("rank 0 sends to rank 2, and there are ranks 0 to 1")
        );
        assert!(said(builder.add(Operation::Calc(-US)).unwrap_err()).contains("is no time to compute for"));
        assert!(said(builder.requires(0, 1).unwrap_err()).contains("names operation 1"));
    }

    #[test]
    fn operations_must_not_wait_for_each_other() {
        let mut builder = calcs(3);
        builder.requires(1, 2).unwrap(); // what is written later may come first
        builder.requires(0, 1).unwrap();
        assert!(builder.clone().build().is_ok());
        builder.irequires(2, 0).unwrap();
        let error = builder.build().unwrap_err().to_string();
        assert!(error.contains("operations of rank 0 wait for each other, as number 0"), "{error}");
        let mut builder = calcs(1);
        builder.requires(0, 0).unwrap();
        assert!(builder.build().is_err());
    }
}
