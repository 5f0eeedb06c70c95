//! The words of the command line, and other command lines that are made of them.

use std::env;
use std::ffi::OsString;
use std::mem::take;
use std::path::Path;
use std::sync::OnceLock;

use clap::{Arg, Command};

use crate::annex::has_own_programs;

static WORDS: OnceLock<Vec<OsString>> = OnceLock::new();

/// Sets the words of the command line, the command's name first, and returns them.
pub fn set(words: impl IntoIterator<Item = OsString>) -> &'static [OsString] {
    WORDS.get_or_init(|| words.into_iter().collect())
}

/// Returns the words behind the command's name.
pub fn words() -> impl Iterator<Item = String> {
    WORDS.get().into_iter().flatten().skip(1).map(|word| word.to_string_lossy().into_owned())
}

/// Returns the words by which a user calls this command: `loggp`, or one's own where it has programs of one's own.
pub fn command_name() -> String {
    match env::var_os("CARGO") {
        _ if !has_own_programs() => "loggp".into(),
        Some(_) => "cargo run --".into(), // it was called so
        None => binary_name(),
    }
}

/// Returns the name of the command's file.
pub fn binary_name() -> String {
    let file = WORDS.get().and_then(|words| Path::new(words.first()?).file_stem());
    match file.filter(|_| has_own_programs()) {
        Some(file) => file.to_string_lossy().into_owned(),
        None => "loggp".into(),
    }
}

/// Returns the option of a subcommand that a word gives.
pub fn find_option<'c>(options: &'c Command, word: &str) -> Option<&'c Arg> {
    let name = word.split_once('=').map_or(word, |(name, _)| name);
    let is_it = |option: &&Arg| match name.strip_prefix("--") {
        Some(long) => option.get_long() == Some(long),
        None => option
            .get_short()
            .is_some_and(|short| word.strip_prefix('-').is_some_and(|word| word.starts_with(short))),
    };
    options.get_arguments().find(is_it)
}

/// Returns whether the value of an option is the word behind the one that gives it.
pub fn takes_next_word(option: &Arg, word: &str) -> bool {
    let has_value = if word.starts_with("--") { word.contains('=') } else { word.chars().count() > 2 };
    option.get_action().takes_values() && !has_value
}

/// Returns the words of a command line without these options and without those that are `unwanted` and no
/// value of an option, each after a space and as a shell takes it.
pub fn without_options(
    arguments: impl Iterator<Item = String>,
    options: &Command,
    unwanted: impl Fn(&str) -> bool,
) -> String {
    let (mut kept, mut is_dropped, mut is_value) = (String::new(), false, false);
    for word in arguments {
        if take(&mut is_dropped) {
            continue;
        }
        let was_value = take(&mut is_value);
        match find_option(options, &word) {
            Some(option) if !was_value => {
                is_dropped = takes_next_word(option, &word);
            }
            _ if !was_value && !word.starts_with('-') && unwanted(&word) => (),
            _ => {
                // The value of an option may be called as something unwanted is.
                is_value = !was_value
                    && word.starts_with('-')
                    && !word.contains('=')
                    && (word.starts_with("--") || word.chars().count() == 2);
                kept += &format!(" {}", quoted(&word));
            }
        }
    }
    kept
}

/// Returns a word as a shell takes it.
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_=+.,/:@%^".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.into(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_go_with_their_values() {
        let options = Command::new("tune")
            .arg(Arg::new("all").long("all").action(clap::ArgAction::SetTrue))
            .arg(Arg::new("output").long("output").short('o'));
        let kept =
            |line: &str| without_options(line.split(' ').map(String::from), &options, |word| word == "lu");
        assert_eq!(kept("lu --all -P 4 -o lu --output=x --size 8"), " -P 4 --size 8");
        assert_eq!(kept("lu -ox --machine lu -P4 --output lu"), " --machine lu -P4");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted("L=6us,o=2us"), "L=6us,o=2us");
    }
}
