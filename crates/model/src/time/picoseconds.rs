//! The type of all times, its units, and its arithmetic.

use std::fmt;
use std::iter::Sum;
use std::num::TryFromIntError;
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};
use std::time::Duration;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

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
///
/// A whole number multiplies or divides a time, as it does a [`Duration`]. The result is whole picoseconds,
/// cut off towards 0. [`in_units`](Time::in_units) divides a time by a time.
///
/// ```
/// use loggp::{NS, PS, Time, US};
/// assert_eq!((2 * US, US / 3), (US * 2, 333_333 * PS));
/// assert_eq!([US, 500 * NS].iter().sum::<Time>() / 2, 750 * NS);
/// assert_eq!((3 * US).in_units(2 * US), 1.5);
/// ```
///
/// In files a time is its picoseconds, at most 2^60.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Time(#[serde(deserialize_with = "ps_of_file")] i64);

/// The largest number in a file, and the largest distance of a time from 0 in ps (13 days). Eight times as
/// much still fits into 64 bits.
pub const MOST_IN_FILE: u64 = 1 << 60;

fn ps_of_file<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    Time(i64::deserialize(deserializer)?).in_file().map(Time::as_ps).map_err(D::Error::custom)
}

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

    /// Creates a time from picoseconds.
    pub const fn from_ps(ps: i64) -> Time {
        Time(ps)
    }

    /// Returns the time in picoseconds.
    pub const fn as_ps(self) -> i64 {
        self.0
    }

    /// Returns the time in nanoseconds, for reports: the model never computes with a float.
    pub fn as_ns(self) -> f64 {
        self.0 as f64 / 1e3
    }

    /// Returns the time, or an error if it is too long for a file.
    #[doc(hidden)]
    pub fn in_file(self) -> Result<Time, String> {
        const MOST: Time = Time(MOST_IN_FILE as i64);
        match self.0.unsigned_abs() > MOST_IN_FILE {
            true => Err(format!("a time of {self} is too long; give at most {MOST}")),
            false => Ok(self),
        }
    }

    /// Returns the time divided by `unit`, for reports.
    pub fn in_units(self, unit: Time) -> f64 {
        self.0 as f64 / unit.0 as f64
    }
}

/// Returns the result of a sum that overflows: the greatest or the least time. It is a cold function of its
/// own, so that every other sum is two instructions: the cost of a message is mostly sums.
#[cold]
#[inline(always)] // the branch stays cold, and has no call
fn saturate(up: bool) -> Time {
    if up { Time::MAX } else { Time(i64::MIN) }
}

impl Add for Time {
    type Output = Time;
    #[inline]
    fn add(self, other: Time) -> Time {
        match self.0.checked_add(other.0) {
            Some(sum) => Time(sum),
            None => saturate(other.0 > 0),
        }
    }
}

impl Sub for Time {
    type Output = Time;
    #[inline]
    fn sub(self, other: Time) -> Time {
        match self.0.checked_sub(other.0) {
            Some(difference) => Time(difference),
            None => saturate(other.0 < 0),
        }
    }
}

impl Neg for Time {
    type Output = Time;
    #[inline]
    fn neg(self) -> Time {
        Time(self.0.saturating_neg())
    }
}

/// `6 * US`, and a formula's `(P - 1) * g`. Only `i64` multiplies, so that a bare literal needs no suffix.
impl Mul<Time> for i64 {
    type Output = Time;
    #[inline]
    fn mul(self, time: Time) -> Time {
        Time(time.0.saturating_mul(self))
    }
}

/// Returns a number of things as the factor of a time. A number that is too large for a factor becomes the largest.
#[inline]
pub fn factor(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

impl Mul<i64> for Time {
    type Output = Time;
    #[inline]
    fn mul(self, n: i64) -> Time {
        n * self
    }
}

/// The quotient is whole picoseconds, cut off towards 0. Panics if `n` is 0.
impl Div<i64> for Time {
    type Output = Time;
    #[inline]
    fn div(self, n: i64) -> Time {
        Time(self.0.saturating_div(n))
    }
}

impl MulAssign<i64> for Time {
    #[inline]
    fn mul_assign(&mut self, n: i64) {
        *self = *self * n;
    }
}

impl DivAssign<i64> for Time {
    #[inline]
    fn div_assign(&mut self, n: i64) {
        *self = *self / n;
    }
}

impl AddAssign for Time {
    #[inline]
    fn add_assign(&mut self, other: Time) {
        *self = *self + other;
    }
}

impl SubAssign for Time {
    #[inline]
    fn sub_assign(&mut self, other: Time) {
        *self = *self - other;
    }
}

impl Sum for Time {
    fn sum<I: Iterator<Item = Time>>(times: I) -> Time {
        times.fold(Time::ZERO, Add::add)
    }
}

impl<'a> Sum<&'a Time> for Time {
    fn sum<I: Iterator<Item = &'a Time>>(times: I) -> Time {
        times.copied().sum()
    }
}

/// A duration that is too long to be counted becomes [`Time::MAX`].
impl From<Duration> for Time {
    fn from(duration: Duration) -> Time {
        i64::try_from(duration.as_nanos()).map_or(Time::MAX, |ns| ns * NS)
    }
}

/// The duration is cut off to whole nanoseconds, as the host counts. A time below 0 is no duration.
impl TryFrom<Time> for Duration {
    type Error = TryFromIntError;

    fn try_from(time: Time) -> Result<Duration, TryFromIntError> {
        u64::try_from(time.0).map(|ps| Duration::from_nanos(ps / 1000))
    }
}

/// The units that a time may be written in, largest first.
pub(super) const UNITS: [(&str, Time); 5] = [("s", SEC), ("ms", MS), ("us", US), ("ns", NS), ("ps", PS)];

/// Prints the exact time in the largest unit of which there is at least one: `14.2 us`.
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
    fn display_is_exact() {
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
    fn arithmetic_saturates() {
        assert_eq!(Time::MAX + PS, Time::MAX);
        assert_eq!((Time(i64::MIN) - PS, Time(i64::MIN) + -PS), (Time(i64::MIN), Time(i64::MIN)));
        assert_eq!((Time::MAX - -PS, -PS + Time::MAX), (Time::MAX, Time::MAX - PS));
        assert_eq!(i64::MAX * US, Time::MAX);
        assert_eq!(-Time(i64::MIN), Time::MAX);
        assert_eq!(Time(i64::MIN) / -1, Time::MAX);
        assert_eq!(Time::MAX * 2, Time::MAX);
    }

    #[test]
    fn time_times_and_divided_by_whole_numbers() {
        let mut time = 7 * US;
        assert_eq!((time * 3, time / 2, -time / 2), (21 * US, 3_500 * NS, -3_500 * NS));
        assert_eq!((7 * PS / 2, -7 * PS / 2), (3 * PS, -3 * PS));
        time *= 4;
        time /= 8;
        assert_eq!(time, 3_500 * NS);
        let times = [US, 2 * US, NS];
        assert_eq!(times.iter().sum::<Time>(), times.into_iter().sum());
    }

    #[test]
    fn converts_to_and_from_duration() {
        assert_eq!(Time::from(Duration::from_nanos(7)), 7 * NS);
        assert_eq!(Time::from(Duration::MAX), Time::MAX);
        assert_eq!(Duration::try_from(7 * NS + 999 * PS), Ok(Duration::from_nanos(7)));
        assert!(Duration::try_from(-PS).is_err());
    }

    #[test]
    #[should_panic(expected = "divide by zero")]
    fn division_by_zero_panics() {
        _ = std::hint::black_box(US) / std::hint::black_box(0);
    }
}
