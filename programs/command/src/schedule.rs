//! `loggp schedule`: a usual pattern of communication as a schedule, written down or played at once.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use loggp_goal::patterns::{PATTERNS, Pattern};

use super::draft::Draft;
use super::failure::Failure;
use super::known;
use super::name::nearest;
use super::options::count;
use super::replay::ReplayOptions;

/// The arguments.
#[derive(Args)]
#[command(after_help = names())]
pub struct ScheduleCommand {
    /// The pattern: one of the names below
    #[arg(value_name = "PATTERN", value_parser = known::pattern(), hide_possible_values = true)]
    pattern: String,
    /// Number of ranks
    #[arg(short = 'P', value_name = "N", value_parser = count, allow_negative_numbers = true, default_value = "8")]
    P: usize,
    /// Bytes of a message; of the whole, where parts of it are sent
    #[arg(long, value_name = "BYTES", value_parser = count, allow_negative_numbers = true, default_value = "1")]
    size: usize,
    /// Write it to a file: in LogGOPSim's binary form if the name ends in .bin, else as text [default: to stdout, as text]
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    out: Option<PathBuf>,
    /// Play it at once, and say how long it takes
    #[arg(long)]
    replay: bool,
    /// How it is played.
    #[command(flatten)]
    options: ReplayOptions,
}

/// All patterns.
fn names() -> String {
    let width = PATTERNS.iter().map(|pattern| pattern.name.len()).max().unwrap_or(0);
    let lines = PATTERNS.iter().map(|pattern| format!("  {:width$}  {}", pattern.name, pattern.about));
    format!("Patterns:\n{}", lines.collect::<Vec<_>>().join("\n"))
}

impl ScheduleCommand {
    /// Makes the schedule, and writes or plays it.
    pub fn execute(&self, out: &mut dyn Write) -> Result<(), Failure> {
        let Some(pattern) = Pattern::named(&self.pattern) else {
            let nearest = nearest(&self.pattern, PATTERNS.iter().map(|pattern| pattern.name));
            return Err(Failure::Request(format!(
                "there is no pattern {}; the nearest name is {nearest}; `loggp schedule --help` lists all",
                self.pattern
            )));
        };
        let draft = self.out.as_deref().map(|path| Draft::create(path, "out")).transpose()?;
        let schedule = pattern.schedule(self.P, self.size as u64).map_err(Failure::Request)?;
        if self.replay {
            let bytes = super::number::count(self.size, "byte");
            return self.options.play(&format!("{}, {bytes}", pattern.name), &schedule, out);
        }
        let unit = self.options.unit;
        match draft {
            None => Ok(loggp_goal::write(&schedule, out, unit)?),
            Some(draft) => draft.write(|file| match &self.out {
                Some(path) if path.extension().is_some_and(|extension| extension == "bin") => {
                    loggp_goal::write_binary(&schedule, file, unit)
                }
                _ => loggp_goal::write(&schedule, file, unit),
            }),
        }
    }
}
