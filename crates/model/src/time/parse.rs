//! Parsing of times, as people and files write them, without rounding.

use std::str::FromStr;

use super::picoseconds::{Time, UNITS, US};
use crate::text::escaped;

/// The longest time that a machine's parameters have, so that sums of times stay far from the end of time.
pub(crate) const LONGEST: Time = Time::from_ps(3_600_000_000_000_000);

/// The error of a text that is not a time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TimeError {
    /// The text has no number.
    #[error("it is not a time; write 6us, 7.63ns or a number of cycles")]
    NoNumber,
    /// The text has no unit, and the length of a cycle is not known.
    #[error("it has no unit; write 6us or 7.63ns")]
    NoUnit,
    /// The text has an unknown unit.
    #[error("there is no unit {}; use s, ms, us, ns, ps or cycles", escaped(_0))]
    UnknownUnit(String),
    /// The time is no whole number of picoseconds.
    #[error("it is finer than a picosecond, the least time there is")]
    TooFine,
    /// The time is too long to be counted.
    #[error("it is too long; give at most {}", Time::MAX)]
    TooLong,
}

impl Time {
    /// Reads a time as [`FromStr`] does, or a number of cycles: `6` or `6 cycles`.
    ///
    /// ```
    /// use loggp::{NS, Time};
    /// assert_eq!(Time::parse("2", 25 * NS)?, 50 * NS);
    /// # Ok::<(), loggp::TimeError>(())
    /// ```
    pub fn parse(text: &str, cycle: Time) -> Result<Time, TimeError> {
        parse_with_cycle(text, Some(cycle))
    }
}

/// Reads `6us`, `6µs`, `7.63 ns` or `-12.74ns`, exactly. The unit must be there; [`Time::parse`] reads cycles
/// too.
///
/// ```
/// use loggp::{Time, TimeError, US};
/// assert_eq!("6µs".parse(), Ok(6 * US));
/// assert_eq!("6".parse::<Time>(), Err(TimeError::NoUnit));
/// ```
impl FromStr for Time {
    type Err = TimeError;

    fn from_str(text: &str) -> Result<Time, TimeError> {
        parse_with_cycle(text, None)
    }
}

/// Reads a time. A number without a unit counts cycles, if a cycle is given.
fn parse_with_cycle(text: &str, cycle: Option<Time>) -> Result<Time, TimeError> {
    let text = text.trim();
    let split = text.find(|c: char| !(c.is_ascii_digit() || "+-._".contains(c))).unwrap_or(text.len());
    let (number, unit) = (&text[..split], text[split..].trim());
    let unit = match unit {
        "" | "cycle" | "cycles" => cycle.ok_or(TimeError::NoUnit)?,
        "\u{b5}s" | "\u{3bc}s" => US, // the micro sign, and the Greek letter that looks like it
        name => match UNITS.into_iter().find(|(unit, _)| *unit == name) {
            Some((_, unit)) => unit,
            None => return Err(TimeError::UnknownUnit(name.into())),
        },
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let (negative, whole) = match whole.strip_prefix('-') {
        Some(whole) => (true, whole),
        None => (false, whole.strip_prefix('+').unwrap_or(whole)),
    };
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return Err(TimeError::NoNumber);
    }
    // Without floating point, which could lose a picosecond.
    let fraction = fraction.trim_end_matches('0');
    let units = format!("0{whole}{fraction}").parse::<i128>().ok();
    let ps = units.and_then(|units| units.checked_mul(unit.as_ps().into()));
    let ten = u32::try_from(fraction.len()).ok().and_then(|power| 10_i128.checked_pow(power));
    match ps.zip(ten) {
        None if fraction.is_empty() => Err(TimeError::TooLong),
        Some((ps, ten)) if ps % ten == 0 => {
            let ps = if negative { -ps / ten } else { ps / ten };
            i64::try_from(ps).map(Time::from_ps).map_err(|_| TimeError::TooLong)
        }
        _ => Err(TimeError::TooFine),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::NS;

    #[test]
    fn parse_reads_every_unit_exactly() {
        for (text, ps) in [
            ("6", 6_000_000),
            ("6 cycles", 6_000_000),
            ("1cycle", 1_000_000),
            ("0.023us", 23_000),
            ("6\u{b5}s", 6_000_000),
            ("0.5 \u{3bc}s", 500_000),
            ("7.63 ns", 7_630),
            ("-12.74ns", -12_740),
            (".5ms", 500_000_000),
            ("1.s", 1_000_000_000_000),
            ("3ps", 3),
            ("2.50000000000000000us", 2_500_000),
        ] {
            assert_eq!(Time::parse(text, US), Ok(Time::from_ps(ps)), "{text}");
        }
        assert_eq!(Time::parse("4", 25 * NS), Ok(100 * NS));
        assert_eq!("-12.74ns".parse(), Ok(Time::from_ps(-12_740)));
        assert_eq!(["4", "", "4 cycles"].map(str::parse::<Time>), [const { Err(TimeError::NoUnit) }; 3]);
    }

    #[test]
    fn parse_is_exact_or_says_why_not() {
        for (text, ps) in [
            ("-0.0us", 0),
            ("-12.00000100us", -12_000_001),
            ("9223372036854.775807us", i64::MAX),
            ("-9223372036854.775808us", i64::MIN),
        ] {
            assert_eq!(text.parse(), Ok(Time::from_ps(ps)), "{text}");
        }
        let zeros = "0".repeat(60);
        for (text, why) in [
            ("0.0000015us", TimeError::TooFine),
            (&format!("0.{zeros}1us"), TimeError::TooFine),
            ("9223372036854.775808us", TimeError::TooLong),
            (&format!("1{zeros}us"), TimeError::TooLong),
            ("us", TimeError::NoNumber),
            ("-us", TimeError::NoNumber),
            ("1-2us", TimeError::NoNumber),
        ] {
            assert_eq!(text.parse::<Time>(), Err(why), "{text}");
        }
    }
}
