//! Calibration: what a machine's o, g, L, G and capacity are, found out from inside.
//!
//! A program that knows nothing of the parameters can find them by sending, receiving, waiting and looking
//! at the clock, as Culler, Liu, Martin and Yoshikawa did with real machines ("Assessing Fast Network
//! Interfaces", the LogP signature). A burst of M messages with work Delta after each takes its sender
//!
//! > t(M, Delta) = o + (M-1) max(o + Delta, g) + Delta
//!
//! - **o**: with a long Delta each further message takes o + Delta;
//! - **g**: without Delta it takes max(o, g). Where o is the longer, g does not show there, but it does
//!   after messages of k words, which take (k-1)G + g each;
//! - **L**: a round trip takes 2L + 4o;
//! - **G**: a round trip with k words on its way there takes (k-1)G more;
//! - **C**, the capacity, shows when a send stalls; `capacity` says how one makes it stall.
//!
//! On the wall clock a processor's local time is no evidence: it is the time that *should* be, by the very
//! parameters that are sought. So there a program reads the host's clock, at moments to which it has really
//! waited, and the difference of two readings, divided by the dilation, is what the machine did between. The
//! length of a whole run would be as real, but holds one burst among starts and ends, while a run can hold
//! many repetitions of a burst, of which the median lets one forget what else the host did.

use std::time::Instant;

use loggp::{ClockKind, Machine, NS, PS, Params, Payload, Proc, RunError, Time, US, Work};

/// What was found out about a machine.
#[derive(Clone, Debug)]
pub struct Calibration {
    /// The overhead.
    pub o: Found<Time>,
    /// The gap.
    pub g: Found<Time>,
    /// The latency.
    pub L: Found<Time>,
    /// The gap per word.
    pub G: Found<Time>,
    /// The capacity.
    pub C: Found<usize>,
    /// What bursts took.
    pub signature: Vec<Series>,
    /// How much slower than it should the machine ran, at most.
    pub dilation: f64,
    /// On how many of the host's cores.
    pub cores: usize,
}

/// What was found out about one parameter, and how.
#[derive(Clone, Debug)]
pub struct Found<T> {
    /// The value.
    pub value: T,
    /// What the value says of the parameter.
    pub bound: Bound,
    /// How it was found, in a few words.
    pub how: String,
}

/// What a value says of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// This is it.
    Exact,
    /// It is no more: below this it does not show.
    AtMost,
    /// It is no less: above this it does not show.
    AtLeast,
}

/// The bursts with the same pause between messages: a line of the LogP signature.
#[derive(Clone, Debug)]
pub struct Series {
    /// The pause, Delta.
    pub pause: Time,
    /// How long a burst of so many messages took: t(M, Delta).
    pub bursts: Vec<(usize, Time)>,
}

/// Refuses a machine that cannot be calibrated, in one sentence.
pub fn check(params: &Params) -> Result<(), String> {
    if !params.is_loggp() {
        return Err(
            "calibrate finds the o, g, L and G of LogP and LogGP, and this is a LogGPS machine".into()
        );
    }
    if params.P < 2 {
        return Err("a processor alone has nobody to send to; give at least 2".into());
    }
    Ok(())
}

/// Calibrates a machine on this clock. Its work is charged, so that nothing but communication takes time.
pub fn calibrate(machine: &Machine, clock: ClockKind) -> Result<Calibration, RunError> {
    let mut lab = Lab::new(machine, clock);

    // A first burst says how long a rest lets the gap run out.
    lab.rest = share(lab.burst(LONGEST_BURST, Time::ZERO, 1)?, 8);
    let mut signature = vec![lab.series(Time::ZERO)?];
    let interval = signature[0].slope();
    for pause in [share(interval, 2), interval, 2 * interval] {
        signature.push(lab.series(pause)?);
    }
    let longest = signature.last().expect("there are four");
    let o = (longest.slope() - longest.pause).max(Time::ZERO);

    let round_trip = lab.round_trip(1)?;
    let (G, k) = lab.gap_per_word(round_trip)?;
    let seen = Seen { interval, o, L: share(round_trip - 4 * o, 2).max(Time::ZERO), G, round_trip };
    let g = lab.gap(&seen)?;
    let C = lab.capacity(&seen)?;
    Ok(Calibration {
        o: exact(o, "bursts with long pauses: o + Delta per message".into()),
        g,
        L: exact(seen.L, "a round trip takes 2L + 4o".into()),
        G: exact(G, format!("a round trip with {k} words there takes {}G more", k - 1)),
        C,
        signature,
        dilation: lab.dilation,
        cores: lab.cores,
    })
}

