//! The command `loggp`: reads a request, has it done, and says how it went.
//!
//! A request becomes studies, a study a row, and a [`Report`](report::Report) writes rows down by their
//! [columns](column::Column). Every subcommand is a file with its arguments and an `execute`.

#![allow(non_snake_case)] // L, G and P are the papers' names

mod accounting;
mod analyze;
mod audit;
mod bars;
mod calibrate;
mod check;
mod choice;
mod column;
mod compare;
mod completions;
mod details;
#[cfg(test)]
mod documents;
mod draft;
mod examples;
mod failure;
mod field;
mod formula;
mod heading;
mod interrupt;
mod known;
mod levels;
mod lists;
mod machine_file;
mod man;
mod matrix;
mod merge;
mod mpi2goal;
mod name;
mod new;
mod number;
mod on;
mod options;
mod output;
mod overlapping;
mod own;
mod progress;
#[cfg(any(test, fuzzing))]
pub mod readers;
mod renamed;
mod replay;
mod report;
mod reproduce;
mod room;
mod row;
mod run;
mod schedule;
mod setting;
mod shard;
mod stdout;
mod stress;
mod studies;
mod sweep;
mod timeline;
mod topologies;
mod trace2goal;
mod trend;

use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::process::ExitCode;
use std::sync::Mutex;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use failure::Failure;

/// The command line.
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
    /// What to do.
    #[command(subcommand)]
    request: Request,
}

/// What there is to do.
#[derive(Subcommand)]
enum Request {
    /// Run one algorithm of a program on the virtual clock, and verify its result
    Run(run::Run),
    /// Compare formula, model and, on the wall clock, measurement of a program's algorithms
    Compare(compare::Compare),
    /// Compare them along a parameter, a size or another number on the virtual clock, and draw it
    Sweep(sweep::Sweep),
    /// Run an algorithm of a program again and again under other orders of messages, and reduce what fails
    Check(check::CheckCommand),
    /// Measure o, g, L, G and the capacity from inside on the wall clock, or LogGPS's parameters by round trips, of a machine or your own
    Calibrate(calibrate::Calibrate),
    /// Make the papers' figures and tables again on both clocks, and a page of them: paper, formula, model and measurement
    Reproduce(reproduce::Reproduce),
    /// Send too much to one place, or too much at once on the wall clock, and see who stalls
    Stress(stress::Stress),
    /// Print and draw a communication matrix of the transportation primitive
    Matrix(matrix::MatrixCommand),
    /// Write the schedule of a usual pattern of communication, in GOAL
    Schedule(schedule::ScheduleCommand),
    /// Play a schedule, or that of a usual pattern of communication, of up to millions of ranks
    Replay(replay::ReplayCommand),
    /// Put together the rows of shards of one comparison or sweep
    Merge(merge::Merge),
    /// Make a package of your own, with a program, its formula, its verification and its tests
    New(new::New),
    /// List the programs, their sizes and their algorithms
    Programs,
    /// List the papers' machines, every value with its source, or networks and how far apart their processors are
    Machines(lists::Machines),
    /// Say where the time of a recorded run went, and what it would have taken under other parameters
    Analyze(analyze::Analyze),
    /// Look into a run: a page to zoom, to search and to follow causes in, or a picture of a part of it
    Timeline(Box<timeline::TimelineCommand>),
    /// Hold the trace of a run against the rules of the machine
    Audit(audit::Audit),
    /// Write the trace of a run as a GOAL schedule, which LogGOPSim reads
    #[command(name = "trace2goal")]
    Trace2Goal(trace2goal::Trace2Goal),
    /// Write what an MPI program did, as liballprof traced it, as a GOAL schedule
    #[command(name = "mpi2goal")]
    Mpi2Goal(mpi2goal::Mpi2Goal),
    /// Print a script that lets a shell complete requests
    Completions(completions::Completions),
    /// Print the manual page of the command or of a subcommand, or write all
    Man(man::ManCommand),
}

