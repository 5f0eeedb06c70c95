//! `loggp sweep`: a program's algorithms along a parameter, a size or an option of the program's own.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use loggp_programs::study::Prediction;
use loggp_programs::{Algorithm, Program, Study};

use super::failure::Failure;
use super::name;
use super::options::{ClockOption, Options};
use super::plot::{Line, Look, Panel, Plot, PlotFile, Scale};
use super::progress::Progress;
use super::range::{Kind, Swept};
use super::report::Report;
use super::row::Row;
use super::setting::Setting;

/// The arguments.
#[derive(Args)]
pub struct Sweep {
    /// The program: `loggp programs` lists them
    program: String,
    /// Its algorithms [default: all]
    #[arg(value_name = "ALGORITHM")]
    algorithms: Vec<String>,
    /// What to sweep over: L=1us..100us:10 are ten points, L=1us..100us:log:10 ten by the same ratio, P=2,4,8 three.
    /// A parameter, P, size, or an option of the program's own
    #[arg(long, value_name = "NAME=A..B:N", allow_hyphen_values = true)]
    over: String,
    /// How to run them.
    #[command(flatten)]
    options: Options,
    /// Draw it: formulas as lines, models and measurements as marks
    #[arg(long, value_name = "FILE.svg", help_heading = "Report")]
    plot: Option<PathBuf>,
}

/// A point that was run.
struct Done {
    /// Which of the algorithms.
    algorithm: &'static str,
    /// Where it is, from left to right.
    x: f64,
    /// Its times.
    prediction: Prediction,
}

impl Sweep {
    /// Runs all at every point, also where some fail, and then says which failed.
    pub fn execute(&self, out: &mut dyn Write) -> Result<(), Failure> {
        let program = name::program(&self.program)?;
        let clock = self.options.clock_or(ClockOption::Virtual)?;
        let algorithms = self.algorithms(program)?;
        let points = Swept::read(&self.over, program, &self.options)?;
        let swept = points[0].of.clone();
        let file = self.plot.as_deref().map(PlotFile::at).transpose()?;

        let mut refusals: Vec<Failure> = Vec::new();
        let mut able: Vec<(Setting, Study)> = Vec::new();
        for point in &points {
            for algorithm in &algorithms {
                // A point may be no machine, and a machine may be none for an algorithm.
                let setting = Setting::at(program, &self.options, clock, point)
                    .and_then(|setting| setting.study(algorithm, false).map(|study| (setting, study)));
                match setting {
                    Ok(study) => able.push(study),
                    Err(refusal) => refusals.push(refusal.at(&swept.name, &point.told())),
                }
            }
        }
        let Some((first, _)) = able.first() else { return Err(refusals.swap_remove(0)) };
        refusals.into_iter().for_each(Failure::warn);

        let mut report = Report::new(out, self.options.format);
        let (mut done, mut failed) = (Vec::new(), Vec::new());
        let progress = Progress::of(able.iter().map(|(_, study)| study.runs()).sum());
        for (i, (setting, study)) in able.iter().enumerate() {
            let algorithm = study.case.algorithm;
            let Some(point) = &setting.point else { continue };
            let what = format!("{} at {} = {}", algorithm.name, swept.name, point.shown(setting.unit()));
            progress.begin(i * study.runs(), algorithm.name);
            match study.run_with(|| progress.step()) {
                Ok(answers) => {
                    let row = Row::new(setting, study, &answers);
                    failed.extend(answers.wrong.map(|why| format!("the result of {what} is wrong: {why}")));
                    let x = swept.amount(point.number, first.unit());
                    done.push(Done { algorithm: algorithm.name, x, prediction: row.prediction });
                    progress.aside(|| report.add(setting, algorithm, row))?;
                }
                Err(error) => failed.push(format!("{what} failed: {error}")),
            }
        }
        drop(progress);
        report.finish(first)?;
        // A plot has every point, or is not drawn.
        if !failed.is_empty() {
            return Err(Failure::Run(failed.join("\n")));
        }
        file.map_or(Ok(()), |file| file.write(&plot(first, &swept, &done)))
    }

    /// The algorithms that were named, or all.
    fn algorithms(&self, program: &'static Program) -> Result<Vec<&'static Algorithm>, Failure> {
        match self.algorithms.is_empty() {
            true => Ok(program.algorithms.iter().collect()),
            false => self.algorithms.iter().map(|algorithm| name::algorithm(program, algorithm)).collect(),
        }
    }
}

/// Times over what is swept: for every algorithm a line of its formula, and marks for model and measurement.
fn plot(setting: &Setting, swept: &Swept, done: &[Done]) -> Plot {
    /// Times that are so many times as long as others need a scale by ratio.
    const LOG_RATIO: f64 = 20.0;
    let unit = setting.unit();
    let mut names: Vec<&str> = Vec::new();
    for run in done {
        if !names.contains(&run.algorithm) {
            names.push(run.algorithm);
        }
    }
    let mut lines = Vec::new();
    for (number, name) in names.into_iter().enumerate() {
        for (answer, look) in [("formula", Look::Line), ("model", Look::Marks), ("measured", Look::Rings)] {
            let time = |Prediction { formula, model, measured }: Prediction| match look {
                Look::Line => formula,
                Look::Marks => model,
                _ => measured.map(|times| times.median),
            };
            let here = done.iter().filter(|run| run.algorithm == name);
            let point = |run: &Done| time(run.prediction).map(|time| (run.x, unit.amount(time)));
            let mut points: Vec<(f64, f64)> = here.filter_map(point).collect();
            points.sort_by(|one, other| one.0.total_cmp(&other.0));
            if !points.is_empty() {
                lines.push(Line { label: format!("{name}, {answer}"), number, look, points });
            }
        }
    }
    let times = || lines.iter().flat_map(|line| &line.points).map(|(_, y)| *y);
    let (least, most) = (times().fold(f64::INFINITY, f64::min), times().fold(0.0, f64::max));
    let scale = |log: bool| if log { Scale::Log } else { Scale::Linear };
    let y_scale = scale(least > 0.0 && most / least >= LOG_RATIO);
    let heading = setting.heading();
    let (title, subtitle) = heading.split_once(": ").unwrap_or((&heading, ""));
    let x = match swept.kind {
        Kind::Time => format!("{} [{}]", swept.name, unit.name),
        Kind::Size => format!("size [{}]", setting.program.size.meaning),
        Kind::Count | Kind::Own(_) => swept.name.clone(),
    };
    Plot {
        title: title.into(),
        subtitle: subtitle.into(),
        x,
        x_scale: scale(swept.log),
        y: format!("time [{}]", unit.name),
        y_scale,
        panels: vec![Panel { caption: String::new(), lines, levels: Vec::new() }],
    }
}
