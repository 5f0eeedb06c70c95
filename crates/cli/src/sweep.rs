//! `loggp sweep`: runs a program's algorithms along a parameter, a size or an option of the program's own.

use std::fmt::Display;
use std::io::Write;

use clap::Args;
use loggp::{ClockKind, Time};
use loggp_draw::plot::{Plot, PlotLine, Scale};
use loggp_papers::pictures::curves::curves;
use loggp_programs::Algorithm;
use loggp_study::range::{Quantity, Range};

use super::choice::is_parameter_given;
use super::error::CliError;
use super::expectation::expect_times;
use super::experiment::{Experiment, ProgramSetup, check_option};
use super::options::Options;
use super::output::Outputs;
use super::program_args::ProgramArgs;
use super::row::StudyRow;

/// Compare them along a parameter, a size or another number on the virtual clock, and draw it
#[derive(Args)]
#[command(after_help = "Examples:
  loggp sweep broadcast --over P=2,4,8 --shard 1/2 -o part1.csv
  loggp sweep scatter --over L=1us..100us:10 -P 8 -o scatter.svg")]
pub struct SweepCommand {
    #[command(subcommand)]
    program: ProgramArgs<SweepArgs>,
}

/// The arguments of `loggp sweep` for one program.
#[derive(Args)]
struct SweepArgs {
    /// Its algorithms [default: all]
    #[arg(value_name = "ALGORITHM", hide_possible_values = true)]
    algorithms: Vec<String>,
    /// What to sweep over: L=1us..100us:10 are ten points, L=1us..100us:log:10 ten by the same ratio, P=2,4,8 three.
    /// A parameter, P, size, or an option of the program's own
    #[arg(long, value_name = "NAME=A..B:N", allow_hyphen_values = true)]
    over: String,
    #[command(flatten)]
    options: Options,
    #[command(flatten)]
    outputs: Outputs,
}

impl SweepCommand {
    /// Runs all algorithms at every point, even if some fail, and then reports the failures.
    pub fn execute(&self, out: &mut dyn Write) -> Result<(), CliError> {
        let SweepArgs { algorithms: names, options, outputs, .. } = &self.program.request;
        let setup = options.setup(&self.program, ClockKind::Virtual)?;
        let algorithms = setup.algorithms(names)?;
        let range = self.range(&setup, &algorithms)?;
        let mut experiment = setup.sweep(range, &algorithms)?;
        experiment.tasks = expect_times(experiment.tasks, !names.is_empty())?;
        let mut report = experiment.open_report(out, options, outputs)?;
        experiment.run(&mut report, |_| Ok(()))?;
        report.draw(|rows| plot(&experiment, rows))
    }

    /// Reads the range of the sweep. Refuses a quantity that is given elsewhere too.
    fn range(&self, setup: &ProgramSetup, algorithms: &[&Algorithm]) -> Result<Range, CliError> {
        let SweepArgs { over, options, .. } = &self.program.request;
        let refuse = |why: &dyn Display| CliError::Request(format!("--over {over}: {why}"));
        let range =
            Range::read(over, Some(setup.program), &setup.machine.builder).map_err(|why| refuse(&why))?;
        let name = range.quantity.name();
        let given = match range.quantity {
            Quantity::Size => options.program.size.is_some(),
            Quantity::Option(option) => {
                check_option(option, algorithms)?;
                self.program.has_value_for(name)
            }
            _ => {
                name == "P" && !options.machine.P.is_empty()
                    || is_parameter_given(&options.machine.choice, name)
            }
        };
        match given {
            true => Err(refuse(&format_args!("{name} is given elsewhere too; give it once"))),
            false => Ok(range),
        }
    }
}

/// Plots times over the swept quantity: for each algorithm a line of its formula, and marks for model and
/// measurement.
fn plot(Experiment { heading, range, unit, .. }: &Experiment, rows: &[StudyRow]) -> Plot {
    /// Ratio of the longest to the shortest time from which the scale is logarithmic.
    const LOG_RATIO: f64 = 20.0;
    let range = range.as_ref().expect("it is a sweep");
    let x = |row: &StudyRow| match row.task.swept {
        Some((number, _)) if range.quantity.is_time() => unit.amount(Time::from_ps(number as i64)),
        Some((number, _)) => number,
        None => 0.0,
    };
    let mut names: Vec<&str> = Vec::new();
    for row in rows {
        if !names.contains(&row.case().algorithm.name) {
            names.push(row.case().algorithm.name);
        }
    }
    let lines: Vec<PlotLine> = names
        .into_iter()
        .enumerate()
        .flat_map(|(number, name)| {
            let here = rows.iter().filter(|row| row.case().algorithm.name == name);
            let mut points: Vec<_> = here.map(|row| (x(row), row.answers.prediction)).collect();
            points.sort_by(|one, other| one.0.total_cmp(&other.0));
            curves(name, number, &points, |_, time| unit.amount(time)).collect::<Vec<_>>()
        })
        .collect();
    let times = || lines.iter().flat_map(|line| &line.points).map(|(_, y)| *y);
    let (least, most) = (times().fold(f64::INFINITY, f64::min), times().fold(0.0, f64::max));
    let scale = |log: bool| if log { Scale::Log } else { Scale::Linear };
    let y_scale = scale(least > 0.0 && most / least >= LOG_RATIO);
    let (title, subtitle) = heading.split_once(": ").unwrap_or((heading, ""));
    let name = range.quantity.name();
    let x = match range.quantity {
        _ if range.quantity.is_time() => format!("{name} [{}]", unit.name),
        Quantity::Size => format!("size [{}]", rows[0].case().program.size.meaning),
        _ => name.into(),
    };
    Plot::new(title, subtitle).x(x, scale(range.log)).y(format!("time [{}]", unit.name), y_scale).lines(lines)
}
