//! Time: whole picoseconds, so that the model has no rounding and the virtual clock is exact.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

/// A moment or a length of time, in whole picoseconds.
///
/// Arithmetic saturates at [`Time::MAX`] (106 days), which the machine treats as the end of time: a run
/// that gets there ends with an error and never wraps around.
///
/// ```
/// use loggp::{Time, NS, US};
/// assert_eq!(6 * US + 30 * NS, Time::from_ps(6_030_000));
/// assert_eq!((6 * US).to_string(), "6 us");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(i64);

/// One picosecond.
pub const PS: Time = Time(1);
/// One nanosecond.
pub const NS: Time = Time(1_000);
/// One microsecond.
pub const US: Time = Time(1_000_000);
/// One millisecond.
pub const MS: Time = Time(1_000_000_000);
/// One second.
pub const SEC: Time = Time(1_000_000_000_000);

impl Time {
    /// The start of a run.
    pub const ZERO: Time = Time(0);
    /// The end of time: later than anything that happens.
    pub const MAX: Time = Time(i64::MAX);

    /// A time of so many picoseconds.
    pub const fn from_ps(ps: i64) -> Time {
        Time(ps)
    }

    /// The time in picoseconds.
    pub const fn as_ps(self) -> i64 {
        self.0
    }

    /// The time in nanoseconds, for reports: the model never computes with it.
    pub fn as_ns(self) -> f64 {
        self.0 as f64 / 1e3
    }

    /// This time as so many `unit`s, for reports.
    pub fn in_units(self, unit: Time) -> f64 {
        self.0 as f64 / unit.0 as f64
    }
}

impl Add for Time {
    type Output = Time;
    fn add(self, other: Time) -> Time {
        Time(self.0.saturating_add(other.0))
    }
}

impl Sub for Time {
    type Output = Time;
    fn sub(self, other: Time) -> Time {
        Time(self.0.saturating_sub(other.0))
    }
}

impl Neg for Time {
    type Output = Time;
    fn neg(self) -> Time {
        Time(self.0.saturating_neg())
    }
}

/// `6 * US`, and a formula's `(P - 1) * g`. Only `i64` multiplies, so that a bare literal needs no suffix.
impl Mul<Time> for i64 {
    type Output = Time;
    fn mul(self, time: Time) -> Time {
        Time(time.0.saturating_mul(self))
    }
}

impl AddAssign for Time {
    fn add_assign(&mut self, other: Time) {
        *self = *self + other;
    }
}

impl SubAssign for Time {
    fn sub_assign(&mut self, other: Time) {
        *self = *self - other;
    }
}

impl Sum for Time {
    fn sum<I: Iterator<Item = Time>>(times: I) -> Time {
        times.fold(Time::ZERO, Add::add)
    }
}

/// The units that a time may be written in, largest first.
pub(crate) const UNITS: [(&str, Time); 5] = [("s", SEC), ("ms", MS), ("us", US), ("ns", NS), ("ps", PS)];

/// Exact, in the largest unit of which there is at least one: `14.2 us`.
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ps = self.0.unsigned_abs();
        let (name, unit) = UNITS.into_iter().find(|(_, unit)| ps >= unit.0 as u64).unwrap_or(if ps == 0 {
            ("us", US)
        } else {
            ("ps", PS)
        });
        let sign = if self.0 < 0 { "-" } else { "" };
        let (whole, rest) = (ps / unit.0 as u64, ps % unit.0 as u64);
        if rest == 0 {
            return f.pad(&format!("{sign}{whole} {name}"));
        }
        let digits = unit.0.ilog10() as usize;
        let fraction = format!("{rest:0digits$}");
        f.pad(&format!("{sign}{whole}.{} {name}", fraction.trim_end_matches('0')))
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_exactly() {
        for (ps, text) in [
            (0, "0 us"),
            (1, "1 ps"),
            (7_630, "7.63 ns"),
            (-12_740, "-12.74 ns"),
            (14_200_000, "14.2 us"),
            (1_171_000_000, "1.171 ms"),
            (i64::MAX, "9223372.036854775807 s"),
        ] {
            assert_eq!(Time(ps).to_string(), text);
        }
    }

    #[test]
    fn stops_at_the_end_of_time() {
        assert_eq!(Time::MAX + PS, Time::MAX);
        assert_eq!(i64::MAX * US, Time::MAX);
        assert_eq!(-Time(i64::MIN), Time::MAX);
    }
}
