//! `loggp run`: runs one algorithm.

use std::io::Write;
use std::mem::take;
use std::path::PathBuf;

use clap::Args;
use loggp::ClockKind;
use loggp::trace::Caption;
use loggp_study::{Answers, Study};

use super::details::details;
use super::error::CliError;
use super::heading::heading;
use super::number::Unit;
use super::options::Options;
use super::output::{OutputFiles, Outputs};
use super::program_args::ProgramArgs;
use super::program_setup::ProgramSetup;
use super::progress::ProgressDisplay;
use super::report::Report;
use super::row::{self, MOST_DECIMALS, StudyRow, Task};
use super::studies::{share_cores, warn_of_host};
use super::trace_outputs::TraceOutputs;
use super::trend;

/// Run one algorithm of a program on the virtual clock, and verify its result
#[derive(Args)]
#[command(after_help = "Examples:
  loggp run fft
  loggp run lu --help")]
pub struct RunCommand {
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
pub struct RunSelection {
    /// Its algorithm [default: the best known]
    #[arg(value_name = "ALGORITHM", hide_possible_values = true)]
    algorithm: Option<String>,
    #[command(flatten)]
    pub options: Options,
}

/// A run whose arguments are checked.
pub struct PreparedRun {
    /// Name of the machine, if it has one.
    machine: Option<&'static str>,
    pub unit: Unit,
    pub study: Study,
    /// Heading of the report.
    pub heading: String,
}

impl PreparedRun {
    /// Prepares a run with these options.
    pub fn new<T>(
        program: &ProgramArgs<T>,
        selection: &RunSelection,
        is_traced: bool,
    ) -> Result<PreparedRun, CliError> {
        let RunSelection { algorithm, options } = selection;
        let setup = ProgramSetup::new(program, options, ClockKind::Virtual)?;
        if is_traced && options.seeds.is_some() {
            return Err(CliError::request(
                "a trace is of one run; leave out --seeds: the table says which --latency, --ties or --noise repeats the median run",
            ));
        }
        if options.shard.is_some() {
            return Err(CliError::request("a run is one; leave out --shard, or give it to compare or sweep"));
        }
        let choice = setup.machine_choice()?;
        let algorithm = setup.algorithms(algorithm.as_slice())?[0];
        setup.check_given_options(&[algorithm])?;
        let mut study = setup.study(algorithm, choice.params).map_err(CliError::request)?;
        study.emulation.trace = is_traced;
        study.case.check().map_err(CliError::request)?;
        let heading = heading(&study, choice.name, &choice.unit, None);
        Ok(PreparedRun { machine: choice.name, unit: choice.unit, study, heading })
    }

    /// Runs the algorithm.
    pub fn run(&mut self) -> Result<Answers, CliError> {
        share_cores(&mut [&mut self.study]);
        let progress = ProgressDisplay::for_runs(self.study.runs());
        progress.set_position(0, self.study.case.algorithm.name);
        Ok(self.study.run_with_progress(|| progress.finish_one())?)
    }

    /// Returns the caption of the run's trace and picture.
    pub fn caption(&self, answers: &Answers) -> Caption {
        let (title, rest) = self.heading.split_once(": ").unwrap_or((&self.heading, ""));
        let title = format!("{title}, {}", self.study.case.algorithm.name);
        Caption { title, about: rest.into(), formula: answers.prediction.formula }
    }

    /// Prints the report. Fails if the result is wrong.
    pub fn report(
        self,
        answers: Answers,
        options: &Options,
        mut files: OutputFiles,
        out: &mut dyn Write,
    ) -> Result<(), CliError> {
        let PreparedRun { machine, unit, study, heading } = self;
        let mut report = Report::new(out, options.machine.format, row::columns(None, options.spread()))
            .with_files(take(&mut files.rows));
        let (wrong, program) = (answers.wrong.clone(), study.case.program);
        let task = Task { name: study.case.algorithm.name.into(), machine, study, swept_value: None };
        report.add(StudyRow { task, answers })?;
        report.finish(&heading, unit, MOST_DECIMALS, |rows| details(rows, unit))?;
        warn_of_host(&report.rows);
        if wrong.is_none() {
            files.draw(|| trend::plot(&heading, program, &report.rows))?;
        }
        wrong.map_or(Ok(()), |what| Err(CliError::Run(format!("the result is wrong: {what}"))))
    }
}

impl RunCommand {
    /// Runs the algorithm, and writes the report, the trace and the picture.
    pub fn execute(&self, out: &mut dyn Write) -> Result<(), CliError> {
        let RunArgs { selection, trace, timeline, outputs } = &self.program.request;
        let is_traced = trace.is_some() || timeline.is_some();
        let mut run = PreparedRun::new(&self.program, selection, is_traced)?;
        trend::check_picture(outputs, &run.study)?;
        let files = outputs.open()?;
        let trace_outputs = TraceOutputs::open(trace.as_deref(), timeline.as_deref())?;

        let mut answers = run.run()?;
        if let Some(mut trace) = answers.take_trace() {
            trace.caption = Some(run.caption(&answers));
            trace_outputs.write(&trace, run.unit)?;
        }
        run.report(answers, &selection.options, files, out)
    }
}
