//! Builds schedules, and checks that they can be played.

use std::collections::HashMap;

use loggp_model::time::Time;

use super::operations::{ANY, LatestEntries, OperationKind, PackedOperation};
use super::storage::{
    Follower, Operation, PlacedOperation, RankScript, Requirement, Schedule, ScheduleError, distance,
};

/// A builder of a schedule, which is written one rank after the other.
///
/// ```
/// use loggp::{Params, US};
/// use loggp::schedule::{Operation, Player, ScheduleBuilder};
///
/// // Rank 0 sends to 1, which computes for 5 us and sends back.
/// let mut schedule = ScheduleBuilder::new(2)?;
/// schedule.begin_rank(0)?;
/// schedule.add(Operation::Send { to: 1, bytes: 1, tag: 0 })?;
/// schedule.add(Operation::Recv { from: Some(1), bytes: 1, tag: Some(0) })?;
/// schedule.begin_rank(1)?;
/// let receive = schedule.add(Operation::Recv { from: Some(0), bytes: 1, tag: Some(0) })?;
/// let compute = schedule.add(Operation::Calc(5 * US))?;
/// let send = schedule.add(Operation::Send { to: 0, bytes: 1, tag: 0 })?;
/// schedule.require_done(compute, receive)?;
/// schedule.require_done(send, compute)?;
///
/// let params = Params::builder(2).L(6 * US).o(2 * US).g(4 * US).build()?;
/// let report = Player::new(params).run(&schedule.build()?)?;
/// assert_eq!((report.time, report.finishes), (25 * US, vec![25 * US, 17 * US]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ScheduleBuilder {
    schedule: Schedule,
    /// The rank being written.
    rank: Option<u32>,
    /// Requirements of that rank: the earlier operation, and the one that waits for it.
    requirements: Vec<(u32, Follower)>,
    /// True while every requirement of the rank names an earlier operation that was written first: then there
    /// is no cycle.
    in_order: bool,
    rank_count: usize,
    latest: LatestEntries,
    /// The length of the table of operations when the rank was begun.
    table_begin: usize,
    /// The first rank with each script, by the hash of the script under each [`PeerNaming`].
    first_with_hash: HashMap<u64, u32>,
}

/// A way to number the peers of a rank, so that two ranks with the same numbers can share a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PeerNaming {
    /// By distance from the rank.
    Distance,
    /// By the bits in which the peer's number differs from the rank's.
    Bits,
    /// By the peer's own number.
    Number,
}

impl ScheduleBuilder {
    /// Creates a builder for `ranks` ranks, which do nothing yet.
    pub fn new(ranks: usize) -> Result<ScheduleBuilder, ScheduleError> {
        if ranks == 0 || ranks > Schedule::MOST_RANKS {
            let most = Schedule::MOST_RANKS;
            return refuse(format!("{ranks} is not a number of ranks; give one from 1 to {most}"));
        }
        Ok(ScheduleBuilder {
            schedule: Schedule { first: vec![0], ..Schedule::default() },
            rank: None,
            requirements: Vec::new(),
            in_order: true,
            latest: LatestEntries::default(),
            table_begin: 0,
            rank_count: ranks,
            first_with_hash: HashMap::new(),
        })
    }

    /// Returns the number of ranks.
    pub fn ranks(&self) -> usize {
        self.rank_count
    }

    /// Returns the number of operations so far.
    pub fn operation_count(&self) -> usize {
        self.schedule.len()
    }

    /// Begins a rank, to which all operations belong that are added next. Ranks are begun in ascending order,
    /// each once.
    pub fn begin_rank(&mut self, rank: usize) -> Result<(), ScheduleError> {
        self.end_rank()?;
        let (next, last) = (self.schedule.ranks.len(), self.rank_count - 1);
        if rank > last {
            return refuse(format!("there is no rank {rank}; there are ranks 0 to {last}"));
        } else if next > last {
            return refuse(format!("rank {rank} comes again; write each once"));
        } else if rank != next {
            return refuse(format!("rank {rank} comes where rank {next} belongs; write all in their order"));
        }
        let (begin, index) = (self.schedule.len as u32, self.schedule.operations.len() as u32);
        self.schedule.ranks.push(RankScript {
            begin,
            index,
            len: 0,
            origin: rank as u32,
            flip: 0,
            is_in_row: true,
        });
        self.table_begin = self.schedule.operations.table_len();
        self.rank = Some(rank as u32);
        Ok(())
    }

    /// Adds an operation to the rank and returns its number within the rank.
    pub fn add(&mut self, operation: Operation) -> Result<u32, ScheduleError> {
        self.add_placed(PlacedOperation { operation, cpu: 0, nic: 0 })
    }

