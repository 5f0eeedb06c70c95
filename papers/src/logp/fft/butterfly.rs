//! Figure 5: the butterfly and its hybrid layout. A small program computes it node by node, as the paper
//! draws it, and may switch from the cyclic to the blocked layout after any column.

use std::collections::BTreeMap;

use loggp::{Machine, Proc, Run, RunError, Tag};
use loggp_draw::canvas::{Anchor, Canvas, NORMAL, SMALL, ShapeStyle, WIDTH};
use loggp_draw::palette::{BLUE, GREY, Ink, PAPER, TEXT, VERMILLION};

use crate::prelude::*;

pub(crate) const FIGURE_5: Exhibit = Exhibit {
    id: "logp-fig5",
    place: "figure 5",
    title: "an 8-input butterfly on two processors, under the hybrid layout",
    notes: "The figure is a drawing without numbers. Ours is drawn from a run: each node is that of the processor which computed it, and the \
            messages are those that were sent. The transform is over the integers modulo 12,289, so that its result can be compared \
            exactly.",
    formulas: &["n(log n + 1) nodes; n/P^2 messages from each processor to each other (section 4.1.1)"],
    show: show_figure_5,
    ..Exhibit::USUAL
};

pub(crate) const COLUMNS: Exhibit = Exhibit {
    id: "logp-columns",
    place: "section 4.1.1",
    title: "switching from the cyclic to the blocked layout at any column",
    notes: "A butterfly of 1,024 inputs on 8 processors, with the program of figure 5: log P is 3 and log(n/P) is 7. The machine is that of the \
            section's other times: a CM-5 with o = 1 us.",
    formulas: &["g(n/P - n/P^2) + L for the remap, at any column (section 4.1.1)"],
    show: show_columns,
    ..Exhibit::USUAL
};

/// The integers of the transform are those modulo this prime, of which 11 is a primitive root.
const PRIME: u64 = 12_289;
const ROOT: u64 = 11;
/// A row and its value.
const VALUE: Tag<(u64, u64)> = Tag::named(0, "value");

/// A butterfly that is cyclic up to column `switch`, and blocked after it.
#[derive(Clone, Copy)]
struct Butterfly {
    n: usize,
    P: usize,
    switch: u32,
}

/// The record of a processor's run.
struct ProcessorRecord {
    /// Rows of the nodes that it computed, for each column from 1 on.
    nodes: Vec<Vec<usize>>,
    /// Values of its outputs, by row.
    outputs: BTreeMap<usize, u64>,
    /// Times at which its remap began and ended.
    remap: [Time; 2],
}

impl Butterfly {
    /// Returns the processor that has a row at a column.
    fn owner(&self, row: usize, column: u32) -> usize {
        if column <= self.switch { row % self.P } else { row / (self.n / self.P) }
    }

    /// Returns the row whose node in the column before a node needs too.
    fn partner(&self, row: usize, column: u32) -> usize {
        row ^ (self.n >> column)
    }

    /// Returns the number of nodes that need a value of another processor, apart from those of the remap.
    fn remote_nodes(&self) -> u32 {
        let columns = (1..=self.n.ilog2()).filter(|column| *column != self.switch + 1);
        let nodes = columns.flat_map(|column| (0..self.n).map(move |row| (row, column)));
        let is_remote =
            |(row, column)| self.owner(row, column) != self.owner(self.partner(row, column), column);
        // The remap gives each processor the rows that it has from then on.
        let after = (0..self.n).map(|row| (row, self.switch + 1));
        nodes.chain(after).filter(|node| is_remote(*node)).count() as u32
    }

    /// Computes a node from its two operands.
    fn compute(&self, row: usize, column: u32, values: &BTreeMap<usize, u64>) -> u64 {
        let half = self.n >> column;
        let (mine, other) = (values[&row], values[&(row ^ half)]);
        if row & half == 0 {
            return (mine + other) % PRIME;
        }
        (other + PRIME - mine) * root(self.n, (row % half) << (column - 1)) % PRIME
    }

    /// Runs the butterfly on one processor.
    fn record(&self, p: &mut Proc) -> ProcessorRecord {
        let rows = (0..self.n).filter(|row| self.owner(*row, 0) == p.id());
        let mut values: BTreeMap<usize, u64> = rows.map(|row| (row, input(row))).collect();
        let (mut nodes, mut remap) = (Vec::new(), [Time::ZERO; 2]);
        for column in 1..=self.n.ilog2() {
            if column == self.switch + 1 {
                let begin = p.now();
                values = self.remap(p, values);
                remap = [begin, p.now()];
            }
            values = p.work("node", values.len() as u64, || {
                values.keys().map(|row| (*row, self.compute(*row, column, &values))).collect()
            });
            nodes.push(values.keys().copied().collect());
        }
        ProcessorRecord { nodes, outputs: values, remap }
    }

