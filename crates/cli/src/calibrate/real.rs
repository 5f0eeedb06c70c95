//! `loggp calibrate --on mpi`: LogGPS's parameters of a real machine, level by level, and what they are worth for each length.

use std::io::Write;
use std::mem::take;
use std::sync::Arc;

use loggp::{Link, Time};
use loggp_document::{Block, plain};
use loggp_study::Failed;
use loggp_study::real::{CALL, EXCHANGE, FLOOD, Measured, Placed, Real, WAY, groups, places};

use super::super::column::{Column, object};
use super::super::failure::Failure;
use super::super::field::{Field, Object};
use super::super::heading::parameters;
use super::super::machine_file;
use super::super::number::{Unit, percent, rough};
use super::super::options::Format;
use super::super::report::Report;
use super::Calibrate;

/// What was measured with messages of one length, and what the parameters say.
struct Row {
    /// The processes between which they went: process 0 and this one.
    other: usize,
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
    let places = places(link).map_err(Failed::from)?;
    let grouped = groups(&places);
    let levels = Real::study(link, &grouped.sizes).map_err(Failed::from)?;
    let unit = Unit::usual(&levels[0].params);
    let found = |real: &Real| {
        let with = format!("processes 0 and {}", real.other);
        format!("{with}: {}, {} ports\n", parameters(&real.params, &unit).join(", "), real.ports)
    };
    let heading = format!(
        "{}\n{}round trips, floods and exchanges, times in {}, buffers written just before or cold",
        link.name(),
        levels.iter().map(found).collect::<String>(),
        unit.name
    );
    let (machines, rows): (Vec<_>, Vec<_>) =
        take(&mut files.rows).into_iter().partition(|(format, _)| *format == Format::Json);
    let mut report = Report::new(out, asked.machine.format, columns()).files(rows);
    for real in &levels {
        for measured in &real.measured {
            report.add(Row { other: real.other, measured: *measured })?;
        }
    }
    report.finish(&heading, unit, super::MOST_DECIMALS, |_| {
        let scattered = grouped.scattered.map(|what| {
            format!("{what} are no level: their processes do not follow one another in equal numbers")
        });
        let said = levels.iter().flat_map(|real| said(real, &unit)).chain(scattered);
        said.map(|text| Block::Paragraph(plain(text))).collect()
    })?;
    for (_, file) in machines {
        let machine = machine(&levels, link.name(), &places, &report.rows);
        file.write(|file| Ok(serde_json::to_writer(file, &machine)?))?;
    }
    Ok(())
}

/// What the table does not say.
fn said(real: &Real, unit: &Unit) -> Vec<String> {
    let share = |(middle, worst): (f64, f64)| {
        let [middle, worst] = [middle, worst].map(|error| percent(error).trim_start_matches('+').to_string());
        format!("within {middle} in the middle and {worst} at most")
    };
    let doubts = real.doubts.iter().map(|(name, doubt)| format!("{name} {}", rough(unit.amount(*doubt))));
    let doubts: Vec<String> = doubts.collect();
    let mut said = vec![
        format!(
            "floods and exchanges between processes 0 and {}, of lengths that were not fitted, are {} from 4 KiB on, and {} below",
            real.other,
            share(real.held_out(true)),
            share(real.held_out(false))
        ),
        format!("from one repetition to another differ, in {}: {}", unit.name, doubts.join(", ")),
    ];
    if real.overlaps {
        said.push(
            "half a round trip is shorter than two overheads: they overlap, and L is no less than 0".into(),
        );
    }
    said
}

/// A machine is one object, and beside its parameters lies what they were made of.
fn machine(levels: &[Real], link: String, places: &[Placed], rows: &[Row]) -> Object {
    let (outermost, within) = levels.split_first().expect("all processes are a level");
    let mut machine = machine_file::object(Some("mpi"), &outermost.params, &[]);
    let mut say = |name: &'static str, value: Field| machine.0.push((name.into(), value));
    let doubts = |real: &Real| {
        let doubt = |(name, doubt): &(&'static str, Time)| (format!("doubts.{name}").into(), (*doubt).into());
        real.doubts.iter().map(doubt).collect::<Vec<_>>()
    };
    let level = |real: &Real| {
        let mut level = machine_file::level(&real.level());
        level.0.extend(doubts(real));
        level
    };
    say("ports", outermost.ports.into());
    say("levels", Field::Rows(within.iter().map(level).collect()));
    say("link", link.into());
    let process = |(rank, placed): (usize, &Placed)| {
        let text = |text: &Option<String>| text.as_deref().map_or(Field::Nothing, Field::from);
        let setting =
            |(name, value): &(String, String)| (format!("settings.{name}").into(), value.as_str().into());
        let mut process = vec![
            ("process".into(), rank.into()),
            ("host".into(), placed.host.as_str().into()),
            ("cores".into(), text(&placed.cores)),
            ("socket".into(), text(&placed.socket)),
        ];
        process.extend(placed.settings.iter().map(setting));
        Object(process)
    };
    say("processes", Field::Rows(places.iter().enumerate().map(process).collect()));
    machine.0.extend(doubts(outermost));
    let columns = columns();
    machine.0.push(("measured".into(), Field::Rows(rows.iter().map(|row| object(&columns, row)).collect())));
    machine
}

/// A row has what was measured with messages of a length, beside what the parameters say.
fn columns<'a>() -> Vec<Column<'a, Row>> {
    let times = [(WAY, "way"), (FLOOD, "flood"), (EXCHANGE, "exchange"), (CALL, "call")];
    let mut columns = vec![
        Column::new("other", |row: &Row| row.other).titled("with"),
        Column::new("bytes", |row: &Row| row.measured.of.bytes).titled("bytes"),
        Column::new("buffers", |row: &Row| if row.measured.of.cold { "cold" } else { "written" })
            .titled("buffers"),
    ];
    for (kind, name) in times {
        let title = if kind == WAY { "one way" } else { name };
        columns.extend([
            Column::new(format!("{name}_ns"), move |row: &Row| Field::OfHost(row.measured.times[kind].0))
                .titled(title),
            Column::new(format!("{name}_doubt_ns"), move |row: &Row| {
                Field::OfHost(row.measured.times[kind].1)
            }),
            Column::new(format!("{name}_error"), move |row: &Row| Field::Error(row.measured.error(kind)))
                .titled("LogGPS"),
        ]);
    }
    columns
        .push(Column::new("fitted", |row: &Row| if row.measured.fitted { "fitted" } else { "" }).titled(""));
    columns
}
