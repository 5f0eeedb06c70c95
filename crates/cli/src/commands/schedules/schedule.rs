//! `loggp schedule`: writes a common pattern of communication as a schedule, which `loggp replay` plays.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use loggp::schedule::Schedule;
use loggp::{NS, Time};
use loggp_goal::patterns::{self, CollectiveKind, PATTERNS, collective_names};
use loggp_model::text::nearest_name;

use crate::ask::completion_values;
use crate::ask::lookup::{find_collective, name_list};
use crate::ask::options::parse_count;
use crate::ask::output::{extension, unknown_extension};
use crate::error::CliError;
use crate::host::draft::{Draft, is_stdout};

/// Write the schedule of a usual pattern of communication, in GOAL
#[derive(Args)]
#[command(after_help = format!("{}

MPI's collectives are patterns too, by an algorithm, as allreduce:rabenseifner, or as a library does them, as
bcast:openmpi and bcast:mpich.

Examples:
  loggp schedule ring -P 8 --size 64
  loggp schedule dissemination -P 64 -o dissemination.goal",
    name_list("Patterns", PATTERNS.iter().map(|pattern| (pattern.name, pattern.about)))
))]
pub(crate) struct ScheduleCommand {
    /// The pattern: one of the names below
    #[arg(value_name = "PATTERN", value_parser = completion_values::pattern(), hide_possible_values = true)]
    pattern: String,
    /// Number of ranks
    #[arg(short = 'P', long = "processors", value_name = "N", value_parser = parse_count, allow_negative_numbers = true, default_value = "8")]
    P: usize,
    /// Bytes of a message; of the whole, where parts of it are sent
    #[arg(long, value_name = "BYTES", value_parser = parse_count, allow_negative_numbers = true, default_value = "1")]
    size: usize,
    /// Write it to FILE.goal as text, or to FILE.bin in LogGOPSim's binary form [default: to stdout, as text]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl ScheduleCommand {
    /// Writes the schedule of the pattern.
    pub(crate) fn execute(&self, out: &mut dyn Write) -> Result<(), CliError> {
        let goal = GoalOutput::open(self.output.as_deref())?;
        goal.write(&pattern_schedule(&self.pattern, self.P, self.size)?, NS, out)
    }
}

/// The output of a schedule.
pub(crate) enum GoalOutput {
    /// Text on stdout.
    Out,
    Text(Draft),
    Binary(Draft),
}

impl GoalOutput {
    /// Opens the output, whose format depends on the ending of `path`; stdout without a path.
    pub(crate) fn open(path: Option<&Path>) -> Result<GoalOutput, CliError> {
        let Some(path) = path.filter(|path| !is_stdout(path)) else { return Ok(GoalOutput::Out) };
        match extension(path).as_str() {
            "goal" => Ok(GoalOutput::Text(Draft::create(path, "output")?)),
            "bin" => Ok(GoalOutput::Binary(Draft::create(path, "output")?)),
            _ => Err(unknown_extension(path, ".goal for text, or in .bin for LogGOPSim's binary form")),
        }
    }

    /// Writes a schedule to the output.
    pub(crate) fn write(self, schedule: &Schedule, unit: Time, out: &mut dyn Write) -> Result<(), CliError> {
        match self {
            GoalOutput::Out => Ok(loggp_goal::write(schedule, out, unit)?),
            GoalOutput::Text(draft) => draft.write(|file| loggp_goal::write(schedule, file, unit)),
            GoalOutput::Binary(draft) => draft.write(|file| loggp_goal::write_binary(schedule, file, unit)),
        }
    }
}

/// Returns a sentence that there is no such pattern.
pub(crate) fn unknown_pattern(name: &str) -> String {
    let collectives: Vec<String> = collective_names().map(|(name, _)| name).collect();
    let all = PATTERNS.iter().map(|pattern| pattern.name).chain(collectives.iter().map(String::as_str));
    let near = match find_collective(name).map(CollectiveKind::name) {
        Some(collective) => format!("for the collective there is {collective}:openmpi, say; "),
        None => nearest_name(name, all),
    };
    format!("there is no pattern {name}; {near}`loggp schedule --help` lists all")
}

/// Returns the schedule of the pattern with this name.
pub(crate) fn pattern_schedule(name: &str, P: usize, size: usize) -> Result<Schedule, CliError> {
    let schedule = patterns::pattern_schedule(name, P, size as u64);
    schedule.unwrap_or_else(|| Err(unknown_pattern(name))).map_err(CliError::Request)
}
