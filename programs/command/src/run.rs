//! `loggp run`: one algorithm, once.

use std::io::Write;
use std::mem::take;
use std::path::{Path, PathBuf};

use clap::Args;
use loggp::{ClockKind, Trace};
use loggp_draw::timeline::Timeline;
use loggp_papers::pictures::timeline::of_trace;

use super::details::details;
use super::draft::Draft;
use super::failure::Failure;
use super::heading::heading;
use super::options::Options;
use super::output::{self, Outputs, ending};
use super::own::OfProgram;
use super::progress::Progress;
use super::report::Report;
use super::row::{self, MOST_DECIMALS, Row, Task};
use super::setting::Setting;
use super::studies::warn;
use super::trend;

/// The arguments.
#[derive(Args)]
pub struct Run {
    /// Of which program.
    #[command(subcommand)]
    of: OfProgram<Request>,
}

/// What is asked of the program.
#[derive(Args)]
struct Request {
    /// Its algorithm [default: the best known]
    #[arg(value_name = "ALGORITHM", hide_possible_values = true)]
    algorithm: Option<String>,
    /// How to run it.
    #[command(flatten)]
    options: Options,
    /// Write what happened to a file, which `loggp audit` reads: FILE.json, which ui.perfetto.dev reads too, or FILE.loggp,
    /// which has fewer bytes
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    trace: Option<PathBuf>,
    /// Draw what each processor did when, as in LogP's figure 3
    #[arg(long, value_name = "FILE.svg", help_heading = "Report")]
    timeline: Option<PathBuf>,
    /// Where else it goes.
    #[command(flatten)]
    outputs: Outputs,
}

/// How the names of traces end.
pub const TRACES: &[&str] = &["json", "loggp"];
/// The same in words.
pub const TRACE_ENDINGS: &str = ".json, or in .loggp for fewer bytes";

/// Writes a trace in the form that the ending of its path says.
pub fn write_trace(file: Draft, path: &Path, trace: &Trace) -> Result<(), Failure> {
    let is_compact = ending(path) == "loggp";
    file.write(|file| if is_compact { trace.write_compact(file) } else { trace.write(file) })
}

impl Run {
    /// Runs it.
    pub fn execute(&self, out: &mut dyn Write) -> Result<(), Failure> {
        let setting = Setting::of(&self.of, &self.of.request.options, ClockKind::Virtual)?;
        if self.of.request.options.shard.is_some() {
            return Err(Failure::request("a run is one; leave out --shard, or give it to compare or sweep"));
        }
        let choice = setting.choice()?;
        let algorithm = setting.algorithms(self.of.request.algorithm.as_slice())?[0];
        setting.check_use(&[algorithm])?;
        let mut study = setting.study(algorithm, choice.params).map_err(Failure::request)?;
        study.emulation.trace = self.of.request.trace.is_some() || self.of.request.timeline.is_some();
        study.case.check().map_err(Failure::request)?;
        let draft =
            |path: &Option<PathBuf>, what| path.as_deref().map(|path| Draft::create(path, what)).transpose();
        trend::check(&self.of.request.outputs, &study.case)?;
        let mut files = self.of.request.outputs.open()?;
        let (file, picture) =
            (draft(&self.of.request.trace, "trace")?, draft(&self.of.request.timeline, "timeline")?);
        output::check(self.of.request.trace.as_deref(), TRACES, TRACE_ENDINGS)?;
        output::check(self.of.request.timeline.as_deref(), &["svg"], ".svg")?;

        let progress = Progress::of(study.runs());
        progress.begin(0, algorithm.name);
        let answers = study.run_with(|| progress.step());
        drop(progress);
        let mut answers = answers?;
        let heading = heading(&study, choice.name, &choice.unit, None);
        let trace = answers.take_trace();
        if let Some((picture, trace)) = picture.zip(trace.as_ref()) {
            let (title, subtitle) = heading.split_once(": ").unwrap_or((&heading, ""));
            let title = format!("{title}, {}", algorithm.name);
            let unit = choice.unit.named();
            let drawn = Timeline { subtitle: subtitle.into(), ..of_trace(trace, &title, unit) };
            let svg = drawn.svg().map_err(Failure::Request)?;
            picture.write(|mut file| file.write_all(svg.as_bytes()))?;
        }
        if let (Some(file), Some(path), Some(trace)) = (file, &self.of.request.trace, &trace) {
            write_trace(file, path, trace)?;
        }
        let mut report =
            Report::new(out, self.of.request.options.machine.format, row::columns(None, study.repeat > 1))
                .files(take(&mut files.rows));
        let wrong = answers.wrong.clone();
        let task = Task { name: algorithm.name.into(), machine: choice.name, study, at: None };
        report.add(Row { task, answers })?;
        report.finish(&heading, choice.unit, MOST_DECIMALS, |rows| details(rows, choice.unit))?;
        warn(&report.rows);
        if wrong.is_none() {
            files.draw(|| trend::plot(&heading, setting.program, &report.rows))?;
        }
        wrong.map_or(Ok(()), |what| Err(Failure::Run(format!("the result is wrong: {what}"))))
    }
}
