//! The noise of the host, whose operating system takes processors from the program for a time.
//!
//! A detour is a time in which a processor does nothing for its program. This file says when each processor
//! has its detours, which follows from its number and the seed. `rules/noise.rs` says how they lengthen the
//! program's times.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use fastrand::Rng;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::ParamsError;
use crate::text::escaped;
use crate::time::{LONGEST, Time};

/// The noise of the host: detours that take time from the processors.
///
/// Each processor has them at its own phase, which depends only on its number and the seed: not on the clock,
/// the number of cores, or what the processors do.
///
/// ```
/// use loggp::{Machine, Noise, Params, US};
///
/// let noise: Noise = "100us:5us,1ms:20us".parse()?;
/// assert_eq!(noise, Noise::from_periods([(100 * US, 5 * US), (1000 * US, 20 * US)])?);
///
/// let machine = Machine::new(Params::builder(2).build()?).noise(noise.seed(7));
/// let run = machine.run(|p| p.work("think", 1000, || ()))?;
/// assert!(run.time >= (1000 + 9 * 5 + 20) * US);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "NoiseText", try_from = "NoiseText")]
#[must_use = "a noise is heard on the machine that gets it"]
pub struct Noise {
    pattern: Pattern,
    /// The time after which everything repeats.
    cycle: Time,
    seed: u64,
    together: bool,
}

/// The times of detours, up to a processor's phase.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Pattern {
    /// For each period, its length and that of the one detour in it.
    Periods(Arc<[(Time, Time)]>),
    /// The starts and ends of the detours of a record, in order. The record ends with its last detour, and
    /// then starts again.
    Record(Arc<[(Time, Time)]>),
}

/// The detours of one processor.
pub(crate) enum Detours<'a> {
    /// Periodic detours: the period, the length, and the start of the first one.
    Periods(SmallVec<[(Time, Time, Time); 2]>),
    /// The detours of a record, and the time in the record at which the processor starts.
    Record(&'a [(Time, Time)], Time),
}

impl Noise {
    /// Creates a noise from one or several periods and the lengths of their detours. Where detours of two
    /// periods overlap, they take the processor once.
    pub fn from_periods(periods: impl IntoIterator<Item = (Time, Time)>) -> Result<Noise, ParamsError> {
        let periods: Arc<[(Time, Time)]> = periods.into_iter().collect();
        if periods.is_empty() {
            return refuse("there is no period; give one and the length of its detour, such as 10ms:25us");
        }
        if periods.len() > MAX_PERIODS {
            return refuse(format!(
                "there are {} periods; give at most {MAX_PERIODS}, or a record",
                periods.len()
            ));
        }
        for &(period, length) in &*periods {
            if length <= Time::ZERO || length >= period || period > LONGEST {
                return refuse(format!(
                    "a detour of {length} every {period} cannot be; give a length above 0 and below its period, and a \
                     period of at most {LONGEST}"
                ));
            }
        }
        let part = |&(period, length): &(Time, Time)| length.as_ps() as f64 / period.as_ps() as f64;
        if periods.iter().map(part).sum::<f64>() > 0.999 {
            return refuse(
                "the detours take all of the processors' time; give shorter ones, or longer periods",
            );
        }
        let Some(cycle) = common_multiple(&periods) else {
            return refuse(format!(
                "the periods meet again only after more than {MAX_CYCLE_PERIODS} of the shortest; give periods with a smaller \
                 common multiple, such as 1ms and 10ms"
            ));
        };
        Ok(Noise { pattern: Pattern::Periods(periods), cycle, seed: 1, together: false })
    }

    /// Creates a noise that repeats a record, given as starts and lengths of detours. The record ends with
    /// its last detour. Overlapping detours are merged.
    pub fn from_record(detours: impl IntoIterator<Item = (Time, Time)>) -> Result<Noise, ParamsError> {
        let called = |number: Option<usize>| {
            number.map_or_else(String::new, |number| format!("detour {}", number + 1))
        };
        Noise::build_record(detours, called)
    }

