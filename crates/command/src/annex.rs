//! The doors of the command: for subcommands, for inputs, for programs and for libraries of collectives, each a trait or a type. An annex brings some of each, and
//! [`main_with`](crate::main_with) takes annexes.

use std::ffi::OsString;
use std::io::Write;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use clap::{ArgMatches, Args, Command, FromArgMatches};
use loggp::Time;
use loggp::link::Link;
use loggp_goal::patterns::{CollectiveLibrary, needs_library};
use loggp_programs::{PROGRAMS, Program};
use loggp_schedule::program::ProgramSchedule;

use crate::error::CliError;
use crate::host::source;
use crate::tell::diagnosis::Diagnosis;

/// Subcommands, inputs and programs for a command, beside those of the main house.
#[derive(Clone, Copy)]
pub struct Annex {
    /// The feature of the package `loggp-cli` that puts it in, such as `mpi`.
    pub feature: &'static str,
    /// Programs, listed before the papers'.
    pub programs: &'static [&'static Program],
    pub subcommands: &'static [&'static dyn Subcommand],
    pub inputs: &'static [&'static dyn Input],
    /// The libraries by whose choices a collective can be done, as in `bcast:openmpi`.
    pub libraries: &'static [CollectiveLibrary],
    /// The real machine of `--on mpi`.
    pub real_machine: Option<&'static dyn RealMachine>,
}

impl Annex {
    /// Nothing, of which an annex says what it has: `Annex { programs: &[&PING], ..Annex::EMPTY }`.
    pub const EMPTY: Annex = Annex {
        feature: "",
        programs: &[],
        subcommands: &[],
        inputs: &[],
        libraries: &[],
        real_machine: None,
    };
}

/// A subcommand of an annex. One whose arguments clap derives is a [`DerivedSubcommand`].
pub trait Subcommand: Sync {
    /// Returns the name, by which a user calls it.
    fn name(&self) -> &'static str;

    /// Returns its arguments and help, which ends with two examples, under its name.
    fn definition(&self) -> Command;

    /// Returns whether it carries out a command line that begins with another subcommand's name, `verb`, and goes on with `rest`.
    fn takes_over(&self, verb: &str, rest: &[&str]) -> bool {
        _ = (verb, rest);
        false
    }

    /// Returns the other subcommand whose command lines it takes over, and what that one's help says of it.
    fn beside(&self) -> Option<(&'static str, &'static str)> {
        None
    }

    /// Carries out a command line that was read by its definition.
    fn execute(&self, arguments: &ArgMatches, out: &mut dyn Write) -> Result<(), CliError>;

    /// Returns what `loggp doctor` says of this computer for the subcommand.
    fn diagnoses(&self) -> Vec<Diagnosis> {
        Vec::new()
    }
}

/// Arguments that can be carried out.
pub trait Execute: Args {
    /// Carries them out.
    fn execute(&self, out: &mut dyn Write) -> Result<(), CliError>;
}

/// A subcommand whose arguments clap derives.
pub struct DerivedSubcommand<C> {
    name: &'static str,
    is_hidden: bool,
    /// Returns whether it carries out a command line of another subcommand.
    takes_over: fn(&str, &[&str]) -> bool,
    beside: Option<(&'static str, &'static str)>,
    diagnoses: fn() -> Vec<Diagnosis>,
    arguments: PhantomData<fn() -> C>,
}

impl<C: Execute> DerivedSubcommand<C> {
    /// Returns the subcommand of this name.
    pub const fn new(name: &'static str) -> DerivedSubcommand<C> {
        DerivedSubcommand {
            name,
            is_hidden: false,
            takes_over: |_, _| false,
            beside: None,
            diagnoses: Vec::new,
            arguments: PhantomData,
        }
    }

    /// Leaves it out of the list of subcommands, and lets it carry out command lines that begin with the name of another one, whose
    /// help says so.
    pub const fn instead(
        self,
        other: &'static str,
        help: &'static str,
        takes_over: fn(&str, &[&str]) -> bool,
    ) -> DerivedSubcommand<C> {
        DerivedSubcommand { is_hidden: true, takes_over, beside: Some((other, help)), ..self }
    }

    /// Adds what `loggp doctor` says for the subcommand.
    pub const fn diagnoses(self, diagnoses: fn() -> Vec<Diagnosis>) -> DerivedSubcommand<C> {
        DerivedSubcommand { diagnoses, ..self }
    }
}

impl<C: Execute> Subcommand for DerivedSubcommand<C> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn definition(&self) -> Command {
        C::augment_args(Command::new(self.name)).hide(self.is_hidden)
    }

    fn takes_over(&self, verb: &str, rest: &[&str]) -> bool {
        (self.takes_over)(verb, rest)
    }

    fn beside(&self) -> Option<(&'static str, &'static str)> {
        self.beside
    }

    fn execute(&self, arguments: &ArgMatches, out: &mut dyn Write) -> Result<(), CliError> {
        C::from_arg_matches(arguments).map_err(CliError::CommandLine)?.execute(out)
    }

    fn diagnoses(&self) -> Vec<Diagnosis> {
        (self.diagnoses)()
    }
}

