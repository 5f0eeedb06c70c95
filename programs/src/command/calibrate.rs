//! `loggp calibrate`: measures a machine from inside, and compares with what was configured.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use loggp::{Params, Time};
use loggp_programs::calibrate::{Bound, Calibration, Found, calibrate, calibrate_twice, check};
use loggp_programs::study::Ns;
use serde::{Serialize, Serializer};

use super::bench::Bench;
use super::choice::Choice;
use super::csv::write_values;
use super::failure::Failure;
use super::late::{self, is_late};
use super::number::{Unit, percent, rough, thousands};
use super::options::{ClockOption, Format, count};
use super::plot::{Level, Line, Look, Panel, Plot, PlotFile, Scale};
use super::row::in_ps;
use super::setting::parameters;
use super::table::Table;

/// The arguments.
#[derive(Args)]
pub struct Calibrate {
    /// Number of processors [default: 2, which is enough unless G = 0 and o > g]
    #[arg(short = 'P', value_name = "N", value_parser = count, allow_negative_numbers = true)]
    P: Option<usize>,
    /// On which machine and clock.
    #[command(flatten)]
    bench: Bench,
    /// Draw the LogP signature, the time per message of bursts, into an SVG file
    #[arg(long, value_name = "FILE.svg", help_heading = "Report")]
    plot: Option<PathBuf>,
}

/// A parameter, as it was configured and as it was recovered.
#[derive(Serialize)]
struct Row<'a> {
    /// The paper's machine, if one was named.
    machine: Option<&'static str>,
    /// The machine's parameters.
    #[serde(serialize_with = "in_ps")]
    params: Params,
    /// The clock.
    clock: &'static str,
    /// The parameter.
    parameter: &'static str,
    /// In what its values are counted.
    unit: &'static str,
    /// What was configured; nothing where any number of messages may be in transit.
    configured: Option<Value>,
    /// What was recovered.
    recovered: Value,
    /// Whether that is it, or no more than what shows of it.
    #[serde(serialize_with = "name")]
    bound: Bound,
    /// recovered - configured.
    difference: Option<Value>,
    /// recovered / configured - 1.
    error: Option<f64>,
    /// How it was recovered.
    how: &'a str,
    /// Whether this computer was on time often enough to measure it; nothing where time does not pass.
    held: Option<bool>,
    /// How much slower than the machine itself the emulation ran.
    dilation: f64,
    /// How many of this computer's cores it ran on.
    cores: usize,
}

/// A parameter's value.
#[derive(Clone, Copy, PartialEq)]
enum Value {
    Time(Time),
    Count(i64),
}

/// The titles of CSV.
const TITLES: [&str; 19] = [
    "machine",
    "params.L",
    "params.o",
    "params.g",
    "params.G",
    "params.P",
    "params.word",
    "clock",
    "parameter",
    "unit",
    "configured",
    "recovered",
    "bound",
    "difference",
    "error",
    "how",
    "held",
    "dilation",
    "cores",
];

impl Calibrate {
    /// Calibrates, and says how near it came.
    pub fn execute(&self, out: &mut dyn Write) -> Result<(), Failure> {
        let choice = self.bench.choose(self.P, 2)?;
        check(&choice.params).map_err(Failure::Request)?;
        let file = self.plot.as_deref().map(PlotFile::at).transpose()?;
        let machine = self.bench.machine(&choice)?;

        let found = match self.bench.clock {
            ClockOption::Wall if self.bench.chooses_dilation() => calibrate_twice(&machine),
            clock => calibrate(&machine, clock.into()),
        };
        let found = found.map_err(Failure::run)?;
        let rows = self.rows(&choice, &found);
        match self.bench.format {
            Format::Json => {
                for row in &rows {
                    writeln!(out, "{}", serde_json::to_string(row).map_err(Failure::run)?)?;
                }
            }
            Format::Csv => {
                writeln!(out, "{}", TITLES.join(","))?;
                for row in &rows {
                    write_values(out, &TITLES, row)?;
                }
            }
            Format::Table => {
                let heading = self.bench.heading(&choice, &parameters(&choice.params, &choice.unit));
                let dilation = match self.bench.clock {
                    ClockOption::Virtual => String::new(),
                    ClockOption::Wall => format!(", dilation {}", rough(found.dilation)),
                };
                write!(out, "{heading}{dilation}\n\n{}", table(&rows, choice.unit))?;
                if rows.iter().any(|row| is_late(row.held)) {
                    writeln!(
                        out,
                        "\nlate: this computer was late too often to measure it, so do not trust its value"
                    )?;
                }
            }
        }
        out.flush()?;
        self.judge(&rows)?;
        file.map_or(Ok(()), |file| file.write(&self.signature(&choice, &found)))
    }