    /// Creates a noise from a record. `called` gives the beginning of an error about one detour, or about the
    /// whole record.
    fn build_record(
        detours: impl IntoIterator<Item = (Time, Time)>,
        called: impl Fn(Option<usize>) -> String,
    ) -> Result<Noise, ParamsError> {
        let mut record: Vec<(Time, Time)> = Vec::new();
        let mut begun = Time::ZERO;
        for (number, (start, length)) in detours.into_iter().enumerate() {
            if start < begun || length < Time::ZERO || start + length > LONGEST {
                return refuse(format!(
                    "{} begins at {start} and takes {length}; give beginnings in order, lengths from 0, and at most {LONGEST} in all",
                    called(Some(number))
                ));
            }
            begun = start;
            let end = start + length;
            match record.last_mut().filter(|(_, before)| start <= *before) {
                Some((_, before)) => *before = end.max(*before),
                None if length > Time::ZERO => record.push((start, end)),
                None => (),
            }
        }
        let taken: Time = record.iter().map(|(start, end)| *end - *start).sum();
        match record.last() {
            None => refuse(called(None) + "the record has no detour"),
            Some((_, end)) if taken >= *end => {
                refuse(called(None) + "the record is one long detour, and no time is left")
            }
            Some(&(_, cycle)) => {
                Ok(Noise { pattern: Pattern::Record(record.into()), cycle, seed: 1, together: false })
            }
        }
    }

    /// Reads a record in the format of LogGOPSim, such as Netgauge's selfish detour writes: one detour a
    /// line, with its start and length in nanoseconds. Lines that begin with # are comments.
    pub fn parse_record(text: &str) -> Result<Noise, ParamsError> {
        let mut detours = Vec::new();
        let mut lines = Vec::new();
        for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.starts_with('#')) {
            let number = |text: &str| {
                let ns = text.parse::<f64>().ok().filter(|ns| (0.0..=LONGEST.as_ns()).contains(ns));
                ns.map(|ns| Time::from_ps((ns * 1e3).round() as i64))
            };
            match line.split_whitespace().map(number).collect::<Vec<_>>()[..] {
                [] => continue,
                [Some(start), Some(length)] => detours.push((start, length)),
                _ => {
                    return refuse(format!(
                        "line {}: it is no detour; give its beginning and its length in ns, such as 1000 25",
                        index + 1
                    ));
                }
            }
            lines.push(index + 1);
        }
        Noise::build_record(detours, |number| match (number, lines.last()) {
            (Some(number), _) => format!("line {}: its detour", lines[number]),
            (None, Some(last)) => format!("lines 1 to {last}: "),
            (None, None) => String::new(),
        })
    }

    /// Sets the seed of the processors' phases (default 1).
    pub fn seed(self, seed: u64) -> Noise {
        Noise { seed, ..self }
    }

    /// Gives all processors the same phase, as if their operating systems were synchronized.
    pub fn together(self) -> Noise {
        Noise { together: true, ..self }
    }

    /// Returns the starts and ends of a processor's detours between two moments, in order.
    ///
    /// ```
    /// use loggp::{Noise, Time, US};
    ///
    /// let noise = Noise::from_periods([(100 * US, 5 * US)])?;
    /// let taken: Time = noise.detours(3, 0 * US, 1000 * US).iter().map(|(from, until)| *until - *from).sum();
    /// assert_eq!(taken, 10 * 5 * US);
    /// # Ok::<(), loggp::ParamsError>(())
    /// ```
    pub fn detours(&self, id: usize, from: Time, until: Time) -> Vec<(Time, Time)> {
        let mut all: Vec<(Time, Time)> = Vec::new();
        if from >= until {
            return all;
        }
        let mut repeat = |first: Time, period: Time, length: Time| {
            // Starts at the first detour that is not over, or at the one before, which is removed below.
            let mut start = first + (from - first - length).as_ps().div_euclid(period.as_ps()) * period;
            while start < until {
                all.push((start.clamp(from, until), (start + length).clamp(from, until)));
                start += period;
            }
        };
        match self.detours_of(id) {
            Detours::Periods(periods) => {
                periods.iter().for_each(|&(period, length, phase)| repeat(phase, period, length));
            }
            Detours::Record(record, offset) => {
                record.iter().for_each(|&(start, end)| repeat(start - offset, self.cycle, end - start));
            }
        }
        all.retain(|(start, end)| start < end);
        all.sort_unstable();
        all.dedup_by(|next, last| {
            let meet = next.0 <= last.1;
            if meet {
                last.1 = last.1.max(next.1);
            }
            meet
        });
        all
    }

    /// Returns an upper bound on the detours of one processor in a time of this length.
    pub fn max_detours(&self, length: Time) -> u64 {
        let count = |period: Time| (length.as_ps() / period.as_ps()).max(0) as u64 + 2;
        match &self.pattern {
            Pattern::Periods(periods) => periods.iter().map(|(period, _)| count(*period)).sum(),
            Pattern::Record(record) => count(self.cycle).saturating_mul(record.len() as u64),
        }
    }

    /// Changes the seed that draws the phases.
    pub fn map_seed(self, change: impl FnOnce(u64) -> u64) -> Noise {
        Noise { seed: change(self.seed), ..self }
    }

    /// Applies a setting from text: `together` or `seed:7`.
    pub fn set(self, text: &str) -> Result<Noise, ParamsError> {
        match (text.trim(), text.trim().strip_prefix(SEED).map(str::parse)) {
            (TOGETHER, _) => Ok(self.together()),
            (_, Some(Ok(seed))) => Ok(self.seed(seed)),
            _ => refuse(format!(
                "{:?} is nothing to say of a noise; give {TOGETHER} or {SEED}7",
                escaped(text.trim())
            )),
        }
    }

    /// Returns the time after which everything repeats.
    #[doc(hidden)]
    pub fn cycle(&self) -> Time {
        self.cycle
    }

    /// Returns the detours of a processor.
    pub(crate) fn detours_of(&self, id: usize) -> Detours<'_> {
        let number = if self.together { 0 } else { (id as u64).wrapping_add(1) };
        let mut dice = Rng::with_seed(self.seed ^ number.wrapping_mul(0xD6E8_FEB8_6659_FD93));
        let mut below = |most: Time| Time::from_ps(dice.i64(0..most.as_ps()));
        match &self.pattern {
            Pattern::Periods(periods) => Detours::Periods(
                periods.iter().map(|&(period, length)| (period, length, below(period))).collect(),
            ),
            Pattern::Record(record) => Detours::Record(record, below(self.cycle)),
        }
    }
}

