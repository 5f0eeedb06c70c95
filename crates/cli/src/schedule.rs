//! `loggp schedule`: a usual pattern of communication as a schedule, written down. `loggp replay` plays it.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use loggp::{NS, Schedule, Time, near};
use loggp_goal::patterns::{PATTERNS, Pattern};

use super::draft::Draft;
use super::failure::Failure;
use super::known;
use super::options::count;
use super::output::{ending, unknown};

/// The arguments.
#[derive(Args)]
#[command(after_help = names())]
pub struct ScheduleCommand {
    /// The pattern: one of the names below
    #[arg(value_name = "PATTERN", value_parser = known::pattern(), hide_possible_values = true)]
    pattern: String,
    /// Number of ranks
    #[arg(short = 'P', long = "processors", value_name = "N", value_parser = count, allow_negative_numbers = true, default_value = "8")]
    P: usize,
    /// Bytes of a message; of the whole, where parts of it are sent
    #[arg(long, value_name = "BYTES", value_parser = count, allow_negative_numbers = true, default_value = "1")]
    size: usize,
    /// Write it to FILE.goal as text, or to FILE.bin in LogGOPSim's binary form [default: to stdout, as text]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// All patterns.
fn names() -> String {
    let width = PATTERNS.iter().map(|pattern| pattern.name.len()).max().unwrap_or(0);
    let lines = PATTERNS.iter().map(|pattern| format!("  {:width$}  {}", pattern.name, pattern.about));
    format!("Patterns:\n{}", lines.collect::<Vec<_>>().join("\n"))
}

impl ScheduleCommand {
    /// Makes the schedule, and writes it.
    pub fn execute(&self, out: &mut dyn Write) -> Result<(), Failure> {
        let goal = Goal::of(self.output.as_deref())?;
        goal.write(&of_pattern(&self.pattern, self.P, self.size)?, NS, out)
    }
}

/// Where a schedule is written to.
pub enum Goal {
    /// Stdout.
    Out,
    /// A file of text.
    Text(Draft),
    /// A file in LogGOPSim's binary form.
    Binary(Draft),
}

impl Goal {
    /// The place that this path says.
    pub fn of(path: Option<&Path>) -> Result<Goal, Failure> {
        let Some(path) = path else { return Ok(Goal::Out) };
        match ending(path).as_str() {
            "goal" => Ok(Goal::Text(Draft::create(path, "output")?)),
            "bin" => Ok(Goal::Binary(Draft::create(path, "output")?)),
            _ => Err(unknown(path, ".goal for text, or in .bin for LogGOPSim's binary form")),
        }
    }

    /// Writes a schedule there.
    pub fn write(self, schedule: &Schedule, unit: Time, out: &mut dyn Write) -> Result<(), Failure> {
        match self {
            Goal::Out => Ok(loggp_goal::write(schedule, out, unit)?),
            Goal::Text(draft) => draft.write(|file| loggp_goal::write(schedule, file, unit)),
            Goal::Binary(draft) => draft.write(|file| loggp_goal::write_binary(schedule, file, unit)),
        }
    }
}

/// Says that there is no such pattern.
pub fn no_pattern(name: &str) -> String {
    let near = near(name, PATTERNS.iter().map(|pattern| pattern.name));
    format!("there is no pattern {name}; {near}`loggp schedule --help` lists all")
}

/// The schedule of the pattern with this name.
pub fn of_pattern(name: &str, P: usize, size: usize) -> Result<Schedule, Failure> {
    let Some(pattern) = Pattern::named(name) else {
        return Err(Failure::Request(no_pattern(name)));
    };
    pattern.schedule(P, size as u64).map_err(Failure::Request)
}
