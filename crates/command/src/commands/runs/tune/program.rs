//! The tuning of a program.

use std::io::Write;

use clap::Args;
use loggp::{ClockKind, Time, Work};
use loggp_document::{DocumentBlock, plain};
use loggp_programs::Emulation;
use loggp_study::rows::tuned::{TuneRow, tune_columns};
use loggp_study::tuning::{Candidate, Tuning};

use super::TuneOptions;
use crate::ask::arguments::command_name;
use crate::ask::options::{ClockOptions, MachineOptions, ProgramOptions, RunOptions};
use crate::ask::program_args::ProgramArgs;
use crate::commands::runs::cores::concurrent_runs;
use crate::commands::runs::details::contradiction_text;
use crate::commands::runs::experiment::{Experiment, ProgramSetup};
use crate::commands::runs::map::without_text;
use crate::error::{CliError, merge_sentences};
use crate::tell::progress::ProgressDisplay;
use crate::tell::report::Report;

/// The arguments of `loggp tune` for one program.
#[derive(Args)]
pub(super) struct TuneArgs {
    /// Algorithms to choose from [default: all]
    #[arg(value_name = "ALGORITHM", hide_possible_values = true)]
    algorithms: Vec<String>,
    #[command(flatten)]
    program: ProgramOptions,
    #[command(flatten)]
    machine: MachineOptions,
    #[command(flatten)]
    own: TuneOptions,
}

/// Finds the times of all algorithms with all choices of their options that are not given, and lists them
/// from the fastest.
pub(super) fn tune(args: &ProgramArgs<TuneArgs>, out: &mut dyn Write) -> Result<(), CliError> {
    let TuneArgs { algorithms: names, program, machine, own } = &args.request;
    if program.work == Some(Work::Measured) {
        let sentence =
            "measured work takes another time in each run; leave out --work to compare what is charged";
        return Err(CliError::request(sentence));
    }
    let clock = ClockOptions { cores: own.cores, ..ClockOptions::default() };
    let run = RunOptions { clock, repeat: 1, ..RunOptions::default() };
    let setup = ProgramSetup::new(args, program, machine, &run, ClockKind::Virtual)?;
    let Experiment { tasks, untimed, heading, unit, .. } =
        setup.comparison(&setup.algorithms(names)?, !names.is_empty())?;
    let files = own.open()?;
    let threads = concurrent_runs(&tasks);
    let (machine, emulation) =
        (tasks[0].machine, Emulation { cores: None, ..tasks[0].study.emulation.clone() });
    let cases: Vec<_> = tasks.into_iter().map(|task| task.study.case).collect();
    let progress = ProgressDisplay::without_end();
    let is_open = |option: &str| !args.has_value_for(option);
    let tuning = Tuning::run(&cases, is_open, &emulation, threads, |case| {
        progress.set_current(case.algorithm.name);
        progress.finish_one();
    });
    drop(progress);

    let failures = tuning.failed.iter().map(|(case, why)| format!("{} failed: {why}", case.algorithm.name));
    let wrong = tuning.candidates.iter().filter_map(|Candidate { case, wrong, .. }| {
        Some(format!("the result of {} is wrong: {}", case.algorithm.name, wrong.as_ref()?))
    });
    let failures = merge_sentences(failures.chain(wrong)).join("\n");
    let refused = untimed.iter().map(|it| (it.algorithm.name, it.why.clone()));
    let failed = tuning.failed.iter().map(|(case, why)| (case.algorithm.name, why.summary()));
    let without: Vec<(&str, String)> = refused.chain(failed).collect();
    let without = without_text(without.iter().map(|(name, why)| (*name, &**why)));
    let contradictions = contradictions(&tuning.candidates);
    let count = tuning.candidates.iter().filter(|candidate| candidate.wrong.is_none()).count();
    let rows = rows(args, tuning.candidates, machine);
    let mut right = rows.iter().filter(|row| row.candidate.wrong.is_none()).peekable();
    let command = right.peek().map_or("", |row| &row.command);
    let named: Vec<(String, f64)> = right.map(|row| (row.name(), row.slower)).collect();
    let mut notes = TuneOptions::notes(&named, count - named.len(), command, &without);
    notes.insert(0, DocumentBlock::List(contradictions.into_iter().map(plain).collect()));
    let mut report = Report::new(out, own.report.format, tune_columns()).with_files(files);
    rows.into_iter().try_for_each(|row| report.add(row))?;
    report.finish(&heading, unit, |_| notes)?;
    if failures.is_empty() { Ok(()) } else { Err(CliError::Run(failures)) }
}

/// Returns a sentence on each formula from which the model differs by more than the formula allows.
fn contradictions(candidates: &[Candidate]) -> Vec<String> {
    let worst_of = |name: &str| {
        let own = candidates.iter().filter(|candidate| candidate.case.algorithm.name == name);
        let wrong = own.filter_map(|candidate| Some((candidate.form?, candidate.contradiction()?)));
        wrong.max_by(|(_, one), (_, other)| one.abs().total_cmp(&other.abs()))
    };
    let mut names: Vec<&str> = Vec::new();
    for Candidate { case, .. } in candidates {
        if !names.contains(&case.algorithm.name) {
            names.push(case.algorithm.name);
        }
    }
    let sentence = |name: &str| {
        let (form, error) = worst_of(name)?;
        Some(format!("formula of {name}: {form}{}", contradiction_text(error)))
    };
    names.into_iter().filter_map(sentence).collect()
}

/// Returns the rows to list, of candidates from the fastest: the first of each algorithm, or all.
fn rows(
    args: &ProgramArgs<TuneArgs>,
    candidates: Vec<Candidate>,
    machine: Option<&'static str>,
) -> Vec<TuneRow> {
    let right = candidates.iter().filter(|candidate| candidate.wrong.is_none());
    let least = right.filter_map(Candidate::time).next().unwrap_or(Time::ZERO);
    let mut rows: Vec<TuneRow> = Vec::new();
    for candidate in candidates {
        let name = candidate.case.algorithm.name;
        let is_listed = rows.iter().any(|row| row.candidate.case.algorithm.name == name);
        if let Some(time) = candidate.time()
            && (args.request.own.all || !is_listed)
        {
            let (slower, command) = (TuneOptions::slower(time, least), run_command(args, &candidate));
            rows.push(TuneRow { machine, candidate, time, slower, command });
        }
    }
    rows
}

/// Returns the command line that runs a candidate.
fn run_command(args: &ProgramArgs<TuneArgs>, Candidate { case, choices, .. }: &Candidate) -> String {
    let (program, algorithm) = (args.program, case.algorithm.name);
    let choices = choices.iter().filter(|value| !value.is_default());
    let choices: String =
        choices.map(|value| format!(" --{} {}", value.option().name(), value.text())).collect();
    let words: Vec<&str> =
        [program.name].into_iter().chain(args.request.algorithms.iter().map(|name| &**name)).collect();
    // The options of other algorithms go too.
    let infos = program.options.iter().map(|option| option.info());
    let foreign = infos.filter(|info| !info.algorithms.is_empty() && !info.algorithms.contains(&algorithm));
    let begin = format!("{} run {} {algorithm}{choices}", command_name(), program.name);
    TuneOptions::command_line(&begin, &words, foreign.map(|info| info.name))
}
