//! Section 3.2: the optimal broadcast, and searches that find no faster one.

use loggp_draw::tree::{TreeNode, TreePicture};
use loggp_programs::broadcast::BROADCAST as PROGRAM;
use loggp_programs::math::trees;

use super::search::{BestTrees, ScheduleSearch};
use super::{CM5, cycles, machine_name};
use crate::prelude::*;

pub(super) const BROADCAST: Exhibit = Exhibit {
    id: "karp-broadcast",
    place: "section 3.2, lemmas 3.1 and 3.2, theorems 3.1 and 3.4",
    title: "optimal broadcast of one datum",
    notes: "In the universal tree a node with label t has children with the labels t + ig + L + 2o, for i = 0, 1, 2 .. (definition \
            3.4). B(P) has the P nodes with the smallest labels (definition 3.5). The paper gives no example in numbers.\n\
            Two searches know no optimal tree. One tries all that can be done in each cycle, for few processors: idling and needless \
            messages too. The other tries all trees without idle times, for many.",
    formulas: &[
        "B(P) is the least t with p(t) >= P (definition 3.2); p(t) is counted on the tree of definition 3.4",
    ],
    unit: ("cycles", US),
    series,
    show,
    ..Exhibit::USUAL
};

/// L, o and g: the CM-5, the postal model with three latencies, and machines on which L + 2o is no multiple
/// of g, or less than it.
const MACHINES: [[i64; 3]; 7] = [CM5, [1, 0, 1], [2, 0, 1], [5, 0, 1], [5, 2, 3], [9, 1, 4], [1, 1, 8]];

/// Machines on which all schedules are searched.
const SEARCHED: [[i64; 3]; 4] = [[1, 0, 1], [2, 0, 1], [1, 1, 2], [0, 1, 4]];

fn series(lab: &Lab) -> Vec<CaseSeries> {
    let most = lab.pick(40, 120);
    let optimal = MACHINES.map(|times| {
        CaseSeries::from_values(machine_name(times), "P", 2..=most, |P| case(P, "optimal", times)).traced()
    });
    // Few points are enough to see that the wall clock keeps up.
    let trees = PROGRAM.algorithms.iter().map(|one| {
        let series =
            CaseSeries::from_values(one.name, "P", [2, 4, 8, 16, 32, 64, 128], |P| case(P, one.name, CM5));
        series.measured_if(|P| P == 8.0 || P == 32.0)
    });
    optimal.into_iter().chain(trees).collect()
}

fn show(sheet: &mut Sheet) -> Result<(), StudyError> {
    add_search_of_all_schedules(sheet);
    let [mut runs, mut sums, mut subtrees] = [const { Vec::new() }; 3];
    let [mut fastest, mut least] = [const { Vec::new() }; 2];
    for times @ [L, o, g] in MACHINES {
        let results = sheet.series(&machine_name(times));
        let best = BestTrees::up_to(results.points.len() + 1, L + 2 * o, g);
        runs.extend(results.formula_checks());
        for result in &results.points {
            let P = result.x as usize;
            let labels = trees::universal(P, (L + 2 * o) * US, g * US);
            let of_tree: i64 = labels.into_iter().map(|(label, _)| cycles(label)).sum();
            fastest.push(cycles(result.formula()) == best.time[P - 1]);
            least.push(of_tree == best.sum[P - 1]);
            let of_run = |trace: &Trace| information_times(trace).into_iter().map(cycles).sum::<i64>();
            sums.push(result.trace().ran(|trace| of_run(trace) == of_tree));
            subtrees.push(result.trace().ran(|trace| is_subtree(trace, times)));
        }
    }
    let sizes = format!("P = 2 to {}, {} machines", sheet.results[0].points.len() + 1, MACHINES.len());
    let what = "lemma 3.2: in a run the i-th child of a processor has the datum ig + L + 2o after it, i = 0, 1, 2 ..";
    sheet.add_own_check(format!("{what}, {sizes}"), subtrees);
    let what = "theorem 3.1: of all trees without idle times the fastest takes B(P)";
    sheet.add_own_check(format!("{what}, {sizes}"), fastest);
    sheet.add_own_check(format!("theorem 3.1: a run takes B(P), {sizes}"), runs);
    let what =
        "theorem 3.4: of all trees without idle times, the least sum of information times is that of B(P)";
    sheet.add_own_check(format!("{what}, {sizes}"), least);
    sheet.add_own_check(format!("theorem 3.4: a run has that sum, {sizes}"), sums);
    let names: Vec<&str> = PROGRAM.algorithms.iter().map(|one| one.name).collect();
    let plot = Plot::new("Broadcast of a word", format!("{}, in cycles", machine_name(CM5)))
        .x("processors P", Scale::Points)
        .y("time [cycles]", Scale::Log)
        .lines(sheet.times(&names));
    let caption = "The time of four trees over P on the CM-5. Lines are formulas, marks the model, and rings were measured.";
    sheet.add_plot("", caption, plot);
    let caption = "B(8) on the CM-5: in each node its label, which is when its processor has the datum.";
    sheet.add_picture("tree", caption, tree_picture(8, CM5));
    let result = sheet.series(&machine_name(CM5)).at(8.0).clone();
    let caption = "The optimal broadcast among 8 processors. The labels of the tree are the times at which receptions end.";
    sheet.add_timeline("timeline", caption, "Optimal broadcast: P = 8, L = 6, o = 2, g = 4", &result);
    Ok(())
}

