//! `loggp run`: one algorithm, once.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;

use super::failure::Failure;
use super::options::Options;
use super::report::Report;
use super::setting::{Done, Setting};
use super::trace_file::TraceFile;

/// The arguments.
#[derive(Args)]
pub struct Run {
    /// The program: `loggp programs` lists them
    program: String,
    /// Its algorithm [default: the best known]
    algorithm: Option<String>,
    /// How to run it.
    #[command(flatten)]
    options: Options,
    /// Write what happened to a file, which `loggp audit` and ui.perfetto.dev read
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    trace: Option<PathBuf>,
}

impl Run {
    /// Runs it.
    pub fn execute(&self, out: &mut dyn Write) -> Result<(), Failure> {
        let setting = Setting::of(&self.program, &self.options)?;
        let algorithm = setting.algorithm(self.algorithm.as_deref())?;
        setting.check(algorithm)?;
        let file = self.trace.as_deref().map(TraceFile::create).transpose()?;

        let Done { row, wrong, trace } = setting.run(algorithm, file.is_some()).map_err(Failure::run)?;
        if let Some((file, trace)) = file.zip(trace) {
            file.write(&trace)?;
        }
        let mut report = Report::new(out, self.options.format);
        report.add(&setting, algorithm, row)?;
        report.finish(&setting)?;
        wrong.map_or(Ok(()), |what| Err(Failure::Run(format!("the result is wrong: {what}"))))
    }
}
