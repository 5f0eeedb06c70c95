//! `loggp run`: runs one algorithm.

use std::io::Write;

use clap::Args;
use loggp::ClockKind;

use super::expectation::expect_times;
use super::experiment::{Experiment, ProgramSetup};
use super::trend;
use crate::ask::options::Options;
use crate::ask::program_args::ProgramArgs;
use crate::ask::trace_outputs::RunOutputs;
use crate::error::CliError;

/// Run one algorithm of a program on the virtual clock, and verify its result
#[derive(Args)]
#[command(after_help = "Examples:
  loggp run broadcast P=8 L=6 o=2 g=4 -o tree.svg -o run.svg
  loggp run lu --help")]
pub(crate) struct RunCommand {
    #[command(subcommand)]
    program: ProgramArgs<RunArgs>,
}

/// The arguments of `loggp run` for one program.
#[derive(Args)]
struct RunArgs {
    #[command(flatten)]
    selection: RunSelection,
    #[command(flatten)]
    outputs: RunOutputs,
}

/// The arguments that choose one run of a program.
#[derive(Args)]
pub(crate) struct RunSelection {
    /// Which algorithm to run [default: the best known]
    #[arg(value_name = "ALGORITHM", hide_possible_values = true)]
    algorithm: Option<String>,
    #[command(flatten)]
    pub options: Options,
}

impl RunSelection {
    /// Returns the experiment with this run.
    pub(crate) fn experiment<T>(
        &self,
        args: &ProgramArgs<T>,
        is_traced: bool,
    ) -> Result<Experiment, CliError> {
        let setups = self.options.setups(args, ClockKind::Virtual)?;
        if is_traced && setups.len() > 1 {
            return Err(CliError::request("a trace is of one machine's run; give one --machine"));
        }
        let single = |setup: &ProgramSetup| setup.single(&self.algorithm, is_traced);
        Ok(Experiment::merge(setups.iter().map(single).collect::<Result<_, _>>()?, None))
    }
}

impl RunCommand {
    /// Runs the algorithm, and writes the report, the trace and the picture.
    pub(crate) fn execute(&self, out: &mut dyn Write) -> Result<(), CliError> {
        let RunArgs { selection, outputs } = &self.program.request;
        // The picture of runs with different seeds is that of their times.
        let is_plot = selection.options.run.seeds.is_some() && outputs.may_be_plot();
        let mut experiment = selection.experiment(&self.program, outputs.needs_trace() && !is_plot)?;
        experiment.tasks = expect_times(experiment.tasks, true)?;
        let (mut run_files, mut files) = outputs.open()?;
        if is_plot {
            files.pictures = std::mem::take(&mut run_files).into_pictures();
        }
        let mut report = experiment.report(out, &selection.options, files);
        let unit = experiment.unit;
        experiment.run(&mut report, |trace| run_files.write(&trace, unit))?;
        report.draw(|rows| trend::plot(&experiment.heading, rows))
    }
}
