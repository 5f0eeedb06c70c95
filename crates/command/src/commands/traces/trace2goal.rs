//! `loggp trace2goal`: converts a recorded run into a schedule in GOAL, which LogGOPSim reads.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use loggp::Time;
use loggp::trace::{Call, CallKind};

use crate::ask::options::parse_length;
use crate::ask::output::{extension, unknown_extension};
use crate::ask::trace_input::read_trace;
use crate::error::CliError;
use crate::host::draft::{Draft, is_stdout};

/// Write the trace of a run as a GOAL schedule, which LogGOPSim reads
#[derive(Args)]
#[command(after_help = "Examples:
  loggp trace2goal scatter.json
  loggp trace2goal scatter.json -o scatter.goal")]
pub(crate) struct Trace2GoalCommand {
    /// A file that `loggp run --trace` wrote
    trace: PathBuf,
    /// What a unit of `calc` is
    #[arg(long, value_name = "TIME", default_value = "1ns", value_parser = parse_length)]
    unit: Time,
    /// Write it to FILE.goal [default: to stdout]
    #[arg(short, long, value_name = "FILE.goal")]
    output: Option<PathBuf>,
}

impl Trace2GoalCommand {
    /// Converts the trace, and prints or writes the schedule.
    pub(crate) fn execute(&self, out: &mut dyn Write) -> Result<(), CliError> {
        let refuse = |why: String| CliError::Request(format!("{}: {why}", self.trace.display()));
        let schedule = |out: &mut dyn Write| {
            let trace = read_trace(&self.trace)?;
            loggp_goal::trace::check(&trace).map_err(refuse)?;
            let is_request =
                |call: &Call| matches!(call.kind, CallKind::Isend { .. } | CallKind::Irecv { .. });
            if trace.calls.iter().any(is_request) {
                let sentence = "what the calls for requests and the waits for them cost, and that messages travel while \
                                their processor computes: GOAL has neither, so the schedule takes another time than the run";
                CliError::request(sentence).warn();
            }
            Ok::<(), CliError>(loggp_goal::trace::write(&trace, self.unit, out)?)
        };
        let path = self.output.as_deref().filter(|path| !is_stdout(path));
        let Some(path) = path else { return schedule(out) };
        if extension(path) != "goal" {
            return Err(unknown_extension(path, ".goal"));
        }
        let draft = Draft::create(path, "output")?;
        let mut text = Vec::new();
        schedule(&mut text)?;
        draft.write(|mut file| file.write_all(&text))
    }
}
