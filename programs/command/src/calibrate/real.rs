//! `loggp calibrate --on mpi`: o, g, L and G of a real machine, and what they are worth for each length.

use std::io::Write;
use std::mem::take;
use std::sync::Arc;

use loggp::{Link, Time};
use loggp_study::Failed;
use loggp_study::real::{Measured, Real};

use super::Calibrate;
use crate::column::{Column, object};
use crate::failure::Failure;
use crate::field::Field;
use crate::heading::parameters;
use crate::machine_file;
use crate::number::Unit;
use crate::options::Format;
use crate::report::Report;

/// What was measured with messages of one length, and what the parameters say.
struct Row<'a> {
    real: &'a Real,
    measured: Measured,
}

/// Measures, and says how near the parameters come.
pub fn calibrate(asked: &Calibrate, link: &Arc<dyn Link>, out: &mut dyn Write) -> Result<(), Failure> {
    if link.p() < 2 {
        return Err(Failure::request(
            "a process alone has nobody to send to; start at least 2, as in `mpirun -n 2`",
        ));
    }
    let mut files = asked.outputs.open()?;
    let real = Real::study(link).map_err(Failed::from)?;
    let unit = Unit::usual(&real.params);
    let mut heading = format!("{}: {}", link.name(), parameters(&real.params, &unit).join(", "));
    heading += &format!("\nround trips and floods between processes 0 and 1, times in {}", unit.name);
    if real.overlaps {
        heading += "; half a round trip is shorter than two overheads, so that L = 0";
    }
    let (machines, rows): (Vec<_>, Vec<_>) =
        take(&mut files.rows).into_iter().partition(|(format, _)| *format == Format::Json);
    let mut report = Report::new(out, asked.machine.format, columns()).files(rows);
    for measured in real.measured.iter().copied() {
        report.add(Row { real: &real, measured })?;
    }
    report.finish(&heading, unit, super::MOST_DECIMALS, |_| Vec::new())?;
    // A machine is one object, and beside its parameters lies what they were made of.
    let columns = columns();
    for (_, file) in machines {
        let mut machine = machine_file::object(Some("mpi"), &real.params, &[]);
        machine.0.push(("link".into(), link.name().into()));
        let lengths = report.rows.iter().map(|row| object(&columns, row));
        machine.0.push(("measured".into(), Field::Rows(lengths.collect())));
        file.write(|file| Ok(serde_json::to_writer(file, &machine)?))?;
    }
    Ok(())
}

/// A row has what was measured with messages of a length, beside what the parameters say.
fn columns<'a>() -> Vec<Column<'a, Row<'a>>> {
    let error = |said: Time, measured: Time| Field::Error(said.as_ns() / measured.as_ns() - 1.0);
    vec![
        Column::new("bytes", |row: &Row| row.measured.bytes).titled("bytes"),
        Column::new("way_ns", |row: &Row| Field::OfHost(row.measured.way.0)).titled("one way"),
        Column::new("way_doubt_ns", |row: &Row| Field::OfHost(row.measured.way.1)).titled("doubt"),
        Column::new("way_error", move |row: &Row| {
            error(row.real.predicted(row.measured.bytes).0, row.measured.way.0)
        })
        .titled("LogGP"),
        Column::new("flood_ns", |row: &Row| Field::OfHost(row.measured.flood.0)).titled("flood"),
        Column::new("flood_doubt_ns", |row: &Row| Field::OfHost(row.measured.flood.1)).titled("doubt"),
        Column::new("flood_error", move |row: &Row| {
            error(row.real.predicted(row.measured.bytes).1, row.measured.flood.0)
        })
        .titled("LogGP"),
        Column::new("call_ns", |row: &Row| Field::OfHost(row.measured.call)).titled("call"),
        Column::new("fitted", |row: &Row| if row.measured.fitted { "fitted" } else { "" }).titled(""),
    ]
}
