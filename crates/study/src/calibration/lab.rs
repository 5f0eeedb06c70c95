//! The calibration's laboratory: experiments that measure times on the machine, repeated until the host was
//! on time.

use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

use loggp::{ClockKind, MS, Machine, NS, PS, Payload, Proc, RunError, Tag, Time, Work};
use loggp_programs::math::median::median;

use super::reading::{DOUBT, ENOUGH, Quartiles, Reading, is_near, share};

/// A machine on which processor 0 experiments and processor 1 helps.
pub(crate) struct CalibrationLab {
    pub machine: Machine,
    pub clock: ClockKind,
    /// Repetitions of an experiment in a run, chosen by the run before so that the run is neither short nor
    /// long.
    repetitions: usize,
    /// Repetitions that must be on time.
    enough: usize,
    /// Times that differ by less are equal.
    pub noise: Time,
    /// Rest of a processor between two experiments.
    pub rest: Time,
    /// Time until which late runs are repeated.
    pub patience: Instant,
    /// Greatest dilation of a run so far.
    pub dilation: f64,
    /// Number of the host's cores that were used.
    pub cores: usize,
}

/// Repetitions of an experiment in a run on the wall clock; on the virtual clock all are the same.
const REPETITIONS: RangeInclusive<usize> = 15..=300;
/// Repetitions on time after which agreement is no longer awaited.
const MANY: usize = 128;
/// Desired length of a run. Many short runs find their time also on a host that has something else to do
/// every few milliseconds.
const LENGTH: Time = Time::from_ps(3 * MS.as_ps());
/// Most runs of an experiment, if too few repetitions were on time.
const TRIES: usize = 40;
/// Time after which no run is repeated.
const PATIENCE: Duration = Duration::from_secs(5);
/// Times on the wall clock that differ by less are equal.
const NOISE: Time = Time::from_ps(50 * NS.as_ps());
/// Least rest in multiples of the noise: ten times what a rest may miss, since a shorter one would always
/// pass.
const LEAST_REST: i64 = 100;
/// Kind of work of a pause, in units of a picosecond.
const PAUSE: &str = "pause";

/// A message to the helper.
pub(crate) const MESSAGE: Tag<BlankMessage> = Tag::new(0);
/// A message back.
pub(crate) const REPLY: Tag<BlankMessage> = Tag::named(1, "reply");

impl CalibrationLab {
    /// Makes the laboratory of a machine, with this clock.
    pub(crate) fn new(machine: &Machine, clock: ClockKind) -> CalibrationLab {
        let (repetitions, enough, noise) = match clock {
            ClockKind::Virtual => (1, 1, Time::ZERO),
            _ => (*REPETITIONS.start(), ENOUGH, NOISE),
        };
        let machine = machine.clone().clock(clock).work(Work::Charged).rate(PAUSE, PS);
        let (rest, patience) = (LEAST_REST * noise, Instant::now() + PATIENCE);
        CalibrationLab { machine, clock, repetitions, enough, noise, rest, patience, dilation: 1.0, cores: 1 }
    }

    /// Sets the rest, which has a least length.
    pub(crate) fn set_rest(&mut self, rest: Time) {
        self.rest = rest.max(LEAST_REST * self.noise);
    }

    /// Runs an experiment. Every processor returns times by its clock; they are converted to the machine's
    /// time. Also returns whether the host was on time.
    fn run(
        &mut self,
        experiment: impl Fn(&mut Proc, LabClock) -> Vec<Time> + Sync,
    ) -> Result<(Vec<Vec<Time>>, bool), RunError> {
        let clock = match self.clock {
            ClockKind::Virtual => LabClock::Local,
            _ => LabClock::Host(Instant::now()),
        };
        let run = self.machine.measure(|p| experiment(p, clock))?;
        let Some(host) = run.host else { return Ok((run.results, true)) };
        (self.dilation, self.cores) = (self.dilation.max(host.dilation), host.cores);
        let one = run.time.as_ps() as f64 * host.dilation / self.repetitions as f64;
        let repetitions = (LENGTH.as_ps() as f64 / one.max(1.0)) as usize;
        self.repetitions = repetitions.clamp(*REPETITIONS.start(), *REPETITIONS.end());
        let in_machine = |time: Time| Time::from_ps((time.as_ps() as f64 / host.dilation) as i64);
        let times = run.results.into_iter().map(|times| times.into_iter().map(in_machine).collect());
        Ok((times.collect(), host.on_time))
    }

