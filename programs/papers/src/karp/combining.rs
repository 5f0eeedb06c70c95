//! Section 5.2: broadcast with combining.

use std::collections::BTreeSet;

use loggp::US;

use super::super::{Agreement, Answer, Check, Exhibit, Finding, Lab, Runs, Seconds, Table};
use super::{CM5, cycles, f, last, list, machine, named};
use crate::pictures::curves::curves;
use loggp_draw::plot::{Line, Look, Plot, Scale};
use loggp_programs::Case;
use loggp_programs::broadcast::BROADCAST;
use loggp_programs::combining::COMBINING as PROGRAM;
use loggp_study::Failed;

/// The exhibit.
pub const COMBINING: Exhibit = Exhibit {
    id: "karp-combining",
    place: "section 5.2, theorem 5.1",
    title: "all-to-all broadcast with combining",
    says: &[
        "With o = 0, g = 1 and P = f_T: at j = 0, 1, .., T - L processor i sends its current value to i + f_(j+L-1). Then every \
         processor has the values of all P at T (theorem 5.1).",
        "By induction, processor i has those of the f_j processors from i - f_j + 1 to i at time j.",
        "No processor is the target of more than one message in a step.",
        "This takes no longer than an all-to-one reduction; a reduction and a broadcast after it are optimal to within a \
         factor of 2.",
    ],
    formulas: &[
        "T with o = 0, g = 1 and P = f_T (theorem 5.1)",
        "for any machine: (T - d)u + L + 2o with u = max(g, 2o), d = (L + 2o)/u rounded up and the least f_T >= P",
    ],
    commands: &[
        "loggp run combining -P 13 --params L=3,o=0,g=1",
        "loggp run combining -P 13 --params L=8,o=2,g=4",
        "loggp sweep combining --machine cm5 --over P=2..128:log:7",
    ],
    seconds: Seconds { quick: 1.0, full: 15.0 },
    make,
};

fn make(lab: &Lab) -> Result<Finding, Failed> {
    let (latencies, most) = (1..=6, lab.pick(200, 1500));
    let mut table = Table::new("theorem", "Theorem 5.1, with o = 0 and g = 1")
        .exact("L", "steps")
        .exact("T", "steps")
        .exact("P = f_T", "")
        .exact("combining in a run", "steps")
        .exact("reduction", "steps")
        .exact("reduction and broadcast", "steps");
    let mut checks = Vec::new();
    for L in latencies.clone() {
        let T = last(L, most);
        let f = f(L, T);
        let held = simulated(L, &f);
        checks.push(
            Check::same(
                format!("values that each processor has at time j = 0 to {T}, none of them twice, L = {L}"),
                &list(&f),
                held.map_or_else(|why| why, list),
            )
            .by(Answer::Count),
        );
        let (mut times, mut takes, mut reductions) = (Vec::new(), Vec::new(), Vec::new());
        for (T, reached) in f.iter().copied().enumerate().skip(L) {
            let params = machine(reached as usize, [L as i64, 0, 1]);
            let run = lab.model(Case::new(&PROGRAM, "optimal", params))?.outcome.run.time;
            // A reduction is a broadcast run backwards.
            let reduction = lab.model(Case::new(&BROADCAST, "optimal", params))?.outcome.run.time;
            times.push(T);
            takes.push(cycles(run));
            reductions.push(cycles(reduction));
            table.push(vec![
                L.into(),
                T.into(),
                (reached as f64).into(),
                run.in_units(US).into(),
                reduction.in_units(US).into(),
                (2 * reduction).in_units(US).into(),
            ]);
        }
        let what = |what: &str| format!("{what}, P = f_T of T = {L} to {T}, L = {L}");
        checks.push(Check::same(what("T, theorem 5.1"), &list(&times), list(&takes)));
        checks.push(Check::same(what("combining, as long as a reduction"), &list(&reductions), list(&takes)));
        lab.done(0.6 * L as f64 / *latencies.end() as f64);
    }
    let (plot, runs) = compared(lab)?;
    let agree = checks.iter().all(|check| check.agreement < Agreement::Differs);
    let verdict = format!(
        "{} Theorem 5.1 {} of runs and of the algorithm followed step by step. Where P is no f_T the program takes the \
         time of the next; where a reception would overlap a send, as on the CM-5, it ends up to 2o later.",
        if agree { "It agrees." } else { "It does not agree everywhere." },
        if agree { "is true" } else { "is not everywhere true" },
    );
    Ok(Finding::new(verdict)
        .table(runs.table())
        .table(table)
        .picture(
            "",
            "The time over P. A reduction and a broadcast take twice the formula. Lines are formulas, marks the model, and rings were \
             measured.",
            plot.svg(),
        )
        .checks(checks))
}

