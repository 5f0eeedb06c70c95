//! Figures 13 to 16: the algorithms' times over the traffic.

use loggp::SEC;
use loggp_draw::plot::{Line, Look, Plot, Scale};
use loggp_programs::Case;
use loggp_programs::transportation::{CHUNK, FAN_OUT, FanOut, SKEW, Skew, TRAFFIC};
use loggp_study::Failed;

use super::case;
use crate::{Exhibit, Lab, Series, Sheet, above, at_most, below, line};

/// Figure 13.
pub const FIGURE_13: Exhibit = Exhibit {
    id: "transport-fig13",
    place: "figure 13, section 9",
    title: "the two single-stage algorithms",
    says: &[MACHINE, VARIED],
    formulas: &[
        "none: the algorithm is not deterministic, which makes it difficult to ascertain its time (section 10)",
    ],
    unit: ("s", SEC),
    series: |lab| varied(lab, &[RANDOM, IMPROVED]),
    show: figure_13,
};

/// Figure 14.
pub const FIGURE_14: Exhibit = Exhibit {
    id: "transport-fig14",
    place: "figure 14, section 9",
    title: "two stages and one",
    says: &[MACHINE, VARIED],
    formulas: &[TWO_STAGES],
    unit: ("s", SEC),
    series: |lab| {
        let chunks = [128, 1024, 4096, usize::MAX].into_iter().flat_map(|chunk| {
            let name = if chunk == usize::MAX { "all".into() } else { chunk.to_string() };
            SAMPLES.map(|skew| {
                let case = at(IMPROVED, 32000, skew).with(&CHUNK, chunk);
                Series::one(format!("{IMPROVED}, {}, chunks of {name}", label(skew)), case)
            })
        });
        varied(lab, &[TWO_STAGE, IMPROVED]).into_iter().chain(chunks).collect()
    },
    show: figure_14,
};

/// Figure 15.
pub const FIGURE_15: Exhibit = Exhibit {
    id: "transport-fig15",
    place: "figure 15, section 9",
    title: "one of the good performances of the two-stage algorithm",
    says: &[MACHINE, "k = 32 and l = 1/32: one of 32 processors gets 31/32 of the traffic of each."],
    formulas: &[TWO_STAGES],
    unit: ("s", SEC),
    series: |lab| over_traffic(lab, BEST),
    show: figure_15,
};

/// Figure 16.
pub const FIGURE_16: Exhibit = Exhibit {
    id: "transport-fig16",
    place: "figure 16, section 9",
    title: "one of the bad performances of the two-stage algorithm",
    says: &[MACHINE, "k = 2 and l = 1/2: each has two messages of the same length."],
    formulas: &[TWO_STAGES],
    unit: ("s", SEC),
    series: |lab| over_traffic(lab, WORST).into_iter().chain(over_traffic(lab, BEST)).collect(),
    show: figure_16,
};

/// What was timed.
const MACHINE: &str = "A CM-5 of 32 nodes; seconds over the words of traffic at each processor. The paper's times are curves only. It gives \
                       1.6 us for a send and 1.7 us for a reception, but neither latency nor barrier: ours are LogP's, and 5 us. Data is \
                       transferred as a single message (section 6).";
/// For which matrices.
const VARIED: &str = "The fan-out k goes from 2 to 32 and the skew l from 1/2 to 1/k. Of the k receivers (1-l)k share the fraction l of the \
                      traffic, and lk the rest.";
const TWO_STAGES: &str = "two-stage: O(p^2 + p tau + mu (t + p^2)) (section 7.3), here with all its terms";

const TWO_STAGE: &str = "two-stage";
const RANDOM: &str = "random";
const IMPROVED: &str = "random-improved";
/// k and 1/l of figures 15 and 16.
const BEST: (usize, usize) = (32, 32);
const WORST: (usize, usize) = (2, 2);
/// k and 1/l for which the length of chunks is varied.
const SAMPLES: [(usize, usize); 4] = [WORST, (8, 8), (32, 2), BEST];
const WORDS: &str = "traffic";

/// k and 1/l: from 2 to 32, and from 2 to k.
fn all_skews() -> Vec<(usize, usize)> {
    let powers = |most: usize| (1..=5).map(|power| 1 << power).filter(move |n| *n <= most);
    powers(32).flat_map(|k| powers(k).map(move |l| (k, l))).collect()
}

fn label((k, l): (usize, usize)) -> String {
    format!("k = {k}, l = 1/{l}")
}

/// A case at this traffic, fan-out and skew.
fn at(algorithm: &str, traffic: usize, (k, l): (usize, usize)) -> Case {
    let case = case(algorithm, 32).with(&TRAFFIC, Some(traffic));
    case.with(&FAN_OUT, Some(FanOut::Of(k))).with(&SKEW, Some(Skew::fraction(1, l)))
}