/// A value that is what it is.
fn exact<T>(value: T, how: String) -> Found<T> {
    Found { value, bound: Bound::Exact, how }
}

impl Series {
    /// What a further message takes, from the shortest burst to the longest.
    pub fn slope(&self) -> Time {
        let ((few, least), (many, most)) = (self.bursts[0], self.bursts[self.bursts.len() - 1]);
        share((most - least).max(Time::ZERO), (many - few) as i64)
    }
}

/// What is known of a machine when its gap and its capacity are asked for.
struct Seen {
    /// max(o, g): the time from one short message of a burst to the next.
    interval: Time,
    o: Time,
    L: Time,
    G: Time,
    /// 2L + 4o.
    round_trip: Time,
}

/// The machine as its own laboratory: processor 0 experiments, and processor 1 helps.
struct Lab {
    /// The machine.
    machine: Machine,
    /// Its number of processors.
    P: usize,
    /// Bytes in a word.
    word: usize,
    /// Its clock.
    clock: ClockKind,
    /// How often an experiment is repeated.
    repetitions: usize,
    /// Times that differ by less are the same.
    noise: Time,
    /// How long a processor rests between two experiments.
    rest: Time,
    /// The greatest dilation of a run until now.
    dilation: f64,
    /// On how many of the host's cores it ran.
    cores: usize,
}

/// The longest burst of the signature.
const LONGEST_BURST: usize = 64;
/// The longest message that is tried to find G.
const MOST_WORDS: usize = 1 << 20;
/// A message of more words than this could not be counted everywhere.
const LONGEST: i64 = 1 << 31;
/// No more messages than this are put in transit at once.
const MOST_IN_TRANSIT: usize = 1 << 10;
/// An experiment on the wall clock is repeated so often; the virtual clock says the same every time.
const REPETITIONS: usize = 15;
/// An experiment is run so often, if more than half of its repetitions are not on time.
const TRIES: usize = 10;
/// Times on the wall clock that differ by less than this are the same.
const NOISE: Time = Time::from_ps(50 * NS.as_ps());
/// A difference that is measured on the wall clock should be at least this long.
const WELL_MEASURED: Time = Time::from_ps(200 * US.as_ps());
/// The kind of work that a pause is, in units of a picosecond.
const PAUSE: &str = "pause";

/// The tags.
const MESSAGE: u32 = 0;
const REPLY: u32 = 1;
const BEGIN: u32 = 2;

impl Lab {
    fn new(machine: &Machine, clock: ClockKind) -> Lab {
        let &Params { P, word, .. } = machine.params();
        let (repetitions, noise) = match clock {
            ClockKind::Virtual => (1, Time::ZERO),
            ClockKind::Wall => (REPETITIONS, NOISE),
        };
        let machine = machine.clone().clock(clock).work(Work::Charged).rate(PAUSE, PS);
        Lab { machine, P, word, clock, repetitions, noise, rest: Time::ZERO, dilation: 1.0, cores: 1 }
    }

    /// Runs an experiment. Every processor returns times by its watch, which are given back in the machine's
    /// time.
    fn run(
        &mut self,
        experiment: impl Fn(&mut Proc, Watch) -> Vec<Time> + Sync,
    ) -> Result<Vec<Vec<Time>>, RunError> {
        let watch = match self.clock {
            ClockKind::Virtual => Watch::Local,
            ClockKind::Wall => Watch::Host(Instant::now()),
        };
        let run = self.machine.run(|p| experiment(p, watch))?;
        let Some(host) = run.host else { return Ok(run.results) };
        (self.dilation, self.cores) = (self.dilation.max(host.dilation), host.cores);
        let in_machine = |time: Time| Time::from_ps((time.as_ps() as f64 / host.dilation) as i64);
        Ok(run.results.into_iter().map(|times| times.into_iter().map(in_machine).collect()).collect())
    }

