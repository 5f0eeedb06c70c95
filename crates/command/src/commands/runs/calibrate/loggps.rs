//! `loggp calibrate --find loggps` and `--from FILE`: a LogGPS machine from round trips.
//!
//! As JSON it is one object: the machine, which `--machine FILE` reads, with the finding of each parameter.

use std::io::Write;
use std::path::Path;

use loggp::{Params, Time, US};
use loggp_document::{DocumentBlock, plain};
use loggp_draw::plot::{Look, Plot, PlotLine, Scale};
use loggp_programs::rtt::RoundTrip;
use loggp_study::calibration::Finding;
use loggp_study::loggps::{RecoveredMachine, RoundTripSample, RoundTripSamples};
use loggp_study::rows::finding::{CalibrationSetup, FindingRow, finding_columns};
use loggp_study::rows::machine;
use loggp_study::rows::{Field, Object};

use super::{CalibrateCommand, write_findings};
use crate::ask::choice::DEFAULT_P;
use crate::ask::options::{ChoiceOptions, MachineOptions};
use crate::error::CliError;
use crate::host::source;
use crate::number::{Unit, count, percent, thousands};
use crate::tell::heading::parameters;
use crate::tell::report::Report;

/// Limit of the bytes of a file of times.
const LONGEST: u64 = 1 << 26;

/// Derives a machine from a file of times.
pub(super) fn derive(command: &CalibrateCommand, path: &Path, out: &mut dyn Write) -> Result<(), CliError> {
    let MachineOptions { choice: ChoiceOptions { machines, params, cycle }, stack, .. } = &command.machine;
    let given =
        [("--machine", !machines.is_empty()), ("--params", params.is_some()), ("--stack", stack.is_some())];
    if let Some((name, _)) = given.into_iter().chain(command.clock.given_options()).find(|(_, given)| *given)
    {
        let why = format!(
            "--from takes the times of another machine, and {name} would have no part in it; leave it out"
        );
        return Err(CliError::Request(why));
    }
    let refuse = |why: String| CliError::Request(format!("--from {}: {why}", path.display()));
    let text = source::read_source(path, LONGEST, "; fewer repeats say as much").map_err(refuse)?;
    let P = command.machine.one_P()?.unwrap_or(DEFAULT_P);
    let cycle = cycle.unwrap_or(US);
    let builder = Params::builder(P).word(1).cycle(cycle);
    let recovered = RecoveredMachine::read(&text, builder, cycle).map_err(|why| refuse(why.to_string()))?;
    if command.outputs.has_picture() && recovered.trips.is_none() {
        return Err(CliError::request(
            "-o FILE.svg draws round trips, and what Netgauge prints has none; leave it out",
        ));
    }
    let files = command.outputs.open()?;
    let unit = Unit::default_for(&recovered.params);
    let from = match &recovered.trips {
        Some(trips) => {
            let (samples, lengths) = (trips.samples().count(), trips.lengths().len());
            format!("{} of {}", count(samples, "round trip"), count(lengths, "length"))
        }
        None => "by Netgauge".into(),
    };
    let (name, params) = (path.display(), recovered.params);
    let wires = recovered.ports.map_or(String::new(), |ports| format!(", {ports} ports"));
    let parameters = parameters(&params, &unit).join(", ");
    let heading = format!("{name}: {parameters}{wires}\n{from}, times in {}", unit.name);
    let ports = command.machine.ports.or(recovered.ports).unwrap_or_default();
    let setup = CalibrationSetup {
        machine: None,
        params,
        ports,
        clock: None,
        carrier: None,
        dilation: 1.0,
        cores: 0,
    };
    write(command.report(out, files), setup, &recovered, &heading, unit, [&format!(" in {name}"), &from])
}

