//! Figure 3: the optimal broadcast of one datum.

use loggp::{ActivityKind, Params, Time, Trace, US};

use super::super::{Answer, Cell, Check, Exhibit, Finding, Lab, Runs, Seconds, Table};
use super::caption;
use crate::pictures::timeline::timeline;
use loggp_draw::tree;
use loggp_draw::tree::Node;
use loggp_programs::Case;
use loggp_programs::broadcast::BROADCAST;
use loggp_study::Failed;

/// Figure 3.
pub const FIGURE_3: Exhibit = Exhibit {
    id: "logp-fig3",
    place: "figure 3",
    title: "the optimal broadcast tree, and what each processor does when",
    says: &[
        "Eight processors, L = 6, g = 4, o = 2: the last one has the datum at 24.",
        "The source begins to send at 0, g, 2g and so on; the first datum is received at L + 2o, and whoever has it \
         sends it on at once.",
        "No processor receives it twice. The tree is unbalanced: L, o and g decide how many children a node has.",
        "The number at a node is the time at which it has the datum; the text gives only the last.",
    ],
    formulas: &[
        "the least t with p(t) >= P (Karp et al., theorem 3.2; LogP has the tree and no closed form)",
    ],
    commands: &[
        "loggp run broadcast optimal --params L=6,o=2,g=4,P=8 --timeline figure-3.svg",
        "loggp compare broadcast --params L=6,o=2,g=4,P=8",
    ],
    seconds: Seconds { quick: 1.0, full: 3.0 },
    make,
};

/// The caption's machine.
pub fn machine() -> Params {
    caption(8, [6, 2, 4])
}

/// The run of the figure, and the runs of the trees that are not optimal.
fn make(lab: &Lab) -> Result<Finding, Failed> {
    let case = |algorithm: &str| Case::new(&BROADCAST, algorithm, machine());
    let (answers, trace) = lab.traced(case("optimal"))?;
    let tree = Tree::of(&trace);

    let mut runs = Runs::new("runs", "The figure's broadcast, and other trees", &["tree"], ("cycles", US));
    let mut times = Vec::new();
    for (done, algorithm) in BROADCAST.algorithms.iter().enumerate() {
        let answers = lab.measured(case(algorithm.name))?;
        let paper = (algorithm.name == "optimal").then_some(24.0);
        runs.push(&[algorithm.name], paper, &answers);
        times.push((algorithm.name, answers.prediction.model.unwrap_or_default().in_units(US)));
        lab.done((done + 1) as f64 / BROADCAST.algorithms.len() as f64);
    }
    let others: Vec<String> = times[1..].iter().map(|(name, time)| format!("{name} {time}")).collect();
    let sizes: Vec<usize> = tree.children[0].iter().map(|child| tree.size(*child)).collect();

    let checks = [
        Check::equal("when the last value is received, in cycles", "24", cycles(answers.prediction.formula))
            .by(Answer::Formula),
        Check::equal("when the last value is received, in cycles", "24", cycles(answers.prediction.model)),
        Check::same(
            "when the source begins to send: 0, g, 2g, ...",
            &list((0..tree.sends[0].len()).map(|i| i as f64 * 4.0)),
            list(tree.sends[0].iter().map(|time| time.in_units(US))),
        ),
        Check::equal("when the first datum is received: L + 2o", "10", tree.first()),
        Check::claim(
            "the optimal tree is unbalanced",
            "unbalanced",
            format!("the source's children answer for {} processors", list(sizes.iter().map(|n| *n as f64))),
            sizes.iter().any(|size| *size != sizes[0]),
        )
        .by(Answer::Count),
        Check::claim(
            "no other tree of this program is as fast",
            "optimal",
            format!("24 against {}", others.join(", ")),
            times[1..].iter().all(|(_, time)| *time > times[0].1),
        ),
    ];
    let picture = timeline(&trace, "Optimal broadcast, P = 8, L = 6, o = 2, g = 4", ("cycles", US));
    let drawing = tree::Tree {
        title: "Optimal broadcast tree, P = 8, L = 6, o = 2, g = 4".into(),
        subtitle: "in each node when it has the datum, and its number above".into(),
        nodes: tree.nodes(),
    };
    let caption = "What each processor does: overheads as bars, messages as arrows from when they leave a processor to \
                   when they come to the other. A processor sends for as long as that helps, and is idle after that.";
    Ok(Finding::new(
        "Formula and model end at the paper's 24, and the tree is grown as section 3.3 says. The figure's other numbers \
         stand only in its picture.",
    )
    .table(tree.table())
    .table(runs.table())
    .picture("tree", "The tree: each node's children get the datum from left to right.", drawing.svg().expect("it has eight nodes"))
    .picture("activity", caption, picture.expect("eight processors fit a picture"))
    .checks(checks))
}

