//! `loggp run`: one algorithm, once.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use loggp_programs::timeline;

use super::draft::Draft;
use super::failure::Failure;
use super::options::{ClockOption, Options};
use super::progress::Progress;
use super::report::Report;
use super::row::Row;
use super::setting::Setting;

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
    /// Draw what each processor did when, as in LogP's figure 3
    #[arg(long, value_name = "FILE.svg", help_heading = "Report")]
    timeline: Option<PathBuf>,
}

impl Run {
    /// Runs it.
    pub fn execute(&self, out: &mut dyn Write) -> Result<(), Failure> {
        let setting = Setting::of(&self.program, &self.options, ClockOption::Virtual)?;
        let algorithm = setting.algorithm(self.algorithm.as_deref())?;
        let study = setting.study(algorithm, self.trace.is_some() || self.timeline.is_some())?;
        let draft =
            |path: &Option<PathBuf>, what| path.as_deref().map(|path| Draft::create(path, what)).transpose();
        let (file, picture) = (draft(&self.trace, "trace")?, draft(&self.timeline, "timeline")?);

        let progress = Progress::of(study.runs());
        progress.begin(0, algorithm.name);
        let answers = study.run_with(|| progress.step());
        drop(progress);
        let mut answers = answers.map_err(Failure::run)?;
        let trace = answers.take_trace();
        if let Some((picture, trace)) = picture.zip(trace.as_ref()) {
            let heading = setting.heading();
            let title = format!("{}, {}", algorithm.name, heading.lines().next().unwrap_or_default());
            let svg = timeline(trace, &title, setting.unit().named());
            let svg = svg.map_err(Failure::Request)?;
            picture.write(|mut file| file.write_all(svg.as_bytes()))?;
        }
        if let Some((file, trace)) = file.zip(trace) {
            file.write(|file| trace.write(file))?;
        }
        let mut report = Report::new(out, self.options.format);
        report.add(&setting, algorithm, Row::new(&setting, &study, &answers))?;
        report.finish(&setting)?;
        answers.wrong.map_or(Ok(()), |what| Err(Failure::Run(format!("the result is wrong: {what}"))))
    }
}
