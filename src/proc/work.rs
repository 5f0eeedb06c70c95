//! What computing costs.

use std::collections::HashMap;

use quanta::Clock;
use rustix::time::{ClockId, clock_gettime};

use crate::time::{NS, SEC, Time};

/// What a program's computation costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Work {
    /// The time that this computer takes for it, between the machine's calls too: no run is like another.
    Measured,
    /// Units times the machine's rate for that kind of work; code between the machine's calls is free. A run is exact.
    #[default]
    Charged,
}

/// How much a unit of each kind of work costs when work is charged.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rates(HashMap<&'static str, Time>);

impl Rates {
    pub(crate) fn set(&mut self, kind: &'static str, unit: Time) {
        self.0.insert(kind, unit);
    }

    /// A kind of work whose units would cost less than nothing, if there is one: the first by name.
    pub(crate) fn negative(&self) -> Option<(&'static str, Time)> {
        let rates = self.0.iter().map(|(kind, unit)| (*kind, *unit));
        rates.filter(|(_, unit)| *unit < Time::ZERO).min()
    }

    /// A kind without a rate costs a cycle per unit: local operations take unit time (LogP, section 3).
    pub(crate) fn cost(&self, kind: &str, units: u64, cycle: Time) -> Time {
        let units = i64::try_from(units).unwrap_or(i64::MAX);
        units * self.0.get(kind).copied().unwrap_or(cycle)
    }
}

/// Measures the code that runs between two moments of a processor.
pub(crate) struct Stopwatch {
    /// The host's time stamp counter.
    clock: Clock,
    /// When it was started, in ticks.
    started: u64,
}

/// From so many units on, work is long enough for the host to take the core away meanwhile.
const LONG: u64 = 1000;

impl Stopwatch {
    pub(super) fn start() -> Stopwatch {
        let clock = Clock::new();
        let started = clock.raw();
        Stopwatch { clock, started }
    }

    /// Starts again, and returns what had passed.
    pub(super) fn lap(&mut self) -> Time {
        let now = self.clock.raw();
        let lap = self.clock.delta_as_nanos(self.started, now);
        self.started = now;
        lap as i64 * NS
    }

    /// How long some work takes. Nobody is charged for a preemption: long work is charged no more than the
    /// thread's own time. Short work is not worth asking the host for that.
    pub(super) fn time<R>(&mut self, units: u64, work: impl FnOnce() -> R) -> (R, Time) {
        if units < LONG {
            self.lap();
            let result = work();
            return (result, self.lap());
        }
        let before = thread_time();
        self.lap();
        let result = work();
        let lap = self.lap();
        let cost = lap.min(thread_time() - before);
        self.lap(); // to ask took time too
        (result, cost)
    }
}

/// How long this thread has run, on whatever core.
fn thread_time() -> Time {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec * SEC + time.tv_nsec * NS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::MS;
    use std::time::Duration;

    #[test]
    fn nobody_is_charged_for_a_core_that_was_taken_away() {
        let mut stopwatch = Stopwatch::start();
        let ((), asleep) = stopwatch.time(LONG, || std::thread::sleep(Duration::from_millis(50)));
        assert!(asleep < 20 * MS, "{asleep}");
        let ((), awake) = stopwatch.time(1, || std::thread::sleep(Duration::from_millis(5)));
        assert!(awake > 4 * MS, "{awake}"); // the sleep goes by another clock of the host
    }
}
