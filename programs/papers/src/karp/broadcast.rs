//! Section 3.2: the optimal broadcast, and that nothing is faster.

use loggp::{Time, Trace, US};

use super::super::{Answer, Check, Exhibit, Finding, Lab, Runs, Seconds, Table};
use super::search::Trees;
use super::{CM5, cycles, list, machine, named};
use crate::pictures::curves::curves;
use crate::pictures::timeline::timeline;
use loggp_draw::plot::{Plot, Scale};
use loggp_draw::tree::{Node, Tree};
use loggp_programs::Case;
use loggp_programs::broadcast::BROADCAST as PROGRAM;
use loggp_programs::math::trees;
use loggp_study::Failed;

/// The exhibit.
pub const BROADCAST: Exhibit = Exhibit {
    id: "karp-broadcast",
    place: "section 3.2, theorems 3.1 and 3.4",
    title: "optimal broadcast of one datum",
    says: &[
        "A processor that has the datum sends it on, as early and as often as it can. In the universal tree a node with \
         label t has children with the labels t + ig + L + 2o, for i = 0, 1, 2 .. (definition 3.4).",
        "B(P), the tree of the P nodes with the smallest labels, is optimal (theorem 3.1).",
        "It also has the least sum of all information times (theorem 3.4).",
        "The paper gives no example in numbers.",
    ],
    formulas: &[
        "B(P) is the least t with p(t) >= P (definition 3.2); p(t) is counted on the tree of definition 3.4",
    ],
    commands: &[
        "loggp run broadcast -P 8 --params L=6,o=2,g=4 --timeline broadcast.svg",
        "loggp compare broadcast --machine cm5 -P 32",
    ],
    seconds: Seconds { quick: 1.0, full: 20.0 },
    make,
};

/// L, o and g: the CM-5, the postal model with three latencies, and machines on which L + 2o is no multiple of g, or
/// less than it.
const MACHINES: [[i64; 3]; 7] = [CM5, [1, 0, 1], [2, 0, 1], [5, 0, 1], [5, 2, 3], [9, 1, 4], [1, 1, 8]];

fn make(lab: &Lab) -> Result<Finding, Failed> {
    let most = lab.pick(40, 120);
    let mut table = Table::new("trees", format!("The best of all trees, for P = 1 to {most}"))
        .text("machine")
        .exact("P", "")
        .exact("formula", "cycles")
        .exact("model", "cycles")
        .exact("least of all trees", "cycles")
        .exact("sum of information times", "cycles")
        .exact("least sum of all trees", "cycles");
    let mut checks = Vec::new();
    for (n, times) in MACHINES.into_iter().enumerate() {
        let [L, o, g] = times;
        let best = Trees::up_to(most, L + 2 * o, g);
        let (mut formulas, mut models, mut sums) = (vec![0], vec![0], vec![0]);
        for P in 2..=most {
            let (answers, trace) = lab.traced(case(P, "optimal", times))?;
            let formula = answers.prediction.formula.expect("it has a formula");
            formulas.push(cycles(formula));
            models.push(cycles(answers.outcome.run.time));
            sums.push(information(&trace).into_iter().map(cycles).sum::<i64>());
        }
        for P in [8, 13, most] {
            let at = |values: &[i64]| (values[P - 1] as f64).into();
            table.push(vec![
                named(times).into(),
                P.into(),
                at(&formulas),
                at(&models),
                at(&best.time),
                at(&sums),
                at(&best.sum),
            ]);
        }
        // A list as long as people read; the rest is compared too.
        let check = |what: &str, paper: &[i64], ours: &[i64], by: Answer| {
            let what = format!("{what}, P = 1 to {most}, {}", named(times));
            let off = (0..most).find(|i| paper[*i] != ours[*i]);
            let shown = off.map_or(0, |off| off.saturating_sub(6));
            let part = |values: &[i64]| list(values[shown..].iter().take(14)) + " ..";
            Check::same(what, &part(paper), part(ours)).by(by)
        };
        checks.push(check("B(P), theorem 3.1: no tree is faster", &formulas, &best.time, Answer::Count));
        checks.push(check("B(P), theorem 3.1: a run takes it", &formulas, &models, Answer::Model));
        let of_tree: Vec<i64> = (1..=most).map(|P| label_sum(P, L + 2 * o, g)).collect();
        checks.push(check("sum of times, theorem 3.4: no tree has less", &of_tree, &best.sum, Answer::Count));
        checks.push(check("sum of times, theorem 3.4: a run has it", &of_tree, &sums, Answer::Model));
        lab.done(0.5 * (n + 1) as f64 / MACHINES.len() as f64);
    }

    let (plot, runs) = compared(lab)?;
    let (_, trace) = lab.traced(case(8, "optimal", CM5))?;
    let picture = timeline(&trace, "Optimal broadcast: P = 8, L = 6, o = 2, g = 4", ("cycles", US));
    let agree = checks.iter().all(|check| check.paper == check.ours);
    let verdict = format!(
        "{} On {} machines and up to {most} processors a search through all trees finds {} time, and {} sum of \
         information times, below those of the paper's tree, and runs of the model take exactly these.",
        if agree { "It agrees." } else { "It does not agree everywhere." },
        MACHINES.len(),
        if agree { "no" } else { "some" },
        if agree { "no" } else { "some" },
    );
    Ok(Finding::new(verdict)
        .table(runs.table())
        .table(table)
        .picture(
            "tree",
            "B(8) on the CM-5: in each node its label, which is when its processor has the datum.",
            tree(8, CM5),
        )
        .picture(
            "timeline",
            "The optimal broadcast among 8 processors. The labels of the tree are the times at which receptions end.",
            picture.expect("it is small"),
        )
        .picture(
            "",
            "The time of four trees over P on the CM-5. Lines are formulas, marks the model, and rings were measured.",
            plot.svg(),
        )
        .checks(checks))
}

/// The four trees of the program, over P; and their runs.
fn compared(lab: &Lab) -> Result<(Plot, Runs), Failed> {
    let mut runs = Runs::new("runs", "Broadcast on the CM-5", &["tree", "P"], ("cycles", US));
    let mut lines = Vec::new();
    for (number, algorithm) in PROGRAM.algorithms.iter().enumerate() {
        let mut points = Vec::new();
        for P in [2, 4, 8, 16, 32, 64, 128] {
            // Few points are enough to see that the wall clock keeps up.
            let answers = match [8, 32].contains(&P) {
                true => lab.measured(case(P, algorithm.name, CM5))?,
                false => lab.model(case(P, algorithm.name, CM5))?,
            };
            points.push((P as f64, answers.prediction));
            if [8, 32].contains(&P) {
                runs.push(&[algorithm.name, &P.to_string()], None, &answers);
            }
        }
        lines.extend(curves(algorithm.name, number, &points, |_, time| time.in_units(US)));
        lab.done(0.5 + 0.5 * (number + 1) as f64 / PROGRAM.algorithms.len() as f64);
    }
    let plot = Plot::new("Broadcast of a word", format!("{}, in cycles", named(CM5)))
        .x("processors P", Scale::Points)
        .y("time [cycles]", Scale::Log)
        .lines(lines);
    Ok((plot, runs))
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

/// The sum of the P smallest labels of the universal tree.
fn label_sum(P: usize, D: i64, d: i64) -> i64 {
    trees::universal(P, D * US, d * US).into_iter().map(|(label, _)| cycles(label)).sum()
}