/// Algorithms over the traffic, for each fan-out and skew.
fn varied(lab: &Lab, algorithms: &[&'static str]) -> Vec<Series> {
    let traffics = lab.pick(vec![4000, 24000, 40000, 64000], (1..=16).map(|n| 4000 * n).collect());
    let of = |algorithm: &'static str| {
        let traffics = &traffics;
        all_skews().into_iter().map(move |skew| {
            let name = format!("{algorithm}, {}", label(skew));
            let series = Series::over(name, WORDS, traffics.clone(), |traffic| at(algorithm, traffic, skew));
            series.measured_if(|traffic| traffic == 4000.0 && skew == (8, 8))
        })
    };
    algorithms.iter().flat_map(|algorithm| of(algorithm)).collect()
}

/// All three algorithms over the traffic, for a fan-out and a skew.
fn over_traffic(lab: &Lab, skew: (usize, usize)) -> Vec<Series> {
    let traffics = lab.pick(vec![4000, 16000, 32000, 48000, 64000], (1..=16).map(|n| 4000 * n).collect());
    let of = |algorithm: &'static str| {
        let name = format!("{algorithm}, {}", label(skew));
        let series = Series::over(name, WORDS, traffics.clone(), |traffic| at(algorithm, traffic, skew));
        series.measured_if(|traffic| traffic == 4000.0)
    };
    [TWO_STAGE, RANDOM, IMPROVED].map(of).into()
}

/// One algorithm's times over another's, for each k, l and traffic.
fn ratios(sheet: &Sheet, one: &str, other: &str, skews: &[(usize, usize)]) -> Vec<f64> {
    let over = |skew: &(usize, usize)| {
        let of = |algorithm: &str| sheet.of(&format!("{algorithm}, {}", label(*skew)));
        of(one).over(of(other))
    };
    skews.iter().flat_map(over).collect()
}

/// For each traffic an algorithm's least, mean and most time over k and l.
fn spread(sheet: &Sheet, algorithm: &str) -> Vec<(f64, f64, f64, f64)> {
    let all: Vec<_> = all_skews()
        .iter()
        .map(|skew| sheet.of(&format!("{algorithm}, {}", label(*skew))).model(SEC))
        .collect();
    let at = |n: usize| {
        let times: Vec<f64> = all.iter().map(|points| points[n].1).collect();
        let (least, most) = times.iter().fold((f64::MAX, 0.0_f64), |(l, m), t| (l.min(*t), m.max(*t)));
        (all[0][n].0, least, times.iter().sum::<f64>() / times.len() as f64, most)
    };
    (0..all[0].len()).map(at).collect()
}

/// For each traffic the variance of an algorithm's times over k and l.
fn variances(sheet: &Sheet, algorithm: &str) -> Vec<f64> {
    let all = all_skews();
    let all: Vec<_> =
        all.iter().map(|skew| sheet.of(&format!("{algorithm}, {}", label(*skew))).model(SEC)).collect();
    let at = |(n, (_, _, mean, _)): (usize, (f64, f64, f64, f64))| {
        all.iter().map(|points| (points[n].1 - mean).powi(2)).sum::<f64>() / all.len() as f64
    };
    spread(sheet, algorithm).into_iter().enumerate().map(at).collect()
}

/// The picture of two algorithms over k and l: means, with bars from the least to the most.
fn drawn(sheet: &mut Sheet, title: &str, algorithms: [(&str, usize); 2]) {
    let lines = algorithms.map(|(algorithm, number)| {
        let spread = spread(sheet, algorithm);
        let means = spread.iter().map(|(traffic, _, mean, _)| (*traffic, *mean)).collect();
        let ends = spread.iter().map(|(traffic, least, _, most)| (*traffic, *least, *most)).collect();
        Line { spread: ends, ..Line::new(format!("{algorithm}, model"), number, Look::Both, means) }
    });
    let caption = "Marks are the mean of the model's times over all k and l, and bars go from the shortest to the longest.";
    sheet.plot("", caption, plot(title, "P = 32, CM-5, k = 2 to 32, l = 1/2 to 1/k", lines.into()));
}

/// The figure's plot, with the paper's axes.
fn plot(title: &str, subtitle: &str, lines: Vec<Line>) -> Plot {
    Plot::new(title, subtitle)
        .x("traffic at each processor [words]", Scale::Linear)
        .y("time [s]", Scale::Linear)
        .lines(lines)
}

fn figure_13(sheet: &mut Sheet) -> Result<(), Failed> {
    let over = ratios(sheet, RANDOM, IMPROVED, &all_skews());
    let gain = over.iter().sum::<f64>() / over.len() as f64;
    let quote = "The algorithm with the improvements performed better.";
    let what = "without the improvements over with them, for all k, l and t";
    sheet.claim(what, "9", quote, above(1.0).in_the_mean(), over);
    let ours = [RANDOM, IMPROVED].map(|algorithm| spread(sheet, algorithm)).concat();
    let ours: Vec<f64> = ours.into_iter().map(|(_, least, _, most)| most / least).collect();
    let quote =
        "The variation in the time taken for different values of k and l is large for both algorithms.";
    let what = "longest time over shortest, for different k and l at the same t: more than what the improvements make";
    sheet.claim(what, "9", quote, above(gain), ours);
    drawn(sheet, "Single-stage algorithms", [(RANDOM, 5), (IMPROVED, 8)]);
    Ok(())
}

