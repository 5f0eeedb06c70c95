//! The machine: its parameters and its settings, and a run of a program on it.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::clock::{Clock, ClockKind, jumping};
use crate::error::RunError;
use crate::network::{Latency, Network, Ports};
use crate::params::Params;
use crate::proc::Proc;
use crate::stats::Stats;
use crate::time::Time;
use crate::trace::{Log, Trace};
use crate::work::{Rates, Work};

/// A parallel machine on which programs run.
///
/// ```
/// use loggp::{Machine, Params, US, Work};
///
/// // LogP's figure 3 begins like this: the source sends, and the datum is there after L + 2o.
/// let params = Params::new(2).L(6 * US).o(2 * US).g(4 * US).build()?;
/// let machine = Machine::new(params).work(Work::Charged);
/// let run = machine.run(|p| match p.id() {
///     0 => { p.send(1, 0, 42_u64); 0 }
///     _ => p.recv_from::<u64>(0, 0),
/// })?;
/// assert_eq!(run.results, [0, 42]);
/// assert_eq!(run.time, 10 * US);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Machine {
    params: Params,
    clock: ClockKind,
    ports: Ports,
    latency: Latency,
    work: Work,
    rates: Rates,
    trace: bool,
    stack: usize,
}

/// A run that came to its end.
#[derive(Debug)]
pub struct Run<R> {
    /// What each processor's program returned.
    pub results: Vec<R>,
    /// Where each processor's time went.
    pub processors: Vec<Stats>,
    /// When the last processor finished.
    pub time: Time,
    /// What happened, if the machine was told to [trace](Machine::trace).
    pub trace: Option<Trace>,
}

/// What all processors of a run share, apart from the clock.
pub(crate) struct Setup {
    pub network: Network,
    pub work: Work,
    pub rates: Rates,
    pub trace: bool,
}

impl Machine {
    /// A machine with these parameters: on the virtual clock, with exact latency, single ports and measured
    /// work.
    pub fn new(params: Params) -> Machine {
        Machine {
            params,
            clock: ClockKind::default(),
            ports: Ports::default(),
            latency: Latency::default(),
            work: Work::default(),
            rates: Rates::default(),
            trace: false,
            stack: 256 << 10,
        }
    }

    /// The machine's parameters.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// Sets the clock.
    pub fn clock(self, clock: ClockKind) -> Machine {
        Machine { clock, ..self }
    }

    /// Sets how many long messages a processor's interface handles at once.
    pub fn ports(self, ports: Ports) -> Machine {
        Machine { ports, ..self }
    }

    /// Sets how long a word is under way.
    pub fn latency(self, latency: Latency) -> Machine {
        Machine { latency, ..self }
    }

    /// Sets what computing costs.
    pub fn work(self, work: Work) -> Machine {
        Machine { work, ..self }
    }

    /// Sets what a unit of one kind of work costs where work is charged; a cycle, unless told.
    pub fn rate(mut self, kind: &'static str, unit: Time) -> Machine {
        self.rates.set(kind, unit);
        self
    }

    /// Sets whether a run records what happens.
    pub fn trace(self, trace: bool) -> Machine {
        Machine { trace, ..self }
    }

    /// Sets how many bytes of stack each processor has, above its guard page (256 KiB unless told).
    pub fn stack(self, bytes: usize) -> Machine {
        Machine { stack: bytes, ..self }
    }

    /// Runs a program on every processor, and returns when all have finished.
    ///
    /// The program may borrow from its caller.
    pub fn run<R: Send>(&self, program: impl Fn(&mut Proc) -> R + Sync) -> Result<Run<R>, RunError> {
        self.params.check()?;
        let setup = Setup {
            network: Network::new(self.params, self.ports, self.latency),
            work: self.work,
            rates: self.rates.clone(),
            trace: self.trace,
        };
        let live = |id: usize, clock: &mut dyn Clock| {
            let mut proc = Proc::new(id, clock, &setup);
            match catch_unwind(AssertUnwindSafe(|| program(&mut proc))) {
                Ok(result) => (result, proc.finish()),
                Err(payload) => {
                    proc.abandon();
                    resume_unwind(payload)
                }
            }
        };
        let lives = match self.clock {
            ClockKind::Virtual => jumping::run(self.params.P, self.stack, live)?,
            ClockKind::Wall => {
                let (lives, findings) = crate::clock::wall::run(
                    self.params.P,
                    self.stack,
                    64,
                    std::env::var("DIL").map_or(1.0, |d| d.parse().unwrap()),
                    live,
                )?;
                eprintln!(
                    "{} cores pinned {} finish {} late p50 {} p90 {} p99 {} max {}",
                    findings.cores,
                    findings.pinned,
                    findings.finish,
                    findings.lateness.value_at_quantile(0.5),
                    findings.lateness.value_at_quantile(0.9),
                    findings.lateness.value_at_quantile(0.99),
                    findings.lateness.max()
                );
                lives
            }
        };
        Ok(self.report(lives, &setup.network))
    }

    /// Puts together what the processors brought home.
    fn report<R>(&self, lives: Vec<(R, (Stats, Log))>, network: &Network) -> Run<R> {
        let mut run = Run { results: Vec::new(), processors: Vec::new(), time: Time::ZERO, trace: None };
        let mut trace = Trace {
            params: self.params,
            ports: self.ports,
            latency: self.latency,
            activities: Vec::new(),
            messages: Vec::new(),
        };
        for (id, (result, (mut stats, log))) in lives.into_iter().enumerate() {
            stats.most_to = network.most_in_transit_to(id);
            run.time = run.time.max(stats.finish);
            run.results.push(result);
            run.processors.push(stats);
            trace.activities.extend(log.activities);
            trace.messages.extend(log.messages);
        }
        run.trace = self.trace.then_some(trace);
        run
    }
}

impl<R> Run<R> {
    /// The run without its results, and the results.
    pub fn take_results(self) -> (Run<()>, Vec<R>) {
        let Run { results, processors, time, trace } = self;
        (Run { results: Vec::new(), processors, time, trace }, results)
    }

    /// How many messages were sent.
    pub fn messages(&self) -> u64 {
        self.processors.iter().map(|stats| stats.sent).sum()
    }

    /// How often a processor stalled.
    pub fn stalls(&self) -> u64 {
        self.processors.iter().map(|stats| stats.stalls).sum()
    }

    /// How long the processors stalled, all together.
    pub fn stalled(&self) -> Time {
        self.processors.iter().map(|stats| stats.stall).sum()
    }

    /// The most messages that were in transit from one processor, or to one, at once; 0 where the capacity is
    /// unlimited.
    pub fn most_in_transit(&self) -> usize {
        self.processors.iter().map(Stats::most_in_transit).max().unwrap_or(0)
    }
}
