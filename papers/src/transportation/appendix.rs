//! The appendix: the lengths of messages of the second stage, where remainders are distributed at random.

use loggp::Run;
use loggp_programs::transportation::{Delivery, Matrix, Scheme, TwoStageForm, expected_longest};

use super::{join_runs, message_lengths, run_two_stage};
use crate::prelude::*;

pub(super) const APPENDIX: Exhibit = Exhibit {
    id: "transport-appendix",
    place: "appendix",
    title: "expected lengths, where parts are shuffled",
    notes: "Runs of the shuffled form. All processors send and receive t = 200p, and every remainder modulo p is as likely. Each p has as \
            many messages: fewer processors run more often.",
    formulas: &[
        "estimate: t/p + sqrt(p/6) (sqrt(2 ln p) + 0.5772 / sqrt(2 ln p)), up to 2.6 elements above the runs",
        "estimate: the variance of a message is (p^2 - 1)/6p, that of the longest of p is pi^2 (p/6) / (12 ln p)",
    ],
    show,
    ..Exhibit::USUAL
};

/// t/p.
const SHARE: usize = 200;
/// Numbers of processors.
const PROCESSORS: [usize; 4] = [8, 16, 32, 64];
/// The numbers of processors in the text of a row.
const ALL_P: &str = "p = 8, 16, 32, 64";

/// Lengths of the messages of stage 2 in runs with p processors.
#[derive(Clone, Copy)]
struct LengthStatistics {
    p: f64,
    mean: Ran<f64>,
    variance: Ran<f64>,
    /// Mean and variance of the longest message of an iteration.
    longest: Ran<f64>,
    longest_variance: Ran<f64>,
}

impl LengthStatistics {
    /// Returns the longest message's elements above t/p.
    fn above_share(&self) -> Ran<f64> {
        self.longest - SHARE as f64
    }

    /// Returns the appendix's variance of a message: p/6.
    fn sixth(&self) -> f64 {
        self.p / 6.0
    }

    /// Returns the appendix's expectation of the longest message's elements above t/p.
    fn expected(&self) -> f64 {
        let p = self.p as usize;
        expected_longest(SHARE * p, p).expect("there are several") - SHARE as f64
    }

    /// Returns the same by the largest of p normal variables.
    fn of_normal(&self) -> f64 {
        self.sixth().sqrt() * expected_largest(self.p as usize)
    }
}

fn show(sheet: &mut Sheet) -> Result<(), StudyError> {
    add_sums(sheet);
    let all = PROCESSORS.map(|p| length_statistics(sheet, p));
    let all: Vec<LengthStatistics> = all.into_iter().collect::<Result<_, _>>()?;
    add_lengths(sheet, &all);
    add_longest(sheet, &all);
    add_little_traffic(sheet)?;
    let mut table = Table::new("lengths", "Messages of stage 2, parts shuffled, t/p = 200")
        .exact("p", "")
        .exact("mean", "elements")
        .exact("variance", "")
        .exact("p/6", "")
        .exact("longest of an iteration", "elements")
        .exact("appendix", "elements")
        .exact("by the largest of p normal variables", "elements");
    let share = SHARE as f64;
    for one in &all {
        let [mean, variance, longest] = [one.mean, one.variance, one.longest].map(Ran::value);
        let numbers =
            [one.p, mean, variance, one.sixth(), longest, share + one.expected(), share + one.of_normal()];
        table.push(numbers.map(Into::into).into());
    }
    sheet.add_table(table);
    let curve = |y: &dyn Fn(&LengthStatistics) -> f64| all.iter().map(|one| (one.p, y(one))).collect();
    let plot = Plot::new(
        "The longest message of an iteration of stage 2, less t/p",
        "parts shuffled, equal traffic, any remainders",
    )
    .x("processors p", Scale::Points)
    .y("elements", Scale::Linear)
    .lines([
        PlotLine::new("appendix", 0, Look::Line, curve(&LengthStatistics::expected)),
        PlotLine::new("largest of p normal variables", 1, Look::Line, curve(&LengthStatistics::of_normal)),
        PlotLine::new("runs", 4, Look::Marks, curve(&|one| one.above_share().value())),
    ]);
    let caption = "By how much the longest message of an iteration of stage 2 is longer than t/p. Marks are means over runs of the model.";
    sheet.add_plot("", caption, plot);
    Ok(())
}

/// Adds the mean and the variance of a message.
fn add_lengths(sheet: &mut Sheet, all: &[LengthStatistics]) {
    let quote = "the length of a message reaching a destination processor, from a particular intermediate processor, has a mean of \
                 t/p and an expected variance of p/6";
    let what = format!("mean length of a message of stage 2 over t/p, {ALL_P}");
    let ours = all.iter().map(|one| one.mean / SHARE as f64);
    sheet.add_claim(what, "appendix", quote, exactly(1.0), ours);
    let rule = between(0.9, 1.1)
        .because("a sample of 16,384 messages is 3% off, and no remainder is exactly as likely");
    let what = format!("variance of the length over p/6, {ALL_P}");
    sheet.add_claim(what, "appendix", quote, rule, all.iter().map(|one| one.variance / one.sixth()));
    let quote = "the values of E(X) and Var(X) are given by";
    let rule = between(0.8, 1.25).because("it is that of very many variables");
    let what =
        format!("variance of the longest message of an iteration over pi^2 (p/6) / (12 ln p), {ALL_P}");
    let expected = |one: &LengthStatistics| std::f64::consts::PI.powi(2) * one.sixth() / (12.0 * one.p.ln());
    let ours = all.iter().map(|one| one.longest_variance / expected(one));
    sheet.add_claim(what, "appendix", quote, rule, ours);
}

