//! Figure 3: the optimal broadcast of one datum.

use loggp_document::Cell;
use loggp_draw::tree::TreePicture;
use loggp_programs::broadcast::BROADCAST;

use crate::karp::search::BestTrees;
use crate::prelude::*;
use loggp_study::pictures::tree::tree_from_trace;

pub(super) const FIGURE_3: Exhibit = Exhibit {
    id: "logp-fig3",
    place: "figure 3",
    title: "the optimal broadcast tree, and what each processor does when",
    printed: 9,
    left_out: "The times inside the drawing's eight nodes: our copy of the paper has the caption and not the drawing. By the caption they are \
               the times of our tree.",
    notes: "Eight processors, L = 6, g = 4, o = 2. The number at a node is the time at which it has the datum.",
    formulas: &[
        "the least t with p(t) >= P (Karp et al., theorem 3.2; LogP has the tree and no closed form)",
    ],
    unit: ("cycles", US),
    series,
    show,
};

/// The program's trees for machines of one level.
const TREES: [&str; 4] = ["optimal", "binomial", "binary", "flat"];

/// Returns the caption's machine.
pub(super) fn machine() -> Params {
    cycle_machine(8, [6, 2, 4])
}

fn series(_: &Lab) -> Vec<CaseSeries> {
    let case = |algorithm: &str| Case::new(&BROADCAST, algorithm, machine());
    let all = TREES.iter().map(|tree| CaseSeries::from_case(*tree, case(tree)).measured());
    all.chain([CaseSeries::from_case("the figure", case("optimal")).traced()]).collect()
}

fn show(sheet: &mut Sheet) -> Result<(), StudyError> {
    let run = sheet.last_result("the figure").clone();
    let tree = MessageTree::from_trace(run.trace());
    let what = "time at which the last value is received [cycles]";
    sheet.add_number(what, "figure 3", "24", sheet.model_time("optimal"));
    let by_formula = sheet.formula_time("optimal");
    let agree = sheet.model_time("optimal").map(|time| time == by_formula);
    sheet.add_own_check("by formula and in a run it is the same time", [agree]);
    let best = BestTrees::up_to(8, 10, 4).time[7] as f64;
    let is_least = sheet.model_time("optimal").map(|time| time == best);
    sheet.add_own_check("no tree of a search through all ends sooner", [is_least]);
    let others: Vec<_> = TREES[1..].iter().map(|tree| sheet.model_time(tree) / best).collect();
    let quote = "Optimal broadcast tree";
    sheet.add_claim(
        "times of the binomial, binary and flat tree over the optimal tree's",
        "figure 3",
        quote,
        above(1.0),
        others,
    );
    let trace = run.trace();
    let count = |id| trace.messages.iter().filter(|message| message.to == id).count() as f64;
    let got = (1..8).map(|id| trace.ran(|_| count(id)));
    let quote = "while ensuring that no processor receives more than one message";
    sheet.add_claim("messages that each other processor receives", "3.3", quote, exactly(1.0), got);
    let sends = tree.sends[0].windows(2).map(|pair| trace.ran(|_| in_us(pair[1] - pair[0])));
    let quote = "the source will have initiated transmission to other processors at time g, 2g, ...";
    sheet.add_claim("time from a send of the source to its next [cycles]", "3.3", quote, exactly(4.0), sends);
    let quote = "is received by the node at time L + 2o";
    let first = tree.received.iter().flatten().map(|(_, time)| in_us(*time)).min_by(f64::total_cmp);
    let first = first.map(|first| trace.ran(|_| first));
    sheet.add_claim(
        "time at which the first processor has received the datum [cycles]",
        "3.3",
        quote,
        exactly(10.0),
        first,
    );
    let sizes: Vec<usize> = tree.children[0].iter().map(|child| tree.size(*child)).collect();
    let unbalanced = trace.ran(|_| sizes.iter().any(|size| *size != sizes[0]));
    let quote = "the optimal broadcast tree for p processors is unbalanced";
    let rule = "the source's children do not all have as many processors below them";
    sheet.add_judged_claim("the tree of the run's messages", "3.3", quote, rule, unbalanced);
    sheet.add_table(tree.table());
    let drawing = TreePicture {
        title: "Optimal broadcast tree, P = 8, L = 6, o = 2, g = 4".into(),
        subtitle: "in each node when it has the datum, and its number above".into(),
        ..tree_from_trace(run.trace(), ("us", US)).expect("a broadcast is a tree")
    };
    let caption = "The tree: each node's children get the datum from left to right.";
    sheet.add_picture("tree", caption, drawing.svg().expect("it has eight nodes"));
    let caption = "What each processor does: overheads as bars, messages as arrows from when they leave a processor to \
                   when they come to the other. A processor sends for as long as that helps, and is idle after that.";
    sheet.add_timeline("activity", caption, "Optimal broadcast, P = 8, L = 6, o = 2, g = 4", &run);
    Ok(())
}

/// The tree of a run's messages.
pub(super) struct MessageTree {
    /// Receivers of each processor's messages, in order.
    pub children: Vec<Vec<usize>>,
    /// Times at which each processor began to send.
    pub sends: Vec<Vec<Time>>,
    /// Sender to each processor, and when the reception ended; `None` for the root of a broadcast.
    received: Vec<Option<(usize, Time)>>,
}

impl MessageTree {
    /// Makes the tree of a run in which each processor receives at most once.
    pub(super) fn from_trace(trace: &Trace) -> MessageTree {
        let P = trace.params.P;
        let (children, sends, received) = (vec![Vec::new(); P], vec![Vec::new(); P], vec![None; P]);
        let mut tree = MessageTree { children, sends, received };
        let mut messages: Vec<_> = trace.messages.iter().collect();
        messages.sort_by_key(|message| message.enter);
        for message in messages {
            tree.children[message.id.from].push(message.to);
            tree.received[message.to] = Some((message.id.from, message.arrival));
        }
        for activity in &trace.activities {
            match activity.kind {
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

    /// Returns the number of nodes below a processor, itself included.
    fn size(&self, id: usize) -> usize {
        1 + self.children[id].iter().map(|child| self.size(*child)).sum::<usize>()
    }

    /// Returns the table of the nodes.
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
                join_words(self.sends[id].iter().map(|time| time.in_units(US))).into(),
                to.join(", ").into(),
            ]);
        }
        table
    }
}

/// Writes a tree as brackets: a pair for each node around those of its children, larger subtrees first. Two
/// trees have the same shape if they have the same brackets.
pub(super) fn shape(children: &[Vec<usize>], root: usize) -> String {
    let mut below: Vec<String> = children[root].iter().map(|child| shape(children, *child)).collect();
    below.sort_by(|one, other| (other.len(), other).cmp(&(one.len(), one)));
    format!("({})", below.concat())
}
