//! Words of the command line that stand for others: `P=8 L=6us` for `-P 8 --params L=6us`, `--json` for
//! `--format json`, `help lu` for `run lu --help`.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::Path;

use clap::error::ErrorKind;
use clap::{Arg, Command};
use loggp::params::Parameter;
use loggp_model::text::escaped;

use super::arguments::{self, find_option, takes_next_word};
use super::lookup::find_program;
use crate::annex;

/// Returns the words that clap reads for the words of a command line, the command's name first.
pub fn rewritten(words: &[OsString], definition: &Command) -> Result<Vec<OsString>, clap::Error> {
    let texts: Option<Vec<&str>> = words.iter().map(|word| word.to_str()).collect();
    let Some([command_name, rest @ ..]) = texts.as_deref() else { return Ok(words.to_vec()) };
    let (global, rest) = rest.split_at(global_words(rest));
    let [verb, rest @ ..] = rest else { return Ok(words.to_vec()) };
    let before = || [*command_name].into_iter().chain(global.iter().copied());
    let line = |words: &[&str]| Ok(before().chain(words.iter().copied()).map(OsString::from).collect());
    if let Some(taker) = annex::takes_over(verb, rest) {
        return line(&[&[taker], rest].concat());
    }
    match (*verb, rest) {
        ("version", []) => return line(&["--version"]),
        ("help", [program]) if find_program(program).is_ok() => {
            return line(&["run", program, "--help"]);
        }
        _ => (),
    }
    let Some(command) = definition.find_subcommand(verb).filter(|_| may_stand_for_others(rest)) else {
        return Ok(words.to_vec());
    };
    let mut command = command.clone().bin_name(format!("{} {verb}", arguments::command_name()));
    command.build();
    let mut rest = rest.to_vec();
    let has_no_options =
        command.get_arguments().all(|option| ["help", "quiet", "color"].contains(&option.get_id().as_str()));
    if let Some(place) = rest.iter().position(|word| command.find_subcommand(word).is_some())
        && has_no_options
        && (rest[0].starts_with('-') || is_pair(rest[0]))
    {
        rest[..=place].rotate_right(1); // options may stand before the program
    }
    let mut depth = 0;
    let mut options = &command;
    while let Some(inner) = rest.get(depth).and_then(|word| options.find_subcommand(word)) {
        (options, depth) = (inner, depth + 1);
    }
    let (names, rest) = rest.split_at(depth);
    let read = split_words(rest, options)?;
    let parameters = (!read.parameters.is_empty()).then(|| format!("--params={}", read.parameters.join(",")));
    let words = before().chain([*verb]).chain(names.iter().copied()).map(OsString::from);
    Ok(words
        .chain(parameters.map(OsString::from))
        .chain(read.words.into_iter().map(OsString::from))
        .collect())
}

/// Returns the innermost of the subcommands that words name, in a definition that is built.
pub fn innermost<'c>(definition: &'c Command, words: &[OsString]) -> &'c Command {
    let texts = words.iter().skip(1).filter_map(|word| word.to_str());
    texts.fold(definition, |command, word| command.find_subcommand(word).unwrap_or(command))
}

/// Returns what is meant by an option that other programs have, where the subcommand has something for it.
pub fn hint(typed: &str, options: &Command) -> Option<&'static str> {
    /// Options by which it is asked for elsewhere, the one that a subcommand needs for it, and what to write.
    const HINTS: [(&[&str], &str, &str); 3] = [
        (
            &["--sort", "--order-by"],
            "format",
            "rows keep the order of what was asked; `loggp tune` begins with the fastest, and -o FILE.csv \
             writes a table for a spreadsheet",
        ),
        (&["-n", "-np", "--np"], "processors", "-P 8 is for the processors, and --size 64 for the size"),
        (&["--runs"], "repeat", "--repeat 5 makes five runs of each"),
    ];
    let name = typed.split('=').next()?;
    let is_meant =
        |(typed, needs, _): &&(&[&str], &str, &str)| typed.contains(&name) && has_option(options, needs);
    HINTS.iter().find(is_meant).map(|(_, _, hint)| *hint)
}

/// Returns whether an option is one of the programs of a subcommand, which itself does not have it.
pub fn lacks_program(typed: &str, options: &Command) -> bool {
    let is_of_program =
        |program: &Command| typed.strip_prefix("--").is_some_and(|name| has_option(program, name));
    options.get_subcommand_value_name() == Some("PROGRAM") && options.get_subcommands().any(is_of_program)
}

