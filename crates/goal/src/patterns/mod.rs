//! Usual patterns of communication as schedules, as LogGOPSim's generator has them; and the collectives of MPI, as
//! its libraries do them.

mod algorithm;
mod all_gather;
mod all_reduce;
mod all_to_all;
mod barrier;
mod broadcast;
mod call;
mod gather;
mod member;
mod methods;
mod neighbors;
mod rabenseifner;
mod reduce;
mod reduce_scatter;
mod rules;
mod scan;
mod table;
mod trees;

use loggp::Time;
use loggp::schedule::{Operation, Requirement, Schedule, ScheduleBuilder, ScheduleError};

pub use algorithm::{Algorithm, Method};
pub use call::{CollectiveCall, CollectiveKind, Member, Sizes};
pub use methods::{METHODS, find as find_method, of as methods_of};
pub use rules::CollectiveRules;
pub use table::{CollectiveTable, TableError};

/// A pattern of communication.
#[derive(Debug)]
pub struct CommPattern {
    pub name: &'static str,
    /// A short description.
    pub about: &'static str,
    /// Writes the operations of a rank.
    write: fn(&mut PatternWriter) -> Result<(), ScheduleError>,
    /// Returns an error for a number of ranks that the pattern does not support.
    check: fn(usize) -> Result<(), String>,
}

/// All patterns.
pub static PATTERNS: &[CommPattern] = &[
    pattern("binomial-broadcast", "0 sends to all, who pass it on: to 2^r away in round r", |rank| {
        rank.broadcast(binomial(rank))
    }),
    pattern("binomial-reduce", "the same backwards: all send to 0, by way of others", |rank| {
        rank.reduce(binomial(rank))
    }),
    pattern("binary-broadcast", "0 sends to all, who pass it on to two each", |rank| {
        rank.broadcast(binary(rank))
    }),
    pattern("dissemination", "everyone sends to 2^r away in round r, once round r-1 has come", dissemination),
    pattern(
        "all-to-all",
        "everyone sends to all in turn, and receives in turn; all at once",
        all_to_all_pattern,
    ),
    pattern("pairwise", "the same, but a step begins when the one before is done", pairwise),
    pattern("scatter", "0 sends to everyone", |rank| rank.broadcast(flat(rank))),
    pattern("binomial-scatter", "0 sends to half of all what is for them, who pass it on", binomial_scatter),
    pattern("binomial-gather", "the same backwards: half of all send on what others sent", binomial_gather),
    pattern(
        "all-gather",
        "everyone sends to 2^r away in round r all that came, until all have all",
        all_gather_pattern,
    ),
    pattern("gather", "everyone sends to 0", |rank| rank.reduce(flat(rank))),
    pattern("ring", "0 sends to 1, that to 2, and so on", |rank| rank.broadcast(chain(rank))),
    pattern("double-ring", "everyone sends to both neighbours", double_ring),
    pattern("ring-allreduce", "P parts go round, twice: added up, and told", ring_allreduce),
    CommPattern {
        name: "recursive-doubling",
        about: "everyone exchanges with 2^r away: halves of halves, and back",
        write: recursive_doubling,
        check: power_of_2,
    },
    pattern("linear-barrier", "everyone tells 0, and 0 tells everyone", linear_barrier),
];

const fn pattern(
    name: &'static str,
    about: &'static str,
    write: fn(&mut PatternWriter) -> Result<(), ScheduleError>,
) -> CommPattern {
    CommPattern { name, about, write, check: |_| Ok(()) }
}

