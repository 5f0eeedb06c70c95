//! Section 3.3: how many processors a broadcast reaches in t steps, and how long it takes at most.

use loggp::{Time, US};

use super::super::{Agreement, Answer, Check, Exhibit, Finding, Lab, Seconds, Table};
use super::broadcast::information;
use super::{CM5, cycles, f, last, list, machine, named};
use loggp_draw::plot::{Line, Look, Plot, Scale};
use loggp_programs::Case;
use loggp_programs::broadcast::BROADCAST;
use loggp_programs::math::trees;
use loggp_study::Failed;

/// The exhibit.
pub const P_OF_T: Exhibit = Exhibit {
    id: "karp-p-of-t",
    place: "section 3.3, theorems 3.2 and 3.3",
    title: "how many processors a broadcast reaches in t steps",
    says: &[
        "With o = 0 and g = 1 a broadcast reaches p(t) = f_t processors in t steps (theorem 3.2), where f_i = 1 for i < L, \
         and f_i = f_(i-1) + f_(i-L) from there on (definition 3.6).",
        "1 + f_0 + .. + f_t = f_(t+L) (fact 3.1). The number of messages sent at time i is f_i (proof of theorem 3.2).",
        "There is a c, 1 < c <= 2, that depends only on L, with c^(t-L+1) <= f_t <= c^t; so a broadcast among P takes at \
         most L - 1 + log_c P.",
        "With any L, o and g it takes at most L + 2o + g log_c P, where c is the root in (1, 2] of x^d - x^(d-1) - 1 = 0, and d \
         is (L + 2o)/g, rounded up (theorem 3.3).",
    ],
    formulas: &[
        "p(t) = f_t (theorem 3.2)",
        "for any L, o and g: the sum over j of C(floor((t - j(L+2o)) / g) + j, j), which is f_t where L + 2o is a multiple of g",
        "B(P) <= L + 2o + g log_c P (theorem 3.3)",
    ],
    commands: &[
        "loggp run broadcast -P 13 --params L=3,o=0,g=1",
        "loggp run broadcast -P 14 --params L=3,o=0,g=1",
        "loggp sweep broadcast optimal --machine cm5 --over P=2..128:log:7",
    ],
    seconds: Seconds { quick: 1.0, full: 30.0 },
    make,
};

