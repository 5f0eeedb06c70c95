//! The usual patterns of communication as schedules, rank by rank, as LogGOPSim's generator has them.

use loggp::{Operation, Requirement, Schedule, ScheduleBuilder, ScheduleError, Time};

/// A pattern that has a name.
#[derive(Debug)]
pub struct Pattern {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// Writes a rank.
    write: fn(&mut Rank) -> Result<(), ScheduleError>,
    /// Refuses numbers of ranks that it is not for.
    check: fn(usize) -> Result<(), String>,
}

/// All patterns.
pub static PATTERNS: &[Pattern] = &[
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
    pattern("all-to-all", "everyone sends to all in turn, and receives in turn; all at once", all_to_all),
    pattern("pairwise", "the same, but a step begins when the one before is done", pairwise),
    pattern("scatter", "0 sends to everyone", |rank| rank.broadcast(flat(rank))),
    pattern("binomial-scatter", "0 sends to half of all what is for them, who pass it on", binomial_scatter),
    pattern("binomial-gather", "the same backwards: half of all send on what others sent", binomial_gather),
    pattern(
        "all-gather",
        "everyone sends to 2^r away in round r all that came, until all have all",
        all_gather,
    ),
    pattern("gather", "everyone sends to 0", |rank| rank.reduce(flat(rank))),
    pattern("ring", "0 sends to 1, that to 2, and so on", |rank| rank.broadcast(chain(rank))),
    pattern("double-ring", "everyone sends to both neighbours", double_ring),
    pattern("ring-allreduce", "P parts go round, twice: added up, and told", ring_allreduce),
    Pattern {
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
    write: fn(&mut Rank) -> Result<(), ScheduleError>,
) -> Pattern {
    Pattern { name, about, write, check: |_| Ok(()) }
}

impl Pattern {
    /// The pattern with this name.
    pub fn named(name: &str) -> Option<&'static Pattern> {
        PATTERNS.iter().find(|pattern| pattern.name == name)
    }

    /// Its schedule for so many ranks and messages of so many bytes; or why there is none, in one sentence.
    pub fn schedule(&self, ranks: usize, bytes: u64) -> Result<Schedule, String> {
        (self.check)(ranks)?;
        let mut builder = ScheduleBuilder::new(ranks).map_err(|why| why.to_string())?;
        let written = (0..ranks).try_for_each(|id| {
            builder.rank(id)?;
            let before = builder.operations();
            (self.write)(&mut Rank { builder: &mut builder, id, P: ranks, bytes, root: 0, tag: 0, before: &[] })?;
            // Where a rank has many operations, all but 0 have as many.
            let (each, most) = (builder.operations() - before, Schedule::MOST_OPERATIONS);
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

/// A collective of so many ranks among others of their operations.
pub(crate) struct Collective<'a> {
    /// Its pattern.
    pub pattern: &'a str,
    /// How many ranks there are.
    pub P: usize,
    /// Who is rank 0 in the pattern.
    pub root: usize,
    /// How long messages are.
    pub bytes: u64,
    /// What tells its messages from others.
    pub tag: u32,
}

impl Collective<'_> {
    /// Adds what a rank does in it, after these; the rank has so many operations so far. Returns what ends it.
    pub fn write(
        &self,
        builder: &mut ScheduleBuilder,
        id: usize,
        before: &[Before],
        operations: u32,
    ) -> Result<u32, ScheduleError> {
        let Collective { pattern, P, root, bytes, tag } = *self;
        let pattern = Pattern::named(pattern).expect("collectives are patterns");
        let mut rank = Rank { builder, id: (id + P - root) % P, P, bytes, root, tag, before };
        (pattern.write)(&mut rank)?;
        let end = rank.add(Operation::Calc(Time::ZERO))?;
        (operations..end).try_for_each(|earlier| rank.after(end, Some(earlier)))?;
        Ok(end)
    }
}

fn power_of_2(ranks: usize) -> Result<(), String> {
    match ranks.is_power_of_two() {
        true => Ok(()),
        false => Err(format!("halves of halves need a power of 2 of ranks, and {ranks} is none; give one")),
    }
}

/// The rank that is written.
struct Rank<'a> {
    builder: &'a mut ScheduleBuilder,
    /// Its number.
    id: usize,
    /// How many there are.
    P: usize,
    /// How long messages are.
    bytes: u64,
    /// Who is rank 0 in the pattern: ranks are counted from there.
    root: usize,
    /// What tells its messages from others.
    tag: u32,
    /// What all its operations wait for.
    before: &'a [Before],
}

/// An operation that others wait for, and whether it must only have begun.
pub(crate) type Before = (u32, bool);

/// Adds an operation that waits for these.
pub(crate) fn add_behind(
    builder: &mut ScheduleBuilder,
    what: Operation,
    before: &[Before],
) -> Result<u32, ScheduleError> {
    let later = builder.add(what)?;
    let requirements = before.iter().map(|&(earlier, begun)| Requirement { later, earlier, begun });
    for requirement in requirements {
        builder.require(requirement)?;
    }
    Ok(later)
}

type Written = Result<(), ScheduleError>;

impl Rank<'_> {
    fn send(&mut self, to: usize) -> Result<u32, ScheduleError> {
        self.send_bytes(to, self.bytes, None)
    }

    fn recv(&mut self, from: usize) -> Result<u32, ScheduleError> {
        self.recv_bytes(from, self.bytes)
    }

    /// Sends when another operation is done, if there is that.
    fn send_bytes(&mut self, to: usize, bytes: u64, earlier: Option<u32>) -> Result<u32, ScheduleError> {
        let send = self.add(Operation::Send { to: self.counted(to), bytes, tag: self.tag })?;
        self.after(send, earlier)?;
        Ok(send)
    }

    fn recv_bytes(&mut self, from: usize, bytes: u64) -> Result<u32, ScheduleError> {
        self.add(Operation::Recv { from: Some(self.counted(from)), bytes, tag: Some(self.tag) })
    }

    /// The number of a rank that the pattern counts from the root.
    fn counted(&self, id: usize) -> u32 {
        ((id + self.root) % self.P) as u32
    }

    /// Adds an operation behind what all wait for.
    fn add(&mut self, what: Operation) -> Result<u32, ScheduleError> {
        add_behind(self.builder, what, self.before)
    }

    /// An operation waits for another one, if there is that.
    fn after(&mut self, later: u32, earlier: Option<u32>) -> Written {
        earlier.map_or(Ok(()), |earlier| self.builder.requires(later, earlier))
    }

    /// Passes on to its children what its parent has sent.
    fn broadcast(&mut self, (parent, mut children): (Option<usize>, impl Iterator<Item = usize>)) -> Written {
        let received = parent.map(|parent| self.recv(parent)).transpose()?;
        children.try_for_each(|child| self.send_bytes(child, self.bytes, received).map(drop))
    }

    /// Sends its parent what all its children have sent.
    fn reduce(&mut self, (parent, mut children): (Option<usize>, impl Iterator<Item = usize>)) -> Written {
        let sent = parent.map(|parent| self.send(parent)).transpose()?;
        children.try_for_each(|child| {
            let received = self.recv(child)?;
            sent.map_or(Ok(()), |sent| self.after(sent, Some(received)))
        })
    }

    /// The rank that is so far behind.
    fn behind(&self, distance: usize) -> usize {
        (self.id + self.P - distance % self.P) % self.P
    }

    /// The rank that is so far ahead.
    fn ahead(&self, distance: usize) -> usize {
        (self.id + distance) % self.P
    }

    /// The powers of 2 below P.
    fn distances(&self) -> impl Iterator<Item = usize> + use<> {
        let P = self.P;
        std::iter::successors(Some(1), |distance| Some(2 * distance))
            .take_while(move |distance| *distance < P)
    }
}

