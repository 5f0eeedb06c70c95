//! The file of a schedule in GOAL.

use std::io::Write;
use std::path::Path;

use loggp::Time;
use loggp::schedule::Schedule;

use super::output::{extension, unknown_extension};
use crate::error::CliError;
use crate::host::draft::{Draft, is_stdout};

/// The output of a schedule.
pub enum GoalOutput {
    /// Text on stdout.
    Out,
    Text(Draft),
    Binary(Draft),
}

impl GoalOutput {
    /// Opens the output, whose format depends on the ending of `path`; stdout without a path.
    pub fn open(path: Option<&Path>) -> Result<GoalOutput, CliError> {
        let Some(path) = path.filter(|path| !is_stdout(path)) else { return Ok(GoalOutput::Out) };
        match extension(path).as_str() {
            "goal" => Ok(GoalOutput::Text(Draft::create(path, "output")?)),
            "bin" => Ok(GoalOutput::Binary(Draft::create(path, "output")?)),
            _ => Err(unknown_extension(path, ".goal for text, or in .bin for LogGOPSim's binary form")),
        }
    }

    /// Writes a schedule to the output.
    pub fn write(self, schedule: &Schedule, unit: Time, out: &mut dyn Write) -> Result<(), CliError> {
        match self {
            GoalOutput::Out => Ok(loggp_goal::write(schedule, out, unit)?),
            GoalOutput::Text(draft) => draft.write(|file| loggp_goal::write(schedule, file, unit)),
            GoalOutput::Binary(draft) => draft.write(|file| loggp_goal::write_binary(schedule, file, unit)),
        }
    }
}
