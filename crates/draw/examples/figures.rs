//! Draws the tables of `docs/results/performance.md`: lateness, messages a second and errors, over P.
//!
//! `cargo run --release -p loggp-draw --example figures` reads the document and writes
//! `docs/results/lateness.svg`, `docs/results/virtual.svg` and `docs/results/errors.svg`; another folder can
//! be given as an argument. A table is found by the text of its head.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::Path;

use loggp_draw::plot::{Look, Plot, PlotLine, Scale};

struct MarkdownTable {
    head: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// The file of a figure, and the function that draws it.
type Figure = (&'static str, fn(&[MarkdownTable]) -> Result<Plot, String>);

fn main() -> Result<(), Box<dyn Error>> {
    let docs =
        std::env::args().nth(1).unwrap_or(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/results").into());
    let docs = Path::new(&docs);
    let tables = tables(&fs::read_to_string(docs.join("performance.md"))?);
    let figures: [Figure; 3] =
        [("lateness.svg", lateness), ("virtual.svg", virtual_clock), ("errors.svg", errors)];
    for (name, figure) in figures {
        fs::write(docs.join(name), figure(&tables)?.svg())?;
        println!("{}", docs.join(name).display());
    }
    Ok(())
}

/// Reads the tables of a Markdown document.
fn tables(text: &str) -> Vec<MarkdownTable> {
    let mut tables = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        let Some(line) = line.trim().strip_prefix('|') else {
            inside = false;
            continue;
        };
        let cells: Vec<String> =
            line.trim_end_matches('|').split('|').map(|cell| cell.trim().into()).collect();
        match tables.last_mut() {
            Some(MarkdownTable { rows, .. }) if inside => rows.push(cells),
            _ => tables.push(MarkdownTable { head: cells, rows: Vec::new() }),
        }
        inside = true;
    }
    for table in &mut tables {
        table.rows.retain(|row| !row.iter().all(|cell| cell.chars().all(|c| "-: ".contains(c))));
    }
    tables
}

/// Returns the table whose head begins with these cells.
fn find_table<'a>(tables: &'a [MarkdownTable], head: &[&str]) -> Result<&'a MarkdownTable, String> {
    let table =
        tables.iter().find(|table| table.head.iter().zip(head).filter(|(a, b)| a == b).count() == head.len());
    table.ok_or_else(|| {
        format!("docs/results/performance.md has no table whose head begins with {}", head.join(" | "))
    })
}

/// Returns the number at the beginning of a cell: that of `1,171 (2.0)` is 1171.
fn number(cell: &str) -> Option<f64> {
    let digits: String =
        cell.chars().filter(|c| *c != ',').take_while(|c| "+-.0123456789".contains(*c)).collect();
    digits.parse().ok()
}

/// Plots the lateness of waits, with a panel for each load.
fn lateness(tables: &[MarkdownTable]) -> Result<Plot, String> {
    let table = find_table(tables, &["each core has something to do every", "P"])?;
    let loads = group_rows(table);
    let panel = |(load, rows): (String, Vec<&Vec<String>>)| {
        let line = |(number_of, name): (usize, &String)| {
            let points = points(&rows, 1, |row| {
                // p90 is the middle of three; 0 is drawn at 1, since the scale is logarithmic.
                Some(number(row.get(2 + number_of)?.split('/').nth(1)?.trim())?.max(1.0))
            });
            PlotLine::new(name.as_str(), number_of, Look::Both, points)
        };
        (format!("every {load}"), table.head[2..].iter().enumerate().map(line).collect::<Vec<_>>())
    };
    Ok(Plot::new(
        "How late a wait ends",
        "nine tenths of the waits are no later; each core has something to do this often",
    )
    .x("processors", Scale::Points)
    .y("lateness, ns", Scale::Log)
    .panels(loads.into_iter().map(panel)))
}

/// Plots messages per second on the virtual clock, with a panel for each pattern.
fn virtual_clock(tables: &[MarkdownTable]) -> Result<Plot, String> {
    let table = find_table(tables, &["pattern", "P", "loggp"])?;
    let columns: Vec<(usize, &String)> = ["loggp", "replay", "bare loop"]
        .iter()
        .filter_map(|name| table.head.iter().enumerate().find(|(_, head)| head == name))
        .collect();
    let panel = |(pattern, rows): (String, Vec<&Vec<String>>)| {
        let line = |(number_of, (column, name)): (usize, &(usize, &String))| {
            let points = points(&rows, 1, |row| number(row.get(*column)?));
            PlotLine::new(name.as_str(), number_of, Look::Both, points)
        };
        let lines = columns.iter().enumerate().map(line).filter(|line| !line.points.is_empty());
        (pattern, lines.collect::<Vec<_>>())
    };
    Ok(Plot::new(
        "The virtual clock",
        "messages of a word: as programs with stacks, as schedules, and in a bare event loop",
    )
    .x("processors", Scale::Log)
    .y("million messages a second", Scale::Log)
    .panels(group_rows(table).into_iter().map(panel)))
}

/// Plots the errors of measurements, with a panel for each carrier.
fn errors(tables: &[MarkdownTable]) -> Result<Plot, String> {
    let found = tables.iter().filter_map(|table| Some((table, table.head[0].strip_prefix("program on ")?)));
    let panel = |(table, carrier): (&MarkdownTable, &str)| {
        // Only the worst program and the one in the middle, since a line for each program would be a tangle.
        let mut by_size: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
        for row in &table.rows {
            for (head, cell) in table.head.iter().zip(row).skip(1) {
                let size = head.strip_prefix("P = ").and_then(number);
                if let (Some(size), Some(error)) = (size, number(cell)) {
                    by_size.entry(size as u64).or_default().push(error.abs());
                }
            }
        }
        by_size.values_mut().for_each(|errors| errors.sort_by(f64::total_cmp));
        // Errors below the last digit of the table are drawn at half of that digit.
        let line = |number: usize, label: &str, of: fn(&[f64]) -> f64| {
            let points = by_size.iter().map(|(size, errors)| (*size as f64, of(errors).max(0.005)));
            PlotLine::new(label, number, Look::Both, points.collect())
        };
        let middle = line(0, "program in the middle", |errors| errors[errors.len() / 2]);
        (carrier.to_string(), [middle, line(1, "worst program", |errors| errors[errors.len() - 1])])
    };
    let panels: Vec<_> = found.map(panel).collect();
    if panels.is_empty() {
        return Err("docs/results/performance.md has no table whose head begins with program on".into());
    }
    Ok(Plot::new(
        "Measured against model",
        "all programs, dilation chosen by auto; 0.005% and less at the bottom",
    )
    .x("processors", Scale::Points)
    .y("error, %", Scale::Log)
    .panels(panels))
}

/// Groups the rows by their first cell, in the order of the table.
fn group_rows(table: &MarkdownTable) -> Vec<(String, Vec<&Vec<String>>)> {
    let mut groups: Vec<(String, Vec<&Vec<String>>)> = Vec::new();
    for row in &table.rows {
        match groups.iter_mut().find(|(name, _)| *name == row[0]) {
            Some((_, rows)) => rows.push(row),
            None => groups.push((row[0].clone(), vec![row])),
        }
    }
    groups
}

/// Returns the points of a line from the rows that have both: x from a column, and y from `y`.
fn points(rows: &[&Vec<String>], x: usize, y: impl Fn(&[String]) -> Option<f64>) -> Vec<(f64, f64)> {
    rows.iter().filter_map(|row| Some((number(row.get(x)?)?, y(row)?))).collect()
}
