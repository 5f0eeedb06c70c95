//! Section 5.2: broadcast with combining.

use std::collections::BTreeSet;

use loggp::{Machine, collectives};
use loggp_programs::combining::COMBINING as PROGRAM;

use super::{CM5, f, last_step, machine_name};
use crate::prelude::*;

pub(super) const COMBINING: Exhibit = Exhibit {
    id: "karp-combining",
    place: "section 5.2, theorem 5.1",
    title: "all-to-all broadcast with combining",
    notes: "With o = 0, g = 1 and P = f_T: at j = 0, 1, .., T - L processor i sends its current value to i + f_(j+L-1). The reduction to \
            one processor and the broadcast from it are those of the library (docs/reference/collectives.md), and combining takes no time.",
    formulas: &[
        "T with o = 0, g = 1 and P = f_T (theorem 5.1)",
        "for any machine: (T - d)u + L + 2o with u = max(g, 2o), d = (L + 2o)/u rounded up and the least f_T >= P",
    ],
    unit: ("cycles", US),
    series,
    show,
    ..Exhibit::USUAL
};

/// Machines of the picture: one with L + 2o = 3g, and the CM-5.
const MACHINES: [[i64; 3]; 2] = [[8, 2, 4], CM5];

/// Returns each L with the largest T of the theorem's machines.
fn theorem_machines(lab: &Lab) -> impl Iterator<Item = (usize, usize)> {
    let most = lab.pick(200, 1500);
    (1..=6).map(move |L| (L, last_step(L, most)))
}

fn series(lab: &Lab) -> Vec<CaseSeries> {
    let mut series = Vec::new();
    for (L, T) in theorem_machines(lab) {
        let case =
            |T: usize| Case::new(&PROGRAM, "optimal", cycle_machine(f(L, T)[T] as usize, [L as i64, 0, 1]));
        series.push(CaseSeries::from_values(format!("L = {L}"), "T", L..=T, case));
    }
    for times in MACHINES {
        let case = |P| Case::new(&PROGRAM, "optimal", cycle_machine(P, times));
        let all = CaseSeries::from_values(machine_name(times), "P", [2, 4, 8, 13, 32, 64, 128], case);
        series.push(all.measured_if(|P| P == 4.0 || P == 13.0));
    }
    series
}

/// Runs a reduction of all processors' values to processor 0, and returns its time in cycles; with
/// `broadcasts`, that of a broadcast of the result after it too. The time of a wrong result is NaN, which no
/// rule accepts.
fn run_reduction(params: Params, broadcasts: bool) -> Result<Ran<f64>, StudyError> {
    let run = Machine::new(params).rate("combine", Time::ZERO).run(|p| {
        let sum = collectives::reduce(p, 0, p.id(), |a, b| a + b);
        if broadcasts { Some(collectives::broadcast(p, 0, sum)) } else { sum }
    })?;
    let P = params.P;
    Ok(run.ran(|run| {
        let informed = run.results.iter().filter(|result| **result == Some(P * (P - 1) / 2)).count();
        if informed == if broadcasts { P } else { 1 } { in_us(run.time) } else { f64::NAN }
    }))
}

