//! `loggp machines --topology`: networks and the average distances of their processors (LogP, section 5.1).

use std::io::Write;

use loggp::US;
use loggp_document::{DocumentBlock, plain};
use loggp_predict::topology::{CountedDistances, Distances, MOST_PROCESSORS, TOPOLOGIES};
use loggp_study::rows::{Columns, Field};

use crate::ask::format::Format;
use crate::error::CliError;
use crate::number::{Unit, thousands};
use crate::tell::report::Report;

/// The number of processors in the paper's table.
const USUAL: usize = 1024;

/// Lists every network with each of these numbers of processors.
pub(crate) fn list(out: &mut dyn Write, numbers: &[usize], format: Format) -> Result<(), CliError> {
    let numbers = if numbers.is_empty() { &[USUAL] } else { numbers };
    if let Some(P) = numbers.iter().find(|P| !(2..=MOST_PROCESSORS).contains(*P)) {
        let most = thousands(MOST_PROCESSORS);
        return Err(CliError::request(format!("there is no network of {P}; give a P from 2 to {most}")));
    }
    let mut report = Report::new(out, format, columns());
    for P in numbers {
        TOPOLOGIES.iter().try_for_each(|topology| report.add(topology.distances(*P)))?;
    }
    let heading = "average distance between two processors, in links, over all pairs (LogP, section 5.1)";
    report.finish(heading, Unit::from_text("us", US), notes)
}

fn columns() -> Columns<'static, Distances> {
    let counted = |value: fn(CountedDistances) -> Field| {
        move |distances: &Distances| distances.counted.map_or(Field::Null, &value)
    };
    let mut columns = Columns::<Distances>::new();
    columns.add("topology", |distances| distances.topology.name).title("network");
    columns.add("P", |distances| distances.requested).title("P");
    columns.add("formula", |distances| distances.topology.formula).title("formula");
    columns.add("average.formula", |distances| distances.closed_form).title("at P");
    columns.add("built.P", |distances| distances.P).title("built");
    columns.add("built.shape", |distances| distances.shape.clone()).title("as");
    columns.add("built.nodes", counted(|counted| counted.nodes.into()));
    columns.add("average.exact", |distances| distances.exact).title("exact");
    columns.add("average.counted", counted(|counted| counted.average.into())).title("counted");
    columns.add("average.of_two", counted(|counted| counted.of_two.into())).title("of two");
    columns.add("farthest", counted(|counted| counted.farthest.into())).title("farthest");
    columns
}

/// Returns the notes that explain the columns.
fn notes(rows: &[Distances]) -> Vec<DocumentBlock> {
    let mut notes = vec![
        "at P: the formula for P, to which the average tends; built: the nearest P that such a network can have",
        "exact: with all terms kept, for that network; counted: over all its pairs, link by link",
        "of two: without the pairs of a processor with itself; farthest: the longest distance of all",
    ];
    if rows.iter().any(|row| row.counted.is_none()) {
        notes.push("in networks of more than 4,096 processors nothing is counted");
    }
    vec![DocumentBlock::List(notes.into_iter().map(plain).collect())]
}