    /// The median of what an experiment says, over repetitions that were on time.
    ///
    /// A host that was busy with something else catches up afterwards, and the machine then does too quickly
    /// what it did too late. `judge` reads what the processors returned, and says of every repetition whether
    /// it was on time. Where too few were, the experiment is run again.
    pub(crate) fn median<T: Ord + Copy>(
        &mut self,
        experiment: impl Fn(&mut Proc, Watch) -> Vec<Time> + Sync,
        judge: impl Fn(&[Vec<Time>]) -> Vec<(bool, T)>,
    ) -> Result<T, RunError> {
        let (mut on_time, mut all) = (Vec::new(), Vec::new());
        for _ in 0..TRIES {
            let judged = judge(&self.run(&experiment)?);
            all.extend(judged.iter().map(|(_, value)| *value));
            on_time.extend(judged.iter().filter(|(on_time, _)| *on_time).map(|(_, value)| *value));
            if 2 * on_time.len() > self.repetitions {
                break;
            }
        }
        Ok(median(if on_time.is_empty() { &all } else { &on_time }))
    }

    /// How long an act of processor 0 takes, with the help of processor 1.
    fn time(
        &mut self,
        act: impl Fn(&mut Proc) + Sync,
        help: impl Fn(&mut Proc) + Sync,
    ) -> Result<Time, RunError> {
        let (repetitions, rest, slack) = (self.repetitions, self.rest, self.slack());
        let experiment = |p: &mut Proc, watch: Watch| {
            let mut times = Vec::new();
            for _ in 0..repetitions {
                match p.id() {
                    0 => {
                        let rested = watch.rest(p, rest);
                        let start = watch.read(p);
                        act(p);
                        times.extend([rested, watch.read(p) - start]);
                    }
                    1 => help(p),
                    _ => (),
                }
            }
            times
        };
        let judge = |times: &[Vec<Time>]| {
            let judge = |times: &[Time]| (is_near(times[0], rest, slack), times[1]);
            times[0].chunks(2).map(judge).collect()
        };
        self.median(experiment, judge)
    }

    /// By how much a rest may miss its length on a host that is on time.
    fn slack(&self) -> Time {
        (10 * self.noise).max(share(self.rest, 100))
    }

    /// A message of k words.
    fn message(&self, k: usize) -> Blank {
        Blank { bytes: k * self.word }
    }

    /// t(M, Delta) with messages of k words.
    fn burst(&mut self, M: usize, pause: Time, k: usize) -> Result<Time, RunError> {
        let message = self.message(k);
        let burst = |p: &mut Proc| {
            for _ in 0..M {
                p.send(1, MESSAGE, message);
                p.work(PAUSE, pause.as_ps() as u64, || ());
            }
        };
        self.time(burst, |p| receive(p, M))
    }

    /// The bursts of a line of the signature.
    fn series(&mut self, pause: Time) -> Result<Series, RunError> {
        let lengths = (0..=LONGEST_BURST.ilog2()).map(|exponent| 1 << exponent);
        let bursts = lengths.map(|M| Ok((M, self.burst(M, pause, 1)?))).collect::<Result<_, RunError>>()?;
        Ok(Series { pause, bursts })
    }

    /// How long k words there and one word back take: 2L + 4o + (k-1)G.
    fn round_trip(&mut self, k: usize) -> Result<Time, RunError> {
        let (ping, pong) = (self.message(k), self.message(1));
        let call = |p: &mut Proc| {
            p.send(1, MESSAGE, ping);
            p.recv_from::<Blank>(1, REPLY);
        };
        let answer = |p: &mut Proc| {
            p.recv_from::<Blank>(0, MESSAGE);
            p.send(0, REPLY, pong);
        };
        self.time(call, answer)
    }

    /// G, and the length of the message that showed it: long enough that its words take most of the time.
    fn gap_per_word(&mut self, round_trip: Time) -> Result<(Time, usize), RunError> {
        let enough = match self.clock {
            ClockKind::Virtual => PS,
            ClockKind::Wall => WELL_MEASURED.max(10 * round_trip),
        };
        let mut k = 2;
        loop {
            let longer = self.round_trip(k)? - round_trip;
            if longer >= enough || k >= MOST_WORDS {
                let G = if longer > 20 * self.noise { share(longer, k as i64 - 1) } else { Time::ZERO };
                return Ok((G, k));
            }
            k *= 4;
        }
    }

