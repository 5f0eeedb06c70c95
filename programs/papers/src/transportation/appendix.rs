//! The appendix: how long messages of the second stage are, where remainders fall by chance; and the bounds that they have
//! where they do not.

use super::super::{Agreement, Answer, Check, Exhibit, Finding, Lab, Seconds, Table};
use super::{arrivals, bounds, form, lengths};
use loggp_draw::plot::{Line, Look, Plot, Scale};
use loggp_programs::transportation::{Matrix, Scheme, TwoStage, expected_longest};
use loggp_study::Failed;

/// The exhibit.
pub const APPENDIX: Exhibit = Exhibit {
    id: "transport-appendix",
    place: "sections 7 and 8, appendix",
    title: "bounds, and expected lengths",
    says: &[
        "No message of stage 1 is longer than ceil(t/p), and none of stage 2 than t/p + p; and so on for all forms (sections 7 \
         and 8). Two stages take 2 t mu, or (r + c) mu, and terms of lower order.",
        "A part of a_ij is a_ij/p rounded up with the probability (a_ij mod p)/p, and down else: it is a_ij/p in the mean, with a \
         variance of (1 - (a_ij mod p)/p) (a_ij mod p)/p (appendix).",
        "A message of stage 2 has t/p elements in the mean, with the expected variance (p^2 - 1)/6p, which is about p/6.",
        "By the extreme-value distribution the longest of an iteration, of p messages, is expected to have \
         t/p + sqrt(p/6) (sqrt(2 ln p) + 0.5772/sqrt(2 ln p)) elements, for normal lengths and large p.",
        "A transportation by sorting would move the data 9 to 12 times, and two stages 2 times; that algorithm is not here.",
    ],
    formulas: &[
        "t/p + sqrt(p/6) (sqrt(2 ln p) + 0.5772 / sqrt(2 ln p)) (appendix)",
        "O(p^2 + p tau + mu (t + p^2)) (section 7.3), here with all its terms",
    ],
    commands: &[
        "loggp sweep transportation two-stage --machine cm5 -P 32 --barrier 5us --ports dual --fan-out 32 --skew 1/2 \
         --over traffic=1024..1048576:log:6",
        "loggp run transportation two-stage-shuffled --machine cm5 -P 32 --barrier 5us --matrix random --traffic 6400",
    ],
    seconds: Seconds { quick: 4.0, full: 60.0 },
    make,
};

fn make(lab: &Lab) -> Result<Finding, Failed> {
    let (of_bounds, mut checks) = bounds::bounds(lab)?;
    checks.extend(by_sum());
    let (observed, plot, of_runs) = observed(lab)?;
    checks.extend(of_runs);
    let (runs, scaling, of_scaling) = bounds::scaling(lab)?;
    checks.extend(of_scaling);
    let agree = checks.iter().all(|check| check.agreement < Agreement::Differs || check.reason.is_some());
    let verdict = format!(
        "{} The longest message is shorter than the appendix expects, by as much as the extreme-value distribution is off for so \
         few messages: what it says of p normal variables is too much by itself, and with the exact mean of the largest of p the \
         runs agree.",
        if agree {
            "All bounds hold, and the means and variances are those of runs."
        } else {
            "Not all bounds, means and variances hold."
        },
    );
    Ok(Finding::new(verdict)
        .table(runs.table())
        .table(of_bounds)
        .table(observed)
        .picture("scaling", "Lower-order terms vanish as the traffic grows.", scaling)
        .picture(
            "",
            "By how much the longest message of an iteration of stage 2 is longer than t/p. Marks are means over runs of the model.",
            plot,
        )
        .checks(checks))
}

/// The appendix's sums, added up term by term.
fn by_sum() -> Vec<Check> {
    const P: [usize; 4] = [4, 8, 32, 128];
    let list = |of: &dyn Fn(f64) -> f64| P.map(|p| format!("{:.4}", of(p as f64))).join(" ");
    // The mean of a part, for every remainder, by its two values and their probabilities.
    let off = P.iter().flat_map(|p| (0..10 * p).map(|a| (*p as f64, a as f64))).map(|(p, a)| {
        let (share, up) = (a / p, (a % p) / p);
        (share.ceil() * up + share.floor() * (1.0 - up) - share).abs()
    });
    let off = off.fold(0.0, f64::max);
    let variance = |p: f64| {
        let terms = (1..=p as usize).map(|i| (p - i as f64) * i as f64);
        terms.sum::<f64>() / (p * p)
    };
    let near = P.map(|p| 1.0 - variance(p as f64) / (p as f64 / 6.0));
    vec![
        Check::equal(
            "mean of a part, less a_ij/p, at most: a_ij = 0 to 10p - 1, p = 4, 8, 32, 128",
            "0.000000",
            off,
        )
        .by(Answer::Count),
        Check::same(
            "expected variance of a message, sum of (p-i)i / p^2: p = 4, 8, 32, 128",
            &list(&|p| (p * p - 1.0) / (6.0 * p)),
            list(&variance),
        )
        .by(Answer::Count),
        Check::claim(
            "the same, beside p/6",
            "about p/6",
            format!("less by {:.1}% at p = 4, {:.2}% at p = 32", 100.0 * near[0], 100.0 * near[2]),
            near[2] < 0.01,
        )
        .by(Answer::Count),
    ]
}

/// Equal traffic t in which every remainder modulo p is as likely: permutations with random lengths, one on another.
fn any_remainders(P: usize, t: usize, rng: &mut fastrand::Rng) -> Matrix {
    let mut matrix = Matrix::empty(P);
    let mut rest = t;
    while rest > 0 {
        let elements = rng.usize(1..=2 * P).min(rest);
        let mut to: Vec<usize> = (0..P).collect();
        rng.shuffle(&mut to);
        (0..P).for_each(|i| matrix.add(i, to[i], elements));
        rest -= elements;
    }
    matrix
}