/// A noise in a file: periods and the lengths of their detours, or the starts and lengths of recorded ones.
#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct NoiseText {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    periods: Vec<(Time, Time)>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    record: Vec<(Time, Time)>,
    seed: u64,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    together: bool,
}

impl From<Noise> for NoiseText {
    fn from(Noise { pattern, seed, together, .. }: Noise) -> NoiseText {
        let text = NoiseText { seed, together, ..NoiseText::default() };
        match pattern {
            Pattern::Periods(periods) => NoiseText { periods: periods.to_vec(), ..text },
            Pattern::Record(record) => {
                let record = record.iter().map(|(start, end)| (*start, *end - *start)).collect();
                NoiseText { record, ..text }
            }
        }
    }
}

impl TryFrom<NoiseText> for Noise {
    type Error = String;

    fn try_from(NoiseText { periods, record, seed, together }: NoiseText) -> Result<Noise, String> {
        let noise = if record.is_empty() { Noise::from_periods(periods) } else { Noise::from_record(record) };
        let noise = noise.map_err(|why| format!("its machine has a noise: {why}"))?;
        Ok(Noise { seed, together, ..noise })
    }
}

fn refuse<T>(sentence: impl Into<String>) -> Result<T, ParamsError> {
    Err(ParamsError::new(sentence))
}

/// The most periods of a noise.
const MAX_PERIODS: usize = 16;

/// The most repetitions of the shortest period before all periods meet again. It bounds the search for the
/// end of a long activity.
const MAX_CYCLE_PERIODS: i64 = 10_000;

/// Returns the time after which all periods meet again, or `None` if that is too long.
fn common_multiple(periods: &[(Time, Time)]) -> Option<Time> {
    let mut periods = periods.iter().map(|(period, _)| period.as_ps());
    let most = periods.clone().min()?.saturating_mul(MAX_CYCLE_PERIODS);
    let multiple = |cycle: i64, period| {
        (cycle / greatest_common_divisor(cycle, period)).checked_mul(period).filter(|cycle| *cycle <= most)
    };
    periods.try_fold(1, multiple).map(Time::from_ps)
}

