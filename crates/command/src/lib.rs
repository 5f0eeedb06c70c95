//! The command `loggp` as a library: the subcommands of the main house, and what all subcommands share. The binary is in
//! `loggp-cli`. [`main_with`] reads the command line, carries it out and prints the result; it takes [annexes](annex), with which
//! the command has more subcommands, inputs and programs.
//!
//! Most subcommands make studies, each of which becomes a row of a `Report` with its columns. What the command line
//! can ask for is in [`ask`], what it prints in [`tell`], what it needs of the computer in [`host`].

#![allow(non_snake_case)] // L, G and P are the papers' names

pub mod annex;
pub mod ask;
mod commands;
pub mod error;
pub mod host;
pub mod number;
pub mod tell;
mod version;

use std::ffi::OsString;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::path::Path;
use std::sync::Mutex;
use std::thread::Builder;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, ColorChoice, CommandFactory, FromArgMatches, Parser};
use loggp::{Level, Params, ParamsBuilder, Ports, Protocol};
use loggp_study::machine_file::{LevelDraft, ParsedMachine};
use rustix::process::{Resource, getrlimit};

use annex::Annex;
use ask::levels::LevelOptions;
use ask::{arguments, choice, lookup, machine_file, short_help, words};
use commands::OwnSubcommand;
use error::CliError;
pub use host::alloc::ExitingAllocator;
pub use host::draft::replace_file;
use host::{alloc, interrupt, stdout};
use tell::style;

/// The whole command line.
#[derive(Parser)]
#[command(
    name = "loggp",
    version,
    long_version = version::text(),
    about = "An emulated parallel machine, and the LogP papers' programs on it"
)]
#[command(arg_required_else_help = true, args_override_self = true)]
#[command(
    after_help = "Results go to stdout. Exit status: 0 right, 1 a run failed or its result was wrong, \
                        2 the request was wrong, 130 interrupted (143 terminated, 129 hung up, 152 out of \
                        processor time).\n\nExamples:\n  loggp run broadcast\n  \
                        loggp compare scatter -P 8 --clock virtual"
)]
struct CommandLine {
    #[command(subcommand)]
    request: OwnSubcommand,
    /// Only the result: no heading, no notes below it and no progress
    #[arg(short, long, global = true, display_order = 1000)]
    quiet: bool,
    /// When messages and helps have colours; auto is on a terminal, where NO_COLOR is not set
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", display_order = 1000)]
    color: ColorChoice,
}

/// The bytes of stack in which every command line can be carried out, with plenty to spare.
const STACK: usize = 8 << 20;

/// Message and place of the last panic.
static LAST_PANIC: Mutex<String> = Mutex::new(String::new());

/// Returns the definition of the whole command line, with what annexes add to it.
pub fn definition() -> clap::Command {
    let mut command = CommandLine::command();
    let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    command = command.after_help(annex::absent_list() + &examples);
    for subcommand in annex::subcommands() {
        command = command.subcommand(subcommand.definition());
        if let Some((other, help)) = subcommand.beside() {
            command = command.mut_subcommand(other, |other| {
                let examples = other.get_after_help().map(ToString::to_string).unwrap_or_default();
                other.after_help(format!("{help}\n\n{examples}"))
            });
        }
    }
    let names: Vec<String> = command.get_subcommands().map(|command| command.get_name().into()).collect();
    for name in names {
        command = command.mut_subcommand(name, short_help::shorten);
    }
    if !annex::has_own_programs() {
        return command;
    }
    let name = arguments::command_name();
    with_name_in_examples(command, &name).bin_name(name)
}

/// Returns the same command with examples that call it by this name.
fn with_name_in_examples(command: clap::Command, name: &str) -> clap::Command {
    let examples =
        command.get_after_help().map(|help| help.to_string().replace("  loggp ", &format!("  {name} ")));
    let command = command.mut_subcommands(|subcommand| with_name_in_examples(subcommand, name));
    match examples {
        Some(examples) => command.after_help(examples),
        None => command,
    }
}

