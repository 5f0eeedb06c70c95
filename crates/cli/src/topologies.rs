//! `loggp machines --topology`: networks and the average distances of their processors (LogP, section 5.1).

use std::io::Write;

use loggp::US;
use loggp_document::{DocumentBlock, plain};
use loggp_papers::topology::{CountedDistances, Distances, MOST_PROCESSORS, TOPOLOGIES};

use super::column::ReportColumn;
use super::error::CliError;
use super::field::Field;
use super::format::Format;
use super::number::{Unit, thousands};
use super::report::Report;

/// The number of processors in the paper's table.
const USUAL: usize = 1024;

/// Lists every network with each of these numbers of processors.
pub fn list(out: &mut dyn Write, numbers: &[usize], format: Format) -> Result<(), CliError> {
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
    report.finish(heading, Unit::from_text("us", US), 0, notes)
}

fn columns() -> Vec<ReportColumn<'static, Distances>> {
    let counted = |value: fn(CountedDistances) -> Field| {
        move |distances: &Distances| distances.counted.map_or(Field::Null, &value)
    };
    vec![
        ReportColumn::new("topology", |distances: &Distances| distances.topology.name).with_title("network"),
        ReportColumn::new("P", |distances: &Distances| distances.requested).with_title("P"),
        ReportColumn::new("formula", |distances: &Distances| distances.topology.formula)
            .with_title("formula"),
        ReportColumn::new("average.formula", |distances: &Distances| distances.closed_form)
            .with_title("at P"),
        ReportColumn::new("built.P", |distances: &Distances| distances.P).with_title("built"),
        ReportColumn::new("built.shape", |distances: &Distances| distances.shape.clone()).with_title("as"),
        ReportColumn::new("built.nodes", counted(|counted| counted.nodes.into())),
        ReportColumn::new("average.exact", |distances: &Distances| distances.exact).with_title("exact"),
        ReportColumn::new("average.counted", counted(|counted| counted.average.into())).with_title("counted"),
        ReportColumn::new("average.of_two", counted(|counted| counted.of_two.into())).with_title("of two"),
        ReportColumn::new("farthest", counted(|counted| counted.farthest.into())).with_title("farthest"),
    ]
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
