//! `loggp calibrate`: measures a machine from inside, and compares with what was configured; or derives a machine from times
//! that were measured elsewhere.

mod loggps;
mod real;

use std::io::Write;
use std::mem::take;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use loggp::{Carrier, ClockKind, Latency, Params, Ports, Ties, Time};
use loggp_document::{Block, plain};
use loggp_draw::plot::{Line, Look, Plot, Scale};
use loggp_study::calibration::Calibration;
use loggp_study::calibration::{Amount, Bound, Finding, Found};

use super::choice::{Choice, gives};
use super::column::Column;
use super::failure::Failure;
use super::field::Field;
use super::heading::{machine_heading, parameters};
use super::number::{Unit, rough};
use super::on::OnOptions;
use super::options::{MachineOptions, carrier_on};
use super::output::Outputs;
use super::report::Report;
use super::row;

/// The arguments.
#[derive(Args)]
#[command(mut_arg("P", |P| {
    P.help("Number of processors [default: 2, which is enough unless G = 0 and o > g]")
}))]
#[command(mut_arg("on", |on| {
    on.help("Calibrate a real machine between processes 0 and 1: -o FILE.json is then a machine, for --machine FILE.json")
        .conflicts_with_all(["clock", "carrier", "dilation", "cores", "ports", "P", "machine", "params", "find", "from", "stack"])
}))]
#[command(mut_arg("latency", |latency| latency.hide(true)))]
#[command(mut_arg("ties", |ties| ties.hide(true)))]
pub struct Calibrate {
    /// On which machine and clock.
    #[command(flatten)]
    machine: MachineOptions,
    /// Whose parameters are looked for [default: loggp, or loggps with --from]
    #[arg(long, value_enum, help_heading = "Calibration")]
    find: Option<Model>,
    /// Derive a LogGPS machine from times that were measured elsewhere: CSV with the columns k, w and time, or what
    /// Netgauge's pattern loggp or osu_latency and osu_bw print
    #[arg(long, value_name = "FILE", help_heading = "Calibration")]
    from: Option<PathBuf>,
    /// On a real machine, between processes 0 and 1.
    #[command(flatten)]
    on: OnOptions,
    /// Where else it goes.
    #[command(flatten)]
    outputs: Outputs,
}

/// Whose parameters are looked for.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Model {
    /// o, g, L, G and the capacity, from bursts, round trips and stalls
    #[value(name = "loggp")]
    LogGP,
    /// L, o', O_s, O_r, G_s, G_l, s and S, from round trips alone
    #[value(name = "loggps")]
    LogGPS,
}

/// A parameter that was found.
struct Row<'a> {
    /// On what it was found.
    bench: Bench,
    /// What was found.
    finding: Finding<'a>,
}

/// On what parameters were found.
#[derive(Clone, Copy)]
struct Bench {
    /// What the machine is called, if it was named.
    machine: Option<&'static str>,
    /// Its parameters.
    params: Params,
    /// Whether a processor's long messages share a port.
    ports: Ports,
    /// The clock; nothing if the times come from elsewhere.
    clock: Option<ClockKind>,
    /// What a processor is on that clock; nothing where it need not be told.
    carrier: Option<Carrier>,
    /// How much slower than it should the machine ran, at most.
    dilation: f64,
    /// On how many of this computer's cores.
    cores: usize,
}

/// A table shows times with at most so many decimals.
const MOST_DECIMALS: usize = 4;

impl Calibrate {
    /// Calibrates, and says how near it came.
    pub fn execute(&self, out: &mut dyn Write) -> Result<(), Failure> {
        if let Some(link) = self.on.link()? {
            return real::calibrate(self, &link, out);
        }
        match (self.find, &self.from) {
            (Some(Model::LogGP), Some(_)) => Err(Failure::request(
                "--from derives a machine of LogGPS from round trips; leave out --find loggp",
            )),
            (_, Some(file)) => loggps::derive(self, file, out),
            (Some(Model::LogGPS), None) => loggps::calibrate(self, out),
            _ => self.calibrate(out),
        }
    }

    /// The machine, which must have messages that are under way for exactly L.
    fn choice(&self) -> Result<Choice, Failure> {
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
        let P = self.machine.one_P()?.or((!gives(&self.machine.choice, "P")).then_some(2));
        Choice::of(&self.machine.choice, P)
    }

    /// Finds o, g, L, G and C.
    fn calibrate(&self, out: &mut dyn Write) -> Result<(), Failure> {
        let choice = self.choice()?;
        let emulation = self.machine.emulation(ClockKind::Wall)?;
        let mut files = self.outputs.open()?;
        let ports = self.machine.ports.unwrap_or_default();
        let found = Calibration::study(choice.params, ports, &emulation)?;

        let mut report = Report::new(out, self.machine.format, columns()).files(take(&mut files.rows));
        let Calibration { params, clock, dilation, cores, .. } = found;
        let machine = choice.name;
        let carrier = carrier_on(clock, emulation.carrier);
        let bench = Bench { machine, params, ports, clock: Some(clock), carrier, dilation, cores };
        for finding in found.findings() {
            report.add(Row { bench, finding })?;
        }
        let parameters = parameters(&choice.params, &choice.unit).join(", ");
        let mut heading = machine_heading(&choice, &parameters, found.clock, &self.machine);
        if found.clock == ClockKind::Wall {
            heading += &format!(", dilation {}", rough(found.dilation));
        }
        report.finish(&heading, choice.unit, MOST_DECIMALS, late)?;
        judge(&report.rows)?;
        files.draw(|| signature(&choice, &found))
    }
}

