//! Figure 6: the FFT's computation, and its remap with two schedules.

use loggp::Capacity;

use super::{P, POINTS, case, computing_time, predicted_remap_time, remap_time};
use crate::logp::about;
use crate::prelude::*;

pub(crate) const FIGURE_6: Exhibit = Exhibit {
    id: "logp-fig6",
    place: "figure 6",
    title: "the FFT's computation, and its remap with a naive and with a staggered schedule",
    notes: "The figure has curves, and the text names no sizes. A CM-5 of 128 processors, over the size of the whole FFT, with up to 4,194,304 \
            points (1,048,576 at the usual sizes). In the bad remap a message is in transit until its receiver begins to receive it, by \
            which section 4.1.2's sentence is right; another curve has messages in transit until they arrive.",
    formulas: &[
        "compute: n/P log n nodes (section 4.1.1), two of them a butterfly of 4.5 us (section 4.1.4)",
        "good remap: (n/P - n/P^2) max(1 us + 2o, g) + n/P^2 1 us + L, with all terms kept (sections 4.1.1 and 4.1.4)",
    ],
    series: |lab| {
        let (few, n) = (lab.pick(cm5(16), cm5(P)), lab.pick(1 << 12, 1 << 14));
        let measured = |name, case: Case| {
            CaseSeries::from_case(format!("{name}, measured"), Case { size: n, ..case }).measured()
        };
        let sizes = || SIZES.into_iter().chain(lab.full.then_some(1 << 22));
        let bad = |name, capacity| {
            CaseSeries::from_values(name, POINTS, sizes(), move |n| bad_case(capacity, cm5(P), n))
        };
        vec![
            bad(BAD, Capacity::Received),
            bad(ARRIVED, Capacity::Arrived),
            CaseSeries::from_values(GOOD, POINTS, sizes(), |n| case("short-staggered", cm5(P), n)),
            measured(BAD, bad_case(Capacity::Received, few, n)),
            measured(GOOD, case("short-staggered", few, n)),
        ]
    },
    show: show_figure_6,
    ..Exhibit::USUAL
};

/// Sizes of the FFT.
const SIZES: [usize; 4] = [1 << 14, 1 << 16, 1 << 18, 1 << 20];
/// Names of the series: the paper's curves, and the bad remap with messages in transit until they arrive.
const BAD: &str = "bad remap";
const GOOD: &str = "good remap";
const ARRIVED: &str = "bad remap, in transit until arrival";

/// Returns the FFT with the naive schedule.
fn bad_case(capacity: Capacity, params: Params, n: usize) -> Case {
    Case { capacity, ..case("short-naive", params, n) }
}

fn show_figure_6(sheet: &mut Sheet) -> Result<(), StudyError> {
    let (bad, good) = (sheet.series(BAD), sheet.series(GOOD));
    let ratios = |other: &dyn Fn(&CaseResult) -> Ran<f64>| -> Vec<Ran<f64>> {
        bad.points.iter().zip(&good.points).map(|(slow, one)| remap_time(slow) / other(one)).collect()
    };
    let (over_compute, over_good) = (ratios(&computing_time), ratios(&remap_time));
    let parts = SIZES.map(|n| good.at(n as f64)).map(|one| remap_time(one) / computing_time(one));
    let checks = good.map_runs(|one| predicted_remap_time(one) == remap_time(one).value());
    let quote = "With the naive schedule, the remap takes more than 1.5 times as long as the computation";
    let what = "time of the naive remap over that of the computation, at each size";
    sheet
        .add_claim(what, "4.1.3", quote, above(1.5), over_compute)
        .expect_difference(
            DifferenceCause::Reading,
            "LogP does not say which stalled processor goes on, and ours serve several receivers at once",
            "LogP says which processors stall, and not which of them goes on next. In our machine it is the one that asked first. Processors \
             that are done with a receiver go on to the next one, so that several receivers get messages at once, and the remap takes \
             less time. It takes longer the larger the FFT is, and the text names no size. If messages are in transit only until they \
             arrive, it takes 0.64 times as long at most. If one receiver were served after the other, it would take 5.64 times as \
             long",
        );
    let quote = "with a contention-free communication schedule, which is an order of magnitude faster";
    let what = "time of the naive remap over that of the staggered one, at each size";
    sheet
        .add_claim(what, "figure 6", quote, about(10.0), over_good)
        .expect_difference(
            DifferenceCause::Reading,
            "it grows with the size: only at 4,194,304 points it is ten, and our text has no sizes",
            "it grows with the size of the FFT, and is an order of magnitude at the largest of five sizes alone. The figure's sizes do not \
             stand in our text, and LogP does not say which stalled processor goes on",
        );
    let quote = "whereas with staggering it takes only 1/3 th as long";
    let what = "time of the staggered remap over that of the computation, 2^14, 2^16, 2^18 and 2^20 points";
    sheet
        .add_claim(what, "4.1.3", quote, about(1.0 / 3.0), parts)
        .expect_difference(
            DifferenceCause::Scan,
            "1/3 goes neither with the \"th\" after it nor with figure 6: 1.5 computations over ten are 1/7 of one",
            "1/3 was probably read for 1/7, which goes with the \"th\" after it, and with the figure: the naive remap takes 1.5 times as long as the computation and ten times as long as \
             the staggered one, which makes 1/7. By section 4.1.4 a point takes 5 us to remap, and 2.25 us times log n to compute",
        );
    // log n makes the part fall from size to size.
    let rule = between(0.8 / 7.0, 1.25 / 7.0).in_the_mean();
    sheet.add_claim(format!("{what}, with 1/3 read as 1/7"), "4.1.3", quote, rule, parts);
    let what = "the staggered remap takes as long by formula as in a run, at all sizes";
    sheet.add_own_check(what, checks);
    add_figure(sheet);
    Ok(())
}

/// Adds the picture.
fn add_figure(sheet: &mut Sheet) {
    let (bad, good) = (sheet.series(BAD), sheet.series(GOOD));
    let in_s = |points: Vec<(f64, f64)>| points.into_iter().map(|(n, us)| (n, us / 1e6)).collect();
    let lines = [
        marked_line("compute", 0, in_s(good.map_points(computing_time))),
        marked_line(BAD, 3, in_s(bad.map_points(remap_time))),
        marked_line(ARRIVED, 2, in_s(sheet.series(ARRIVED).map_points(remap_time))),
        PlotLine::new("good remap, formula", 1, Look::Line, in_s(good.map_points(predicted_remap_time))),
        PlotLine::new("good remap, model", 1, Look::Marks, in_s(good.map_points(remap_time))),
    ];
    let plot = Plot::new(
        "FFT on a CM-5 of 128 processors",
        "the model's times; the staggered remap's formula as a line",
    )
    .x("FFT size [points]", Scale::Points)
    .y("time [s]", Scale::Log)
    .lines(lines);
    let caption = "The paper's three curves: compute, bad remap and good remap. Both axes are logarithmic.";
    sheet.add_plot("", caption, plot);
}