    /// Adds an operation for one processor and one network interface of the rank, and returns its number
    /// within the rank.
    #[inline]
    pub fn add_placed(&mut self, placed: PlacedOperation) -> Result<u32, ScheduleError> {
        let Some(rank) = self.rank else {
            return refuse("an operation belongs to no rank; begin one first".into());
        };
        let PlacedOperation { operation, cpu, nic } = placed;
        let (last, P) = (self.ranks() - 1, self.ranks() as u32);
        let ahead = |peer: u32| distance(rank, peer, P);
        let check_peer = |peer: u32, does: &str| match (peer as usize) <= last {
            true => Ok(()),
            false => refuse(format!("rank {rank} {does} rank {peer}, and there are ranks 0 to {last}")),
        };
        let (kind, peer, tag, nic) = match operation {
            Operation::Send { tag: ANY, .. } | Operation::Recv { tag: Some(ANY), .. } => {
                return refuse(format!("{ANY} is no tag; give one below it"));
            }
            Operation::Send { to, bytes, tag } => {
                check_peer(to, "sends to")?;
                (OperationKind::Send(bytes), ahead(to), tag, nic)
            }
            Operation::Recv { from, bytes, tag } => {
                from.map_or(Ok(()), |from| check_peer(from, "receives from"))?;
                (OperationKind::Recv(bytes), from.map_or(ANY, ahead), tag.unwrap_or(ANY), nic)
            }
            Operation::Put { to, bytes } => {
                check_peer(to, "puts into the memory of")?;
                (OperationKind::Put(bytes), ahead(to), 0, nic)
            }
            Operation::Get { from, asked, bytes } => {
                check_peer(from, "gets from the memory of")?;
                (OperationKind::Get(bytes), ahead(from), asked, nic)
            }
            Operation::Flush { to } => {
                to.map_or(Ok(()), |to| check_peer(to, "waits for the memory of"))?;
                (OperationKind::Flush, to.map_or(ANY, ahead), 0, nic)
            }
            Operation::Calc(time) if (Time::ZERO..Time::MAX).contains(&time) => {
                (OperationKind::Calc(time), ANY, 0, 0)
            }
            Operation::WaitUntil(time) if (Time::ZERO..Time::MAX).contains(&time) => {
                (OperationKind::WaitUntil(time), ANY, 0, 0)
            }
            Operation::WaitUntil(time) => {
                let most = Time::MAX;
                return refuse(format!(
                    "{time} is no moment to wait for; give one from 0 to less than {most}"
                ));
            }
            Operation::Calc(time) => {
                let most = Time::MAX;
                return refuse(format!(
                    "{time} is no time to compute for; give one from 0 to less than {most}"
                ));
            }
        };
        let packed = PackedOperation { kind, peer, tag, waits: false, cpu, nic };
        let schedule = &mut self.schedule;
        if schedule.len >= Schedule::MOST_OPERATIONS {
            let most = Schedule::MOST_OPERATIONS;
            return refuse(format!("there are more than {most} operations; give fewer"));
        }
        schedule.operations.push(packed, &mut self.latest);
        schedule.len += 1;
        let RankScript { len, .. } = &mut schedule.ranks[rank as usize];
        *len += 1;
        Ok(*len - 1)
    }

    /// Makes operation `later` wait until operation `earlier` of the same rank is done.
    pub fn require_done(&mut self, later: u32, earlier: u32) -> Result<(), ScheduleError> {
        self.require(Requirement { later, earlier, begun: false })
    }

    /// Makes operation `later` wait until operation `earlier` of the same rank has begun.
    pub fn require_started(&mut self, later: u32, earlier: u32) -> Result<(), ScheduleError> {
        self.require(Requirement { later, earlier, begun: true })
    }

    /// Adds a requirement between two operations of the rank.
    pub fn require(&mut self, requirement: Requirement) -> Result<(), ScheduleError> {
        let Requirement { later, earlier, begun } = requirement;
        let script = self.rank.map(|rank| self.schedule.ranks[rank as usize]);
        let (last, count) = (later.max(earlier), script.map_or(0, |script| script.len));
        let Some(script) = script.filter(|_| last < count) else {
            return refuse(format!(
                "a requirement names operation {last}, counted from 0, and its rank has {count}"
            ));
        };
        if self.schedule.followers.len() + self.requirements.len() >= u32::MAX as usize {
            return refuse(format!("there are {} requirements and more; give fewer", u32::MAX));
        }
        self.in_order &= earlier < later;
        self.schedule.operations.set_waits((script.index + later) as usize);
        self.schedule.requirements += 1;
        self.requirements.push((earlier, Follower::new(later, begun)));
        Ok(())
    }

