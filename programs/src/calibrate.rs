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
//!
//! A host that is late shows times of its own and not of the machine. So a time counts only if the machine says
//! that the host held the run, and if rests before and after it took as long as they should; and what was found
//! counts only if enough such times agree. What is judged is the host, and never how near a value is to what was
//! configured: nothing here reads that.

use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

use loggp::{ClockKind, Dilation, MS, Machine, NS, PS, Params, Payload, Proc, RunError, Tag, Time, US, Work};

use crate::median::median;

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
    /// Whether the host was on time often enough to find it; time that does not pass is never late. If not, the value
    /// may be anything.
    pub held: bool,
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

/// Calibrates a machine on the wall clock: at the dilation that it has or chooses, and if the host was late, once more at
/// full speed if there is a core for every processor. A machine that chooses its dilation stretches short runs, which makes
/// them more exact on an idle host, and on a busy one whatever else it does then comes into all of them.
pub fn calibrate_twice(machine: &Machine) -> Result<Calibration, RunError> {
    let wall = machine.clone().clock(ClockKind::Wall);
    let first = calibrate(machine, ClockKind::Wall)?;
    if first.held() || wall.at_once() < machine.params().P {
        return Ok(first);
    }
    let second = calibrate(&machine.clone().dilation(Dilation::Fixed(1.0)), ClockKind::Wall)?;
    Ok(if second.found() > first.found() { second } else { first })
}

/// Calibrates a machine on this clock. Its work is charged, so that nothing but communication takes time.
pub fn calibrate(machine: &Machine, clock: ClockKind) -> Result<Calibration, RunError> {
    let mut lab = Lab::new(machine, clock);

    // A first burst says how long a rest lets the gap run out, and a second one, after rests, says it again.
    for _ in 0..2 {
        lab.rest = share(lab.burst(LONGEST_BURST, Time::ZERO, 1)?.time, 8);
    }
    let (series, interval) = lab.series(Time::ZERO)?;
    let mut signature = vec![series];
    let (mut pause, mut slope) = (Time::ZERO, interval);
    for longer in [share(interval.time, 2), interval.time, 2 * interval.time] {
        let series;
        (series, slope) = lab.series(longer)?;
        signature.push(series);
        pause = longer;
    }
    let o = slope.less(Reading::of(pause));

    let round_trip = lab.round_trip(1)?;
    let (G, k) = lab.gap_per_word(round_trip)?;
    let L = round_trip.less(o.times(4)).share(2);
    let seen = Seen { interval, o, L, G, round_trip };
    let g = lab.gap(&seen)?;
    let C = lab.capacity(&seen)?;
    Ok(Calibration {
        o: exact(o, "bursts with long pauses: o + Delta per message".into()),
        g,
        L: exact(L, "a round trip takes 2L + 4o".into()),
        G: exact(G, format!("a round trip with {k} words there takes {}G more", k - 1)),
        C,
        signature,
        dilation: lab.dilation,
        cores: lab.cores,
    })
}

impl Calibration {
    /// Whether the host was on time often enough to find all of it.
    pub fn held(&self) -> bool {
        self.found() == 5
    }

    /// How many of the parameters it was on time to find.
    fn found(&self) -> usize {
        let Calibration { o, g, L, G, C, .. } = self;
        [o.held, g.held, L.held, G.held, C.held].into_iter().filter(|held| *held).count()
    }
}

/// A time that was measured, or worked out from such.
#[derive(Clone, Copy)]
struct Reading {
    /// The time.
    time: Time,
    /// How far from it the time may be, as repetitions that were on time are; nothing if too few were.
    doubt: Option<Time>,
    /// By how much two such times may differ and be the same.
    noise: Time,
}

impl Reading {
    /// A time that is known.
    fn of(time: Time) -> Reading {
        Reading { time, doubt: Some(Time::ZERO), noise: Time::ZERO }
    }

