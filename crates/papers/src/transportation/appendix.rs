//! The appendix: the lengths of messages of the second stage, where remainders are distributed at random.

use loggp_programs::transportation::{Matrix, Scheme, TwoStageForm, expected_longest};

use super::{message_lengths, run_two_stage};
use crate::prelude::*;

pub const APPENDIX: Exhibit = Exhibit {
    id: "transport-appendix",
    place: "appendix",
    title: "expected lengths, where parts are shuffled",
    printed: 0,
    left_out: "",
    notes: "Runs of the shuffled form, with equal traffic in which every remainder modulo p is as likely, and t/p = 200.",
    formulas: &["t/p + sqrt(p/6) (sqrt(2 ln p) + 0.5772 / sqrt(2 ln p))"],
    unit: ("us", US),
    series: |_| Vec::new(),
    show,
};

/// t/p.
const SHARE: usize = 200;

/// Lengths of the messages of stage 2 in runs with p processors.
struct LengthStatistics {
    mean: f64,
    variance: f64,
    /// Mean of the longest message of an iteration.
    longest: f64,
}

fn show(sheet: &mut Sheet) -> Result<(), StudyError> {
    add_sums(sheet);
    let mut table = Table::new("lengths", "Messages of stage 2, parts shuffled, t/p = 200")
        .exact("p", "")
        .exact("mean", "elements")
        .exact("variance", "")
        .exact("p/6", "")
        .exact("longest of an iteration", "elements")
        .exact("appendix", "elements")
        .exact("by the largest of p normal variables", "elements");
    let [mut paper, mut exact, mut runs] = [const { Vec::new() }; 3];
    for p in [8, 16, 32, 64] {
        let statistics = length_statistics(sheet, p)?;
        let (share, sixth) = (SHARE as f64, p as f64 / 6.0);
        let expected = expected_longest(SHARE * p, p).expect("there are several");
        let normal = share + sixth.sqrt() * expected_largest(p);
        let LengthStatistics { mean, variance, longest } = statistics;
        let numbers = [p as f64, mean, variance, sixth, longest, expected, normal];
        table.push(numbers.map(Into::into).into());
        paper.push((p as f64, expected - share));
        exact.push((p as f64, normal - share));
        runs.push((p as f64, longest - share));
        if p == 32 {
            let quote = "the length of a message reaching a destination processor, from a particular intermediate processor, has a mean of \
                         t/p and an expected variance of p/6";
            // Three standard errors of a variance over p^2 messages of each matrix.
            let room = 3.0 * (2.0 / (sheet.lab.pick(4.0, 20.0) * 1024.0_f64)).sqrt();
            let rule = between(1.0 - room, 1.0 + room);
            let what = "variance, over p/6, p = 32, to three standard errors";
            sheet.add_claim(what, "appendix", quote, rule, [variance / sixth]);
            let quote = "the expected value of the upper bound on the length of messages sent out during any iteration";
            let what = "the longest of an iteration, over the appendix's, each less t/p, p = 32";
            let ratio = (longest - share) / (expected - share);
            let pinned = sheet.lab.pick("0.724", "");
            sheet.add_claim(what, "appendix", quote, between(0.9, 1.1), [ratio]).expect_difference(
                pinned,
                "the appendix takes a_n and b_n of the extreme-value distribution for sqrt(2 ln n), which is so for very large n: that \
                 makes the largest of 32 normal variables 2.85, and it is 2.07 in the mean",
            );
            let near = (longest - share) / (normal - share);
            let what = "it is within a tenth of 2.07 sqrt(p/6), p = 32";
            sheet.add_own_check(what, [(near - 1.0).abs() < 0.1]);
        }
    }
    sheet.add_table(table);
    let plot = Plot::new(
        "The longest message of an iteration of stage 2, less t/p",
        "parts shuffled, equal traffic, any remainders",
    )
    .x("processors p", Scale::Points)
    .y("elements", Scale::Linear)
    .lines([
        PlotLine::new("appendix", 0, Look::Line, paper),
        PlotLine::new("largest of p normal variables", 1, Look::Line, exact),
        PlotLine::new("runs", 4, Look::Marks, runs),
    ]);
    let caption = "By how much the longest message of an iteration of stage 2 is longer than t/p. Marks are means over runs of the model.";
    sheet.add_plot("", caption, plot);
    Ok(())
}

