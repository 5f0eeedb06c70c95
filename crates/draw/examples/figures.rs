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

/// Reads the tables of a Markdown document: a head, a rule, and rows.
fn tables(text: &str) -> Vec<MarkdownTable> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let is_row = |line: &str| line.starts_with('|');
    let blocks = lines.chunk_by(|one, other| is_row(one) == is_row(other)).filter(|block| is_row(block[0]));
    let cells = |line: &&str| line.trim_matches('|').split('|').map(|cell| cell.trim().into()).collect();
    let rows = |block: &[&str]| block.iter().skip(2).map(cells).collect();
    blocks.map(|block| MarkdownTable { head: cells(&block[0]), rows: rows(block) }).collect()
}

/// Returns the table whose head begins with these cells.
fn find_table<'a>(tables: &'a [MarkdownTable], head: &[&str]) -> Result<&'a MarkdownTable, String> {
    let table = tables.iter().find(|table| table.head.iter().take(head.len()).eq(head));
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
    // p90 is the middle of three; 0 is drawn at 1, since the scale is logarithmic.
    let p90 = |cell: &str| Some(number(cell.split('/').nth(1)?.trim())?.max(1.0));
    let panels = panels(table, 2..table.head.len(), p90);
    let subtitle = "nine tenths of the waits are no later; each core has something to do this often";
    Ok(Plot::new("How late a wait ends", subtitle)
        .x("processors", Scale::Points)
        .y("lateness, ns", Scale::Log)
        .panels(panels.into_iter().map(|(load, lines)| (format!("every {load}"), lines))))
}

/// Plots messages per second on the virtual clock, with a panel for each pattern.
fn virtual_clock(tables: &[MarkdownTable]) -> Result<Plot, String> {
    let table = find_table(tables, &["pattern", "P", "loggp"])?;
    let columns = ["loggp", "replay", "bare loop"].into_iter();
    let columns = columns.filter_map(|name| table.head.iter().position(|head| head == name));
    let subtitle = "messages of a word: as programs with stacks, as schedules, and in a bare event loop";
    Ok(Plot::new("The virtual clock", subtitle)
        .x("processors", Scale::Log)
        .y("million messages a second", Scale::Log)
        .panels(panels(table, columns, number)))
}

/// Returns a panel for each value of the first column, over P in the second, with a line for each of these
/// columns, whose cells `y` reads.
fn panels(
    table: &MarkdownTable,
    columns: impl Iterator<Item = usize> + Clone,
    y: impl Fn(&str) -> Option<f64>,
) -> Vec<(String, Vec<PlotLine>)> {
    let panel = |rows: &[Vec<String>]| {
        let line = |(number_of, column): (usize, usize)| {
            let point = |row: &Vec<String>| Some((number(row.get(1)?)?, y(row.get(column)?)?));
            let points = rows.iter().filter_map(point).collect();
            PlotLine::new(table.head[column].as_str(), number_of, Look::Both, points)
        };
        let lines = columns.clone().enumerate().map(line).filter(|line| !line.points.is_empty());
        (rows[0][0].clone(), lines.collect())
    };
    table.rows.chunk_by(|one, other| one[0] == other[0]).map(panel).collect()
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
    let subtitle = "all programs, dilation chosen by auto; 0.005% and less at the bottom";
    Ok(Plot::new("Measured against model", subtitle)
        .x("processors", Scale::Points)
        .y("error, %", Scale::Log)
        .panels(panels))
}