// A rank's neighbours in trees: its parent, if it has one, and its children.

fn binomial(rank: &Rank) -> (Option<usize>, impl Iterator<Item = usize> + use<>) {
    let (id, P) = (rank.id, rank.P);
    let children = rank.distances().filter(move |distance| id < *distance).map(move |distance| id + distance);
    (id.checked_ilog2().map(|bit| id - (1 << bit)), children.filter(move |child| *child < P))
}

fn binary(&Rank { id, P, .. }: &Rank) -> (Option<usize>, impl Iterator<Item = usize> + use<>) {
    let children = (2 * id + 1..=2 * id + 2).filter(move |child| *child < P);
    (id.checked_sub(1).map(|before| before / 2), children)
}

fn flat(&Rank { id, P, .. }: &Rank) -> (Option<usize>, impl Iterator<Item = usize> + use<>) {
    if id == 0 { (None, 1..P) } else { (Some(0), P..P) }
}

fn chain(&Rank { id, P, .. }: &Rank) -> (Option<usize>, impl Iterator<Item = usize> + use<>) {
    (id.checked_sub(1), (id + 1..P).take(1))
}

fn dissemination(rank: &mut Rank) -> Written {
    let mut received = None;
    for distance in rank.distances() {
        rank.send_bytes(rank.ahead(distance), rank.bytes, received)?;
        received = Some(rank.recv(rank.behind(distance))?);
    }
    Ok(())
}