    /// The difference, which is no less than 0. Doubts add up.
    fn less(self, other: Reading) -> Reading {
        Reading {
            time: (self.time - other.time).max(Time::ZERO),
            doubt: both(self.doubt, other.doubt),
            noise: self.noise + other.noise,
        }
    }

    fn times(self, n: i64) -> Reading {
        self.each(|time| n * time)
    }

    /// A part of n.
    fn share(self, n: i64) -> Reading {
        self.each(|time| share(time, n))
    }

    fn each(self, change: impl Fn(Time) -> Time) -> Reading {
        Reading { time: change(self.time), doubt: self.doubt.map(&change), noise: change(self.noise) }
    }

    /// Whether it was measured: it is in doubt by no more than a small part of it, or than times that are the same.
    fn is_held(self) -> bool {
        self.doubt.is_some_and(|doubt| doubt <= share(self.time, DOUBT).max(self.noise))
    }
}

/// A value that is what it is.
fn exact(found: Reading, how: String) -> Found<Time> {
    Found { value: found.time, bound: Bound::Exact, how, held: found.is_held() }
}

/// The sum of two doubts.
fn both(one: Option<Time>, other: Option<Time>) -> Option<Time> {
    Some(one? + other?)
}

/// What is known of a machine when its gap and its capacity are asked for.
struct Seen {
    /// max(o, g): the time from one short message of a burst to the next.
    interval: Reading,
    o: Reading,
    L: Reading,
    G: Reading,
    /// 2L + 4o.
    round_trip: Reading,
}

/// The middle of what several repetitions said.
#[derive(Clone, Copy)]
struct Middle<T> {
    median: T,
    /// The quartiles.
    low: T,
    high: T,
    /// How many there were.
    count: usize,
}

impl<T: Ord + Copy> Middle<T> {
    /// Sorts them; nothing if there are none.
    fn of(values: &mut [T]) -> Option<Middle<T>> {
        values.sort_unstable();
        let count = values.len();
        let last = count.checked_sub(1)?;
        let median = values[count / 2];
        Some(Middle {
            median,
            low: values[last / 4].min(median),
            high: values[(3 * last).div_ceil(4)],
            count,
        })
    }
}

impl Middle<Time> {
    /// How far from the median the truth may be: the more repetitions there are, the less. With few of them it is as far as
    /// the quartiles.
    fn doubt(self) -> Time {
        let apart = (self.median - self.low).max(self.high - self.median);
        let fewer = (ENOUGH as f64 / self.count as f64).sqrt().min(1.0);
        Time::from_ps((apart.as_ps() as f64 * fewer) as i64)
    }
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
    /// How often an experiment is repeated in a run: so often that the run is neither short nor long, going by the run
    /// before.
    repetitions: usize,
    /// So many repetitions must be on time.
    enough: usize,
    /// Times that differ by less are the same.
    noise: Time,
    /// How long a processor rests between two experiments.
    rest: Time,
    /// Until when runs that were late are run again.
    patience: Instant,
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
/// An experiment on the wall clock is repeated so often in a run; the virtual clock says the same every time.
const REPETITIONS: RangeInclusive<usize> = 15..=300;
/// So many of them must be on time, in one run or in several.
const ENOUGH: usize = 8;
/// After so many it is no use to wait until more agree.
const MANY: usize = 128;
/// So long a run should last. Many short runs find their time also on a host that has something else to do every few
/// milliseconds.
const LENGTH: Time = Time::from_ps(3 * MS.as_ps());
/// An experiment is run so often, if there are not enough repetitions that were on time.
const TRIES: usize = 40;
/// After so long nothing is run again.
const PATIENCE: Duration = Duration::from_secs(5);
/// What is found may be in doubt by such a part of it: repetitions that were on time are not further apart. The value in
/// the middle is nearer than that.
const DOUBT: i64 = 100;
/// Times on the wall clock that differ by less than this are the same.
const NOISE: Time = Time::from_ps(50 * NS.as_ps());
/// A difference that is measured on the wall clock should be at least this long.
const WELL_MEASURED: Time = Time::from_ps(200 * US.as_ps());
/// The kind of work that a pause is, in units of a picosecond.
const PAUSE: &str = "pause";

/// The tags.
const MESSAGE: Tag<Blank> = Tag::new(0);
const REPLY: Tag<Blank> = Tag::named(1, "reply");
const BEGIN: Tag<Blank> = Tag::named(2, "begin");

impl Lab {
    fn new(machine: &Machine, clock: ClockKind) -> Lab {
        let (P, word) = (machine.params().P, machine.params().word.get());
        let (repetitions, enough, noise) = match clock {
            ClockKind::Virtual => (1, 1, Time::ZERO),
            ClockKind::Wall => (*REPETITIONS.start(), ENOUGH, NOISE),
        };
        let machine = machine.clone().clock(clock).work(Work::Charged).rate(PAUSE, PS);
        let (rest, patience) = (Time::ZERO, Instant::now() + PATIENCE);
        Lab { machine, P, word, clock, repetitions, enough, noise, rest, patience, dilation: 1.0, cores: 1 }
    }

