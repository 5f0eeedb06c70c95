//! A report: rows, for people or for programs.

use std::io::Write;

use super::column::{self, Column};
use super::failure::Failure;
use super::interrupt;
use super::number::Unit;
use super::options::Format;

/// A report that is being written.
pub struct Report<'a, R> {
    /// Where the report is written to.
    out: &'a mut dyn Write,
    /// How rows are written.
    format: Format,
    /// The columns.
    columns: Vec<Column<'a, R>>,
    /// The rows; the columns of a table are as wide as the widest.
    pub rows: Vec<R>,
}

impl<'a, R> Report<'a, R> {
    /// An empty report.
    pub fn new(out: &'a mut dyn Write, format: Format, columns: Vec<Column<'a, R>>) -> Report<'a, R> {
        Report { out, format, columns, rows: Vec::new() }
    }

    /// Adds a row. Programs get it at once, people when the report is finished.
    pub fn add(&mut self, row: R) -> Result<(), Failure> {
        let mut line = Vec::new();
        match self.format {
            Format::Table => (),
            Format::Json => {
                line = serde_json::to_vec(&column::object(&self.columns, &row)).map_err(Failure::run)?;
                line.push(b'\n');
            }
            Format::Csv => {
                if self.rows.is_empty() {
                    line = column::csv_titles(&self.columns);
                }
                line.extend(column::csv_row(&self.columns, &row).map_err(Failure::run)?);
            }
        }
        if !line.is_empty() {
            self.out.write_all(&line)?;
            self.out.flush()?;
            interrupt::wrote(1);
        }
        self.rows.push(row);
        Ok(())
    }

    /// Writes the table, with times in this unit and at most so many decimals, if there is to be one: below the heading, and
    /// above what else there is to say.
    pub fn finish(
        &mut self,
        heading: &str,
        unit: Unit,
        most_decimals: usize,
        rest: impl FnOnce(&[R]) -> String,
    ) -> Result<(), Failure> {
        if self.format == Format::Table && !self.rows.is_empty() {
            let table = column::table(&self.columns, &self.rows, unit, most_decimals);
            interrupt::wrote(self.rows.len());
            write!(self.out, "{heading}\n\n{table}{}", rest(&self.rows))?;
            self.out.flush()?;
        }
        Ok(())
    }
}
