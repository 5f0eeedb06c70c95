//! Section 5.1: all-to-all broadcast.

use loggp::{Machine, Tag};
use loggp_programs::all_to_all_broadcast::ALL_TO_ALL_BROADCAST as PROGRAM;

use super::{CM5, machine_name};
use crate::prelude::*;

pub const ALL_TO_ALL: Exhibit = Exhibit {
    id: "karp-all-to-all",
    place: "section 5.1",
    title: "all-to-all broadcast",
    printed: 0,
    left_out: "",
    notes: "Each of P processors has k items for all others. Whether the lower bound is met depends on whether a processor has to receive \
            just when it has to send. The paper gives no example in numbers.",
    formulas: &["L + 2o + (P-2)g for one item, L + 2o + g(k(P-1) - 1) for k (section 5.1)"],
    unit: ("cycles", US),
    series,
    show,
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
        for result in &results.points {
            bound.push(result.model() >= result.formula());
            if !results.name.starts_with(&machine_name(CM5)) {
                met.push(result.model() == result.formula());
            }
        }
    }
    sheet.add_own_check("L + 2o + g(k(P-1) - 1) is a lower bound of all runs", bound);
    let what = "a run takes the lower bound where receptions fall between sends (machines chosen for that)";
    sheet.add_own_check(what, met);
    let what = "so does any collection of permutations in which no processor is the target of two messages at a time, P = 3 and 4";
    sheet.add_own_check(what, permutations()?);
    let quote = "We thus have a simple optimal algorithm for all-to-all broadcast.";
    let late = |result: &CaseResult| in_us(result.model() - result.formula());
    for k in ITEMS {
        let what = format!("CM-5, k = {k}, P = 4, 8, 16: what a run takes more than the bound [cycles]");
        let results = sheet.series(&series_name(CM5, k));
        let ours = [4.0, 8.0, 16.0].map(|P| late(results.at(P)));
        sheet.add_claim(what, "5.1", quote, exactly(0.0), ours).expect_difference(
            "2, 2, 2",
            "a processor is busy for o with a send or a reception (section 2): to meet the bound all would have to begin to send at \
             every multiple of g and to receive at L + o + every multiple, and here these fall together",
        );
    }
    let plot = Plot::new("All-to-all broadcast", format!("{}, in cycles", machine_name([4, 2, 4])))
        .x("processors P", Scale::Linear)
        .y("time [cycles]", Scale::Log)
        .lines(sheet.times(&[1, 3, 16].map(|k| series_name([4, 2, 4], k)).each_ref().map(String::as_str)));
    let caption = "The time over P, with k items of each processor. Lines are the formula, which is the bound, marks the model, and \
                   rings were measured.";
    sheet.add_plot("", caption, plot);
    Ok(())
}

/// Runs, for 3 and 4 processors, all collections of orders in which each processor sends to all others and no
/// two send to the same one at a time. Returns which runs take the lower bound.
fn permutations() -> Result<Vec<bool>, StudyError> {
    let mut checks = Vec::new();
    for P in [3, 4] {
        let times @ [L, o, g] = [4, 2, 4];
        let bound = L + 2 * o + (P as i64 - 2) * g;
        let mut collections = vec![Vec::new()];
        for id in 0..P {
            let orders = orders(&(0..P).filter(|to| *to != id).collect::<Vec<_>>());
            let clash = |one: &[Vec<usize>], order: &Vec<usize>| {
                one.iter().any(|other| other.iter().zip(order).any(|(to, at)| to == at))
            };
            let pairs = collections.iter().flat_map(|one| orders.iter().map(move |order| (one, order)));
            let fitting = pairs.filter(|(one, order)| !clash(one, order));
            collections = fitting.map(|(one, order)| one.iter().chain([order]).cloned().collect()).collect();
        }
        for collection in collections {
            let run = Machine::new(cycle_machine(P, times)).run(|p| {
                let order = &collection[p.id()];
                for (step, to) in order.iter().enumerate() {
                    // The first message has arrived when the second is sent.
                    if step >= 2 {
                        p.recv(ITEM);
                    }
                    p.send(*to, ITEM, 1);
                }
                for _ in 0..order.len().min(2) {
                    p.recv(ITEM);
                }
            })?;
            checks.push(run.time == bound * US);
        }
    }
    Ok(checks)
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
