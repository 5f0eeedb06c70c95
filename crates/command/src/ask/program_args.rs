//! Programs as subcommands of `run`, `compare`, `sweep`, `tune`, `check` and `timeline`: the help of each shows its
//! own size, algorithms and options.

use clap::error::ErrorKind;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, Subcommand};
use loggp::ClockKind;
use loggp_programs::{OptionValue, Program, ProgramOption};

use super::arguments::command_name;
use super::completion_values;
use super::lookup::{self, capitalized, name_list};
use super::short_help;
use crate::annex::programs;

/// A program's subcommand: the program, its own options, and the arguments that all programs share.
pub struct ProgramArgs<T> {
    pub program: &'static Program,
    /// Values of the program's own options that are given.
    pub values: Vec<OptionValue>,
    /// The arguments that all programs share.
    pub request: T,
}

impl<T> ProgramArgs<T> {
    /// Returns whether a value is given for this option of the program's own.
    pub fn has_value_for(&self, name: &str) -> bool {
        self.values.iter().any(|value| value.option().name() == name)
    }
}

/// Returns the subcommand for a program.
fn subcommand<T: Args>(program: &'static Program, verb: &str) -> Command {
    let size =
        format!("Problem size: {} (4k = 4096) [default: {}]", program.size.meaning, program.size.default);
    let clock = if verb == "compare" { ClockKind::Wall } else { ClockKind::Virtual };
    let command = T::augment_args(Command::new(program.name))
        .about(program.about)
        .before_help(format!("{} {verb} {}: on the {clock} clock by default", command_name(), program.name))
        .mut_arg("size", |argument| argument.help(size))
        .mut_args(|argument| match argument.get_id().as_str() {
            "algorithm" | "algorithms" => argument.value_parser(completion_values::algorithm(program)),
            _ => argument,
        });
    // An option that the command has too is refused when the program is asked for.
    let own = program.options.iter().filter(|option| !has_argument(&command, option.name()));
    let own: Vec<Arg> = own.map(|option| argument(*option)).collect();
    let command = short_help::shorten(command).args(own);
    let algorithms = program.algorithms.iter().map(|algorithm| (algorithm.name, algorithm.about));
    command.after_help(format!("{}\n\n{}", name_list("Algorithms", algorithms), example_lines(program, verb)))
}

/// Returns whether a command has an argument of this name.
fn has_argument(command: &Command, name: &str) -> bool {
    command.get_arguments().any(|argument| argument.get_id() == name)
}

/// Returns two examples for the help of a program.
fn example_lines(program: &Program, verb: &str) -> String {
    let (command, name, first) = (command_name(), program.name, program.algorithms[0].name);
    let over = match verb {
        "sweep" => " --over o=1us,2us",
        "check" => " --runs 10",
        "tune" => " --size 64 -P 4",
        _ => "",
    };
    let how = match verb {
        "check" => "--strategy late-few",
        "tune" => "--all --format json",
        _ => "--clock virtual --format json",
    };
    let P = if verb == "tune" { "" } else { " -P 4" };
    format!(
        "Examples:\n  {command} {verb} {name}{over}\n  {command} {verb} {name} {first}{over} --machine myrinet{P} {how}"
    )
}

/// Returns the argument for an option of a program's own.
fn argument(option: &'static dyn ProgramOption) -> Arg {
    let default = match option.default().text() {
        text if text.is_empty() => text,
        text => format!(" [default: {text}]"),
    };
    Arg::new(option.name())
        .long(option.name())
        .value_name(option.info().placeholder)
        .allow_hyphen_values(true)
        .value_parser(move |text: &str| option.read(text))
        .help(format!("{}{default}", capitalized(option.info().about)))
        .help_heading("Program")
}

impl<T: Args> Subcommand for ProgramArgs<T> {
    fn augment_subcommands(command: Command) -> Command {
        // An unknown name is accepted here, and refused below with the nearest one.
        let command = command.allow_external_subcommands(true).subcommand_value_name("PROGRAM");
        let command = command.disable_help_subcommand(true).subcommand_help_heading("Programs");
        // The options of all programs take milliseconds to build, and only these subcommands need them.
        command.defer(|command| {
            let verb = command.get_name().to_string();
            command.subcommands(programs().iter().map(|program| subcommand::<T>(program, &verb)))
        })
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        ProgramArgs::<T>::augment_subcommands(command)
    }

    fn has_subcommand(_: &str) -> bool {
        true
    }
}

impl<T: Args> FromArgMatches for ProgramArgs<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<ProgramArgs<T>, clap::Error> {
        let refuse = |kind, why: String| clap::Error::raw(kind, format!("{why}\n"));
        let Some((name, matches)) = matches.subcommand() else {
            return Err(refuse(ErrorKind::MissingSubcommand, lookup::no_program()));
        };
        let program = lookup::find_program(name).map_err(|why| refuse(ErrorKind::InvalidSubcommand, why))?;
        let shared = T::augment_args(Command::new(name.to_string()));
        let mut names = program.options.iter().map(|option| option.name());
        if let Some(taken) = names.find(|name| has_argument(&shared, name)) {
            let why = format!(
                "the program {name} has an option --{taken}, and so has the command; give it another name"
            );
            return Err(refuse(ErrorKind::InvalidValue, why));
        }
        let given = |option: &&dyn ProgramOption| matches.get_one::<OptionValue>(option.name()).cloned();
        let given = program.options.iter().filter_map(given).collect();
        Ok(ProgramArgs { program, values: given, request: T::from_arg_matches(matches)? })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = ProgramArgs::from_arg_matches(matches)?;
        Ok(())
    }
}