impl CommPattern {
    /// Returns the pattern with this name, or `None`.
    pub fn find(name: &str) -> Option<&'static CommPattern> {
        PATTERNS.iter().find(|pattern| pattern.name == name)
    }

    /// Returns the pattern's schedule for this many ranks and messages of this many bytes, or an error in one
    /// sentence.
    pub fn schedule(&self, ranks: usize, bytes: u64) -> Result<Schedule, String> {
        (self.check)(ranks)?;
        let mut builder = ScheduleBuilder::new(ranks).map_err(|why| why.to_string())?;
        let written = (0..ranks).try_for_each(|id| {
            builder.begin_rank(id)?;
            let before = builder.operation_count();
            (self.write)(&mut PatternWriter { builder: &mut builder, id, P: ranks, bytes, root: 0, members: &[], tag: 0, before: &[] })?;
            // In patterns with many operations, all ranks but 0 have as many as rank 1.
            let (each, most) = (builder.operation_count() - before, Schedule::MOST_OPERATIONS);
            if id == 1 && each * (ranks - 1) > most {
                let name = self.name;
                return Err(ScheduleError::new(format!(
                    "{name} over {ranks} ranks has {each} operations for each, and a schedule has at most {most}; give \
                     fewer ranks"
                )));
            }
            Ok(())
        });
        written.and_then(|()| builder.build()).map_err(|why| why.to_string())
    }
}

fn power_of_2(ranks: usize) -> Result<(), String> {
    match ranks.is_power_of_two() {
        true => Ok(()),
        false => Err(format!("halves of halves need a power of 2 of ranks, and {ranks} is none; give one")),
    }
}

/// A writer of one rank's operations.
pub struct PatternWriter<'a> {
    pub builder: &'a mut ScheduleBuilder,
    /// Number of the rank in the pattern, counted from `root`.
    pub id: usize,
    /// The number of ranks.
    pub P: usize,
    /// Length of a message in bytes.
    pub bytes: u64,
    /// The rank that is rank 0 of the pattern: the pattern counts ranks from there.
    pub root: usize,
    /// The ranks of the schedule that take part, in their order; empty if these are all from 0.
    pub members: &'a [u32],
    /// Tag of the messages.
    pub tag: u32,
    /// The operations that all of this rank's operations wait for.
    pub before: &'a [Prerequisite],
}

/// An operation that others wait for, and whether it needs only have begun.
pub type Prerequisite = (u32, bool);

/// Adds an operation that waits for those in `before`.
pub fn add_after(
    builder: &mut ScheduleBuilder,
    what: Operation,
    before: &[Prerequisite],
) -> Result<u32, ScheduleError> {
    let later = builder.add(what)?;
    for &(earlier, begun) in before {
        builder.require(Requirement { later, earlier, begun })?;
    }
    Ok(later)
}

type WriteResult = Result<(), ScheduleError>;