/// Writes the report, and draws LogGPS's figures 4 and 5. `title` is the end of their title, and `by` the
/// beginning of their subtitle.
pub(super) fn write<'a>(
    report: Report<'a, FindingRow<'a>>,
    setup: CalibrationSetup,
    recovered: &'a RecoveredMachine,
    heading: &str,
    unit: Unit,
    [title, by]: [&str; 2],
) -> Result<(), CliError> {
    let fit = recovered.trips.as_ref().and_then(|trips| trips.model_errors(&recovered.params));
    // JSON is one machine, with its findings.
    let mut report = report.with_json_object(machine_object(setup, recovered, fit));
    let below = fit.map(|(middle, worst, RoundTripSample { k, w, .. })| {
        DocumentBlock::Paragraph(plain(format!(
            "half of the round trips that were measured are within {} of this machine's, and all within {} (k = {}, \
             w = {w})",
            percent(middle).trim_start_matches('+'),
            percent(worst).trim_start_matches('+'),
            thousands(k)
        )))
    });
    write_findings(&mut report, setup, &recovered.findings, heading, unit, below)?;
    match &recovered.trips {
        Some(trips) => report.draw(|_| plot(title, by, &recovered.params, trips, unit)),
        None => Ok(()),
    }
}

/// Returns the machine as a JSON object, with the finding of each parameter.
fn machine_object(
    setup: CalibrationSetup,
    recovered: &RecoveredMachine,
    fit: Option<(f64, f64, RoundTripSample)>,
) -> Object {
    let Object(mut values) = machine::machine_object(setup.machine, &recovered.params, &[]);
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
    let finding = |finding: &Finding<'static>| {
        let row = FindingRow { setup, finding: finding.clone() };
        let Object(values) = finding_columns().object(&row);
        Object(values.into_iter().filter(|(name, _)| of.contains(&&**name)).collect())
    };
    values.push(("ports".into(), setup.ports.to_string().into()));
    values.push(("findings".into(), Field::Rows(recovered.findings.iter().map(finding).collect())));
    values.push(("error_median".into(), fit.map(|(middle, ..)| middle).into()));
    values.push(("error_max".into(), fit.map(|(_, worst, _)| worst).into()));
    values.push(("clock".into(), setup.clock.map(|clock| clock.to_string()).into()));
    values.push(("carrier".into(), setup.carrier.map(|carrier| carrier.to_string()).into()));
    Object(values)
}

/// Plots round trips over the length of their messages: in one panel those of the machine that was found, in
/// the other those that were measured too. w is subtracted, so that the lines are the same for every long w.
fn plot(title: &str, by: &str, params: &Params, trips: &RoundTripSamples, unit: Unit) -> Plot {
    const STEPS: usize = 200;
    let lengths = trips.lengths();
    let longest = lengths.last().copied().unwrap_or(0);
    let (s, S) = params.gps().map_or((0, 0), |gps| (gps.s, gps.S));
    // Lengths far above S add nothing.
    let end = if S < longest { longest.min((4 * S).max(64)) } else { longest };
    let mut ks: Vec<usize> =
        (0..=STEPS).map(|step| end * step / STEPS).chain([s, S, S.saturating_add(1)]).collect();
    ks.retain(|k| *k <= end);
    ks.sort_unstable();
    let trip = |k: usize, w: Time| (k as f64, unit.amount(RoundTrip::new(params, k).time(w) - w));
    let long = |k: usize| RoundTrip::new(params, k).time(Time::ZERO);
    let model = |label: &str, number, w: &dyn Fn(usize) -> Time| {
        PlotLine::new(label, number, Look::Line, ks.iter().map(|k| trip(*k, w(*k))).collect())
    };
    let measured = |label: &str, number, is_loaded: bool| {
        let samples =
            trips.samples().filter(|sample| sample.k <= end && (sample.w > Time::ZERO) == is_loaded);
        let points = samples.map(|sample| (sample.k as f64, unit.amount(sample.time - sample.w))).collect();
        PlotLine::new(label, number, Look::Marks, points)
    };
    let lines = || [model("w = 0", 1, &|_| Time::ZERO), model("a long w, less w", 2, &long)];
    let measured = [measured("measured, w = 0", 1, false), measured("measured, a long w, less w", 2, true)];
    Plot::new(format!("Round trips{title}"), format!("{by}\n{}", parameters(params, &unit).join(", ")))
        .x("length of the messages, k [words]", Scale::Linear)
        .y(format!("round trip [{}]", unit.name), Scale::Linear)
        .panel("by the model (LogGPS, figure 4)", lines())
        .panel("measured (LogGPS, figure 5)", lines().into_iter().chain(measured))
}