    /// Returns the schedule, or an error if operations wait for each other. Ranks that were not begun do
    /// nothing.
    pub fn build(mut self) -> Result<Schedule, ScheduleError> {
        self.end_rank()?;
        let (begin, index) = (self.schedule.len as u32, self.schedule.operations.len() as u32);
        self.schedule.ranks.resize(
            self.rank_count,
            RankScript { begin, index, len: 0, origin: 0, flip: 0, is_in_row: true },
        );
        self.schedule.operations.shrink_to_fit();
        self.schedule.followers.shrink_to_fit();
        Ok(self.schedule)
    }

    /// Ends the rank being written, if any: sorts its requirements, and shares the script of another rank if
    /// it has the same one. Beginning the next rank does this too.
    pub fn end_rank(&mut self) -> Result<(), ScheduleError> {
        let Some(rank) = self.rank.take() else { return Ok(()) };
        let Schedule { ranks, operations, first, followers, initially_ready, .. } = &mut self.schedule;
        let RankScript { index, len, .. } = ranks[rank as usize];
        first.resize((index + len) as usize + 1, 0);
        sort_followers(&mut self.requirements, &mut first[index as usize..], followers);
        let is_ready = |index: &usize| !operations.is_receive(*index) && !operations.get(*index).waits;
        let written = index as usize..(index + len) as usize;
        *initially_ready += written.filter(is_ready).count();
        self.schedule.ranks[rank as usize].is_in_row = self.schedule.is_in_row(rank as usize);
        let in_order = std::mem::replace(&mut self.in_order, true);
        if self.try_share_script(rank) {
            let Schedule { operations, first, followers, .. } = &mut self.schedule;
            operations.truncate(index as usize, self.table_begin);
            first.truncate(index as usize + 1);
            followers.truncate(first[index as usize] as usize);
            return Ok(());
        }
        if in_order { Ok(()) } else { self.check_order(rank) }
    }

    /// Looks for an earlier rank with the same script as `rank`, and makes the two share it. Returns whether
    /// there is one.
    fn try_share_script(&mut self, rank: u32) -> bool {
        let (P, schedule) = (self.ranks() as u32, &self.schedule);
        let script = schedule.ranks[rank as usize];
        let written = |script: RankScript| script.index as usize..(script.index + script.len) as usize;
        let followers = |script: RankScript| written(script).map(|index| schedule.followers(index));
        let operations = |rank: u32, peers: PeerNaming| {
            let script = schedule.ranks[rank as usize];
            written(script).map(move |index| {
                let packed = schedule.operations.get(index);
                let peer = match peers {
                    _ if packed.peer == ANY => ANY,
                    PeerNaming::Distance => packed.peer,
                    PeerNaming::Bits => script.peer(packed.peer, P) ^ rank,
                    PeerNaming::Number => script.peer(packed.peer, P),
                };
                PackedOperation { peer, ..packed }
            })
        };
        let is_same = |other: u32, peers: PeerNaming| {
            let script_of_other = schedule.ranks[other as usize];
            script_of_other.len == script.len
                && operations(other, peers).eq(operations(rank, peers))
                && followers(script_of_other).eq(followers(script))
        };
        const ALL: [PeerNaming; 3] = [PeerNaming::Distance, PeerNaming::Bits, PeerNaming::Number];
        // Mostly it is the rank before.
        let before = rank.checked_sub(1).into_iter().flat_map(|before| ALL.map(|peers| (before, peers)));
        let mut same = before.into_iter().find(|(before, peers)| is_same(*before, *peers));
        if same.is_none() {
            same = ALL.into_iter().find_map(|peers| {
                let begin = peers as u64 ^ u64::from(script.len) << 8;
                let hash = operations(rank, peers).take(MOST_HASHED).fold(begin, add_to_hash);
                let other = *self.first_with_hash.entry(hash).or_insert(rank);
                (other != rank && is_same(other, peers)).then_some((other, peers))
            });
        }
        let Some((other, peers)) = same else { return false };
        let RankScript { index, origin, flip, .. } = schedule.ranks[other as usize];
        self.schedule.ranks[rank as usize] = match peers {
            PeerNaming::Distance => RankScript { index, ..script },
            PeerNaming::Bits => RankScript { index, origin, flip: flip ^ other ^ rank, ..script },
            PeerNaming::Number => RankScript { index, origin, flip, ..script },
        };
        true
    }