/// Returns how many words before the subcommand are options of all.
fn global_words(words: &[&str]) -> usize {
    let mut count = 0;
    while let Some(word) = words.get(count) {
        match *word {
            "-q" | "--quiet" => count += 1,
            "--color" => count += 2,
            word if word.starts_with("--color=") => count += 1,
            _ => break,
        }
    }
    count.min(words.len())
}

/// Returns whether words behind the subcommand may stand for others.
fn may_stand_for_others(words: &[&str]) -> bool {
    let stands = |word: &&str| is_pair(word) || *word == "--json" || word.starts_with("--params");
    let is_option = |word: &&str| word.starts_with('-') && !["-h", "--help"].contains(word);
    words.iter().any(stands)
        || words.iter().any(|word| parameter_of_option(word).is_some())
        || words.first().is_some_and(is_option)
}

/// Returns whether a word is a name with its value: `L=6us`.
fn is_pair(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
    })
}

/// The words of a subcommand.
#[derive(Default)]
struct SplitWords {
    /// The parameters, each name once, with the value that comes last.
    parameters: Vec<String>,
    /// The other words.
    words: Vec<String>,
}

impl SplitWords {
    /// Adds the parameters of a text, such as `L=6us, o=2us` or `L=6 o=2`.
    fn add_parameters(&mut self, text: &str, options: &Command) -> Result<(), clap::Error> {
        let has_processors = has_option(options, "processors");
        for part in parts(text) {
            let (name, value) = part.split_once('=').unwrap_or((&part, ""));
            let name = name.trim();
            if name == "P" && has_processors && part.contains('=') {
                self.words.push(format!("--processors={}", value.trim()));
                continue;
            }
            if part.contains('=') && !is_parameter(name) {
                return Err(refusal(&unknown_parameter(name, value.trim(), options), options));
            }
            self.parameters.retain(|other| other.split('=').next() != Some(name));
            self.parameters.push(if part.contains('=') { format!("{name}={}", value.trim()) } else { part });
        }
        Ok(())
    }
}

/// Splits words into parameters and others.
fn split_words(words: &[&str], options: &Command) -> Result<SplitWords, clap::Error> {
    let mut read = SplitWords::default();
    let has_parameters = has_option(options, "params");
    let mut left: VecDeque<&str> = words.iter().copied().collect();
    while let Some(word) = left.pop_front() {
        if word == "--" {
            read.words.push(word.into());
            read.words.extend(left.drain(..).map(String::from));
        } else if word == "--params" && has_parameters && !left.is_empty() {
            let text = left.pop_front().unwrap_or_default();
            read.add_parameters(text, options)?;
        } else if let Some(text) = word.strip_prefix("--params=").filter(|_| has_parameters) {
            read.add_parameters(text, options)?;
        } else if word == "--json" && has_option(options, "format") && !has_option(options, "json") {
            read.words.push("--format=json".into());
        } else if let Some(option) = find_option(options, word) {
            read.words.push(word.into());
            let value = takes_next_word(option, word).then(|| left.pop_front()).flatten();
            read.words.extend(value.map(String::from));
        } else if let Some(parameter) = parameter_of_option(word).filter(|_| has_parameters) {
            let value = left.pop_front().unwrap_or_default();
            return Err(refusal(&dash_before(word, parameter, &escaped(value).to_string()), options));
        } else if is_pair(word)
            && (has_parameters || word.starts_with("P=") && has_option(options, "processors"))
            && !Path::new(word).exists()
        {
            read.add_parameters(word, options)?;
        } else {
            read.words.push(word.into());
            if !word.starts_with('-') && starts_commands(options) {
                read.words.extend(left.drain(..).map(String::from));
            }
        }
    }
    Ok(read)
}

/// Returns whether a subcommand starts another command: what stands behind that one's name is its own.
fn starts_commands(options: &Command) -> bool {
    options.get_positionals().any(Arg::is_trailing_var_arg_set)
}

fn has_option(options: &Command, name: &str) -> bool {
    options.get_arguments().any(|option: &Arg| option.get_long() == Some(name))
}

/// Returns the parts of a text with parameters. A comma begins a part, and so does a blank before `NAME=`.
fn parts(text: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for between_commas in text.split(',') {
        let mut is_first = true;
        for word in between_commas.replace(" =", "=").replace("= ", "=").split_whitespace() {
            match parts.last_mut() {
                Some(last) if !is_first && !word.contains('=') => *last += &format!(" {word}"),
                // `P=4,8` is refused with what takes several.
                Some(last) if is_first && last.starts_with("P=") && !word.contains('=') => {
                    *last += &format!(",{word}");
                }
                _ => parts.push(word.into()),
            }
            is_first = false;
        }
    }
    parts
}