/// Checks the appendix's sums, added up term by term.
fn add_sums(sheet: &mut Sheet) {
    const P: [usize; 4] = [4, 8, 32, 128];
    // Mean of a part, for every remainder, from its two values and their probabilities.
    let parts = P.iter().flat_map(|p| (0..10 * p).map(|a| (*p as f64, a as f64)));
    let off = parts.map(|(p, a)| {
        let (share, up) = (a / p, (a % p) / p);
        (share.ceil() * up + share.floor() * (1.0 - up) - share).abs()
    });
    let what = "the mean of a part is a_ij/p, for each a_ij below 10p, p = 4, 8, 32, 128";
    sheet.add_own_check(what, off.map(|off| off < 1e-9));
    let variance = |p: usize| (1..=p).map(|i| ((p - i) * i) as f64).sum::<f64>() / (p * p) as f64;
    let closed = |p: usize| ((p * p) as f64 - 1.0) / (6.0 * p as f64);
    let right = P.map(|p| (variance(p) - closed(p)).abs() < 1e-9);
    sheet.add_own_check("the sum of (p-i)i / p^2 is (p^2 - 1)/6p", right);
}

/// Returns equal traffic t in which every remainder modulo p is as likely: a sum of permutations with random
/// lengths.
fn random_remainders(P: usize, t: usize, rng: &mut fastrand::Rng) -> Matrix {
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

/// Returns the mean of the largest of n normal variables with mean 0 and variance 1: the integral of x n f(x)
/// F(x)^(n-1).
fn expected_largest(n: usize) -> f64 {
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

/// Runs the shuffled form with p processors, and returns the statistics of its messages.
fn length_statistics(sheet: &Sheet, p: usize) -> Result<LengthStatistics, StudyError> {
    let (mut all, mut longest) = (Vec::new(), Vec::new());
    for seed in 0..sheet.lab.pick(4, 20) {
        let mut rng = fastrand::Rng::with_seed(sheet.lab.seed ^ (seed << 32) ^ p as u64);
        let matrix = random_remainders(p, SHARE * p, &mut rng);
        let shuffled = TwoStageForm { shuffled: true, ..TwoStageForm::new(Scheme::Local) };
        let stage_2 = message_lengths(&run_two_stage(sheet.lab, &matrix, shuffled)?, 1);
        all.extend(stage_2.entries().iter().map(|length| *length as f64));
        // Iteration k of the linear permutation exchanges with i xor k.
        longest.extend((1..p).map(|k| (0..p).map(|i| stage_2.at(i, i ^ k)).max().unwrap_or(0) as f64));
    }
    Ok(LengthStatistics { mean: mean(&all), variance: variance(&all), longest: mean(&longest) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expected_largest_has_the_known_values() {
        // 1/sqrt(pi) of two, and 2.0697 of 32 (tables of order statistics).
        assert!((expected_largest(1)).abs() < 1e-6);
        assert!((expected_largest(2) - std::f64::consts::PI.sqrt().recip()).abs() < 1e-5);
        assert!((expected_largest(32) - 2.0697).abs() < 1e-3);
    }

    #[test]
    fn random_remainders_give_equal_traffic() {
        let matrix = random_remainders(8, 1600, &mut fastrand::Rng::with_seed(1));
        assert!(matrix.is_equal() && matrix.t() == 1600);
        let odd = matrix.entries().iter().filter(|elements| *elements % 2 == 1).count();
        assert!((16..48).contains(&odd), "{odd} of 64");
    }
}
