//! Section 3.2: the optimal broadcast, and that nothing is faster.

use loggp::{Time, Trace, US};
use loggp_draw::plot::{Plot, Scale};
use loggp_draw::tree::{Node, Tree};
use loggp_programs::Case;
use loggp_programs::broadcast::BROADCAST as PROGRAM;
use loggp_programs::math::trees;
use loggp_study::Failed;

use super::search::Trees;
use super::{CM5, Tally, cycles, machine, named};
use crate::pictures::timeline::timeline;
use crate::{Exhibit, Lab, Series, Sheet};

/// The exhibit.
pub const BROADCAST: Exhibit = Exhibit {
    id: "karp-broadcast",
    place: "section 3.2, theorems 3.1 and 3.4",
    title: "optimal broadcast of one datum",
    says: &[
        "In the universal tree a node with label t has children with the labels t + ig + L + 2o, for i = 0, 1, 2 .. (definition \
         3.4). B(P) has the P nodes with the smallest labels (definition 3.5). The paper gives no example in numbers.",
    ],
    formulas: &[
        "B(P) is the least t with p(t) >= P (definition 3.2); p(t) is counted on the tree of definition 3.4",
    ],
    unit: ("cycles", US),
    series,
    show,
};

/// L, o and g: the CM-5, the postal model with three latencies, and machines on which L + 2o is no multiple of g, or
/// less than it.
const MACHINES: [[i64; 3]; 7] = [CM5, [1, 0, 1], [2, 0, 1], [5, 0, 1], [5, 2, 3], [9, 1, 4], [1, 1, 8]];

fn series(lab: &Lab) -> Vec<Series> {
    let most = lab.pick(40, 120);
    let optimal = MACHINES
        .map(|times| Series::over(named(times), "P", 2..=most, |P| case(P, "optimal", times)).traced());
    // Few points are enough to see that the wall clock keeps up.
    let trees = PROGRAM.algorithms.iter().map(|one| {
        let series = Series::over(one.name, "P", [2, 4, 8, 16, 32, 64, 128], |P| case(P, one.name, CM5));
        series.measured_if(|P| P == 8.0 || P == 32.0)
    });
    optimal.into_iter().chain(trees).collect()
}

fn show(sheet: &mut Sheet) -> Result<(), Failed> {
    let [mut fastest, mut runs, mut least, mut sums] = [Tally::default(); 4];
    for times @ [L, o, g] in MACHINES {
        let ran = sheet.of(&named(times));
        let best = Trees::up_to(ran.points.len() + 1, L + 2 * o, g);
        for told in &ran.points {
            let P = told.x as usize;
            let labels = trees::universal(P, (L + 2 * o) * US, g * US);
            let of_tree: i64 = labels.into_iter().map(|(label, _)| cycles(label)).sum();
            let of_run: i64 = information(told.trace()).into_iter().map(cycles).sum();
            fastest.see(cycles(told.formula()) == best.time[P - 1]);
            runs.see(told.model() == told.formula());
            least.see(of_tree == best.sum[P - 1]);
            sums.see(of_run == of_tree);
        }
    }
    for (what, Tally { right, all }) in [
        ("theorem 3.1: of all trees, searched, the fastest takes B(P)", fastest),
        ("a run takes B(P)", runs),
        ("theorem 3.4: of all trees, searched, the least sum of information times is that of B(P)", least),
        ("a run has that sum", sums),
    ] {
        sheet.own(format!("{what}, P = 2 to {}, {} machines", all / 7 + 1, MACHINES.len()), right, all);
    }
    let names: Vec<&str> = PROGRAM.algorithms.iter().map(|one| one.name).collect();
    let plot = Plot::new("Broadcast of a word", format!("{}, in cycles", named(CM5)))
        .x("processors P", Scale::Points)
        .y("time [cycles]", Scale::Log)
        .lines(sheet.times(&names));
    let caption = "The time of four trees over P on the CM-5. Lines are formulas, marks the model, and rings were measured.";
    sheet.plot("", caption, plot);
    let caption = "B(8) on the CM-5: in each node its label, which is when its processor has the datum.";
    sheet.picture("tree", caption, tree(8, CM5));
    let trace = sheet.of(&named(CM5)).at(8.0).trace();
    let picture = timeline(trace, "Optimal broadcast: P = 8, L = 6, o = 2, g = 4", ("cycles", US));
    let caption = "The optimal broadcast among 8 processors. The labels of the tree are the times at which receptions end.";
    sheet.picture("timeline", caption, picture.expect("it is small"));
    Ok(())
}

/// B(P), with the labels of its nodes.
fn tree(P: usize, times @ [L, o, g]: [i64; 3]) -> String {
    let nodes = trees::universal(P, (L + 2 * o) * US, g * US).into_iter().enumerate();
    let node = |(id, (label, parent)): (usize, (Time, usize))| Node {
        parent: (id > 0).then_some(parent),
        label: cycles(label).to_string(),
        note: String::new(),
    };
    let tree = Tree { title: format!("B({P})"), subtitle: named(times), nodes: nodes.map(node).collect() };
    tree.svg().expect("it is small")
}

/// A broadcast of a word.
fn case(P: usize, algorithm: &str, times: [i64; 3]) -> Case {
    Case::new(&PROGRAM, algorithm, machine(P, times))
}

/// When each processor but the source has the datum: its message has come, and it has spent o on it.
pub fn information(trace: &Trace) -> Vec<Time> {
    trace.messages.iter().map(|message| message.arrival + trace.params.o).collect()
}