/// Adds the longest message of an iteration.
fn add_longest(sheet: &mut Sheet, all: &[LengthStatistics]) {
    let quote =
        "the expected value of the upper bound on the length of messages sent out during any iteration";
    let what = format!("longest message of an iteration over the appendix's, both less t/p, {ALL_P}");
    let ours = all.iter().map(|one| one.above_share() / one.expected());
    sheet.add_claim(what, "appendix", quote, at_most(1.0), ours).note(
        "It is an upper bound, with room: the appendix takes sqrt(2 ln n) for a_n of the extreme-value distribution. a_n is less, by \
         (ln ln n + ln 4 pi) / (2 sqrt(2 ln n)), and for n = 32 that is 0.72 of 2.63. So the appendix has 2.85 for the largest of 32 \
         normal variables, whose mean is 2.07. The runs have what 2.07 makes.",
    );
    let what = format!("the same is within a tenth of the largest of p normal variables, {ALL_P}");
    let is_near = |one: &LengthStatistics| {
        let normal = one.of_normal();
        one.above_share().map(|above| (above / normal - 1.0).abs() < 0.1)
    };
    sheet.add_own_check(what, all.iter().map(is_near));
    let quote = "could reduce the expected length of the messages in stage 2";
    let what = format!("longest message of an iteration less t/p, over sqrt(p ln p), {ALL_P}");
    let rule = between(0.3, 0.6).because("the appendix has sqrt(1/3) = 0.577 there");
    let ours = all.iter().map(|one| one.above_share() / (one.p * one.p.ln()).sqrt());
    sheet.add_claim(what, "7.2", quote, rule, ours);
}

/// Adds the time of stage 2 with the least traffic for which the two-stage algorithm is expected to work
/// well: an iteration takes as long as its longest message.
fn add_little_traffic(sheet: &mut Sheet) -> Result<(), StudyError> {
    let mut ours = Vec::new();
    for p in PROCESSORS {
        let share = (p as f64 * (p as f64).ln()).sqrt().ceil() as usize;
        let [_, longest] = stage_2_lengths(sheet, p, share)?;
        ours.push(longest.map(|longest| mean(&longest) / share as f64));
    }
    let quote = "the two-stage algorithm is expected to work well, as shown in the probabilistic analysis in the appendix";
    let what = format!("longest message of an iteration over t/p, with t = p sqrt(p ln p), {ALL_P}");
    let rule = between(1.0, 1.6).because("the appendix has 1 + sqrt(1/3) = 1.577 there");
    sheet.add_claim(what, "10", quote, rule, ours);
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
    let parts = P.iter().flat_map(|p| (0..10 * p).map(|a| (*p as f64, a as f64)));
    let off = parts.map(|(p, a)| {
        let (share, up) = (a / p, (a % p) / p);
        let spread = (share.ceil() - share).powi(2) * up + (share.floor() - share).powi(2) * (1.0 - up);
        (spread - up * (1.0 - up)).abs()
    });
    let what = "the variance of a part is (1 - x) x, with x = (a_ij mod p)/p, for the same a_ij and p";
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

/// Runs the shuffled form with p processors until 16,384 messages of stage 2 were sent, or five times as many
/// at the papers' sizes. Returns their lengths, and the longest of each iteration.
fn stage_2_lengths(sheet: &Sheet, p: usize, share: usize) -> Result<[Ran<Vec<f64>>; 2], StudyError> {
    let mut runs = Vec::new();
    for seed in 0..sheet.lab.pick(4, 20) * 4096 / (p * p) {
        let mut rng = fastrand::Rng::with_seed(sheet.lab.seed ^ ((seed as u64) << 32) ^ p as u64);
        let matrix = random_remainders(p, share * p, &mut rng);
        let shuffled = TwoStageForm { shuffled: true, ..TwoStageForm::new(Scheme::Local) };
        runs.push(run_two_stage(sheet.lab, &matrix, shuffled)?);
    }
    let all = |run: &Run<Delivery>| {
        message_lengths(run, 1).entries().iter().map(|length| *length as f64).collect::<Vec<f64>>()
    };
    let longest = |run: &Run<Delivery>| {
        let lengths = message_lengths(run, 1);
        // Iteration k of the linear permutation exchanges with i xor k.
        let of_iteration = |k: usize| (0..p).map(|i| lengths.at(i, i ^ k)).max().unwrap_or(0) as f64;
        (1..p).map(of_iteration).collect::<Vec<f64>>()
    };
    Ok([join_runs(runs.iter().map(|run| run.ran(all))), join_runs(runs.iter().map(|run| run.ran(longest)))])
}

/// Returns the statistics of the messages of the shuffled form with p processors.
fn length_statistics(sheet: &Sheet, p: usize) -> Result<LengthStatistics, StudyError> {
    let [all, longest] = stage_2_lengths(sheet, p, SHARE)?;
    let both = |lengths: Ran<Vec<f64>>| {
        let both = lengths.map(|lengths| (mean(&lengths), variance(&lengths)));
        (both.map(|(mean, _)| mean), both.map(|(_, variance)| variance))
    };
    let ((mean, variance), (longest, longest_variance)) = (both(all), both(longest));
    Ok(LengthStatistics { p: p as f64, mean, variance, longest, longest_variance })
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
