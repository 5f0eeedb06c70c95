//! `loggp calibrate`: measures a machine from inside, and compares the result with its parameters; or derives
//! a machine from times that were measured elsewhere.

mod loggps;
mod real;

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use loggp::{ClockKind, Latency, Ties, Time};
use loggp_document::{DocumentBlock, plain};
use loggp_draw::plot::{Look, Plot, PlotLine, Scale};
use loggp_study::calibration::Calibration;
use loggp_study::calibration::{Bound, Finding, FoundParameter};
use loggp_study::loggps::LogGpsCalibration;
use loggp_study::rows::finding::{CalibrationSetup, FindingRow, finding_columns};
use loggp_study::rows::program_run::carrier_on;

use crate::ask::choice::MachineChoice;
use crate::ask::options::{ClockOptions, MachineOptions, ReportOptions, clock_text, parse_duration};
use crate::ask::output::{OutputFiles, Outputs};
use crate::ask::real_machine::RealMachineOptions;
use crate::error::CliError;
use crate::number::{Unit, rough};
use crate::tell::heading::{choice_heading, parameters, wire_text};
use crate::tell::report::Report;

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
pub(crate) struct CalibrateCommand {
    #[command(flatten)]
    machine: MachineOptions,
    #[command(flatten, next_help_heading = "Machine")]
    clock: ClockOptions,
    #[command(flatten)]
    report: ReportOptions,
    /// Whose parameters are looked for [default: loggp, or loggps with --from]
    #[arg(long, value_enum, help_heading = "Calibration")]
    find: Option<ParameterSet>,
    /// Derive a LogGPS machine from times that were measured elsewhere: CSV with the columns k, w and time, or what
    /// Netgauge's pattern loggp or osu_latency and osu_bw print
    #[arg(long, value_name = "FILE", help_heading = "Calibration")]
    from: Option<PathBuf>,
    #[command(flatten)]
    on: RealMachineOptions,
    /// For how long a real machine is measured, at most if that suffices: 300s [default: 60s]
    #[arg(long = "for", id = "for", value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true, requires = "on", help_heading = "Calibration")]
    time: Option<Duration>,
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

/// Limit of the decimals of times in a table.
const MOST_DECIMALS: usize = 4;

impl CalibrateCommand {
    /// Calibrates, and prints the findings.
    pub(crate) fn execute(&self, out: &mut dyn Write) -> Result<(), CliError> {
        if let Some(link) = self.on.link()? {
            return real::calibrate(self, &link, out);
        }
        match (self.find, &self.from) {
            (Some(ParameterSet::LogGP), Some(_)) => Err(CliError::request(
                "--from derives a machine of LogGPS from round trips; leave out --find loggp",
            )),
            (_, Some(file)) => loggps::derive(self, file, out),
            _ => self.calibrate(out),
        }
    }

    /// Calibrates an emulated machine.
    fn calibrate(&self, out: &mut dyn Write) -> Result<(), CliError> {
        let P = self.machine.one_P()?.or(Some(2));
        let choice = MachineChoice::from_options(&self.machine.choice, P)?;
        let MachineChoice { name: machine, unit, .. } = choice;
        let emulation = self.machine.emulation(&self.clock, ClockKind::Wall)?;
        let files = self.outputs.open()?;
        let ports = self.machine.ports.unwrap_or_default();
        let setup = |params, clock, dilation, cores| {
            let carrier = carrier_on(clock, emulation.carrier);
            CalibrationSetup { machine, params, ports, clock: Some(clock), carrier, dilation, cores }
        };
        let heading = |clock, dilation| {
            let how = clock_text(clock, emulation.carrier) + &wire_text(Latency::Exact, Ties::Number, ports);
            let heading = choice_heading(&choice, &parameters(&choice.params, &unit).join(", "), &how);
            match clock {
                ClockKind::Wall => format!("{heading}, dilation {}", rough(dilation)),
                _ => heading,
            }
        };
        let of = machine.map_or(String::new(), |name| format!(" of {name}"));
        if self.find == Some(ParameterSet::LogGPS) {
            let found = LogGpsCalibration::study(choice.params, ports, &emulation)?;
            let LogGpsCalibration { params, recovered, clock, dilation, cores } = found;
            let (report, setup) = (self.report(out, files), setup(params, clock, dilation, cores));
            let title = [&*of, &format!("{clock} clock")];
            return loggps::write(report, setup, &recovered, &heading(clock, dilation), unit, title);
        }
        let found = Calibration::study(choice.params, ports, &emulation)?;
        let Calibration { params, clock, dilation, cores, .. } = found;
        let setup = setup(params, clock, dilation, cores);
        let mut report = self.report(out, files);
        write_findings(&mut report, setup, &found.findings(), &heading(clock, dilation), unit, None)?;
        report.draw(|_| signature_plot(&choice, &found))
    }

    fn report<'a>(&self, out: &'a mut dyn Write, files: OutputFiles) -> Report<'a, FindingRow<'a>> {
        Report::new(out, self.report.format, finding_columns()).with_decimals(MOST_DECIMALS).with_files(files)
    }
}

/// Writes a row for each finding, and a block below the table. Fails if a finding is not to be trusted.
fn write_findings<'a>(
    report: &mut Report<'_, FindingRow<'a>>,
    setup: CalibrationSetup,
    findings: &[Finding<'a>],
    heading: &str,
    unit: Unit,
    below: Option<DocumentBlock>,
) -> Result<(), CliError> {
    findings.iter().try_for_each(|finding| report.add(FindingRow { setup, finding: finding.clone() }))?;
    report.finish(heading, unit, |rows| {
        let note = "late: this computer was late too often to measure it, so do not trust its value";
        let is_late = rows.iter().any(FindingRow::is_late);
        let note = is_late.then(|| DocumentBlock::Paragraph(plain(note)));
        below.into_iter().chain(note).collect()
    })?;
    check_findings(&report.rows)
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
    let MachineChoice { name, params, unit, .. } = choice;
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
