//! Figure 4: the optimal summation in a given time.

use loggp_draw::tree::{self, TreeNode};
use loggp_programs::TimeSpan;
use loggp_programs::broadcast::BROADCAST;
use loggp_programs::summation::schedule::SummationRole;
use loggp_programs::summation::{SUMMATION, SummationVariant, TIME, schedule};

use super::broadcast::{self, MessageTree, shape};
use crate::prelude::*;
use loggp_study::pictures::tree::done_times;

pub(super) const FIGURE_4: Exhibit = Exhibit {
    id: "logp-fig4",
    place: "figure 4",
    title: "the optimal summation: who sends to whom, and what each processor adds when",
    printed: 8,
    left_out: "The times inside the drawing's nodes: our copy of the paper has the caption and not the drawing. How many values are summed, the \
               text does not say.",
    notes: "T = 28, P = 8, L = 5, g = 4, o = 2: as many values as can be are summed by T.",
    formulas: &[
        "the least T with S(T) >= n: S(T) = o + 1 + the sum of T - o - t over the labels t <= T - o of the P first nodes \
         (Karp et al., lemma 4.2)",
    ],
    unit: ("cycles", US),
    series,
    show,
};

/// Time of the caption, in cycles.
const T: u32 = 28;
/// Number of values that are summed by then.
const VALUES: usize = 79;

fn case(algorithm: &str) -> Case {
    Case::new(&SUMMATION, algorithm, cycle_machine(8, [5, 2, 4]))
}

fn series(_: &Lab) -> Vec<CaseSeries> {
    let by = |end| case("optimal").with(&TIME, Some(TimeSpan::from_cycles(end)));
    let all = SUMMATION
        .algorithms
        .iter()
        .map(|one| CaseSeries::from_case(one.name, Case { size: VALUES, ..case(one.name) }).measured());
    let broadcast = Case::new(&BROADCAST, "optimal", broadcast::machine());
    let others = [
        CaseSeries::from_case("as many as can be by 28", by(T)).traced(),
        CaseSeries::from_case("as many as can be by 9", by(9)),
        CaseSeries::from_case("the broadcast of figure 3", broadcast).traced(),
    ];
    all.chain(others).collect()
}

fn show(sheet: &mut Sheet) -> Result<(), StudyError> {
    let filled = sheet.last_result("as many as can be by 28").clone();
    let trace = filled.trace();
    let is_end = |end: f64| end == f64::from(T) && end == sheet.formula_time("optimal");
    let ends = sheet.model_time("optimal").map(is_end);
    sheet.add_own_check("by formula and in a run 79 values take until T = 28", [ends]);
    let fit = filled.metric("operands");
    sheet.add_own_check(
        "a run that sums as many values as it can by T = 28 sums 79",
        [fit.map(|fit| fit == VALUES as f64)],
    );

    let parts = schedule(&case("optimal").params, SummationVariant::Optimal, VALUES);
    let children: Vec<Vec<usize>> = parts.iter().map(|part| part.children.clone()).collect();
    let done_times = done_times(trace);
    let late = |(i, child): (usize, &usize)| {
        trace.ran(|_| in_us(done_times[*child]) - (28 - (2 * 2 + 5 + 1) - 4 * i as i64) as f64)
    };
    let late = parts[0].children.iter().rev().enumerate().map(late);
    let quote = "its children in the communication tree should complete their summations at times T - (2o + L + 1), T - (2o + L + 1 \
                 + g), ...";
    let what = "how much later than that the root's children are done [cycles]";
    sheet.add_claim(what, "3.3", quote, exactly(0.0), late);
    let other = sheet.last_result("the broadcast of figure 3");
    let tree = MessageTree::from_trace(other.trace());
    let alike = other.ran(|_| shape(&children, 0) == shape(&tree.children, 0));
    let quote = "the tree has the same shape as an optimal broadcast tree";
    let rule = "each node has as many nodes below it as in the run of figure 3";
    sheet.add_judged_claim("the tree of the schedule", "3.3", quote, rule, alike);
    let sent = parts.iter().skip(1).map(|part| part.operands() as f64 - 1.0);
    let quote = "all transmitted partial sums must represent at least o additions";
    sheet.add_claim("additions that each message stands for", "3.3", quote, at_least(2.0), sent).by_count();
    let quote = "adds it to its partial sum and performs a chain of g - o - 1 input-summing nodes";
    let chains = parts.iter().flat_map(inputs_between);
    sheet
        .add_claim("inputs that a processor adds between two receptions", "3.3", quote, exactly(1.0), chains)
        .by_count();
    let stats = &filled.answers().outcome.run.processors;
    let idle = filled.ran(|_| stats.iter().map(|one| in_us(one.idle + one.gap)).sum::<f64>());
    let quote = "Observe that local computations overlap the delivery of incoming messages";
    let what = "time for which processors are idle before they have sent their sum, all together [cycles]";
    sheet.add_claim(what, "3.3", quote, exactly(0.0), [idle]);
    let quote = "The root performs g - o additions of local input values between messages";
    let what = "inputs that the root adds between two messages";
    sheet
        .add_claim(what, "3.3", quote, exactly(2.0), inputs_between(&parts[0]))
        .by_count()
        .expect_difference(
            DifferenceCause::Misprint,
            "the next paragraph has g - o - 1 inputs: one of the g - o additions is that of the sum that has come",
            "one of the g - o = 2 additions is that of the sum that has come. The next paragraph counts so too: a chain of g - o - 1 inputs",
        );
    let quote = "If T \u{2264} L + 2o, the optimal solution is to sum T + 1 values on a single processor";
    let alone = sheet.last_result("as many as can be by 9").metric("operands");
    sheet.add_claim("values that are summed by T = L + 2o = 9", "3.3", quote, exactly(10.0), [alone]);

    add_pictures(sheet, &parts, &done_times, &filled);
    Ok(())
}

