//! Section 3.3: the number of processors that a broadcast reaches in t steps, and a bound on its time.

use loggp_programs::broadcast::BROADCAST;
use loggp_programs::math::trees;

use super::broadcast::information_times;
use super::{cycles, f, last_step};
use crate::prelude::*;

pub(super) const P_OF_T: Exhibit = Exhibit {
    id: "karp-p-of-t",
    place: "section 3.3, fact 3.1, theorems 3.2 and 3.3",
    title: "how many processors a broadcast reaches in t steps",
    notes: "f_i = 1 for i < L, and f_i = f_(i-1) + f_(i-L) from there on (definition 3.6). c is the root in (1, 2] of x^d - x^(d-1) - \
            1 = 0, where d is (L + 2o)/g, rounded up; the paper's letter for it is gamma.",
    formulas: &[
        "p(t) = f_t (theorem 3.2)",
        "for any L, o and g: the sum over j of C(floor((t - j(L+2o)) / g) + j, j), which is f_t where L + 2o is a multiple of g",
        "B(P) <= L + 2o + g log_c P (theorem 3.3)",
    ],
    unit: ("cycles", US),
    series,
    show,
    ..Exhibit::USUAL
};

/// Makes the broadcasts among the largest f_t processors that are at most 200, or 2000 at the papers' sizes.
fn series(lab: &Lab) -> Vec<CaseSeries> {
    let (latencies, most) = (1..=lab.pick(6, 10), lab.pick(200, 2000));
    let P = |L: usize| f(L, last_step(L, most))[last_step(L, most)] as usize;
    let case = |L: usize| Case::new(&BROADCAST, "optimal", cycle_machine(P(L), [L as i64, 0, 1]));
    vec![CaseSeries::from_values("o = 0, g = 1", "L", latencies, case).traced()]
}

fn show(sheet: &mut Sheet) -> Result<(), StudyError> {
    let mut lines = Vec::new();
    let [mut nodes, mut sums, mut powers] = [const { Vec::new() }; 3];
    let [mut reached, mut sent] = [const { Vec::new() }; 2];
    for result in &sheet.series("o = 0, g = 1").points {
        let (L, trace) = (result.x as usize, result.trace());
        let T = last_step(L, trace.params.P as u64);
        let f = f(L, T + L);
        let labels = trees::universal(trace.params.P + 1, L as i64 * US, US);
        let informed: Vec<i64> = information_times(trace).into_iter().map(cycles).chain([0]).collect();
        let c = root(L as f64);
        let by = |t: usize| trace.ran(|_| informed.iter().filter(|time| **time <= t as i64).count() as u64);
        for t in 0..=T {
            nodes.push(labels.iter().filter(|(label, _)| cycles(*label) <= t as i64).count() as u64 == f[t]);
            reached.push(by(t).map(|reached| reached == f[t]));
            sums.push(1 + f[..=t].iter().sum::<u64>() == f[t + L]);
            // Rounding errors must not decide.
            let (least, most) = (c.powf(t as f64 - L as f64 + 1.0), c.powf(t as f64));
            powers.push(least <= f[t] as f64 * (1.0 + 1e-9) && f[t] as f64 <= most * (1.0 + 1e-8));
            // Only a longer broadcast sends messages that arrive after T.
            if t + L <= T {
                let count = |trace: &Trace| {
                    let at = |time| cycles(time) == t as i64;
                    trace.messages.iter().filter(|message| at(message.enter)).count() as u64
                };
                sent.push(trace.ran(|trace| count(trace) == f[t]));
            }
        }
        if L <= 5 {
            let line = |what: &str, look, count: &dyn Fn(usize) -> u64| {
                let points = (0..=T).map(|t| (t as f64, count(t) as f64)).collect();
                PlotLine::new(format!("L = {L} {what}"), L - 1, look, points)
            };
            lines.push(line("f_t", Look::Line, &|t| f[t]));
            lines.push(line("in a run", Look::Marks, &|t| by(t).value()));
        }
    }
    let sizes = ", for each L and t";
    sheet.add_own_check(format!("fact 3.1: 1 + f_0 + .. + f_t = f_(t+L){sizes}"), sums);
    sheet.add_own_check(format!("theorem 3.2: the tree has f_t nodes by t{sizes}"), nodes);
    sheet.add_own_check(format!("theorem 3.2: a run reaches f_t processors by t{sizes}"), reached);
    sheet.add_own_check(format!("theorem 3.2: by its proof f_i messages are sent at time i{sizes}"), sent);
    sheet.add_own_check(format!("section 3.3: c^(t-L+1) <= f_t <= c^t{sizes}"), powers);
    add_bounds(sheet);

    let plot = Plot::new("Processors that a broadcast reaches", "o = 0, g = 1: time in steps of g")
        .x("time t [steps]", Scale::Linear)
        .y("processors reached p(t)", Scale::Log)
        .lines(lines);
    let caption = "Lines are f_t; marks are how many processors had the datum by t in one run of the model.";
    sheet.add_plot("", caption, plot);
    Ok(())
}