/// The algorithm as it is written, step by step: how many values all processors have at each time; or what is wrong.
fn simulated(L: usize, f: &[u64]) -> Result<Vec<usize>, String> {
    let T = f.len() - 1;
    let P = f[T] as usize;
    let mut values: Vec<BTreeSet<usize>> = (0..P).map(|i| BTreeSet::from([i])).collect();
    let (mut under_way, mut counts) = (Vec::new(), Vec::new());
    for j in 0..=T {
        if let Some(sent) = j.checked_sub(L) {
            let arriving: &Vec<BTreeSet<usize>> = &under_way[sent];
            let far = f[sent + L - 1] as usize;
            for i in 0..P {
                // Who gets it is i + far, so this comes from i - far; each is the target of one message.
                for value in &arriving[(i + P - far % P) % P] {
                    if !values[i].insert(*value) {
                        return Err(format!("processor {i} gets the value of {value} twice at {j}"));
                    }
                }
            }
        }
        under_way.push(if j + L <= T { values.clone() } else { Vec::new() });
        let count = values[0].len();
        let expected = |i: usize| (0..count).map(|back| (i + P - back) % P).collect::<BTreeSet<usize>>();
        if let Some(i) = (0..P).find(|i| values[*i] != expected(*i)) {
            return Err(format!("at {j} processor {i} has others than {count} up to {i}"));
        }
        counts.push(count);
    }
    Ok(counts)
}

/// The time over P on the paper's postal model, on a machine with L + 2o = 3g, and on the CM-5; and some runs.
fn compared(lab: &Lab) -> Result<(Plot, Runs), Failed> {
    let mut runs = Runs::new("runs", "Combining", &["machine", "P"], ("cycles", US));
    let mut plot = Plot::new("Combining for all", "in cycles")
        .x("processors P", Scale::Points)
        .y("time [cycles]", Scale::Linear);
    for (n, times) in [[8, 2, 4], CM5].into_iter().enumerate() {
        let (mut points, mut twice) = (Vec::new(), Vec::new());
        for P in [2, 4, 8, 13, 32, 64, 128] {
            let case = Case::new(&PROGRAM, "optimal", machine(P, times));
            let is_measured = [4, 13].contains(&P);
            let answers = if is_measured { lab.measured(case)? } else { lab.model(case)? };
            points.push((P as f64, answers.prediction));
            let reduction = lab.model(Case::new(&BROADCAST, "optimal", machine(P, times)))?;
            twice.push((P as f64, (2 * reduction.outcome.run.time).in_units(US)));
            if is_measured {
                runs.push(&[&named(times), &P.to_string()], None, &answers);
            }
        }
        let mut lines: Vec<Line> = curves("combining", 0, &points, |_, time| time.in_units(US)).collect();
        lines.push(Line::new("reduction and broadcast, model", 1, Look::Marks, twice));
        plot = plot.panel(named(times), lines);
        lab.done(0.6 + 0.2 * (n + 1) as f64);
    }
    Ok((plot, runs))
}
