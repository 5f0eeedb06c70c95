//! Section 5.3: latency over load.

use loggp::US;

use super::super::{Cell, Check, Exhibit, Finding, Lab, Seconds, Table};
use super::cm5;
use loggp_draw::plot::{Line, Look, Plot, Scale};
use loggp_programs::Case;
use loggp_programs::stress::{LATENCY, LONGEST_LATENCY, RATE, STEADY, STRESS};
use loggp_study::{Answers, Failed};

/// Section 5.3.
pub const SATURATION: Exhibit = Exhibit {
    id: "logp-saturation",
    place: "section 5.3",
    title: "latency over load, up to saturation and beyond",
    says: &[
        "In a real machine latency grows with the load, the rate at which messages are started, because more of them compete.",
        "There is typically a saturation point at which it increases sharply; below it, latency is fairly insensitive to \
         the load.",
        "The capacity constraint captures this. The section has no numbers.",
    ],
    formulas: &["L + 2o without load (section 5)"],
    commands: &[
        "loggp stress steady --machine cm5 -P 16 --load 200 --rate 0.1,0.5,0.9,1,1.1,1.5 --clock virtual",
    ],
    seconds: Seconds { quick: 2.0, full: 60.0 },
    make,
};

/// The loads: how many messages each processor starts per max(g, 2o).
const RATES: [f64; 13] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5];
/// Those that are measured too.
const MEASURED: [f64; 3] = [0.2, 0.7, 1.25];
/// How many processors there are.
const P: usize = 16;

fn case(rate: f64, size: usize) -> Case {
    Case { size, ..Case::new(&STRESS, STEADY, cm5(P)) }.with(&RATE, rate)
}

/// A figure of a run, in us.
fn metric(answers: &Answers, name: &str) -> f64 {
    answers.outcome.metric(name).unwrap_or(f64::NAN)
}

fn make(lab: &Lab) -> Result<Finding, Failed> {
    let size = lab.pick(200, 2000);
    let params = cm5(P);
    let unloaded = (params.L + 2 * params.o).in_units(US);
    let title = format!("Latency of {size} messages from each of {P} processors, by load");
    let table =
        Table::new("latency", title).exact("load", "").exact("unloaded", "us").exact("mean", "us, model");
    let table = table.exact("longest", "us, model").exact("twice as many", "us, model").percent("stalled");
    let mut table = table.exact("mean, measured", "us").rough("dilation", "").text("held").text("verified");
    let (mut mean, mut longest, mut twice, mut rings) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (done, load) in RATES.into_iter().enumerate() {
        let model = lab.model(case(load, size))?;
        let more = lab.model(case(load, 2 * size))?;
        mean.push((load, metric(&model, LATENCY)));
        longest.push((load, metric(&model, LONGEST_LATENCY)));
        twice.push((load, metric(&more, LATENCY)));
        let stalled = model.outcome.run.stalled().in_units(US)
            / (P as f64 * model.prediction.model.unwrap_or_default().in_units(US));
        let mut row: Vec<Cell> = vec![
            load.into(),
            unloaded.into(),
            mean[done].1.into(),
            longest[done].1.into(),
            twice[done].1.into(),
            stalled.into(),
        ];
        if lab.is_wall() && MEASURED.contains(&load) {
            let measured = lab.measured(case(load, size))?;
            let latency = metric(&measured, LATENCY);
            rings.push((load, latency));
            let host = measured.outcome.run.host.as_ref();
            row.extend([
                latency.into(),
                host.map(|host| host.dilation).into(),
                host.map(|host| if host.held { "yes" } else { "late" }).into(),
                if measured.wrong.is_none() { "yes" } else { "no" }.into(),
            ]);
        } else {
            let verified = if model.wrong.is_none() && more.wrong.is_none() { "yes" } else { "no" };
            row.extend([Cell::Nothing, Cell::Nothing, Cell::Nothing, verified.into()]);
        }
        table.push(row);
        lab.done((done + 1) as f64 / RATES.len() as f64);
    }
    let at =
        |points: &[(f64, f64)], load| points.iter().find(|(x, _)| *x == load).map_or(f64::NAN, |(_, y)| *y);
    let (half, beyond) = (at(&mean, 0.5), at(&mean, 1.5));
    let checks = [
        Check::claim(
            "mean latency at half of the load that saturates",
            "fairly insensitive to the load: less than twice L + 2o",
            format!("{half:.1} us, and L + 2o is {unloaded} us"),
            half < 2.0 * unloaded,
        ),
        Check::claim(
            "mean latency beyond saturation, at 1.5",
            "increases sharply: more than ten times L + 2o",
            format!("{beyond:.0} us"),
            beyond > 10.0 * unloaded,
        ),
        Check::claim(
            "twice as many messages at half of that load, and at 1.5 of it",
            "a saturation point: latency settles below it, and beyond it goes on growing",
            format!("{:.2} and {:.2} times the latency", at(&twice, 0.5) / half, at(&twice, 1.5) / beyond),
            at(&twice, 0.5) < 1.25 * half && at(&twice, 1.5) > 1.75 * beyond,
        ),
    ];
    let mut lines = vec![
        Line::new(format!("mean, {size} messages"), 0, Look::Both, mean),
        Line::new(format!("mean, {} messages", 2 * size), 1, Look::Both, twice),
        Line::new(format!("longest, {size} messages"), 2, Look::Both, longest),
    ];
    if !rings.is_empty() {
        lines.push(Line::new("mean, measured", 0, Look::Rings, rings));
    }
    let plot = Plot::new(
        format!("Latency over load, {P} processors of a CM-5"),
        "from when a message is to be started until it is received; receivers are random",
    )
    .x("messages that each processor starts per max(g, 2o)", Scale::Linear)
    .y("latency [us]", Scale::Log)
    .lines(lines)
    .level("L + 2o", unloaded);
    let caption = "Below 1 a message waits little for others; beyond 1 more are started than can be sent and received, and \
                   the longer that lasts the longer they wait.";
    Ok(Finding::new(format!(
        "As the section says, in the model: at half load a message takes {:.1} times L + 2o, and beyond a load of 1 the more the \
         more there are. But a processor of a CM-5 is busy for 2o = g with every message, so that it is its own time, and that \
         of the receivers, that runs out first; the stalls of the capacity are what shows it.",
        half / unloaded
    ))
    .table(table)
    .picture("", caption, plot.svg())
    .checks(checks))
}
