//! Settings as text, by the command's names for their values; suggestions for unknown names; and the escaping
//! of text from outside in errors.

use std::fmt;

/// Implements `Display` and `FromStr` for a setting, from the names of its plain values and then those of its
/// values with a seed.
#[macro_export]
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
                        Err(Self::Err::new($crate::text::unknown_name(text, &names)))
                    }
                }
            }
        }
    };
}

pub use names;

/// Text from outside, escaped and cut for an error: see [`escaped`].
#[derive(Clone, Copy)]
pub struct EscapedText<'a> {
    text: &'a str,
    most: usize,
}

/// Returns a display of text from outside, such as a name from a file, for an error: control characters are
/// escaped, and after 80 characters only the number of the others is written. `{:?}` puts it in quotes.
///
/// ```
/// assert_eq!(loggp_model::text::escaped("a\u{1b}[2J").to_string(), "a\\u{1b}[2J");
/// assert!(format!("{:?}", loggp_model::text::escaped(&"x".repeat(100))).ends_with("xx\" and 20 characters more"));
/// ```
pub fn escaped(text: &str) -> EscapedText<'_> {
    EscapedText { text, most: 80 }
}

impl EscapedText<'_> {
    /// Sets the number of characters that are shown, for a sentence that quotes other text.
    #[must_use]
    pub fn max_chars(self, most: usize) -> Self {
        EscapedText { most, ..self }
    }

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

impl fmt::Display for EscapedText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, "")
    }
}

impl fmt::Debug for EscapedText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, "\"")
    }
}

/// Returns the refusal of a name that no value has.
#[doc(hidden)] // of the macro
pub fn unknown_name(text: &str, names: &[&str]) -> String {
    let (last, others) = names.split_last().expect("a setting has values");
    let text = escaped(text);
    format!("there is no {text}; give {} or {last}", others.join(", "))
}

/// Returns the name of a type without the modules in it: `Vec<String>`.
pub fn short_type(name: &str) -> String {
    let is_end = |c: char| !(c.is_alphanumeric() || c == '_' || c == ':');
    name.split_inclusive(is_end).map(|part| part.rsplit("::").next().unwrap_or(part)).collect()
}

/// Returns the name that was probably meant, as part of a sentence, or nothing if none is similar.
pub fn nearest_name<'a>(typed: &str, names: impl Iterator<Item = &'a str>) -> String {
    let typed = typed.to_ascii_lowercase();
    // Part of a name most likely means a name that contains it.
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
    use super::{nearest_name, short_type};

    #[test]
    fn short_types_have_no_modules() {
        for (long, short) in [
            ("alloc::vec::Vec<alloc::string::String>", "Vec<String>"),
            ("(f64, [my_crate::Key; 3])", "(f64, [Key; 3])"),
            ("u32", "u32"),
        ] {
            assert_eq!(short_type(long), short);
        }
    }

    #[test]
    fn nearest_name_corrects_parts_and_typos() {
        let names = ["broadcast", "scatter", "optimal", "binomial"];
        for (typed, meant) in [("scater", "scatter"), ("Broad", "broadcast"), ("bionmial", "binomial")] {
            assert_eq!(nearest_name(typed, names.into_iter()), format!("the nearest name is {meant}; "));
        }
        assert!(["nosuch", ""].iter().all(|typed| nearest_name(typed, names.into_iter()).is_empty()));
    }
}