    /// Returns an error if operations of the rank wait for each other.
    fn check_order(&self, rank: u32) -> Result<(), ScheduleError> {
        let RankScript { index, len, .. } = self.schedule.ranks[rank as usize];
        // Topological order: operations that are never free are in a cycle.
        let mut needs = vec![0u32; len as usize];
        for operation in 0..len {
            for follower in self.schedule.followers((index + operation) as usize) {
                needs[follower.operation() as usize] += 1;
            }
        }
        let mut free: Vec<u32> = (0..len).filter(|operation| needs[*operation as usize] == 0).collect();
        let mut done = 0;
        while let Some(operation) = free.pop() {
            done += 1;
            for follower in self.schedule.followers((index + operation) as usize) {
                let left = &mut needs[follower.operation() as usize];
                *left -= 1;
                if *left == 0 {
                    free.push(follower.operation());
                }
            }
        }
        match needs.iter().position(|needs| *needs > 0) {
            Some(first) if done < len => Err(ScheduleError::cycle(rank, first as u32)),
            _ => Ok(()),
        }
    }
}

/// So many operations tell scripts apart, or nothing does but to compare them.
const MOST_HASHED: usize = 1 << 12;

/// Adds a rank's followers, sorted by the operations that they wait for, those that wait for an end first, and
/// then in the order of their requirements, in which LogGOPSim takes them. `first` gets the index of each
/// operation's first one, and has that of the first operation and a zero for each after it.
fn sort_followers(requirements: &mut Vec<(u32, Follower)>, first: &mut [u32], followers: &mut Vec<Follower>) {
    let (begin, last) = (followers.len(), first.len() - 1);
    // The index of the next one to be placed, for each operation.
    first[..last].fill(0);
    requirements.iter().for_each(|(earlier, _)| first[*earlier as usize] += 1);
    let mut next = begin as u32;
    for count in &mut first[..last] {
        next += std::mem::replace(count, next);
    }
    followers.resize(begin + requirements.len(), Follower::new(0, false));
    for (earlier, follower) in requirements.drain(..) {
        let index = &mut first[earlier as usize];
        followers[*index as usize] = follower;
        *index += 1;
    }
    first.copy_within(..last, 1);
    first[0] = begin as u32;
    for ends in first.windows(2) {
        followers[ends[0] as usize..ends[1] as usize].sort_by_key(|follower| follower.needs_only_start());
    }
}

/// Mixes an operation into a hash.
fn add_to_hash(hash: u64, PackedOperation { kind, peer, tag, waits, cpu, nic }: PackedOperation) -> u64 {
    let add = |hash: u64, word: u64| (hash.rotate_left(5) ^ word).wrapping_mul(0x517C_C1B7_2722_0A95);
    let (number, size) = kind.code();
    let rest = u64::from(waits) << 32 | number << 16 | u64::from(cpu) << 8 | u64::from(nic);
    [size, u64::from(peer) << 32 | u64::from(tag), rest].into_iter().fold(hash, add)
}

fn refuse<T>(sentence: String) -> Result<T, ScheduleError> {
    Err(ScheduleError::new(sentence))
}

#[cfg(test)]
mod tests {
    use super::*;
    use loggp_model::time::US;

    fn calcs(n: usize) -> ScheduleBuilder {
        let mut builder = ScheduleBuilder::new(2).unwrap();
        builder.begin_rank(0).unwrap();
        (0..n).for_each(|n| assert_eq!(builder.add(Operation::Calc(US)), Ok(n as u32)));
        builder
    }

    #[test]
    fn schedule_has_the_operations_that_were_added() {
        let mut builder = ScheduleBuilder::new(3).unwrap();
        builder.begin_rank(0).unwrap();
        let placed =
            PlacedOperation { operation: Operation::Send { to: 0, bytes: 9, tag: 4 }, cpu: 1, nic: 2 };
        assert_eq!(builder.add_placed(placed), Ok(0));
        assert_eq!(builder.add(Operation::Calc(3 * US)), Ok(1));
        builder.require_started(1, 0).unwrap();
        builder.begin_rank(1).unwrap();
        let receive = Operation::Recv { from: None, bytes: 9, tag: None };
        assert_eq!(builder.add(receive), Ok(0));
        let schedule = builder.build().unwrap();
        assert_eq!((schedule.ranks(), schedule.len(), schedule.requirements()), (3, 3, 1));
        let of = |rank| schedule.operations(rank).collect::<Vec<_>>();
        assert_eq!(of(0), [placed, PlacedOperation { operation: Operation::Calc(3 * US), cpu: 0, nic: 0 }]);
        assert_eq!(of(1), [PlacedOperation { operation: receive, cpu: 0, nic: 0 }]);
        assert_eq!(of(2), []);
        let requirements: Vec<_> = schedule.requirements_of(0).collect();
        assert_eq!(requirements, [Requirement { later: 1, earlier: 0, begun: true }]);
    }

