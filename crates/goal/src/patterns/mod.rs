//! Usual patterns of communication as schedules, as LogGOPSim's generator has them; and the collectives of MPI, as
//! its libraries do them.

mod algorithm;
mod all_gather;
mod all_reduce;
mod all_to_all;
mod barrier;
mod broadcast;
mod call;
mod collective;
mod gather;
mod member;
pub mod methods;
mod neighbors;
mod rabenseifner;
mod reduce;
mod reduce_scatter;
mod rules;
mod scan;
mod table;
mod trees;

use loggp_model::rounds;
use loggp_model::rounds::{BinomialPlace, Round, bruck, distances, staggered};
use loggp_model::time::Time;
use loggp_schedule::{Operation, Requirement, Schedule, ScheduleBuilder, ScheduleError};

pub use algorithm::{Algorithm, Method};
pub use call::{CollectiveCall, CollectiveKind, Member, Sizes};
pub use collective::{
    collective_choices, collective_names, collective_schedule, is_collective, method_schedule,
};
pub use methods::{METHODS, find as find_method, of as methods_of};
pub use rules::CollectiveRules;
use trees::Place;

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

    /// Sends to one rank and receives from another in each round, the rank's bytes for each value. A send waits for
    /// the reception of the round before.
    fn exchange(&mut self, rounds: impl IntoIterator<Item = Round>) -> WriteResult {
        let rounds = rounds.into_iter().map(|round| (round, self.bytes.saturating_mul(round.values as u64)));
        self.exchange_bytes(&rounds.collect::<Vec<_>>())
    }

    /// Does the same with a length in bytes for each round.
    fn exchange_bytes(&mut self, rounds: &[(Round, u64)]) -> WriteResult {
        let mut received = None;
        for &(Round { to, from, .. }, bytes) in rounds {
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
}

/// The neighbours of a rank in a tree: its parent, if it has one, and its children.
type Neighbours = (Option<usize>, Vec<usize>);

fn binomial(rank: &PatternWriter) -> Neighbours {
    let Place { parent, children } = trees::binomial(rank.P, rank.id);
    (parent, children)
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
    rank.exchange(rounds::dissemination(rank.P, rank.id))
}

fn all_to_all_pattern(rank: &mut PatternWriter) -> WriteResult {
    for round in staggered(rank.P, rank.id) {
        rank.send(round.to)?;
        rank.recv(round.from)?;
    }
    Ok(())
}

fn pairwise(rank: &mut PatternWriter) -> WriteResult {
    let mut before = None;
    for round in staggered(rank.P, rank.id) {
        let (send, recv) = (rank.send(round.to)?, rank.recv(round.from)?);
        for later in [send, recv] {
            rank.require_after(later, before.into_iter().flatten())?;
        }
        before = Some([send, recv]);
    }
    Ok(())
}

/// Every rank gets all that is for it and those below it in the tree, and sends the children their parts, the
/// furthest first.
fn binomial_scatter(rank: &mut PatternWriter) -> WriteResult {
    let tree = BinomialPlace { P: rank.P, place: rank.id };
    let bytes = rank.bytes;
    let below = |place: usize| bytes.saturating_mul(BinomialPlace { place, ..tree }.size() as u64);
    let received = tree.parent().map(|parent| rank.recv_bytes(parent, below(rank.id))).transpose()?;
    let mut children = tree.children().rev();
    children.try_for_each(|child| rank.send_bytes(child, below(child), received).map(drop))
}

/// The same backwards.
fn binomial_gather(rank: &mut PatternWriter) -> WriteResult {
    let tree = BinomialPlace { P: rank.P, place: rank.id };
    let bytes = rank.bytes;
    let below = |place: usize| bytes.saturating_mul(BinomialPlace { place, ..tree }.size() as u64);
    let received = tree.children().map(|child| rank.recv_bytes(child, below(child)));
    let received = received.collect::<Result<Vec<_>, _>>()?;
    tree.parent().map_or(Ok(()), |parent| rank.send_bytes(parent, below(tree.place), received).map(drop))
}

/// Bruck's algorithm: in round r all that has been received so far goes 2^r away.
fn all_gather_pattern(rank: &mut PatternWriter) -> WriteResult {
    rank.exchange(bruck(rank.P, rank.id))
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
    let round = Round { to: rank.ahead(1), from: rank.behind(1), values: 1 };
    rank.exchange_bytes(&vec![(round, rank.bytes / rank.P as u64); 2 * (rank.P - 1)])
}

fn recursive_doubling(rank: &mut PatternWriter) -> WriteResult {
    let (mut bytes, id) = (rank.bytes, rank.id);
    let there = distances(rank.P).map(|distance| {
        bytes /= 2;
        (Round { to: id ^ distance, from: id ^ distance, values: 1 }, bytes)
    });
    let mut rounds: Vec<_> = there.collect();
    for number in (0..rounds.len()).rev() {
        rounds.push((rounds[number].0, bytes));
        bytes = bytes.saturating_mul(2);
    }
    rank.exchange_bytes(&rounds)
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