    /// g: the time between short messages, unless o is longer; then, what comes on top of a long message's
    /// (k-1)G. Twice the time for k words less the time for 2k-1 words is g, whatever G.
    fn gap(&mut self, seen: &Seen) -> Result<Found<Time>, RunError> {
        let &Seen { interval, o, G, .. } = seen;
        if interval > o + self.noise {
            return Ok(exact(interval, "bursts without pauses: max(o, g) per message".into()));
        }
        if G == Time::ZERO || 2 * o.as_ps() / G.as_ps() >= MOST_WORDS as i64 {
            let how = "bursts without pauses: max(o, g) per message, and o hides a shorter g".into();
            return Ok(Found { value: interval, bound: Bound::AtMost, how });
        }
        let k = 2 + (2 * o.as_ps() / G.as_ps()) as usize;
        let mut interval = |k| {
            let few = self.burst(2, Time::ZERO, k)?;
            Ok::<_, RunError>(share(self.burst(10, Time::ZERO, k)? - few, 8))
        };
        let (short, long) = (interval(k)?, interval(2 * k - 1)?);
        let how = format!("bursts of {k} and {} words: (k-1)G + g per message, since o hides g", 2 * k - 1);
        Ok(exact((2 * short - long).max(Time::ZERO), how))
    }

    /// C: how many messages are in transit to a processor when the next one stalls.
    ///
    /// A sender alone never stalls, for C = ceil(L/g) is just what it has in transit at one message every g.
    /// Its messages must be kept in transit longer than L, or there must be more of them.
    ///
    /// - Where G > 0, processor 1 closes its own port, by sending itself one message of very many words.
    ///   What processor 0 sends it meanwhile, in messages of two words, stays in transit until the port is
    ///   open again. The long message takes a slot too, so the send that stalls after n others says that
    ///   C = n + 1. Two processors are enough for any C, and the stall is as long as one likes.
    /// - Where G = 0, no port is ever occupied. Then all P processors send to processor 0, also itself,
    ///   every max(o, g), and those that enter before the first arrives are C, or all that were sent.
    fn capacity(&mut self, seen: &Seen) -> Result<Found<usize>, RunError> {
        let mut M = 4;
        loop {
            // A burst without a stall takes less than this, so a send that takes longer has stalled.
            let regular = seen.L + M as i64 * (seen.interval + seen.o + seen.G);
            let closed = 2 * (regular + seen.round_trip + self.rest);
            let Some(words) = closed.as_ps().checked_div(seen.G.as_ps()).filter(|words| *words < LONGEST)
            else {
                return self.crowd(seen);
            };
            let n = self.closed_port(M, words as usize + 2, seen.round_trip, regular)?;
            if n < M {
                let how = format!("one message closes a port, {n} more are let in, and a send stalls");
                return Ok(exact(n + 1, how));
            }
            if M >= MOST_IN_TRANSIT {
                let how = format!("one message closes a port, {M} more are let in, and none stalls");
                return Ok(Found { value: M + 1, bound: Bound::AtLeast, how });
            }
            M *= 2;
        }
    }

    /// How many of M messages enter at once while their receiver's port is closed by so many words. A send
    /// that takes longer than `regular` has stalled.
    fn closed_port(
        &mut self,
        M: usize,
        words: usize,
        round_trip: Time,
        regular: Time,
    ) -> Result<usize, RunError> {
        let (plug, message, signal) = (self.message(words), self.message(2), self.message(1));
        let (repetitions, rest, slack) = (self.repetitions, self.rest, self.slack());
        let pause = round_trip + rest; // after that the port is closed
        let close = |p: &mut Proc, watch: Watch| {
            p.recv_from::<Blank>(0, BEGIN);
            p.send(1, MESSAGE, plug);
            let closed = watch.read(p);
            receive(p, M + 1);
            p.send(0, REPLY, signal);
            closed
        };
        let send = |p: &mut Proc, watch: Watch| {
            p.wait_until(p.now() + rest);
            p.send(1, BEGIN, signal);
            let rested = watch.rest(p, pause);
            let mut times = vec![rested, watch.read(p)];
            for _ in 0..M {
                p.send(1, MESSAGE, message);
                times.push(watch.read(p));
            }
            p.recv_from::<Blank>(1, REPLY);
            times
        };
        let experiment = |p: &mut Proc, watch: Watch| match p.id() {
            0 => (0..repetitions).flat_map(|_| send(p, watch)).collect(),
            1 => (0..repetitions).map(|_| close(p, watch)).collect(),
            _ => Vec::new(),
        };
        let judge = |times: &[Vec<Time>]| {
            let judge = |(sends, closed): (&[Time], &Time)| {
                let (rested, sends) = (sends[0], &sends[1..]);
                let entered = sends.windows(2).position(|pair| pair[1] - pair[0] > regular).unwrap_or(M);
                // The port must have been closed when the burst began.
                (is_near(rested, pause, slack) && *closed <= sends[0], entered)
            };
            times[0].chunks(M + 2).zip(&times[1]).map(judge).collect()
        };
        self.median(experiment, judge)
    }

