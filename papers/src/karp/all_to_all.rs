//! Section 5.1: all-to-all broadcast.

use loggp::{Machine, Tag};
use loggp_programs::all_to_all_broadcast::ALL_TO_ALL_BROADCAST as PROGRAM;

use super::{CM5, machine_name};
use crate::prelude::*;

pub(super) const ALL_TO_ALL: Exhibit = Exhibit {
    id: "karp-all-to-all",
    place: "section 5.1",
    title: "all-to-all broadcast",
    notes: "Each of P processors has k items for all others. Whether the lower bound is met depends on whether a processor has to receive \
            just when it has to send. The paper gives no example in numbers.",
    formulas: &["L + 2o + (P-2)g for one item, L + 2o + g(k(P-1) - 1) for k (section 5.1)"],
    unit: ("cycles", US),
    series,
    show,
    ..Exhibit::USUAL
};

/// L, o and g of machines on which no reception begins during a send, chosen for that.
const ROOMY: [[i64; 3]; 4] = [[3, 0, 1], [4, 2, 4], [5, 1, 4], [9, 3, 8]];
/// Items of each processor.
const ITEMS: [usize; 2] = [1, 3];

const ITEM: Tag<u64> = Tag::named(0, "item");

/// Returns the name of a machine's series with k items per processor.
fn series_name(times: [i64; 3], k: usize) -> String {
    format!("{}, k = {k}", machine_name(times))
}

fn case(P: usize, times: [i64; 3], k: usize) -> Case {
    Case { size: k, ..Case::new(&PROGRAM, "optimal", cycle_machine(P, times)) }
}

fn series(lab: &Lab) -> Vec<CaseSeries> {
    let most = lab.pick(16, 40);
    let all = ROOMY.into_iter().chain([CM5]).flat_map(|times| ITEMS.map(|k| (times, k)));
    let series = all.chain([([4, 2, 4], 16)]).map(|(times, k)| {
        let series = CaseSeries::from_values(series_name(times, k), "P", 2..=most, |P| case(P, times, k));
        series.measured_if(|P| P == 16.0 && (times == CM5 || times == [4, 2, 4]))
    });
    series.collect()
}

fn show(sheet: &mut Sheet) -> Result<(), StudyError> {
    let (mut bound, mut met) = (Vec::new(), Vec::new());
    for results in &sheet.results {
        bound.extend(results.map_runs(|result| result.model() >= result.formula()));
        if !results.name.starts_with(&machine_name(CM5)) {
            met.extend(results.formula_checks());
        }
    }
    let what = "section 5.1: no run takes less than the lower bound, L + 2o + g(k(P-1) - 1)";
    sheet.add_own_check(what, bound);
    let what = "section 5.1: a run takes the lower bound where no reception falls on a send (machines chosen for that)";
    sheet.add_own_check(what, met);
    let largest = sheet.lab.pick(1, 2);
    let what = format!(
        "section 5.1: any permutations of the multiset of k copies, in which no processor is the target of two messages \
         at a time, take it too (P = 3, k = 1 to 3; P = 4, k = {})",
        if largest == 1 { "1" } else { "1 and 2" }
    );
    let cases = (1..=3).map(|k| (3, k)).chain((1..=largest).map(|k| (4, k)));
    let runs = cases.map(|(P, k)| run_permutations(P, k)).collect::<Result<Vec<_>, _>>()?;
    sheet.add_own_check(what, runs.concat());
    let quote = "We thus have a simple optimal algorithm for all-to-all broadcast.";
    let late = |result: &CaseResult| result.ran(|result| in_us(result.model() - result.formula()));
    let ours = ITEMS.map(|k| [4.0, 8.0, 16.0].map(|P| late(sheet.series(&series_name(CM5, k)).at(P))));
    let what = "on the CM-5, what a run takes more than the bound, for P = 4, 8, 16 with k = 1 and then with k = 3 [cycles]";
    sheet
        .add_claim(what, "5.1", quote, exactly(0.0), ours.concat())
        .expect_difference(
            DifferenceCause::Misprint,
            "Where sends and receptions fall together, a processor is busy for o with each (section 2).",
            "To meet the bound, each processor must receive at L + o and every g from then on, and so all must send at every multiple \
             of g. On the CM-5, L + o is a multiple of g. So these fall together, and a processor is busy for o with either (section 2).",
        );
    let plot = Plot::new("All-to-all broadcast", format!("{}, in cycles", machine_name([4, 2, 4])))
        .x("processors P", Scale::Linear)
        .y("time [cycles]", Scale::Log)
        .lines(sheet.times(&[1, 3, 16].map(|k| series_name([4, 2, 4], k)).each_ref().map(String::as_str)));
    let caption = "The time over P, with k items of each processor. Lines are the formula, which is the bound, marks the model, and \
                   rings were measured.";
    sheet.add_plot("", caption, plot);
    Ok(())
}

/// Runs all-to-all broadcasts of k items, in which each processor sends k times to each other, in all orders
/// that never let two send to the same one at a time. Returns which runs take the lower bound.
fn run_permutations(P: usize, k: usize) -> Result<Vec<Ran<bool>>, StudyError> {
    let times @ [L, o, g] = [4, 2, 4];
    let steps = k * (P - 1);
    let bound = L + 2 * o + (steps as i64 - 1) * g;
    let mut checks = Vec::new();
    for collection in collections(P, k) {
        let run = Machine::new(cycle_machine(P, times)).run(|p| {
            let mut items = vec![0; P];
            for (step, targets) in collection.iter().enumerate() {
                // The first message has arrived when the third is sent.
                if step >= 2 {
                    items[p.recv_with_sender(ITEM).0] += 1;
                }
                p.send(targets[p.id()], ITEM, 1);
            }
            for _ in 0..steps.min(2) {
                items[p.recv_with_sender(ITEM).0] += 1;
            }
            items
        })?;
        let has_all = |(id, items): (usize, &Vec<usize>)| (0..P).all(|from| from == id || items[from] == k);
        checks.push(run.ran(|run| run.time == bound * US && run.results.iter().enumerate().all(has_all)));
    }
    Ok(checks)
}

/// Returns all ways for P processors to send k times to each other in as few steps as they can: the target of
/// each processor in each step, all of them different.
fn collections(P: usize, k: usize) -> Vec<Vec<Vec<usize>>> {
    let all: Vec<usize> = (0..P).collect();
    let is_elsewhere = |targets: &Vec<usize>| targets.iter().enumerate().all(|(id, to)| id != *to);
    let steps: Vec<Vec<usize>> = orders(&all).into_iter().filter(is_elsewhere).collect();
    let mut collections = vec![Vec::new()];
    for _ in 0..k * (P - 1) {
        let sent =
            |one: &[Vec<usize>], id: usize, to: usize| one.iter().filter(|step| step[id] == to).count();
        let pairs = collections.iter().flat_map(|one| steps.iter().map(move |step| (one, step)));
        let fitting = pairs.filter(|(one, step)| (0..P).all(|id| sent(one, id, step[id]) < k));
        collections = fitting.map(|(one, step)| one.iter().chain([step]).cloned().collect()).collect();
    }
    collections
}

/// Returns all orders of the elements.
fn orders(elements: &[usize]) -> Vec<Vec<usize>> {
    if elements.is_empty() {
        return vec![Vec::new()];
    }
    let first = |n: usize| {
        let rest: Vec<usize> = elements.iter().copied().filter(|other| *other != elements[n]).collect();
        orders(&rest).into_iter().map(move |order| [vec![elements[n]], order].concat()).collect::<Vec<_>>()
    };
    (0..elements.len()).flat_map(first).collect()
}
