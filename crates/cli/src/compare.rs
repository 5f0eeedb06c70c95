//! `loggp compare`: compares a program's algorithms, a row each.

use std::io::Write;
use std::mem::take;

use clap::Args;
use loggp::ClockKind;

use super::details::details;
use super::error::CliError;
use super::heading::heading;
use super::options::Options;
use super::output::Outputs;
use super::program_args::ProgramArgs;
use super::program_setup::ProgramSetup;
use super::report::Report;
use super::row::{self, MOST_DECIMALS, Task};
use super::shard::{self, shard_items};
use super::studies::{combine_errors, run_all, warn_of_host};
use super::trend;

/// Compare formula, model and, on the wall clock, measurement of a program's algorithms
#[derive(Args)]
#[command(after_help = "Examples:
  loggp compare remap
  loggp compare scatter optimal binomial -P 16 --clock virtual -o scatter.csv")]
pub struct CompareCommand {
    #[command(subcommand)]
    program: ProgramArgs<CompareArgs>,
}

/// The arguments of `loggp compare` for one program.
#[derive(Args)]
struct CompareArgs {
    /// Its algorithms [default: all]
    #[arg(value_name = "ALGORITHM", hide_possible_values = true)]
    algorithms: Vec<String>,
    #[command(flatten)]
    options: Options,
    #[command(flatten)]
    outputs: Outputs,
}

impl CompareCommand {
    /// Runs all algorithms, even if some fail, and then reports the failures.
    pub fn execute(&self, out: &mut dyn Write) -> Result<(), CliError> {
        let setup = ProgramSetup::new(&self.program, &self.program.request.options, ClockKind::Wall)?;
        let choice = setup.machine_choice()?;
        let algorithms = setup.algorithms(&self.program.request.algorithms)?;
        setup.check_given_options(&algorithms)?;
        let (mut studies, mut refusals) = (Vec::new(), Vec::new());
        for algorithm in algorithms {
            let study = setup.study(algorithm, choice.params);
            match study.and_then(|study| study.case.check().map(|()| study)) {
                Ok(study) => {
                    let name = algorithm.name.into();
                    studies.push(Task { name, machine: choice.name, study, swept_value: None });
                }
                Err(refusal) => refusals.push(CliError::request(refusal)),
            }
        }
        // Algorithms that were named must be able to run. Without names, those that cannot are left out.
        if studies.is_empty() || !self.program.request.algorithms.is_empty() && !refusals.is_empty() {
            return Err(refusals.swap_remove(0));
        }
        CliError::warn_all(refusals);

        let shard = self.program.request.options.shard;
        shard::check_outputs(shard, &self.program.request.outputs)?;
        trend::check_picture(&self.program.request.outputs, &studies[0].study)?;
        let mut files = self.program.request.outputs.open()?;
        let heading = heading(&studies[0].study, choice.name, &choice.unit, None);
        let columns = row::columns(None, self.program.request.options.spread());
        let mut report = Report::new(out, self.program.request.options.machine.format, columns)
            .with_files(take(&mut files.rows));
        let failed = run_all(shard_items(shard, studies), &mut report)?;
        report.finish(&heading, choice.unit, MOST_DECIMALS, |rows| details(rows, choice.unit))?;
        warn_of_host(&report.rows);
        // A picture is drawn only if every algorithm succeeded.
        combine_errors(failed)?;
        files.draw(|| trend::plot(&heading, setup.program, &report.rows))
    }
}