    /// How many of all processors' messages to processor 0 enter before the first has arrived.
    fn crowd(&mut self, seen: &Seen) -> Result<Found<usize>, RunError> {
        let &Seen { interval, L, .. } = seen;
        // A stall ends L after the first entry; what enters clearly before has not stalled.
        let soon = L - (10 * self.noise).min(share(L, 4));
        let before = share(soon + L, 2);
        let most = (MOST_IN_TRANSIT / self.P).max(1);
        // So many of each would enter in time if nothing stalled.
        let each = match interval.as_ps() {
            0 => most,
            interval => most.min((soon.as_ps() as u64).div_ceil(interval as u64) as usize),
        };
        let (message, P) = (self.message(1), self.P);
        let mut counts = Vec::new();
        for _ in 0..self.repetitions {
            let mut entries = self.run(|p, watch| {
                let send = |p: &mut Proc| {
                    p.send(0, MESSAGE, message);
                    watch.read(p)
                };
                let entries = (0..each).map(|_| send(p)).collect();
                if p.id() == 0 {
                    receive(p, P * each);
                }
                entries
            })?;
            let first = entries.iter().flatten().min().copied().unwrap_or_default();
            entries.iter_mut().for_each(|of_one| of_one.retain(|entry| *entry - first < before));
            counts.push(entries.iter().map(Vec::len).sum::<usize>());
        }
        let n = median(&counts);
        if n < P * each && n > 0 {
            let how = format!("{P} processors sent to one: {n} messages entered before the first arrived");
            return Ok(exact(n, how));
        }
        let how =
            format!("{P} processors sent {each} each to one, and none stalled; more processors show more");
        Ok(Found { value: n.max(1), bound: Bound::AtLeast, how })
    }
}

/// A message of so many bytes that says nothing: only its length is of interest.
#[derive(Clone, Copy)]
struct Blank {
    bytes: usize,
}

impl Payload for Blank {
    fn bytes(&self) -> usize {
        self.bytes
    }
}

/// Receives so many messages.
fn receive(p: &mut Proc, messages: usize) {
    for _ in 0..messages {
        p.recv::<Blank>(MESSAGE);
    }
}

/// Where a program reads the time.
#[derive(Clone, Copy)]
enum Watch {
    /// From its processor: on the virtual clock there is no other time.
    Local,
    /// From the host, since this moment.
    Host(Instant),
}

impl Watch {
    /// The time, when all that the processor did until now is really over.
    fn read(self, p: &mut Proc) -> Time {
        p.wait_until(p.now()); // a send returns before its overhead has passed; the next call waits for that
        match self {
            Watch::Local => p.now(),
            Watch::Host(start) => start.elapsed().as_nanos() as i64 * NS,
        }
    }

    /// Rests for so long, and says how long that really took.
    fn rest(self, p: &mut Proc, rest: Time) -> Time {
        let start = self.read(p);
        p.wait_until(p.now() + rest);
        self.read(p) - start
    }
}

/// Whether two times are not further apart than that.
fn is_near(a: Time, b: Time, slack: Time) -> bool {
    (a - b).max(b - a) <= slack
}

/// A time in n parts, to the nearest picosecond.
fn share(time: Time, n: i64) -> Time {
    Time::from_ps((time.as_ps() + n / 2).div_euclid(n))
}

/// The value in the middle.
pub(crate) fn median<T: Ord + Copy>(values: &[T]) -> T {
    let mut values = values.to_vec();
    values.sort_unstable();
    values[values.len() / 2]
}
