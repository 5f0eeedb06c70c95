//! Figures 13 to 16: the algorithms' times over the traffic.

use loggp_programs::transportation::{CHUNK, FAN_OUT, FanOut, SKEW, Skew, TRAFFIC};

use super::{add_formula_check, case, join_runs};
use crate::prelude::*;

/// Returns notes: that on the machine and the times, and one on the matrices.
macro_rules! notes {
    ($on_matrices:literal) => {
        concat!(
            "The CM-5 of transport-sec4 with 32 nodes. The paper's times are curves, which our copy of the text does not have. A \
             processor polls after every 1,024 words of a message that it sends: the paper says that processors poll (section \
             6), and not how often. 1,024 is the program's default for every case; figure 14 shows what other numbers do. Every \
             sentence is judged at each traffic, as a point of the figure's curves.\n",
            $on_matrices
        )
    };
}

pub(super) const FIGURE_13: Exhibit = Exhibit {
    id: "transport-fig13",
    place: "figure 13, section 9",
    title: "the two single-stage algorithms",
    notes: VARIED,
    formulas: &[
        "none: the algorithm is not deterministic, which makes it difficult to ascertain its time (section 10)",
    ],
    unit: ("s", SEC),
    series: |lab| varied_series(lab, &[RANDOM, IMPROVED]),
    show: show_figure_13,
    ..Exhibit::USUAL
};

pub(super) const FIGURE_14: Exhibit = Exhibit {
    id: "transport-fig14",
    place: "figure 14, section 9",
    title: "two stages and one",
    notes: VARIED,
    formulas: &[TWO_STAGES],
    unit: ("s", SEC),
    series: |lab| {
        let polled = |skew: (usize, usize)| {
            let case = |words: usize| case_at(IMPROVED, POLLED_TRAFFIC, skew).with(&CHUNK, words);
            CaseSeries::from_values(polled_name(skew), POLLS, polled_words(lab), case)
        };
        varied_series(lab, &[TWO_STAGE, IMPROVED]).into_iter().chain(SAMPLES.map(polled)).collect()
    },
    show: show_figure_14,
    ..Exhibit::USUAL
};

pub(super) const FIGURE_15: Exhibit = Exhibit {
    id: "transport-fig15",
    place: "figure 15, section 9",
    title: "one of the good performances of the two-stage algorithm",
    notes: notes!("k = 32 and l = 1/32: one of 32 processors gets 31/32 of the traffic of each."),
    formulas: &[TWO_STAGES],
    unit: ("s", SEC),
    series: |lab| traffic_series(lab, BEST),
    show: show_figure_15,
    ..Exhibit::USUAL
};

pub(super) const FIGURE_16: Exhibit = Exhibit {
    id: "transport-fig16",
    place: "figure 16, section 9",
    title: "one of the bad performances of the two-stage algorithm",
    notes: notes!("k = 2 and l = 1/2: each has two messages of the same length."),
    formulas: &[TWO_STAGES],
    unit: ("s", SEC),
    series: |lab| traffic_series(lab, WORST).into_iter().chain(traffic_series(lab, BEST)).collect(),
    show: show_figure_16,
    ..Exhibit::USUAL
};

/// Notes for runs over all fan-outs and skews.
const VARIED: &str = notes!(
    "The fan-out k goes from 2 to 32 and the skew l from 1/2 to 1/k, in powers of two. Of the k receivers (1-l)k share the fraction l of the \
     traffic, and lk the rest."
);
const TWO_STAGES: &str = "bound: two-stage O(p^2 + p tau + mu (t + p^2)) (section 7.3), here with all its terms. It takes all messages of a \
                          stage to be as long as the longest may be";

const TWO_STAGE: &str = "two-stage";
const RANDOM: &str = "random";
const IMPROVED: &str = "random-improved";
/// k and 1/l of figures 15 and 16.
const BEST: (usize, usize) = (32, 32);
const WORST: (usize, usize) = (2, 2);
/// k and 1/l with several numbers of words between polls.
const SAMPLES: [(usize, usize); 4] = [WORST, (8, 8), (32, 2), BEST];
/// The traffic of these.
const POLLED_TRAFFIC: usize = 32000;
/// The series' quantity for them.
const POLLS: &str = "words between polls";
const WORDS: &str = "traffic";

/// Returns the numbers of words between polls, from those of a packet to a whole message.
fn polled_words(lab: &Lab) -> Vec<usize> {
    let packet = lab.pick(None, Some(4));
    packet.into_iter().chain([64, 256, 1024, 4096, POLLED_TRAFFIC]).collect()
}