    /// Runs an experiment. Every processor returns times by its watch, which are given back in the machine's
    /// time; and the machine says whether the host held the run.
    fn run(
        &mut self,
        experiment: impl Fn(&mut Proc, Watch) -> Vec<Time> + Sync,
    ) -> Result<(Vec<Vec<Time>>, bool), RunError> {
        let watch = match self.clock {
            ClockKind::Virtual => Watch::Local,
            ClockKind::Wall => Watch::Host(Instant::now()),
        };
        let run = self.machine.run(|p| experiment(p, watch))?;
        let Some(host) = run.host else { return Ok((run.results, true)) };
        (self.dilation, self.cores) = (self.dilation.max(host.dilation), host.cores);
        let one = run.time.as_ps() as f64 * host.dilation / self.repetitions as f64;
        let repetitions = (LENGTH.as_ps() as f64 / one.max(1.0)) as usize;
        self.repetitions = repetitions.clamp(*REPETITIONS.start(), *REPETITIONS.end());
        let in_machine = |time: Time| Time::from_ps((time.as_ps() as f64 / host.dilation) as i64);
        let times = run.results.into_iter().map(|times| times.into_iter().map(in_machine).collect());
        Ok((times.collect(), host.held))
    }

    /// The median of what an experiment says, over repetitions that were on time, and how they lie around it; that is
    /// missing where too few were on time, and then the median is that of all there are. An experiment is told how
    /// often to repeat what it does. It goes on until those that were on time agree, if that is not too long.
    ///
    /// A host that was busy with something else catches up afterwards, and the machine then does too quickly
    /// what it did too late. `judge` reads what the processors returned, and says of every repetition whether
    /// it was on time. Where too few were, the experiment is run again; and a run that the host did not hold does not
    /// count at all.
    fn median<T: Ord + Copy>(
        &mut self,
        experiment: impl Fn(&mut Proc, Watch, usize) -> Vec<Time> + Sync,
        judge: impl Fn(&[Vec<Time>]) -> Vec<(bool, T)>,
        agree: impl Fn(Middle<T>) -> bool,
    ) -> Result<(T, Option<Middle<T>>), RunError> {
        let (mut on_time, mut all) = (Vec::new(), Vec::new());
        for _ in 0..TRIES {
            let repetitions = self.repetitions;
            let (times, held) = self.run(|p, watch| experiment(p, watch, repetitions))?;
            for (in_time, value) in judge(&times) {
                all.push(value);
                if held && in_time {
                    on_time.push(value);
                }
            }
            let found = Middle::of(&mut on_time);
            if on_time.len() >= MANY
                || found.is_some_and(|found| on_time.len() >= self.enough && agree(found))
            {
                break;
            }
            if Instant::now() > self.patience {
                break;
            }
        }
        let found = Middle::of(&mut on_time).filter(|found| found.count >= self.enough);
        Ok((median(if on_time.is_empty() { &all } else { &on_time }), found))
    }

