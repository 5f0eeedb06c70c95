//! `loggp run`: one algorithm, once.

use std::io::Write;
use std::mem::take;
use std::path::PathBuf;

use clap::Args;
use loggp::{Caption, ClockKind};
use loggp_study::{Answers, Study};

use super::details::details;
use super::failure::Failure;
use super::heading::heading;
use super::number::Unit;
use super::options::Options;
use super::output::{Files, Outputs};
use super::own::OfProgram;
use super::progress::Progress;
use super::report::Report;
use super::row::{self, MOST_DECIMALS, Row, Task};
use super::setting::Setting;
use super::studies::{share, warn};
use super::timeline::Drawn;
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
    /// Which run.
    #[command(flatten)]
    one: One,
    /// Write what happened to a file, which `loggp audit` reads: FILE.json, which ui.perfetto.dev reads too, or FILE.loggp,
    /// which has fewer bytes
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    trace: Option<PathBuf>,
    /// Draw what each processor did when, as in LogP's figure 3: FILE.svg, or FILE.html, a page to look into it
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    timeline: Option<PathBuf>,
    /// Where else it goes.
    #[command(flatten)]
    outputs: Outputs,
}

/// What says of a program which run is asked for.
#[derive(Args)]
pub struct One {
    /// Its algorithm [default: the best known]
    #[arg(value_name = "ALGORITHM", hide_possible_values = true)]
    algorithm: Option<String>,
    /// How to run it.
    #[command(flatten)]
    pub options: Options,
}

/// A run that was asked for, and that can be.
pub struct Asked {
    /// What the machine is called, if it was named.
    machine: Option<&'static str>,
    /// The unit of its times.
    pub unit: Unit,
    /// The case, and how it runs.
    pub study: Study,
    /// What stands above its report.
    pub heading: String,
}

impl Asked {
    /// The run of an algorithm with these options.
    pub fn of<T>(of: &OfProgram<T>, one: &One, traced: bool) -> Result<Asked, Failure> {
        let One { algorithm, options } = one;
        let setting = Setting::of(of, options, ClockKind::Virtual)?;
        if traced && options.seeds.is_some() {
            return Err(Failure::request(
                "a trace is of one run; leave out --seeds: the table says which --latency, --ties or --noise repeats the median run",
            ));
        }
        if options.shard.is_some() {
            return Err(Failure::request("a run is one; leave out --shard, or give it to compare or sweep"));
        }
        let choice = setting.choice()?;
        let algorithm = setting.algorithms(algorithm.as_slice())?[0];
        setting.check_use(&[algorithm])?;
        let mut study = setting.study(algorithm, choice.params).map_err(Failure::request)?;
        study.emulation.trace = traced;
        study.case.check().map_err(Failure::request)?;
        let heading = heading(&study, choice.name, &choice.unit, None);
        Ok(Asked { machine: choice.name, unit: choice.unit, study, heading })
    }

    /// Runs it.
    pub fn run(&mut self) -> Result<Answers, Failure> {
        share(&mut [&mut self.study]);
        let progress = Progress::of(self.study.runs());
        progress.begin(0, self.study.case.algorithm.name);
        Ok(self.study.run_with(|| progress.step())?)
    }

    /// Returns the caption of its trace and its picture.
    pub fn caption(&self, answers: &Answers) -> Caption {
        let (title, rest) = self.heading.split_once(": ").unwrap_or((&self.heading, ""));
        let title = format!("{title}, {}", self.study.case.algorithm.name);
        Caption { title, about: rest.into(), formula: answers.prediction.formula }
    }

    /// Says how it went, and whether that was right.
    pub fn report(
        self,
        answers: Answers,
        options: &Options,
        mut files: Files,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        let Asked { machine, unit, study, heading } = self;
        let mut report = Report::new(out, options.machine.format, row::columns(None, options.spread()))
            .files(take(&mut files.rows));
        let (wrong, program) = (answers.wrong.clone(), study.case.program);
        let task = Task { name: study.case.algorithm.name.into(), machine, study, at: None };
        report.add(Row { task, answers })?;
        report.finish(&heading, unit, MOST_DECIMALS, |rows| details(rows, unit))?;
        warn(&report.rows);
        if wrong.is_none() {
            files.draw(|| trend::plot(&heading, program, &report.rows))?;
        }
        wrong.map_or(Ok(()), |what| Err(Failure::Run(format!("the result is wrong: {what}"))))
    }
}

impl Run {
    /// Runs it.
    pub fn execute(&self, out: &mut dyn Write) -> Result<(), Failure> {
        let Request { one, trace, timeline, outputs } = &self.of.request;
        let traced = trace.is_some() || timeline.is_some();
        let mut asked = Asked::of(&self.of, one, traced)?;
        trend::check(outputs, &asked.study)?;
        let files = outputs.open()?;
        let drawn = Drawn::of(trace.as_deref(), timeline.as_deref())?;

        let mut answers = asked.run()?;
        if let Some(mut trace) = answers.take_trace() {
            trace.caption = Some(asked.caption(&answers));
            drawn.write(&trace, asked.unit)?;
        }
        asked.report(answers, &one.options, files, out)
    }
}
