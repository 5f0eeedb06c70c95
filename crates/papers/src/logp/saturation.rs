//! Section 5.3: latency over load.

use loggp_programs::stress::{LATENCY, LONGEST_LATENCY, RATE, STEADY, STRESS};

use crate::prelude::*;

pub const SATURATION: Exhibit = Exhibit {
    id: "logp-saturation",
    place: "section 5.3",
    title: "latency over load, up to saturation and beyond",
    printed: 0,
    left_out: "",
    notes: "The section has no numbers. Receivers are random here, and a CM-5's processor is busy for 2o = g with every message, so that it \
            is its own time, and that of the receivers, that runs out first.",
    formulas: &["L + 2o without load (section 5)"],
    unit: ("us", US),
    series,
    show,
};

/// Loads: messages that each processor starts per max(g, 2o).
const RATES: [f64; 13] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5];
const P: usize = 16;

fn series(lab: &Lab) -> Vec<CaseSeries> {
    let size = lab.pick(200, 2000);
    let case = |rate, size| Case { size, ..Case::new(&STRESS, STEADY, cm5(P)) }.with(&RATE, rate);
    let make_series =
        |name, size| CaseSeries::from_cases(name, "load", RATES.map(|rate| (rate, case(rate, size))));
    vec![
        make_series("so many", size).measured_if(|load| [0.2, 0.7, 1.25].contains(&load)),
        make_series("twice as many", 2 * size),
    ]
}

fn show(sheet: &mut Sheet) -> Result<(), StudyError> {
    let latency =
        |series: &str, name: &'static str| sheet.series(series).map_points(|result| result.metric(name));
    let (mean, twice) = (latency("so many", LATENCY), latency("twice as many", LATENCY));
    let longest = latency("so many", LONGEST_LATENCY);
    let size = sheet.lab.pick(200, 2000);
    // The rises from one load to the next, up to a load of 1.
    let rises: Vec<f64> = mean[..10].windows(2).map(|two| two[1].1 / two[0].1).collect();
    let steepest = (0..rises.len()).max_by(|one, other| rises[*one].total_cmp(&rises[*other])).unwrap_or(0);
    let before = mean[steepest].1 / mean[0].1;
    let quote = "there is typically a saturation point at which the latency increases sharply; below the saturation point the latency is \
                 fairly insensitive to the load";
    let what = format!(
        "the rise of the mean latency from a load of {:.1} to {:.1}, where it is most, over all rises below it together",
        mean[steepest].0,
        mean[steepest + 1].0
    );
    sheet.add_claim(what, "5.3", quote, above(1.0), [rises[steepest] / before]);
    let quote = "the latency experienced by a message tends to increase as a function of the load";
    sheet.add_claim("mean latency at a load over that at the one below", "5.3", quote, above(1.0), rises);
    let unloaded = in_us(cm5(P).L + 2 * cm5(P).o);
    let mut lines = vec![
        marked_line(format!("mean, {size} messages"), 0, mean),
        marked_line(format!("mean, {} messages", 2 * size), 1, twice),
        marked_line(format!("longest, {size} messages"), 2, longest),
    ];
    if sheet.lab.is_wall() {
        let result = &sheet.series("so many").points;
        let rings = result.iter().filter(|result| result.prediction.measured.is_some());
        let rings = rings.map(|result| (result.x, result.metric(LATENCY).value())).collect();
        lines.push(PlotLine::new("mean, measured", 0, Look::Rings, rings));
    }
    let plot = Plot::new(
        format!("Latency over load, {P} processors of a CM-5"),
        "from when a message is to be started until it is received; receivers are random",
    )
    .x("messages that each processor starts per max(g, 2o)", Scale::Linear)
    .y("latency [us]", Scale::Log)
    .lines(lines)
    .level("L + 2o", unloaded);
    let caption = "Where the latency rises sharply, messages wait for their receivers, which are random; beyond 1 more are started than can be sent and \
                   received, and the longer that lasts the longer they wait.";
    sheet.add_plot("", caption, plot);
    Ok(())
}
