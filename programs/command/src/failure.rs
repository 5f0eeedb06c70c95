//! How a request can end other than well.

use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind as Kind};
use loggp::near;
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

    /// Says on stderr why a part of a request is left out.
    pub fn warn(self) {
        if let Some(why) = self.sentence() {
            drop(writeln!(io::stderr(), "left out: {why}"));
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
            Failure::Request(sentence) => (writeln!(io::stderr(), "error: {sentence}"), 2),
            Failure::Run(error) => (writeln!(io::stderr(), "error: {error}"), 1),
            Failure::CommandLine(error) => match sentence(error) {
                Some(sentence) => (writeln!(io::stderr(), "{sentence}"), 2),
                None => (error.print(), 2),
            },
            Failure::NobodyReads => (Ok(()), 0),
        };
        drop(told);
        ExitCode::from(status)
    }
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