fn make(lab: &Lab) -> Result<Finding, Failed> {
    let (latencies, most) = (1..=lab.pick(6, 10), lab.pick(200, 2000));
    let mut table = Table::new("p-of-t", "Processors that a broadcast reaches by t, with o = 0 and g = 1")
        .exact("L", "steps")
        .exact("t", "steps")
        .exact("f_t", "")
        .exact("c^(t-L+1)", "")
        .exact("c^t", "")
        .exact("nodes of the tree", "")
        .exact("reached in a run", "")
        .exact("messages sent at t", "");
    let (mut checks, mut lines) = (Vec::new(), Vec::new());
    let (mut sums_hold, mut powers_hold) = (true, true);
    for L in latencies.clone() {
        let T = last(L, most);
        let f = f(L, T + L);
        let P = f[T] as usize;
        let by = |times: &[i64], t: usize| times.iter().filter(|time| **time <= t as i64).count() as u64;

        let D = L as i64 * US;
        let labels: Vec<i64> =
            trees::universal(P + 1, D, US).into_iter().map(|(label, _)| cycles(label)).collect();
        let counted: Vec<u64> = (0..=T).map(|t| by(&labels, t)).collect();

        let case = Case::new(&BROADCAST, "optimal", machine(P, [L as i64, 0, 1]));
        let (_, trace) = lab.traced(case)?;
        let mut informed: Vec<i64> = information(&trace).into_iter().map(cycles).collect();
        informed.push(0);
        let reached: Vec<u64> = (0..=T).map(|t| by(&informed, t)).collect();
        // Messages that arrive after T are sent in a longer broadcast only.
        let sent_at =
            |i: usize| trace.messages.iter().filter(|message| cycles(message.enter) == i as i64).count();
        let sent: Vec<u64> = (0..=T.saturating_sub(L)).map(|i| sent_at(i) as u64).collect();

        let paper = list(&f[..=T]);
        let what = |what: &str| format!("{what}, t = 0 to {T}, L = {L}");
        checks.push(
            Check::same(what("p(t) = f_t, theorem 3.2: nodes of the tree"), &paper, list(&counted))
                .by(Answer::Count),
        );
        checks.push(Check::same(what("p(t) = f_t, theorem 3.2: reached in a run"), &paper, list(&reached)));
        let of_proof = list(&f[..sent.len()]);
        let at = format!("f_i messages are sent at time i, i = 0 to {}, L = {L}", sent.len() - 1);
        checks.push(Check::same(at, &of_proof, list(&sent)));

        sums_hold &= (0..=T).all(|t| 1 + f[..=t].iter().sum::<u64>() == f[t + L]);
        let c = root(L as f64);
        let power = |i: i64| c.powf(i as f64);
        // What floats round must not decide.
        powers_hold &= (0..=T as i64).all(|t| {
            let f_t = f[t as usize] as f64 * (1.0 + 1e-9);
            power(t - L as i64 + 1) <= f_t && f_t <= power(t) * (1.0 + 1e-8)
        });
        for t in (0..=T).filter(|t| t % L == 0) {
            let sent = sent.get(t).map(|sent| *sent as f64);
            table.push(vec![
                L.into(),
                t.into(),
                (f[t] as f64).into(),
                power(t as i64 - L as i64 + 1).into(),
                power(t as i64).into(),
                (counted[t] as f64).into(),
                (reached[t] as f64).into(),
                sent.into(),
            ]);
        }
        if L <= 5 {
            let points =
                |counts: &[u64]| counts.iter().enumerate().map(|(t, n)| (t as f64, *n as f64)).collect();
            let line = |what: &str, look, points| Line::new(format!("L = {L} {what}"), L - 1, look, points);
            lines.push(line("f_t", Look::Line, points(&f[..=T])));
            lines.push(line("in a run", Look::Marks, points(&reached)));
        }
        lab.done(0.8 * L as f64 / *latencies.end() as f64);
    }
    let all = format!("L = 1 to {}, up to {most} processors", latencies.end());
    let yes = |holds: bool| if holds { "so it is" } else { "not for all" };
    checks.push(
        Check::claim(format!("fact 3.1, {all}"), "1 + f_0 + .. + f_t = f_(t+L)", yes(sums_hold), sums_hold)
            .by(Answer::Count),
    );
    checks.push(
        Check::claim(
            format!("bounds of f_t, {all}"),
            "c^(t-L+1) <= f_t <= c^t",
            yes(powers_hold),
            powers_hold,
        )
        .by(Answer::Count),
    );
    let (bounds, of_bounds) = bounds(lab)?;
    let steps = off_by_a_step();
    let ours = match steps.first() {
        None => "none is above it".to_string(),
        Some((L, P, B, bound)) => {
            format!("{} of 600 are above it: L = {L}, P = {P} takes {B}, not {bound:.2}", steps.len())
        }
    };
    checks.extend(of_bounds);
    checks.push(
        Check::claim("B(P) with o = 0 and g = 1, L = 1 to 6, P = 2 to 101", "at most L - 1 + log_c P", ours, steps.is_empty())
            .by(Answer::Count)
            .because(
                "a time is a whole number of steps: c^(t-L+1) <= f_t gives L - 1 + log_c P rounded up, and theorem 3.3 allows a \
                 step more",
            ),
    );

    let plot = Plot::new("Processors that a broadcast reaches", "o = 0, g = 1: time in steps of g")
        .x("time t [steps]", Scale::Linear)
        .y("processors p(t)", Scale::Log)
        .lines(lines);
    let bound_holds =
        checks.iter().all(|check| !check.what.ends_with("g >= o") || check.agreement < Agreement::Differs);
    let theorem = checks.iter().all(|check| !check.what.contains("3.2") || check.paper == check.ours);
    let verdict = format!(
        "Theorem 3.2 {} of the tree and of runs. Theorem 3.3 {}; the sentence before it leaves out that \
         steps are whole.",
        if theorem { "is what is counted" } else { "is not everywhere what is counted" },
        if bound_holds {
            "holds of all machines with g >= o, which it takes for granted"
        } else {
            "does not hold everywhere"
        },
    );
    Ok(Finding::new(verdict)
        .table(table)
        .table(bounds)
        .picture(
            "",
            "Lines are f_t; marks are how many processors had the datum by t in one run of the model.",
            plot.svg(),
        )
        .checks(checks))
}

