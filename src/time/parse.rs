//! Parsing of times, as people and files write them, without rounding.

use std::str::FromStr;

use crate::text::escaped;

use super::picoseconds::{Time, UNITS, US};

/// The longest time that can be read, so that sums of times stay far from the end of time.
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
    #[error("it is too long; give at most {LONGEST}")]
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
    parse_exact(number, unit)
}

/// Reads a number of units, such as `-12.74` or `7.63e-3`, without floating point, which could lose a
/// picosecond.
pub(crate) fn parse_exact(number: &str, unit: Time) -> Result<Time, TimeError> {
    let plain = |part: &str| !part.is_empty() && part.bytes().all(|digit| digit.is_ascii_digit());
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let (negative, whole) = match whole.strip_prefix('-') {
        Some(whole) => (true, whole),
        None => (false, whole.strip_prefix('+').unwrap_or(whole)),
    };
    let digits = format!("{whole}{fraction}");
    if !plain(&digits) || !plain(exponent.strip_prefix(['-', '+']).unwrap_or(exponent)) {
        return Err(TimeError::NoNumber);
    }
    let digits = digits.trim_start_matches('0');
    let significant = digits.trim_end_matches('0');
    if significant.is_empty() {
        return Ok(Time::ZERO);
    }
    // The number is its significant digits, without zeros at either end, times this power of ten.
    let beyond = |fine: bool| if fine { TimeError::TooFine } else { TimeError::TooLong };
    let fine = exponent.starts_with('-');
    let exponent: i64 = exponent.parse().map_err(|_| beyond(fine))?;
    let power = (digits.len() - significant.len()) as i64 - fraction.len() as i64;
    let power = power.checked_add(exponent).ok_or_else(|| beyond(fine))?;
    let ten = u32::try_from(power.unsigned_abs()).ok().and_then(|power| 10_i128.checked_pow(power));
    let units = significant.parse::<i128>().ok().zip(ten);
    let ps = units.and_then(|(units, ten)| Some((units.checked_mul(unit.as_ps().into())?, ten)));
    let (ps, ten) = ps.ok_or_else(|| beyond(power < 0))?;
    let ps = match power < 0 {
        true if ps % ten != 0 => return Err(TimeError::TooFine),
        true => ps / ten,
        false => ps.checked_mul(ten).ok_or(TimeError::TooLong)?,
    };
    i64::try_from(if negative { -ps } else { ps }).map(Time::from_ps).map_err(|_| TimeError::TooLong)
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

    /// A trace viewer may write a number in another form when it saves a file; the number must stay the same.
    #[test]
    fn parse_exact_reads_numbers_exactly() {
        for (text, ps) in [
            ("0", 0),
            ("-0.0", 0),
            ("0e999999999999999999999", 0),
            ("7.63e-3", 7_630),
            ("7.630E+2", 763_000_000),
            ("-12.00000100", -12_000_001),
            ("9223372036854.775807", i64::MAX),
            ("-9223372036854.775808", i64::MIN),
            ("1000e-9", 1),
        ] {
            assert_eq!(parse_exact(text, US), Ok(Time::from_ps(ps)), "{text}");
        }
        for (text, why) in [
            ("1e-7", TimeError::TooFine),
            ("0.0000015", TimeError::TooFine),
            ("1e-9999999999999999999", TimeError::TooFine),
            ("9223372036854.775808", TimeError::TooLong),
            ("1e99", TimeError::TooLong),
            ("1e9999999999999999999", TimeError::TooLong),
            ("", TimeError::NoNumber),
            ("null", TimeError::NoNumber),
            ("-", TimeError::NoNumber),
            ("1e", TimeError::NoNumber),
            ("1e+-2", TimeError::NoNumber),
            ("\"1\"", TimeError::NoNumber),
        ] {
            assert_eq!(parse_exact(text, US), Err(why), "{text}");
        }
    }
}
