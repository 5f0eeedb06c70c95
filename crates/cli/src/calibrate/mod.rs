//! `loggp calibrate`: measures a machine from inside, and compares the result with its parameters; or derives
//! a machine from times that were measured elsewhere.

mod loggps;
mod real;

use std::io::Write;
use std::mem::take;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use loggp::{Carrier, ClockKind, Latency, Params, Ports, Ties, Time};
use loggp_document::{DocumentBlock, plain};
use loggp_draw::plot::{Look, Plot, PlotLine, Scale};
use loggp_study::calibration::Calibration;
use loggp_study::calibration::{Amount, Bound, Finding, FoundParameter};

use super::choice::{MachineChoice, is_parameter_given};
use super::column::ReportColumn;
use super::error::CliError;
use super::field::Field;
use super::heading::{machine_heading, parameters};
use super::number::{Unit, rough};
use super::options::{MachineOptions, carrier_on};
use super::output::Outputs;
use super::real_machine::RealMachineOptions;
use super::report::Report;
use super::row;

/// Measure o, g, L, G and the capacity from inside on the wall clock, or LogGPS's parameters by round trips,
/// of a machine or your own
#[derive(Args)]
#[command(after_help = "Examples:
  loggp calibrate --machine cs2-elan --clock virtual
  loggp calibrate --machine myrinet --find loggps --clock virtual -o trips.svg")]
#[command(mut_arg("P", |P| {
    P.help("Number of processors [default: 2, which is enough unless G = 0 and o > g]")
}))]
#[command(mut_arg("on", |on| {
    on.help("Calibrate a real machine between processes 0 and 1: -o FILE.json is then a machine, for --machine FILE.json")
        .conflicts_with_all(["clock", "carrier", "dilation", "cores", "ports", "P", "machine", "params", "find", "from", "stack"])
}))]
#[command(mut_arg("latency", |latency| latency.hide(true)))]
#[command(mut_arg("ties", |ties| ties.hide(true)))]
pub struct CalibrateCommand {
    #[command(flatten)]
    machine: MachineOptions,
    /// Whose parameters are looked for [default: loggp, or loggps with --from]
    #[arg(long, value_enum, help_heading = "Calibration")]
    find: Option<ParameterSet>,
    /// Derive a LogGPS machine from times that were measured elsewhere: CSV with the columns k, w and time, or what
    /// Netgauge's pattern loggp or osu_latency and osu_bw print
    #[arg(long, value_name = "FILE", help_heading = "Calibration")]
    from: Option<PathBuf>,
    #[command(flatten)]
    on: RealMachineOptions,
    #[command(flatten)]
    outputs: Outputs,
}

/// The set of parameters that is looked for.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ParameterSet {
    /// o, g, L, G and the capacity, from bursts, round trips and stalls
    #[value(name = "loggp")]
    LogGP,
    /// L, o', O_s, O_r, G_s, G_l, s and S, from round trips alone
    #[value(name = "loggps")]
    LogGPS,
}

/// A row of the report: a parameter that was found.
struct FindingRow<'a> {
    setup: CalibrationSetup,
    finding: Finding<'a>,
}

/// The machine and the clock of a calibration.
#[derive(Clone, Copy)]
struct CalibrationSetup {
    /// Name of the machine, if it has one.
    machine: Option<&'static str>,
    params: Params,
    ports: Ports,
    /// The clock; `None` if the times are from a file.
    clock: Option<ClockKind>,
    /// The carrier; `None` on the virtual clock.
    carrier: Option<Carrier>,
    /// The largest dilation of all runs.
    dilation: f64,
    /// Number of this computer's cores that the runs used.
    cores: usize,
}

/// Limit of the decimals of times in a table.
const MOST_DECIMALS: usize = 4;

impl CalibrateCommand {
    /// Calibrates, and prints the findings.
    pub fn execute(&self, out: &mut dyn Write) -> Result<(), CliError> {
        if let Some(link) = self.on.link()? {
            return real::calibrate(self, &link, out);
        }
        match (self.find, &self.from) {
            (Some(ParameterSet::LogGP), Some(_)) => Err(CliError::request(
                "--from derives a machine of LogGPS from round trips; leave out --find loggp",
            )),
            (_, Some(file)) => loggps::derive(self, file, out),
            (Some(ParameterSet::LogGPS), None) => loggps::calibrate(self, out),
            _ => self.calibrate(out),
        }
    }