fn all_to_all(rank: &mut Rank) -> Written {
    for step in 1..rank.P {
        rank.send(rank.ahead(step))?;
        rank.recv(rank.behind(step))?;
    }
    Ok(())
}

fn pairwise(rank: &mut Rank) -> Written {
    let mut before = None;
    for step in 1..rank.P {
        let send = rank.send(rank.ahead(step))?;
        let recv = rank.recv(rank.behind(step))?;
        if let Some((sent, received)) = before {
            for later in [send, recv] {
                rank.after(later, Some(sent))?;
                rank.after(later, Some(received))?;
            }
        }
        before = Some((send, recv));
    }
    Ok(())
}

/// In round r the ranks of a multiple of 2^(r+1) send to who is 2^r after them what is for that one and those behind it.
fn binomial_scatter(rank: &mut Rank) -> Written {
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

/// The rounds of the scatter, backwards.
fn binomial_gather(rank: &mut Rank) -> Written {
    let (id, P) = (rank.id, rank.P);
    let from_half = |first: usize, half: usize| (P - first).min(half) as u64;
    let mut received = Vec::new();
    for distance in rank.distances() {
        let bytes = |first: usize| from_half(first, distance).saturating_mul(rank.bytes);
        if !id.is_multiple_of(2 * distance) {
            let send = rank.send_bytes(id - distance, bytes(id), None)?;
            return received.into_iter().try_for_each(|received| rank.after(send, Some(received)));
        } else if id + distance < P {
            received.push(rank.recv_bytes(id + distance, bytes(id + distance))?);
        }
    }
    Ok(())
}

/// Bruck's: what came in all rounds so far goes 2^r away in round r.
fn all_gather(rank: &mut Rank) -> Written {
    let mut received = None;
    for distance in rank.distances() {
        let bytes = (distance.min(rank.P - distance) as u64).saturating_mul(rank.bytes);
        rank.send_bytes(rank.behind(distance), bytes, received)?;
        received = Some(rank.recv_bytes(rank.ahead(distance), bytes)?);
    }
    Ok(())
}

fn double_ring(rank: &mut Rank) -> Written {
    if rank.P == 1 {
        return Ok(());
    }
    for (to, from) in [(rank.ahead(1), rank.behind(1)), (rank.behind(1), rank.ahead(1))] {
        let send = rank.send(to)?;
        let received = rank.recv(from)?;
        if rank.id > 0 {
            rank.after(send, Some(received))?;
        }
    }
    Ok(())
}

fn ring_allreduce(rank: &mut Rank) -> Written {
    let part = rank.bytes / rank.P as u64;
    let mut received = None;
    for _ in 0..2 * (rank.P - 1) {
        rank.send_bytes(rank.ahead(1), part, received)?;
        received = Some(rank.recv_bytes(rank.behind(1), part)?);
    }
    Ok(())
}

fn recursive_doubling(rank: &mut Rank) -> Written {
    let (mut bytes, mut received) = (rank.bytes, None);
    let distances: Vec<usize> = rank.distances().collect();
    let there = distances.iter().map(|distance| (*distance, true));
    let back = distances.iter().rev().map(|distance| (*distance, false));
    for (distance, halves) in there.chain(back) {
        if halves {
            bytes /= 2;
        }
        rank.send_bytes(rank.id ^ distance, bytes, received)?;
        received = Some(rank.recv_bytes(rank.id ^ distance, bytes)?);
        if !halves {
            bytes = bytes.saturating_mul(2);
        }
    }
    Ok(())
}

fn linear_barrier(rank: &mut Rank) -> Written {
    if rank.id > 0 {
        rank.send_bytes(0, 1, None)?;
        return rank.recv_bytes(0, 1).map(drop);
    }
    // All sends wait for one operation that takes no time, so that there are not P requirements for each.
    let all_came = rank.add(Operation::Calc(Time::ZERO))?;
    for other in 1..rank.P {
        let received = rank.recv_bytes(other, 1)?;
        rank.after(all_came, Some(received))?;
        rank.send_bytes(other, 1, Some(all_came))?;
    }
    Ok(())
}