    /// Sends each value to the processor that has its row after the switch, staggered, and returns the values
    /// that this processor has then.
    fn remap(&self, p: &mut Proc, values: BTreeMap<usize, u64>) -> BTreeMap<usize, u64> {
        let to = |row: usize| self.owner(row, self.switch + 1);
        let mut leaving: Vec<(usize, u64)> = values.into_iter().collect();
        leaving.sort_by_key(|(row, _)| (to(*row) + self.P - p.id()) % self.P);
        let mut next = BTreeMap::new();
        for (row, value) in leaving {
            if to(row) == p.id() {
                next.insert(row, value);
                continue;
            }
            p.send_receiving(to(row), VALUE, (row as u64, value), VALUE, |_, (row, value)| {
                next.insert(row as usize, value);
            });
        }
        while next.len() < self.n / self.P {
            let (row, value) = p.recv(VALUE);
            next.insert(row as usize, value);
        }
        next
    }

    /// Runs the butterfly on the machine of section 4.1.1.
    fn run(&self) -> Result<Run<ProcessorRecord>, RunError> {
        let params = Params { o: US, ..cm5(self.P) };
        Machine::new(params).trace(true).run(|p| self.record(p))
    }

    /// Returns whether the outputs, which are in bit-reverse order, are those of the transform by its
    /// definition.
    fn is_right(&self, records: &[ProcessorRecord]) -> bool {
        let bits = self.n.ilog2();
        records.iter().flat_map(|record| &record.outputs).all(|(row, value)| {
            let k = row.reverse_bits() >> (usize::BITS - bits);
            let sum = (0..self.n).map(|j| input(j) * root(self.n, j * k % self.n) % PRIME).sum::<u64>();
            sum % PRIME == *value
        })
    }
}

/// Returns the input of a row.
fn input(row: usize) -> u64 {
    (row * row + 7) as u64 % PRIME
}

/// Returns the n-th root of unity to this power.
fn root(n: usize, power: usize) -> u64 {
    let (mut base, mut left, mut root) = (ROOT, (PRIME - 1) / n as u64 * power as u64, 1);
    while left > 0 {
        root = if left & 1 == 1 { root * base % PRIME } else { root };
        (base, left) = (base * base % PRIME, left >> 1);
    }
    root
}

fn show_figure_5(sheet: &mut Sheet) -> Result<(), StudyError> {
    let butterfly = Butterfly { n: 8, P: 2, switch: 2 };
    let run = butterfly.run()?;
    let trace = run.trace.as_ref().expect("it was traced");
    let nodes = run.ran(|run| {
        // The inputs are nodes too.
        let computed = run.results.iter().flat_map(|record| &record.nodes).map(Vec::len).sum::<usize>();
        (butterfly.n + computed) as f64
    });
    let quote = "The n-input (n a power of 2) butterfly is a directed acyclic graph with n(log n + 1) nodes";
    sheet.add_claim(
        "nodes, inputs and those that were computed: 8(3 + 1)",
        "4.1",
        quote,
        exactly(32.0),
        [nodes],
    );
    let quote = "hybrid layouts that are cyclic on the first log P columns and blocked on the last log P";
    let rule = "column 1 with every second row, and column 3 with the first four rows";
    let is_hybrid = run.ran(|run| {
        let nodes = &run.results[0].nodes;
        nodes[0] == [0, 2, 4, 6] && nodes[2] == [0, 1, 2, 3]
    });
    sheet.add_judged_claim("the nodes that processor 0 computed", "4.1.1", quote, rule, is_hybrid);
    let quote = "remapping occurs between columns 2 and 3";
    let rule = "messages leave after the 4 nodes of column 2, at 8 us, and come before column 3 is computed";
    let is_between = trace.ran(|trace| {
        let works = trace.activities.iter().filter(|one| matches!(one.kind, ActivityKind::Work(_)));
        let last = works.map(|one| one.start).max().unwrap_or_default();
        trace.messages.iter().all(|one| one.enter >= 8 * US && one.arrival <= last)
    });
    sheet.add_judged_claim("the run's messages", "4.1.1", quote, rule, is_between);
    let sent = [(0, 1), (1, 0)].map(|pair| {
        trace.ran(|trace| trace.messages.iter().filter(|one| (one.id.from, one.to) == pair).count() as f64)
    });
    let quote = "each processor sends n/P^2 messages to every other";
    sheet.add_claim("messages from each processor to the other: 8/2^2", "4.1.1", quote, exactly(2.0), sent);
    let is_right = run.ran(|run| butterfly.is_right(&run.results));
    sheet.add_own_check("the outputs are those of the transform by its definition", [is_right]);
    let caption = "Rows from top to bottom, columns from left to right. A filled node was computed by processor 0, an empty one by processor 1. \
                   Between columns 2 and 3 an arrow is a value that the remap moved to the other processor, by a message.";
    sheet.add_picture("", caption, draw_butterfly(&butterfly, &run));
    Ok(())
}

/// Place of a node in the picture.
fn position(row: usize, column: u32) -> (f64, f64) {
    (110.0 + 165.0 * f64::from(column), 110.0 + 42.0 * row as f64)
}

