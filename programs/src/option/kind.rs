//! Kinds of option values: numbers, names, and values with their own syntax.

use std::fmt;
use std::fs::{self, File};
use std::ops::RangeInclusive;
use std::path::Path;

use loggp::Time;

/// The possible values of an option, and their syntax.
pub trait OptionKind<T>: fmt::Debug + Sync {
    /// Reads a value. The error says in a sentence which values are possible.
    fn read(&self, text: &str) -> Result<T, String>;

    /// Writes a value so that it can be read again; empty for no value.
    fn write(&self, value: &T) -> String;

    /// Refuses a value that is not possible.
    fn check(&self, value: &T) -> Result<(), String> {
        self.read(&self.write(value)).map(drop)
    }

    /// Returns whether the values are times.
    fn is_time(&self) -> bool {
        false
    }

    /// Returns a value as a number, in picoseconds if it is a time, or `None` if it is no number. A sweep, which
    /// runs programs, needs numbers.
    fn number(&self, value: &T, _cycle: Time) -> Option<f64> {
        self.write(value).parse().ok()
    }

    /// Returns the value for a number, in picoseconds if it is a time.
    fn value_of(&self, number: f64) -> Result<T, String> {
        self.read(&number.to_string())
    }
}

/// Whole numbers in a range.
#[derive(Debug)]
pub struct WholeNumber(pub RangeInclusive<usize>);

impl<T: TryFrom<usize> + fmt::Display> OptionKind<T> for WholeNumber {
    fn read(&self, text: &str) -> Result<T, String> {
        let (least, most) = (self.0.start(), self.0.end());
        let number = parse_count(text).filter(|number| self.0.contains(number));
        number.and_then(|number| number.try_into().ok()).ok_or_else(|| match *most {
            usize::MAX => format!("give a whole number of at least {least}"),
            most => format!("give a whole number from {least} to {most}"),
        })
    }

    fn write(&self, value: &T) -> String {
        value.to_string()
    }
}

/// Reads a count such as 4096, 4k or 1e6: k or KiB is 1024, M or MiB is 1024k, and G or GiB is 1024M; kB is 1000, as in
/// the SI, and so on.
pub fn parse_count(text: &str) -> Option<usize> {
    if let Some((digits, zeros)) = text.split_once('e') {
        let power = 10_usize.checked_pow(zeros.parse().ok()?)?;
        return digits.parse::<usize>().ok()?.checked_mul(power);
    }
    let (digits, unit) = text.split_at(text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len()));
    let unit = match unit {
        "" | "B" => 1,
        "k" | "K" | "KiB" => 1 << 10,
        "M" | "MiB" => 1 << 20,
        "G" | "GiB" => 1 << 30,
        "kB" | "KB" => 1000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        _ => return None,
    };
    digits.parse::<usize>().ok()?.checked_mul(unit)
}

/// Returns whether a text names a CSV file.
pub fn is_csv_file(text: &str) -> bool {
    Path::new(text).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv"))
}

/// Opens a file that an option names, of at most `most` bytes.
pub(crate) fn open_file(path: &Path, most: u64) -> Result<File, String> {
    let cannot = |why: &dyn fmt::Display| format!("{} cannot be read: {why}", path.display());
    let about = fs::metadata(path).map_err(|why| cannot(&why))?;
    if !about.is_file() || about.len() > most {
        return Err(cannot(&format_args!("it is no file of at most {most} bytes; give one")));
    }
    File::open(path).map_err(|why| cannot(&why))
}

/// One of several values that have names.
#[derive(Debug)]
pub struct OneOf<T: 'static>(pub &'static [(&'static str, T)]);

impl<T: Clone + PartialEq + fmt::Debug + Sync> OptionKind<T> for OneOf<T> {
    fn read(&self, text: &str) -> Result<T, String> {
        let named = self.0.iter().find(|(name, _)| *name == text);
        named.map(|(_, value)| value.clone()).ok_or_else(|| {
            let names: Vec<&str> = self.0.iter().map(|(name, _)| *name).collect();
            let (last, others) = names.split_last().expect("there are values");
            format!("give {} or {last}", others.join(", "))
        })
    }

    fn write(&self, value: &T) -> String {
        let named = self.0.iter().find(|(_, other)| other == value);
        named.map_or_else(|| format!("{value:?}"), |(name, _)| (*name).into())
    }
}

/// Values with their own syntax.
#[derive(Debug)]
pub struct CustomKind<T> {
    /// Reads a value; the error says which values are possible.
    pub read: fn(&str) -> Result<T, String>,
    /// Writes a value so that it can be read again.
    pub write: fn(&T) -> String,
}

impl<T: fmt::Debug> OptionKind<T> for CustomKind<T> {
    fn read(&self, text: &str) -> Result<T, String> {
        (self.read)(text)
    }

    fn write(&self, value: &T) -> String {
        (self.write)(value)
    }
}

/// Values that may be left out.
#[derive(Debug)]
pub struct OptionalKind<T: 'static>(pub &'static dyn OptionKind<T>);

impl<T: fmt::Debug> OptionKind<Option<T>> for OptionalKind<T> {
    fn read(&self, text: &str) -> Result<Option<T>, String> {
        if text.is_empty() { Ok(None) } else { self.0.read(text).map(Some) }
    }

    fn write(&self, value: &Option<T>) -> String {
        value.as_ref().map(|value| self.0.write(value)).unwrap_or_default()
    }

    fn is_time(&self) -> bool {
        self.0.is_time()
    }

    fn number(&self, value: &Option<T>, cycle: Time) -> Option<f64> {
        self.0.number(value.as_ref()?, cycle)
    }

    fn value_of(&self, number: f64) -> Result<Option<T>, String> {
        self.0.value_of(number).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_units_of_1024() {
        assert_eq!(
            ["7", "4k", "1M", "2G", "4K", "4KiB", "4MiB"].map(parse_count),
            [7, 4096, 1 << 20, 2 << 30, 4096, 4096, 4 << 20].map(Some)
        );
        assert_eq!(
            ["1kB", "3MB", "2GB", "64B", "1e6", "12e0"].map(parse_count),
            [1000, 3_000_000, 2_000_000_000, 64, 1_000_000, 12].map(Some)
        );
        assert_eq!(
            [
                "",
                "k",
                "-1",
                "1.5",
                "4kiB",
                "1us",
                "e3",
                "1e",
                "1e99",
                "99999999999999999999",
                "99999999999999G"
            ]
            .map(parse_count),
            [None; 11]
        );
    }

    #[test]
    fn impossible_values_are_refused_from_text_and_in_a_program() {
        let radix: &dyn OptionKind<u32> = &WholeNumber(1..=16);
        for (number, text) in [(0, "0"), (17, "17"), (4096, "4k")] {
            assert_eq!(radix.read(text), Err("give a whole number from 1 to 16".into()));
            assert_eq!(radix.check(&number), Err("give a whole number from 1 to 16".into()));
        }
        let layout = OneOf(&[("cyclic", 1), ("blocked", 2), ("none", 3)]);
        assert_eq!(layout.read("hybrid"), Err("give cyclic, blocked or none".into()));
        assert_eq!(layout.check(&4), Err("give cyclic, blocked or none".into()));
        assert_eq!(OptionalKind(radix).check(&Some(17)), radix.check(&17));
        assert_eq!((OptionalKind(radix).check(&None), OptionalKind(radix).read("")), (Ok(()), Ok(None)));
    }
}