    /// How long an act of processor 0 takes, with the help of processor 1. It was on time if the rests before and after
    /// it were as long as they should be: who is late when an act begins or ends makes up for it in a rest.
    fn time(
        &mut self,
        act: impl Fn(&mut Proc) + Sync,
        help: impl Fn(&mut Proc) + Sync,
    ) -> Result<Reading, RunError> {
        let (rest, slack) = (self.rest, self.slack());
        let experiment = |p: &mut Proc, watch: Watch, repetitions| match p.id() {
            0 => {
                let mut times = vec![watch.rest(p, rest)];
                for _ in 0..repetitions {
                    let start = watch.read(p);
                    act(p);
                    times.push(watch.read(p) - start);
                    times.push(watch.rest(p, rest));
                }
                times
            }
            1 => {
                (0..repetitions).for_each(|_| help(p));
                Vec::new()
            }
            _ => Vec::new(),
        };
        let rested = |time: Time| is_near(time, rest, slack);
        let judge = |times: &[Vec<Time>]| {
            let judge = |times: &[Time]| (rested(times[0]) && rested(times[2]), times[1]);
            times[0].windows(3).step_by(2).map(judge).collect()
        };
        let noise = self.noise;
        let agree =
            |found: Middle<Time>| found.doubt() <= share(found.median, 4 * DOUBT).max(share(noise, 2));
        let (time, found) = self.median(experiment, judge, agree)?;
        Ok(Reading { time, doubt: found.map(Middle::doubt), noise })
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
    fn burst(&mut self, M: usize, pause: Time, k: usize) -> Result<Reading, RunError> {
        let message = self.message(k);
        let burst = |p: &mut Proc| {
            for _ in 0..M {
                p.send(1, MESSAGE, message);
                p.work(PAUSE, pause.as_ps() as u64, || ());
            }
        };
        self.time(burst, |p| receive(p, M))
    }

    /// The bursts of a line of the signature; and what a further message takes, from the shortest to the longest.
    fn series(&mut self, pause: Time) -> Result<(Series, Reading), RunError> {
        let lengths = (0..=LONGEST_BURST.ilog2()).map(|exponent| 1 << exponent);
        let bursts: Vec<(usize, Reading)> =
            lengths.map(|M| Ok((M, self.burst(M, pause, 1)?))).collect::<Result<_, RunError>>()?;
        let ((few, least), (many, most)) = (bursts[0], bursts[bursts.len() - 1]);
        let slope = most.less(least).share((many - few) as i64);
        let bursts = bursts.into_iter().map(|(M, reading)| (M, reading.time)).collect();
        Ok((Series { pause, bursts }, slope))
    }

    /// How long k words there and one word back take: 2L + 4o + (k-1)G.
    fn round_trip(&mut self, k: usize) -> Result<Reading, RunError> {
        let (ping, pong) = (self.message(k), self.message(1));
        let call = |p: &mut Proc| {
            p.send(1, MESSAGE, ping);
            p.recv_from(1, REPLY);
        };
        let answer = |p: &mut Proc| {
            p.recv_from(0, MESSAGE);
            p.send(0, REPLY, pong);
        };
        self.time(call, answer)
    }

    /// G, and the length of the message that showed it: long enough that its words take most of the time.
    fn gap_per_word(&mut self, round_trip: Reading) -> Result<(Reading, usize), RunError> {
        let enough = match self.clock {
            ClockKind::Virtual => PS,
            ClockKind::Wall => WELL_MEASURED.max(10 * round_trip.time),
        };
        let mut k = 2;
        loop {
            let longer = self.round_trip(k)?.less(round_trip);
            // If the host was late with this one, it would be so with a longer one.
            if longer.time >= enough || k >= MOST_WORDS || longer.doubt.is_none() {
                let shows = longer.time > 20 * self.noise;
                let longer = if shows { longer } else { Reading { time: Time::ZERO, ..longer } };
                return Ok((longer.share(k as i64 - 1), k));
            }
            k *= 4;
        }
    }

    /// g: the time between short messages, unless o is longer; then, what comes on top of a long message's
    /// (k-1)G. Twice the time for k words less the time for 2k-1 words is g, whatever G.
    fn gap(&mut self, seen: &Seen) -> Result<Found<Time>, RunError> {
        let &Seen { interval, o, G, .. } = seen;
        if interval.time > o.time + self.noise {
            return Ok(exact(interval, "bursts without pauses: max(o, g) per message".into()));
        }
        // Here g is found as max(o, g), or where o says that it hides g.
        let held = interval.is_held() && o.is_held();
        if !(held && G.is_held()) {
            let how =
                "bursts without pauses: max(o, g) per message, and without o and G it cannot be told which"
                    .into();
            return Ok(Found { value: interval.time, bound: Bound::AtMost, how, held: false });
        }
        if G.time == Time::ZERO || 2 * o.time.as_ps() / G.time.as_ps() >= MOST_WORDS as i64 {
            let how = "bursts without pauses: max(o, g) per message, and o hides a shorter g".into();
            return Ok(Found { value: interval.time, bound: Bound::AtMost, how, held });
        }
        let k = 2 + (2 * o.time.as_ps() / G.time.as_ps()) as usize;
        let mut interval = |k| {
            let few = self.burst(2, Time::ZERO, k)?;
            Ok::<_, RunError>(self.burst(10, Time::ZERO, k)?.less(few).share(8))
        };
        let (short, long) = (interval(k)?, interval(2 * k - 1)?);
        let how = format!("bursts of {k} and {} words: (k-1)G + g per message, since o hides g", 2 * k - 1);
        let found = exact(short.times(2).less(long), how);
        Ok(Found { held: found.held && held, ..found })
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
        if ![seen.interval, seen.o, seen.L, seen.G].into_iter().all(Reading::is_held) {
            let how =
                "not tried: without the others nobody can tell how long a send takes that does not stall"
                    .into();
            return Ok(Found { value: 1, bound: Bound::AtLeast, how, held: false });
        }
        let mut M = 4;
        loop {
            // A burst without a stall takes less than this, so a send that takes longer has stalled.
            let regular = seen.L.time + M as i64 * (seen.interval.time + seen.o.time + seen.G.time);
            let closed = 2 * (regular + seen.round_trip.time + self.rest);
            let Some(words) =
                closed.as_ps().checked_div(seen.G.time.as_ps()).filter(|words| *words < LONGEST)
            else {
                return self.crowd(seen);
            };
            let (n, held) = self.closed_port(M, words as usize + 2, seen.round_trip.time, regular)?;
            if n < M {
                let how = format!("one message closes a port, {n} more are let in, and a send stalls");
                return Ok(Found { value: n + 1, bound: Bound::Exact, how, held });
            }
            if M >= MOST_IN_TRANSIT || !held {
                let how = format!("one message closes a port, {M} more are let in, and none stalls");
                return Ok(Found { value: M + 1, bound: Bound::AtLeast, how, held });
            }
            M *= 2;
        }
    }

    /// How many of M messages enter at once while their receiver's port is closed by so many words, and whether
    /// repetitions that were on time agree on it. A send that takes longer than `regular` has stalled.
    fn closed_port(
        &mut self,
        M: usize,
        words: usize,
        round_trip: Time,
        regular: Time,
    ) -> Result<(usize, bool), RunError> {
        let (plug, message, signal) = (self.message(words), self.message(2), self.message(1));
        let (rest, slack) = (self.rest, self.slack());
        let pause = round_trip + rest; // after that the port is closed
        let close = |p: &mut Proc, watch: Watch| {
            p.recv_from(0, BEGIN);
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
            p.recv_from(1, REPLY);
            times.push(watch.rest(p, rest));
            times
        };
        let experiment = |p: &mut Proc, watch: Watch, repetitions| match p.id() {
            0 => (0..repetitions).flat_map(|_| send(p, watch)).collect(),
            1 => (0..repetitions).map(|_| close(p, watch)).collect(),
            _ => Vec::new(),
        };
        let judge = |times: &[Vec<Time>]| {
            let judge = |(sends, closed): (&[Time], &Time)| {
                let (rests, sends) = ((sends[0], sends[M + 2]), &sends[1..M + 2]);
                let entered = sends.windows(2).position(|pair| pair[1] - pair[0] > regular).unwrap_or(M);
                let rested = is_near(rests.0, pause, slack) && is_near(rests.1, rest, slack);
                // The port must have been closed when the burst began.
                (rested && *closed <= sends[0], entered)
            };
            times[0].chunks(M + 3).zip(&times[1]).map(judge).collect()
        };
        let (n, found) = self.median(experiment, judge, |_| true)?;
        Ok((n, found.is_some_and(|found| found.low == found.high)))
    }

    /// How many of all processors' messages to processor 0 enter before the first has arrived.
    fn crowd(&mut self, seen: &Seen) -> Result<Found<usize>, RunError> {
        let (interval, L) = (seen.interval.time, seen.L.time);
        // A stall ends L after the first entry; what enters clearly before has not stalled.
        let soon = L - (10 * self.noise).min(share(L, 4));
        let before = share(soon + L, 2);
        let most = (MOST_IN_TRANSIT / self.P).max(1);
        // So many of each would enter in time if nothing stalled.
        let each = match interval.as_ps() {
            0 => most,
            interval => most.min((soon.as_ps() as u64).div_ceil(interval as u64) as usize),
        };
        let (message, P, rest, slack) = (self.message(1), self.P, self.rest, self.slack());
        // Everyone begins at time 0, so there is one repetition in a run.
        self.repetitions = 1;
        let (mut on_time, mut all) = (Vec::new(), Vec::new());
        for _ in 0..TRIES {
            let (times, held) = self.run(|p, watch| {
                let mut times = vec![watch.rest(p, rest)];
                for _ in 0..each {
                    p.send(0, MESSAGE, message);
                    times.push(watch.read(p));
                }
                if p.id() == 0 {
                    receive(p, P * each);
                }
                times.push(watch.rest(p, rest));
                times
            })?;
            let entries = |times: &[Time]| times[1..=each].to_vec();
            let entries: Vec<Time> = times.iter().flat_map(|times| entries(times)).collect();
            let first = entries.iter().min().copied().unwrap_or_default();
            let n = entries.iter().filter(|entry| **entry - first < before).count();
            all.push(n);
            if held
                && times
                    .iter()
                    .all(|times| [times[0], times[each + 1]].iter().all(|r| is_near(*r, rest, slack)))
            {
                on_time.push(n);
            }
            if on_time.len() >= self.enough || Instant::now() > self.patience {
                break;
            }
        }
        let enough = on_time.len() >= self.enough;
        let n = median(if on_time.is_empty() { &all } else { &on_time });
        let agree = 4 * on_time.iter().filter(|count| **count == n).count() > 3 * on_time.len();
        let held = enough && agree;
        if n < P * each && n > 0 {
            let how = format!("{P} processors sent to one: {n} messages entered before the first arrived");
            return Ok(Found { value: n, bound: Bound::Exact, how, held });
        }
        let how =
            format!("{P} processors sent {each} each to one, and none stalled; more processors show more");
        Ok(Found { value: n.max(1), bound: Bound::AtLeast, how, held })
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
        p.recv(MESSAGE);
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