/// A kind of file from which a schedule is made, for all subcommands that play one or look into its play.
pub trait Input: Sync {
    /// Returns what such a file is, as a part of a sentence: `a recorded MPI program`.
    fn name(&self) -> &'static str;

    /// Returns whether a file of this kind begins so.
    fn knows(&self, beginning: &[u8]) -> bool;

    /// Adds the options by which it is read.
    fn add_options(&self, command: Command) -> Command;

    /// Reads files, and makes the schedule with the places in the program if they are asked for. What was left out or guessed is
    /// said on stderr.
    fn read(
        &self,
        files: &[PathBuf],
        options: &ArgMatches,
        unit: Time,
        has_places: bool,
    ) -> Result<ProgramSchedule, CliError>;
}

/// A real machine, which `--on mpi` puts in place of the emulated one.
pub trait RealMachine: Sync {
    /// Starts it, which all its processes do.
    fn start(&self) -> Result<StartedMachine, String>;
}

/// A real machine that runs.
pub struct StartedMachine {
    pub link: Arc<dyn Link>,
    /// Number of its processes on this host.
    pub here: usize,
    /// Number of this host's cores.
    pub cores: usize,
}

/// A subcommand of an annex of ours, which this command may not have.
struct Elsewhere {
    feature: &'static str,
    subcommand: &'static str,
    /// The words by which a user calls it.
    shown: &'static str,
    /// The bytes with which the files begin that it writes, if they have some.
    magic: &'static [u8],
    about: &'static str,
}

impl Elsewhere {
    const fn new(feature: &'static str, subcommand: &'static str, about: &'static str) -> Elsewhere {
        Elsewhere { feature, subcommand, shown: subcommand, magic: b"", about }
    }

    fn is_absent(&self) -> bool {
        !has_feature(self.feature)
    }
}

/// The subcommands of our annexes.
const ELSEWHERE: [Elsewhere; 5] = [
    Elsewhere::new("papers", "reproduce", "make the papers' figures and tables again"),
    Elsewhere { magic: b"LOGGPMPI", ..Elsewhere::new("mpi", "record", "record the calls of an MPI program") },
    Elsewhere::new("mpi", "emulate", "run an MPI program on the machine"),
    Elsewhere {
        shown: "check -n 4 ./app",
        ..Elsewhere::new("mpi", "check-mpi", "look for faults of an MPI program")
    },
    Elsewhere::new("mpi", "mpi2goal", "make a schedule of an MPI program's traces"),
];

/// The libraries of collectives of our annex `mpi`.
const LIBRARIES_ELSEWHERE: [&str; 2] = ["openmpi", "mpich"];

/// The annexes of this command. It is a static because clap makes the subcommands by functions that are given nothing.
static ANNEXES: OnceLock<Vec<Annex>> = OnceLock::new();

/// All programs: one's own, and then the papers'.
static ALL_PROGRAMS: OnceLock<Vec<&'static Program>> = OnceLock::new();

/// The subcommand of `tune` for collectives, whose name no program can have.
pub(crate) const COLLECTIVE: &str = "collective";

/// Adds annexes. Refuses two programs of the same name, and one without an algorithm.
pub fn add(annexes: &[Annex]) -> Result<(), CliError> {
    let own: Vec<&Program> = annexes.iter().flat_map(|annex| annex.programs.iter().copied()).collect();
    let all = [&own, PROGRAMS].concat();
    for (i, program) in own.iter().enumerate() {
        let refuse = |why: &str| Err(CliError::Request(format!("the program {}: {why}", program.name)));
        if program.name == COLLECTIVE || all[i + 1..].iter().any(|other| other.name == program.name) {
            return refuse("the command has another of this name; give it a name of its own");
        }
        if program.algorithms.is_empty() {
            return refuse("it has no algorithm; give it one at least");
        }
    }
    if !own.is_empty() {
        ALL_PROGRAMS.get_or_init(|| all);
    }
    ANNEXES.get_or_init(|| annexes.to_vec());
    Ok(())
}

fn annexes() -> &'static [Annex] {
    ANNEXES.get().map_or(&[], |annexes| annexes)
}

/// Returns all programs, one's own first.
pub fn programs() -> &'static [&'static Program] {
    ALL_PROGRAMS.get().map_or(PROGRAMS, |all| all)
}

/// Returns whether there are programs of one's own.
pub fn has_own_programs() -> bool {
    ALL_PROGRAMS.get().is_some()
}

/// Returns whether the annex that a feature puts in is there.
pub(crate) fn has_feature(feature: &str) -> bool {
    annexes().iter().any(|annex| annex.feature == feature)
}

/// Returns the subcommands of the annexes.
pub(crate) fn subcommands() -> impl Iterator<Item = &'static dyn Subcommand> {
    annexes().iter().flat_map(|annex| annex.subcommands.iter().copied())
}

/// Returns the name of the subcommand that carries out a command line which begins with another subcommand's name.
pub(crate) fn takes_over(verb: &str, rest: &[&str]) -> Option<&'static str> {
    subcommands().find(|subcommand| subcommand.takes_over(verb, rest)).map(Subcommand::name)
}