/// Why figures 14 and 15 are as they are.
const CHUNKS: &str = "a whole message holds up whoever asks meanwhile, as here a processor answers nobody while it sends: see the runs with \
                      smaller chunks";

fn figure_14(sheet: &mut Sheet) -> Result<(), Failed> {
    let over = ratios(sheet, TWO_STAGE, IMPROVED, &all_skews());
    let quote = "The single-stage algorithm consistently performed better than the two-stage algorithm";
    let row = sheet.claim("two stages over one, for all k, l and t", "9", quote, above(1.0), &over);
    row.because("39 of 60; 0.521 to 1.89, 1.16 in the mean", CHUNKS);
    let [of_two, of_one] = [TWO_STAGE, IMPROVED].map(|algorithm| variances(sheet, algorithm));
    let ours: Vec<f64> = of_one.iter().zip(of_two).map(|(one, two)| one / two).collect();
    let quote = "although it exhibited a much larger variance in the time taken";
    let what = "variance of the time over k and l, for each t: one stage over two, by an order of magnitude";
    sheet.claim(what, "9", quote, above(10.0), ours);
    let quote =
        "The two-stage algorithm timings were within a factor of 1.5 times the single-stage readings.";
    sheet
        .claim("two stages over one, for all k, l and t", "9", quote, at_most(1.5), &over)
        .because("51 of 60; 0.521 to 1.89, 1.16 in the mean", CHUNKS);
    drawn(sheet, "Two stages and one", [(TWO_STAGE, 0), (IMPROVED, 8)]);
    Ok(())
}

fn figure_15(sheet: &mut Sheet) -> Result<(), Failed> {
    let quote = "the two-stage algorithm performed as well as the single-stage algorithms";
    let over = ratios(sheet, TWO_STAGE, IMPROVED, &[BEST]);
    sheet.claim("two stages over one with the improvements", "9", quote, at_most(1.0).in_the_mean(), over);
    let quote = "even out-performing the single-stage algorithm without the improvements";
    let over = ratios(sheet, TWO_STAGE, RANDOM, &[BEST]);
    sheet.claim("two stages over one without the improvements", "9", quote, below(1.0), over);
    three(sheet, BEST);
    Ok(())
}

fn figure_16(sheet: &mut Sheet) -> Result<(), Failed> {
    let quote = "Both the single-stage algorithms out-performed the two-stage one.";
    for one in [RANDOM, IMPROVED] {
        let over = ratios(sheet, one, TWO_STAGE, &[WORST]);
        sheet.claim(format!("{one} over two stages"), "9", quote, below(1.0), over);
    }
    let best = |algorithm: &str| {
        let of = |skew| sheet.of(&format!("{algorithm}, {}", label(skew)));
        of(WORST).over(of(BEST))
    };
    let (two, random, improved) = (best(TWO_STAGE), best(RANDOM), best(IMPROVED));
    let change = |times: &[f64]| times.iter().map(|over| (over - 1.0).abs()).collect::<Vec<f64>>();
    let one =
        change(&random).into_iter().zip(change(&improved)).map(|(random, improved)| random.min(improved));
    let ours: Vec<f64> = change(&two).iter().zip(one).map(|(two, one)| two / one).collect();
    let quote = "The two-stage algorithm's performance remained roughly close to its best-case performance, but the single-stage algorithm's \
                 performance improved considerably.";
    let what = "how much two stages change from figure 15, over what the single-stage algorithm does that changes less";
    sheet.claim(what, "9", quote, below(1.0), ours);
    sheet.claim("one stage over its time of figure 15", "9", quote, below(1.0), [random, improved].concat());
    three(sheet, WORST);
    Ok(())
}

/// The picture of the three algorithms at a fan-out and a skew.
fn three(sheet: &mut Sheet, skew: (usize, usize)) {
    let mut lines = Vec::new();
    for (algorithm, number) in [(TWO_STAGE, 0), (RANDOM, 5), (IMPROVED, 8)] {
        let ran = sheet.of(&format!("{algorithm}, {}", label(skew)));
        lines.push(line(format!("{algorithm}, model"), number, ran.model(SEC)));
        let rings = ran
            .points
            .iter()
            .filter_map(|told| Some((told.x, told.prediction.measured?.median.in_units(SEC))));
        let rings: Vec<(f64, f64)> = rings.collect();
        if !rings.is_empty() {
            lines.push(Line::new(format!("{algorithm}, measured"), number, Look::Rings, rings));
        }
    }
    let subtitle = format!("P = 32, CM-5, {}", label(skew));
    sheet.plot(
        "",
        "Lines with marks are the model; rings were measured.",
        plot("Two stages and one", &subtitle, lines),
    );
}
