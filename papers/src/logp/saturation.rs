//! Section 5.3: latency over load.

use loggp_programs::stress::{LATENCY, RATE, STEADY, STRESS};

use crate::prelude::*;

pub(super) const SATURATION: Exhibit = Exhibit {
    id: "logp-saturation",
    place: "section 5.3",
    title: "latency over load, up to saturation and beyond, with the capacity and without it",
    notes: "The section has no numbers. A CM-5 with o = 0.1 us, once with its capacity and once without any: on the CM-5 itself a processor is \
            busy for 2o = g with every message, so that its own time runs out with the network's. Receivers are random.\nA load counts \
            as saturated if the mean latency depends on how long the load lasts: if it grows to 1.5 times or more with twice as many \
            messages. It would stay as it is below saturation, and double above.",
    formulas: &["L + 2o without load (section 5)"],
    series,
    show,
    ..Exhibit::USUAL
};

/// Loads: messages that each processor starts per max(g, 2o).
const RATES: [f64; 13] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5];
const P: usize = 16;
/// Growth of the latency from which a load counts as saturated.
const SATURATED: f64 = 1.5;
/// The machines: with the capacity, and without it.
const MACHINES: [&str; 2] = ["capacity", "no capacity"];

/// Returns the machine, with its capacity or without it.
fn machine(has_capacity: bool) -> Params {
    let builder = loggp::ParamsBuilder::from(cm5(P)).o(US / 10);
    let builder = if has_capacity { builder } else { builder.C(Params::NO_LIMIT) };
    builder.build().expect("these are parameters")
}

fn series(lab: &Lab) -> Vec<CaseSeries> {
    let size = lab.pick(200, 2000);
    let make_series = |name: &str, has_capacity, times: usize| {
        let case = Case { size: times * size, ..Case::new(&STRESS, STEADY, machine(has_capacity)) };
        let name = if times == 1 { name.to_string() } else { format!("{name}, twice as long") };
        CaseSeries::from_cases(name, "load", RATES.map(|rate| (rate, case.clone().with(&RATE, rate))))
    };
    let [with, without] = MACHINES;
    vec![
        make_series(with, true, 1).measured_if(|load| [0.2, 0.7, 1.25].contains(&load)),
        make_series(with, true, 2),
        make_series(without, false, 1),
        make_series(without, false, 2),
    ]
}

/// Returns the mean latency at each load, in us.
fn latencies(sheet: &Sheet, name: &str) -> Vec<Ran<f64>> {
    sheet.series(name).points.iter().map(|result| result.metric(LATENCY)).collect()
}

/// Returns the index of the first load that is saturated.
fn saturation(sheet: &Sheet, name: &str) -> Ran<usize> {
    let (once, twice) = (latencies(sheet, name), latencies(sheet, &format!("{name}, twice as long")));
    let grows = |(once, twice): (&Ran<f64>, &Ran<f64>)| (*twice / *once).value() >= SATURATED;
    let index = once.iter().zip(&twice).position(grows).unwrap_or(RATES.len() - 1);
    sheet.last_result(name).ran(|_| index)
}

fn show(sheet: &mut Sheet) -> Result<(), StudyError> {
    let [with, without] = MACHINES.map(|name| latencies(sheet, name));
    let [point, other] = MACHINES.map(|name| saturation(sheet, name));
    let at = point.value();
    let quote = "there is typically a saturation point at which the latency increases sharply";
    let what = "the mean latency at the first saturated load over that at the load below, which is less by a tenth of max(g, 2o)";
    let sharp = || at_least(2.0).because("a latency that doubles has increased sharply");
    sheet.add_claim(what, "5.3", quote, sharp(), [with[at] / with[at - 1]]);
    let quote = "below the saturation point the latency is fairly insensitive to the load";
    let what = "the mean latency at each load below saturation over that at the lowest";
    let below_it: Vec<_> = with[..at].iter().map(|latency| *latency / with[0]).collect();
    let rule = between(1.0, 2.0).in_the_mean().because("less than what counts as sharp");
    sheet.add_claim(what, "5.3", quote, rule, below_it);
    let quote = "the latency experienced by a message tends to increase as a function of the load";
    let what = "the mean latency at each load over that at the one below";
    let rises: Vec<_> = with.windows(2).map(|pair| pair[1] / pair[0]).collect();
    sheet.add_claim(what, "5.3", quote, above(1.0), rises);
    let quote = "This characteristic is captured by the capacity constraint in LogP.";
    let what = "the first saturated load with the capacity over that without it";
    let parts = point.map(|index| RATES[index]) / other.map(|index| RATES[index]);
    let rule = below(1.0).because("without a capacity only the receivers saturate, at a load of 1");
    sheet.add_claim(what, "5.3", quote, rule, [parts.value()].map(|part| point.map(|_| part)));
    let what = "the mean latency with the capacity over that without it, at the first load that is saturated with it";
    sheet.add_claim(what, "5.3", quote, sharp(), [with[at] / without[at]]);
    let what = "the mean latency with the capacity over that without it, at the loads up to half of that";
    let rule = between(0.8, 1.25).because("the capacity changes little there");
    let half: Vec<_> = (0..=at / 2).map(|index| with[index] / without[index]).collect();
    sheet.add_claim(what, "5.3", quote, rule, half);
    add_figure(sheet);
    Ok(())
}

/// Adds the picture.
fn add_figure(sheet: &mut Sheet) {
    let size = sheet.lab.pick(200, 2000);
    let mut lines = Vec::new();
    for (number, name) in MACHINES.into_iter().enumerate() {
        for (times, suffix) in [(1, ""), (2, ", twice as long")] {
            let latency =
                sheet.series(&format!("{name}{suffix}")).map_points(|result| result.metric(LATENCY));
            lines.push(marked_line(
                format!("{name}, {} messages", times * size),
                2 * number + times - 1,
                latency,
            ));
        }
    }
    if sheet.lab.is_wall() {
        let result = &sheet.series(MACHINES[0]).points;
        let rings = result.iter().filter(|result| result.prediction.measured.is_some());
        let rings = rings.map(|result| (result.x, result.metric(LATENCY).value())).collect();
        lines.push(PlotLine::new("capacity, measured", 0, Look::Rings, rings));
    }
    let unloaded = in_us(machine(true).L + 2 * machine(true).o);
    let plot = Plot::new(
        format!("Latency over load, {P} processors of a CM-5 with o = 0.1 us"),
        "from when a message is to be started until it is received; receivers are random",
    )
    .x("load [messages that each processor starts per g]", Scale::Linear)
    .y("mean latency [us]", Scale::Log)
    .lines(lines)
    .level("L + 2o", unloaded);
    let caption = "With the capacity, messages stall from a load of 0.8 on, and the longer that lasts the longer they wait. Without it, only the \
                   receivers are too slow, from a load of 1 on.";
    sheet.add_plot("", caption, plot);
}