    /// A row for every parameter.
    fn rows<'a>(&self, choice: &Choice, found: &'a Calibration) -> Vec<Row<'a>> {
        let Calibration { o, g, L, G, C, .. } = found;
        let times = [("o", choice.params.o, o), ("g", choice.params.g, g), ("L", choice.params.L, L)];
        let times =
            times.into_iter().chain(choice.params.G().map(|set| ("G", set, G))).map(|(name, set, found)| {
                let Found { value, bound, how, held } = found;
                (name, "ns", Some(Value::Time(set)), Value::Time(*value), *bound, how.as_str(), *held)
            });
        let capacity = choice.params.capacity().map(|C| Value::Count(C as i64));
        let C = ("C", "messages", capacity, Value::Count(C.value as i64), C.bound, C.how.as_str(), C.held);
        let row = |(parameter, unit, configured, recovered, bound, how, held)| Row {
            machine: choice.preset.map(|preset| preset.name),
            params: choice.params,
            clock: self.bench.clock.name(),
            parameter,
            unit,
            configured,
            recovered,
            bound,
            difference: difference(configured, recovered, bound),
            error: error(configured, recovered, bound),
            how,
            held: (self.bench.clock == ClockOption::Wall).then_some(held),
            dilation: found.dilation,
            cores: found.cores,
        };
        times.chain([C]).map(row).collect()
    }

    /// A parameter that this computer could not measure makes the calibration fail. Time does not pass on the virtual
    /// clock, so there nothing can excuse a difference.
    fn judge(&self, rows: &[Row]) -> Result<(), Failure> {
        let late: Vec<&str> = rows.iter().filter(|row| is_late(row.held)).map(|row| row.parameter).collect();
        if !late.is_empty() {
            return Err(Failure::Run(format!(
                "{} could not be measured: this computer was late too often; a larger --dilation or an otherwise idle \
                 computer would help",
                late.join(", ")
            )));
        }
        let wrong = |row: &&Row| row.bound == Bound::Exact && row.configured != Some(row.recovered);
        match rows.iter().find(wrong).filter(|_| self.bench.clock == ClockOption::Virtual) {
            None => Ok(()),
            Some(row) => Err(Failure::Run(format!(
                "the virtual clock is exact, and {} was not recovered as configured",
                row.parameter
            ))),
        }
    }

    /// The LogP signature.
    fn signature(&self, choice: &Choice, found: &Calibration) -> Plot {
        let Choice { preset, params, unit } = choice;
        let of = preset.map_or(String::new(), |preset| format!(" of {}", preset.name));
        let lines = found.signature.iter().enumerate().map(|(number, series)| Line {
            label: format!("\u{394} = {}", show(unit, series.pause)),
            number,
            look: Look::Both,
            points: series.bursts.iter().map(|(M, t)| (*M as f64, unit.amount(*t) / *M as f64)).collect(),
        });
        let level = |name: &str, found: &Found<Time>| Level {
            label: format!("{name} = {}", show(unit, found.value)),
            y: unit.amount(found.value),
        };
        Plot {
            title: format!("LogP signature{of}"),
            subtitle: format!("{} clock: {}", self.bench.clock.name(), parameters(params, unit)),
            x: "messages in a burst, M".into(),
            x_scale: Scale::Points,
            y: format!("time per message [{}]", unit.name),
            y_scale: Scale::Linear,
            panels: vec![Panel {
                caption: String::new(),
                lines: lines.collect(),
                levels: vec![level("o", &found.o), level("g", &found.g)],
            }],
        }
    }
}

/// A measured time with its unit, no finer than anybody reads it.
fn show(unit: &Unit, time: Time) -> String {
    format!("{} {}", rough(unit.amount(time)), unit.name)
}

/// recovered - configured; nothing where either says no more than a bound.
fn difference(configured: Option<Value>, recovered: Value, bound: Bound) -> Option<Value> {
    match (configured?, recovered) {
        _ if bound != Bound::Exact => None,
        (Value::Time(set), Value::Time(found)) => Some(Value::Time(found - set)),
        (Value::Count(set), Value::Count(found)) => Some(Value::Count(found - set)),
        _ => None,
    }
}

/// recovered / configured - 1; nothing where that would be nothing or infinite.
fn error(configured: Option<Value>, recovered: Value, bound: Bound) -> Option<f64> {
    let number = |value: Value| match value {
        Value::Time(time) => time.as_ps() as f64,
        Value::Count(count) => count as f64,
    };
    let set = configured.map(number).filter(|set| *set != 0.0 && bound == Bound::Exact)?;
    Some(number(recovered) / set - 1.0)
}

/// The rows as a table, with times in this unit.
fn table(rows: &[Row], unit: Unit) -> Table {
    const MOST_DECIMALS: usize = 4;
    let times = rows.iter().flat_map(|row| [row.configured, Some(row.recovered)]).flatten();
    let decimals = times.map(|value| match value {
        Value::Time(time) => unit.decimals(time).min(MOST_DECIMALS),
        Value::Count(_) => 0,
    });
    let decimals = decimals.max().unwrap_or(0);
    let show = |value: Value| match value {
        Value::Time(time) => unit.number(time, decimals),
        Value::Count(count) if count < 0 => format!("-{}", thousands(-count)),
        Value::Count(count) => thousands(count),
    };
    let recovered = |row: &Row| match row.bound {
        Bound::Exact => show(row.recovered),
        Bound::AtMost => format!("<= {}", show(row.recovered)),
        Bound::AtLeast => format!(">= {}", show(row.recovered)),
    };
    let or_dash = |cell: Option<String>| cell.unwrap_or("-".into());
    let mut table = Table::new();
    let rows = || rows.iter();
    table.words("parameter", rows().map(|row| row.parameter.into()));
    table.numbers("configured", rows().map(|row| row.configured.map_or("unlimited".into(), show)));
    table.numbers("recovered", rows().map(recovered));
    table.numbers("difference", rows().map(|row| or_dash(row.difference.map(show))));
    table.numbers("error", rows().map(|row| or_dash(row.error.map(percent))));
    late::mark(&mut table, rows().map(|row| row.held));
    table.words("how", rows().map(|row| row.how.into()));
    table
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Time(time) => Ns(*time).serialize(serializer),
            Value::Count(count) => serializer.serialize_i64(*count),
        }
    }
}

/// The name of a bound in JSON and CSV.
fn name<S: Serializer>(bound: &Bound, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match bound {
        Bound::Exact => "exact",
        Bound::AtMost => "at_most",
        Bound::AtLeast => "at_least",
    })
}