/// Returns the real machine, if an annex has one.
pub(crate) fn real_machine() -> Option<&'static dyn RealMachine> {
    annexes().iter().find_map(|annex| annex.real_machine)
}

/// Returns the libraries of collectives. They are those of the first annex that has some.
pub(crate) fn libraries() -> &'static [CollectiveLibrary] {
    annexes().iter().map(|annex| annex.libraries).find(|libraries| !libraries.is_empty()).unwrap_or_default()
}

fn inputs() -> impl Iterator<Item = &'static dyn Input> {
    annexes().iter().flat_map(|annex| annex.inputs.iter().copied())
}

/// Returns the kind of an input, or `None` if no annex knows it or it cannot be read.
pub(crate) fn input_of(path: &Path) -> Option<&'static dyn Input> {
    let beginning = source::beginning(path).ok()?;
    inputs().find(|input| input.knows(&beginning))
}

/// Returns why a file cannot be read, if an annex that is not there reads such files.
pub(crate) fn unread(path: &Path) -> Option<CliError> {
    let beginning = source::beginning(path).ok()?;
    let is_its = |one: &&Elsewhere| !one.magic.is_empty() && beginning.starts_with(one.magic);
    let Elsewhere { feature, shown, .. } = ELSEWHERE.iter().filter(|one| one.is_absent()).find(is_its)?;
    let path = path.display();
    Some(CliError::Request(format!("{path}: `loggp {shown}` wrote this file, and {}", is_without(feature))))
}

/// Returns why a collective cannot be done, if it takes a library's choices and no annex has them.
pub(crate) fn without_library(collective: &str) -> Option<CliError> {
    let how = collective.split_once(':').map_or("", |(_, how)| how);
    let needs_one = LIBRARIES_ELSEWHERE.contains(&how) || needs_library(collective);
    (needs_one && libraries().is_empty()).then(|| {
        CliError::Request(format!(
            "{collective} takes what a library of MPI chooses, and {}",
            is_without("mpi")
        ))
    })
}

/// Returns whether a word of a check's command line says that an MPI program is checked.
pub fn starts_ranks(word: &str) -> bool {
    word == "--" || ["-n", "--ranks", "--programs"].iter().any(|begin| word.starts_with(begin))
}

/// Returns why a command line cannot be carried out, if an annex that is not there has the subcommand.
pub(crate) fn absent(verb: &str, words: &[OsString]) -> Option<CliError> {
    let is_of_mpi = verb == "check" && words.iter().any(|word| starts_ranks(&word.to_string_lossy()));
    let name = if is_of_mpi { "check-mpi" } else { verb };
    let one = ELSEWHERE.iter().find(|one| one.subcommand == name && one.is_absent())?;
    Some(CliError::Request(format!("`loggp {}` is not here: {}", one.shown, is_without(one.feature))))
}

/// Returns a sentence that the command was built without a feature.
pub(crate) fn is_without(feature: &str) -> String {
    format!(
        "this command was built without the feature {feature}; `cargo install loggp-cli --features {feature}` has it"
    )
}

/// Returns the part of the help that lists what this command does not have.
pub(crate) fn absent_list() -> String {
    let absent: Vec<_> = ELSEWHERE.iter().filter(|one| one.is_absent()).collect();
    let width = absent.iter().map(|one| one.shown.len()).max().unwrap_or(0);
    let line =
        |one: &&Elsewhere| format!("\n  {:width$}  {} (feature {})", one.shown, one.about, one.feature);
    match absent.is_empty() {
        true => String::new(),
        false => format!("Not in this build:{}\n\n", absent.iter().map(line).collect::<String>()),
    }
}

/// The options by which inputs of annexes are read.
pub struct InputOptions(ArgMatches);

impl FromArgMatches for InputOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<InputOptions, clap::Error> {
        Ok(InputOptions(matches.clone()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.0 = matches.clone();
        Ok(())
    }
}

impl Args for InputOptions {
    fn augment_args(command: Command) -> Command {
        inputs().fold(command, |command, input| input.add_options(command))
    }

    fn augment_args_for_update(command: Command) -> Command {
        InputOptions::augment_args(command)
    }
}

impl InputOptions {
    /// Returns an error if an option is given, since `name` is no such input.
    pub(crate) fn refuse_for(&self, name: &str) -> Result<(), CliError> {
        for input in inputs() {
            let definition = input.add_options(Command::new("input"));
            let is_given = |option: &&clap::Arg| {
                self.0.value_source(option.get_id().as_str()) == Some(clap::parser::ValueSource::CommandLine)
            };
            if let Some(option) = definition.get_arguments().find(is_given) {
                return Err(CliError::Request(format!(
                    "--{} is for {}, and {name} is none; leave it out",
                    option.get_long().unwrap_or_default(),
                    input.name()
                )));
            }
        }
        Ok(())
    }

    /// Reads files of a kind.
    pub(crate) fn read(
        &self,
        input: &dyn Input,
        files: &[PathBuf],
        unit: Time,
    ) -> Result<ProgramSchedule, CliError> {
        input.read(files, &self.0, unit, true)
    }
}
