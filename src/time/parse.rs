//! Times as people and files write them, read exactly.

use super::{Time, UNITS, US};

/// No time that is read may be longer than this, so that sums of them stay far from the end of time.
pub(crate) const LONGEST: Time = Time::from_ps(3_600_000_000_000_000);

/// Reads `6us`, `6µs`, `7.63 ns`, `-12.74ns`, `6` or `6 cycles`, exactly. A bare number counts cycles.
///
/// ```
/// use loggp::{NS, US, parse_time};
/// assert_eq!(parse_time("6µs", US), Ok(6 * US));
/// assert_eq!(parse_time("2", 25 * NS), Ok(50 * NS));
/// ```
pub fn parse_time(text: &str, cycle: Time) -> Result<Time, String> {
    let text = text.trim();
    let split = text.find(|c: char| !(c.is_ascii_digit() || "+-._".contains(c))).unwrap_or(text.len());
    let (number, unit) = (&text[..split], text[split..].trim());
    let unit = match unit {
        "" | "cycle" | "cycles" => cycle,
        "\u{b5}s" | "\u{3bc}s" => US, // the micro sign, and the Greek letter that looks like it
        name => match UNITS.into_iter().find(|(unit, _)| *unit == name) {
            Some((_, unit)) => unit,
            None => return Err(format!("there is no unit {name}; use s, ms, us, ns, ps or cycles")),
        },
    };
    exactly(number, unit).map_err(|why| match why {
        Unread::NoNumber => "it is not a time; write 6us, 7.63ns or a number of cycles".into(),
        Unread::TooFine => "it is finer than a picosecond, the least time there is".into(),
        Unread::TooLong => format!("it is too long; give at most {LONGEST}"),
    })
}

/// Why a number of units is no time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unread {
    /// It is not a number.
    NoNumber,
    /// It is no whole number of picoseconds.
    TooFine,
    /// It is longer than time can be counted.
    TooLong,
}

/// Reads a number of units, `-12.74` or `7.63e-3`: no floating point number comes between, which could hide a picosecond.
pub(crate) fn exactly(number: &str, unit: Time) -> Result<Time, Unread> {
    let plain = |part: &str| !part.is_empty() && part.bytes().all(|digit| digit.is_ascii_digit());
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let (negative, whole) = match whole.strip_prefix('-') {
        Some(whole) => (true, whole),
        None => (false, whole.strip_prefix('+').unwrap_or(whole)),
    };
    let digits = format!("{whole}{fraction}");
    if !plain(&digits) || !plain(exponent.strip_prefix(['-', '+']).unwrap_or(exponent)) {
        return Err(Unread::NoNumber);
    }
    let digits = digits.trim_start_matches('0');
    let significant = digits.trim_end_matches('0');
    if significant.is_empty() {
        return Ok(Time::ZERO);
    }
    // The number is its significant digits, without zeros at either end, times this power of ten.
    let beyond = if exponent.starts_with('-') { Unread::TooFine } else { Unread::TooLong };
    let exponent: i64 = exponent.parse().map_err(|_| beyond)?;
    let power = (digits.len() - significant.len()) as i64 - fraction.len() as i64;
    let power = power.checked_add(exponent).ok_or(beyond)?;
    let beyond = if power < 0 { Unread::TooFine } else { Unread::TooLong };
    let ten = u32::try_from(power.unsigned_abs()).ok().and_then(|power| 10_i128.checked_pow(power));
    let (units, ten) = significant.parse::<i128>().ok().zip(ten).ok_or(beyond)?;
    let ps = units.checked_mul(unit.as_ps().into()).ok_or(beyond)?;
    let ps = match power < 0 {
        true if ps % ten != 0 => return Err(Unread::TooFine),
        true => ps / ten,
        false => ps.checked_mul(ten).ok_or(Unread::TooLong)?,
    };
    i64::try_from(if negative { -ps } else { ps }).map(Time::from_ps).map_err(|_| Unread::TooLong)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::NS;

    #[test]
    fn reads_every_unit_exactly() {
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
            assert_eq!(parse_time(text, US), Ok(Time::from_ps(ps)), "{text}");
        }
        assert_eq!(parse_time("4", 25 * NS), Ok(100 * NS));
    }

    /// However a viewer writes a number that it saves again, it stays the same, to the end of time.
    #[test]
    fn reads_numbers_exactly() {
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
            assert_eq!(exactly(text, US), Ok(Time::from_ps(ps)), "{text}");
        }
        for (text, why) in [
            ("1e-7", Unread::TooFine),
            ("0.0000015", Unread::TooFine),
            ("1e-9999999999999999999", Unread::TooFine),
            ("9223372036854.775808", Unread::TooLong),
            ("1e99", Unread::TooLong),
            ("1e9999999999999999999", Unread::TooLong),
            ("", Unread::NoNumber),
            ("null", Unread::NoNumber),
            ("-", Unread::NoNumber),
            ("1e", Unread::NoNumber),
            ("1e+-2", Unread::NoNumber),
            ("\"1\"", Unread::NoNumber),
        ] {
            assert_eq!(exactly(text, US), Err(why), "{text}");
        }
    }
}
