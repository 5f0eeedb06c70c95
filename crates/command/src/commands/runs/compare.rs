//! `loggp compare`: compares a program's algorithms, a row each.

use std::io::Write;

use clap::Args;
use loggp::ClockKind;

use super::expectation::expect_times;
use super::experiment::{Experiment, ProgramSetup};
use super::trend;
use crate::ask::options::Options;
use crate::ask::output::Outputs;
use crate::ask::program_args::ProgramArgs;
use crate::error::CliError;

/// Compare formula, model and, on the wall clock, measurement of a program's algorithms
#[derive(Args)]
#[command(after_help = "Examples:
  loggp compare remap
  loggp compare scatter optimal binomial -P 16 --clock virtual -o scatter.csv")]
pub(crate) struct CompareCommand {
    #[command(subcommand)]
    program: ProgramArgs<CompareArgs>,
}

/// The arguments of `loggp compare` for one program.
#[derive(Args)]
struct CompareArgs {
    /// Which algorithms to run [default: all]
    #[arg(value_name = "ALGORITHM", hide_possible_values = true)]
    algorithms: Vec<String>,
    #[command(flatten)]
    options: Options,
    #[command(flatten)]
    outputs: Outputs,
}

impl CompareCommand {
    /// Runs all algorithms, even if some fail, and then reports the failures.
    pub(crate) fn execute(&self, out: &mut dyn Write) -> Result<(), CliError> {
        let CompareArgs { algorithms: names, options, outputs } = &self.program.request;
        let setups = options.setups(&self.program, ClockKind::Wall)?;
        // Algorithms that are named must be able to run. Without names, those that cannot are left out.
        let comparison =
            |setup: &ProgramSetup| setup.comparison(&setup.algorithms(names)?, !names.is_empty());
        let experiments = setups.iter().map(comparison).collect::<Result<_, _>>()?;
        let mut experiment = Experiment::merge(experiments, options.run.shard);
        experiment.tasks = expect_times(experiment.tasks, !names.is_empty())?;
        let mut report = experiment.open_report(out, options, outputs)?;
        experiment.plot = Some(|experiment, rows| trend::plot(&experiment.heading, rows));
        experiment.run(&mut report, |_| Ok(()))?;
        experiment.draw(report)
    }
}