fn polled_name(skew: (usize, usize)) -> String {
    format!("{IMPROVED}, {}, polls", skew_label(skew))
}

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
    let traffics = lab.pick(vec![4000, 16000, 32000, 64000], (1..=16).map(|n| 4000 * n).collect());
    let pairs = algorithms.iter().flat_map(|one| all_skews().into_iter().map(move |skew| (*one, skew)));
    pairs.map(|(one, skew)| over_traffic(one, skew, &traffics, skew == (8, 8))).collect()
}

/// Returns all three algorithms over the traffic, for one fan-out and skew.
fn traffic_series(lab: &Lab, skew: (usize, usize)) -> Vec<CaseSeries> {
    let traffics = lab.pick(vec![4000, 16000, 32000, 48000, 64000], (1..=16).map(|n| 4000 * n).collect());
    [TWO_STAGE, RANDOM, IMPROVED].map(|algorithm| over_traffic(algorithm, skew, &traffics, true)).into()
}

/// Returns one algorithm's times over another's at each traffic, for one k and l each.
fn ratios(
    sheet: &Sheet,
    (one, one_skew): (&str, (usize, usize)),
    (other, other_skew): (&str, (usize, usize)),
) -> Vec<Ran<f64>> {
    let series_of = |algorithm: &str, skew| sheet.series(&format!("{algorithm}, {}", skew_label(skew)));
    series_of(one, one_skew).ratios_to(series_of(other, other_skew))
}

/// Returns the mean of one algorithm's times over all k and l over that of another's, at each traffic.
fn ratios_of_means(sheet: &Sheet, one: &str, other: &str) -> Vec<Ran<f64>> {
    let means = |algorithm: &str| {
        let all = times_by_traffic(sheet, algorithm).into_iter();
        all.map(|(_, times)| times.map(|times| mean(&times))).collect::<Vec<_>>()
    };
    means(one).into_iter().zip(means(other)).map(|(one, other)| one / other).collect()
}

