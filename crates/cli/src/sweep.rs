//! `loggp sweep`: a program's algorithms along a parameter, a size or an option of the program's own.

use std::io::Write;
use std::mem::take;

use clap::Args;
use loggp::{ClockKind, Time};
use loggp_draw::plot::{Line, Plot, Scale};
use loggp_papers::pictures::curves::curves;
use loggp_programs::Algorithm;
use loggp_study::Study;
use loggp_study::range::{Point, Quantity, Range};

use super::choice::{self, gives};
use super::details::details;
use super::failure::Failure;
use super::heading::{heading, shown_point};
use super::number::Unit;
use super::options::Options;
use super::output::Outputs;
use super::own::OfProgram;
use super::report::Report;
use super::row::{self, MOST_DECIMALS, Row, Task};
use super::setting::{Setting, used};
use super::shard::{self, dealt};
use super::studies::{end, run_all, warn};

/// The arguments.
#[derive(Args)]
pub struct Sweep {
    /// Of which program.
    #[command(subcommand)]
    of: OfProgram<Request>,
}

/// What is asked of the program.
#[derive(Args)]
struct Request {
    /// Its algorithms [default: all]
    #[arg(value_name = "ALGORITHM", hide_possible_values = true)]
    algorithms: Vec<String>,
    /// What to sweep over: L=1us..100us:10 are ten points, L=1us..100us:log:10 ten by the same ratio, P=2,4,8 three.
    /// A parameter, P, size, or an option of the program's own
    #[arg(long, value_name = "NAME=A..B:N", allow_hyphen_values = true)]
    over: String,
    /// How to run them.
    #[command(flatten)]
    options: Options,
    /// Where else it goes.
    #[command(flatten)]
    outputs: Outputs,
}

impl Sweep {
    /// Runs all at every point, also where some fail, and then says which failed.
    pub fn execute(&self, out: &mut dyn Write) -> Result<(), Failure> {
        let setting = Setting::of(&self.of, &self.of.request.options, ClockKind::Virtual)?;
        let algorithms = setting.algorithms(&self.of.request.algorithms)?;
        setting.check_use(&algorithms)?;
        let range = self.range(&setting, &algorithms)?;
        let quantity = range.quantity;
        shard::check(self.of.request.options.shard, &self.of.request.outputs)?;
        let mut files = self.of.request.outputs.open()?;

        let sweep = loggp_study::sweep::Sweep::of(range, &algorithms, &setting.machine, |params| {
            setting.study(algorithms[0], params)
        });
        let loggp_study::sweep::Sweep { range, studies, refused } = sweep;
        let refusals = refused.into_iter().map(|(point, why)| {
            Failure::Request(format!("at {} = {}, {why}", quantity.name(), point.told(quantity)))
        });
        let mut refusals: Vec<Failure> = refusals.collect();
        let Some((_, first)) = studies.first() else { return Err(refusals.swap_remove(0)) };
        Failure::warn_of(refusals);

        let unit = choice::unit(&self.of.request.options.machine.choice, &first.case.params);
        let heading = heading(first, setting.name, &unit, Some(&range));
        let task = |(point, study): (Point, Study)| {
            let at = shown_point(&point, quantity, &unit);
            let name = format!("{} at {} = {at}", study.case.algorithm.name, quantity.name());
            (point.number, Task { name, machine: setting.name, study, at: Some(at) })
        };
        let shard = self.of.request.options.shard;
        let (numbers, studies): (Vec<f64>, Vec<Task>) =
            dealt(shard, studies.into_iter().map(task)).into_iter().unzip();
        let columns = row::columns(Some(quantity.name()), self.of.request.options.spread());
        let mut report =
            Report::new(out, self.of.request.options.machine.format, columns).files(take(&mut files.rows));
        let failed = run_all(studies, &mut report)?;
        report.finish(&heading, unit, MOST_DECIMALS, |rows| details(rows, unit))?;
        warn(&report.rows);
        // A picture has every point, or is not drawn.
        end(failed)?;
        files.draw(|| plot(&heading, &range, unit, &numbers, &report.rows))
    }

    /// What to sweep over. Refuses what is given elsewhere too.
    fn range(&self, setting: &Setting, algorithms: &[&Algorithm]) -> Result<Range, Failure> {
        let refuse =
            |why: &dyn std::fmt::Display| Failure::Request(format!("--over {}: {why}", self.of.request.over));
        let range = Range::read(&self.of.request.over, Some(setting.program), &setting.machine)
            .map_err(|why| refuse(&why))?;
        let (options, name) = (&self.of.request.options, range.quantity.name());
        let given = match range.quantity {
            Quantity::Size => options.size.is_some(),
            Quantity::Own(option) => {
                used(option, algorithms).map_err(Failure::Request)?;
                self.of.gives(name)
            }
            _ => name == "P" && !options.machine.P.is_empty() || gives(&options.machine.choice, name),
        };
        match given {
            true => Err(refuse(&format_args!("{name} is given elsewhere too; give it once"))),
            false => Ok(range),
        }
    }
}

/// Times over what is swept: for every algorithm a line of its formula, and marks for model and measurement.
fn plot(heading: &str, range: &Range, unit: Unit, numbers: &[f64], rows: &[Row]) -> Plot {
    /// Times that are so many times as long as others need a scale by ratio.
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
    let lines: Vec<Line> = names
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
