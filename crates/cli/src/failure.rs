//! How a request can end other than well.

use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind as Kind};
use loggp::{near, outside};
use loggp_study::Failed;

use super::own;
use super::renamed;

/// Why a request was not done, or not done well.
#[derive(Debug)]
pub enum Failure {
    /// The request was wrong: one sentence says what, and what would be right.
    Request(String),
    /// The run failed, or its result was wrong.
    Run(String),
    /// The command line could not be read, or asked for help.
    CommandLine(clap::Error),
    /// Nobody reads the output any more, as after `| head`.
    NobodyReads,
}

impl Failure {
    /// A wrong request.
    pub fn request(sentence: impl ToString) -> Failure {
        Failure::Request(sentence.to_string())
    }

    /// A failed run.
    pub fn run(error: impl ToString) -> Failure {
        Failure::Run(error.to_string())
    }

    /// What there is to say of a request or a run.
    pub fn sentence(self) -> Option<String> {
        match self {
            Failure::Request(why) | Failure::Run(why) => Some(why),
            _ => None,
        }
    }

    /// Says on stderr why parts of a request are left out.
    pub fn warn_of(all: Vec<Failure>) {
        together(all.into_iter().filter_map(Failure::sentence))
            .into_iter()
            .for_each(|why| Failure::Run(why).warn());
    }

    /// Says on stderr why a part of a request is left out.
    pub fn warn(self) {
        if let Some(why) = self.sentence() {
            drop(say("left out: ", &why));
        }
    }

    /// Says why on stderr, and gives the exit status. Help goes to stdout.
    pub fn tell(self) -> ExitCode {
        if let Failure::CommandLine(error) = &self
            && !error.use_stderr()
        {
            return match error.print().and_then(|()| io::stdout().flush()) {
                Err(why) => Failure::from(why).tell(),
                Ok(()) => ExitCode::SUCCESS,
            };
        }
        // There is nowhere to say that stderr cannot be written to.
        let (told, status) = match &self {
            Failure::Request(sentence) => (say("error: ", sentence), 2),
            Failure::Run(error) => (say("error: ", error), 1),
            Failure::CommandLine(error) => match sentence(error) {
                Some(sentence) => (say("", &sentence), 2),
                None => (error.print(), 2),
            },
            Failure::NobodyReads => (Ok(()), 0),
        };
        drop(told);
        ExitCode::from(status)
    }
}

/// Writes lines to stderr. A path or an argument may stand in them, and is nothing that a terminal shall obey.
fn say(begin: &str, lines: &str) -> io::Result<()> {
    let lines = lines.split('\n').map(|line| outside(line).most(usize::MAX).to_string());
    writeln!(io::stderr(), "{begin}{}", lines.collect::<Vec<_>>().join("\n"))
}

/// The same sentences, each reason once: those that differ only in whom they are about become one about all of them. Whom a sentence
/// is about stands before its colon.
pub fn together(sentences: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut reasons: Vec<(String, Vec<String>)> = Vec::new();
    for sentence in sentences {
        let (whom, why) = sentence.split_once(": ").unwrap_or(("", &sentence));
        match reasons.iter_mut().find(|(reason, _)| reason == why) {
            Some((_, all)) if all.iter().any(|other| other == whom) => (),
            Some((_, all)) => all.push(whom.into()),
            None => reasons.push((why.into(), vec![whom.into()])),
        }
    }
    let said = |(why, all): (String, Vec<String>)| match named(&all) {
        whom if whom.is_empty() => why,
        whom => format!("{whom}: {why}"),
    };
    reasons.into_iter().map(said).collect()
}

/// All of these, with the words that each begins with, and those that each ends with, only once.
fn named(all: &[String]) -> String {
    let words: Vec<Vec<&str>> = all.iter().map(|one| one.split(' ').collect()).collect();
    let least = words.iter().map(Vec::len).min().unwrap_or(0).saturating_sub(1);
    let alike = |most: usize, word: &dyn Fn(&[&str], usize) -> String| {
        (0..most).take_while(|n| words.iter().all(|one| word(one, *n) == word(&words[0], *n))).count()
    };
    let before = alike(least, &|one, n| one[n].into());
    let behind = alike(least - before, &|one, n| one[one.len() - 1 - n].into());
    let own = |one: &Vec<&str>| one[before..one.len() - behind].join(" ");
    let (first, last) = (&words[0][..before], &words[0][words[0].len() - behind..]);
    let middle = words.iter().map(own).collect::<Vec<_>>().join(", ");
    [first.join(" "), middle, last.join(" ")]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

impl From<clap::Error> for Failure {
    fn from(error: clap::Error) -> Failure {
        Failure::CommandLine(error)
    }
}

impl From<Failed> for Failure {
    fn from(failed: Failed) -> Failure {
        match failed {
            Failed::Refused(why) => Failure::request(why),
            failed => Failure::run(failed),
        }
    }
}

/// The output could not be written.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        match error.kind() {
            ErrorKind::BrokenPipe => Failure::NobodyReads,
            _ => Failure::Run(format!("the output cannot be written: {error}")),
        }
    }
}

/// What is wrong with a command line, on one line and without the usage; nothing if it asked for help.
fn sentence(error: &clap::Error) -> Option<String> {
    if matches!(error.kind(), Kind::DisplayHelp | Kind::DisplayVersion)
        || error.kind() == Kind::DisplayHelpOnMissingArgumentOrSubcommand
    {
        return None;
    }
    if error.kind() == Kind::UnknownArgument
        && let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg)
        && let Some(now) = renamed::now(option).or_else(|| own::owners(option))
    {
        return Some(format!("error: {now}"));
    }
    if error.kind() == Kind::InvalidSubcommand
        && let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidSubcommand)
    {
        let command = super::command();
        let near = near(typed, command.get_subcommands().map(clap::Command::get_name));
        return Some(format!("error: there is no subcommand {typed}; {near}`loggp --help` lists all"));
    }
    if error.kind() == Kind::ArgumentConflict
        && let Some(prior) = error.get(ContextKind::PriorArg)
        && prior.to_string().contains("<TRACE|PROGRAM>")
    {
        return Some(
            "error: give one trace, or one program; --beside FILE shows another trace below it".into(),
        );
    }
    let text = error.to_string();
    let wanted = |part: &&str| !["Usage:", "For more", "tip: to pass"].iter().any(|no| part.starts_with(no));
    let parts = text.split("\n\n").map(str::trim).filter(wanted);
    let parts = parts.map(|part| part.split_whitespace().collect::<Vec<_>>().join(" "));
    Some(parts.collect::<Vec<_>>().join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_said_once_with_those_whom_it_is_about() {
        let said = |sentences: &[&str]| together(sentences.iter().map(ToString::to_string));
        assert_eq!(
            said(&[
                "fft long: it is odd",
                "fft short: it is odd",
                "fft short: it is small",
                "fft both: it is odd"
            ]),
            ["fft long, short, both: it is odd", "fft short: it is small"]
        );
        assert_eq!(said(&["a at P = 3 failed: no", "b at P = 3 failed: no"]), ["a, b at P = 3 failed: no"]);
        assert_eq!(said(&["at P = 3, P is odd", "at P = 3, P is odd"]), ["at P = 3, P is odd"]);
        assert_eq!(said(&["a: no", "a: no", "a b: no"]), ["a, a b: no"]);
        assert_eq!(said(&[]), [""; 0]);
    }
}