/// Returns for each traffic an algorithm's inquiries that were rejected, of all k and l.
fn rejected_by_traffic(sheet: &Sheet, algorithm: &str) -> Vec<Ran<f64>> {
    let series_of = |skew| sheet.series(&format!("{algorithm}, {}", skew_label(skew)));
    let rejected = |skew| series_of(skew).points.iter().map(|result| result.metric("rejected")).collect();
    let add =
        |one: Vec<Ran<f64>>, other: Vec<Ran<f64>>| one.into_iter().zip(other).map(|(a, b)| a + b).collect();
    all_skews().into_iter().map(rejected).reduce(add).expect("there are several k and l")
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

/// Returns the line of an algorithm over k and l: means, with bars from the least to the greatest time.
fn spread_line(sheet: &Sheet, algorithm: &str) -> PlotLine {
    let all: Vec<(f64, Vec<f64>)> = times_by_traffic(sheet, algorithm)
        .into_iter()
        .map(|(traffic, times)| (traffic, times.value()))
        .collect();
    let means = all.iter().map(|(traffic, times)| (*traffic, mean(times))).collect();
    let spread = all.iter().map(|(traffic, times)| (*traffic, times[0], times[times.len() - 1])).collect();
    let (name, number) = legend(algorithm);
    PlotLine { spread, ..PlotLine::new(name, number, Look::Both, means) }
}

/// Returns an algorithm's name in the legend, in the paper's words, and the number of its look.
fn legend(algorithm: &str) -> (&'static str, usize) {
    match algorithm {
        TWO_STAGE => ("two-stage", 0),
        RANDOM => ("single-stage without the improvements", 5),
        _ => ("single-stage with the improvements", 8),
    }
}

/// Returns a plot with the paper's axes.
fn time_plot(title: &str, subtitle: &str, lines: Vec<PlotLine>) -> Plot {
    Plot::new(title, subtitle)
        .x("traffic (in words) at each processor", Scale::Linear)
        .y("time taken [s]", Scale::Linear)
        .lines(lines)
}

const ALL_SKEWS: &str = "P = 32, CM-5, k = 2 to 32, l = 1/2 to 1/k";
const BARS: &str = "Marks are the means of the model's times over all k and l, and bars go from the shortest to the longest.";

fn show_figure_13(sheet: &mut Sheet) -> Result<(), StudyError> {
    let quote = "The algorithm with the improvements performed better.";
    let what = "mean time over k and l at each traffic: without the improvements over with them";
    let ours = ratios_of_means(sheet, RANDOM, IMPROVED);
    sheet.add_claim(what, "9", quote, above(1.0), ours);
    let quote =
        "The variation in the time taken for different values of k and l is large for both algorithms.";
    let rule = || above(1.5).because("1.5 is the factor that the paper minds between two algorithms");
    for algorithm in [RANDOM, IMPROVED] {
        let times = times_by_traffic(sheet, algorithm).into_iter();
        let ours = times.map(|(_, times)| times.map(|times| times[times.len() - 1] / times[0]));
        let what =
            format!("longest time over shortest of all k and l at each traffic, {}", legend(algorithm).0);
        sheet.add_claim(what, "9", quote, rule(), ours);
    }
    let quote = "makes sure that the destination will not be disturbed for this measure of time";
    let what = "inquiries that found a busy receiver at each traffic, all k and l: with the improvements over without";
    let [without, with] = [RANDOM, IMPROVED].map(|algorithm| rejected_by_traffic(sheet, algorithm));
    let ours = with.into_iter().zip(without).map(|(with, without)| with / without);
    let rule = below(0.5).because("not disturbed is asked less than half as often");
    sheet.add_claim(what, "6", quote, rule, ours);
    let lines = [RANDOM, IMPROVED].map(|algorithm| spread_line(sheet, algorithm));
    sheet.add_plot(
        "",
        BARS,
        time_plot("Comparison between the two single-stage algorithms", ALL_SKEWS, lines.into()),
    );
    Ok(())
}

/// Reasons why figures 14 to 16 differ, in a few words and in full.
const POLLING: &str = "the paper does not say how often a processor polls while it sends a message: here after every 1,024 words";
const IN_FULL: &str = "The paper says that processors poll, and not after how many words of a message. Here they poll after 1,024, and who asks \
                       waits up to 1 ms for an answer, whatever the traffic is. So one stage loses most where there is little traffic in many \
                       messages. With fewer words between polls it loses less, and with more words more (second picture of figure 14).";

fn show_figure_14(sheet: &mut Sheet) -> Result<(), StudyError> {
    let means = ratios_of_means(sheet, TWO_STAGE, IMPROVED);
    let quote = "The single-stage algorithm consistently performed better than the two-stage algorithm";
    let what_of_means = "mean time over k and l at each traffic: two stages over one";
    let rule = above(1.0)
        .because("it is asked of the means, since figure 15 is a trial in which one stage was not better");
    sheet.add_claim(what_of_means, "9", quote, rule, means.clone());
    let variance_of = |(_, times): (f64, Ran<Vec<f64>>)| times.map(|times| variance(&times));
    let [two, one] = [TWO_STAGE, IMPROVED].map(|algorithm| times_by_traffic(sheet, algorithm));
    let ours = one.into_iter().zip(two).map(|(one, two)| variance_of(one) / variance_of(two));
    let quote = "although it exhibited a much larger variance in the time taken";
    let what = "variance of the time over k and l at each traffic: one stage over two";
    sheet.add_claim(what, "9", quote, above(10.0).because("much larger is an order of magnitude"), ours);
    let quote =
        "The two-stage algorithm timings were within a factor of 1.5 times the single-stage readings.";
    let within = || between(0.667, 1.5).because("a factor of 1.5 either way");
    sheet.add_claim(what_of_means, "9", quote, within(), means);
    let all = all_skews().into_iter().flat_map(|skew| ratios(sheet, (TWO_STAGE, skew), (IMPROVED, skew)));
    let all: Vec<Ran<f64>> = all.collect();
    let what = "time of each trial, for all k, l and traffics: two stages over one";
    sheet.add_claim(what, "9", quote, within(), all).expect_difference(
        DifferenceCause::Reading,
        POLLING,
        IN_FULL,
    );
    add_formula_check(sheet, 2.0);
    add_figure_14_plots(sheet);
    Ok(())
}

/// Adds the picture of figure 14, and one of the ratio over the words between polls.
fn add_figure_14_plots(sheet: &mut Sheet) {
    let [two, one] = [TWO_STAGE, IMPROVED].map(|algorithm| spread_line(sheet, algorithm));
    let limit = one.points.iter().map(|(traffic, time)| (*traffic, 1.5 * time)).collect();
    let limit = PlotLine::new("1.5 times the single-stage mean", legend(IMPROVED).1, Look::Line, limit);
    let caption = format!(
        "{BARS} The two-stage means lie between those of one stage and 1.5 times these; the bars of two stages are so short that their \
         marks hide them."
    );
    let plot = time_plot(
        "Comparison of the two-stage and single-stage algorithms",
        ALL_SKEWS,
        vec![two, one, limit],
    );
    sheet.add_plot("times", caption, plot);
    let line = |(number, skew): (usize, (usize, usize))| {
        let two =
            sheet.series(&format!("{TWO_STAGE}, {}", skew_label(skew))).at(POLLED_TRAFFIC as f64).model();
        let points = sheet.series(&polled_name(skew)).map_points(|one| two.in_units(one.model()));
        marked_line(skew_label(skew), number, points)
    };
    let lines: Vec<PlotLine> = SAMPLES.into_iter().enumerate().map(line).collect();
    let plot =
        Plot::new("Two stages over one, by how often a processor polls", "P = 32, CM-5, t = 32,000 words")
            .x("words of a message between polls", Scale::Log)
            .y("time of two stages over one with the improvements", Scale::Linear)
            .lines(lines)
            .level("1", 1.0)
            .level("1.5", 1.5);
    let caption = "The paper leaves open how often a processor polls: its packets have 4 words, and here it is 1,024. The rarer, the more \
                   does one stage lose where messages differ much (k = 32, l = 1/32).";
    sheet.add_plot("polls", caption, plot);
}

fn show_figure_15(sheet: &mut Sheet) -> Result<(), StudyError> {
    let quote = "the two-stage algorithm performed as well as the single-stage algorithms";
    let ours = ratios(sheet, (TWO_STAGE, BEST), (IMPROVED, BEST));
    let what = "time at each traffic: two stages over one with the improvements";
    sheet
        .add_claim(what, "9", quote, between(0.8, 1.25).because("as well as is a quarter either way"), ours)
        .expect_difference(DifferenceCause::Reading, POLLING, IN_FULL);
    let quote = "even out-performing the single-stage algorithm without the improvements";
    let ours = ratios(sheet, (TWO_STAGE, BEST), (RANDOM, BEST));
    let what = "time at each traffic: two stages over one without the improvements";
    sheet.add_claim(what, "9", quote, below(1.0), ours).expect_difference(
        DifferenceCause::Reading,
        POLLING,
        IN_FULL,
    );
    add_formula_check(sheet, 2.0);
    add_three_plot(sheet, "One of the good performances of the two-stage algorithm", BEST);
    Ok(())
}

fn show_figure_16(sheet: &mut Sheet) -> Result<(), StudyError> {
    let quote = "Both the single-stage algorithms out-performed the two-stage one.";
    for one in [RANDOM, IMPROVED] {
        let ours = ratios(sheet, (one, WORST), (TWO_STAGE, WORST));
        let what = format!("time at each traffic: {} over two stages", legend(one).0);
        sheet.add_claim(what, "9", quote, below(1.0), ours);
    }
    let quote = "The two-stage algorithm's performance remained roughly close to its best-case performance";
    let rule = between(0.9, 1.1).because("roughly close is a tenth either way");
    let ours = ratios(sheet, (TWO_STAGE, WORST), (TWO_STAGE, BEST));
    sheet.add_claim("time at each traffic, two-stage: figure 16 over figure 15", "9", quote, rule, ours);
    let quote = "but the single-stage algorithm's performance improved considerably";
    let rule = || at_most(0.8).because("considerably is by a fifth");
    for one in [RANDOM, IMPROVED] {
        let ours = ratios(sheet, (one, WORST), (one, BEST));
        let what = format!("time at each traffic, {}: figure 16 over figure 15", legend(one).0);
        sheet.add_claim(what, "9", quote, rule(), ours).expect_difference(
            DifferenceCause::Reading,
            POLLING,
            IN_FULL,
        );
    }
    add_formula_check(sheet, 2.0);
    add_three_plot(sheet, "One of the bad performances of the two-stage algorithm", WORST);
    Ok(())
}

/// Adds the plot of the three algorithms at one fan-out and skew.
fn add_three_plot(sheet: &mut Sheet, title: &str, skew: (usize, usize)) {
    let mut lines = Vec::new();
    for algorithm in [TWO_STAGE, RANDOM, IMPROVED] {
        let results = sheet.series(&format!("{algorithm}, {}", skew_label(skew)));
        let (name, number) = legend(algorithm);
        lines.push(marked_line(name, number, results.model_times(SEC)));
        let ring = |result: &CaseResult| Some((result.x, result.prediction.measured?.median.in_units(SEC)));
        let rings: Vec<(f64, f64)> = results.points.iter().filter_map(ring).collect();
        if !rings.is_empty() {
            lines.push(PlotLine::new(format!("{name}, measured"), number, Look::Rings, rings));
        }
    }
    let subtitle = format!("P = 32, CM-5, {}", skew_label(skew));
    let plot = time_plot(title, &subtitle, lines);
    sheet.add_plot("", "Lines with marks are the model; rings were measured.", plot);
}
