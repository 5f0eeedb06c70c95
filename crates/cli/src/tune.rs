//! `loggp tune`: which algorithm of a program is fastest on a machine, and with which options.

use std::env;
use std::io::Write;

use clap::{Arg, Args, Command};
use loggp::{ClockKind, Params, Time, Work};
use loggp_document::{DocumentBlock, plain};
use loggp_study::tuning::{Candidate, Tuning};

use super::column::Columns;
use super::cores::concurrent_runs;
use super::error::{CliError, merge_sentences};
use super::experiment::{Experiment, ProgramSetup};
use super::field::Field;
use super::number::percent;
use super::options::{ClockOptions, CoreOptions, MachineOptions, ProgramOptions, ReportOptions, RunOptions};
use super::output::Outputs;
use super::program_args::ProgramArgs;
use super::progress::ProgressDisplay;
use super::report::Report;
use super::row::{MOST_DECIMALS, machine_columns};
use super::words::without_options;

/// Say which algorithm and which options are fastest on a machine, by formula where it is exact, and by model
#[derive(Args)]
#[command(after_help = "Examples:
  loggp tune broadcast --machine cm5 -P 16
  loggp tune radix-sort --machine myrinet -P 4 --size 256 --format json")]
pub struct TuneCommand {
    #[command(subcommand)]
    program: ProgramArgs<TuneArgs>,
}

/// The arguments of `loggp tune` for one program.
#[derive(Args)]
struct TuneArgs {
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

/// The options that `run` does not have, or has for something else.
#[derive(Args)]
struct TuneOptions {
    /// List each choice of options, and not only the fastest of each algorithm
    #[arg(long, help_heading = "Report")]
    all: bool,
    #[command(flatten)]
    cores: CoreOptions,
    #[command(flatten)]
    report: ReportOptions,
    #[command(flatten)]
    outputs: Outputs,
}

/// A case that was tried.
struct TuneRow {
    machine: Option<&'static str>,
    candidate: Candidate,
    time: Time,
    /// The part of the fastest one's time by which it takes longer.
    slower: f64,
    /// The command that runs it.
    command: String,
}

impl TuneCommand {
    /// Finds the times of all algorithms with all choices of their options that are not given, and lists them
    /// from the fastest.
    pub fn execute(&self, out: &mut dyn Write) -> Result<(), CliError> {
        let TuneArgs { algorithms: names, program, machine, own } = &self.program.request;
        if program.work == Some(Work::Measured) {
            let sentence = "measured work takes another time in each run; leave out --work to compare what is charged";
            return Err(CliError::request(sentence));
        }
        if own.outputs.has_picture() {
            return Err(CliError::request("tune draws nothing; `loggp sweep` twice --over draws who is fastest where"));
        }
        let clock = ClockOptions { cores: own.cores, ..ClockOptions::default() };
        let run = RunOptions { clock, repeat: 1, ..RunOptions::default() };
        let setup = ProgramSetup::new(&self.program, program, machine, &run, ClockKind::Virtual)?;
        let Experiment { tasks, heading, unit, .. } =
            setup.comparison(&setup.algorithms(names)?, !names.is_empty())?;
        let files = own.outputs.open()?;
        let threads = concurrent_runs(&tasks);
        let machine = tasks[0].machine;
        let emulation = tasks[0].study.emulation.clone();
        let cases: Vec<_> = tasks.into_iter().map(|task| task.study.case).collect();
        let progress = ProgressDisplay::with_template(usize::MAX, "{pos} runs, now {msg}");
        let is_open = |option: &str| !self.program.has_value_for(option);
        let tuning = Tuning::run(&cases, is_open, &emulation, threads, |case| {
            progress.set_current(case.algorithm.name);
            progress.finish_one();
        });
        drop(progress);

        let count = tuning.candidates.len();
        let rows = self.rows(tuning.candidates, machine);
        let failures = tuning.failed.iter().map(|(case, why)| format!("{} failed: {why}", case.algorithm.name));
        let wrong = rows.iter().filter_map(|row| {
            let why = row.candidate.wrong.as_ref()?;
            Some(format!("the result of {} is wrong: {why}", row.candidate.case.algorithm.name))
        });
        let failures = merge_sentences(failures.chain(wrong).collect::<Vec<_>>());
        let notes = notes(&rows, count, own.all);
        let mut report = Report::new(out, own.report.format, columns()).with_files(files);
        rows.into_iter().try_for_each(|row| report.add(row))?;
        report.finish(&heading, unit, MOST_DECIMALS, |_| notes)?;
        if failures.is_empty() { Ok(()) } else { Err(CliError::run(failures.join("\n"))) }
    }