/// Adds what a search of all schedules finds, beside the trees without idle times.
fn add_search_of_all_schedules(sheet: &mut Sheet) {
    let (mut time, mut sum) = (Vec::new(), Vec::new());
    let most = sheet.lab.pick(4, 5);
    for times @ [L, o, g] in SEARCHED {
        let (all, trees) = (ScheduleSearch::new(times), BestTrees::up_to(most, L + 2 * o, g));
        time.extend((2..=most).map(|P| all.broadcast_time(P) == trees.time[P - 1]));
        sum.extend((2..=most).map(|P| all.broadcast_sum(P) == trees.sum[P - 1]));
    }
    let sizes = format!("P = 2 to {most}, {} machines", SEARCHED.len());
    let what = "lemma 3.1: of all schedules, with idle times and second receptions, none is faster than the best without";
    sheet.add_own_check(format!("{what}, {sizes}"), time);
    let what = "theorem 3.4: of all these schedules none has a smaller sum of information times than the best without";
    sheet.add_own_check(format!("{what}, {sizes}"), sum);
}

/// Returns whether the tree of a run is a part of the universal one, with the information times as labels.
fn is_subtree(trace: &Trace, [L, o, g]: [i64; 3]) -> bool {
    let label = |id: usize| {
        let received = trace.messages.iter().find(|message| message.to == id);
        received.map_or(0, |message| cycles(message.arrival + trace.params.o))
    };
    (0..trace.params.P).all(|id| {
        let children = trace.messages.iter().filter(|message| message.id.from == id);
        let mut labels: Vec<i64> = children.map(|message| label(message.to)).collect();
        labels.sort_unstable();
        (0..).zip(labels).all(|(i, child)| child == label(id) + i * g + L + 2 * o)
    })
}

/// Draws B(P) with the labels of its nodes.
fn tree_picture(P: usize, times @ [L, o, g]: [i64; 3]) -> String {
    let nodes = trees::universal(P, (L + 2 * o) * US, g * US).into_iter().enumerate();
    let node = |(id, (label, parent)): (usize, (Time, usize))| TreeNode {
        parent: (id > 0).then_some(parent),
        label: cycles(label).to_string(),
        note: String::new(),
    };
    let tree = TreePicture {
        title: format!("B({P})"),
        subtitle: machine_name(times),
        nodes: nodes.map(node).collect(),
    };
    tree.svg().expect("it is small")
}

fn case(P: usize, algorithm: &str, times: [i64; 3]) -> Case {
    Case::new(&PROGRAM, algorithm, cycle_machine(P, times))
}

/// Returns when each processor but the source has the datum: o after its message arrives.
pub(super) fn information_times(trace: &Trace) -> Vec<Time> {
    trace.messages.iter().map(|message| message.arrival + trace.params.o).collect()
}
