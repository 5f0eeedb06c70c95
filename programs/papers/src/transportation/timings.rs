//! Figures 13 to 16: the algorithms' times over the traffic.

use loggp::Time;

use super::super::{Agreement, Check, Exhibit, Finding, Lab, Runs, Seconds, Table};
use super::{MS, case};
use loggp_draw::plot::{Line, Look, Plot, Scale};
use loggp_programs::Case;
use loggp_programs::transportation::{CHUNK, FAN_OUT, FanOut, SKEW, Skew, TRAFFIC, TRANSPORTATION};
use loggp_study::Failed;

/// Figure 13.
pub const FIGURE_13: Exhibit = Exhibit {
    id: "transport-fig13",
    place: "figure 13, section 9",
    title: "the two single-stage algorithms",
    says: &[
        MACHINE,
        VARIED,
        "The algorithm with the improvements performed better.",
        "The variation for different k and l is large for both.",
    ],
    formulas: NO_FORMULA,
    commands: &[
        "loggp sweep transportation random random-improved --machine cm5 --params o=0.000002s -P 32 --barrier 5us --fan-out any \
                 --skew any --over traffic=2000..64000:63 -o figure-13.svg",
    ],
    seconds: Seconds { quick: 2.0, full: 60.0 },
    make: figure_13,
};

/// Figure 14.
pub const FIGURE_14: Exhibit = Exhibit {
    id: "transport-fig14",
    place: "figure 14, section 9",
    title: "two stages and one",
    says: &[
        MACHINE,
        VARIED,
        "The single-stage algorithm with the improvements consistently performed better than the two-stage one, but its time \
         had a much larger variance.",
        "The two-stage timings were within a factor of 1.5 of the single-stage ones.",
    ],
    formulas: &[TWO_STAGES],
    commands: &[
        "loggp sweep transportation two-stage random-improved --machine cm5 --params o=0.000002s -P 32 --barrier 5us --fan-out any \
                 --skew any --over traffic=2000..64000:63 -o figure-14.svg",
    ],
    seconds: Seconds { quick: 6.0, full: 75.0 },
    make: figure_14,
};

/// Figure 15.
pub const FIGURE_15: Exhibit = Exhibit {
    id: "transport-fig15",
    place: "figure 15, section 9",
    title: "one of the good performances of the two-stage algorithm",
    says: &[
        MACHINE,
        "k = 32 and l = 1/32: one of 32 processors gets 31/32 of the traffic of each.",
        "The two-stage algorithm performed as well as the single-stage ones, and out-performed that without the improvements.",
    ],
    formulas: &[TWO_STAGES],
    commands: &[
        "loggp sweep transportation two-stage random random-improved --machine cm5 --params o=0.000002s -P 32 --barrier 5us \
                 --fan-out 32 --skew 1/32 --over traffic=4000..64000:16 -o figure-15.svg",
    ],
    seconds: Seconds { quick: 4.0, full: 20.0 },
    make: figure_15,
};

/// Figure 16.
pub const FIGURE_16: Exhibit = Exhibit {
    id: "transport-fig16",
    place: "figure 16, section 9",
    title: "one of the bad performances of the two-stage algorithm",
    says: &[
        MACHINE,
        "k = 2 and l = 1/2: each has two messages of the same length.",
        "Both single-stage algorithms out-performed the two-stage one.",
        "The two-stage algorithm remained roughly close to its best case, and the single-stage one improved considerably.",
    ],
    formulas: &[TWO_STAGES],
    commands: &[
        "loggp sweep transportation two-stage random random-improved --machine cm5 --params o=0.000002s -P 32 --barrier 5us \
                 --fan-out 2 --skew 1/2 --over traffic=4000..64000:16 -o figure-16.svg",
    ],
    seconds: Seconds { quick: 4.0, full: 30.0 },
    make: figure_16,
};

/// What was timed.
const MACHINE: &str = "A CM-5 of 32 nodes; seconds over the words of traffic at each processor. The times are curves only. Of the \
                       machine the text gives 1.6 us for a send, 1.7 us for a reception and 16 bytes in a packet, but neither \
                       latency nor barrier: ours is LogP's, with a barrier of 5 us.";
/// For which matrices.
const VARIED: &str = "The fan-out k went from 2 to 32 and the skew l from 1/2 to 1/k. Of the k receivers (1-l)k share the \
                      fraction l of the traffic, and lk the rest.";
/// The formula of two stages.
const TWO_STAGES: &str = "two-stage: O(p^2 + p tau + mu (t + p^2)) (section 7.3), here with all its terms";
/// Why the others have none.
const NO_FORMULA: &[&str] = &[
    "none: the algorithm is not deterministic, which makes it difficult to ascertain its time (section 10)",
];

