//! `loggp sweep`: runs a program's algorithms along a parameter, a size or an option of the program's own, or over
//! two of them.

use std::fmt::Display;
use std::io::Write;

use clap::Args;
use loggp::ClockKind;
use loggp_draw::plot::{Plot, PlotLine, Scale};
use loggp_programs::Algorithm;
use loggp_study::pictures::curves::curves;
use loggp_study::range::{Quantity, Range};
use loggp_study::rows::program_run::StudyRow;

use super::cores::{concurrent_runs, is_exact};
use super::expectation::expect_times;
use super::experiment::{Experiment, ProgramSetup, check_option};
use super::map::{SweepMap, amount, axis_name};
use crate::ask::options::Options;
use crate::ask::output::Outputs;
use crate::ask::program_args::ProgramArgs;
use crate::error::CliError;

/// Compare them along a parameter, a size or another number on the virtual clock, or over two, and draw it
#[derive(Args)]
#[command(after_help = "Examples:
  loggp sweep broadcast --over P=2,4,8 --shard 1/2 -o part1.csv
  loggp sweep scatter --over L=1us..100us:log:8 --over size=1..4k:log:6 -P 8 -o map.svg")]
pub(crate) struct SweepCommand {
    #[command(subcommand)]
    program: ProgramArgs<SweepArgs>,
}

/// The arguments of `loggp sweep` for one program.
#[derive(Args)]
struct SweepArgs {
    /// Which algorithms to run [default: all]
    #[arg(value_name = "ALGORITHM", hide_possible_values = true)]
    algorithms: Vec<String>,
    /// What to sweep over: L=1us..100us:10 are ten points, L=1us..100us:log:10 ten by the same ratio, P=2,4,8 three.
    /// A parameter, P, size, or an option of the program's own. Given twice, a map shows which algorithm is fastest where
    #[arg(long, required = true, value_name = "NAME=A..B:N", allow_hyphen_values = true)]
    over: Vec<String>,
    #[command(flatten)]
    options: Options,
    #[command(flatten)]
    outputs: Outputs,
}

impl SweepCommand {
    /// Runs all algorithms at every point, even if some fail, and then reports the failures. Where runs are exact,
    /// finds out too where between the points another algorithm becomes the fastest.
    pub(crate) fn execute(&self, out: &mut dyn Write) -> Result<(), CliError> {
        let SweepArgs { algorithms: names, options, outputs, .. } = &self.program.request;
        let setups = options.setups(&self.program, ClockKind::Virtual)?;
        let algorithms = setups[0].algorithms(names)?;
        let ranges = |setup: &ProgramSetup| self.ranges(setup, &algorithms);
        let ranges: Vec<_> = setups.iter().map(ranges).collect::<Result<_, _>>()?;
        let sweeps = setups.iter().zip(ranges).map(|(setup, ranges)| (setup, setup.sweep(ranges)));
        let sweeps: Vec<_> = sweeps.collect();
        let sweep = &sweeps[0].1;
        if sweeps.len() > 1 && sweep.ranges.len() > 1 {
            return Err(CliError::request("--over twice draws a map of one machine; give one --machine"));
        }
        let experiments = sweeps.iter().map(|(setup, sweep)| setup.sweep_experiment(sweep, &algorithms));
        let mut experiment = Experiment::merge(experiments.collect::<Result<_, _>>()?, options.run.shard);
        experiment.tasks = expect_times(experiment.tasks, !names.is_empty())?;
        let threads = experiment.tasks.iter().all(is_exact).then(|| concurrent_runs(&experiment.tasks));
        experiment.plot = if sweep.ranges.len() == 1 { Some(plot) } else { None };
        let mut report = experiment.open_report(out, options, outputs)?;
        let failed = experiment.run_all(&mut report, |_| Ok(()))?;
        let Experiment { untimed, heading, unit, has_machines, details, .. } = &experiment;
        if options.run.shard.is_some() || report.rows.is_empty() {
            report.finish(heading, *unit, |rows| details(rows, *unit))?;
            return Experiment::end(&report, failed);
        }
        if *has_machines {
            report.finish(heading, *unit, |rows| details(rows, *unit))?;
            Experiment::end(&report, failed)?;
            return experiment.draw(report);
        }
        let map = SweepMap::new(sweep, &algorithms, &report.rows, untimed, *unit, threads);
        if sweep.ranges.len() == 1 {
            let blocks =
                |rows: &[StudyRow]| details(rows, *unit).into_iter().chain(map.sentences()).collect();
            report.finish(heading, *unit, blocks)?;
        } else {
            report.add_behind(map.objects());
            report.finish(heading, *unit, |_| map.tables())?;
        }
        Experiment::end(&report, failed)?;
        match sweep.ranges.len() {
            1 => experiment.draw(report),
            _ => report.draw_svg(|_| Ok(map.picture(heading).svg())),
        }
    }

