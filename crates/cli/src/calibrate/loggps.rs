//! `loggp calibrate --find loggps` and `--from FILE`: a machine of LogGPS from round trips.
//!
//! As JSON it is one object: the machine, as `--machine FILE` reads it, with how each parameter was found.

use std::io::{Read, Write};
use std::mem::take;
use std::path::Path;

use loggp::{ClockKind, Params, Time, US};
use loggp_document::{Block, plain};
use loggp_draw::plot::{Line, Look, Plot, Scale};
use loggp_programs::rtt::RoundTrip;
use loggp_study::loggps::{LogGpsCalibration, Recovered, RoundTrips, Sample};

use super::super::choice::DEFAULT_P;
use super::super::column;
use super::super::draft;
use super::super::failure::Failure;
use super::super::field::{Field, Object};
use super::super::heading::{machine_heading, parameters};
use super::super::machine_file;
use super::super::number::{Unit, count, percent, rough, thousands};
use super::super::options::{ChoiceOptions, MachineOptions, carrier_on};
use super::super::output::Files;
use super::super::report::Report;
use super::{Bench, Calibrate, MOST_DECIMALS, Row, columns, judge, late};

/// No file of times has more bytes than this.
const LONGEST: u64 = 1 << 26;

/// Calibrates a machine that is emulated.
pub fn calibrate(asked: &Calibrate, out: &mut dyn Write) -> Result<(), Failure> {
    let choice = asked.choice()?;
    let emulation = asked.machine.emulation(ClockKind::Wall)?;
    let mut files = asked.outputs.open()?;
    let ports = asked.machine.ports.unwrap_or_default();
    let found = LogGpsCalibration::study(choice.params, ports, &emulation)?;
    let LogGpsCalibration { params, recovered, clock, dilation, cores } = found;
    let machine = choice.name;
    let carrier = carrier_on(clock, emulation.carrier);
    let bench = Bench { machine, params, ports, clock: Some(clock), carrier, dilation, cores };
    let parameters = parameters(&choice.params, &choice.unit).join(", ");
    let mut heading = machine_heading(&choice, &parameters, clock, &asked.machine);
    if clock == ClockKind::Wall {
        heading += &format!(", dilation {}", rough(dilation));
    }
    let rows = report(asked, out, &mut files, bench, &recovered, &heading, choice.unit)?;
    judge(&rows)?;
    let title = choice.name.map_or(String::new(), |name| format!(" of {name}"));
    draw(files, &title, &format!("{clock} clock"), &recovered, choice.unit)
}

/// Derives a machine from a file.
pub fn derive(asked: &Calibrate, path: &Path, out: &mut dyn Write) -> Result<(), Failure> {
    let MachineOptions { choice: ChoiceOptions { machine, params, cycle }, clock, stack, .. } =
        &asked.machine;
    let given =
        [("--machine", machine.is_some()), ("--params", params.is_some()), ("--stack", stack.is_some())];
    if let Some((name, _)) = given.into_iter().chain(clock.given()).find(|(_, given)| *given) {
        let why = format!(
            "--from takes the times of another machine, and {name} would have no part in it; leave it out"
        );
        return Err(Failure::Request(why));
    }
    let refuse = |why: String| Failure::Request(format!("--from {}: {why}", path.display()));
    let mut text = Vec::new();
    let read = draft::source(path).and_then(|file| file.take(LONGEST + 1).read_to_end(&mut text));
    read.map_err(|error| refuse(format!("it cannot be read: {error}")))?;
    if text.len() as u64 > LONGEST {
        return Err(refuse(format!("it is longer than {LONGEST} bytes; fewer repeats say as much")));
    }
    let P = asked.machine.one_P()?.unwrap_or(DEFAULT_P);
    let cycle = cycle.unwrap_or(US);
    let builder = Params::builder(P).word(1).cycle(cycle);
    let recovered = Recovered::read(&text, builder, cycle).map_err(|why| refuse(why.to_string()))?;
    if asked.outputs.has_picture() && recovered.trips.is_none() {
        return Err(Failure::request(
            "-o FILE.svg draws round trips, and what Netgauge prints has none; leave it out",
        ));
    }
    let mut files = asked.outputs.open()?;
    let unit = Unit::usual(&recovered.params);
    let from = match &recovered.trips {
        Some(trips) => {
            let (samples, lengths) = (trips.samples().count(), trips.lengths().len());
            format!("{} of {}", count(samples, "round trip"), count(lengths, "length"))
        }
        None => "by Netgauge".into(),
    };
    let (name, params) = (path.display(), recovered.params);
    let wires = match recovered.ports {
        Some(ports) => format!(", {ports} ports"),
        None => String::new(),
    };
    let parameters = parameters(&params, &unit).join(", ");
    let heading = format!("{name}: {parameters}{wires}\n{from}, times in {}", unit.name);
    let ports = asked.machine.ports.or(recovered.ports).unwrap_or_default();
    let bench = Bench { machine: None, params, ports, clock: None, carrier: None, dilation: 1.0, cores: 0 };
    report(asked, out, &mut files, bench, &recovered, &heading, unit)?;
    draw(files, &format!(" in {name}"), &from, &recovered, unit)
}