const TWO_STAGE: &str = "two-stage";
const RANDOM: &str = "random";
const IMPROVED: &str = "random-improved";

/// Times of the model, in seconds: for each fan-out and skew over the traffic.
struct Timed {
    /// The algorithm.
    algorithm: &'static str,
    /// The traffic and the time, for every traffic and every k and l in the same order.
    points: Vec<(f64, f64)>,
}

/// k and 1/l: from 2 to 32, and from 2 to k.
fn all_skews() -> Vec<(usize, usize)> {
    let powers = |most: usize| (1..=5).map(|power| 1 << power).filter(move |n| *n <= most);
    powers(32).flat_map(|k| powers(k).map(move |l| (k, l))).collect()
}

/// A case at this traffic, fan-out and skew.
fn at(algorithm: &str, traffic: usize, (k, l): (usize, usize)) -> Case {
    case(algorithm, 32)
        .with(&TRAFFIC, Some(traffic))
        .with(&FAN_OUT, Some(FanOut::Of(k)))
        .with(&SKEW, Some(Skew::fraction(1, l)))
}

/// The times of some algorithms for these traffics, fan-outs and skews; the exhibit is done from one part to the other.
fn timed(
    lab: &Lab,
    algorithms: &[&'static str],
    traffics: &[usize],
    skews: &[(usize, usize)],
    (from, to): (f64, f64),
) -> Result<Vec<Timed>, Failed> {
    let all = (algorithms.len() * traffics.len() * skews.len()) as f64;
    let (mut timed, mut done) = (Vec::new(), 0.0);
    for &algorithm in algorithms {
        let mut points = Vec::new();
        for &traffic in traffics {
            for skew in skews {
                let time = lab.model(at(algorithm, traffic, *skew))?.outcome.run.time;
                points.push((traffic as f64, time.in_units(1000 * MS)));
                done += 1.0;
                lab.done(from + (to - from) * done / all);
            }
        }
        timed.push(Timed { algorithm, points });
    }
    Ok(timed)
}

impl Timed {
    /// How many times as long this takes as another, for each point.
    fn over(&self, other: &Timed) -> Vec<f64> {
        self.points.iter().zip(&other.points).map(|((_, one), (_, other))| one / other).collect()
    }

    /// The longest time for a word over the shortest one, over k and l, at the traffic where that is most.
    fn variation(&self, skews: usize) -> f64 {
        let of = |points: &[(f64, f64)]| {
            let (least, most) = ends(points.iter().map(|(_, time)| *time));
            most / least
        };
        self.points.chunks(skews).map(of).fold(1.0, f64::max)
    }

    /// The line of its means over k and l, with bars from the least to the most.
    fn over_skews(&self, skews: usize) -> Line {
        let (mut points, mut spread) = (Vec::new(), Vec::new());
        for of_one in self.points.chunks(skews) {
            let (traffic, _) = of_one[0];
            let times: Vec<f64> = of_one.iter().map(|(_, time)| *time).collect();
            let (least, most) = ends(times.iter().copied());
            points.push((traffic, mean(&times)));
            spread.push((traffic, least, most));
        }
        let line =
            Line::new(format!("{}, model", self.algorithm), number(self.algorithm), Look::Both, points);
        Line { spread, ..line }
    }

    /// The line of it, where there is one k and one l.
    fn line(&self) -> Line {
        Line::new(
            format!("{}, model", self.algorithm),
            number(self.algorithm),
            Look::Both,
            self.points.clone(),
        )
    }
}

/// Its colour: its place among the program's algorithms. There are fewer colours, and that of `random` would be the one of two
/// stages.
fn number(algorithm: &str) -> usize {
    let place = TRANSPORTATION.algorithms.iter().position(|other| other.name == algorithm);
    if algorithm == RANDOM { 5 } else { place.expect("the program has it") }
}

/// The least and the most.
fn ends(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::MAX, 0.0), |(least, most), value| (value.min(least), value.max(most)))
}

/// The least, the most and the mean, as text.
fn range(values: &[f64]) -> String {
    let (least, most) = ends(values.iter().copied());
    format!("{least:.2} to {most:.2}, {:.2}", mean(values))
}

/// The mean.
fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The figure's plot, with the paper's axes.
fn plot(title: &str, subtitle: &str, lines: Vec<Line>) -> String {
    let plot = Plot::new(title, subtitle)
        .x("traffic at each processor [words]", Scale::Linear)
        .y("time [s]", Scale::Linear)
        .lines(lines);
    plot.svg()
}