impl PatternWriter<'_> {
    /// Adds the operations of a collective with this pattern. `operations` is the number of operations of the
    /// rank so far. Returns the operation that ends the collective.
    pub fn write_collective(mut self, pattern: &str, operations: u32) -> Result<u32, ScheduleError> {
        let pattern = CommPattern::find(pattern).expect("collectives are patterns");
        (pattern.write)(&mut self)?;
        let end = self.add(Operation::Calc(Time::ZERO))?;
        self.require_after(end, operations..end)?;
        Ok(end)
    }

    fn send(&mut self, to: usize) -> Result<u32, ScheduleError> {
        self.send_bytes(to, self.bytes, None)
    }

    fn recv(&mut self, from: usize) -> Result<u32, ScheduleError> {
        self.recv_bytes(from, self.bytes)
    }

    /// Adds a send, which waits for the operations `earlier`.
    fn send_bytes(
        &mut self,
        to: usize,
        bytes: u64,
        earlier: impl IntoIterator<Item = u32>,
    ) -> Result<u32, ScheduleError> {
        let send = self.add(Operation::Send { to: self.real_rank(to), bytes, tag: self.tag })?;
        self.require_after(send, earlier)?;
        Ok(send)
    }

    fn recv_bytes(&mut self, from: usize, bytes: u64) -> Result<u32, ScheduleError> {
        self.add(Operation::Recv { from: Some(self.real_rank(from)), bytes, tag: Some(self.tag) })
    }

    /// Returns the number of a rank in the schedule.
    fn real_rank(&self, id: usize) -> u32 {
        let member = (id + self.root) % self.P;
        self.members.get(member).copied().unwrap_or(member as u32)
    }

    /// Adds an operation that waits for those in `self.before`.
    fn add(&mut self, what: Operation) -> Result<u32, ScheduleError> {
        add_after(self.builder, what, self.before)
    }

    /// Makes operation `later` wait for the operations `earlier`.
    fn require_after(&mut self, later: u32, earlier: impl IntoIterator<Item = u32>) -> WriteResult {
        earlier.into_iter().try_for_each(|earlier| self.builder.require_done(later, earlier))
    }

    /// Passes the parent's message on to the children.
    fn broadcast(&mut self, (parent, children): Neighbours) -> WriteResult {
        let received = parent.map(|parent| self.recv(parent)).transpose()?;
        children.into_iter().try_for_each(|child| self.send_bytes(child, self.bytes, received).map(drop))
    }

    /// Sends a message to the parent after those of all children.
    fn reduce(&mut self, (parent, children): Neighbours) -> WriteResult {
        let sent = parent.map(|parent| self.send(parent)).transpose()?;
        children.into_iter().try_for_each(|child| {
            let received = self.recv(child)?;
            sent.map_or(Ok(()), |sent| self.require_after(sent, Some(received)))
        })
    }

    /// Sends to one rank and receives from another in each round, which has the numbers of both and a length in
    /// bytes. A send waits for the reception of the round before.
    fn exchange(&mut self, rounds: &[(usize, usize, u64)]) -> WriteResult {
        let mut received = None;
        for &(to, from, bytes) in rounds {
            self.send_bytes(to, bytes, received)?;
            received = Some(self.recv_bytes(from, bytes)?);
        }
        Ok(())
    }

    /// Returns the rank at this distance behind.
    fn behind(&self, distance: usize) -> usize {
        (self.id + self.P - distance % self.P) % self.P
    }

    /// Returns the rank at this distance ahead.
    fn ahead(&self, distance: usize) -> usize {
        (self.id + distance) % self.P
    }

    /// Returns the powers of 2 below P.
    fn distances(&self) -> impl Iterator<Item = usize> + use<> {
        let P = self.P;
        std::iter::successors(Some(1), |distance| Some(2 * distance))
            .take_while(move |distance| *distance < P)
    }
}

/// The neighbours of a rank in a tree: its parent, if it has one, and its children.
type Neighbours = (Option<usize>, Vec<usize>);

fn binomial(rank: &PatternWriter) -> Neighbours {
    let (id, P) = (rank.id, rank.P);
    let children = rank.distances().filter(|distance| id < *distance).map(|distance| id + distance);
    (id.checked_ilog2().map(|bit| id - (1 << bit)), children.filter(|child| *child < P).collect())
}

fn binary(&PatternWriter { id, P, .. }: &PatternWriter) -> Neighbours {
    let children = (2 * id + 1..=2 * id + 2).filter(|child| *child < P).collect();
    (id.checked_sub(1).map(|before| before / 2), children)
}

fn flat(&PatternWriter { id, P, .. }: &PatternWriter) -> Neighbours {
    if id == 0 { (None, (1..P).collect()) } else { (Some(0), Vec::new()) }
}

fn chain(&PatternWriter { id, P, .. }: &PatternWriter) -> Neighbours {
    (id.checked_sub(1), (id + 1..P).take(1).collect())
}

fn dissemination(rank: &mut PatternWriter) -> WriteResult {
    let round = |distance: usize| (rank.ahead(distance), rank.behind(distance), rank.bytes);
    rank.exchange(&rank.distances().map(round).collect::<Vec<_>>())
}

fn all_to_all_pattern(rank: &mut PatternWriter) -> WriteResult {
    for step in 1..rank.P {
        rank.send(rank.ahead(step))?;
        rank.recv(rank.behind(step))?;
    }
    Ok(())
}

fn pairwise(rank: &mut PatternWriter) -> WriteResult {
    let mut before = None;
    for step in 1..rank.P {
        let send = rank.send(rank.ahead(step))?;
        let recv = rank.recv(rank.behind(step))?;
        for later in [send, recv] {
            rank.require_after(later, before.into_iter().flatten())?;
        }
        before = Some([send, recv]);
    }
    Ok(())
}

