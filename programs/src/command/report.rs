//! A report: rows, for people or for programs.

use std::io::Write;

use loggp::Time;
use loggp_programs::Algorithm;

use super::failure::Failure;
use super::number::{Unit, percent, thousands};
use super::options::Format;
use super::row::Row;
use super::setting::Setting;
use super::table::Table;
use super::{csv, row};

/// A report that is being written.
pub struct Report<'a> {
    /// Where it goes.
    out: &'a mut dyn Write,
    /// What it looks like.
    format: Format,
    /// The rows of a table, whose columns are as wide as the widest.
    rows: Vec<Row>,
    /// What must be said below a table.
    notes: Vec<String>,
}

/// A table shows times with at most so many decimals.
const MOST_DECIMALS: usize = 3;

impl<'a> Report<'a> {
    /// An empty report.
    pub fn new(out: &'a mut dyn Write, format: Format) -> Report<'a> {
        Report { out, format, rows: Vec::new(), notes: Vec::new() }
    }

    /// Adds a row. Programs get it at once, people when the report is finished.
    pub fn add(&mut self, setting: &Setting, algorithm: &Algorithm, row: Row) -> Result<(), Failure> {
        match self.format {
            Format::Json => {
                let object = serde_json::to_string(&row).map_err(Failure::run)?;
                writeln!(self.out, "{object}")?;
                self.out.flush()?;
            }
            Format::Csv => {
                if self.rows.is_empty() {
                    csv::write_titles(self.out)?;
                }
                csv::write_row(self.out, &row)?;
                self.out.flush()?;
            }
            Format::Table => {
                let note = match row.prediction.formula {
                    None => Some(setting.why_no_formula(algorithm)),
                    Some(_) => setting.why_not_exact(),
                };
                self.notes.extend(note.filter(|note| !self.notes.contains(note)));
            }
        }
        self.rows.push(row);
        Ok(())
    }

    /// Writes what has not been written yet.
    pub fn finish(self, setting: &Setting) -> Result<(), Failure> {
        if self.format != Format::Table || self.rows.is_empty() {
            return Ok(());
        }
        write!(self.out, "{}\n\n{}", setting.heading(), table(&self.rows, setting.choice.unit))?;
        if !self.notes.is_empty() {
            writeln!(self.out, "\n{}", self.notes.join("\n"))?;
        }
        Ok(self.out.flush()?)
    }
}

/// The rows as a table, with times in this unit.
fn table(rows: &[Row], unit: Unit) -> Table {
    let times = |row: &Row| [row.prediction.formula, row.prediction.model, row.prediction.measured];
    let exact = rows.iter().flat_map(times).flatten().map(|time| unit.decimals(time)).max().unwrap_or(0);
    let decimals = exact.min(MOST_DECIMALS);
    let time = |time: Option<Time>| time.map_or("-".into(), |time| unit.number(time, decimals));
    let error = |error: Option<f64>| error.map_or("-".into(), percent);
    let in_transit = |row::Stalls { max_in_transit, capacity, .. }: &row::Stalls| match capacity {
        Some(capacity) => format!("{} of {}", thousands(max_in_transit), thousands(capacity)),
        None => "-".into(),
    };
    let verified = |row: &Row| if row.verified { "yes" } else { "NO" };

    let mut table = Table::new();
    let rows = || rows.iter();
    table.words("algorithm", rows().map(|row| row.algorithm.into()));
    table.numbers("formula", rows().map(|row| time(row.prediction.formula)));
    table.numbers("model", rows().map(|row| time(row.prediction.model)));
    table.numbers("vs formula", rows().map(|row| error(row.prediction.error_formula())));
    if rows().any(|row| row.prediction.measured.is_some()) {
        table.numbers("measured", rows().map(|row| time(row.prediction.measured)));
        table.numbers("vs model", rows().map(|row| error(row.prediction.error_model())));
    }
    table.numbers("messages", rows().map(|row| thousands(row.messages)));
    table.numbers("stalls", rows().map(|row| thousands(row.stalls.count)));
    if rows().any(|row| row.stalls.count > 0) {
        table.numbers("stalled", rows().map(|row| time(Some(row.stalls.ns.0))));
    }
    table.numbers("in transit", rows().map(|row| in_transit(&row.stalls)));
    table.words("verified", rows().map(|row| verified(row).into()));
    table
}
