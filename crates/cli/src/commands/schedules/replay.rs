//! `loggp replay`: plays a schedule from a file or of a pattern, by the papers' rules or by LogGOPSim's.

use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use loggp::params::LeveledParams;
use loggp::schedule::{CostModel, Player, Schedule};
use loggp::trace::Caption;
use loggp::{Cause, Latency, Ports, RunError, Ties, Time};
use loggp_document::{DocumentBlock, printable_line};
use loggp_mpi_trace::comparison::{Comparison, PlayWatch};
use loggp_study::analysis::{ParameterSweep, RunPath};
use loggp_study::rows::Columns;
use loggp_study::rows::formula::sweep_columns;
use loggp_study::rows::played::{MOST_SHOWN, PlayedSchedule, played_columns};

use super::schedule_input::{InputOptions, ScheduleInput};
use crate::ask::choice::{MachineChoice, is_parameter_given, partial_machine};
use crate::ask::completion_values;
use crate::ask::format::Format;
use crate::ask::levels::LevelOptions;
use crate::ask::mpi_program::MpiOptions;
use crate::ask::options::{ChoiceOptions, NamedValue, NoiseOption, PORTS, one_of, parse_noise, parse_seed};
use crate::ask::output::Outputs;
use crate::ask::trace_outputs::TraceOutputs;
use crate::error::CliError;
use crate::number::Unit;
use crate::tell::compared::{comparison_columns, comparison_tables};
use crate::tell::formula::{read_sweep, sweep_blocks};
use crate::tell::heading::{choice_heading, noise_text, parameters, wire_text};
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
pub struct ReplayCommand {
    /// A recorded MPI program; or a schedule in GOAL, as text or as bytes, as LogGOPSim's generator and txt2bin write them;
    /// - for stdin; or a pattern: `loggp schedule --help` lists them
    #[arg(value_name = "FILE|-|PATTERN", value_parser = completion_values::pattern(), hide_possible_values = true)]
    schedule: String,
    /// The other ranks' files of a program that liballprof traced
    #[arg(value_name = "FILE", hide = true)]
    traces: Vec<PathBuf>,
    #[command(flatten)]
    source: InputOptions,
    #[command(flatten)]
    choice: ChoiceOptions,
    #[command(flatten)]
    levels: LevelOptions,
    /// Whose rules hold: docs/reference/replay.md has the differences
    #[arg(long, value_parser = one_of::<CostModel>(RULES), default_value = "papers")]
    rules: CostModel,
    /// Ports of the ranks for long messages: one for both directions, or one for each [default: as the machine's file
    /// says, or single]
    #[arg(long, value_parser = one_of::<Ports>(PORTS))]
    ports: Option<Ports>,
    /// The noise of the ranks' processors: every 10 ms the operating system takes 25 us, or what a file in LogGOPSim's form
    /// says
    #[arg(long, value_name = "10ms:25us,...|FILE", value_parser = parse_noise)]
    noise: Option<NoiseOption>,
    /// Draws for each rank where its noise begins [default: 1]
    #[arg(long, value_name = "N", value_parser = parse_seed, allow_negative_numbers = true, requires = "noise")]
    seed: Option<u64>,
    /// Play it along a parameter, say its critical path at each value as a formula, and from which value on that is
    /// another: L=1us..100us:log:7, L=1us..100us:10 or S=4,8,16
    #[arg(long, value_name = "NAME=A..B:N", allow_hyphen_values = true)]
    over: Option<String>,
    /// How it is written: for people, as a JSON object, or as a CSV line
    #[arg(long, value_enum, default_value = "table", help_heading = "Report")]
    format: Format,
    /// Write what each rank did to a file, which `loggp timeline`, `analyze` and `audit` read: FILE.json or, with fewer bytes,
    /// FILE.loggp
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    trace: Option<PathBuf>,
    /// Draw what each rank did when: FILE.svg, or FILE.html, a page to look into it
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    timeline: Option<PathBuf>,
    #[command(flatten)]
    mpi: MpiOptions,
    #[command(flatten)]
    outputs: Outputs,
}

const RULES: &[NamedValue] = &[
    ("papers", "LogP's, LogGP's and LogGPS's, as the machine has them"),
    ("loggopsim", "LogGOPSim's: no capacity, g at both ends, a message is received when it comes"),
];

