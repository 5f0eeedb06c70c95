//! Option kinds whose values are times.

use loggp::{Time, TimeError, US};

use super::kind::OptionKind;

/// Times with a unit; a number without one counts microseconds, whatever the machine's cycle.
#[derive(Debug)]
pub struct Microseconds;

impl OptionKind<Time> for Microseconds {
    fn read(&self, text: &str) -> Result<Time, String> {
        check_not_negative(Time::parse(text, US).map_err(|why| why.to_string())?)
    }

    fn write(&self, value: &Time) -> String {
        value.to_string().replace(' ', "")
    }

    fn is_time(&self) -> bool {
        true
    }

    fn number(&self, value: &Time, _: Time) -> Option<f64> {
        Some(value.as_ps() as f64)
    }

    fn value_of(&self, number: f64) -> Result<Time, String> {
        check_not_negative(Time::from_ps(number.round() as i64))
    }
}

/// A time span: a time, or a number of the machine's cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeSpan {
    /// A time.
    Time(Time),
    /// Millionths of a cycle.
    Millionths(i64),
}

impl TimeSpan {
    /// Creates a span of so many cycles.
    pub const fn from_cycles(cycles: u32) -> TimeSpan {
        TimeSpan::Millionths(cycles as i64 * 1_000_000)
    }

    /// Converts the span to a time, on a machine with this cycle.
    pub fn to_time(self, cycle: Time) -> Time {
        match self {
            TimeSpan::Time(time) => time,
            TimeSpan::Millionths(millionths) => {
                let ps = i128::from(millionths) * i128::from(cycle.as_ps()) / 1_000_000;
                i64::try_from(ps).map_or(Time::MAX, Time::from_ps)
            }
        }
    }
}

impl From<Time> for TimeSpan {
    fn from(time: Time) -> TimeSpan {
        TimeSpan::Time(time)
    }
}

/// Time spans; a number without a unit counts cycles.
#[derive(Debug)]
pub struct Cycles;

impl OptionKind<TimeSpan> for Cycles {
    fn read(&self, text: &str) -> Result<TimeSpan, String> {
        // With a cycle of a microsecond, a picosecond is a millionth of a cycle.
        let millionths = || Time::parse(text, US).map(|time| TimeSpan::Millionths(time.as_ps()));
        let is_cycles = matches!(text.parse::<Time>(), Err(TimeError::NoUnit));
        let read = if is_cycles { millionths() } else { text.parse().map(TimeSpan::Time) };
        let length = read.map_err(|why| why.to_string())?;
        check_not_negative(length.to_time(US)).map(|_| length)
    }

    fn write(&self, value: &TimeSpan) -> String {
        match value {
            TimeSpan::Time(time) => Microseconds.write(time),
            TimeSpan::Millionths(millionths) => {
                let sign = if *millionths < 0 { "-" } else { "" };
                let (whole, rest) =
                    (millionths.unsigned_abs() / 1_000_000, millionths.unsigned_abs() % 1_000_000);
                let text = format!("{sign}{whole}.{rest:06}");
                text.trim_end_matches('0').trim_end_matches('.').into()
            }
        }
    }

    fn is_time(&self) -> bool {
        true
    }

    fn number(&self, value: &TimeSpan, cycle: Time) -> Option<f64> {
        Some(value.to_time(cycle).as_ps() as f64)
    }

    fn value_of(&self, number: f64) -> Result<TimeSpan, String> {
        Microseconds.value_of(number).map(TimeSpan::Time)
    }
}

fn check_not_negative(time: Time) -> Result<Time, String> {
    if time < Time::ZERO { Err("it is negative; give 0 or more".into()) } else { Ok(time) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loggp::{NS, PS};

    #[test]
    fn written_values_are_read_again() {
        for text in ["0", "1", "2.5", "0.000001", "7.63ns", "0us", "12ms"] {
            assert_eq!(Cycles.write(&Cycles.read(text).unwrap()), text);
        }
        assert_eq!(Cycles.read("2 cycles"), Ok(TimeSpan::from_cycles(2)));
        assert_eq!(Microseconds.read("4.5").map(|time| Microseconds.write(&time)), Ok("4.5us".into()));
    }

    #[test]
    fn cycles_last_as_long_as_on_the_machine() {
        let length = Cycles.read("7.63").unwrap();
        assert_eq!((length.to_time(US), length.to_time(25 * NS)), (7_630_000 * PS, 190_750 * PS));
        assert_eq!(Cycles.number(&length, US), Some(7_630_000.0));
        assert_eq!(Cycles.read("3us").unwrap().to_time(25 * NS), 3 * US);
    }

    #[test]
    fn negative_values_are_refused_from_text_and_in_a_program() {
        let negative = Err("it is negative; give 0 or more".to_string());
        assert_eq!(Microseconds.check(&-US), negative);
        assert_eq!(Cycles.check(&TimeSpan::Time(-US)), negative);
        assert_eq!(Cycles.read("-1").map(drop), negative);
        assert_eq!(Microseconds.read("-1").map(drop), negative);
    }
}
