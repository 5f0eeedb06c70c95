//! Figures 13 to 16: the algorithms' times over the traffic.

use loggp_programs::transportation::{CHUNK, FAN_OUT, FanOut, SKEW, Skew, TRAFFIC};

use super::{case, join_runs};
use crate::prelude::*;

/// Returns notes: that on the machine and the times, and one on the matrices.
macro_rules! notes {
    ($on_matrices:literal) => {
        concat!(
            "A CM-5 of 32 nodes; seconds over the words of traffic at each processor. The paper's times are curves only. It gives \
             1.6 us for a send and 1.7 us for a reception, but neither latency nor barrier: ours are LogP's, and 5 us. Data is \
             transferred as a single message (section 6).\n",
            $on_matrices
        )
    };
}

pub const FIGURE_13: Exhibit = Exhibit {
    id: "transport-fig13",
    place: "figure 13, section 9",
    title: "the two single-stage algorithms",
    printed: 0,
    left_out: "",
    notes: VARIED,
    formulas: &[
        "none: the algorithm is not deterministic, which makes it difficult to ascertain its time (section 10)",
    ],
    unit: ("s", SEC),
    series: |lab| varied_series(lab, &[RANDOM, IMPROVED]),
    show: show_figure_13,
};

pub const FIGURE_14: Exhibit = Exhibit {
    id: "transport-fig14",
    place: "figure 14, section 9",
    title: "two stages and one",
    printed: 0,
    left_out: "",
    notes: VARIED,
    formulas: &[TWO_STAGES],
    unit: ("s", SEC),
    series: |lab| {
        let chunks = [128, 1024, 4096, usize::MAX].into_iter().flat_map(|chunk| {
            let name = if chunk == usize::MAX { "all".into() } else { chunk.to_string() };
            SAMPLES.map(|skew| {
                let case = case_at(IMPROVED, 32000, skew).with(&CHUNK, chunk);
                CaseSeries::from_case(format!("{IMPROVED}, {}, chunks of {name}", skew_label(skew)), case)
            })
        });
        varied_series(lab, &[TWO_STAGE, IMPROVED]).into_iter().chain(chunks).collect()
    },
    show: show_figure_14,
};

pub const FIGURE_15: Exhibit = Exhibit {
    id: "transport-fig15",
    place: "figure 15, section 9",
    title: "one of the good performances of the two-stage algorithm",
    printed: 0,
    left_out: "",
    notes: notes!("k = 32 and l = 1/32: one of 32 processors gets 31/32 of the traffic of each."),
    formulas: &[TWO_STAGES],
    unit: ("s", SEC),
    series: |lab| traffic_series(lab, BEST),
    show: show_figure_15,
};

pub const FIGURE_16: Exhibit = Exhibit {
    id: "transport-fig16",
    place: "figure 16, section 9",
    title: "one of the bad performances of the two-stage algorithm",
    printed: 0,
    left_out: "",
    notes: notes!("k = 2 and l = 1/2: each has two messages of the same length."),
    formulas: &[TWO_STAGES],
    unit: ("s", SEC),
    series: |lab| traffic_series(lab, WORST).into_iter().chain(traffic_series(lab, BEST)).collect(),
    show: show_figure_16,
};

/// Notes for runs over all fan-outs and skews.
const VARIED: &str = notes!(
    "The fan-out k goes from 2 to 32 and the skew l from 1/2 to 1/k. Of the k receivers (1-l)k share the fraction l of the \
     traffic, and lk the rest."
);
const TWO_STAGES: &str = "two-stage: O(p^2 + p tau + mu (t + p^2)) (section 7.3), here with all its terms";

const TWO_STAGE: &str = "two-stage";
const RANDOM: &str = "random";
const IMPROVED: &str = "random-improved";
/// k and 1/l of figures 15 and 16.
const BEST: (usize, usize) = (32, 32);
const WORST: (usize, usize) = (2, 2);
/// k and 1/l with several lengths of chunks.
const SAMPLES: [(usize, usize); 4] = [WORST, (8, 8), (32, 2), BEST];
const WORDS: &str = "traffic";