    /// Reads the ranges of the sweep: one, or those of a map.
    fn ranges(&self, setup: &ProgramSetup, algorithms: &[&Algorithm]) -> Result<Vec<Range>, CliError> {
        /// Most points of a map.
        const MOST_POINTS: usize = 10_000;
        let over = &self.program.request.over;
        if let [_, _, more, ..] = &over[..] {
            let sentence = format!("--over {more}: a sweep is over one quantity or two; leave this out");
            return Err(CliError::Request(sentence));
        }
        let read = |text: &String| self.range(text, setup, algorithms);
        let ranges: Vec<Range> = over.iter().map(read).collect::<Result<_, _>>()?;
        if let [one, other] = &ranges[..] {
            let (name, points) = (other.quantity.name(), one.points.len() * other.points.len());
            if one.quantity.name() == name {
                return Err(CliError::Request(format!(
                    "--over {}: {name} is swept over already; give another quantity, or leave this out",
                    over[1]
                )));
            }
            if points > MOST_POINTS {
                return Err(CliError::Request(format!(
                    "--over twice makes {points} points; give fewer, so that there are at most {MOST_POINTS}"
                )));
            }
        }
        Ok(ranges)
    }

    /// Reads a range of the sweep. Refuses a size or an option that is given elsewhere too.
    fn range(&self, over: &str, setup: &ProgramSetup, algorithms: &[&Algorithm]) -> Result<Range, CliError> {
        let SweepArgs { over: all, options, .. } = &self.program.request;
        let refuse = |why: &dyn Display| CliError::Request(format!("--over {over}: {why}"));
        // A parameter that the machine leaves open, and that is swept over too, may have any value here.
        let mut machine = setup.machine.builder.clone();
        for other in all.iter().filter_map(|other| Some(other.split_once('=')?.0.trim())) {
            if machine.open_names().contains(&other) {
                machine = machine.set(&format!("{other}=0")).map_err(|why| refuse(&why))?;
            }
        }
        let range = Range::read(over, Some(setup.program), &machine).map_err(|why| refuse(&why))?;
        let name = range.quantity.name();
        let given = match range.quantity {
            Quantity::Size => options.program.size.is_some(),
            Quantity::Option(option) => {
                check_option(option, algorithms)?;
                self.program.has_value_for(name)
            }
            // A range counts more than a single value.
            _ => false,
        };
        match given {
            true => Err(refuse(&format_args!("{name} is given elsewhere too; give it once"))),
            false => Ok(range),
        }
    }
}

/// Plots times over the swept quantity: for each algorithm a line of its formula, and marks for model and
/// measurement.
fn plot(Experiment { heading, ranges, unit, has_machines, .. }: &Experiment, rows: &[StudyRow]) -> Plot {
    /// Ratio of the longest to the shortest time from which the scale is logarithmic.
    const LOG_RATIO: f64 = 20.0;
    let range = &ranges[0];
    let x = |row: &StudyRow| amount(row.task.swept[0].0, range.quantity, *unit);
    let name_of = |row: &StudyRow| match row.task.machine.filter(|_| *has_machines) {
        Some(machine) => format!("{} on {machine}", row.case().algorithm.name),
        None => row.case().algorithm.name.into(),
    };
    let mut names: Vec<String> = Vec::new();
    for name in rows.iter().map(name_of) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let lines: Vec<PlotLine> = names
        .iter()
        .enumerate()
        .flat_map(|(number, name)| {
            let here = rows.iter().filter(|row| name_of(row) == *name);
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
    let x = axis_name(range.quantity, rows[0].case().program, *unit);
    Plot::new(title, subtitle).x(x, scale(range.log)).y(format!("time [{}]", unit.name), y_scale).lines(lines)
}
