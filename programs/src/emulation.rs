//! How a case is run, and what became of it.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hasher};
use std::sync::Arc;

use loggp::{Audit, Carrier, ClockKind, Dilation, Link, Machine, Order, Params, Run, Time};

use crate::math::median::median;

/// How a case is run. None of it changes what the model says.
#[derive(Clone, Debug, Default)]
pub struct Emulation {
    /// The clock.
    pub clock: ClockKind,
    /// What a processor is on the wall clock.
    pub carrier: Carrier,
    /// How much slower than it should the machine runs on the wall clock.
    pub dilation: Dilation,
    /// How many of the host's cores it may use. Unless told those are all on the wall clock, and one on the virtual clock.
    pub cores: Option<usize>,
    /// The bytes of each processor's stack, if not as usual.
    pub stack: Option<usize>,
    /// Whether it notes what happens.
    pub trace: bool,
    /// The order of messages, in place of the case's latency and ties.
    pub order: Option<Order>,
    /// The real machine that runs in place of the wall clock, if one does.
    pub over: Option<Arc<dyn Link>>,
}

/// A run and what became of its result.
#[derive(Debug)]
pub struct Outcome {
    /// The run.
    pub run: Run<()>,
    /// Whether every processor's result is right; if not, what is wrong, in one sentence.
    pub verified: Result<(), String>,
    /// Tells results from each other that are all right, such as sums that are rounded in one order or another. Programs
    /// of which only one result is right need none.
    pub digest: u64,
    /// How long its phases took, in order, where it has phases: each from when the first processor began it
    /// to when the last had done it, or as the program says.
    pub phases: Vec<(PhaseName, Time)>,
    /// What else the run showed.
    pub metrics: Vec<Metric>,
    /// What changed while it ran, where the program shows that.
    pub trend: Option<Trend>,
    /// What the auditor saw, where the program asks it.
    pub audit: Option<Audit>,
}

/// Something that a run showed beside its time, such as a rate.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// What it is, such as `rate per processor`.
    pub name: &'static str,
    /// Its unit, such as `MB/s`.
    pub unit: &'static str,
    /// How much of it.
    pub value: f64,
}

/// Something that changes while a program runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Trend {
    /// Along what it changes, such as `step`.
    pub along: &'static str,
    /// What it is a number of, such as `active processors`.
    pub of: &'static str,
    /// Where it stands, and what it is from there on.
    pub points: Vec<(f64, f64)>,
}

/// What a case's computing took on this computer: the times of a run on a [machine whose messages cost
/// nothing](crate::Case::free).
#[derive(Clone, Debug, Default)]
pub struct Computing {
    /// How long the phases took.
    pub phases: Vec<(PhaseName, Time)>,
    /// How long a processor computed, on average.
    pub work: Time,
}

impl Computing {
    /// That of a run; or of several runs of the same, by the median of each time.
    pub fn of(runs: &[Outcome]) -> Option<Computing> {
        let first = runs.first()?;
        let of = |time: &dyn Fn(&Outcome) -> Time| median(&runs.iter().map(time).collect::<Vec<_>>());
        let work = |outcome: &Outcome| {
            let processors = &outcome.run.processors;
            processors.iter().map(|stats| stats.work).sum::<Time>() / processors.len() as i64
        };
        let phases = first.phases.iter().enumerate();
        let phases =
            phases.map(|(phase, (name, _))| (name.clone(), of(&|run| run.phases[phase].1))).collect();
        Some(Computing { phases, work: of(&work) })
    }

    /// How long a phase took; nothing if there was none of that name.
    pub fn phase(&self, name: &str) -> Time {
        self.phases.iter().find(|(other, _)| other == name).map(|(_, time)| *time).unwrap_or_default()
    }
}

/// A number that tells such bits from others, in this order.
pub(crate) fn digest(bits: impl Iterator<Item = u64>) -> u64 {
    let mut hasher = DefaultHasher::new();
    bits.for_each(|bits| hasher.write_u64(bits));
    hasher.finish()
}

/// What a phase is called.
pub type PhaseName = Cow<'static, str>;

impl Emulation {
    /// The usual emulation on this clock.
    pub fn on(clock: ClockKind) -> Emulation {
        Emulation { clock, ..Emulation::default() }
    }

    /// On the virtual clock, with a trace.
    pub fn traced() -> Emulation {
        Emulation { trace: true, ..Emulation::default() }
    }

    /// A machine with these parameters that runs so.
    pub fn machine(&self, params: Params) -> Machine {
        let Emulation { clock, carrier, dilation, cores, stack, trace, order: _, ref over } = *self;
        if let Some(link) = over.as_ref().filter(|_| clock == ClockKind::Wall) {
            return Machine::new(params).over(link.clone()).trace(trace);
        }
        let mut machine = Machine::new(params).clock(clock).carrier(carrier).dilation(dilation).trace(trace);
        if let Some(cores) = cores {
            machine = machine.cores(cores);
        }
        if let Some(bytes) = stack {
            machine = machine.stack(bytes);
        }
        machine
    }
}

impl Outcome {
    /// A run without phases and metrics.
    pub fn new(run: Run<()>, verified: Result<(), String>) -> Outcome {
        Outcome {
            run,
            verified,
            digest: 0,
            phases: Vec::new(),
            metrics: Vec::new(),
            trend: None,
            audit: None,
        }
    }

    /// The metric of this name, where the run shows it.
    pub fn metric(&self, name: &str) -> Option<f64> {
        self.metrics.iter().find(|metric| metric.name == name).map(|metric| metric.value)
    }
}