/// Writes what was found.
fn report<'a>(
    asked: &Calibrate,
    out: &mut dyn Write,
    files: &mut Files,
    bench: Bench,
    recovered: &'a Recovered,
    heading: &str,
    unit: Unit,
) -> Result<Vec<Row<'a>>, Failure> {
    let rows: Vec<Row> =
        recovered.findings.iter().map(|finding| Row { bench, finding: finding.clone() }).collect();
    let fit = recovered.trips.as_ref().and_then(|trips| trips.misses(&recovered.params));
    // JSON is one machine, with what was found of it.
    let machine = object(bench, &rows, recovered, fit);
    let report = Report::new(out, asked.machine.format, columns());
    let mut report = report.files(take(&mut files.rows)).whole(machine);
    rows.into_iter().try_for_each(|row| report.add(row))?;
    report.finish(heading, unit, MOST_DECIMALS, |rows| {
        let fit = fit.map(|(middle, worst, Sample { k, w, .. })| {
            Block::Paragraph(plain(format!(
                "half of the round trips that were measured are within {} of this machine's, and all within {} (k = {}, \
                 w = {w})",
                percent(middle).trim_start_matches('+'),
                percent(worst).trim_start_matches('+'),
                thousands(k)
            )))
        });
        fit.into_iter().chain(late(rows)).collect()
    })?;
    Ok(take(&mut report.rows))
}

/// The machine that was found, and how.
fn object(bench: Bench, rows: &[Row], recovered: &Recovered, fit: Option<(f64, f64, Sample)>) -> Object {
    let Object(mut values) = machine_file::object(bench.machine, &recovered.params, &[]);
    let of = [
        "parameter",
        "unit",
        "configured",
        "recovered",
        "bound",
        "difference",
        "error",
        "doubt",
        "how",
        "held",
    ];
    let finding = |row: &Row| {
        let Object(values) = column::object(&columns(), row);
        Object(values.into_iter().filter(|(name, _)| of.contains(&&**name)).collect())
    };
    values.push(("ports".into(), bench.ports.into()));
    values.push(("findings".into(), Field::Rows(rows.iter().map(finding).collect())));
    values.push(("error_median".into(), fit.map(|(middle, ..)| middle).into()));
    values.push(("error_max".into(), fit.map(|(_, worst, _)| worst).into()));
    values.push(("clock".into(), bench.clock.into()));
    values.push(("carrier".into(), bench.carrier.into()));
    Object(values)
}

/// Draws LogGPS's figures 4 and 5, where that is asked for.
fn draw(files: Files, title: &str, by: &str, recovered: &Recovered, unit: Unit) -> Result<(), Failure> {
    match &recovered.trips {
        Some(trips) => files.draw(|| plot(title, by, &recovered.params, trips, unit)),
        None => Ok(()),
    }
}

/// Round trips over their length: in one panel as the machine that was found has them, in the other as they were measured.
/// With a long w all are as much longer, so w is taken off: whatever it is, the lines are the same.
fn plot(title: &str, by: &str, params: &Params, trips: &RoundTrips, unit: Unit) -> Plot {
    const STEPS: usize = 200;
    let lengths = trips.lengths();
    let longest = lengths.last().copied().unwrap_or(0);
    let (s, S) = params.gps().map_or((0, 0), |gps| (gps.s, gps.S));
    // What is far above S is longer and says no more.
    let end = if S < longest { longest.min((4 * S).max(64)) } else { longest };
    let mut ks: Vec<usize> =
        (0..=STEPS).map(|step| end * step / STEPS).chain([s, S, S.saturating_add(1)]).collect();
    ks.retain(|k| *k <= end);
    ks.sort_unstable();
    let trip = |k: usize, w: Time| (k as f64, unit.amount(RoundTrip::of(params, k).time(w) - w));
    let long = |k: usize| RoundTrip::of(params, k).time(Time::ZERO);
    let model = |label: &str, number, w: &dyn Fn(usize) -> Time| {
        Line::new(label, number, Look::Line, ks.iter().map(|k| trip(*k, w(*k))).collect())
    };
    let measured = |label: &str, number, is_loaded: bool| {
        let samples =
            trips.samples().filter(|sample| sample.k <= end && (sample.w > Time::ZERO) == is_loaded);
        let points = samples.map(|sample| (sample.k as f64, unit.amount(sample.time - sample.w))).collect();
        Line::new(label, number, Look::Marks, points)
    };
    let lines = || [model("w = 0", 1, &|_| Time::ZERO), model("a long w, less w", 2, &long)];
    let measured = [measured("measured, w = 0", 1, false), measured("measured, a long w, less w", 2, true)];
    Plot::new(format!("Round trips{title}"), format!("{by}\n{}", parameters(params, &unit).join(", ")))
        .x("length of the messages, k [words]", Scale::Linear)
        .y(format!("round trip [{}]", unit.name), Scale::Linear)
        .panel("by the model (LogGPS, figure 4)", lines())
        .panel("measured (LogGPS, figure 5)", lines().into_iter().chain(measured))
}
