//! Settings as text: each is written and read by the names that the command has for its values. A call of `names!` gives
//! a setting its names. And the nearest name, where a name names nothing, and how what comes from outside is shown.

use std::fmt;

/// Writes and reads a setting: first the names of its plain values, then the names of the values that have a seed.
macro_rules! names {
    ($type:ident: $($name:literal $value:ident)+ $(; $by_seed:literal $drawn:ident)*) => {
        #[doc = concat!("By name: ", $("`", $name, "` ",)+ $("`", $by_seed, ":7` ",)* "as [`FromStr`](std::str::FromStr) reads it.")]
        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self {
                    $($type::$value => f.pad($name),)+
                    $($type::$drawn { seed } => f.pad(&format!(concat!($by_seed, ":{}"), seed)),)*
                }
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::params::ParamsError;

            fn from_str(text: &str) -> Result<$type, Self::Err> {
                let (name, seed) = text.split_once(':').map_or((text, None), |(name, seed)| (name, Some(seed)));
                match (name, seed.map(str::parse::<u64>)) {
                    $(($name, None) => Ok($type::$value),)+
                    $(($by_seed, Some(Ok(seed))) => Ok($type::$drawn { seed }),)*
                    _ => {
                        let names = [$($name,)+ $(concat!($by_seed, ":SEED"),)*];
                        Err(Self::Err::new($crate::text::unknown(text, &names)))
                    }
                }
            }
        }
    };
}

pub(crate) use names;

/// What comes from outside, as in an error: see [`outside`].
#[derive(Clone, Copy)]
pub struct Outside<'a> {
    text: &'a str,
    most: usize,
}

/// Shows what comes from outside in an error, such as a name that a file has: what a terminal would obey is escaped, and after 80
/// characters stands how many more there are. `{:?}` puts it into quotes.
///
/// ```
/// assert_eq!(loggp::outside("a\u{1b}[2J").to_string(), "a\\u{1b}[2J");
/// assert!(format!("{:?}", loggp::outside(&"x".repeat(100))).ends_with("xx\" and 20 characters more"));
/// ```
pub fn outside(text: &str) -> Outside<'_> {
    Outside { text, most: 80 }
}

impl Outside<'_> {
    /// Shows up to so many characters: of a sentence in which others quote something.
    #[must_use]
    pub fn most(self, most: usize) -> Self {
        Outside { most, ..self }
    }

    /// Writes it, and what stands behind its beginning.
    fn write(&self, f: &mut fmt::Formatter<'_>, quote: &str) -> fmt::Result {
        f.write_str(quote)?;
        let mut rest = self.text.chars();
        let mut written = 0;
        while let Some(character) = rest.clone().next() {
            let shown = match character {
                '\'' | '\\' => character.to_string(),
                '"' if quote.is_empty() => character.to_string(),
                _ => character.escape_debug().to_string(),
            };
            written += shown.chars().count();
            if written > self.most {
                break;
            }
            f.write_str(&shown)?;
            rest.next();
        }
        f.write_str(quote)?;
        match rest.count() {
            0 => Ok(()),
            more => write!(f, " and {more} characters more"),
        }
    }
}

impl fmt::Display for Outside<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, "")
    }
}

impl fmt::Debug for Outside<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, "\"")
    }
}

/// The refusal of a name that no value has.
pub(crate) fn unknown(text: &str, names: &[&str]) -> String {
    let (last, others) = names.split_last().expect("a setting has values");
    let text = outside(text);
    format!("there is no {text}; give {} or {last}", others.join(", "))
}

/// Names the name that was most likely meant, if one is near, as a part of a sentence.
pub fn near<'a>(typed: &str, names: impl Iterator<Item = &'a str>) -> String {
    let typed = typed.to_lowercase();
    // Who types a part of a name means a name with that part.
    let distance = |name: &&str| (!name.contains(&typed), strsim::osa_distance(&typed, name));
    let nearest = names.map(|name| (distance(&name), name)).min();
    match nearest {
        Some(((is_other, distance), name))
            if !typed.is_empty() && (!is_other || 2 * distance <= typed.len()) =>
        {
            format!("the nearest name is {name}; ")
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::fmt;
    use std::str::FromStr;

    use super::near;
    use crate::clock::ClockKind;
    use crate::clock::wall::carrier::Carrier;
    use crate::clock::wall::dilation::Dilation;
    use crate::params::{Latency, Model, ParamsError, Ports, Ties};
    use crate::proc::Work;
    use crate::schedule::Rules;

    #[test]
    fn what_is_written_is_read() {
        fn check<T: FromStr<Err = ParamsError> + fmt::Display>(names: &[&str], refusal: &str) {
            for name in names {
                assert_eq!(name.parse::<T>().unwrap().to_string(), *name);
            }
            for wrong in ["", "rand", "random", "random:", "random:-1", "exactly", "exact:1", "wall:7", "-1"]
            {
                let refused = wrong.parse::<T>().err().unwrap().to_string();
                assert!(refused.ends_with(refusal), "{wrong}: {refused}");
            }
        }
        check::<Carrier>(&["thread", "coroutine"], "; give thread or coroutine");
        check::<ClockKind>(&["virtual", "wall"], "; give virtual or wall");
        check::<Dilation>(&["auto", "0.5", "20"], "give auto, or a number above 0");
        check::<Latency>(
            &["exact", "random:7", "exponential:8"],
            "give exact, random:SEED or exponential:SEED",
        );
        check::<Model>(&["loggps", "loggp-1", "loggp-2"], "give loggps, loggp-1 or loggp-2");
        check::<Ports>(&["single", "dual"], "; give single or dual");
        check::<Rules>(&["papers", "loggopsim"], "; give papers or loggopsim");
        check::<Ties>(&["number", "rotation", "random:7"], "give number, rotation or random:SEED");
        check::<Work>(&["measured", "charged"], "; give measured or charged");
    }

    #[test]
    fn takes_a_part_of_a_name_or_a_slip_of_the_finger() {
        let names = ["broadcast", "scatter", "optimal", "binomial"];
        for (typed, meant) in [("scater", "scatter"), ("Broad", "broadcast"), ("bionmial", "binomial")] {
            assert_eq!(near(typed, names.into_iter()), format!("the nearest name is {meant}; "));
        }
        assert!(["nosuch", ""].iter().all(|typed| near(typed, names.into_iter()).is_empty()));
    }
}
