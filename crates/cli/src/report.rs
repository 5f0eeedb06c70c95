//! A report: rows, for people or for programs.

use std::io::Write;
use std::mem::take;

use loggp_document::{Block, Document};

use super::column::{self, Column};
use super::draft::Draft;
use super::failure::Failure;
use super::field::Object;
use super::interrupt;
use super::number::Unit;
use super::options::Format;
use super::stdout::{self, width_of_files};

/// A report that is being written.
pub struct Report<'a, R> {
    /// Where the report is written to.
    out: &'a mut dyn Write,
    /// How rows are written.
    format: Format,
    /// Where else rows are written to, and how.
    files: Vec<(Format, Draft)>,
    /// The columns.
    columns: Vec<Column<'a, R>>,
    /// What JSON has of all rows together, if it has not an object for each.
    whole: Option<Object>,
    /// The rows; the columns of a table are as wide as the widest.
    pub rows: Vec<R>,
}

impl<'a, R> Report<'a, R> {
    /// An empty report.
    pub fn new(out: &'a mut dyn Write, format: Format, columns: Vec<Column<'a, R>>) -> Report<'a, R> {
        Report { out, format, files: Vec::new(), columns, whole: None, rows: Vec::new() }
    }

    /// The report is written to these files too, when it is finished.
    #[must_use]
    pub fn files(self, files: Vec<(Format, Draft)>) -> Self {
        Report { files, ..self }
    }

    /// As JSON the report is this one object.
    #[must_use]
    pub fn whole(self, whole: Object) -> Self {
        Report { whole: Some(whole), ..self }
    }

    /// Adds a row. Programs get it at once, people when the report is finished.
    pub fn add(&mut self, row: R) -> Result<(), Failure> {
        let line = self.line(self.format, &row, self.rows.is_empty())?;
        if !line.is_empty() {
            self.out.write_all(&line)?;
            self.out.flush()?;
            interrupt::wrote(1);
        }
        self.rows.push(row);
        Ok(())
    }

    /// A row as programs get it, below the titles if it is the first; nothing for people.
    fn line(&self, format: Format, row: &R, is_first: bool) -> Result<Vec<u8>, Failure> {
        match format {
            Format::Table => Ok(Vec::new()),
            Format::Json if self.whole.is_some() && !is_first => Ok(Vec::new()),
            Format::Json => {
                let row = column::object(&self.columns, row);
                let mut line =
                    serde_json::to_vec(self.whole.as_ref().unwrap_or(&row)).map_err(Failure::run)?;
                line.push(b'\n');
                Ok(line)
            }
            Format::Csv => {
                let mut line = if is_first { column::csv_titles(&self.columns) } else { Vec::new() };
                line.extend(column::csv_row(&self.columns, row).map_err(Failure::run)?);
                Ok(line)
            }
        }
    }

    /// Writes the table, with times in this unit and at most so many decimals, if there is to be one: below the heading, and
    /// above what else there is to say.
    pub fn finish(
        &mut self,
        heading: &str,
        unit: Unit,
        most_decimals: usize,
        rest: impl FnOnce(&[R]) -> Vec<Block>,
    ) -> Result<(), Failure> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let table = column::table(&self.columns, &self.rows, unit, most_decimals);
        let blocks = table.into_iter().chain(rest(&self.rows)).collect();
        let document = Document { title: heading.into(), blocks };
        if self.format == Format::Table {
            interrupt::wrote(self.rows.len());
            self.out.write_all(document.to_text(stdout::width()).as_bytes())?;
            self.out.flush()?;
        }
        for (format, draft) in take(&mut self.files) {
            let lines = self.rows.iter().enumerate().map(|(n, row)| self.line(format, row, n == 0));
            let lines = lines.collect::<Result<Vec<_>, Failure>>()?.concat();
            let lines =
                if format == Format::Table { document.to_text(width_of_files()).into_bytes() } else { lines };
            draft.write(|mut file| file.write_all(&lines))?;
        }
        Ok(())
    }
}
