//! Each program is a subcommand of `run`, `compare` and `sweep`: its help shows its size, its algorithms and its options, and
//! no other's.

use clap::error::ErrorKind;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, Subcommand};
use loggp::ClockKind;
use loggp_programs::{PROGRAMS, Program, ProgramOption, Value};

use super::known;
use super::name::{self, width};

/// A program, and what is to be done with it.
pub struct OfProgram<T> {
    /// The program.
    pub program: &'static Program,
    /// The values of its options that were given.
    pub given: Vec<Value>,
    /// What is to be done with it, and how.
    pub request: T,
}

impl<T> OfProgram<T> {
    /// Whether a value was given for this option.
    pub fn gives(&self, name: &str) -> bool {
        self.given.iter().any(|value| value.option().name() == name)
    }
}

/// Says who has this option, if a program has it.
pub fn owners(option: &str) -> Option<String> {
    let name = option.strip_prefix("--")?;
    let has = |program: &&&Program| program.option(name).is_some();
    let owners: Vec<&str> = PROGRAMS.iter().filter(has).map(|program| program.name).collect();
    (!owners.is_empty()).then(|| format!("{option} is for {}; leave it out", owners.join(" and ")))
}

/// The subcommand for a program.
fn subcommand<T: Args>(program: &'static Program, verb: &str) -> Command {
    let size =
        format!("How much of it: {}; 4k is 4096 [default: {}]", program.size.meaning, program.size.default);
    let clock = if verb == "compare" { ClockKind::Wall } else { ClockKind::Virtual };
    let command = T::augment_args(Command::new(program.name))
        .about(program.about)
        .before_help(format!("loggp {verb} {}: on the {clock} clock, unless told", program.name))
        .mut_arg("size", |argument| argument.help(size))
        .mut_args(|argument| match argument.get_id().as_str() {
            "algorithm" | "algorithms" => argument.value_parser(known::algorithm(program)),
            _ => argument,
        })
        .args(program.options.iter().map(|option| argument(*option)));
    command.after_help(format!("Algorithms:\n{}\n\n{}", algorithms(program), examples(program, verb)))
}

/// A program's algorithms, a line each.
fn algorithms(program: &Program) -> String {
    let width = width(program.algorithms.iter().map(|algorithm| algorithm.name));
    let lines = program
        .algorithms
        .iter()
        .map(|algorithm| format!("  {:width$}  {}", algorithm.name, algorithm.about));
    lines.collect::<Vec<_>>().join("\n")
}

/// Two requests that can be made of a program.
fn examples(program: &Program, verb: &str) -> String {
    let (name, first) = (program.name, program.algorithms[0].name);
    let over = match verb {
        "sweep" => " --over o=1us,2us",
        "check" => " --runs 10",
        _ => "",
    };
    let how = if verb == "check" { "--strategy late-few" } else { "--clock virtual --format json" };
    format!(
        "Examples:\n  loggp {verb} {name}{over}\n  loggp {verb} {name} {first}{over} --machine myrinet -P 4 {how}"
    )
}

/// A sentence that begins with a capital.
fn capital(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// An option of a program.
fn argument(option: &'static dyn ProgramOption) -> Arg {
    let default = match option.default().text() {
        text if text.is_empty() => text,
        text => format!(" [default: {text}]"),
    };
    Arg::new(option.name())
        .long(option.name())
        .value_name(option.placeholder())
        .allow_hyphen_values(true)
        .value_parser(move |text: &str| option.read(text))
        .help(format!("{}{default}", capital(option.about())))
        .help_heading("Program")
}

impl<T: Args> Subcommand for OfProgram<T> {
    fn augment_subcommands(command: Command) -> Command {
        // Another name is looked for too, so that it can be refused with the nearest one.
        let command = command.allow_external_subcommands(true).subcommand_value_name("PROGRAM");
        let command = command.disable_help_subcommand(true).subcommand_help_heading("Programs");
        // All programs' options take milliseconds to put together, and only these requests need them.
        command.defer(|command| {
            let verb = command.get_name().to_string();
            command.subcommands(PROGRAMS.iter().map(|program| subcommand::<T>(program, &verb)))
        })
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        OfProgram::<T>::augment_subcommands(command)
    }

    fn has_subcommand(_: &str) -> bool {
        true
    }
}

impl<T: Args> FromArgMatches for OfProgram<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<OfProgram<T>, clap::Error> {
        let refuse = |kind, why: String| clap::Error::raw(kind, format!("{why}\n"));
        let Some((name, matches)) = matches.subcommand() else {
            return Err(refuse(
                ErrorKind::MissingSubcommand,
                "there is no program named; `loggp programs` lists all".into(),
            ));
        };
        let program = name::program(name).map_err(|why| refuse(ErrorKind::InvalidSubcommand, why))?;
        let given = |option: &&dyn ProgramOption| matches.get_one::<Value>(option.name()).cloned();
        let given = program.options.iter().filter_map(given).collect();
        Ok(OfProgram { program, given, request: T::from_arg_matches(matches)? })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = OfProgram::from_arg_matches(matches)?;
        Ok(())
    }
}
