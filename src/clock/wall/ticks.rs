//! The host's clock, and the start of a run on it.

use loggp_model::time::Time;
use quanta::Clock;

use crate::clock::sync::{AtomicU64, Ordering};

/// A clock that converts between the machine's time and the ticks of the host's time stamp counter.
///
/// Ticks are converted in floating point, like the dilation. The model itself computes in whole picoseconds
/// only, and the error of a tick is less than the host's own.
#[derive(Debug)]
pub(super) struct HostClock {
    clock: Clock,
    /// Ticks per picosecond of the machine, with the dilation.
    ticks_per_ps: f64,
    /// Nanoseconds of the host per tick.
    ns_per_tick: f64,
    /// Whether every time counts as reached, so that processors do not wait for the host's time.
    is_unpaced: bool,
    /// The tick at which the machine's time is 0, or [`UNSET`] before the run has begun.
    start: AtomicU64,
}

/// Stands for no tick.
const UNSET: u64 = u64::MAX;

/// The time from [`HostClock::begin`] to the start, in which every core becomes ready.
const AHEAD_NS: f64 = 20_000.0;

/// Returns the length of a tick, and the time that a look at the clock takes, both in ns of the host.
pub(crate) fn measure_clock() -> (f64, f64) {
    const LOOKS: u64 = 1000;
    let host = HostClock::new(1.0);
    let first = host.now();
    let last = (0..LOOKS).fold(first, |_, _| host.now());
    (host.ns_per_tick, last.saturating_sub(first) as f64 * host.ns_per_tick / LOOKS as f64)
}

impl HostClock {
    /// Makes a clock on which the machine runs `dilation` times slower than its parameters say.
    pub(super) fn new(dilation: f64) -> HostClock {
        const MANY: u64 = 1 << 40;
        let clock = Clock::new();
        let ns_per_tick = clock.delta_as_nanos(0, MANY) as f64 / MANY as f64;
        let ticks_per_ps = dilation / (1000.0 * ns_per_tick);
        let start = AtomicU64::new(UNSET);
        HostClock { clock, ticks_per_ps, ns_per_tick, is_unpaced: false, start }
    }

    /// Makes a clock on which every time counts as reached: processors wait only for each other. Tests under
    /// loom and the virtual clock on several cores use it.
    pub(super) fn unpaced() -> HostClock {
        let (clock, _) = Clock::mock();
        let start = AtomicU64::new(UNSET);
        HostClock { clock, ticks_per_ps: 0.0, ns_per_tick: 0.0, is_unpaced: true, start }
    }

    /// Returns whether every time counts as reached.
    #[inline]
    pub(super) fn is_unpaced(&self) -> bool {
        self.is_unpaced
    }

    /// Returns the current tick.
    #[inline]
    pub(super) fn now(&self) -> u64 {
        if self.is_unpaced {
            return UNSET - 1;
        }
        self.clock.raw()
    }

    /// Sets the machine's time 0 a little ahead of now.
    pub(super) fn begin(&self) {
        let ahead = (AHEAD_NS / self.ns_per_tick) as u64;
        let start = if self.is_unpaced { 0 } else { self.clock.raw() + ahead };
        self.start.store(start, Ordering::Release);
    }

    /// Returns the first tick after the machine's time `t`, or [`UNSET`] if `t` is the end of time or later
    /// than all ticks, or if the run has not begun. A tick before `t` would let a processor that waits go on
    /// early.
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

    /// Returns whether the machine's time `t` never comes: it is the end of time, or later than all ticks.
    #[inline]
    pub(super) fn is_unreachable(&self, t: Time) -> bool {
        t == Time::MAX || (self.start.load(Ordering::Acquire) != UNSET && self.tick_of(t) == UNSET)
    }

    /// Returns the machine's time at a tick.
    pub(super) fn time_of(&self, tick: u64) -> Time {
        let ticks = tick.saturating_sub(self.start.load(Ordering::Acquire));
        Time::from_ps((ticks as f64 / self.ticks_per_ps) as i64)
    }

    /// Returns the host's time since a tick. The local time of a processor that computes advances by as much,
    /// whatever the dilation.
    pub(super) fn elapsed_since(&self, tick: u64) -> Time {
        let ticks = self.now().saturating_sub(tick);
        Time::from_ps((ticks as f64 * self.ns_per_tick * 1e3) as i64)
    }

    /// Converts nanoseconds of the host to ticks.
    #[inline]
    pub(super) fn ticks(&self, nanoseconds: f64) -> u64 {
        if self.is_unpaced { 0 } else { (nanoseconds / self.ns_per_tick) as u64 }
    }

    /// Converts ticks to nanoseconds of the host.
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

        /// The tick that ends a wait is not before the wait's time, and at most a tick after it. This is
        /// checked over a day of the host, within which floating point numbers can tell ticks apart.
        #[test]
        fn no_wait_ends_early(dilation in 1.0_f64..1e4, short in 0..10_000_000_i64, day in 0.0_f64..1.0) {
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