    /// Returns the rows to list.
    fn rows(&self, candidates: Vec<Candidate>, machine: Option<&'static str>) -> Vec<TuneRow> {
        let least = candidates.iter().filter_map(Candidate::time).min().unwrap_or(Time::ZERO);
        let mut rows: Vec<TuneRow> = Vec::new();
        for candidate in candidates {
            let name = candidate.case.algorithm.name;
            let is_listed = rows.iter().any(|row| row.candidate.case.algorithm.name == name);
            let Some(time) = candidate.time().filter(|_| self.program.request.own.all || !is_listed) else {
                continue;
            };
            let slower = match least {
                Time::ZERO => 0.0,
                least => time.as_ps() as f64 / least.as_ps() as f64 - 1.0,
            };
            let command = self.command_for(&candidate, env::args().skip(1));
            rows.push(TuneRow { machine, candidate, time, slower, command });
        }
        rows
    }

    /// Returns the command line that runs a candidate, for the arguments of this one.
    fn command_for(&self, candidate: &Candidate, arguments: impl Iterator<Item = String>) -> String {
        let (program, algorithm) = (self.program.program.name, candidate.case.algorithm.name);
        // The options of other algorithms go too.
        let infos = self.program.program.options.iter().map(|option| option.info());
        let foreign = infos.filter(|info| !info.algorithms.is_empty() && !info.algorithms.contains(&algorithm));
        let own = TuneOptions::augment_args(Command::new("tune"))
            .args(foreign.map(|info| Arg::new(info.name).long(info.name)));
        let names = &self.program.request.algorithms;
        let kept = without_options(arguments, &own, |word| word == "tune" || word == program || names.iter().any(|name| name == word));
        let choices = candidate.choices.iter().filter(|value| !value.is_default());
        let choices = choices.map(|value| format!(" --{} {}", value.option().name(), value.text()));
        format!("loggp run {program} {algorithm}{}{kept}", choices.collect::<String>())
    }
}

fn columns() -> Columns<'static, TuneRow> {
    let mut columns = Columns::<TuneRow>::new();
    columns.add("program", |row| row.candidate.case.program.name);
    columns.add("algorithm", |row| row.candidate.case.algorithm.name).title("algorithm");
    columns.extend(machine_columns(|row: &TuneRow| -> (_, Params) { (row.machine, row.candidate.case.params) }, true));
    columns.add("size", |row| row.candidate.case.size);
    let choices = |row: &TuneRow| match &row.candidate.choices[..] {
        [] => Field::Null,
        choices => choices.iter().map(ToString::to_string).collect::<Vec<_>>().join(",").into(),
    };
    columns.add("choices", choices).title("options").optional();
    columns.add("formula_ns", |row| row.candidate.formula).title("formula");
    columns.add("model_ns", |row| row.candidate.model).title("model");
    columns.add("time_ns", |row| row.time);
    columns.add("slower", |row| Field::Error(row.slower)).title("slower by");
    columns.add("verified", |row| row.candidate.model.map(|_| Field::Verified(row.candidate.wrong.is_none())));
    columns.add("command", |row| row.command.clone());
    columns
}

/// Returns what the rows say, and the command that runs the fastest.
fn notes(rows: &[TuneRow], count: usize, has_all: bool) -> Vec<DocumentBlock> {
    let Some(first) = rows.first() else { return Vec::new() };
    let name = |row: &TuneRow| match &row.candidate.choices[..] {
        [] => row.candidate.case.algorithm.name.to_string(),
        choices => {
            let choices: Vec<String> = choices.iter().map(ToString::to_string).collect();
            format!("{} with {}", row.candidate.case.algorithm.name, choices.join(", "))
        }
    };
    let (equal, rest) = rows.split_at(rows.iter().take_while(|row| row.time == first.time).count());
    let equal: Vec<String> = equal.iter().map(name).collect();
    let fastest = match &equal[..] {
        [one] => format!("{one} is the fastest"),
        [others @ .., last] => format!("{} and {last} are equally fast", others.join(", ")),
        [] => String::new(),
    };
    let next = rest.first().map_or(String::new(), |next| {
        format!("; next comes {}, which takes {} longer", name(next), percent(next.slower).trim_start_matches('+'))
    });
    let unlisted = match count - rows.len() {
        0 => String::new(),
        _ if has_all => String::new(),
        more => format!("; {more} more choices of options are no faster, and --all lists them"),
    };
    let mut notes = vec![plain(fastest + &next + &unlisted)];
    if rows.iter().any(|row| row.candidate.model.is_none()) {
        notes.push(plain("without a model: its formula, which equals the model for the best and the worst options"));
    }
    let command = format!("  {}", first.command);
    vec![DocumentBlock::List(notes), DocumentBlock::Code(vec![command])]
}