/// Draws the butterfly with its nodes by processor, and the messages of the remap.
fn draw_butterfly(butterfly: &Butterfly, run: &Run<ProcessorRecord>) -> String {
    let columns = butterfly.n.ilog2();
    let title = format!("An {}-input butterfly, P = {}, hybrid layout", butterfly.n, butterfly.P);
    let mut canvas = Canvas::new(WIDTH);
    canvas.draw_head(&title, "filled: processor 0; empty: processor 1");
    for column in 0..=columns {
        let (x, y) = position(0, column);
        canvas.draw_text(GREY, (x, y - 30.0), Anchor::Middle, NORMAL, &format!("column {column}"));
    }
    for column in 1..=columns {
        for row in 0..butterfly.n {
            for from in [row, butterfly.partner(row, column)] {
                canvas.draw_thin_line(GREY, &[position(from, column - 1), position(row, column)]);
            }
        }
    }
    let before = butterfly.switch;
    let computed_by = |row: usize, column: u32| {
        run.results.iter().position(|record| record.nodes[column as usize - 1].contains(&row))
    };
    for row in 0..butterfly.n {
        let (x, y) = position(row, before);
        if let Some(to) = computed_by(row, before + 1).filter(|to| computed_by(row, before) != Some(*to)) {
            let ends = [(x, y), (x + 58.0, y)];
            canvas.draw_line(VERMILLION, ShapeStyle::Line, "", &ends);
            canvas.draw_polygon(
                VERMILLION,
                ShapeStyle::Area,
                &[(x + 66.0, y), (x + 56.0, y - 5.0), (x + 56.0, y + 5.0)],
            );
            canvas.draw_text(TEXT, (x + 40.0, y - 10.0), Anchor::Middle, SMALL, &format!("to P{to}"));
        }
    }
    let mut draw_node = |row: usize, column: u32, is_first: bool| {
        let inside: Ink = if is_first { BLUE } else { PAPER };
        canvas.draw_circle(TEXT, ShapeStyle::Area, position(row, column), 10.0);
        canvas.draw_circle(inside, ShapeStyle::Area, position(row, column), 8.5);
    };
    for row in 0..butterfly.n {
        draw_node(row, 0, butterfly.owner(row, 0) == 0);
    }
    for (id, record) in run.results.iter().enumerate() {
        for (column, rows) in (1..).zip(&record.nodes) {
            rows.iter().for_each(|row| draw_node(*row, column, id == 0));
        }
    }
    for row in 0..butterfly.n {
        let (x, y) = position(row, 0);
        canvas.draw_text(GREY, (x - 40.0, y), Anchor::Middle, SMALL, &format!("row {row}"));
    }
    canvas.finish(position(butterfly.n, 0).1, &title)
}

fn show_columns(sheet: &mut Sheet) -> Result<(), StudyError> {
    let at = |switch| Butterfly { n: 1024, P: 8, switch };
    let mut times = Vec::new();
    let (mut sent, mut right) = (Vec::new(), Vec::new());
    for switch in 3..=7 {
        let run = at(switch).run()?;
        let trace = run.trace.as_ref().expect("it was traced");
        let [m, per_pair] = [128.0, 16.0];
        let time = run.ran(|run| {
            run.results.iter().map(|record| in_us(record.remap[1] - record.remap[0])).fold(0.0, f64::max)
        });
        times.push(time / (4.0 * (m - per_pair) + 6.0));
        for pair in (0..8).flat_map(|from| (0..8).map(move |to| (from, to))).filter(|(from, to)| from != to) {
            let count =
                |trace: &Trace| trace.messages.iter().filter(|one| (one.id.from, one.to) == pair).count();
            sent.push(trace.ran(|trace| count(trace) as f64));
        }
        right.push(run.ran(|run| at(switch).is_right(&run.results)));
    }
    let quote = "switching from cyclic to blocked layout at any column between the log P-th and the log n/P-th (assuming that n > P^2) leads to an \
                 algorithm which has a single \"all-to-all\" communication step between two entirely local computation phases";
    let what = "nodes with a remote operand apart from the remap, for a switch at column 3, 4, 5, 6 or 7";
    sheet.add_claim(what, "4.1.1", quote, exactly(0.0), (3..=7).map(|switch| at(switch).remote_nodes()));
    let what = "nodes with a remote operand apart from the remap, for a switch at column 2 or 8";
    let rule = above(0.0).because("these are not between log P and log(n/P)");
    sheet.add_claim(what, "4.1.1", quote, rule, [2, 8].map(|switch| at(switch).remote_nodes()));
    let what =
        "messages from each processor to each other: n/P^2 is 16, for a switch at column 3, 4, 5, 6 or 7";
    sheet.add_claim(what, "4.1.1", quote, exactly(16.0), sent);
    let what = "the remap's time over g(n/P - n/P^2) + L, for a switch at column 3, 4, 5, 6 or 7";
    let rule = between(0.99, 1.0).because("the first message waits for no gap");
    sheet.add_claim(what, "4.1.1", quote, rule, times);
    sheet.add_own_check("the outputs are those of the transform by its definition, each switch", right);
    Ok(())
}