/// A time in cycles.
fn cycles(time: Option<Time>) -> f64 {
    time.map_or(f64::NAN, |time| time.in_units(US))
}

/// Numbers with commas.
pub fn list(numbers: impl Iterator<Item = f64>) -> String {
    numbers.map(|number| number.to_string()).collect::<Vec<_>>().join(", ")
}

/// The tree along which a run's messages went.
pub struct Tree {
    /// Whom each processor sent to, in order.
    pub children: Vec<Vec<usize>>,
    /// When each processor began to send, each time.
    pub sends: Vec<Vec<Time>>,
    /// Who sent to each processor, and when it had received that; nothing for the root of a broadcast.
    received: Vec<Option<(usize, Time)>>,
}

impl Tree {
    /// Of a run in which everyone receives once at most.
    pub fn of(trace: &Trace) -> Tree {
        let P = trace.params.P;
        let mut tree =
            Tree { children: vec![Vec::new(); P], sends: vec![Vec::new(); P], received: vec![None; P] };
        let mut messages: Vec<_> = trace.messages.iter().collect();
        messages.sort_by_key(|message| message.enter);
        for message in messages {
            tree.children[message.id.from].push(message.to);
            tree.received[message.to] = Some((message.id.from, message.arrival));
        }
        for activity in &trace.activities {
            match activity.what {
                ActivityKind::Send(_) => tree.sends[activity.id].push(activity.start),
                ActivityKind::Receive(_) => {
                    if let Some((_, time)) = &mut tree.received[activity.id] {
                        *time = activity.end;
                    }
                }
                _ => (),
            }
        }
        tree.sends.iter_mut().for_each(|sends| sends.sort());
        tree
    }

    /// For how many processors one answers, itself included.
    fn size(&self, id: usize) -> usize {
        1 + self.children[id].iter().map(|child| self.size(*child)).sum::<usize>()
    }

    /// When the first processor had the datum, in cycles.
    fn first(&self) -> f64 {
        cycles(self.received.iter().flatten().map(|(_, time)| *time).min())
    }

    /// The tree for a picture, with the times at which its nodes have the datum.
    fn nodes(&self) -> Vec<Node> {
        let node = |(id, received): (usize, &Option<(usize, Time)>)| Node {
            parent: received.map(|(from, _)| from),
            label: received.map_or(0.0, |(_, time)| time.in_units(US)).to_string(),
            note: format!("P{id}"),
        };
        self.received.iter().enumerate().map(node).collect()
    }

    /// Who got the datum when, and from whom.
    fn table(&self) -> Table {
        let table = Table::new("nodes", "The tree, node by node (from the run's trace)");
        let table = table.text("processor").text("from").exact("has it at", "cycles").text("sends at");
        let mut table = table.text("to");
        for (id, received) in self.received.iter().enumerate() {
            let to: Vec<String> = self.children[id].iter().map(|child| format!("P{child}")).collect();
            table.push(vec![
                format!("P{id}").into(),
                received.map(|(from, _)| format!("P{from}")).into(),
                Cell::from(received.map_or(0.0, |(_, time)| time.in_units(US))),
                list(self.sends[id].iter().map(|time| time.in_units(US))).into(),
                to.join(", ").into(),
            ]);
        }
        table
    }
}

/// A tree as brackets, a pair for each node around its children's; children with more below them stand first. Two trees
/// have the same shape if they have the same brackets.
pub fn shape(children: &[Vec<usize>], root: usize) -> String {
    let mut below: Vec<String> = children[root].iter().map(|child| shape(children, *child)).collect();
    below.sort_by(|one, other| (other.len(), other).cmp(&(one.len(), one)));
    format!("({})", below.concat())
}
