//! `loggp machines --topology`: networks, and how far apart their processors are on average (LogP, section 5.1).

use std::io::Write;

use loggp::US;
use loggp_document::{Block, plain};
use loggp_papers::topology::{Counted, Distances, MOST_PROCESSORS, TOPOLOGIES};

use super::column::Column;
use super::failure::Failure;
use super::field::Field;
use super::number::{Unit, thousands};
use super::options::Format;
use super::report::Report;

/// The size of the paper's table.
const USUAL: usize = 1024;

/// Lists every network with each of these numbers of processors.
pub fn list(out: &mut dyn Write, numbers: &[usize], format: Format) -> Result<(), Failure> {
    let numbers = if numbers.is_empty() { &[USUAL] } else { numbers };
    if let Some(P) = numbers.iter().find(|P| !(2..=MOST_PROCESSORS).contains(*P)) {
        let most = thousands(MOST_PROCESSORS);
        return Err(Failure::request(format!("there is no network of {P}; give a P from 2 to {most}")));
    }
    let mut report = Report::new(out, format, columns());
    for P in numbers {
        TOPOLOGIES.iter().try_for_each(|topology| report.add(topology.distances(*P)))?;
    }
    let heading = "average distance between two processors, in links, over all pairs (LogP, section 5.1)";
    report.finish(heading, Unit::of("us", US), 0, notes)
}

/// The columns of the list.
fn columns() -> Vec<Column<'static, Distances>> {
    let counted =
        |value: fn(Counted) -> Field| move |one: &Distances| one.counted.map_or(Field::Nothing, &value);
    vec![
        Column::new("topology", |one: &Distances| one.topology.name).titled("network"),
        Column::new("P", |one: &Distances| one.asked).titled("P"),
        Column::new("formula", |one: &Distances| one.topology.formula).titled("formula"),
        Column::new("average.formula", |one: &Distances| one.closed).titled("at P"),
        Column::new("built.P", |one: &Distances| one.P).titled("built"),
        Column::new("built.shape", |one: &Distances| one.shape.clone()).titled("as"),
        Column::new("built.nodes", counted(|counted| counted.nodes.into())),
        Column::new("average.exact", |one: &Distances| one.exact).titled("exact"),
        Column::new("average.counted", counted(|counted| counted.average.into())).titled("counted"),
        Column::new("average.of_two", counted(|counted| counted.of_two.into())).titled("of two"),
        Column::new("farthest", counted(|counted| counted.farthest.into())).titled("farthest"),
    ]
}

/// What the columns mean.
fn notes(rows: &[Distances]) -> Vec<Block> {
    let mut notes = vec![
        "at P: the formula for P, to which the average tends; built: the nearest P that such a network can have",
        "exact: with all terms kept, for that network; counted: over all its pairs, link by link",
        "of two: without the pairs of a processor with itself; farthest: the longest distance of all",
    ];
    if rows.iter().any(|row| row.counted.is_none()) {
        notes.push("in networks of more than 4,096 processors nothing is counted");
    }
    vec![Block::List(notes.into_iter().map(plain).collect())]
}
