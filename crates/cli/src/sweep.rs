//! `loggp sweep`: runs a program's algorithms along a parameter, a size or an option of the program's own.

use std::io::Write;
use std::mem::take;

use clap::Args;
use loggp::{ClockKind, Time};
use loggp_draw::plot::{Plot, PlotLine, Scale};
use loggp_papers::pictures::curves::curves;
use loggp_programs::Algorithm;
use loggp_study::Study;
use loggp_study::range::{Quantity, Range, SweepPoint};

use super::choice::{self, is_parameter_given};
use super::details::details;
use super::error::CliError;
use super::heading::{heading, point_text};
use super::number::Unit;
use super::options::Options;
use super::output::Outputs;
use super::program_args::ProgramArgs;
use super::program_setup::{ProgramSetup, check_option};
use super::report::Report;
use super::row::{self, MOST_DECIMALS, StudyRow, Task};
use super::shard::{self, shard_items};
use super::studies::{combine_errors, run_all, warn_of_host};

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
        let setup = ProgramSetup::new(&self.program, &self.program.request.options, ClockKind::Virtual)?;
        let algorithms = setup.algorithms(&self.program.request.algorithms)?;
        setup.check_given_options(&algorithms)?;
        let range = self.range(&setup, &algorithms)?;
        let quantity = range.quantity;
        shard::check_outputs(self.program.request.options.shard, &self.program.request.outputs)?;
        let mut files = self.program.request.outputs.open()?;

        let sweep = loggp_study::sweep::Sweep::new(range, &algorithms, &setup.machine, |params| {
            setup.study(algorithms[0], params)
        });
        let loggp_study::sweep::Sweep { range, studies, refused } = sweep;
        let refusals = refused.into_iter().map(|(point, why)| {
            CliError::Request(format!("at {} = {}, {why}", quantity.name(), point.text(quantity)))
        });
        let mut refusals: Vec<CliError> = refusals.collect();
        let Some((_, first)) = studies.first() else { return Err(refusals.swap_remove(0)) };
        CliError::warn_all(refusals);

        let unit = choice::unit(&self.program.request.options.machine.choice, &first.case.params);
        let heading = heading(first, setup.name, &unit, Some(&range));
        let task = |(point, study): (SweepPoint, Study)| {
            let at = point_text(&point, quantity, &unit);
            let name = format!("{} at {} = {at}", study.case.algorithm.name, quantity.name());
            (point.number, Task { name, machine: setup.name, study, swept_value: Some(at) })
        };
        let shard = self.program.request.options.shard;
        let (numbers, studies): (Vec<f64>, Vec<Task>) =
            shard_items(shard, studies.into_iter().map(task)).into_iter().unzip();
        let columns = row::columns(Some(quantity.name()), self.program.request.options.spread());
        let mut report = Report::new(out, self.program.request.options.machine.format, columns)
            .with_files(take(&mut files.rows));
        let failed = run_all(studies, &mut report)?;
        report.finish(&heading, unit, MOST_DECIMALS, |rows| details(rows, unit))?;
        warn_of_host(&report.rows);
        // A picture is drawn only if every point succeeded.
        combine_errors(failed)?;
        files.draw(|| plot(&heading, &range, unit, &numbers, &report.rows))
    }

    /// Reads the range of the sweep. Refuses a quantity that is given elsewhere too.
    fn range(&self, setup: &ProgramSetup, algorithms: &[&Algorithm]) -> Result<Range, CliError> {
        let refuse = |why: &dyn std::fmt::Display| {
            CliError::Request(format!("--over {}: {why}", self.program.request.over))
        };
        let range = Range::read(&self.program.request.over, Some(setup.program), &setup.machine)
            .map_err(|why| refuse(&why))?;
        let (options, name) = (&self.program.request.options, range.quantity.name());
        let given = match range.quantity {
            Quantity::Size => options.size.is_some(),
            Quantity::Option(option) => {
                check_option(option, algorithms).map_err(CliError::Request)?;
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
fn plot(heading: &str, range: &Range, unit: Unit, numbers: &[f64], rows: &[StudyRow]) -> Plot {
    /// Ratio of the longest to the shortest time from which the scale is logarithmic.
    const LOG_RATIO: f64 = 20.0;
    let x = |number: f64| match range.quantity.is_time() {
        true => unit.amount(Time::from_ps(number as i64)),
        false => number,
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
            let here = numbers.iter().zip(rows).filter(|(_, row)| row.case().algorithm.name == name);
            let mut points: Vec<_> = here.map(|(at, row)| (x(*at), row.answers.prediction)).collect();
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