/// Returns all pairs of k, from 2 to 32, and 1/l, from 2 to k.
fn all_skews() -> Vec<(usize, usize)> {
    let powers = |most: usize| (1..=5).map(|power| 1 << power).filter(move |n| *n <= most);
    powers(32).flat_map(|k| powers(k).map(move |l| (k, l))).collect()
}

fn skew_label((k, l): (usize, usize)) -> String {
    format!("k = {k}, l = 1/{l}")
}

/// Returns a case with this traffic, fan-out and skew.
fn case_at(algorithm: &str, traffic: usize, (k, l): (usize, usize)) -> Case {
    let case = case(algorithm, 32).with(&TRAFFIC, Some(traffic));
    case.with(&FAN_OUT, Some(FanOut::Fixed(k))).with(&SKEW, Some(Skew::fraction(1, l)))
}

/// Returns an algorithm over the traffic, for one fan-out and skew.
fn over_traffic(
    algorithm: &'static str,
    skew: (usize, usize),
    traffics: &[usize],
    is_measured: bool,
) -> CaseSeries {
    let name = format!("{algorithm}, {}", skew_label(skew));
    let case = |traffic| case_at(algorithm, traffic, skew);
    let series = CaseSeries::from_values(name, WORDS, traffics.iter().copied(), case);
    series.measured_if(|traffic| is_measured && traffic == 4000.0)
}