fn greatest_common_divisor(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

/// The settings that may follow the periods of a noise in text.
const TOGETHER: &str = "together";
const SEED: &str = "seed:";

/// Reads periods and the lengths of their detours, `10ms:25us,1s:1ms`, and then optionally `,together`, by
/// which all processors have their detours at the same time, and `,seed:7` (default 1).
impl FromStr for Noise {
    type Err = ParamsError;

    fn from_str(text: &str) -> Result<Noise, ParamsError> {
        let (mut periods, mut settings) = (Vec::new(), Vec::new());
        for part in text.split(',').map(str::trim) {
            if part == TOGETHER || part.starts_with(SEED) {
                settings.push(part);
                continue;
            }
            let Some((period, length)) = part.split_once(':') else {
                return refuse(format!(
                    "{:?} has no length; give a period and a length, such as 10ms:25us",
                    escaped(part)
                ));
            };
            let time = |text: &str| {
                text.parse::<Time>()
                    .map_err(|why| ParamsError::new(format!("{:?}: {why}", escaped(text.trim()))))
            };
            periods.push((time(period)?, time(length)?));
        }
        settings.into_iter().try_fold(Noise::from_periods(periods)?, Noise::set)
    }
}

/// Writes a periodic noise as [`FromStr`] reads it, and a description of a record.
impl fmt::Display for Noise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = match &self.pattern {
            Pattern::Periods(periods) => {
                let part = |(period, length): &(Time, Time)| format!("{period}:{length}").replace(' ', "");
                periods.iter().map(part).collect::<Vec<_>>().join(",")
            }
            Pattern::Record(record) => {
                let (count, end) = (record.len(), self.cycle);
                format!("a record of {count} detour{} in {end}", if count == 1 { "" } else { "s" })
            }
        };
        if self.together {
            text += ",";
            text += TOGETHER;
        }
        f.pad(&format!("{text},{SEED}{}", self.seed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::{MS, NS, US};

    #[test]
    fn noise_is_read_as_written() {
        for text in ["10ms:25us", "1ms:25us,100ms:2.5ms", "10us:1.5ns,together"] {
            assert_eq!(text.parse::<Noise>().unwrap().to_string(), format!("{text},seed:1"));
        }
        assert_eq!(
            "10ms:25us,seed:7".parse(),
            Noise::from_periods([(10 * MS, 25 * US)]).map(|noise| noise.seed(7))
        );
        assert_eq!("10ms:25us".parse(), Noise::from_periods([(10 * MS, 25 * US)]));
    }

    #[test]
    fn invalid_noise_is_refused_in_a_sentence() {
        for (text, why) in [
            ("10ms", "has no length"),
            ("", "has no length"),
            ("together", "there is no period"),
            ("10ms:25us,seed:x", "is nothing to say of a noise"),
            ("10ms:", "it has no unit"),
            ("10:1", "it has no unit"),
            ("10ms:10ms", "a detour of 10 ms every 10 ms cannot be"),
            ("10ms:-1us", "cannot be"),
            ("0us:0us", "cannot be"),
            ("2us:1us,4us:2us", "all of the processors' time"),
            ("99991us:1us,1000003us:1us", "meet again only after"),
        ] {
            let said = text.parse::<Noise>().unwrap_err().to_string();
            assert!(said.contains(why), "{text}: {said}");
        }
    }

    #[test]
    fn record_is_read_in_the_format_of_its_generator() {
        let read = Noise::parse_record("# selfish\n1000\t25\n2000.5 1e3\r\n\n2500 100\n9000 10\n").unwrap();
        let detours = [(1000 * NS, 25 * NS), (2_000_500 * NS / 1000, US), (9000 * NS, 10 * NS)];
        assert_eq!(read, Noise::from_record(detours).unwrap());
        assert_eq!(read.to_string(), "a record of 3 detours in 9.01 us,seed:1");
        for (text, why) in [
            ("", "no detour"),
            ("# nothing\n", "no detour"),
            ("1 2\nnoise\n", "line 2: it is no detour"),
            ("1 2 3\n", "line 1: it is no detour"),
            ("1 -2\n", "line 1: it is no detour"),
            ("1 nan\n", "line 1: it is no detour"),
            ("# one\n5 1\n4 1\n", "line 3: its detour begins at 4 ns"),
            ("5 3.6e12\n", "line 1: its detour begins at 5 ns"),
            ("0 5\n3 5\n", "lines 1 to 2: the record is one long detour"),
            ("5 0\n", "lines 1 to 1: the record has no detour"),
        ] {
            let said = Noise::parse_record(text).unwrap_err().to_string();
            assert!(said.contains(why), "{text:?}: {said}");
        }
    }
}
