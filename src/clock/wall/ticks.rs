//! The host's own clock, and a run's place on it.

use quanta::Clock;

use crate::clock::sync::{AtomicU64, Ordering};
use crate::time::Time;

/// Relates the machine's time to the ticks of the host's time stamp counter.
///
/// Ticks are floating point numbers here, as the dilation is and what reports say. The model computes in whole picoseconds
/// alone, and a tick is finer than what the host can keep.
#[derive(Debug)]
pub(super) struct HostClock {
    /// Reads the ticks.
    clock: Clock,
    /// How many ticks a picosecond of the machine lasts, dilation included.
    ticks_per_ps: f64,
    /// How many nanoseconds of the host a tick lasts.
    ns_per_tick: f64,
    /// The tick at which the machine's time is 0; [`UNSET`] before that is known.
    start: AtomicU64,
}

/// No tick: the run has not begun.
const UNSET: u64 = u64::MAX;

/// How far ahead the start is set, so that every core sees it coming.
const AHEAD_NS: f64 = 20_000.0;

impl HostClock {
    /// A clock that lets the machine run `dilation` times slower than it should.
    pub(super) fn new(dilation: f64) -> HostClock {
        const MANY: u64 = 1 << 40;
        let clock = Clock::new();
        let ns_per_tick = clock.delta_as_nanos(0, MANY) as f64 / MANY as f64;
        let ticks_per_ps = dilation / (1000.0 * ns_per_tick);
        HostClock { clock, ticks_per_ps, ns_per_tick, start: AtomicU64::new(UNSET) }
    }

    /// The tick now.
    #[inline]
    pub(super) fn now(&self) -> u64 {
        if cfg!(loom) {
            return UNSET - 1; // every moment has come: what is tried is the order, not the time
        }
        self.clock.raw()
    }

    /// Sets the machine's time 0 a little ahead of now.
    pub(super) fn begin(&self) {
        let ahead = (AHEAD_NS / self.ns_per_tick) as u64;
        self.start.store(self.clock.raw() + ahead, Ordering::Release);
    }

    /// The first tick that is later than the machine's time `t`, or [`UNSET`] if there is none: it is the end of time, or
    /// later than all ticks, or the run has not begun.
    ///
    /// A tick that is rounded down would let a processor that waits go on early, by less than a tick.
    #[inline]
    pub(super) fn tick_of(&self, t: Time) -> u64 {
        match self.start.load(Ordering::Acquire) {
            UNSET => UNSET,
            _ if t == Time::MAX => UNSET,
            start => {
                let ticks = (t.as_ps() as f64 * self.ticks_per_ps) as u64;
                start.saturating_add(ticks.saturating_add(1))
            }
        }
    }

    /// Whether nobody can wait for the machine's time `t`: it is the end of time, or later than all ticks.
    #[inline]
    pub(super) fn never_comes(&self, t: Time) -> bool {
        t == Time::MAX || (self.start.load(Ordering::Acquire) != UNSET && self.tick_of(t) == UNSET)
    }

    /// The machine's time at a tick.
    pub(super) fn time_of(&self, tick: u64) -> Time {
        let ticks = tick.saturating_sub(self.start.load(Ordering::Acquire));
        Time::from_ps((ticks as f64 / self.ticks_per_ps) as i64)
    }

    /// The host's time since a tick, which is the machine's where it computes: that is not dilated.
    pub(super) fn since(&self, tick: u64) -> Time {
        let ticks = self.now().saturating_sub(tick);
        Time::from_ps((ticks as f64 * self.ns_per_tick * 1e3) as i64)
    }

    /// How many nanoseconds of the host so many ticks last.
    #[inline]
    pub(super) fn nanoseconds(&self, ticks: u64) -> u64 {
        (ticks as f64 * self.ns_per_tick) as u64
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(crate::cases::cases(2000))]

        /// Who has waited for a tick is not before the time that it waited for, and at most a tick after it: for a day of
        /// the host, whose ticks floating point numbers can tell apart.
        #[test]
        fn nobody_is_early(dilation in 1.0_f64..1e4, short in 0..10_000_000_i64, day in 0.0_f64..1.0) {
            let clock = HostClock::new(dilation);
            clock.begin();
            let long = (day * 86_400e12 / dilation) as i64;
            for t in [short, long].map(Time::from_ps) {
                let tick = clock.tick_of(t);
                prop_assert!(clock.time_of(tick) >= t, "{} for {}", clock.time_of(tick), t);
                prop_assert!(clock.time_of(tick - 1) <= t, "{} for {}", clock.time_of(tick - 1), t);
            }
        }
    }
}