    /// Returns the machine. Refuses other latencies than exactly L, and other ties than the default.
    fn choice(&self) -> Result<MachineChoice, CliError> {
        if self.machine.latency != Latency::Exact {
            return Err(CliError::request(
                "calibrate finds L, and needs messages that are under way for exactly L; leave out --latency",
            ));
        }
        if self.machine.ties != Ties::Number {
            return Err(CliError::request(
                "calibrate lets the lower number go first, as usual; leave out --ties",
            ));
        }
        let P = self.machine.one_P()?.or((!is_parameter_given(&self.machine.choice, "P")).then_some(2));
        MachineChoice::from_options(&self.machine.choice, P)
    }

    /// Finds o, g, L, G and the capacity of an emulated machine.
    fn calibrate(&self, out: &mut dyn Write) -> Result<(), CliError> {
        let choice = self.choice()?;
        let emulation = self.machine.emulation(ClockKind::Wall)?;
        let mut files = self.outputs.open()?;
        let ports = self.machine.ports.unwrap_or_default();
        let found = Calibration::study(choice.params, ports, &emulation)?;

        let mut report = Report::new(out, self.machine.format, columns()).with_files(take(&mut files.rows));
        let Calibration { params, clock, dilation, cores, .. } = found;
        let machine = choice.name;
        let carrier = carrier_on(clock, emulation.carrier);
        let setup = CalibrationSetup { machine, params, ports, clock: Some(clock), carrier, dilation, cores };
        for finding in found.findings() {
            report.add(FindingRow { setup, finding })?;
        }
        let parameters = parameters(&choice.params, &choice.unit).join(", ");
        let mut heading = machine_heading(&choice, &parameters, found.clock, &self.machine);
        if found.clock == ClockKind::Wall {
            heading += &format!(", dilation {}", rough(found.dilation));
        }
        report.finish(&heading, choice.unit, MOST_DECIMALS, late_note)?;
        check_findings(&report.rows)?;
        files.draw(|| signature_plot(&choice, &found))
    }
}

impl FindingRow<'_> {
    /// Returns whether this computer was on time often enough to measure it; `None` unless on the wall clock.
    fn on_time(&self) -> Option<bool> {
        (self.setup.clock == Some(ClockKind::Wall)).then_some(self.finding.on_time)
    }

    /// Returns whether this computer was late too often.
    fn is_late(&self) -> bool {
        self.on_time() == Some(false)
    }
}

/// Returns the note below the table if this computer was late too often.
fn late_note(rows: &[FindingRow]) -> Vec<DocumentBlock> {
    let note = "late: this computer was late too often to measure it, so do not trust its value";
    rows.iter().any(FindingRow::is_late).then(|| DocumentBlock::Paragraph(plain(note))).into_iter().collect()
}

