//! Kinds of options that say how long something takes.

use loggp::{Time, TimeError, US};

use super::kind::Kind;

/// How long something takes, with its unit; a number without one is microseconds, whatever the machine's cycle.
#[derive(Debug)]
pub struct Microseconds;

impl Kind<Time> for Microseconds {
    fn read(&self, text: &str) -> Result<Time, String> {
        not_negative(Time::parse(text, US).map_err(|why| why.to_string())?)
    }

    fn write(&self, value: &Time) -> String {
        value.to_string().replace(' ', "")
    }

    fn check(&self, value: &Time) -> Result<(), String> {
        not_negative(*value).map(drop)
    }

    fn is_time(&self) -> bool {
        true
    }

    fn number(&self, value: &Time, _: Time) -> Option<f64> {
        Some(value.as_ps() as f64)
    }

    fn at(&self, number: f64) -> Result<Time, String> {
        not_negative(Time::from_ps(number.round() as i64))
    }
}

/// How long something takes: a time, or so many of the machine's cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// This time.
    Time(Time),
    /// So many millionths of a cycle.
    Millionths(i64),
}

impl Length {
    /// So many cycles.
    pub const fn cycles(cycles: u32) -> Length {
        Length::Millionths(cycles as i64 * 1_000_000)
    }

    /// How long it is where a cycle takes this.
    pub fn on(self, cycle: Time) -> Time {
        match self {
            Length::Time(time) => time,
            Length::Millionths(millionths) => {
                let ps = i128::from(millionths) * i128::from(cycle.as_ps()) / 1_000_000;
                i64::try_from(ps).map_or(Time::MAX, Time::from_ps)
            }
        }
    }
}

impl From<Time> for Length {
    fn from(time: Time) -> Length {
        Length::Time(time)
    }
}

/// Lengths: a number without a unit counts cycles.
#[derive(Debug)]
pub struct Cycles;

impl Kind<Length> for Cycles {
    fn read(&self, text: &str) -> Result<Length, String> {
        // A picosecond of a cycle of a microsecond is a millionth.
        let millionths = || Time::parse(text, US).map(|time| Length::Millionths(time.as_ps()));
        let is_cycles = matches!(text.parse::<Time>(), Err(TimeError::NoUnit));
        let read = if is_cycles { millionths() } else { text.parse().map(Length::Time) };
        let length = read.map_err(|why| why.to_string())?;
        self.check(&length).map(|()| length)
    }

    fn write(&self, value: &Length) -> String {
        match value {
            Length::Time(time) => Microseconds.write(time),
            Length::Millionths(millionths) => (*millionths as f64 / 1e6).to_string(),
        }
    }

    fn check(&self, value: &Length) -> Result<(), String> {
        not_negative(value.on(US)).map(drop)
    }

    fn is_time(&self) -> bool {
        true
    }

    fn number(&self, value: &Length, cycle: Time) -> Option<f64> {
        Some(value.on(cycle).as_ps() as f64)
    }

    fn at(&self, number: f64) -> Result<Length, String> {
        Microseconds.at(number).map(Length::Time)
    }
}

fn not_negative(time: Time) -> Result<Time, String> {
    if time < Time::ZERO { Err("it is negative; give 0 or more".into()) } else { Ok(time) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loggp::{NS, PS};

    #[test]
    fn what_is_written_is_read_again() {
        for text in ["0", "1", "2.5", "0.000001", "7.63ns", "0us", "12ms"] {
            assert_eq!(Cycles.write(&Cycles.read(text).unwrap()), text);
        }
        assert_eq!(Cycles.read("2 cycles"), Ok(Length::cycles(2)));
        assert_eq!(Microseconds.read("4.5").map(|time| Microseconds.write(&time)), Ok("4.5us".into()));
    }

    #[test]
    fn a_cycle_is_as_long_as_the_machine_says() {
        let length = Cycles.read("7.63").unwrap();
        assert_eq!((length.on(US), length.on(25 * NS)), (7_630_000 * PS, 190_750 * PS));
        assert_eq!(Cycles.number(&length, US), Some(7_630_000.0));
        assert_eq!(Cycles.read("3us").unwrap().on(25 * NS), 3 * US);
    }

    #[test]
    fn what_is_negative_is_refused_from_text_and_in_a_program() {
        let negative = Err("it is negative; give 0 or more".to_string());
        assert_eq!(Microseconds.check(&-US), negative);
        assert_eq!(Cycles.check(&Length::Time(-US)), negative);
        assert_eq!(Cycles.read("-1").map(drop), negative);
        assert_eq!(Microseconds.read("-1").map(drop), negative);
    }
}
