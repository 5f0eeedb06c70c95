//! Measured times, their uncertainty, and the quartiles of several.

use loggp::Time;

/// Repetitions that must be on time, in one run or in several.
pub(crate) const ENOUGH: usize = 8;
/// A reading is reliable if its doubt is at most one part in `DOUBT`. The median is nearer than repetitions
/// that were on time are to each other.
pub(crate) const DOUBT: i64 = 100;

/// A time that was measured, or computed from such times.
#[derive(Clone, Copy)]
pub(crate) struct Reading {
    pub time: Time,
    /// Uncertainty of the time, from repetitions that were on time; `None` if too few were.
    pub doubt: Option<Time>,
    /// Two times that differ by less are equal.
    pub noise: Time,
}

impl Reading {
    /// Makes a reading of a known time.
    pub(crate) fn exact(time: Time) -> Reading {
        Reading { time, doubt: Some(Time::ZERO), noise: Time::ZERO }
    }

    /// Subtracts, down to 0 at least; doubts and noise add up.
    pub(crate) fn minus(self, other: Reading) -> Reading {
        Reading {
            time: (self.time - other.time).max(Time::ZERO),
            doubt: self.doubt.zip(other.doubt).map(|(one, other)| one + other),
            noise: self.noise + other.noise,
        }
    }

    pub(crate) fn times(self, n: i64) -> Reading {
        self.map(|time| n * time)
    }

    /// Divides by n.
    pub(crate) fn share(self, n: i64) -> Reading {
        self.map(|time| share(time, n))
    }

    /// Applies a change to the time, its doubt and its noise.
    fn map(self, change: impl Fn(Time) -> Time) -> Reading {
        Reading { time: change(self.time), doubt: self.doubt.map(&change), noise: change(self.noise) }
    }

    /// Returns whether the doubt is no more than a small part of the time, or than the noise.
    pub(crate) fn is_reliable(self) -> bool {
        self.doubt.is_some_and(|doubt| doubt <= share(self.time, DOUBT).max(self.noise))
    }
}

/// The quartiles of several repetitions.
#[derive(Clone, Copy)]
pub(crate) struct Quartiles<T> {
    pub median: T,
    /// First quartile.
    pub low: T,
    /// Third quartile.
    pub high: T,
    /// Number of repetitions.
    pub count: usize,
}

impl<T: Ord + Copy> Quartiles<T> {
    /// Sorts the values, and returns their quartiles; `None` if there are none.
    pub(crate) fn from_values(values: &mut [T]) -> Option<Quartiles<T>> {
        values.sort_unstable();
        let count = values.len();
        let last = count.checked_sub(1)?;
        let median = values[count / 2];
        Some(Quartiles {
            median,
            low: values[last / 4].min(median),
            high: values[(3 * last).div_ceil(4)],
            count,
        })
    }
}

impl Quartiles<Time> {
    /// Returns the uncertainty of the median, which falls with the number of repetitions. With few of them it
    /// is the distance to the quartiles.
    pub(crate) fn doubt(self) -> Time {
        let apart = (self.median - self.low).max(self.high - self.median);
        let fewer = (ENOUGH as f64 / self.count as f64).sqrt().min(1.0);
        Time::from_ps((apart.as_ps() as f64 * fewer) as i64)
    }
}

/// Returns whether two times differ by at most `slack`.
pub(crate) fn is_near(a: Time, b: Time, slack: Time) -> bool {
    (a - b).max(b - a) <= slack
}

/// Divides a time by n, to the nearest picosecond.
pub(crate) fn share(time: Time, n: i64) -> Time {
    Time::from_ps((time.as_ps() + n / 2).div_euclid(n))
}
