//! Figure 4: the optimal summation in a given time.

use loggp::{ActivityKind, Time, Trace, US};

use super::super::{Answer, Check, Exhibit, Finding, Lab, Runs, Seconds, Table};
use super::broadcast::{self, Tree, list, shape};
use super::caption;
use crate::pictures::timeline::timeline;
use loggp_draw::tree;
use loggp_draw::tree::Node;
use loggp_programs::broadcast::BROADCAST;
use loggp_programs::summation::schedule::Role;
use loggp_programs::summation::{SUMMATION, TIME, Way, schedule};
use loggp_programs::{Case, Length};
use loggp_study::{Answers, Failed};

/// Figure 4.
pub const FIGURE_4: Exhibit = Exhibit {
    id: "logp-fig4",
    place: "figure 4",
    title: "the optimal summation: who sends to whom, and what each processor adds when",
    says: &[
        "T = 28, P = 8, L = 5, g = 4, o = 2: as many values as can be are summed by T.",
        "The root's children are done at T - (2o+L+1), and g, 2g and so on earlier; the tree has the same shape as one of \
         an optimal broadcast.",
        "A processor invests o in receiving, so what is sent must stand for o additions at least. Between two receptions \
         there is a chain of g-o-1 additions of inputs.",
        "If T <= L+2o, one processor sums T+1 values by itself. Inputs are not shared out equally.",
        "How many values the figure sums, its text does not say.",
    ],
    formulas: &[
        "the least T with S(T) >= n: S(T) = o + 1 + the sum of T - o - t over the labels t <= T - o of the P first nodes \
         (Karp et al., lemma 4.2)",
    ],
    commands: &[
        "loggp run summation optimal --params L=5,o=2,g=4,P=8 --time 28 --timeline figure-4.svg",
        "loggp compare summation --params L=5,o=2,g=4,P=8 --size 79",
    ],
    seconds: Seconds { quick: 1.0, full: 2.0 },
    make,
};

/// The caption's time, in cycles.
const T: u32 = 28;

/// The run of the figure.
fn make(lab: &Lab) -> Result<Finding, Failed> {
    let params = caption(8, [5, 2, 4]);
    let case = |algorithm: &str| Case::new(&SUMMATION, algorithm, params);
    let (filled, trace) = lab.traced(case("optimal").with(&TIME, Some(Length::cycles(T))))?;
    let n = operands(&filled);
    let alone = operands(&lab.model(case("optimal").with(&TIME, Some(Length::cycles(9))))?);

    let mut runs = Runs::new("runs", "As many values, two ways", &["algorithm", "values"], ("cycles", US));
    let mut optimal = None;
    for algorithm in SUMMATION.algorithms {
        let answers = lab.measured(Case { size: n, ..case(algorithm.name) })?;
        let is_optimal = algorithm.name == "optimal";
        runs.push(&[algorithm.name, &n.to_string()], is_optimal.then_some(T.into()), &answers);
        if is_optimal {
            optimal = Some(answers.prediction);
        }
    }
    let optimal = optimal.expect("the program has this algorithm");
    let parts = schedule(&case("optimal"), Way::Optimal, n);
    let children: Vec<Vec<usize>> = parts.iter().map(|part| part.children.clone()).collect();
    let done = done(&trace);
    let of_root: Vec<f64> = parts[0].children.iter().map(|child| done[*child].in_units(US)).collect();
    let (_, broadcast) = lab.traced(Case::new(&BROADCAST, "optimal", broadcast::machine()))?;
    let tree = Tree::of(&broadcast);
    let least = parts.iter().skip(1).map(|part| part.operands() - 1).min().unwrap_or(0);
    let idle: Time = filled.outcome.run.processors.iter().map(|stats| stats.idle + stats.gap).sum();
    let time = |time: Option<Time>| time.map_or(f64::NAN, |time| time.in_units(US));

    let checks = [
        Check::equal(format!("T for the {n} values that fit, in cycles"), "28", time(optimal.formula))
            .by(Answer::Formula),
        Check::equal(format!("T for the {n} values that fit, in cycles"), "28", time(optimal.model)),
        Check::same(
            "when the root's children are done: T - (2o+L+1), and g earlier each, latest first",
            "18, 14, 10, 6",
            list(of_root.iter().rev().copied()),
        ),
        Check::claim(
            "the tree's shape is that of an optimal broadcast",
            "the same shape as an optimal broadcast tree",
            format!("{} here, and figure 3 is {}", shape(&children, 0), shape(&tree.children, 0)),
            shape(&children, 0) == shape(&tree.children, 0),
        )
        .by(Answer::Count),
        Check::claim(
            "additions for which a message stands",
            "at least o = 2",
            format!("at least {least}"),
            least >= 2,
        )
        .by(Answer::Count),
        Check::equal("additions of inputs between two receptions: g-o-1", "1", between(&parts))
            .by(Answer::Count),
        Check::equal("values that are summed by T = L+2o = 9: T+1", "10", alone as f64).by(Answer::Count),
        Check::claim(
            "computing overlaps the delivery of messages",
            "local computations overlap the delivery of incoming messages",
            format!("all processors together are idle for {} before they have sent", idle.in_units(US)),
            idle == Time::ZERO,
        ),
    ];
    let picture = timeline(&trace, "Optimal summation by T = 28, P = 8, L = 5, o = 2, g = 4", ("cycles", US));
    let node = |(id, part): (usize, &Role)| Node {
        parent: part.parent,
        label: done[id].in_units(US).to_string(),
        note: format!("P{id}: {}", part.operands()),
    };
    let drawing = tree::Tree {
        title: "Communication tree of the optimal summation, T = 28".into(),
        subtitle: "in each node when its sum is done; above it its number, and how many inputs are its own"
            .into(),
        nodes: parts.iter().enumerate().map(node).collect(),
    };
    let caption = "What each processor does: additions as work, overheads, and partial sums as arrows. Everyone is busy \
                   until it has sent its sum.";
    Ok(Finding::new(format!(
        "Formula and model end at the paper's T = 28, with {n} values summed. The schedule is what section 3.3 says step by \
         step; what else the figure shows is only a picture."
    ))
    .table(table(&parts, &done))
    .table(runs.table())
    .picture("tree", "Sums go from children to parents, later from left to right.", drawing.svg().expect("it has eight nodes"))
    .picture("activity", caption, picture.expect("eight processors fit a picture"))
    .checks(checks))
}

/// How many values a run summed.
fn operands(answers: &Answers) -> usize {
    answers.outcome.metric("operands").map_or(0, |operands| operands as usize)
}

/// The most inputs that a processor adds between two receptions; all add as many.
fn between(parts: &[Role]) -> f64 {
    let between = parts.iter().flat_map(|part| part.own.get(1..part.children.len()).unwrap_or_default());
    between.map(ExactSizeIterator::len).max().unwrap_or(0) as f64
}

/// When each processor has its sum: it begins to send it then, or has ended.
fn done(trace: &Trace) -> Vec<Time> {
    let mut done = vec![Time::ZERO; trace.params.P];
    for activity in &trace.activities {
        match activity.what {
            ActivityKind::Send(_) => done[activity.id] = activity.start,
            _ => done[activity.id] = done[activity.id].max(activity.end),
        }
    }
    done
}

/// What each processor adds, and when it is done.
fn table(parts: &[Role], done: &[Time]) -> Table {
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
            done[id].in_units(US).into(),
        ]);
    }
    table
}