/// Adds the table of the schedule, its tree, and what each processor does when.
fn add_pictures(sheet: &mut Sheet, parts: &[SummationRole], done_times: &[Time], filled: &CaseResult) {
    sheet.add_table(schedule_table(parts, done_times));
    let node = |(id, part): (usize, &SummationRole)| TreeNode {
        parent: part.parent,
        label: done_times[id].in_units(US).to_string(),
        note: format!("P{id}: {}", part.operands()),
    };
    let drawing = tree::TreePicture {
        title: "Communication tree of the optimal summation, T = 28".into(),
        subtitle: "in each node when its sum is done; above it its number, and how many inputs are its own"
            .into(),
        nodes: parts.iter().enumerate().map(node).collect(),
    };
    let caption = "Sums go from children to parents, later from left to right.";
    sheet.add_picture("tree", caption, drawing.svg().expect("it has eight nodes"));
    let title = "Optimal summation by T = 28, P = 8, L = 5, o = 2, g = 4";
    let caption = "What each processor does: additions as work, overheads, and partial sums as arrows. Everyone is busy \
                   until it has sent its sum.";
    sheet.add_timeline("activity", caption, title, filled);
}

/// Returns the numbers of inputs that a processor adds between two receptions.
fn inputs_between(part: &SummationRole) -> Vec<f64> {
    let inputs_between = part.own.get(1..part.children.len()).unwrap_or_default();
    inputs_between.iter().map(|inputs| inputs.len() as f64).collect()
}

/// Returns the table of what each processor adds and when it is done.
fn schedule_table(parts: &[SummationRole], done_times: &[Time]) -> Table {
    let table = Table::new("nodes", "The schedule, processor by processor");
    let table = table.text("processor").exact("inputs of its own", "").text("receives from").text("sends to");
    let mut table = table.exact("done at", "cycles");
    for (id, part) in parts.iter().enumerate() {
        let from: Vec<String> = part.children.iter().map(|child| format!("P{child}")).collect();
        table.push(vec![
            format!("P{id}").into(),
            part.operands().into(),
            from.join(", ").into(),
            part.parent.map(|parent| format!("P{parent}")).into(),
            done_times[id].in_units(US).into(),
        ]);
    }
    table
}
