//! What computing costs.

use std::collections::HashMap;

use quanta::Clock;

use crate::time::{NS, Time};

/// What a program's computation costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Work {
    /// The time that this computer takes for it, between the machine's calls too.
    #[default]
    Measured,
    /// Units times the machine's rate for that kind of work; code between the machine's calls is free.
    Charged,
}

/// How much a unit of each kind of work costs when work is charged.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rates(HashMap<&'static str, Time>);

impl Rates {
    pub fn set(&mut self, kind: &'static str, unit: Time) {
        self.0.insert(kind, unit);
    }

    /// A kind without a rate costs a cycle per unit: local operations take unit time (LogP, section 3).
    pub fn cost(&self, kind: &str, units: u64, cycle: Time) -> Time {
        let units = i64::try_from(units).unwrap_or(i64::MAX);
        units * self.0.get(kind).copied().unwrap_or(cycle)
    }
}

/// Measures the code that runs between two moments of a processor.
pub(crate) struct Stopwatch {
    clock: Clock,
    started: u64,
}

impl Stopwatch {
    pub fn start() -> Stopwatch {
        let clock = Clock::new();
        let started = clock.raw();
        Stopwatch { clock, started }
    }

    /// Starts again, and returns what had passed.
    pub fn lap(&mut self) -> Time {
        let now = self.clock.raw();
        let lap = self.clock.delta_as_nanos(self.started, now);
        self.started = now;
        lap as i64 * NS
    }
}