    /// Returns the median of an experiment's values over repetitions that were on time, and their quartiles.
    /// If too few were on time, the median is of all repetitions and the quartiles are `None`. `experiment`
    /// gets the number of repetitions in a run. Runs are repeated until the values on time agree, up to a
    /// limit.
    ///
    /// A host that was busy catches up afterwards, and the machine then does too quickly what it did too
    /// late. `judge` reads the processors' times, and returns for every repetition whether it was on time,
    /// and its value. A run in which the host was late does not count at all.
    pub(crate) fn median<T: Ord + Copy>(
        &mut self,
        experiment: impl Fn(&mut Proc, LabClock, usize) -> Vec<Time> + Sync,
        judge: impl Fn(&[Vec<Time>]) -> Vec<(bool, T)>,
        agree: impl Fn(Quartiles<T>) -> bool,
    ) -> Result<(T, Option<Quartiles<T>>), RunError> {
        let (mut on_time, mut all) = (Vec::new(), Vec::new());
        for _ in 0..TRIES {
            let repetitions = self.repetitions;
            let (times, host_on_time) = self.run(|p, clock| experiment(p, clock, repetitions))?;
            for (in_time, value) in judge(&times) {
                all.push(value);
                if host_on_time && in_time {
                    on_time.push(value);
                }
            }
            let found = Quartiles::from_values(&mut on_time);
            if on_time.len() >= MANY
                || found.is_some_and(|found| on_time.len() >= self.enough && agree(found))
            {
                break;
            }
            if Instant::now() > self.patience {
                break;
            }
        }
        let found = Quartiles::from_values(&mut on_time).filter(|found| found.count >= self.enough);
        Ok((median(if on_time.is_empty() { &all } else { &on_time }), found))
    }

    /// Measures an act of processor 0, with the help of processor 1. It was on time if the rests before and
    /// after it were as long as they should be: a processor that is late when an act begins or ends makes up
    /// for it in a rest.
    fn time_action(
        &mut self,
        act: impl Fn(&mut Proc) + Sync,
        help: impl Fn(&mut Proc) + Sync,
    ) -> Result<Reading, RunError> {
        let (rest, slack) = (self.rest, self.slack());
        let experiment = |p: &mut Proc, clock: LabClock, repetitions| match p.id() {
            0 => {
                let mut times = vec![clock.rest(p, rest)];
                for _ in 0..repetitions {
                    let start = clock.read(p);
                    act(p);
                    times.push(clock.read(p) - start);
                    times.push(clock.rest(p, rest));
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
            |found: Quartiles<Time>| found.doubt() <= share(found.median, 4 * DOUBT).max(share(noise, 2));
        let (time, found) = self.median(experiment, judge, agree)?;
        Ok(Reading { time, doubt: found.map(Quartiles::doubt), noise })
    }

    /// Returns by how much a rest may miss its length on a host that is on time.
    pub(crate) fn slack(&self) -> Time {
        (10 * self.noise).max(share(self.rest, 100))
    }

    pub(crate) fn message(&self, k: usize) -> BlankMessage {
        BlankMessage { bytes: k * self.machine.params().word.get() }
    }

    /// Measures t(M, Delta) with messages of k words.
    pub(crate) fn burst(&mut self, M: usize, pause: Time, k: usize) -> Result<Reading, RunError> {
        let message = self.message(k);
        let burst = |p: &mut Proc| {
            for _ in 0..M {
                p.send(1, MESSAGE, message);
                p.work(PAUSE, pause.as_ps() as u64, || ());
            }
        };
        self.time_action(burst, |p| receive(p, M))
    }

    /// Measures a round trip with so many words there and so many back, while processor 0 computes for a time w
    /// in between (LogGPS, figure 3). With k words and one word it takes 2L + 4o + (k-1)G, if w is 0.
    pub(crate) fn round_trip(&mut self, words: [usize; 2], w: Time) -> Result<Reading, RunError> {
        let [ping, pong] = words.map(|words| self.message(words));
        let call = |p: &mut Proc| {
            p.send(1, MESSAGE, ping);
            p.work(PAUSE, w.as_ps() as u64, || ());
            p.recv(REPLY.from(1));
        };
        let answer = |p: &mut Proc| {
            p.recv(MESSAGE.from(0));
            p.send(0, REPLY, pong);
        };
        self.time_action(call, answer)
    }
}

/// A message without content, of which only the length matters.
#[derive(Clone, Copy)]
pub(crate) struct BlankMessage {
    bytes: usize,
}

impl Payload for BlankMessage {
    fn bytes(&self) -> usize {
        self.bytes
    }
}

pub(crate) fn receive(p: &mut Proc, messages: usize) {
    for _ in 0..messages {
        p.recv(MESSAGE);
    }
}

/// The clock that a program reads.
#[derive(Clone, Copy)]
pub(crate) enum LabClock {
    /// The processor's local time: the virtual clock has no other.
    Local,
    /// The host's clock, since this moment.
    Host(Instant),
}

impl LabClock {
    /// Returns the time when all that the processor did so far is really over.
    pub(crate) fn read(self, p: &mut Proc) -> Time {
        p.wait_until(p.now()); // a send returns before its overhead has passed; the next call waits for that
        match self {
            LabClock::Local => p.now(),
            LabClock::Host(start) => start.elapsed().as_nanos() as i64 * NS,
        }
    }

    /// Rests, and returns how long that really took.
    pub(crate) fn rest(self, p: &mut Proc, rest: Time) -> Time {
        let start = self.read(p);
        p.wait_until(p.now() + rest);
        self.read(p) - start
    }
}