/// The mean of the largest of n normal variables with mean 0 and variance 1: the integral of x n f(x) F(x)^(n-1).
fn largest_of(n: usize) -> f64 {
    const STEP: f64 = 1e-3;
    let (mut below, mut mean) = (0.0, 0.0);
    for i in -8000..8000 {
        let x = (f64::from(i) + 0.5) * STEP;
        let density = (-x * x / 2.0).exp() / std::f64::consts::TAU.sqrt() * STEP;
        let middle: f64 = below + density / 2.0;
        mean += x * n as f64 * density * middle.powi(n as i32 - 1);
        below += density;
    }
    mean
}

/// What runs of the shuffled form have: mean, variance, and the longest message of an iteration.
fn observed(lab: &Lab) -> Result<(Table, String, Vec<Check>), Failed> {
    const SHARE: usize = 200;
    let (sizes, seeds) = ([8, 16, 32, 64], lab.pick(4, 20));
    let mut table = Table::new(
        "lengths",
        format!("Messages of stage 2, parts shuffled, t/p = {SHARE}, {seeds} matrices"),
    )
    .exact("p", "")
    .exact("mean", "elements")
    .exact("variance", "")
    .exact("p/6", "")
    .exact("longest of an iteration", "elements")
    .exact("appendix", "elements")
    .exact("by the largest of p normal variables", "elements");
    let [mut paper, mut exact, mut seen] = [const { Vec::new() }; 3];
    let mut checks = Vec::new();
    for (n, p) in sizes.into_iter().enumerate() {
        let t = SHARE * p;
        let (mut lengths_of_all, mut longest) = (Vec::new(), Vec::new());
        for seed in 0..seeds {
            let mut rng = fastrand::Rng::with_seed(lab.seed ^ (seed << 32) ^ p as u64);
            let matrix = any_remainders(p, t, &mut rng);
            let shuffled = TwoStage { shuffled: true, ..form(Scheme::Local) };
            let stage_2 = lengths(&arrivals(lab, &matrix, shuffled)?, 1);
            lengths_of_all.extend(stage_2.entries().iter().map(|length| *length as f64));
            // Iteration k of the linear permutation exchanges with i xor k.
            longest.extend((1..p).map(|k| (0..p).map(|i| stage_2.at(i, i ^ k)).max().unwrap_or(0) as f64));
            lab.done(0.4 + 0.2 * (n as f64 + (seed + 1) as f64 / seeds as f64) / sizes.len() as f64);
        }
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let middle = mean(&lengths_of_all);
        let squares: Vec<f64> = lengths_of_all.iter().map(|length| (length - middle).powi(2)).collect();
        let (variance, longest) = (mean(&squares), mean(&longest));
        let expected = expected_longest(t, p).expect("there are several");
        let normal = t as f64 / p as f64 + (p as f64 / 6.0).sqrt() * largest_of(p);
        table.push(vec![
            p.into(),
            middle.into(),
            variance.into(),
            (p as f64 / 6.0).into(),
            longest.into(),
            expected.into(),
            normal.into(),
        ]);
        let share = SHARE as f64;
        paper.push((p as f64, expected - share));
        exact.push((p as f64, normal - share));
        seen.push((p as f64, longest - share));
        if p == 32 {
            let few = "remainders are drawn, and this is a mean over some matrices";
            let off = 100.0 * (1.0 - (longest - share) / (expected - share));
            checks.extend([
                Check::equal("mean length in stage 2, p = 32, t = 6,400: t/p", "200", middle),
                Check::within("variance in stage 2, p = 32: p/6", "5.33", variance, 0.2, few),
                Check::claim(
                    "longest message of an iteration of stage 2, less t/p, p = 32",
                    &format!("{:.2} expected", expected - share),
                    format!("{:.2} in the mean, {off:.0}% less", longest - share),
                    off.abs() < 10.0,
                )
                .because(
                    "the appendix takes a_n and b_n of the extreme-value distribution for sqrt(2 ln n), which is so for very large n: \
                     that makes the largest of 32 normal variables 2.85, and it is 2.07 in the mean",
                ),
                Check::within(
                    "the same by the largest of 32 normal variables, 2.07 sqrt(p/6)",
                    &format!("{:.2}", normal - share),
                    longest - share,
                    0.1,
                    few,
                ),
            ]);
        }
    }
    let line = |label: &str, number, look, points| Line::new(label, number, look, points);
    let plot = Plot::new(
        "The longest message of an iteration of stage 2, less t/p",
        "parts shuffled, equal traffic, any remainders",
    )
    .x("processors p", Scale::Points)
    .y("elements", Scale::Linear)
    .lines([
        line("appendix", 0, Look::Line, paper),
        line("largest of p normal variables", 1, Look::Line, exact),
        line("runs", 4, Look::Marks, seen),
    ]);
    Ok((table, plot.svg(), checks))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_of_normal_variables_is_what_is_known() {
        // 1/sqrt(pi) of two, and 2.0697 of 32 (tables of order statistics).
        assert!((largest_of(1)).abs() < 1e-6);
        assert!((largest_of(2) - std::f64::consts::PI.sqrt().recip()).abs() < 1e-5);
        assert!((largest_of(32) - 2.0697).abs() < 1e-3);
    }

    #[test]
    fn traffic_is_equal_and_remainders_are_any() {
        let matrix = any_remainders(8, 1600, &mut fastrand::Rng::with_seed(1));
        assert!(matrix.is_equal() && matrix.t() == 1600);
        let odd = matrix.entries().iter().filter(|elements| *elements % 2 == 1).count();
        assert!((16..48).contains(&odd), "{odd} of 64");
    }
}
