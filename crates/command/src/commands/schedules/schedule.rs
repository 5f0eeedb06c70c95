//! `loggp schedule`: writes a common pattern of communication as a schedule, which `loggp replay` plays.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use loggp::NS;
use loggp::schedule::Schedule;
use loggp_goal::patterns::{self, CollectiveKind, PATTERNS, collective_names};
use loggp_model::text::nearest_name;

use crate::annex;
use crate::ask::completion_values;
use crate::ask::goal_output::GoalOutput;
use crate::ask::lookup::{find_collective, name_list};
use crate::ask::options::parse_count;
use crate::error::CliError;

/// Write the schedule of a usual pattern of communication, in GOAL
#[derive(Args)]
#[command(after_help = format!("{}

MPI's collectives are patterns too, by an algorithm, as allreduce:rabenseifner, or as a library does them, as
bcast:openmpi and bcast:mpich{}.

Examples:
  loggp schedule ring -P 8 --size 64
  loggp schedule dissemination -P 64 -o dissemination.goal",
    name_list("Patterns", PATTERNS.iter().map(|pattern| (pattern.name, pattern.about))),
    if annex::libraries().is_empty() { " (feature mpi)" } else { "" }
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

/// Returns a sentence that there is no such pattern.
pub(crate) fn unknown_pattern(name: &str) -> String {
    let collectives: Vec<String> = collective_names().map(|(name, _)| name).collect();
    let all = PATTERNS.iter().map(|pattern| pattern.name).chain(collectives.iter().map(String::as_str));
    let near = match find_collective(name).map(CollectiveKind::name) {
        Some(collective) => {
            let how = annex::libraries().first().map_or("linear", |library| library.name);
            format!("for the collective there is {collective}:{how}, say; ")
        }
        None => nearest_name(name, all),
    };
    format!("there is no pattern {name}; {near}`loggp schedule --help` lists all")
}

/// Returns the schedule of the pattern with this name.
pub(crate) fn pattern_schedule(name: &str, P: usize, size: usize) -> Result<Schedule, CliError> {
    if let Some(why) = annex::without_library(name) {
        return Err(why);
    }
    let schedule = patterns::pattern_schedule(name, P, size as u64, annex::libraries());
    schedule.unwrap_or_else(|| Err(unknown_pattern(name))).map_err(CliError::Request)
}
