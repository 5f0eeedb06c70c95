//! `loggp run`: runs one algorithm.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use loggp::ClockKind;

use super::expectation::expect_times;
use super::experiment::{Experiment, ProgramSetup};
use super::trend;
use crate::ask::options::Options;
use crate::ask::output::Outputs;
use crate::ask::program_args::ProgramArgs;
use crate::ask::trace_outputs::TraceOutputs;
use crate::error::CliError;

/// Run one algorithm of a program on the virtual clock, and verify its result
#[derive(Args)]
#[command(after_help = "Examples:
  loggp run fft
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
    /// Write what happened to a file, which `loggp audit` reads: FILE.json, which ui.perfetto.dev reads too, or FILE.loggp,
    /// which has fewer bytes
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    trace: Option<PathBuf>,
    /// Draw what each processor did when, as in LogP's figure 3: FILE.svg, or FILE.html, a page to look into it
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    timeline: Option<PathBuf>,
    #[command(flatten)]
    outputs: Outputs,
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
        let RunArgs { selection, trace, timeline, outputs } = &self.program.request;
        let is_traced = trace.is_some() || timeline.is_some();
        let mut experiment = selection.experiment(&self.program, is_traced)?;
        experiment.tasks = expect_times(experiment.tasks, true)?;
        let mut report = experiment.open_report(out, &selection.options, outputs)?;
        let mut trace_outputs = TraceOutputs::open(trace.as_deref(), timeline.as_deref())?;
        let unit = experiment.unit;
        experiment.run(&mut report, |trace| trace_outputs.write(&trace, unit))?;
        report.draw(|rows| trend::plot(&experiment.heading, rows))
    }
}
