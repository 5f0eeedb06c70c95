//! `loggp replay`: plays a schedule from a file or of a pattern, by the papers' rules or by LogGOPSim's.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use loggp::Time;
use loggp::schedule::{CostModel, PlayReport};
use loggp::trace::Trace;
use loggp_document::{DocumentBlock, plain, printable_line};
use loggp_schedule::program::{Comparison, PlayWatch};
use loggp_study::analysis::{ParameterSweep, RunPath};
use loggp_study::rows::Columns;
use loggp_study::rows::formula::sweep_columns;
use loggp_study::rows::played::{MOST_SHOWN, PlayedSchedule, played_columns};

use super::schedule_run::{PlayOptions, ScheduleRun, play_error};
use crate::ask::choice::MachineChoice;
use crate::ask::completion_values;
use crate::ask::format::Format;
use crate::ask::options::{NamedValue, one_of};
use crate::ask::trace_outputs::RunOutputs;
use crate::error::CliError;
use crate::number::Unit;
use crate::tell::compared::{comparison_columns, comparison_tables};
use crate::tell::formula::{read_sweep, sweep_blocks};
use crate::tell::report::Report;
use crate::tell::table::table_with_decimals;

/// Play a schedule, or that of a usual pattern of communication, of up to millions of ranks
#[derive(Args)]
#[command(after_help = "Examples:
  loggp replay dissemination.goal --machine cs2-elan
  loggp replay ring -P 1k --size 64 --params L=6us,o=2us,g=4us,G=0")]
#[command(next_help_heading = "Machine")]
#[command(mut_arg("params", |params| {
    params.help("Parameters, on top of the machine's: L=6us,o=2us,g=4us,G=0.03us; a bare number counts cycles. Without --machine \
                 a word is a byte")
}))]
pub(crate) struct ReplayCommand {
    /// A recorded MPI program; or a schedule in GOAL, as text or as bytes, as LogGOPSim's generator and txt2bin write them;
    /// - for stdin; or a pattern: `loggp schedule --help` lists them
    #[arg(value_name = "FILE|-|PATTERN", value_parser = completion_values::pattern(), hide_possible_values = true)]
    schedule: String,
    /// The other ranks' files of a program that liballprof traced
    #[arg(value_name = "FILE", hide = true)]
    traces: Vec<PathBuf>,
    #[command(flatten)]
    play: PlayOptions,
    /// Whose rules hold: docs/reference/replay.md has the differences
    #[arg(long, value_parser = one_of::<CostModel>(RULES), default_value = "papers", help_heading = "Machine")]
    rules: CostModel,
    /// Play it along a parameter, say its critical path at each value as a formula, and from which value on that is
    /// another: L=1us..100us:log:7, L=1us..100us:10 or S=4,8,16
    #[arg(long, value_name = "NAME=A..B:N", allow_hyphen_values = true, help_heading = "Machine")]
    over: Option<String>,
    /// How it is written: for people, as a JSON object, or as a CSV line
    #[arg(long, value_enum, default_value = "table", help_heading = "Report")]
    format: Format,
    #[command(flatten)]
    outputs: RunOutputs,
}

const RULES: &[NamedValue] = &[
    ("papers", "LogP's, LogGP's and LogGPS's, as the machine has them"),
    ("loggopsim", "LogGOPSim's: no capacity, g at both ends, a message is received when it comes"),
];

