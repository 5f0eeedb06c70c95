//! How much the command says, and in which colours: `--quiet` and `--color`.

use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::{ColorChoice, ValueEnum};

static IS_QUIET: AtomicBool = AtomicBool::new(false);
static COLOR: OnceLock<ColorChoice> = OnceLock::new();

/// Leaves out headings, notes and progress from now on, if `quiet`.
pub fn set_quiet(quiet: bool) {
    IS_QUIET.store(quiet, Ordering::Relaxed);
}

/// Returns whether only results are printed.
pub fn is_quiet() -> bool {
    IS_QUIET.load(Ordering::Relaxed)
}

/// Finds `--color` in the words of a command line, whose own errors have colours too.
pub fn set_color(words: &[OsString]) {
    let words: Vec<&str> = words.iter().filter_map(|word| word.to_str()).collect();
    let given = words.iter().copied().take_while(|word| *word != "--").enumerate();
    let last = given.filter_map(|(place, word)| match word {
        "--color" => words.get(place + 1).copied(),
        word => word.strip_prefix("--color="),
    });
    let last = last.last();
    let choice = last.and_then(|choice| ColorChoice::from_str(choice, false).ok());
    COLOR.get_or_init(|| choice.unwrap_or_default());
}

/// Returns when messages have colours.
pub fn color() -> ColorChoice {
    COLOR.get().copied().unwrap_or_default()
}

/// Returns the beginning of a message for stderr, in its colour: red for an error, and yellow for others.
pub fn colored(begin: &str) -> String {
    let is_unset = |name| std::env::var_os(name).is_none_or(|value| value.is_empty());
    let has_color = match color() {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => {
            let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
            io::stderr().is_terminal() && is_unset("NO_COLOR") && !is_dumb
        }
    };
    match begin.trim_end() {
        word if has_color && !word.is_empty() => {
            let color = if word == "error:" { 31 } else { 33 };
            format!("\u{1b}[1;{color}m{word}\u{1b}[0m ")
        }
        _ => begin.into(),
    }
}