/// Runs of the algorithms at one traffic, measured; and rings for the plot.
fn measured(
    lab: &Lab,
    algorithms: &[&str],
    skew: (usize, usize),
    traffics: &[usize],
) -> Result<(Runs, Vec<Line>), Failed> {
    let mut runs = Runs::new(
        "runs",
        &format!("P = 32, k = {}, l = 1/{}", skew.0, skew.1),
        &["algorithm", "traffic"],
        ("ms", MS),
    );
    let mut rings = Vec::new();
    for algorithm in algorithms {
        let mut points = Vec::new();
        for &traffic in traffics {
            let answers = lab.measured(at(algorithm, traffic, skew))?;
            runs.push(&[algorithm, &loggp_draw::digits::thousands(traffic)], None, &answers);
            let measured: Option<Time> = answers.prediction.measured.map(|times| times.median);
            points.extend(measured.map(|time| (traffic as f64, time.in_units(1000 * MS))));
        }
        if !points.is_empty() {
            rings.push(Line::new(format!("{algorithm}, measured"), number(algorithm), Look::Rings, points));
        }
    }
    Ok((runs, rings))
}

/// The mean, the least and the most over k and l, for each traffic.
fn table(timed: &[Timed], skews: usize) -> Table {
    let mut table = Table::new("times", "Time over k and l").text("algorithm").exact("traffic", "words");
    table = table.exact("least", "ms").exact("mean", "ms").exact("most", "ms").exact("most / least", "");
    for Timed { algorithm, points } in timed {
        for points in points.chunks(skews) {
            let times: Vec<f64> = points.iter().map(|(_, time)| *time).collect();
            let (least, most) = ends(times.iter().copied());
            table.push(vec![
                (*algorithm).into(),
                points[0].0.into(),
                (1000.0 * least).into(),
                (1000.0 * mean(&times)).into(),
                (1000.0 * most).into(),
                (most / least).into(),
            ]);
        }
    }
    table
}

/// The time of each algorithm for each traffic.
fn over_traffic(timed: &[Timed]) -> Table {
    let table = Table::new("times", "Time over the traffic").exact("traffic", "words");
    let mut table = timed.iter().fold(table, |table, timed| table.exact(timed.algorithm, "ms"));
    for (n, (traffic, _)) in timed[0].points.iter().enumerate() {
        let mut row = vec![(*traffic).into()];
        row.extend(timed.iter().map(|timed| (1000.0 * timed.points[n].1).into()));
        table.push(row);
    }
    table
}

/// The traffics of figures 13 and 14.
fn traffics(lab: &Lab) -> Vec<usize> {
    lab.pick(vec![8000, 24000, 40000, 64000], (1..=16).map(|n| 4000 * n).collect())
}

fn figure_13(lab: &Lab) -> Result<Finding, Failed> {
    let (skews, traffics) = (all_skews(), traffics(lab));
    let timed = timed(lab, &[RANDOM, IMPROVED], &traffics, &skews, (0.0, 0.8))?;
    let [random, improved] = &timed[..] else { unreachable!("two were asked for") };
    let ratios = random.over(improved);
    let (better, gain) = (ratios.iter().filter(|ratio| **ratio > 1.0).count(), mean(&ratios));
    let [of_random, of_improved] = [random, improved].map(|timed| timed.variation(skews.len()));
    let checks = vec![
        Check::claim(
            "with the improvements, over all k, l and t",
            "performed better",
            format!(
                "in {better} of {} points; without them {gain:.2} times as long in the mean",
                ratios.len()
            ),
            gain > 1.0 && 2 * better > ratios.len(),
        ),
        Check::claim(
            "longest time over shortest, for different k and l at the same t",
            "the variation is large for both algorithms",
            format!("{of_random:.2} without, {of_improved:.2} with the improvements"),
            of_random.min(of_improved) > 1.25,
        ),
    ];
    let (runs, rings) = measured(lab, &[RANDOM, IMPROVED], (8, 8), &[4000])?;
    let mut lines: Vec<Line> = timed.iter().map(|timed| timed.over_skews(skews.len())).collect();
    lines.extend(rings);
    let verdict = format!(
        "{} Without the improvements it takes {gain:.2} times as long in the mean. The paper's own times are curves, and out of \
         reach: they depend on how long its nodes send before they poll.",
        agreement(&checks),
    );
    Ok(Finding::new(verdict)
        .table(runs.table())
        .table(table(&timed, skews.len()))
        .picture("", POINTS, plot("Single-stage algorithms", SUBTITLE, lines))
        .checks(checks))
}

