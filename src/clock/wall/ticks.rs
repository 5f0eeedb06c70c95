//! The host's own clock, and a run's place on it.

use quanta::Clock;

use crate::clock::sync::{AtomicU64, Ordering};
use crate::time::Time;

/// Relates the machine's time to the ticks of the host's time stamp counter.
///
/// Ticks are converted in floating point, as the dilation is. The model computes in whole picoseconds only, and an error
/// of a tick is less than the host's own.
#[derive(Debug)]
pub(super) struct HostClock {
    clock: Clock,
    /// How many ticks a picosecond of the machine lasts, with the dilation.
    ticks_per_ps: f64,
    /// How many nanoseconds of the host a tick lasts.
    ns_per_tick: f64,
    /// Whether every time has come already, so that nobody waits for the host's time.
    has_come: bool,
    /// The tick at which the machine's time is 0; [`UNSET`] before the run has begun.
    start: AtomicU64,
}

/// Stands for no tick.
const UNSET: u64 = u64::MAX;

/// How far ahead the start is set, so that every core is ready by then.
const AHEAD_NS: f64 = 20_000.0;

impl HostClock {
    /// A clock that lets the machine run `dilation` times slower than its parameters say.
    pub(super) fn new(dilation: f64) -> HostClock {
        const MANY: u64 = 1 << 40;
        let clock = Clock::new();
        let ns_per_tick = clock.delta_as_nanos(0, MANY) as f64 / MANY as f64;
        let ticks_per_ps = dilation / (1000.0 * ns_per_tick);
        let start = AtomicU64::new(UNSET);
        HostClock { clock, ticks_per_ps, ns_per_tick, has_come: false, start }
    }

    /// A clock on which every time has come already: processors wait only for each other. Loom tries orders, not times, and
    /// the virtual clock on several cores is this.
    pub(super) fn that_has_come() -> HostClock {
        let (clock, _) = Clock::mock();
        let start = AtomicU64::new(UNSET);
        HostClock { clock, ticks_per_ps: 0.0, ns_per_tick: 0.0, has_come: true, start }
    }

    /// Whether every time has come already.
    #[inline]
    pub(super) fn has_come(&self) -> bool {
        self.has_come
    }

    /// The tick now.
    #[inline]
    pub(super) fn now(&self) -> u64 {
        if self.has_come {
            return UNSET - 1;
        }
        self.clock.raw()
    }

    /// Sets the machine's time 0 a little ahead of now.
    pub(super) fn begin(&self) {
        let ahead = (AHEAD_NS / self.ns_per_tick) as u64;
        let start = if self.has_come { 0 } else { self.clock.raw() + ahead };
        self.start.store(start, Ordering::Release);
    }

    /// The first tick after the machine's time `t`. It is [`UNSET`] if `t` is the end of time or later than all ticks, or if
    /// the run has not begun. A tick before `t` would let a processor that waits go on early.
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

    /// Whether the machine's time `t` never comes: it is the end of time, or later than all ticks.
    #[inline]
    pub(super) fn never_comes(&self, t: Time) -> bool {
        t == Time::MAX || (self.start.load(Ordering::Acquire) != UNSET && self.tick_of(t) == UNSET)
    }

    /// The machine's time at a tick.
    pub(super) fn time_of(&self, tick: u64) -> Time {
        let ticks = tick.saturating_sub(self.start.load(Ordering::Acquire));
        Time::from_ps((ticks as f64 / self.ticks_per_ps) as i64)
    }

    /// The host's time since a tick. The local time of a processor that computes goes on by as much, whatever the dilation.
    pub(super) fn since(&self, tick: u64) -> Time {
        let ticks = self.now().saturating_sub(tick);
        Time::from_ps((ticks as f64 * self.ns_per_tick * 1e3) as i64)
    }

    /// How many ticks so many nanoseconds of the host last.
    #[inline]
    pub(super) fn ticks(&self, nanoseconds: f64) -> u64 {
        if self.has_come { 0 } else { (nanoseconds / self.ns_per_tick) as u64 }
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

        /// The tick that ends a wait is not before the wait's time, and at most a tick after it. That holds for a day of the
        /// host, whose ticks floating point numbers can tell apart.
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
