//! What kinds of values options have: numbers, names, and what is written in a way of its own.

use std::fmt;
use std::ops::RangeInclusive;

use loggp::Time;

/// Which values an option can have, and how they are written.
pub trait Kind<T>: fmt::Debug + Sync {
    /// Reads a value. Refuses what is none, or none that can be, in a sentence that says which can.
    fn read(&self, text: &str) -> Result<T, String>;

    /// A value, so that it can be read again; nothing for one that says nothing.
    fn write(&self, value: &T) -> String;

    /// Refuses a value that cannot be, as reading it does.
    fn check(&self, value: &T) -> Result<(), String> {
        self.read(&self.write(value)).map(drop)
    }

    /// Whether the values are times.
    fn is_time(&self) -> bool {
        false
    }

    /// A value as a number, of picoseconds if it is a time: who can be one can be swept over.
    fn number(&self, value: &T, _cycle: Time) -> Option<f64> {
        self.write(value).parse().ok()
    }

    /// The value that is this number.
    fn at(&self, number: f64) -> Result<T, String> {
        self.read(&number.to_string())
    }
}

/// Numbers, of which some can be.
#[derive(Debug)]
pub struct Number {
    /// Which can be.
    pub can_be: fn(f64) -> bool,
    /// Asks for one that can be.
    pub refusal: &'static str,
}

impl Kind<f64> for Number {
    fn read(&self, text: &str) -> Result<f64, String> {
        text.parse().ok().filter(|number| (self.can_be)(*number)).ok_or_else(|| self.refusal.into())
    }

    fn write(&self, value: &f64) -> String {
        value.to_string()
    }
}

/// Whole numbers from one to another.
#[derive(Debug)]
pub struct Whole(pub RangeInclusive<usize>);

impl<T: TryFrom<usize> + fmt::Display> Kind<T> for Whole {
    fn read(&self, text: &str) -> Result<T, String> {
        let (least, most) = (self.0.start(), self.0.end());
        let number = count(text).filter(|number| self.0.contains(number));
        number.and_then(|number| number.try_into().ok()).ok_or_else(|| match *most {
            usize::MAX => format!("give a whole number of at least {least}"),
            most => format!("give a whole number from {least} to {most}"),
        })
    }

    fn write(&self, value: &T) -> String {
        value.to_string()
    }
}

/// Reads a number of things: 4096, or 4k; k is 1024, M that many k, and G that many M.
pub fn count(text: &str) -> Option<usize> {
    let unit = match text.chars().last()? {
        'k' => 1 << 10,
        'M' => 1 << 20,
        'G' => 1 << 30,
        _ => 1,
    };
    let digits = if unit == 1 { text } else { &text[..text.len() - 1] };
    digits.parse::<usize>().ok()?.checked_mul(unit)
}

/// Things with names, and nothing else.
#[derive(Debug)]
pub struct OneOf<T: 'static>(pub &'static [(&'static str, T)]);

impl<T: Clone + PartialEq + fmt::Debug + Sync> Kind<T> for OneOf<T> {
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

/// What is read and written in a way of its own.
#[derive(Debug)]
pub struct Written<T> {
    /// Reads it, or says what can be.
    pub read: fn(&str) -> Result<T, String>,
    /// Writes it, so that it can be read again.
    pub write: fn(&T) -> String,
}

impl<T: fmt::Debug> Kind<T> for Written<T> {
    fn read(&self, text: &str) -> Result<T, String> {
        (self.read)(text)
    }

    fn write(&self, value: &T) -> String {
        (self.write)(value)
    }
}

/// What may be left out.
#[derive(Debug)]
pub struct Perhaps<T: 'static>(pub &'static dyn Kind<T>);

impl<T: fmt::Debug> Kind<Option<T>> for Perhaps<T> {
    fn read(&self, text: &str) -> Result<Option<T>, String> {
        if text.is_empty() { Ok(None) } else { self.0.read(text).map(Some) }
    }

    fn write(&self, value: &Option<T>) -> String {
        value.as_ref().map(|value| self.0.write(value)).unwrap_or_default()
    }

    fn check(&self, value: &Option<T>) -> Result<(), String> {
        value.as_ref().map_or(Ok(()), |value| self.0.check(value))
    }

    fn is_time(&self) -> bool {
        self.0.is_time()
    }

    fn number(&self, value: &Option<T>, cycle: Time) -> Option<f64> {
        self.0.number(value.as_ref()?, cycle)
    }

    fn at(&self, number: f64) -> Result<Option<T>, String> {
        self.0.at(number).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_things_count_by_1024() {
        assert_eq!(["7", "4k", "1M", "2G"].map(count), [Some(7), Some(4096), Some(1 << 20), Some(2 << 30)]);
        assert_eq!(
            ["", "k", "-1", "1.5", "4K", "99999999999999999999", "99999999999999G"].map(count),
            [None; 7]
        );
    }

    #[test]
    fn what_cannot_be_is_refused_from_text_and_in_a_program() {
        let radix: &dyn Kind<u32> = &Whole(1..=16);
        for (number, text) in [(0, "0"), (17, "17"), (4096, "4k")] {
            assert_eq!(radix.read(text), Err("give a whole number from 1 to 16".into()));
            assert_eq!(radix.check(&number), Err("give a whole number from 1 to 16".into()));
        }
        let layout = OneOf(&[("cyclic", 1), ("blocked", 2), ("none", 3)]);
        assert_eq!(layout.read("hybrid"), Err("give cyclic, blocked or none".into()));
        assert_eq!(layout.check(&4), Err("give cyclic, blocked or none".into()));
        assert_eq!(Perhaps(radix).check(&Some(17)), radix.check(&17));
        assert_eq!((Perhaps(radix).check(&None), Perhaps(radix).read("")), (Ok(()), Ok(None)));
    }
}