impl Request {
    /// Carries out the request.
    fn execute(&self, out: &mut dyn Write) -> Result<(), Failure> {
        match self {
            Request::Run(run) => run.execute(out),
            Request::Compare(compare) => compare.execute(out),
            Request::Sweep(sweep) => sweep.execute(out),
            Request::Check(check) => check.execute(out),
            Request::Calibrate(calibrate) => calibrate.execute(out),
            Request::Reproduce(reproduce) => reproduce.execute(out),
            Request::Stress(stress) => stress.execute(out),
            Request::Matrix(matrix) => matrix.execute(out),
            Request::Replay(replay) => replay.execute(out),
            Request::Schedule(schedule) => schedule.execute(out),
            Request::Merge(merge) => merge.execute(out),
            Request::New(new) => new.execute(out),
            Request::Programs => lists::programs(out),
            Request::Machines(machines) => machines.execute(out),
            Request::Analyze(analyze) => analyze.execute(out),
            Request::Timeline(timeline) => timeline.execute(out),
            Request::Audit(audit) => audit.execute(out),
            Request::Trace2Goal(trace2goal) => trace2goal.execute(out),
            Request::Mpi2Goal(mpi2goal) => mpi2goal.execute(out),
            Request::Completions(completions) => completions.execute(command(), out),
            Request::Man(man) => man.execute(command(), out),
        }
    }
}

/// What the last panic said, and where.
static LAST_PANIC: Mutex<String> = Mutex::new(String::new());

/// The command line that is read.
fn command() -> clap::Command {
    examples::with_examples(CommandLine::command())
}

/// The whole command.
fn main() -> ExitCode {
    // A panic of a program is part of its run's error. Any other is a mistake in here, told below.
    set_hook(Box::new(|panic| {
        let panic = panic.to_string();
        room::end_without_stack(&panic);
        if let Ok(mut last) = LAST_PANIC.lock() {
            *last = panic;
        }
    }));
    let failure = match catch_unwind(AssertUnwindSafe(execute)) {
        Ok(Ok(())) => return ExitCode::SUCCESS,
        Ok(Err(failure)) => failure,
        Err(_) => Failure::run(format!(
            "this is a mistake in loggp, and no fault of the request: {}",
            LAST_PANIC.lock().map(|last| last.replace('\n', " ")).unwrap_or_default()
        )),
    };
    failure.tell()
}

/// Reads the command line and does what it says.
fn execute() -> Result<(), Failure> {
    let matches = command().try_get_matches()?;
    let request = CommandLine::from_arg_matches(&matches)?.request;
    interrupt::watch();
    let mut out = io::BufWriter::new(stdout::Stdout::lock());
    request.execute(&mut out)?;
    Ok(out.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_commands_of_documents_can_be_given() {
        let documents = documents::documents();
        for document in &documents {
            document.commands().for_each(|shown| can_be_given(&document.name, &shown.line));
        }
        assert!(documents.iter().flat_map(|document| document.commands()).count() > 80);
    }

    /// Each option in a document's tables is one of a subcommand that the document shows.
    #[test]
    fn the_options_in_tables_of_documents_are_there() {
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
            for option in &document.listed {
                assert!(known.contains(&option[2..]), "{}: {option} is no option: {known:?}", document.name);
                checked += 1;
            }
        }
        assert!(checked > 12, "{checked}");
    }

    /// The names of a command's options, and of those of the programs that it runs.
    fn options(command: &clap::Command, known: &mut BTreeSet<String>) {
        let mut command = command.clone();
        command.build();
        known.extend(command.get_arguments().filter_map(|option| option.get_long()).map(String::from));
        command.get_subcommands().for_each(|command| options(command, known));
    }

    /// The command line is read as it stands.
    fn can_be_given(place: &str, line: &str) {
        let words = line.split_whitespace().map(|word| word.trim_matches('\''));
        let read =
            command().try_get_matches_from(words).and_then(|found| CommandLine::from_arg_matches(&found));
        if let Err(error) = read {
            assert!(!error.use_stderr(), "{place}: {line}: {error}");
        }
    }

    #[test]
    fn the_commands_of_exhibits_can_be_given() {
        let lab = loggp_papers::Lab::new(&|| ());
        for (_, exhibit) in loggp_papers::exhibits() {
            exhibit.commands(&lab).iter().for_each(|line| can_be_given(exhibit.id, line));
        }
    }
}