/// In the round of distance 2^r, the ranks that are multiples of 2^(r+1) send to the rank 2^r ahead all that
/// is for it and the ranks behind it.
fn binomial_scatter(rank: &mut PatternWriter) -> WriteResult {
    let (id, P) = (rank.id, rank.P);
    let for_half = |first: usize, half: usize| (P - first).min(half) as u64;
    let mut received = None;
    for distance in rank.distances().collect::<Vec<_>>().into_iter().rev() {
        let bytes = |first: usize| for_half(first, distance).saturating_mul(rank.bytes);
        if id.is_multiple_of(2 * distance) && id + distance < P {
            rank.send_bytes(id + distance, bytes(id + distance), received)?;
        } else if id.is_multiple_of(distance) && !id.is_multiple_of(2 * distance) {
            received = Some(rank.recv_bytes(id - distance, bytes(id))?);
        }
    }
    Ok(())
}

/// The rounds of the scatter in reverse.
fn binomial_gather(rank: &mut PatternWriter) -> WriteResult {
    let (id, P) = (rank.id, rank.P);
    let from_half = |first: usize, half: usize| (P - first).min(half) as u64;
    let mut received = Vec::new();
    for distance in rank.distances() {
        let bytes = |first: usize| from_half(first, distance).saturating_mul(rank.bytes);
        if !id.is_multiple_of(2 * distance) {
            return rank.send_bytes(id - distance, bytes(id), received).map(drop);
        } else if id + distance < P {
            received.push(rank.recv_bytes(id + distance, bytes(id + distance))?);
        }
    }
    Ok(())
}

/// Bruck's algorithm: in round r all that has been received so far goes 2^r away.
fn all_gather_pattern(rank: &mut PatternWriter) -> WriteResult {
    let round = |distance: usize| {
        let bytes = (distance.min(rank.P - distance) as u64).saturating_mul(rank.bytes);
        (rank.behind(distance), rank.ahead(distance), bytes)
    };
    rank.exchange(&rank.distances().map(round).collect::<Vec<_>>())
}

fn double_ring(rank: &mut PatternWriter) -> WriteResult {
    if rank.P == 1 {
        return Ok(());
    }
    for (to, from) in [(rank.ahead(1), rank.behind(1)), (rank.behind(1), rank.ahead(1))] {
        let send = rank.send(to)?;
        let received = rank.recv(from)?;
        if rank.id > 0 {
            rank.require_after(send, Some(received))?;
        }
    }
    Ok(())
}

fn ring_allreduce(rank: &mut PatternWriter) -> WriteResult {
    let round = (rank.ahead(1), rank.behind(1), rank.bytes / rank.P as u64);
    rank.exchange(&vec![round; 2 * (rank.P - 1)])
}

fn recursive_doubling(rank: &mut PatternWriter) -> WriteResult {
    let mut bytes = rank.bytes;
    let there = rank.distances().map(|distance| {
        bytes /= 2;
        (rank.id ^ distance, rank.id ^ distance, bytes)
    });
    let mut rounds: Vec<_> = there.collect();
    for number in (0..rounds.len()).rev() {
        let (to, from, _) = rounds[number];
        rounds.push((to, from, bytes));
        bytes = bytes.saturating_mul(2);
    }
    rank.exchange(&rounds)
}

fn linear_barrier(rank: &mut PatternWriter) -> WriteResult {
    if rank.id > 0 {
        rank.send_bytes(0, 1, None)?;
        return rank.recv_bytes(0, 1).map(drop);
    }
    // All sends wait for one operation that takes no time, instead of having P requirements each.
    let all_came = rank.add(Operation::Calc(Time::ZERO))?;
    for other in 1..rank.P {
        let received = rank.recv_bytes(other, 1)?;
        rank.require_after(all_came, Some(received))?;
        rank.send_bytes(other, 1, Some(all_came))?;
    }
    Ok(())
}
