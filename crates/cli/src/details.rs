//! What stands below the table of `run`, `compare` and `sweep`: what else the runs showed, their phases, how this computer
//! held them, and what must be said of the rest.

use loggp::Latency;
use loggp_document::{Block, plain};
use loggp_programs::{Case, Metric};
use loggp_study::Phase;

use super::column::{Column, table};
use super::failure::together;
use super::number::Unit;
use super::row::{self, MOST_DECIMALS, Row};
use super::studies::LATE;

/// All that is said below the table.
pub fn details(rows: &[Row], unit: Unit) -> Vec<Block> {
    let mut blocks: Vec<Block> = metrics(rows, unit).into_iter().chain(phases(rows, unit)).collect();
    let mut notes = together(rows.iter().filter_map(note));
    for row in rows {
        let drawn = row.answers.drawn.iter();
        notes.extend(drawn.map(|drawn| format!("the median run of {} has {drawn}", row.task.name)));
    }
    if rows.iter().any(|row| row.host().is_some()) {
        blocks.extend(host(rows, unit));
        notes.extend(reasons(rows));
    }
    if rows.iter().any(Row::is_late) {
        notes.push(LATE.into());
    }
    blocks.push(Block::List(notes.into_iter().map(plain).collect()));
    blocks
}

/// What else the runs showed, as a table; nothing where they showed no more.
fn metrics(rows: &[Row], unit: Unit) -> Option<Block> {
    let mut columns = vec![Column::shown("", |row: &Row| row.task.name.clone())];
    let mut seen: Vec<(&str, &str)> = Vec::new();
    for &Metric { name, unit, .. } in rows.iter().flat_map(|row| &row.answers.outcome.metrics) {
        if !seen.contains(&(name, unit)) {
            seen.push((name, unit));
            columns.push(Column::shown(format!("{name} {unit}").trim(), move |row: &Row| {
                let metrics = &row.answers.outcome.metrics;
                let metric = metrics.iter().find(|metric| (metric.name, metric.unit) == (name, unit));
                metric.map(|metric| metric.value)
            }));
        }
    }
    table(&columns, if seen.is_empty() { &[] } else { rows }, unit, MOST_DECIMALS)
}

/// The phases of the runs, as a table with times in this unit; nothing where they have no phases.
fn phases(rows: &[Row], unit: Unit) -> Option<Block> {
    /// The first phase of a run stands beside its name.
    fn named(row: &Row) -> impl Iterator<Item = (&str, &Phase)> {
        std::iter::once(row.task.name.as_str()).chain(std::iter::repeat("")).zip(&row.answers.phases)
    }
    let phases: Vec<(&str, &Phase)> = rows.iter().flat_map(named).collect();
    let mut columns = vec![Column::shown("", |(name, _): &(&str, &Phase)| name.to_string())];
    columns.extend(row::phase(|(_, phase): &(&str, &Phase)| *phase));
    table(&columns, &phases, unit, MOST_DECIMALS)
}

/// How this computer held the runs, as a table.
fn host(rows: &[Row], unit: Unit) -> Option<Block> {
    let mut columns = vec![Column::shown("", |row: &Row| row.task.name.clone())];
    columns.extend([row::dilation(), row::cores()]);
    columns.extend(row::lateness());
    table(&columns, rows, unit, MOST_DECIMALS)
}

/// Why a run has no formula, or why that need not be its time, in one sentence.
fn note(row: &Row) -> Option<String> {
    let Case { algorithm, params, latency, noise, .. } = row.case();
    let name = algorithm.name;
    Some(match algorithm.formula.strip_prefix("none: ") {
        _ if row.answers.prediction.formula.is_some() => {
            let said = match (*latency != Latency::Exact, noise.is_some()) {
                (false, false) => return None,
                (true, false) => "formulas take every message to be under way for exactly L",
                (false, true) => "formulas take the processors to be free of noise",
                (true, true) => {
                    "formulas take every message to be under way for exactly L, and know no noise"
                }
            };
            said.into()
        }
        Some(why) => format!("no formula for {name}: {why}"),
        None if !params.is_loggp() => {
            "no formulas: they are for LogP and LogGP, and this is a LogGPS machine".into()
        }
        None => format!("no formula for {name} in this case: in general it is {}", algorithm.formula),
    })
}

/// Why the machine ran so much slower than it should: a line for each reason.
fn reasons(rows: &[Row]) -> Vec<String> {
    let hosts: Vec<_> = rows.iter().filter_map(|row| Some((&row.task.name, &row.host()?.why))).collect();
    let same = hosts.iter().all(|(_, why)| *why == hosts[0].1);
    let line = |(name, why): &(&String, &String)| match same {
        true => format!("dilation: {why}"),
        false => format!("dilation of {name}: {why}"),
    };
    together(hosts.iter().map(line))
}