impl Row<'_> {
    /// Whether this computer was on time often enough to measure it; nothing where time does not pass.
    fn held(&self) -> Option<bool> {
        (self.bench.clock == Some(ClockKind::Wall)).then_some(self.finding.held)
    }

    /// Whether this computer was late too often.
    fn is_late(&self) -> bool {
        self.held() == Some(false)
    }
}

/// What must be said below a table of which this computer was too late to measure something.
fn late(rows: &[Row]) -> Vec<Block> {
    let said = "late: this computer was late too often to measure it, so do not trust its value";
    rows.iter().any(Row::is_late).then(|| Block::Paragraph(plain(said))).into_iter().collect()
}

/// The columns of the report.
fn columns<'a>() -> Vec<Column<'a, Row<'a>>> {
    let mut columns = row::machine(|row: &Row| (row.bench.machine, row.bench.params), false);
    columns.extend([
        Column::new("cycle_ns", |row: &Row| row.bench.params.cycle),
        Column::new("ports", |row: &Row| row.bench.ports),
        Column::new("clock", |row: &Row| row.bench.clock),
        Column::new("carrier", |row: &Row| row.bench.carrier),
        Column::new("parameter", |row: &Row| row.finding.parameter).titled("parameter"),
        Column::new("unit", |row: &Row| match row.finding.found {
            Amount::Time(_) => "ns",
            Amount::Count(_) => "messages",
            Amount::Words(_) => "words",
        }),
        Column::new("configured", |row: &Row| match row.finding.configured {
            None if row.bench.clock.is_none() => Field::Nothing,
            None => Field::Signed("unlimited", Field::Nothing.into()),
            Some(amount) => cell(amount),
        })
        .titled("configured")
        .optional(),
        Column::new("recovered", |row: &Row| match (row.finding.bound, cell(row.finding.found)) {
            (Bound::Exact, found) => found,
            (Bound::AtMost, found) => Field::Signed("<=", found.into()),
            (Bound::AtLeast, found) => Field::Signed(">=", found.into()),
            (Bound::Any, found) => Field::Signed("any,", found.into()),
        })
        .titled("recovered"),
        Column::new("bound", |row: &Row| match row.finding.bound {
            Bound::Exact => "exact",
            Bound::AtMost => "at_most",
            Bound::AtLeast => "at_least",
            Bound::Any => "any",
        }),
        Column::new("difference", |row: &Row| row.finding.difference().map(cell))
            .titled("difference")
            .optional(),
        Column::new("error", |row: &Row| row.finding.error().map(Field::Error)).titled("error").optional(),
        Column::new("doubt", |row: &Row| row.finding.doubt.map(cell)).titled("doubt").optional(),
        Column::new("how", |row: &Row| row.finding.how.to_string()).titled("how"),
        Column::new("held", |row: &Row| row.held().map(Field::Held)).titled("").after("doubt").optional(),
        Column::new("dilation", |row: &Row| row.bench.dilation),
        Column::new("cores", |row: &Row| row.bench.cores),
    ]);
    columns
}

/// An amount as a value of the report.
fn cell(amount: Amount) -> Field {
    match amount {
        Amount::Time(time) => time.into(),
        Amount::Count(count) | Amount::Words(count) => count.into(),
    }
}

/// A parameter that this computer could not measure makes the calibration fail. Time does not pass on the virtual
/// clock, so there nothing can excuse a difference.
fn judge(rows: &[Row]) -> Result<(), Failure> {
    let late: Vec<&str> = rows.iter().filter(|row| row.is_late()).map(|row| row.finding.parameter).collect();
    if !late.is_empty() {
        return Err(Failure::Run(format!(
            "{} could not be measured: this computer was late too often; --carrier coroutine, a larger --dilation or an \
             otherwise idle computer would help",
            late.join(", ")
        )));
    }
    let wrong = |row: &&Row| {
        let Finding { bound, configured, found, .. } = row.finding;
        row.bench.clock == Some(ClockKind::Virtual) && bound == Bound::Exact && configured != Some(found)
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
    let Choice { name, params, unit } = choice;
    let of = name.map_or(String::new(), |name| format!(" of {name}"));
    let lines = found.signature.iter().enumerate().map(|(number, series)| {
        let points = series.bursts.iter().map(|(M, t)| (*M as f64, unit.amount(*t) / *M as f64));
        let label = format!("\u{394} = {}", show(unit, series.pause));
        Line::new(label, number, Look::Both, points.collect())
    });
    let level = |name: &str, found: &Found<Time>| format!("{name} = {}", show(unit, found.value));
    Plot::new(
        format!("LogP signature{of}"),
        format!("{} clock: {}", found.clock, parameters(params, unit).join(", ")),
    )
    .x("messages in a burst, M", Scale::Points)
    .y(format!("time per message [{}]", unit.name), Scale::Linear)
    .lines(lines)
    .level(level("o", &found.o), unit.amount(found.o.value))
    .level(level("g", &found.g), unit.amount(found.g.value))
}

/// A measured time with its unit, no finer than anybody reads it.
fn show(unit: &Unit, time: Time) -> String {
    format!("{} {}", rough(unit.amount(time)), unit.name)
}