impl ReplayCommand {
    /// Reads the schedule, plays it and prints the result.
    pub fn execute(&self, out: &mut dyn Write) -> Result<(), CliError> {
        let files = self.outputs.open()?;
        let mut trace_outputs = TraceOutputs::open(self.trace.as_deref(), self.timeline.as_deref())?;
        if (trace_outputs.is_requested() || self.over.is_some()) && self.rules != CostModel::Papers {
            let sentence = "--trace, --timeline and --over are for the papers' rules; leave out --rules loggopsim, or them";
            return Err(CliError::request(sentence));
        }
        let ScheduleInput { name, program } =
            self.source.read(&self.schedule, &self.traces, &self.mpi, self.levels.P())?;
        let schedule = &program.schedule;
        let choice = machine_for(&self.choice, &self.levels, schedule)?;
        let ports = self.ports.or(choice.ports).unwrap_or_default();
        let noise = self.noise.as_ref().map(|noise| noise.read(self.seed.unwrap_or(1))).transpose()?;
        let player = |machine: LeveledParams| {
            Player::new(machine.params).machine(machine).ports(ports).noise(noise.clone())
        };
        let replay = player(choice.machine()).rules(self.rules).trace(trace_outputs.is_requested());
        let is_watched = program.is_recorded() && self.rules == CostModel::Papers;
        let mut watch = is_watched.then(|| PlayWatch::new(&program));
        let played = match &mut watch {
            Some(watch) => replay.run_watched(schedule, &mut |beginning| watch.begin(beginning)),
            None => replay.run(schedule),
        };
        let mut play_report = played.map_err(play_error)?;
        // A recorded receive names its buffer, which may be longer.
        for warning in play_report.warnings.iter().filter(|_| !program.is_recorded()) {
            drop(writeln!(io::stderr(), "warning: {warning}"));
        }
        let again = |machine| {
            let trace = player(machine).trace(true).run(schedule)?.trace;
            Ok(RunPath::from_trace(&trace.expect("it is traced")))
        };
        let machine = choice.machine();
        let sweep = |over: &String| {
            read_sweep(over, &machine, |range| ParameterSweep::run(machine.clone(), range, &again))
        };
        let sweep = self.over.as_ref().map(sweep).transpose()?;
        let trace = play_report.trace.take();
        let comparison = Comparison::new(&program, &play_report, watch);
        let noise = noise.as_ref();
        let played = PlayedSchedule {
            name: &name,
            schedule,
            machine: choice.name,
            machine_params: choice.machine(),
            ports,
            rules: self.rules,
            noise,
            play_report,
            sweep,
        };
        let unit = choice.unit;
        let parameters = parameters(&choice.params, &unit).join(", ");
        let rules = match self.rules {
            CostModel::Papers => "",
            _ => ", LogGOPSim's rules",
        };
        let wires = wire_text(Latency::Exact, Ties::Number, ports) + &noise_text(noise);
        let machine = choice_heading(&choice, &parameters, &format!("virtual clock{wires}"));
        let heading = format!("{}\n{machine}{rules}", printable_line(&name));
        if let Some(mut trace) = trace {
            trace.caption = Some(Caption { title: name.clone(), about: machine, formula: None });
            trace_outputs.write(&trace, unit)?;
        }
        let mut columns = played_columns();
        columns.extend(comparison_columns(|_: &PlayedSchedule| comparison.as_ref()));
        columns.extend(sweep_columns(|row: &PlayedSchedule| row.sweep.as_ref()));
        let mut report = Report::new(out, self.format, columns).with_files(files);
        report.add(played)?;
        report.finish(&heading, unit, |rows| {
            let sweep = |row: &PlayedSchedule| {
                row.sweep.as_ref().map_or_else(Vec::new, |sweep| sweep_blocks(sweep, unit))
            };
            rows.iter()
                .flat_map(|row| tables(row, comparison.as_ref(), unit).into_iter().chain(sweep(row)))
                .collect()
        })
    }
}

/// Returns the machine for a schedule that the options choose. Without a name its words are bytes.
pub fn machine_for(
    options: &ChoiceOptions,
    levels: &LevelOptions,
    schedule: &Schedule,
) -> Result<MachineChoice, CliError> {
    if is_parameter_given(options, "P") {
        return Err(CliError::request("the schedule says how many ranks there are; leave P out of --params"));
    }
    let machine = partial_machine(options, Some(schedule.ranks()))?;
    let file_levels = machine.levels.clone();
    let mut choice = machine.complete(options)?;
    if choice.name.is_none() && !is_parameter_given(options, "word") {
        choice.params.word = NonZeroUsize::MIN;
    }
    choice.levels = levels.build(&file_levels, &choice.params).map_err(CliError::Request)?;
    choice.machine().check().map_err(CliError::request)?;
    Ok(choice)
}

/// Converts the error of a play.
pub fn play_error(error: RunError) -> CliError {
    match error.cause {
        Cause::Params(why) => CliError::request(why),
        Cause::Host(why) => CliError::Request(why),
        _ => CliError::run(error),
    }
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