/// Returns algorithms over the traffic, for each fan-out and skew.
fn varied_series(lab: &Lab, algorithms: &[&'static str]) -> Vec<CaseSeries> {
    let traffics = lab.pick(vec![4000, 24000, 40000, 64000], (1..=16).map(|n| 4000 * n).collect());
    let pairs = algorithms.iter().flat_map(|one| all_skews().into_iter().map(move |skew| (*one, skew)));
    pairs.map(|(one, skew)| over_traffic(one, skew, &traffics, skew == (8, 8))).collect()
}

/// Returns all three algorithms over the traffic, for one fan-out and skew.
fn traffic_series(lab: &Lab, skew: (usize, usize)) -> Vec<CaseSeries> {
    let traffics = lab.pick(vec![4000, 16000, 32000, 48000, 64000], (1..=16).map(|n| 4000 * n).collect());
    [TWO_STAGE, RANDOM, IMPROVED].map(|algorithm| over_traffic(algorithm, skew, &traffics, true)).into()
}

/// Returns one algorithm's times over another's, for each k, l and traffic.
fn ratios(sheet: &Sheet, one: &str, other: &str, skews: &[(usize, usize)]) -> Vec<Ran<f64>> {
    let over = |skew: &(usize, usize)| {
        let series_of = |algorithm: &str| sheet.series(&format!("{algorithm}, {}", skew_label(*skew)));
        series_of(one).ratios_to(series_of(other))
    };
    skews.iter().flat_map(over).collect()
}

/// Returns for each traffic an algorithm's times over k and l, in s, ascending.
fn times_by_traffic(sheet: &Sheet, algorithm: &str) -> Vec<(f64, Ran<Vec<f64>>)> {
    let series_of = |skew| sheet.series(&format!("{algorithm}, {}", skew_label(skew)));
    let all: Vec<&SeriesResult> = all_skews().into_iter().map(series_of).collect();
    let at = |(n, result): (usize, &CaseResult)| {
        let time = |result: &CaseResult| vec![result.model().in_units(SEC)];
        let times = join_runs(all.iter().map(|series| series.points[n].ran(time)));
        let sorted = times.map(|mut times| {
            times.sort_by(f64::total_cmp);
            times
        });
        (result.x, sorted)
    };
    all[0].points.iter().enumerate().map(at).collect()
}

/// Returns the longest of some times over the shortest.
fn spread(times: Ran<Vec<f64>>) -> Ran<f64> {
    times.map(|times| times[times.len() - 1] / times[0])
}

/// Adds the plot of two algorithms over k and l: means, with bars from the least to the greatest time.
fn add_spread_plot(sheet: &mut Sheet, title: &str, algorithms: [(&str, usize); 2]) {
    let lines = algorithms.map(|(algorithm, number)| {
        let all = times_by_traffic(sheet, algorithm);
        let all: Vec<(f64, Vec<f64>)> =
            all.into_iter().map(|(traffic, times)| (traffic, times.value())).collect();
        let means = all.iter().map(|(traffic, times)| (*traffic, mean(times))).collect();
        let spread =
            all.iter().map(|(traffic, times)| (*traffic, times[0], times[times.len() - 1])).collect();
        PlotLine { spread, ..PlotLine::new(format!("{algorithm}, model"), number, Look::Both, means) }
    });
    let caption = "Marks are the mean of the model's times over all k and l, and bars go from the shortest to the longest.";
    sheet.add_plot("", caption, time_plot(title, "P = 32, CM-5, k = 2 to 32, l = 1/2 to 1/k", lines.into()));
}

/// Returns a plot with the paper's axes.
fn time_plot(title: &str, subtitle: &str, lines: Vec<PlotLine>) -> Plot {
    Plot::new(title, subtitle)
        .x("traffic at each processor [words]", Scale::Linear)
        .y("time [s]", Scale::Linear)
        .lines(lines)
}

fn show_figure_13(sheet: &mut Sheet) -> Result<(), StudyError> {
    let over = ratios(sheet, RANDOM, IMPROVED, &all_skews());
    let gain = mean(&over.iter().map(|over| over.value()).collect::<Vec<_>>());
    let quote = "The algorithm with the improvements performed better.";
    let what = "without the improvements over with them, for all k, l and t";
    sheet.add_claim(what, "9", quote, above(1.0).in_the_mean(), over);
    let ours = [RANDOM, IMPROVED].map(|algorithm| times_by_traffic(sheet, algorithm)).concat();
    let ours = ours.into_iter().map(|(_, times)| spread(times));
    let quote =
        "The variation in the time taken for different values of k and l is large for both algorithms.";
    let what = "longest time over shortest, for different k and l at the same t: more than what the improvements make";
    sheet.add_claim(what, "9", quote, above(gain), ours);
    add_spread_plot(sheet, "Single-stage algorithms", [(RANDOM, 5), (IMPROVED, 8)]);
    Ok(())
}

/// Reason why figure 14 differs, in a few words.
const POLLS: &str = "the paper does not say how often a processor answers others while it sends a message";
/// The same.
const CHUNKS: &str = "a whole message holds up whoever asks meanwhile, as here a processor answers nobody while it sends: see the runs with \
                      smaller chunks";

fn show_figure_14(sheet: &mut Sheet) -> Result<(), StudyError> {
    let is_full = sheet.lab.full;
    let sheet_pick = |quick, full| if is_full { full } else { quick };
    let over = ratios(sheet, TWO_STAGE, IMPROVED, &all_skews());
    let quote = "The single-stage algorithm consistently performed better than the two-stage algorithm";
    let row =
        sheet.add_claim("two stages over one, for all k, l and t", "9", quote, above(1.0), over.clone());
    row.caused_by(Cause::Reading, POLLS).expect_difference(
        sheet_pick(
            "39 of 60; 0.521 to 1.89, 1.16 in the mean",
            "148 of 240; 0.455 to 1.89, 1.11 in the mean",
        ),
        CHUNKS,
    );
    let [of_two, of_one] = [TWO_STAGE, IMPROVED].map(|algorithm| times_by_traffic(sheet, algorithm));
    let variance_of = |times: Ran<Vec<f64>>| times.map(|times| variance(&times));
    let ours = of_one.into_iter().zip(of_two).map(|((_, one), (_, two))| variance_of(one) / variance_of(two));
    let quote = "although it exhibited a much larger variance in the time taken";
    let what = "variance of the time over k and l, for each t: one stage over two, by an order of magnitude";
    sheet.add_claim(what, "9", quote, above(10.0), ours);
    let quote =
        "The two-stage algorithm timings were within a factor of 1.5 times the single-stage readings.";
    let row = sheet.add_claim("two stages over one, for all k, l and t", "9", quote, at_most(1.5), over);
    row.caused_by(Cause::Reading, POLLS).expect_difference(
        sheet_pick(
            "51 of 60; 0.521 to 1.89, 1.16 in the mean",
            "222 of 240; 0.455 to 1.89, 1.11 in the mean",
        ),
        CHUNKS,
    );
    add_spread_plot(sheet, "Two stages and one", [(TWO_STAGE, 0), (IMPROVED, 8)]);
    Ok(())
}

fn show_figure_15(sheet: &mut Sheet) -> Result<(), StudyError> {
    let quote = "the two-stage algorithm performed as well as the single-stage algorithms";
    let over = ratios(sheet, TWO_STAGE, IMPROVED, &[BEST]);
    let what = "two stages over one with the improvements";
    sheet.add_claim(what, "9", quote, at_most(1.0).in_the_mean(), over);
    let quote = "even out-performing the single-stage algorithm without the improvements";
    let over = ratios(sheet, TWO_STAGE, RANDOM, &[BEST]);
    sheet.add_claim("two stages over one without the improvements", "9", quote, below(1.0), over);
    add_three_plot(sheet, BEST);
    Ok(())
}

fn show_figure_16(sheet: &mut Sheet) -> Result<(), StudyError> {
    let quote = "Both the single-stage algorithms out-performed the two-stage one.";
    for one in [RANDOM, IMPROVED] {
        let over = ratios(sheet, one, TWO_STAGE, &[WORST]);
        sheet.add_claim(format!("{one} over two stages"), "9", quote, below(1.0), over);
    }
    let best = |algorithm: &str| {
        let series_of = |skew| sheet.series(&format!("{algorithm}, {}", skew_label(skew)));
        series_of(WORST).ratios_to(series_of(BEST))
    };
    let (two, random, improved) = (best(TWO_STAGE), best(RANDOM), best(IMPROVED));
    let change = |over: Ran<f64>| over.map(|over| (over - 1.0).abs());
    let least = |n: usize| change(random[n]).map(|one| one.min(change(improved[n]).value()));
    let ours = (0..two.len()).map(|n| change(two[n]) / least(n));
    let quote = "The two-stage algorithm's performance remained roughly close to its best-case performance, but the single-stage algorithm's \
                 performance improved considerably.";
    let what = "how much two stages change from figure 15, over what the single-stage algorithm does that changes less";
    sheet.add_claim(what, "9", quote, below(1.0), ours);
    let ours = [random, improved].concat();
    sheet.add_claim("one stage over its time of figure 15", "9", quote, below(1.0), ours);
    add_three_plot(sheet, WORST);
    Ok(())
}

/// Adds the plot of the three algorithms at one fan-out and skew.
fn add_three_plot(sheet: &mut Sheet, skew: (usize, usize)) {
    let mut lines = Vec::new();
    for (algorithm, number) in [(TWO_STAGE, 0), (RANDOM, 5), (IMPROVED, 8)] {
        let results = sheet.series(&format!("{algorithm}, {}", skew_label(skew)));
        lines.push(marked_line(format!("{algorithm}, model"), number, results.model_times(SEC)));
        let ring = |result: &CaseResult| Some((result.x, result.prediction.measured?.median.in_units(SEC)));
        let rings: Vec<(f64, f64)> = results.points.iter().filter_map(ring).collect();
        if !rings.is_empty() {
            lines.push(PlotLine::new(format!("{algorithm}, measured"), number, Look::Rings, rings));
        }
    }
    let subtitle = format!("P = 32, CM-5, {}", skew_label(skew));
    let plot = time_plot("Two stages and one", &subtitle, lines);
    sheet.add_plot("", "Lines with marks are the model; rings were measured.", plot);
}