/// Adds section 3.3's bounds of B(P), which is counted on the tree.
fn add_bounds(sheet: &mut Sheet) {
    let quote = "the broadcast time for P processors is at most L - 1 + log P";
    let what = "B(P) less L - 1 + log_c P, for o = 0, g = 1, L = 1 to 6 and P = 2 to 101 [steps]";
    let postal = || (1..=6).flat_map(|L| times_and_bounds([L, 0, 1], 101));
    let over = postal().map(|(B, bound)| B - (bound - 1.0));
    sheet
        .add_claim(what, "3.3", quote, at_most(1e-9), over)
        .by_count()
        .expect_difference(
            DifferenceCause::Misprint,
            "Times are whole steps, so the bound is L - 1 + log P rounded up.",
            "A time is a whole number of steps. So c^(t-L+1) <= f_t gives L - 1 + log_c P rounded up, which is less than a step more. \
             Theorem 3.3 allows a whole step more.",
        );
    // Rounding errors must not decide.
    let rounded_up = postal().map(|(B, bound)| B <= (bound - 1.0 - 1e-9).ceil());
    sheet.add_own_check(
        "section 3.3: B(P) is at most L - 1 + log_c P rounded up, for the same L and P",
        rounded_up,
    );

    let quote =
        "The time for optimal broadcast of a single item in the LogP model is at most L + 2o + g log P";
    let machines = "L = 0 to 11, o = 0 to 3, g = 1 to 8, P = 2 to 300";
    // Where a message takes no time, x^0 - x^(-1) = 1 has no root.
    let all = (0..12 * 4 * 8).map(|n| [n % 12, n / 12 % 4, 1 + n / 48]).filter(|[L, o, _]| L + o > 0);
    let most = |slow: bool| {
        let machines = all.clone().filter(|[_, o, g]| (g >= o) == slow);
        let parts = machines.flat_map(|times| times_and_bounds(times, 300).map(|(B, bound)| B / bound));
        [parts.fold(0.0, f64::max)]
    };
    let what =
        |which: &str| format!("theorem 3.3: the largest B(P) over its bound where {which}, {machines}");
    let rule = || at_most(1.0 + 1e-9).because("1e-9 is for rounding errors");
    sheet.add_claim(what("g >= o"), "theorem 3.3", quote, rule(), most(true)).by_count();
    sheet
        .add_claim(what("g < o"), "theorem 3.3", quote, rule(), most(false))
        .by_count()
        .expect_difference(
            DifferenceCause::Misprint,
            "The proof has sends g apart; by section 2 they are o apart where o is more than g.",
            "In the proof a processor sends every g (definition 3.3). But a processor is busy for o with each send (section 2). \
             So where o is more than g, its sends are o apart, and the broadcast takes longer.",
        );
}

/// Returns the root in (1, 2] of x^d - x^(d-1) - 1 = 0, found by halving: the left side grows there.
fn root(d: f64) -> f64 {
    let (mut low, mut high) = (1.0_f64, 2.0_f64);
    for _ in 0..60 {
        let x = (low + high) / 2.0;
        if x.powf(d) - x.powf(d - 1.0) < 1.0 { low = x } else { high = x }
    }
    high
}

/// Returns B(P) and theorem 3.3's bound, in cycles, for each P from 2 on.
fn times_and_bounds([L, o, g]: [i64; 3], most: usize) -> impl Iterator<Item = (f64, f64)> {
    let D = L + 2 * o;
    let labels = trees::universal(most, D * US, g.max(o) * US);
    let c = root((D as f64 / g as f64).ceil());
    let bound = move |P: usize| D as f64 + g as f64 * (P as f64).ln() / c.ln();
    (1..).zip(labels).skip(1).map(move |(P, (label, _))| (label.in_units(US), bound(P)))
}
