//! The command `loggp`: reads the command line, carries it out and prints the result.
//!
//! Most subcommands make studies, each of which becomes a row of a [`Report`](report::Report) with its
//! [columns](column::ReportColumn). Every subcommand is a file with its arguments and an `execute`.

#![allow(non_snake_case)] // L, G and P are the papers' names

mod accounting;
mod alloc;
mod analyze;
mod analyzed_run;
mod audit;
mod bars;
mod calibrate;
mod check;
mod choice;
mod column;
mod compare;
mod completion_values;
mod completions;
mod critical_path;
mod details;
#[cfg(test)]
mod documents;
mod draft;
mod error;
mod examples;
mod field;
mod format;
mod formula;
mod formula_sweep;
mod heading;
mod interrupt;
mod json_parameters;
mod levels;
mod lists;
mod lookup;
mod machine_file;
mod man;
mod matrix;
mod merge;
mod mpi2goal;
mod new;
mod number;
mod option_hints;
mod options;
mod output;
mod overlap;
mod program_args;
mod program_setup;
mod progress;
#[cfg(any(test, fuzzing))]
pub mod readers;
mod real_machine;
mod replay;
mod report;
mod reproduce;
mod row;
mod run;
mod schedule;
mod shard;
mod stdout;
mod stress;
mod studies;
mod sweep;
mod timeline;
mod topologies;
mod trace2goal;
mod trace_outputs;
mod trend;

use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::process::ExitCode;
use std::sync::Mutex;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use loggp::__private::nearest_name;

use error::CliError;

/// The whole command line.
#[derive(Parser)]
#[command(
    name = "loggp",
    version,
    about = "An emulated parallel machine, and the LogP papers' programs on it"
)]
#[command(arg_required_else_help = true)]
#[command(
    after_help = "Results go to stdout. Exit status: 0 right, 1 a run failed or its result was wrong, \
                        2 the request was wrong, 130 interrupted (143 terminated, 129 hung up, 152 out of \
                        processor time)."
)]
struct CommandLine {
    #[command(subcommand)]
    request: CliCommand,
}

/// A subcommand with its arguments.
#[derive(Subcommand)]
enum CliCommand {
    /// Run one algorithm of a program on the virtual clock, and verify its result
    Run(run::RunCommand),
    /// Compare formula, model and, on the wall clock, measurement of a program's algorithms
    Compare(compare::CompareCommand),
    /// Compare them along a parameter, a size or another number on the virtual clock, and draw it
    Sweep(sweep::SweepCommand),
    /// Run an algorithm of a program again and again under other orders of messages, and reduce what fails
    Check(check::CheckCommand),
    /// Measure o, g, L, G and the capacity from inside on the wall clock, or LogGPS's parameters by round trips, of a machine or your own
    Calibrate(calibrate::CalibrateCommand),
    /// Make the papers' figures and tables again on both clocks, and a page of them: paper, formula, model and measurement
    Reproduce(reproduce::ReproduceCommand),
    /// Send too much to one place, or too much at once on the wall clock, and see who stalls
    Stress(stress::StressCommand),
    /// Print and draw a communication matrix of the transportation primitive
    Matrix(matrix::MatrixCommand),
    /// Write the schedule of a usual pattern of communication, in GOAL
    Schedule(schedule::ScheduleCommand),
    /// Play a schedule, or that of a usual pattern of communication, of up to millions of ranks
    Replay(replay::ReplayCommand),
    /// Put together the rows of shards of one comparison or sweep
    Merge(merge::MergeCommand),
    /// Make a package of your own, with a program, its formula, its verification and its tests
    New(new::NewCommand),
    /// List the programs, their sizes and their algorithms
    Programs,
    /// List the papers' machines, every value with its source, or networks and how far apart their processors are
    Machines(lists::MachinesCommand),
    /// Say where the time of a recorded run went, and what it would have taken under other parameters
    Analyze(analyze::AnalyzeCommand),
    /// Look into a run: a page to zoom, to search and to follow causes in, or a picture of a part of it
    Timeline(Box<timeline::TimelineCommand>),
    /// Hold the trace of a run against the rules of the machine
    Audit(audit::AuditCommand),
    /// Write the trace of a run as a GOAL schedule, which LogGOPSim reads
    #[command(name = "trace2goal")]
    Trace2Goal(trace2goal::Trace2GoalCommand),
    /// Write what an MPI program did, as liballprof traced it, as a GOAL schedule
    #[command(name = "mpi2goal")]
    Mpi2Goal(mpi2goal::Mpi2GoalCommand),
    /// Print a script that lets a shell complete requests
    Completions(completions::CompletionsCommand),
    /// Print the manual page of the command or of a subcommand, or write all
    Man(man::ManCommand),
}