/// Carries out a command line, whose first word is the command's name, and returns the exit status. This is all that
/// the process is for: signals end it. The command has what annexes put into it beside the main house.
///
/// A package of one's own, as `loggp new` makes it, has its programs as an annex: the command's subcommands (`run`, `compare`,
/// `sweep`, `tune`, `check`, `help` and all others) then know these programs, and list them first.
///
/// ```
/// use loggp::{RunError, Tag, Time, Work};
/// use loggp_command::annex::Annex;
/// use loggp_programs::{Algorithm, Case, ClosedForm, Emulation, FormKind, Outcome, Plan, Predict, Program, Size};
///
/// static PING: Program = Program {
///     name: "ping",
///     about: "processor 0 sends a number to processor 1",
///     algorithms: &[Algorithm {
///         name: "once",
///         about: "in one message",
///         formula: ClosedForm::Ours("L + 2o"),
///         plan: |case| Ok(Box::new(Ping(case))),
///     }],
///     size: Size { meaning: "the number", default: 7 },
///     options: &[],
///     work: Work::Charged,
/// };
///
/// struct Ping<'a>(&'a Case);
/// const NUMBER: Tag<u32> = Tag::new(0);
///
/// impl Predict for Ping<'_> {
///     fn form(&self) -> Option<(FormKind, Time)> {
///         Some((FormKind::Exact, self.0.params.L + 2 * self.0.params.o))
///     }
/// }
///
/// impl Plan for Ping<'_> {
///     fn run(&self, emulation: &Emulation) -> Result<Outcome, RunError> {
///         let run = self.0.machine(emulation).measure(|p| match p.id() {
///             0 => p.send(1, NUMBER, self.0.size as u32),
///             1 => assert_eq!(p.recv(NUMBER), self.0.size as u32),
///             _ => (),
///         })?;
///         Ok(Outcome::new(run, Ok(())))
///     }
/// }
///
/// // The words are `std::env::args_os()` in a program.
/// let words = ["ping", "run", "ping", "P=2", "L=6us", "o=2us"];
/// static OWN: Annex = Annex { programs: &[&PING], ..Annex::EMPTY };
/// assert_eq!(loggp_command::main_with(&[OWN], words), 0);
/// ```
pub fn main_with(annexes: &[Annex], words: impl IntoIterator<Item = impl Into<OsString>>) -> u8 {
    let words = arguments::set(words.into_iter().map(Into::into));
    if let Err(refusal) = annex::add(annexes) {
        return refusal.report();
    }
    // A panic of a program is part of its run's error. Any other panic is a bug, which is reported below.
    set_hook(Box::new(|panic| {
        let panic = panic.to_string();
        alloc::exit_without_stack(&panic);
        if let Ok(mut last) = LAST_PANIC.lock() {
            *last = panic;
        }
    }));
    let carry_out = || {
        let error = match catch_unwind(AssertUnwindSafe(|| execute(words))) {
            Ok(Ok(())) => return 0,
            Ok(Err(error)) => error,
            Err(_) => CliError::run(format!(
                "this is a mistake in loggp, and no fault of the request: {}",
                LAST_PANIC.lock().map(|last| last.replace('\n', " ")).unwrap_or_default()
            )),
        };
        error.report()
    };
    if getrlimit(Resource::Stack).current.is_none_or(|bytes| bytes >= STACK as u64 / 2) {
        return carry_out();
    }
    // The limit on the main thread's stack is none on those of other threads.
    std::thread::scope(|scope| {
        let thread = Builder::new().name("loggp".into()).stack_size(STACK);
        match thread.spawn_scoped(scope, carry_out) {
            Ok(thread) => thread.join().unwrap_or(1),
            Err(error) => CliError::run(format!(
                "this computer gives no thread with a stack of {} KiB ({error}); raise the limit on stacks: ulimit -s {0}",
                STACK >> 10
            ))
            .report(),
        }
    })
}

/// Returns parameters as `--machine FILE` reads them.
pub fn machine_text(params: &Params) -> String {
    serde_json::to_string(&loggp_study::rows::machine::machine_object(None, params, &[]))
        .expect("it is written into memory")
}

/// A machine that a file describes, whose parameters may still be open.
pub struct FileMachine {
    pub builder: ParamsBuilder,
    pub ports: Option<Ports>,
    pub rendezvous: Option<Protocol>,
    levels: Vec<LevelDraft>,
}