/// The root in (1, 2] of x^d - x^(d-1) - 1 = 0, found by halving: the left side grows there.
fn root(d: f64) -> f64 {
    let (mut low, mut high) = (1.0_f64, 2.0_f64);
    for _ in 0..60 {
        let x = (low + high) / 2.0;
        if x.powf(d) - x.powf(d - 1.0) < 1.0 { low = x } else { high = x }
    }
    high
}

/// Theorem 3.3: the bound beside what the model takes; and the nearest that any machine comes to it.
fn bounds(lab: &Lab) -> Result<(Table, Vec<Check>), Failed> {
    let bound = |[L, o, g]: [i64; 3], P: usize| {
        let d = ((L + 2 * o) as f64 / g as f64).ceil();
        (L + 2 * o) as f64 + g as f64 * (P as f64).ln() / root(d).ln()
    };
    let mut table = Table::new("bound", "The bound of theorem 3.3")
        .text("machine")
        .exact("P", "")
        .exact("d", "")
        .exact("c", "")
        .exact("bound", "cycles")
        .exact("model", "cycles")
        .percent("model / bound - 1");
    for times @ [L, o, g] in [CM5, [5, 2, 4], [1, 1, 8], [9, 1, 4], [20, 2, 5], [0, 3, 2]] {
        for P in [2, 13, 100] {
            let answers = lab.model(Case::new(&BROADCAST, "optimal", machine(P, times)))?;
            let (bound, model) = (bound(times, P), answers.outcome.run.time.in_units(US));
            let d = ((L + 2 * o) as f64 / g as f64).ceil();
            table.push(vec![
                named(times).into(),
                P.into(),
                d.into(),
                root(d).into(),
                bound.into(),
                model.into(),
                (model / bound - 1.0).into(),
            ]);
        }
    }
    // The most that a broadcast takes of its bound, on which machine and among how many.
    let most = |machines: &mut dyn Iterator<Item = [i64; 3]>| {
        let (mut nearest, mut cases) = ((0.0, [0; 3], 0), 0);
        for times @ [L, o, g] in machines {
            let labels = trees::universal(300, (L + 2 * o) * US, g.max(o) * US);
            for (P, (label, _)) in (1..).zip(&labels).skip(1) {
                cases += 1;
                let part = label.in_units(US) / bound(times, P);
                if part > nearest.0 {
                    nearest = (part, times, P);
                }
            }
        }
        let (part, times, P) = nearest;
        (part, format!("{:.1}% of it at most, in {cases} cases: {}, P = {P}", 100.0 * part, named(times)))
    };
    // Where a message takes no time, x^0 - x^(-1) = 1 has no root.
    let machines = (0..12 * 4 * 8).map(|n| [n % 12, n / 12 % 4, 1 + n / 48]).filter(|[L, o, _]| L + o > 0);
    let (part, ours) = most(&mut machines.clone().filter(|[_, o, g]| g >= o));
    let (overlapping, theirs) = most(&mut machines.filter(|[_, o, g]| g < o));
    let says = "at most L + 2o + g log_c P";
    let what = "B(P), theorem 3.3, L = 0 to 11, o = 0 to 3, g = 1 to 8, P = 2 to 300";
    let checks = vec![
        Check::claim(format!("{what}, where g >= o"), says, ours, part <= 1.0 + 1e-9).by(Answer::Count),
        Check::claim(format!("{what}, where g < o"), says, theirs, overlapping <= 1.0 + 1e-9).by(Answer::Count).because(
            "the paper's trees send every g (definition 3.4), and where o is more than g a processor is still busy with one \
             send when the next should begin (section 2): they are o apart then",
        ),
    ];
    Ok((table, checks))
}

/// Where a postal broadcast takes longer than L - 1 + log_c P: L, P, what it takes, and that.
fn off_by_a_step() -> Vec<(i64, usize, i64, f64)> {
    let mut off = Vec::new();
    for L in 1..=6_i64 {
        let labels: Vec<Time> =
            trees::universal(101, L * US, US).into_iter().map(|(label, _)| label).collect();
        for (P, label) in (1..).zip(labels).skip(1) {
            let bound = L as f64 - 1.0 + (P as f64).ln() / root(L as f64).ln();
            if label.in_units(US) > bound + 1e-9 {
                off.push((L, P, cycles(label), bound));
            }
        }
    }
    off
}
