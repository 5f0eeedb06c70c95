//! The machine as its own laboratory: experiments that take times, again and again until the host was on time.

use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

use loggp::{ClockKind, MS, Machine, NS, PS, Payload, Proc, RunError, Tag, Time, Work};

use super::reading::{DOUBT, ENOUGH, Middle, Reading, is_near, share};
use loggp_programs::math::median::median;

/// The machine as its own laboratory: processor 0 experiments, and processor 1 helps.
pub struct Lab {
    /// The machine.
    pub machine: Machine,
    /// Its number of processors.
    pub P: usize,
    /// Bytes in a word.
    pub word: usize,
    /// Its clock.
    pub clock: ClockKind,
    /// How often an experiment is repeated in a run: so often that the run is neither short nor long, going by the run
    /// before.
    repetitions: usize,
    /// So many repetitions must be on time.
    enough: usize,
    /// Times that differ by less are the same.
    pub noise: Time,
    /// How long a processor rests between two experiments.
    pub rest: Time,
    /// Until when runs that were late are run again.
    pub patience: Instant,
    /// The greatest dilation of a run until now.
    pub dilation: f64,
    /// On how many of the host's cores it ran.
    pub cores: usize,
}

/// An experiment on the wall clock is repeated so often in a run; the virtual clock says the same every time.
const REPETITIONS: RangeInclusive<usize> = 15..=300;
/// After so many repetitions it is no use to wait until more agree.
const MANY: usize = 128;
/// So long a run should last. Many short runs find their time also on a host that has something else to do every few
/// milliseconds.
const LENGTH: Time = Time::from_ps(3 * MS.as_ps());
/// An experiment is run so often, if there are not enough repetitions that were on time.
const TRIES: usize = 40;
/// After so long nothing is run again.
const PATIENCE: Duration = Duration::from_secs(5);
/// Times on the wall clock that differ by less than this are the same.
const NOISE: Time = Time::from_ps(50 * NS.as_ps());
/// A rest lasts at least for so much noise: ten times as long as it may miss, since one that is shorter is right whatever happens.
const LEAST_REST: i64 = 100;
/// The kind of work that a pause is, in units of a picosecond.
const PAUSE: &str = "pause";

/// A message to whom it is sent.
pub const MESSAGE: Tag<Blank> = Tag::new(0);
/// And one back.
pub const REPLY: Tag<Blank> = Tag::named(1, "reply");

impl Lab {
    /// On a machine, with this clock.
    pub fn new(machine: &Machine, clock: ClockKind) -> Lab {
        let (P, word) = (machine.params().P, machine.params().word.get());
        let (repetitions, enough, noise) = match clock {
            ClockKind::Virtual => (1, 1, Time::ZERO),
            _ => (*REPETITIONS.start(), ENOUGH, NOISE),
        };
        let machine = machine.clone().clock(clock).work(Work::Charged).rate(PAUSE, PS);
        let (rest, patience) = (LEAST_REST * noise, Instant::now() + PATIENCE);
        Lab { machine, P, word, clock, repetitions, enough, noise, rest, patience, dilation: 1.0, cores: 1 }
    }

    /// From now on a processor rests for so long, if not for longer.
    pub fn rest_for(&mut self, rest: Time) {
        self.rest = rest.max(LEAST_REST * self.noise);
    }

    /// Runs an experiment. Every processor returns times by its watch, which are given back in the machine's
    /// time; and the machine says whether the host held the run.
    fn run(
        &mut self,
        experiment: impl Fn(&mut Proc, Watch) -> Vec<Time> + Sync,
    ) -> Result<(Vec<Vec<Time>>, bool), RunError> {
        let watch = match self.clock {
            ClockKind::Virtual => Watch::Local,
            _ => Watch::Host(Instant::now()),
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
    pub fn median<T: Ord + Copy>(
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
    pub fn slack(&self) -> Time {
        (10 * self.noise).max(share(self.rest, 100))
    }

    /// A message of k words.
    pub fn message(&self, k: usize) -> Blank {
        Blank { bytes: k * self.word }
    }

    /// t(M, Delta) with messages of k words.
    pub fn burst(&mut self, M: usize, pause: Time, k: usize) -> Result<Reading, RunError> {
        let message = self.message(k);
        let burst = |p: &mut Proc| {
            for _ in 0..M {
                p.send(1, MESSAGE, message);
                p.work(PAUSE, pause.as_ps() as u64, || ());
            }
        };
        self.time(burst, |p| receive(p, M))
    }

    /// How long k words there and one word back take: 2L + 4o + (k-1)G.
    pub fn round_trip(&mut self, k: usize) -> Result<Reading, RunError> {
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

    /// How long k words there and as many back take, while processor 0 computes for a time w in between (LogGPS, figure 3).
    pub fn imbalanced(&mut self, k: usize, w: Time) -> Result<Reading, RunError> {
        let message = self.message(k);
        let call = |p: &mut Proc| {
            p.send(1, MESSAGE, message);
            p.work(PAUSE, w.as_ps() as u64, || ());
            p.recv_from(1, REPLY);
        };
        let answer = |p: &mut Proc| {
            p.recv_from(0, MESSAGE);
            p.send(0, REPLY, message);
        };
        self.time(call, answer)
    }
}

/// A message of so many bytes that says nothing: only its length is of interest.
#[derive(Clone, Copy)]
pub struct Blank {
    bytes: usize,
}

impl Payload for Blank {
    fn bytes(&self) -> usize {
        self.bytes
    }
}

/// Receives so many messages.
pub fn receive(p: &mut Proc, messages: usize) {
    for _ in 0..messages {
        p.recv(MESSAGE);
    }
}

/// Where a program reads the time.
#[derive(Clone, Copy)]
pub enum Watch {
    /// From its processor: on the virtual clock there is no other time.
    Local,
    /// From the host, since this moment.
    Host(Instant),
}

impl Watch {
    /// The time, when all that the processor did until now is really over.
    pub fn read(self, p: &mut Proc) -> Time {
        p.wait_until(p.now()); // a send returns before its overhead has passed; the next call waits for that
        match self {
            Watch::Local => p.now(),
            Watch::Host(start) => start.elapsed().as_nanos() as i64 * NS,
        }
    }

    /// Rests for so long, and says how long that really took.
    pub fn rest(self, p: &mut Proc, rest: Time) -> Time {
        let start = self.read(p);
        p.wait_until(p.now() + rest);
        self.read(p) - start
    }
}