impl FileMachine {
    /// Reads a machine as `--machine FILE` does.
    pub fn read(path: &Path) -> Result<FileMachine, String> {
        let ParsedMachine { builder, ports, rendezvous, levels, .. } =
            machine_file::read_file(path, choice::DEFAULT_P)?;
        Ok(FileMachine { builder, ports, rendezvous, levels })
    }

    /// Returns the levels of the machine, which has these parameters.
    pub fn levels(&self, params: &Params) -> Result<Vec<Level>, String> {
        LevelOptions::default().build(&self.levels, params)
    }
}

/// Converts an error of the command line. That of an unknown subcommand names the nearest one, and that of an unknown option
/// what does the same here. Its usage is that of the whole subcommand, and not only of what was typed.
fn command_line_error(
    mut error: clap::Error,
    words: &[OsString],
    definition: &mut clap::Command,
) -> CliError {
    if !error.use_stderr() {
        return CliError::CommandLine(error.format(definition));
    }
    if let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidSubcommand)
        && error.kind() == ErrorKind::InvalidSubcommand
    {
        return annex::absent(typed, words)
            .unwrap_or_else(|| lookup::unknown_subcommand(typed, &crate::definition()));
    }
    definition.build();
    let mut options = words::innermost(definition, words).clone();
    if error.get(ContextKind::Usage).is_some() {
        error.insert(ContextKind::Usage, ContextValue::StyledStr(options.render_usage()));
    }
    let typed = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(typed)) if error.kind() == ErrorKind::UnknownArgument => typed.as_str(),
        _ => "",
    };
    if words::lacks_program(typed, &options) {
        return CliError::CommandLine(options.error(ErrorKind::MissingSubcommand, lookup::no_program()));
    }
    if let Some(hint) = words::hint(typed, &options) {
        error.remove(ContextKind::SuggestedArg);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![hint.into()]));
    }
    CliError::CommandLine(error.format(&mut options))
}

/// Returns what clap reads of a command line, by its definition.
pub fn read(words: &[OsString], definition: &clap::Command) -> Result<ArgMatches, clap::Error> {
    let words = words::rewritten(words, definition)?;
    definition.clone().try_get_matches_from(words)
}

/// A request that was read: one of the annexes', or one of the main house.
enum ReadSubcommand {
    Annex(&'static dyn annex::Subcommand, ArgMatches),
    Own(Box<OwnSubcommand>),
}

/// Reads a request, and whether only its result is wanted.
fn read_request(
    words: &[OsString],
    definition: &clap::Command,
) -> Result<(ReadSubcommand, bool), clap::Error> {
    let mut matches = read(words, definition)?;
    let is_quiet = matches.get_flag("quiet");
    let named = |name: &str| annex::subcommands().find(|subcommand| subcommand.name() == name);
    if let Some(subcommand) = matches.subcommand_name().and_then(named)
        && let Some((_, arguments)) = matches.remove_subcommand()
    {
        return Ok((ReadSubcommand::Annex(subcommand, arguments), is_quiet));
    }
    Ok((ReadSubcommand::Own(Box::new(CommandLine::from_arg_matches(&matches)?.request)), is_quiet))
}

/// Reads the command line and carries it out.
fn execute(words: &[OsString]) -> Result<(), CliError> {
    style::set_color(words);
    let mut definition = definition().color(style::color());
    if let Some(why) = words.get(1).and_then(|verb| annex::absent(verb.to_str()?, words)) {
        return Err(why);
    }
    let request = read_request(words, &definition);
    let (request, is_quiet) = request.map_err(|error| command_line_error(error, words, &mut definition))?;
    style::set_quiet(is_quiet);
    interrupt::watch_signals();
    let mut out = io::BufWriter::new(stdout::Stdout::lock());
    match request {
        ReadSubcommand::Annex(subcommand, arguments) => subcommand.execute(&arguments, &mut out)?,
        ReadSubcommand::Own(subcommand) => subcommand.execute(&crate::definition(), &mut out)?,
    }
    Ok(out.flush()?)
}
