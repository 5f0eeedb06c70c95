//! `loggp compare`: a program's algorithms side by side, a row each.

use std::io::Write;
use std::mem::take;

use clap::Args;
use loggp::ClockKind;

use super::details::details;
use super::failure::Failure;
use super::heading::heading;
use super::options::Options;
use super::output::Outputs;
use super::own::OfProgram;
use super::report::Report;
use super::row::{self, MOST_DECIMALS, Task};
use super::setting::Setting;
use super::shard::{self, dealt};
use super::studies::{end, run_all, warn};
use super::trend;

/// The arguments.
#[derive(Args)]
pub struct Compare {
    /// Of which program.
    #[command(subcommand)]
    of: OfProgram<Request>,
}

/// What is asked of the program.
#[derive(Args)]
struct Request {
    /// Its algorithms [default: all]
    #[arg(value_name = "ALGORITHM", hide_possible_values = true)]
    algorithms: Vec<String>,
    /// How to run them.
    #[command(flatten)]
    options: Options,
    /// Where else it goes.
    #[command(flatten)]
    outputs: Outputs,
}

impl Compare {
    /// Runs them all, also where some fail, and then says which failed.
    pub fn execute(&self, out: &mut dyn Write) -> Result<(), Failure> {
        let setting = Setting::of(&self.of, &self.of.request.options, ClockKind::Wall)?;
        let choice = setting.choice()?;
        let algorithms = setting.algorithms(&self.of.request.algorithms)?;
        setting.check_use(&algorithms)?;
        let (mut studies, mut refusals) = (Vec::new(), Vec::new());
        for algorithm in algorithms {
            let study = setting.study(algorithm, choice.params);
            match study.and_then(|study| study.case.check().map(|()| study)) {
                Ok(study) => {
                    let name = algorithm.name.into();
                    studies.push(Task { name, machine: choice.name, study, at: None });
                }
                Err(refusal) => refusals.push(Failure::request(refusal)),
            }
        }
        // What was named must be able to run; of all, those that can.
        if studies.is_empty() || !self.of.request.algorithms.is_empty() && !refusals.is_empty() {
            return Err(refusals.swap_remove(0));
        }
        Failure::warn_of(refusals);

        let shard = self.of.request.options.shard;
        shard::check(shard, &self.of.request.outputs)?;
        trend::check(&self.of.request.outputs, &studies[0].study)?;
        let mut files = self.of.request.outputs.open()?;
        let heading = heading(&studies[0].study, choice.name, &choice.unit, None);
        let columns = row::columns(None, self.of.request.options.spread());
        let mut report =
            Report::new(out, self.of.request.options.machine.format, columns).files(take(&mut files.rows));
        let failed = run_all(dealt(shard, studies), &mut report)?;
        report.finish(&heading, choice.unit, MOST_DECIMALS, |rows| details(rows, choice.unit))?;
        warn(&report.rows);
        // A picture has every algorithm, or is not drawn.
        end(failed)?;
        files.draw(|| trend::plot(&heading, setting.program, &report.rows))
    }
}
