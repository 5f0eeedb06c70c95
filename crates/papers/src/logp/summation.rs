//! Figure 4: the optimal summation in a given time.

use loggp::{ActivityKind, Time, Trace, US};
use loggp_document::Table;
use loggp_draw::tree::{self, Node};
use loggp_programs::broadcast::BROADCAST;
use loggp_programs::summation::schedule::Role;
use loggp_programs::summation::{SUMMATION, TIME, Way, schedule};
use loggp_programs::{Case, Length};
use loggp_study::Failed;

use super::broadcast::{self, Tree, shape};
use super::caption;
use crate::pictures::timeline::timeline;
use crate::{Exhibit, Lab, Series, Sheet, at_least, exactly};

/// Figure 4.
pub const FIGURE_4: Exhibit = Exhibit {
    id: "logp-fig4",
    place: "figure 4",
    title: "the optimal summation: who sends to whom, and what each processor adds when",
    says: &[
        "T = 28, P = 8, L = 5, g = 4, o = 2: as many values as can be are summed by T. How many, the text does not say.",
    ],
    formulas: &[
        "the least T with S(T) >= n: S(T) = o + 1 + the sum of T - o - t over the labels t <= T - o of the P first nodes \
         (Karp et al., lemma 4.2)",
    ],
    unit: ("cycles", US),
    series,
    show,
};

/// The caption's time, in cycles.
const T: u32 = 28;
/// The values that are summed by then.
const VALUES: usize = 79;

fn case(algorithm: &str) -> Case {
    Case::new(&SUMMATION, algorithm, caption(8, [5, 2, 4]))
}

fn series(_: &Lab) -> Vec<Series> {
    let by = |end| case("optimal").with(&TIME, Some(Length::cycles(end)));
    let all = SUMMATION
        .algorithms
        .iter()
        .map(|one| Series::one(one.name, Case { size: VALUES, ..case(one.name) }).measured());
    let broadcast = Case::new(&BROADCAST, "optimal", broadcast::machine());
    let others = [
        Series::one("as many as can be by 28", by(T)).traced(),
        Series::one("as many as can be by 9", by(9)),
        Series::one("the broadcast of figure 3", broadcast).traced(),
    ];
    all.chain(others).collect()
}

fn show(sheet: &mut Sheet) -> Result<(), Failed> {
    let filled = sheet.last("as many as can be by 28").clone();
    let trace = filled.trace();
    let ends = [sheet.formula("optimal"), sheet.time("optimal")];
    let right = ends.iter().filter(|end| **end == f64::from(T)).count();
    sheet.own("by formula and in a run 79 values take T = 28", right, 2);
    let fit = filled.metric("operands");
    sheet.own("by T = 28 that many fit, and not one more", usize::from(fit == VALUES as f64), 1);

    let parts = schedule(&case("optimal"), Way::Optimal, VALUES);
    let children: Vec<Vec<usize>> = parts.iter().map(|part| part.children.clone()).collect();
    let done = done(trace);
    let late = |(i, child): (usize, &usize)| {
        done[*child].in_units(US) - (28 - (2 * 2 + 5 + 1) - 4 * i as i64) as f64
    };
    let late: Vec<f64> = parts[0].children.iter().rev().enumerate().map(late).collect();
    let quote = "its children in the communication tree should complete their summations at times T - (2o + L + 1), T - (2o + L + 1 \
                 + g), ...";
    sheet.claim(
        "by how much the root's children are later than that [cycles]",
        "3.3",
        quote,
        exactly(0.0),
        late,
    );
    let tree = Tree::of(sheet.last("the broadcast of figure 3").trace());
    let alike = shape(&children, 0) == shape(&tree.children, 0);
    let quote = "the tree has the same shape as an optimal broadcast tree";
    sheet.holds("the tree", "3.3", quote, "each node has as many below it as in figure 3", alike).by_count();
    let sent: Vec<f64> = parts.iter().skip(1).map(|part| part.operands() as f64 - 1.0).collect();
    let quote = "all transmitted partial sums must represent at least o additions";
    sheet.claim("additions for which a message stands", "3.3", quote, at_least(2.0), sent).by_count();
    let quote = "adds it to its partial sum and performs a chain of g - o - 1 input-summing nodes";
    let chains = parts.iter().flat_map(between).collect::<Vec<_>>();
    sheet.claim("inputs between two receptions", "3.3", quote, exactly(1.0), chains).by_count();
    let stats = &filled.answers().outcome.run.processors;
    let idle = stats.iter().map(|one| (one.idle + one.gap).in_units(US)).sum::<f64>();
    let quote = "Observe that local computations overlap the delivery of incoming messages";
    sheet.claim("for how long anybody idles before it has sent [cycles]", "3.3", quote, exactly(0.0), [idle]);
    let quote = "The root performs g - o additions of local input values between messages";
    sheet.claim("its own inputs between two messages", "3.3", quote, exactly(2.0), between(&parts[0])).by_count().because(
        "1, 1, 1",
        "one of the g - o = 2 additions is that of the sum that has come, as the next paragraph has it: g - o - 1 inputs",
    );
    let quote = "If T \u{2264} L + 2o, the optimal solution is to sum T + 1 values on a single processor";
    let alone = sheet.last("as many as can be by 9").metric("operands");
    sheet.claim("values by T = L + 2o = 9", "3.3", quote, exactly(10.0), [alone]);

    sheet.table(table(&parts, &done));
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
    let caption = "Sums go from children to parents, later from left to right.";
    sheet.picture("tree", caption, drawing.svg().expect("it has eight nodes"));
    let picture = timeline(trace, "Optimal summation by T = 28, P = 8, L = 5, o = 2, g = 4", ("cycles", US));
    let caption = "What each processor does: additions as work, overheads, and partial sums as arrows. Everyone is busy \
                   until it has sent its sum.";
    sheet.picture("activity", caption, picture.expect("eight processors fit a picture"));
    Ok(())
}

/// How many inputs of its own a processor adds between each two receptions.
fn between(part: &Role) -> Vec<f64> {
    let between = part.own.get(1..part.children.len()).unwrap_or_default();
    between.iter().map(|inputs| inputs.len() as f64).collect()
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