fn columns<'a>() -> Vec<ReportColumn<'a, FindingRow<'a>>> {
    let mut columns = row::machine_columns(|row: &FindingRow| (row.setup.machine, row.setup.params), false);
    columns.extend([
        ReportColumn::new("cycle_ns", |row: &FindingRow| row.setup.params.cycle),
        ReportColumn::new("ports", |row: &FindingRow| row.setup.ports),
        ReportColumn::new("clock", |row: &FindingRow| row.setup.clock),
        ReportColumn::new("carrier", |row: &FindingRow| row.setup.carrier),
        ReportColumn::new("parameter", |row: &FindingRow| row.finding.parameter).with_title("parameter"),
        ReportColumn::new("unit", |row: &FindingRow| match row.finding.found {
            Amount::Time(_) => "ns",
            Amount::Count(_) => "messages",
            Amount::Words(_) => "words",
        }),
        ReportColumn::new("configured", |row: &FindingRow| match row.finding.configured {
            None if row.setup.clock.is_none() => Field::Null,
            None => Field::Prefixed("unlimited", Field::Null.into()),
            Some(amount) => amount_field(amount),
        })
        .with_title("configured")
        .optional(),
        ReportColumn::new("recovered", |row: &FindingRow| {
            match (row.finding.bound, amount_field(row.finding.found)) {
                (Bound::Exact, found) => found,
                (Bound::AtMost, found) => Field::Prefixed("<=", found.into()),
                (Bound::AtLeast, found) => Field::Prefixed(">=", found.into()),
                (Bound::Any, found) => Field::Prefixed("any,", found.into()),
            }
        })
        .with_title("recovered"),
        ReportColumn::new("bound", |row: &FindingRow| match row.finding.bound {
            Bound::Exact => "exact",
            Bound::AtMost => "at_most",
            Bound::AtLeast => "at_least",
            Bound::Any => "any",
        }),
        ReportColumn::new("difference", |row: &FindingRow| row.finding.difference().map(amount_field))
            .with_title("difference")
            .optional(),
        ReportColumn::new("error", |row: &FindingRow| row.finding.error().map(Field::Error))
            .with_title("error")
            .optional(),
        ReportColumn::new("doubt", |row: &FindingRow| row.finding.doubt.map(amount_field))
            .with_title("doubt")
            .optional(),
        ReportColumn::new("how", |row: &FindingRow| row.finding.how.to_string()).with_title("how"),
        ReportColumn::new("held", |row: &FindingRow| row.on_time().map(Field::OnTime))
            .with_title("")
            .after("doubt")
            .optional(),
        ReportColumn::new("dilation", |row: &FindingRow| row.setup.dilation),
        ReportColumn::new("cores", |row: &FindingRow| row.setup.cores),
    ]);
    columns
}

fn amount_field(amount: Amount) -> Field {
    match amount {
        Amount::Time(time) => time.into(),
        Amount::Count(count) | Amount::Words(count) => count.into(),
    }
}

/// Fails if this computer was late too often to measure a parameter, or if a finding on the virtual clock,
/// which is exact, differs from the configuration.
fn check_findings(rows: &[FindingRow]) -> Result<(), CliError> {
    let late: Vec<&str> = rows.iter().filter(|row| row.is_late()).map(|row| row.finding.parameter).collect();
    if !late.is_empty() {
        return Err(CliError::Run(format!(
            "{} could not be measured: this computer was late too often; --carrier coroutine, a larger --dilation or an \
             otherwise idle computer would help",
            late.join(", ")
        )));
    }
    let wrong = |row: &&FindingRow| {
        let Finding { bound, configured, found, .. } = row.finding;
        row.setup.clock == Some(ClockKind::Virtual) && bound == Bound::Exact && configured != Some(found)
    };
    match rows.iter().find(wrong) {
        None => Ok(()),
        Some(row) => Err(CliError::Run(format!(
            "the virtual clock is exact, and {} was not recovered as configured",
            row.finding.parameter
        ))),
    }
}

/// Plots the LogP signature.
fn signature_plot(choice: &MachineChoice, found: &Calibration) -> Plot {
    let MachineChoice { name, params, unit } = choice;
    let suffix = name.map_or(String::new(), |name| format!(" of {name}"));
    let lines = found.signature.iter().enumerate().map(|(number, series)| {
        let points = series.bursts.iter().map(|(M, t)| (*M as f64, unit.amount(*t) / *M as f64));
        let label = format!("\u{394} = {}", show(unit, series.pause));
        PlotLine::new(label, number, Look::Both, points.collect())
    });
    let level = |name: &str, found: &FoundParameter<Time>| format!("{name} = {}", show(unit, found.value));
    Plot::new(
        format!("LogP signature{suffix}"),
        format!("{} clock: {}", found.clock, parameters(params, unit).join(", ")),
    )
    .x("messages in a burst, M", Scale::Points)
    .y(format!("time per message [{}]", unit.name), Scale::Linear)
    .lines(lines)
    .level(level("o", &found.o), unit.amount(found.o.value))
    .level(level("g", &found.g), unit.amount(found.g.value))
}

/// Returns a measured time as text with three digits and its unit.
fn show(unit: &Unit, time: Time) -> String {
    format!("{} {}", rough(unit.amount(time)), unit.name)
}