/// How figures 13 and 14 are read.
const POINTS: &str = "Marks are the mean of the model's times over all k and l, and bars go from the shortest to the longest; rings were \
                      measured, for k = 8 and l = 1/8.";
/// What stands in them.
const SUBTITLE: &str = "P = 32, CM-5, k = 2 to 32, l = 1/2 to 1/k";

fn figure_14(lab: &Lab) -> Result<Finding, Failed> {
    let (skews, traffics) = (all_skews(), traffics(lab));
    let timed_all = timed(lab, &[TWO_STAGE, IMPROVED], &traffics, &skews, (0.0, 0.6))?;
    let [two, improved] = &timed_all[..] else { unreachable!("two were asked for") };
    let ratios = two.over(improved);
    let slower = ratios.iter().filter(|ratio| **ratio > 1.0).count();
    let (average, (_, worst)) = (mean(&ratios), ends(ratios.iter().copied()));
    let within = ratios.iter().filter(|ratio| **ratio <= 1.5).count();
    let [of_two, of_improved] = [two, improved].map(|timed| timed.variation(skews.len()));
    let checks = vec![
        Check::claim(
            "one stage, over all k, l and t",
            "consistently performed better",
            format!("in {slower} of {} points", ratios.len()),
            slower == ratios.len(),
        )
        .because(PIECES),
        Check::claim(
            "longest time over shortest, for different k and l at the same t",
            "much larger for one stage",
            format!("{of_improved:.2} for one, {of_two:.2} for two"),
            of_improved - 1.0 > 3.0 * (of_two - 1.0),
        ),
        Check::claim(
            "two stages over one, over all k, l and t",
            "within a factor of 1.5",
            format!("{within} of {} points are; {average:.2} in the mean, {worst:.2} at most", ratios.len()),
            worst <= 1.5,
        )
        .because(PIECES),
    ];
    let (by_piece, few) = pieces(lab)?;
    let (runs, rings) = measured(lab, &[TWO_STAGE, IMPROVED], (8, 8), &[4000])?;
    let mut lines: Vec<Line> = timed_all.iter().map(|timed| timed.over_skews(skews.len())).collect();
    lines.extend(rings);
    let verdict = format!(
        "Two stages take {average:.2} times as long as one in the mean, which is {} the paper's factor of 1.5, and {worst:.2} \
         times at most. {few}",
        if average <= 1.5 { "within" } else { "beyond" },
    );
    Ok(Finding::new(verdict)
        .table(runs.table())
        .table(table(&timed_all, skews.len()))
        .table(by_piece)
        .picture("", POINTS, plot("Two stages and one", SUBTITLE, lines))
        .checks(checks))
}

/// Why factors are not the paper's.
const PIECES: &str = "how far one stage is ahead depends on how much of a message a processor sends before it answers others, which the \
                      text does not say: see the table of pieces";

/// Two stages over one, by the length of a piece; and what that shows.
fn pieces(lab: &Lab) -> Result<(Table, String), Failed> {
    const SKEWS: [(usize, usize); 4] = [(2, 2), (8, 8), (32, 2), (32, 32)];
    let mut table = Table::new(
        "pieces",
        "Two stages over one, by how much one stage sends before it serves others, t = 32,000",
    )
    .text("piece [words]");
    table = SKEWS.iter().fold(table, |table, (k, l)| table.exact(&format!("k = {k}, l = 1/{l}"), ""));
    let (mut least, mut most) = (f64::MAX, 0.0_f64);
    for (n, piece) in [128, 1024, 4096, usize::MAX].into_iter().enumerate() {
        let mut row = vec![if piece == usize::MAX { "all".into() } else { piece.to_string().into() }];
        for skew in SKEWS {
            let time = |algorithm: &str| {
                Ok::<_, Failed>(lab.model(at(algorithm, 32000, skew).with(&CHUNK, piece))?.outcome.run.time)
            };
            let ratio = time(TWO_STAGE)?.as_ps() as f64 / time(IMPROVED)?.as_ps() as f64;
            (least, most) = (least.min(ratio), most.max(ratio));
            row.push(ratio.into());
        }
        table.push(row);
        lab.done(0.6 + 0.08 * (n + 1) as f64);
    }
    let said = format!(
        "By the length of a piece alone, which the paper does not give, the factor is anything from {least:.2} to {most:.2}."
    );
    Ok((table, said))
}

