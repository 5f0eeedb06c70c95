//! Draws the tables of `docs/results/performance.md`: lateness, messages a second and errors, over P.
//!
//! `cargo run --release -p loggp-draw --example figures` reads the document and writes `docs/results/lateness.svg`,
//! `docs/results/virtual.svg` and `docs/results/errors.svg`; another folder can be named. A table is known by the text of its head.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::Path;

use loggp_draw::plot::{Line, Look, Plot, Scale};

/// A table of the document.
struct Table {
    /// What the columns are called.
    head: Vec<String>,
    /// The cells, row by row.
    rows: Vec<Vec<String>>,
}

/// A figure's name, and how it is drawn.
type Figure = (&'static str, fn(&[Table]) -> Result<Plot, String>);

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

/// The tables of a document in Markdown.
fn tables(text: &str) -> Vec<Table> {
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
            Some(Table { rows, .. }) if inside => rows.push(cells),
            _ => tables.push(Table { head: cells, rows: Vec::new() }),
        }
        inside = true;
    }
    for table in &mut tables {
        table.rows.retain(|row| !row.iter().all(|cell| cell.chars().all(|c| "-: ".contains(c))));
    }
    tables
}

/// The table whose head begins so.
fn named<'a>(tables: &'a [Table], head: &[&str]) -> Result<&'a Table, String> {
    let table =
        tables.iter().find(|table| table.head.iter().zip(head).filter(|(a, b)| a == b).count() == head.len());
    table.ok_or_else(|| {
        format!("docs/results/performance.md has no table whose head begins with {}", head.join(" | "))
    })
}

/// The number with which a cell begins: `1,171 (2.0)` is 1171.
fn number(cell: &str) -> Option<f64> {
    let digits: String =
        cell.chars().filter(|c| *c != ',').take_while(|c| "+-.0123456789".contains(*c)).collect();
    digits.parse().ok()
}

/// How late waits end, a panel for each load.
fn lateness(tables: &[Table]) -> Result<Plot, String> {
    let table = named(tables, &["each core has something to do every", "P"])?;
    let loads = grouped(table);
    let panel = |(load, rows): (String, Vec<&Vec<String>>)| {
        let line = |(number_of, name): (usize, &String)| {
            let points = points(&rows, 1, |row| {
                // p90, the middle of three; what was in time to the nanosecond is drawn at 1.
                Some(number(row.get(2 + number_of)?.split('/').nth(1)?.trim())?.max(1.0))
            });
            Line::new(name.as_str(), number_of, Look::Both, points)
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

/// Messages a second on the virtual clock, a panel for each pattern.
fn virtual_clock(tables: &[Table]) -> Result<Plot, String> {
    let table = named(tables, &["pattern", "P", "loggp"])?;
    let columns: Vec<(usize, &String)> = ["loggp", "replay", "bare loop"]
        .iter()
        .filter_map(|name| table.head.iter().enumerate().find(|(_, head)| head == name))
        .collect();
    let panel = |(pattern, rows): (String, Vec<&Vec<String>>)| {
        let line = |(number_of, (column, name)): (usize, &(usize, &String))| {
            let points = points(&rows, 1, |row| number(row.get(*column)?));
            Line::new(name.as_str(), number_of, Look::Both, points)
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
    .panels(grouped(table).into_iter().map(panel)))
}

/// How far measurements are from the model, a panel for each carrier.
fn errors(tables: &[Table]) -> Result<Plot, String> {
    let found = tables.iter().filter_map(|table| Some((table, table.head[0].strip_prefix("program on ")?)));
    let panel = |(table, carrier): (&Table, &str)| {
        // As many lines as programs would be a tangle: the worst of them, and the one in the middle.
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
        // What is less than the table shows is drawn at half of its last digit.
        let line = |number: usize, label: &str, of: fn(&[f64]) -> f64| {
            let points = by_size.iter().map(|(size, errors)| (*size as f64, of(errors).max(0.005)));
            Line::new(label, number, Look::Both, points.collect())
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

/// The rows by what their first cell says, in the order of the table.
fn grouped(table: &Table) -> Vec<(String, Vec<&Vec<String>>)> {
    let mut groups: Vec<(String, Vec<&Vec<String>>)> = Vec::new();
    for row in &table.rows {
        match groups.iter_mut().find(|(name, _)| *name == row[0]) {
            Some((_, rows)) => rows.push(row),
            None => groups.push((row[0].clone(), vec![row])),
        }
    }
    groups
}

/// The points of a line: what a column says of x, and what is read for y, where both are there.
fn points(rows: &[&Vec<String>], x: usize, y: impl Fn(&[String]) -> Option<f64>) -> Vec<(f64, f64)> {
    rows.iter().filter_map(|row| Some((number(row.get(x)?)?, y(row)?))).collect()
}