fn show(sheet: &mut Sheet) -> Result<(), StudyError> {
    let [mut runs, mut reversed] = [const { Vec::new() }; 2];
    let (mut simulated, mut over_reduction, mut both_over) = (Vec::new(), Vec::new(), Vec::new());
    for (L, T) in theorem_machines(sheet.lab) {
        let f = f(L, T);
        simulated.push(simulate(L, &f).is_some_and(|counts| counts == f));
        for result in &sheet.series(&format!("L = {L}")).points {
            let params = cycle_machine(f[result.x as usize] as usize, [L as i64, 0, 1]);
            let (reduction, both) = (run_reduction(params, false)?, run_reduction(params, true)?);
            let combining = result.ran(|result| in_us(result.model()));
            runs.push(combining.map(|time| time == result.x));
            reversed.push(reduction.map(|time| time == result.x));
            over_reduction.push(combining / reduction);
            both_over.push(both / combining);
        }
    }
    let what = "theorem 5.1: followed step by step, at j a processor has f_j values, none twice, and gets one message at most, L = 1 to 6";
    sheet.add_own_check(what, simulated);
    sheet.add_own_check("theorem 5.1: a run ends at T, for each T and L", runs);
    let what = "section 5.2: a reduction takes as long as an optimal broadcast, T, for each T and L";
    sheet.add_own_check(what, reversed);
    let quote = "all-to-all broadcast with combining takes no longer than all-to-one reduction";
    let what = "the time of combining over that of a reduction, for each T and L";
    sheet.add_claim(what, "5.2", quote, at_most(1.0), over_reduction);
    let quote = "solved by a reduction followed by broadcast, which is optimal to within a factor of 2";
    let what = "the time of a reduction and a broadcast after it over that of combining, for each T and L";
    sheet.add_claim(what, "5.2", quote, at_most(2.0), both_over);

    let quote = "all-to-all broadcast with combining takes no longer than all-to-one reduction";
    let machine = |P: f64| cycle_machine(P as usize, CM5);
    let on_cm5 = sheet.series(&machine_name(CM5)).points.iter();
    let over = on_cm5.map(|result| {
        Ok(result.ran(|result| in_us(result.model())) / run_reduction(machine(result.x), false)?)
    });
    let over = over.collect::<Result<Vec<_>, StudyError>>()?;
    let what = "the time of combining over that of a reduction on the CM-5, P = 2, 4, 8, 13, 32, 64, 128";
    sheet
        .add_claim(what, "5.2", quote, at_most(1.0), over)
        .expect_difference(
            DifferenceCause::Reading,
            "The paper shows it for o = 0 and P = f_T; on the CM-5 receptions fall on sends.",
            "The paper shows it for o = 0, where a processor sends and receives at the same time, and for P = f_T. On the CM-5 all \
             processors send every g, and L + o is a multiple of g. So receptions fall on sends, and a processor is busy for o with either.",
        );

    let mut plot = Plot::new("Combining for all", "in cycles")
        .x("processors P", Scale::Points)
        .y("time [cycles]", Scale::Linear);
    for times in MACHINES {
        let name = machine_name(times);
        let at = |result: &CaseResult| {
            let time = run_reduction(cycle_machine(result.x as usize, times), true)?;
            Ok((result.x, time.value()))
        };
        let both = sheet.series(&name).points.iter().map(at).collect::<Result<_, StudyError>>()?;
        let both = PlotLine::new("reduction and broadcast, model", 1, Look::Marks, both);
        let mut lines = sheet.times(&[&name]);
        lines.iter_mut().for_each(|line| line.label = line.label.replace(&name, "combining"));
        plot = plot.panel(name, lines.into_iter().chain([both]));
    }
    let caption = "The time over P of combining, and of a reduction with a broadcast after it. Lines are formulas, marks the model, and rings \
                   were measured. On the CM-5 receptions fall on sends, so that a run takes up to 2o more than the formula.";
    sheet.add_plot("", caption, plot);
    Ok(())
}

/// Runs the algorithm as it is written, step by step. Returns the number of values that all processors have
/// at each time, or `None` if one has a value that is not among those up to its own, or one of them twice.
fn simulate(L: usize, f: &[u64]) -> Option<Vec<u64>> {
    let T = f.len() - 1;
    let P = f[T] as usize;
    let mut values: Vec<BTreeSet<usize>> = (0..P).map(|i| BTreeSet::from([i])).collect();
    let (mut under_way, mut counts) = (Vec::new(), Vec::new());
    for j in 0..=T {
        if let Some(sent) = j.checked_sub(L) {
            let arriving: &Vec<BTreeSet<usize>> = &under_way[sent];
            let far = f[sent + L - 1] as usize;
            for i in 0..P {
                // Processor i sends to i + far, so this comes from i - far; each is the target of one
                // message.
                for value in &arriving[(i + P - far % P) % P] {
                    if !values[i].insert(*value) {
                        return None;
                    }
                }
            }
        }
        under_way.push(if j + L <= T { values.clone() } else { Vec::new() });
        let count = values[0].len();
        let expected = |i: usize| (0..count).map(|back| (i + P - back) % P).collect::<BTreeSet<usize>>();
        if (0..P).any(|i| values[i] != expected(i)) {
            return None;
        }
        counts.push(count as u64);
    }
    Some(counts)
}