fn figure_15(lab: &Lab) -> Result<Finding, Failed> {
    let traffics = few(lab);
    let timed = timed(lab, &[TWO_STAGE, RANDOM, IMPROVED], &traffics, &[(32, 32)], (0.0, 0.6))?;
    let [two, random, improved] = &timed[..] else { unreachable!("three were asked for") };
    let (over_random, over_improved) = (two.over(random), two.over(improved));
    let ahead = over_random.iter().filter(|ratio| **ratio < 1.0).count();
    let checks = vec![
        Check::claim(
            "two stages over one without the improvements",
            "out-performs it",
            format!(
                "faster for {ahead} of {} traffics; {} times as long in the mean",
                over_random.len(),
                range(&over_random)
            ),
            mean(&over_random) < 1.0,
        )
        .because(PIECES_15),
        Check::claim(
            "two stages over one with the improvements",
            "performs as well",
            format!("{} times as long in the mean", range(&over_improved)),
            mean(&over_improved) < 1.1,
        )
        .because(PIECES_15),
    ];
    let verdict = format!(
        "{} Two stages take {:.2} times as long as one without the improvements, and {:.2} times as long as one with them, in \
         the mean over the traffics.",
        agreement(&checks),
        mean(&over_random),
        mean(&over_improved),
    );
    best_or_worst(lab, (32, 32), &timed, Finding::new(verdict).checks(checks))
}

/// Why figure 15 is not the paper's where it is not.
const PIECES_15: &str = "how long a message holds up those who ask depends on how much of it is sent before they are answered, which the text \
                         does not say; with whole messages two stages are far ahead (the table of pieces of figure 14)";

fn figure_16(lab: &Lab) -> Result<Finding, Failed> {
    let traffics = few(lab);
    let worst = timed(lab, &[TWO_STAGE, RANDOM, IMPROVED], &traffics, &[(2, 2)], (0.0, 0.4))?;
    let best = timed(lab, &[TWO_STAGE, RANDOM, IMPROVED], &traffics, &[(32, 32)], (0.4, 0.7))?;
    let [two, random, improved] = &worst[..] else { unreachable!("three were asked for") };
    let all = |one: &Timed, other: &Timed| one.over(other).iter().filter(|ratio| **ratio < 1.0).count();
    let ahead = [all(random, two), all(improved, two)];
    let points = two.points.len();
    let over_best: Vec<f64> = (0..3).map(|n| mean(&worst[n].over(&best[n]))).collect();
    let checks = vec![
        Check::claim(
            "both single-stage algorithms against the two-stage one",
            "out-performed it",
            format!("{} and {} of {points} traffics", ahead[0], ahead[1]),
            ahead == [points; 2],
        ),
        Check::claim(
            "two stages over their time of figure 15",
            "roughly close to its best-case performance",
            format!("{:.3} in the mean", over_best[0]),
            (over_best[0] - 1.0).abs() < 0.1,
        ),
        Check::claim(
            "one stage over its time of figure 15",
            "improved considerably",
            format!("{:.2} without, {:.2} with the improvements", over_best[1], over_best[2]),
            over_best[1].max(over_best[2]) < 0.95,
        ),
    ];
    let verdict = format!(
        "{} One stage takes {:.2} (without the improvements) and {:.2} (with them) of its time of figure 15, and two stages {:.3}.",
        agreement(&checks),
        over_best[1],
        over_best[2],
        over_best[0],
    );
    best_or_worst(lab, (2, 2), &worst, Finding::new(verdict).checks(checks))
}

/// The traffics of figures 15 and 16.
fn few(lab: &Lab) -> Vec<usize> {
    lab.pick(vec![4000, 16000, 32000, 48000, 64000], (1..=16).map(|n| 4000 * n).collect())
}

/// Figures 15 and 16: the lines, and the runs.
fn best_or_worst(
    lab: &Lab,
    skew: (usize, usize),
    timed: &[Timed],
    finding: Finding,
) -> Result<Finding, Failed> {
    let (runs, rings) = measured(lab, &[TWO_STAGE, RANDOM, IMPROVED], skew, &[4000])?;
    let mut lines: Vec<Line> = timed.iter().map(|timed| timed.line()).collect();
    lines.extend(rings);
    let subtitle = format!("P = 32, CM-5, k = {}, l = 1/{}", skew.0, skew.1);
    Ok(finding.table(runs.table()).table(over_traffic(timed)).picture(
        "",
        "Lines with marks are the model; rings were measured.",
        plot("Two stages and one", &subtitle, lines),
    ))
}

/// Whether all that the text claims holds.
fn agreement(checks: &[Check]) -> String {
    let differ = checks.iter().filter(|check| check.agreement == Agreement::Differs).count();
    match differ {
        0 => "What the text claims holds.".into(),
        _ => format!("Of {} claims of the text {} hold.", checks.len(), checks.len() - differ),
    }
}