impl ReplayCommand {
    /// Reads the schedule, plays it and prints the result.
    pub(crate) fn execute(&self, out: &mut dyn Write) -> Result<(), CliError> {
        let (mut run_files, files) = self.outputs.open()?;
        if (self.outputs.needs_trace() || self.over.is_some()) && self.rules != CostModel::Papers {
            let sentence = "--trace, pictures, pages and --over are for the papers' rules; leave out --rules loggopsim, or them";
            return Err(CliError::request(sentence));
        }
        if self.over.is_none() {
            self.play.refuse_idle_cycle()?;
        }
        let run = self.play.read(&self.schedule, &self.traces)?;
        let (play_report, trace, comparison) = self.played(&run, self.outputs.needs_trace())?;
        let (machine, unit) = (run.choice.machine(), run.choice.unit);
        let again = |machine| Ok(RunPath::from_trace(&run.play(machine)?.trace.expect("it is traced")));
        let sweep = |over: &String| {
            read_sweep(over, &machine, |range| ParameterSweep::run(machine.clone(), range, &again))
        };
        let sweep = self.over.as_ref().map(sweep).transpose()?;
        let about = run.heading(&run.choice, "");
        let rules = if self.rules == CostModel::Papers { "" } else { ", LogGOPSim's rules" };
        let heading = format!("{}\n{about}{rules}", printable_line(&run.name));
        if let Some(mut trace) = trace {
            trace.caption = Some(run.caption(about));
            run_files.write(&trace, unit)?;
        }
        let mut columns = played_columns();
        columns.extend(comparison_columns(|_: &PlayedSchedule| comparison.as_ref()));
        columns.extend(sweep_columns(|row: &PlayedSchedule| row.sweep.as_ref()));
        let mut report = Report::new(out, self.format, columns).with_files(files);
        report.add(PlayedSchedule {
            name: &run.name,
            schedule: &run.program.schedule,
            machine: run.choice.name,
            machine_params: machine.clone(),
            ports: run.ports,
            rules: self.rules,
            noise: run.noise.as_ref(),
            play_report,
            sweep,
        })?;
        report.finish(&heading, unit, |rows| {
            let sweep = rows[0].sweep.iter().flat_map(|sweep| sweep_blocks(sweep, unit));
            let assumed = comparison.as_ref().and_then(|_| assumed_machine(&run.choice));
            tables(&rows[0], comparison.as_ref(), unit).into_iter().chain(sweep).chain(assumed).collect()
        })
    }

    /// Plays the schedule, and compares it with its recorded program, if it has one.
    fn played(&self, run: &ScheduleRun, is_traced: bool) -> Result<PlayedParts, CliError> {
        let ScheduleRun { program, player, .. } = run;
        let player = player.clone().rules(self.rules).trace(is_traced);
        let is_watched = program.is_recorded() && self.rules == CostModel::Papers;
        let mut watch = is_watched.then(|| PlayWatch::new(program));
        let played = match &mut watch {
            Some(watch) => player.run_watched(&program.schedule, &mut |beginning| watch.begin(beginning)),
            None => player.run(&program.schedule),
        };
        let mut report = played.map_err(play_error)?;
        // A recorded receive names its buffer, which may be longer.
        for warning in report.warnings.iter().filter(|_| !program.is_recorded()) {
            drop(writeln!(io::stderr(), "warning: {warning}"));
        }
        let trace = report.trace.take();
        let comparison = Comparison::new(program, &report, watch);
        Ok((report, trace, comparison))
    }
}

/// The report of a play, its trace, and the recorded times beside those of the play.
type PlayedParts = (PlayReport, Option<Trace>, Option<Comparison>);

/// Returns a sentence on the machine beside whose times the recorded ones stand, if nobody named it.
fn assumed_machine(choice: &MachineChoice) -> Option<DocumentBlock> {
    let name = choice.name.filter(|_| choice.assumed.contains(&"machine"))?;
    Some(DocumentBlock::Paragraph(plain(format!(
        "predicted for {name}, the default, because no machine was given; give --machine or L, o and g of the recording's own"
    ))))
}

/// Returns the tables of the ranks' times, if there are not more ranks than `MOST_SHOWN`, and of where they go.
fn tables(played: &PlayedSchedule, comparison: Option<&Comparison>, unit: Unit) -> Vec<DocumentBlock> {
    let finishes = &played.play_report.finishes;
    let is_short = finishes.len() <= MOST_SHOWN;
    match comparison {
        Some(comparison) => comparison_tables(comparison, is_short, unit),
        None if is_short => {
            let finishes: Vec<(usize, Time)> = finishes.iter().copied().enumerate().collect();
            let mut columns = Columns::<(usize, Time)>::new();
            columns.add_to_table("rank", |(rank, _)| *rank);
            columns.add_to_table("done", |(_, finish)| *finish);
            table_with_decimals(&columns, &finishes, unit, usize::MAX).into_iter().collect()
        }
        None => Vec::new(),
    }
}
