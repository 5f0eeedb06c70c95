//! `loggp analyze`: where the time of recorded runs went, and what they would take under other parameters.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use loggp::params::{LeveledParams, Model};
use loggp::trace::Trace;
use loggp_document::{DocumentBlock, plain, printable_line};
use loggp_study::analysis;
use loggp_study::analysis::{Analysis, ParameterSweep, RunPath, WhatIf};
use loggp_study::rows::analysis::{AnalyzedRun, run_columns};

use super::accounting;
use super::bars;
use crate::ask::choice::MachineChoice;
use crate::ask::format::Format;
use crate::ask::options::parse_count;
use crate::ask::output::Outputs;
use crate::ask::trace_input::read_trace;
use crate::commands::schedules::schedule_run::{PlayOptions, ScheduleRun, is_schedule_input, play_error};
use crate::error::CliError;
use crate::number::Unit;
use crate::tell::formula::{read_sweep, replay_error, sweep_blocks};
use crate::tell::heading::{self, cycle_text, level_lines, parameters};
use crate::tell::report::Report;

/// Say where the time of a recorded run or of a schedule went, and what it would have taken under other parameters
#[derive(Args)]
#[command(after_help = "Examples:
  loggp run gauss --machine myrinet -P 4 --size 64 --work charged --trace gauss.loggp
  loggp analyze gauss.loggp --what-if S=65536 -o where.svg")]
pub(crate) struct AnalyzeCommand {
    /// Files that `loggp run --trace` wrote; or recorded MPI programs, schedules in GOAL or patterns, which are played
    #[arg(value_name = "TRACE|FILE|PATTERN", required = true)]
    traces: Vec<PathBuf>,
    /// Make the run again under other parameters: S=65536,L=2us; also with fragments=16383, the longest piece of a message
    /// in words, and model=loggp-1. May be given several times
    #[arg(long, value_name = "NAME=VALUE,...", allow_hyphen_values = true)]
    what_if: Vec<String>,
    /// Make the run again by another model (LogGPS, table 8): loggp-1 or loggp-2. May be given several times
    #[arg(long, value_name = "MODEL")]
    model: Vec<Model>,
    /// Make the run again along a parameter, say its critical path at each value as a formula, and from which value on that is
    /// another: L=1us..100us:log:7, L=1us..100us:10 or S=4,8,16
    #[arg(long, value_name = "NAME=A..B:N", allow_hyphen_values = true)]
    over: Option<String>,
    /// Leave out what 1% more of each parameter changes: each takes a replay
    #[arg(long)]
    no_sensitivities: bool,
    /// How many lines to list of what costs the most
    #[arg(long, value_name = "N", value_parser = parse_count, default_value = "10", allow_negative_numbers = true)]
    top: usize,
    /// List every processor, also if there are more than 32
    #[arg(long)]
    every_processor: bool,
    /// List the hops of the critical path
    #[arg(long)]
    path: bool,
    #[command(flatten)]
    outputs: Outputs,
    /// How it is written: for people, or one JSON object or CSV line per run
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    #[command(flatten)]
    play: PlayOptions,
}

/// Limit of the processors that are listed without `--every-processor`; more would fill the screen.
const MOST_LISTED: usize = 32;

impl AnalyzeCommand {
    /// Analyzes each trace, and its replay under each change.
    pub(crate) fn execute(&self, out: &mut dyn Write) -> Result<(), CliError> {
        let files = self.outputs.open()?;
        let mut rows = Vec::new();
        let (mut heading, mut usual) = (String::new(), None);
        for path in &self.traces {
            let name = path.display().to_string();
            if is_schedule_input(&name) {
                let run = self.play.read(&name, &[])?;
                usual.get_or_insert(run.choice.unit);
                if heading.is_empty() {
                    let MachineChoice { params, levels, unit, .. } = &run.choice;
                    let levels = level_lines(params.P, levels, unit);
                    let said = parameters(params, unit).join(", ") + &cycle_text(params, *unit) + &levels;
                    heading = format!("{}: {said}\nvirtual clock{}", printable_line(&run.name), run.wires);
                }
                rows.extend(self.played_runs(&run)?);
                continue;
            }
            let trace = read_trace(path)?;
            self.play.refuse_for_trace(&name, false)?;
            let first = self.recorded_run(&name, &trace)?;
            let unit = *usual.get_or_insert(Unit::of_trace(&trace));
            if heading.is_empty() {
                let (cycles, levels) =
                    (cycle_text(&trace.params, unit), level_lines(trace.params.P, &trace.levels, &unit));
                let said = parameters(&trace.params, &unit).join(", ") + &cycles + &levels;
                heading = format!("{}: {said}\n{}", printable_line(&name), heading::recorded_text(&trace));
            }
            let time = first.analysis.time;
            rows.push(first);
            for what_if in self.what_ifs(&trace.machine())? {
                let again = replay(&what_if, &trace)?;
                let analysis = Analysis::from_run(&again);
                rows.push(AnalyzedRun {
                    name: what_if.name,
                    trace: name.clone(),
                    recorded_time: Some(time),
                    analysis,
                    sweep: None,
                });
            }
        }
        if self.traces.len() > 1 {
            heading = format!("{} runs, of which the first is {heading}", self.traces.len());
        }
        let unit = accounting::time_unit(&rows, usual.expect("there is an input"));
        heading += &format!(", times in {}", unit.name);
        let columns = run_columns(self.top, self.path);
        let mut report = Report::new(out, self.format, columns).with_files(files);
        rows.into_iter().try_for_each(|row| report.add(row))?;
        report.finish(&heading, unit, |rows| self.details(rows, unit))?;
        report.draw_svg(|rows| bars::svg(rows, unit))
    }