/// Returns the sentence for a name that no parameter has, with what was probably meant.
fn unknown_parameter(name: &str, value: &str, options: &Command) -> String {
    let (shown, value) = (escaped(name), escaped(value));
    let other = Parameter::ALL.iter().find(|parameter| parameter.name.eq_ignore_ascii_case(name));
    match other {
        Some(parameter) => format!("no parameter {shown}; did you mean {}={value}?", parameter.name),
        None if has_option(options, name) => {
            format!("no parameter {shown}; did you mean --{shown} {value}?")
        }
        None => format!("no parameter {shown}; there are {}", Parameter::names()),
    }
}

/// Returns whether a parameter has this name, or is one of a level, such as `L_1`.
fn is_parameter(name: &str) -> bool {
    let of_level = name.rsplit_once('_').filter(|(_, level)| level.parse::<usize>().is_ok());
    Parameter::by_name(name).or_else(|| Parameter::by_name(of_level?.0)).is_some()
}

/// Returns the error with this sentence, with the usage of a subcommand.
fn refusal(sentence: &str, options: &Command) -> clap::Error {
    let error = clap::Error::raw(ErrorKind::InvalidValue, format!("{sentence}\n"));
    error.format(&mut options.clone())
}

/// Returns the parameter that a short option is called as, such as L for `-L` and P for `-p`.
fn parameter_of_option(word: &str) -> Option<&'static str> {
    let name = word.strip_prefix('-').filter(|name| !["P", "o"].contains(name))?;
    let is_like = |parameter: &&Parameter| parameter.name.eq_ignore_ascii_case(name);
    Parameter::by_name(name).or_else(|| Parameter::ALL.iter().find(is_like)).map(|parameter| parameter.name)
}

/// Returns the sentence for a parameter that is given as a short option.
fn dash_before(word: &str, parameter: &str, value: &str) -> String {
    let value = if value.is_empty() { "6" } else { value };
    let or = if parameter == "P" { format!(", or -P {value}") } else { String::new() };
    format!("no option {word}; parameters have no dash: write {parameter}={value}{or}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> String {
        let words: Vec<OsString> = text.split('|').map(OsString::from).collect();
        match rewritten(&words, &crate::definition()) {
            Ok(words) => words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join("|"),
            Err(error) => error.to_string().lines().next().unwrap_or_default().into(),
        }
    }

    #[test]
    fn arguments_with_a_value_are_parameters() {
        for (given, read) in [
            (
                "loggp|run|broadcast|P=8|L=6|o=2|g=4",
                "loggp|run|broadcast|--params=L=6,o=2,g=4|--processors=8",
            ),
            ("loggp|run|broadcast|--params|L=6 o=2", "loggp|run|broadcast|--params=L=6,o=2"),
            ("loggp|run|broadcast|--params=L = 6 us,L=7|L=8", "loggp|run|broadcast|--params=L=8"),
            ("loggp|run|-P|4|broadcast|flat", "loggp|run|broadcast|-P|4|flat"),
            ("loggp|run|broadcast|--trace|L=6|L=5", "loggp|run|broadcast|--params=L=5|--trace|L=6"),
            (
                "loggp|sweep|rtt|--over|L=1us..2us:2|o=1us",
                "loggp|sweep|rtt|--params=o=1us|--over|L=1us..2us:2",
            ),
            ("loggp|schedule|ring|P=4", "loggp|schedule|ring|--processors=4"),
            (
                "loggp|tune|collective|bcast|P=4|L=1",
                "loggp|tune|collective|--params=L=1|bcast|--processors=4",
            ),
            ("loggp|run|lu|--json|l=6", "error: no parameter l; did you mean L=6?"),
            ("loggp|run|lu|size=64", "error: no parameter size; did you mean --size 64?"),
            ("loggp|run|lu|--json", "loggp|run|lu|--format=json"),
            ("loggp|run|lu|-L|6", "error: no option -L; parameters have no dash: write L=6"),
            ("loggp|run|lu|-p|4", "error: no option -p; parameters have no dash: write P=4, or -P 4"),
            ("loggp|programs|-l", "loggp|programs|-l"),
            ("loggp|-q|--color|never|run|lu|P=4", "loggp|-q|--color|never|run|lu|--processors=4"),
            ("loggp|run|-q|lu|P=4", "loggp|run|lu|-q|--processors=4"),
            ("loggp|help|lu", "loggp|run|lu|--help"),
            ("loggp|version", "loggp|--version"),
            ("loggp|audit|a=b", "loggp|audit|a=b"),
        ] {
            assert_eq!(line(given), read, "{given}");
        }
    }
}