impl CliCommand {
    /// Runs the subcommand.
    fn execute(&self, out: &mut dyn Write) -> Result<(), CliError> {
        match self {
            CliCommand::Run(run) => run.execute(out),
            CliCommand::Compare(compare) => compare.execute(out),
            CliCommand::Sweep(sweep) => sweep.execute(out),
            CliCommand::Check(check) => check.execute(out),
            CliCommand::Calibrate(calibrate) => calibrate.execute(out),
            CliCommand::Reproduce(reproduce) => reproduce.execute(out),
            CliCommand::Stress(stress) => stress.execute(out),
            CliCommand::Matrix(matrix) => matrix.execute(out),
            CliCommand::Replay(replay) => replay.execute(out),
            CliCommand::Schedule(schedule) => schedule.execute(out),
            CliCommand::Merge(merge) => merge.execute(out),
            CliCommand::New(new) => new.execute(out),
            CliCommand::Programs => lists::list_programs(out),
            CliCommand::Machines(machines) => machines.execute(out),
            CliCommand::Analyze(analyze) => analyze.execute(out),
            CliCommand::Timeline(timeline) => timeline.execute(out),
            CliCommand::Audit(audit) => audit.execute(out),
            CliCommand::Trace2Goal(trace2goal) => trace2goal.execute(out),
            CliCommand::Mpi2Goal(mpi2goal) => mpi2goal.execute(out),
            CliCommand::Completions(completions) => completions.execute(command(), out),
            CliCommand::Man(man) => man.execute(command(), out),
        }
    }
}

/// Message and place of the last panic.
static LAST_PANIC: Mutex<String> = Mutex::new(String::new());

/// Returns the command line's definition.
fn command() -> clap::Command {
    examples::with_examples(CommandLine::command())
}

fn main() -> ExitCode {
    // A panic of a program is part of its run's error. Any other panic is a bug, which is reported below.
    set_hook(Box::new(|panic| {
        let panic = panic.to_string();
        alloc::exit_without_stack(&panic);
        if let Ok(mut last) = LAST_PANIC.lock() {
            *last = panic;
        }
    }));
    let error = match catch_unwind(AssertUnwindSafe(execute)) {
        Ok(Ok(())) => return ExitCode::SUCCESS,
        Ok(Err(error)) => error,
        Err(_) => CliError::run(format!(
            "this is a mistake in loggp, and no fault of the request: {}",
            LAST_PANIC.lock().map(|last| last.replace('\n', " ")).unwrap_or_default()
        )),
    };
    error.report()
}

/// Converts an error of the command line. That of an unknown subcommand names the nearest one.
fn command_line_error(error: clap::Error) -> CliError {
    match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(typed)) if error.kind() == ErrorKind::InvalidSubcommand => {
            let command = command();
            let near = nearest_name(typed, command.get_subcommands().map(clap::Command::get_name));
            CliError::Request(format!("there is no subcommand {typed}; {near}`loggp --help` lists all"))
        }
        _ => CliError::from(error),
    }
}

/// Reads the command line and carries it out.
fn execute() -> Result<(), CliError> {
    let matches = command().try_get_matches();
    let command_line = matches.and_then(|matches| CommandLine::from_arg_matches(&matches));
    let request = command_line.map_err(command_line_error)?.request;
    interrupt::watch_signals();
    let mut out = io::BufWriter::new(stdout::Stdout::lock());
    request.execute(&mut out)?;
    Ok(out.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn document_commands_are_valid() {
        let documents = documents::documents();
        for document in &documents {
            document.commands().for_each(|shown| assert_valid(&document.name, &shown.line));
        }
        assert!(documents.iter().flat_map(|document| document.commands()).count() > 80);
    }

    /// Each option in a document's tables belongs to a subcommand that the document shows.
    #[test]
    fn options_in_document_tables_exist() {
        let command = command();
        let mut checked = 0;
        for document in documents::documents() {
            let shown = document.commands().filter_map(|shown| shown.line.split_whitespace().nth(1));
            let mut known = BTreeSet::new();
            for name in shown.collect::<BTreeSet<_>>() {
                options(command.find_subcommand(name).expect("it can be given"), &mut known);
            }
            if known.is_empty() {
                options(&command, &mut known);
            }
            for option in &document.listed_options {
                assert!(known.contains(&option[2..]), "{}: {option} is no option: {known:?}", document.name);
                checked += 1;
            }
        }
        assert!(checked > 12, "{checked}");
    }

    /// Collects the names of a command's options, and those of its subcommands.
    fn options(command: &clap::Command, known: &mut BTreeSet<String>) {
        let mut command = command.clone();
        command.build();
        known.extend(command.get_arguments().filter_map(|option| option.get_long()).map(String::from));
        command.get_subcommands().for_each(|command| options(command, known));
    }

    /// Asserts that a command line is valid.
    fn assert_valid(place: &str, line: &str) {
        let words = line.split_whitespace().map(|word| word.trim_matches('\''));
        let read =
            command().try_get_matches_from(words).and_then(|found| CommandLine::from_arg_matches(&found));
        if let Err(error) = read {
            assert!(!error.use_stderr(), "{place}: {line}: {error}");
        }
    }

    #[test]
    fn exhibit_commands_are_valid() {
        let lab = loggp_papers::Lab::new(&|| ());
        for (_, exhibit) in loggp_papers::exhibits() {
            exhibit.commands(&lab).iter().for_each(|line| assert_valid(exhibit.id, line));
        }
    }
}
