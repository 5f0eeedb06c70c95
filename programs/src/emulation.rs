//! The emulation of a case, and the outcome of its run.

use std::hash::{DefaultHasher, Hasher};
use std::sync::Arc;

use loggp::audit::Audit;
use loggp::link::Link;
use loggp::{Carrier, ClockKind, Dilation, Machine, Order, Params, Run, Time};

use crate::math::median::median;
use crate::{ComputeTimes, PhaseName, Trend};

/// The settings of the machine that runs a case. None of them changes the model's time.
#[derive(Clone, Debug, Default)]
pub struct Emulation {
    pub clock: ClockKind,
    /// Carrier of each processor on the wall clock.
    pub carrier: Carrier,
    /// Factor by which the machine runs slower on the wall clock.
    pub dilation: Dilation,
    /// Cores of the host that it may use. By default all on the wall clock, and one on the virtual clock.
    pub cores: Option<usize>,
    /// Bytes of each processor's stack; `None` for the default.
    pub stack: Option<usize>,
    /// True if stacks may be without guard pages, where the host has too few.
    pub unguarded_stacks: bool,
    /// True if the run is traced.
    pub trace: bool,
    /// Order of messages that replaces the case's latency and ties.
    pub order: Option<Order>,
    /// Real machine that replaces the wall clock.
    pub link: Option<Arc<dyn Link>>,
}

/// A run, and the verification of its result.
#[derive(Debug)]
pub struct Outcome {
    pub run: Run<()>,
    /// Verification of all processors' results; the error says in one sentence what is wrong.
    pub verified: Result<(), String>,
    /// Digest that distinguishes results that are all right, such as sums with different rounding. It is 0
    /// for programs that have only one right result.
    pub digest: u64,
    /// Times of its phases, in order; empty without phases. A phase lasts from when the first processor
    /// begins it until the last one ends it, unless the program says otherwise.
    pub phases: Vec<(PhaseName, Time)>,
    /// Further numbers that the run showed.
    pub metrics: Vec<Metric>,
    /// Quantity that changed during the run, where the program shows one.
    pub trend: Option<Trend>,
    /// Audit of the run, where the program asks for one.
    pub audit: Option<Audit>,
}

/// A number that a run showed beside its time, such as a rate.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Name, such as `rate per processor`.
    pub name: &'static str,
    /// Unit, such as `MB/s`.
    pub unit: &'static str,
    /// Value in that unit.
    pub value: f64,
}

impl ComputeTimes {
    /// Takes the times of several runs of the same case: the median of each. Returns `None` without runs.
    pub fn from_runs(runs: &[Outcome]) -> Option<ComputeTimes> {
        let first = runs.first()?;
        let of = |time: &dyn Fn(&Outcome) -> Time| median(&runs.iter().map(time).collect::<Vec<_>>());
        let work = |outcome: &Outcome| {
            let processors = &outcome.run.processors;
            processors.iter().map(|stats| stats.work).sum::<Time>() / processors.len() as i64
        };
        let phases = first.phases.iter().enumerate();
        let phases =
            phases.map(|(phase, (name, _))| (name.clone(), of(&|run| run.phases[phase].1))).collect();
        Some(ComputeTimes { phases, work: of(&work) })
    }
}

/// Returns a hash of these bits in their order.
pub(crate) fn digest(bits: impl Iterator<Item = u64>) -> u64 {
    let mut hasher = DefaultHasher::new();
    bits.for_each(|bits| hasher.write_u64(bits));
    hasher.finish()
}

/// Returns the times of phases, from their ends on each processor: one ends when the last processor has done
/// it, and then the next begins.
pub(crate) fn phase_times(ends: &[&[Time]]) -> Vec<Time> {
    let count = ends.first().map_or(0, |ends| ends.len());
    let end = |n: usize| ends.iter().map(|ends| ends[n]).max().unwrap_or(Time::ZERO);
    (0..count).map(|n| end(n) - n.checked_sub(1).map_or(Time::ZERO, end)).collect()
}

impl Emulation {
    /// Creates the default emulation on this clock.
    pub fn with_clock(clock: ClockKind) -> Emulation {
        Emulation { clock, ..Emulation::default() }
    }

    /// Creates an emulation on the virtual clock with a trace.
    pub fn with_trace() -> Emulation {
        Emulation { trace: true, ..Emulation::default() }
    }

    /// Returns a machine with these parameters that runs so.
    pub fn machine(&self, params: Params) -> Machine {
        let Emulation { clock, carrier, dilation, cores, stack, trace, .. } = *self;
        let link = &self.link;
        if let Some(link) = link.as_ref().filter(|_| clock == ClockKind::Wall) {
            return Machine::new(params).with_link(link.clone()).trace(trace);
        }
        let mut machine = Machine::new(params).clock(clock).carrier(carrier).dilation(dilation).trace(trace);
        if let Some(cores) = cores {
            machine = machine.cores(cores);
        }
        if let Some(bytes) = stack {
            machine = machine.stack(bytes);
        }
        if self.unguarded_stacks {
            // SAFETY: the programs call no function deeper than a few pages of stack hold, whatever their sizes are.
            machine = unsafe { machine.unguarded_stacks(true) };
        }
        machine
    }
}

impl Outcome {
    /// Creates the outcome of a run without phases and metrics.
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

    /// Returns the metric with this name, or `None` if the run shows none.
    pub fn metric(&self, name: &str) -> Option<f64> {
        self.metrics.iter().find(|metric| metric.name == name).map(|metric| metric.value)
    }
}
