//! The schedule that a command takes: of a program that an annex reads, from a file in GOAL, or of a pattern.

use std::path::{Path, PathBuf};

use clap::Args;
use loggp::schedule::Schedule;
use loggp::{NS, Time};
use loggp_goal::patterns::is_pattern;
use loggp_schedule::program::ProgramSchedule;

use super::schedule::{pattern_schedule, unknown_pattern};
use crate::annex;
use crate::ask::options::{parse_count, parse_length};
use crate::error::{CliError, system_reason};
use crate::host::source::{is_there, open_source};
use crate::number::count;

/// The options of a pattern, and of a file with a schedule.
#[derive(Args)]
pub(crate) struct SourceOptions {
    /// Number of ranks of a pattern [default: 8]
    #[arg(short = 'P', long = "processors", value_name = "N", value_parser = parse_count, allow_negative_numbers = true)]
    pub P: Option<usize>,
    /// Bytes of a pattern's messages; of the whole, where parts of it are sent [default: 1]
    #[arg(long, value_name = "BYTES", value_parser = parse_count, allow_negative_numbers = true)]
    pub size: Option<usize>,
    /// The length of a unit of a file's computations [default: 1ns]
    #[arg(long, value_name = "TIME", value_parser = parse_length, allow_hyphen_values = true)]
    #[arg(help_heading = "Schedule")]
    pub unit: Option<Time>,
}

/// A schedule, with its name in reports and what is known of its program.
pub(crate) struct ScheduleInput {
    pub name: String,
    pub program: ProgramSchedule,
}

impl SourceOptions {
    /// Makes the schedule of the pattern with this name, or reads it from the file with this name. A program whose ranks
    /// have a file each has `others` too. Without `-P` a pattern has as many ranks as the levels have processors,
    /// if there are levels.
    pub(crate) fn read(
        &self,
        name: &str,
        others: &[PathBuf],
        options: &annex::InputOptions,
        of_levels: Option<usize>,
    ) -> Result<ScheduleInput, CliError> {
        let path = Path::new(name);
        let kind = annex::input_of(path);
        if kind.is_none() {
            options.refuse_for(name)?;
            if let Some(other) = others.first() {
                return Err(CliError::Request(format!(
                    "{name} is no trace of a rank, and {} comes after it; give one schedule, or all files of a program",
                    other.display()
                )));
            }
        }
        if !is_there(path) && is_pattern(name) {
            if self.unit.is_some() {
                return Err(CliError::Request(format!(
                    "--unit is for a file, and {name} is a pattern, which computes nothing; leave it out"
                )));
            }
            let size = self.size.unwrap_or(1);
            let schedule = pattern_schedule(name, self.P.or(of_levels).unwrap_or(8), size)?;
            return Ok(ScheduleInput {
                name: format!("{name}, {}", count(size, "byte")),
                program: schedule.into(),
            });
        }
        if !is_there(path) && path.extension().is_none() {
            return Err(CliError::Request(format!("there is no file {name}, and {}", unknown_pattern(name))));
        }
        for (option, given) in [("-P", self.P.is_some()), ("--size", self.size.is_some())] {
            if given {
                return Err(CliError::Request(format!(
                    "{option} is for a pattern, and {name} is a file; leave it out"
                )));
            }
        }
        let unit = self.unit.unwrap_or(NS);
        let program = match kind {
            Some(kind) => {
                let files = [path.to_path_buf()].into_iter().chain(others.iter().cloned());
                options.read(kind, &files.collect::<Vec<_>>(), unit)?
            }
            None => read_schedule(path, unit)?.into(),
        };
        Ok(ScheduleInput { name: name.into(), program })
    }
}

/// Reads a schedule.
fn read_schedule(path: &Path, unit: Time) -> Result<Schedule, CliError> {
    let name = path.display();
    if let Some(why) = annex::unread(path) {
        return Err(why);
    }
    let source = open_source(path);
    let source = source
        .map_err(|error| CliError::Request(format!("{name} cannot be read: {}", system_reason(&error))))?;
    loggp_goal::read(source, unit).map_err(|error| CliError::Request(format!("{name}: {error}")))
}
