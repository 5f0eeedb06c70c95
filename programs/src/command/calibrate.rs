//! `loggp calibrate`: measures a machine from inside, and compares with what was configured.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use loggp::{ClockKind, Latency, Ports, Preset, Ties, Time};
use loggp_programs::Calibration;
use loggp_programs::study::calibration::{Amount, Bound, Finding, Found};

use super::cell::Cell;
use super::choice::{Choice, gives};
use super::column::Column;
use super::failure::Failure;
use super::heading::{machine_heading, parameters};
use super::number::{Unit, rough};
use super::options::{MachineOptions, clock_name, ports_name};
use super::plot::{Level, Line, Look, Panel, Plot, PlotFile, Scale};
use super::report::Report;
use super::row;

/// The arguments.
#[derive(Args)]
#[command(mut_arg("P", |P| {
    P.help("Number of processors [default: 2, which is enough unless G = 0 and o > g]")
}))]
#[command(mut_arg("latency", |latency| latency.hide(true)))]
#[command(mut_arg("ties", |ties| ties.hide(true)))]
pub struct Calibrate {
    /// On which machine and clock.
    #[command(flatten)]
    machine: MachineOptions,
    /// Draw the LogP signature, the time per message of bursts, into an SVG file
    #[arg(long, value_name = "FILE.svg", help_heading = "Report")]
    plot: Option<PathBuf>,
}

/// A parameter that was found.
struct Row<'a> {
    /// The paper's machine, if one was named.
    preset: Option<&'static Preset>,
    /// Whether a processor's long messages share a port.
    ports: Ports,
    /// The calibration.
    calibration: &'a Calibration,
    /// What it found.
    finding: Finding<'a>,
}

/// A table shows times with at most so many decimals.
const MOST_DECIMALS: usize = 4;

impl Calibrate {
    /// Calibrates, and says how near it came.
    pub fn execute(&self, out: &mut dyn Write) -> Result<(), Failure> {
        if self.machine.latency != Latency::Exact {
            return Err(Failure::request(
                "calibrate finds L, and needs messages that are under way for exactly L; leave out --latency",
            ));
        }
        if self.machine.ties != Ties::Number {
            return Err(Failure::request(
                "calibrate lets the lower number go first, as usual; leave out --ties",
            ));
        }
        let P = self.machine.one_P()?.or((!gives(&self.machine, "P")).then_some(2));
        let choice = Choice::of(&self.machine, P)?;
        let emulation = self.machine.emulation(ClockKind::Wall)?;
        let file = self.plot.as_deref().map(PlotFile::at).transpose()?;
        let found = Calibration::study(choice.params, self.machine.ports, &emulation)?;

        let mut report = Report::new(out, self.machine.format, columns());
        for finding in found.findings() {
            report.add(Row {
                preset: choice.preset,
                ports: self.machine.ports,
                calibration: &found,
                finding,
            })?;
        }
        let parameters = parameters(&choice.params, &choice.unit).join(", ");
        let mut heading = machine_heading(&choice, &parameters, found.clock, &self.machine);
        if found.clock == ClockKind::Wall {
            heading += &format!(", dilation {}", rough(found.dilation));
        }
        report.finish(&heading, choice.unit, MOST_DECIMALS, |rows| match rows.iter().any(Row::is_late) {
            true => {
                "\nlate: this computer was late too often to measure it, so do not trust its value\n".into()
            }
            false => String::new(),
        })?;
        judge(&report.rows)?;
        file.map_or(Ok(()), |file| file.write(&signature(&choice, &found)))
    }
}

impl Row<'_> {
    /// Whether this computer was on time often enough to measure it; nothing where time does not pass.
    fn held(&self) -> Option<bool> {
        (self.calibration.clock == ClockKind::Wall).then_some(self.finding.held)
    }

    /// Whether this computer was late too often.
    fn is_late(&self) -> bool {
        self.held() == Some(false)
    }
}

/// The columns of the report.
fn columns<'a>() -> Vec<Column<'a, Row<'a>>> {
    let mut columns = row::machine(|row: &Row| (row.preset, row.calibration.params), false);
    columns.extend([
        Column::new("cycle_ns", |row: &Row| row.calibration.params.cycle),
        Column::new("ports", |row: &Row| ports_name(row.ports)),
        Column::new("clock", |row: &Row| clock_name(row.calibration.clock)),
        Column::new("parameter", |row: &Row| row.finding.parameter).titled("parameter"),
        Column::new("unit", |row: &Row| match row.finding.found {
            Amount::Time(_) => "ns",
            Amount::Count(_) => "messages",
        }),
        Column::new("configured", |row: &Row| match row.finding.configured {
            None => Cell::Signed("unlimited", Cell::Nothing.into()),
            Some(amount) => cell(amount),
        })
        .titled("configured"),
        Column::new("recovered", |row: &Row| match (row.finding.bound, cell(row.finding.found)) {
            (Bound::Exact, found) => found,
            (Bound::AtMost, found) => Cell::Signed("<=", found.into()),
            (Bound::AtLeast, found) => Cell::Signed(">=", found.into()),
        })
        .titled("recovered"),
        Column::new("bound", |row: &Row| match row.finding.bound {
            Bound::Exact => "exact",
            Bound::AtMost => "at_most",
            Bound::AtLeast => "at_least",
        }),
        Column::new("difference", |row: &Row| row.finding.difference().map(cell)).titled("difference"),
        Column::new("error", |row: &Row| row.finding.error().map(Cell::Error)).titled("error"),
        Column::new("how", |row: &Row| row.finding.how).titled("how"),
        Column::new("held", |row: &Row| row.held().map(Cell::Held)).titled("").after("error").optional(),
        Column::new("dilation", |row: &Row| row.calibration.dilation),
        Column::new("cores", |row: &Row| row.calibration.cores),
    ]);
    columns
}

/// An amount as a value of the report.
fn cell(amount: Amount) -> Cell {
    match amount {
        Amount::Time(time) => time.into(),
        Amount::Count(count) => count.into(),
    }
}

/// A parameter that this computer could not measure makes the calibration fail. Time does not pass on the virtual
/// clock, so there nothing can excuse a difference.
fn judge(rows: &[Row]) -> Result<(), Failure> {
    let late: Vec<&str> = rows.iter().filter(|row| row.is_late()).map(|row| row.finding.parameter).collect();
    if !late.is_empty() {
        return Err(Failure::Run(format!(
            "{} could not be measured: this computer was late too often; a larger --dilation or an otherwise idle \
             computer would help",
            late.join(", ")
        )));
    }
    let wrong = |row: &&Row| {
        let Finding { bound, configured, found, .. } = row.finding;
        row.held().is_none() && bound == Bound::Exact && configured != Some(found)
    };
    match rows.iter().find(wrong) {
        None => Ok(()),
        Some(row) => Err(Failure::Run(format!(
            "the virtual clock is exact, and {} was not recovered as configured",
            row.finding.parameter
        ))),
    }
}

/// The LogP signature.
fn signature(choice: &Choice, found: &Calibration) -> Plot {
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
        subtitle: format!("{} clock: {}", clock_name(found.clock), parameters(params, unit).join(", ")),
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

/// A measured time with its unit, no finer than anybody reads it.
fn show(unit: &Unit, time: Time) -> String {
    format!("{} {}", rough(unit.amount(time)), unit.name)
}
