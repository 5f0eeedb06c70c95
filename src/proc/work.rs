//! The cost of computing.

use std::collections::HashMap;

use loggp_model::time::{NS, SEC, Time};
use quanta::Clock;
use rustix::time::{ClockId, clock_gettime};

/// The cost of a unit of each kind of work, where work is charged.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rates(HashMap<&'static str, Time>);

impl Rates {
    pub(crate) fn set(&mut self, kind: &'static str, unit: Time) {
        self.0.insert(kind, unit);
    }

    /// Returns the first kind of work by name that has a negative rate, or `None`.
    pub(crate) fn negative(&self) -> Option<(&'static str, Time)> {
        let rates = self.0.iter().map(|(kind, unit)| (*kind, *unit));
        rates.filter(|(_, unit)| *unit < Time::ZERO).min()
    }

    /// Returns the cost of work. A kind without a rate costs a cycle per unit: local operations take unit
    /// time (LogP, section 3).
    pub(crate) fn cost(&self, kind: &str, units: u64, cycle: Time) -> Time {
        let units = i64::try_from(units).unwrap_or(i64::MAX);
        units * self.0.get(kind).copied().unwrap_or(cycle)
    }
}

/// Measures the time of a processor's code.
pub(crate) struct Stopwatch {
    /// The host's time stamp counter.
    clock: Clock,
    /// The time of its start, in ticks.
    started: u64,
}

/// Number of units from which on work is long enough for the host to take the core away meanwhile.
const LONG: u64 = 1000;

impl Stopwatch {
    pub(super) fn start() -> Stopwatch {
        let clock = Clock::new();
        let started = clock.raw();
        Stopwatch { clock, started }
    }

    /// Starts again, and returns the time since the last start.
    pub(super) fn lap(&mut self) -> Time {
        let now = self.clock.raw();
        let lap = self.clock.delta_as_nanos(self.started, now);
        self.started = now;
        lap as i64 * NS
    }

    /// Begins work. Short work is not worth asking the host for the thread's own time.
    pub(super) fn begin_work(&mut self, units: u64) -> WorkBegin {
        let thread = (units >= LONG).then(thread_time);
        self.lap();
        WorkBegin { thread }
    }

    /// Ends work, and returns its time. A preemption is not charged: long work is charged no more than the
    /// thread's own time.
    pub(super) fn end_work(&mut self, began: WorkBegin) -> Time {
        let lap = self.lap();
        let Some(before) = began.thread else { return lap };
        let cost = lap.min(thread_time() - before);
        self.lap(); // asking the host took time too
        cost
    }
}

/// The begin of work that is measured.
pub(super) struct WorkBegin {
    /// The thread's own time then, if the work is long.
    thread: Option<Time>,
}

/// Returns the time for which this thread has run, on any core.
fn thread_time() -> Time {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec * SEC + time.tv_nsec * NS
}

#[cfg(test)]
mod tests {
    use super::*;
    use loggp_model::time::MS;
    use std::time::Duration;

    #[test]
    fn preemption_of_long_work_is_not_charged() {
        let mut stopwatch = Stopwatch::start();
        let mut sleep = |units, ms| {
            let began = stopwatch.begin_work(units);
            std::thread::sleep(Duration::from_millis(ms));
            stopwatch.end_work(began)
        };
        let asleep = sleep(LONG, 50);
        assert!(asleep < 20 * MS, "{asleep}");
        let awake = sleep(1, 5);
        assert!(awake > 4 * MS, "{awake}"); // the sleep is measured by another clock of the host
    }
}