    /// Ranks share a script if they exchange messages with the same ranks, with ranks at the same distances,
    /// or with ranks whose numbers differ from theirs in the same bits; and in no other case.
    #[test]
    fn equal_ranks_share_a_script() {
        let written = |ranks: &[&[(u32, Option<u32>)]]| {
            let mut builder = ScheduleBuilder::new(ranks.len()).unwrap();
            for (rank, sends) in ranks.iter().enumerate() {
                builder.begin_rank(rank).unwrap();
                for &(to, earlier) in *sends {
                    let send = builder.add(Operation::Send { to, bytes: 1, tag: 0 }).unwrap();
                    earlier.map_or(Ok(()), |earlier| builder.require_done(send, earlier)).unwrap();
                }
            }
            let schedule = builder.build().unwrap();
            for (rank, sends) in ranks.iter().enumerate() {
                let peers = schedule.operations(rank).map(|placed| match placed.operation {
                    Operation::Send { to, .. } => to,
                    other => panic!("{other:?}"),
                });
                assert!(peers.eq(sends.iter().map(|(to, _)| *to)));
                let requirements = schedule.requirements_of(rank).map(|it| (it.later, it.earlier));
                let expected =
                    (0..).zip(*sends).filter_map(|(later, (_, earlier))| Some((later, (*earlier)?)));
                assert!(requirements.eq(expected));
            }
            schedule.operations.len()
        };
        let [after_0, free] = [Some(0), None];
        let ring: [&[_]; 3] =
            [&[(1, free), (2, after_0)], &[(2, free), (0, after_0)], &[(0, free), (1, after_0)]];
        assert_eq!(written(&ring), 2);
        let to_0: [&[_]; 4] = [&[], &[(0, free)], &[(0, free)], &[(0, free)]];
        assert_eq!(written(&to_0), 1);
        let both: [&[_]; 4] = [&[(1, free)], &[(2, free)], &[(1, free)], &[(0, free)]];
        assert_eq!(written(&both), 1); // 2 sends to 1 as 0 does, and 3 sends one ahead as 0 does
        let others: [&[_]; 3] = [&[(1, free), (2, after_0)], &[(2, free), (0, free)], &[(0, free)]];
        assert_eq!(written(&others), 5);
        let bits: [&[_]; 4] = [
            &[(1, free), (2, after_0)],
            &[(0, free), (3, after_0)],
            &[(3, free), (0, after_0)],
            &[(2, free), (1, after_0)],
        ];
        assert_eq!(written(&bits), 2);
    }

    #[test]
    fn follower_is_small() {
        assert_eq!(size_of::<Follower>(), 4);
    }

    #[test]
    fn errors_are_one_sentence() {
        let message = |error: ScheduleError| error.to_string();
        assert!(message(ScheduleBuilder::new(0).unwrap_err()).contains("0 is not a number of ranks"));
        let mut builder = calcs(1);
        assert!(message(builder.begin_rank(0).unwrap_err()).contains("rank 0 comes where rank 1 belongs"));
        assert!(
            message(builder.begin_rank(2).unwrap_err())
                .contains("there is no rank 2; there are ranks 0 to 1")
        );
        assert!(message(builder.add(Operation::Calc(US)).unwrap_err()).contains("belongs to no rank"));
        let mut builder = calcs(1);
        let send = Operation::Send { to: 2, bytes: 1, tag: 0 };
        assert!(
            message(builder.add(send).unwrap_err())
                .contains("rank 0 sends to rank 2, and there are ranks 0 to 1")
        );
        assert!(
            message(builder.add(Operation::Calc(-US)).unwrap_err()).contains("is no time to compute for")
        );
        assert!(message(builder.require_done(0, 1).unwrap_err()).contains("names operation 1"));
    }

    #[test]
    fn build_refuses_operations_that_wait_for_each_other() {
        let mut builder = calcs(3);
        builder.require_done(1, 2).unwrap(); // the earlier operation may be written later
        builder.require_done(0, 1).unwrap();
        assert!(builder.clone().build().is_ok());
        builder.require_started(2, 0).unwrap();
        let error = builder.build().unwrap_err().to_string();
        assert!(error.contains("operations of rank 0 wait for each other, as number 0"), "{error}");
        let mut builder = calcs(1);
        builder.require_done(0, 0).unwrap();
        assert!(builder.build().is_err());
    }
}