    /// Analyzes the play of a schedule, and that under each change.
    fn played_runs(&self, run: &ScheduleRun) -> Result<Vec<AnalyzedRun>, CliError> {
        let machine = run.choice.machine();
        let (trace, names) = run.captioned(machine.clone()).map_err(play_error)?;
        let mut analysis = Analysis::from_play(&trace, names);
        drop(trace);
        if self.no_sensitivities {
            analysis.sensitivities.clear();
        } else {
            let time_of = |machine| Ok(run.player.clone().machine(machine).run(&run.program.schedule)?.time);
            analysis::add_runs(&machine, &mut analysis.sensitivities, &time_of).map_err(play_error)?;
        }
        let again = |machine| Ok(RunPath::from_trace(&run.play(machine)?.trace.expect("it is traced")));
        let sweep = |over: &String| {
            read_sweep(over, &machine, |range| ParameterSweep::run(machine.clone(), range, &again))
        };
        let sweep = self.over.as_ref().map(sweep).transpose()?;
        let time = analysis.time;
        let row = |name: String, recorded_time, analysis, sweep| {
            let trace = run.name.clone();
            AnalyzedRun { name, trace, recorded_time, analysis, sweep }
        };
        let mut rows = vec![row(run.name.clone(), None, analysis, sweep)];
        for what_if in self.what_ifs(&machine)? {
            let (trace, names) = run.play_what_if(&what_if)?;
            rows.push(row(what_if.name, Some(time), Analysis::from_play(&trace, names), None));
        }
        Ok(rows)
    }

    /// Analyzes a recorded run.
    fn recorded_run(&self, name: &str, trace: &Trace) -> Result<AnalyzedRun, CliError> {
        let refuse = |why: &dyn std::fmt::Display| CliError::Request(format!("{name}: {why}"));
        let mut analysis = Analysis::from_trace(trace).map_err(|why| refuse(&why))?;
        if self.no_sensitivities {
            analysis.sensitivities.clear();
        } else if !trace.calls.is_empty()
            && let Err(error) = analysis::add_replays(trace, &mut analysis.sensitivities)
        {
            CliError::Run(format!("what 1% more changes by a replay of {name}: {}", error.cause)).warn();
        }
        let sweep =
            |over: &String| read_sweep(over, &trace.machine(), |range| ParameterSweep::replay(trace, range));
        let sweep = self.over.as_ref().map(sweep).transpose()?;
        Ok(AnalyzedRun { name: name.into(), trace: name.into(), recorded_time: None, analysis, sweep })
    }

    /// Returns the changes to try on a machine, those of `--what-if` before those of `--model`.
    fn what_ifs(&self, machine: &LeveledParams) -> Result<Vec<WhatIf>, CliError> {
        let by = |model: &Model| {
            let (name, machine) = (format!("model={model}"), machine.clone());
            WhatIf { name, machine, fragments: None, model: *model }
        };
        let what_ifs = self.what_if.iter().map(|text| read_what_if(text, machine));
        what_ifs.chain(self.model.iter().map(|model| Ok(by(model)))).collect()
    }

    /// Returns the blocks below the table of the runs.
    fn details(&self, rows: &[AnalyzedRun], unit: Unit) -> Vec<DocumentBlock> {
        let listed = if self.every_processor { usize::MAX } else { MOST_LISTED };
        let mut blocks: Vec<DocumentBlock> = accounting::overviews(rows, unit);
        for row in rows.iter().filter(|row| row.recorded_time.is_none()) {
            if self.traces.len() > 1 {
                blocks.push(DocumentBlock::Heading(2, plain(&*row.name)));
            }
            blocks.extend(accounting::processor_tables(row, unit, listed));
            blocks.extend(accounting::call_table(row, unit, self.top));
            blocks.extend(accounting::group_table(row, unit, self.top));
            blocks.extend(accounting::waiting_table(row, unit));
            blocks.extend(accounting::path_tables(row, unit, self.top, self.path));
            blocks.extend(row.sweep.iter().flat_map(|sweep| sweep_blocks(sweep, unit)));
            blocks.extend(accounting::sensitivity_table(row, unit));
        }
        blocks
    }
}

/// Reads a value of `--what-if`.
pub(crate) fn read_what_if(text: &str, machine: &LeveledParams) -> Result<WhatIf, CliError> {
    WhatIf::read(text, machine.clone()).map_err(|why| CliError::Request(format!("--what-if {text}: {why}")))
}

/// Replays a run under a change.
pub(crate) fn replay(what_if: &WhatIf, trace: &Trace) -> Result<Trace, CliError> {
    what_if.replay(trace).map_err(|error| replay_error(&what_if.name, &error))
}
