//! Reports: rows as a table, as JSON or as CSV.

use std::io::Write;
use std::mem::take;
use std::time::{Duration, Instant};

use loggp_document::{Document, DocumentBlock, printable};
use loggp_draw::plot::Plot;
use loggp_study::rows::{Columns, Object};

use super::style::is_quiet;
use super::table::{MOST_DECIMALS, table_with_decimals};
use crate::ask::format::Format;
use crate::ask::output::OutputFiles;
use crate::error::CliError;
use crate::host::interrupt::{self, KeptRows};
use crate::host::stdout::{self, width_of_files};
use crate::number::Unit;

pub struct Report<'a, R> {
    out: &'a mut dyn Write,
    format: Format,
    /// Limit of the decimals of times in the table.
    most_decimals: usize,
    /// Further files for the rows and for pictures.
    files: OutputFiles,
    columns: Columns<'a, R>,
    /// The one object that JSON has in place of an object for each row.
    whole: Option<Object>,
    /// Objects that JSON has behind the rows.
    behind: Vec<Object>,
    /// The rows so far. A table is written at the end, when the widths of its columns are known.
    pub rows: Vec<R>,
    /// When the table of the rows so far was made, and how long that took.
    kept: Option<(Instant, Duration)>,
}

impl<'a, R> Report<'a, R> {
    /// Creates an empty report.
    pub fn new(out: &'a mut dyn Write, format: Format, columns: Columns<'a, R>) -> Report<'a, R> {
        let (files, most_decimals) = (OutputFiles::default(), MOST_DECIMALS);
        Report {
            out,
            format,
            most_decimals,
            files,
            columns,
            whole: None,
            behind: Vec::new(),
            rows: Vec::new(),
            kept: None,
        }
    }

    /// Gives times in the table at most so many decimals.
    #[must_use]
    pub fn with_decimals(self, most_decimals: usize) -> Self {
        Report { most_decimals, ..self }
    }

    /// Writes the rows to these files too, when the report is finished, and its picture when it is drawn.
    #[must_use]
    pub fn with_files(self, files: OutputFiles) -> Self {
        Report { files, ..self }
    }

    /// Writes this object as JSON, in place of an object for each row.
    #[must_use]
    pub fn with_json_object(self, whole: Object) -> Self {
        Report { whole: Some(whole), ..self }
    }

    /// Writes these objects as JSON behind the rows, when the report is finished.
    pub fn add_behind(&mut self, objects: Vec<Object>) {
        self.behind = objects;
    }

    /// Adds a row. JSON and CSV are written at once, a table when the report is finished.
    pub fn add(&mut self, row: R) -> Result<(), CliError> {
        let line = self.line(self.format, &row, self.rows.is_empty())?;
        if !line.is_empty() {
            self.out.write_all(&line)?;
            self.out.flush()?;
            interrupt::add_written(1);
        }
        for (format, draft) in self.files.rows.iter().filter(|(format, _)| *format != Format::Table) {
            let line = self.line(*format, &row, self.rows.is_empty())?;
            draft.keep(|kept| {
                kept.text.extend(line);
                kept.rows += 1;
            });
        }
        self.rows.push(row);
        Ok(())
    }

    /// Returns a row as JSON or CSV, with the titles if it is the first; nothing for a table.
    fn line(&self, format: Format, row: &R, is_first: bool) -> Result<Vec<u8>, CliError> {
        match format {
            Format::Table => Ok(Vec::new()),
            Format::Json if self.whole.is_some() && !is_first => Ok(Vec::new()),
            Format::Json => {
                let row = self.columns.object(row);
                json_line(self.whole.as_ref().unwrap_or(&row))
            }
            Format::Csv => {
                let mut line = if is_first { self.columns.csv_titles() } else { Vec::new() };
                line.extend(self.columns.csv_row(row).map_err(CliError::run)?);
                Ok(line)
            }
        }
    }

    /// Keeps the table of the rows so far, and the picture that `svg` draws of them, for an interruption. Making both takes a
    /// twentieth of the time at most.
    pub fn keep(
        &mut self,
        heading: &str,
        unit: Unit,
        svg: impl FnOnce(&[R]) -> Option<String>,
    ) -> Result<(), CliError> {
        let is_early = self.kept.is_some_and(|(end, took)| end.elapsed() < 20 * took);
        let is_shown = self.format == Format::Table && !stdout::is_kept_for_file();
        let files = || self.files.rows.iter().filter(|(format, _)| *format == Format::Table);
        let pictures = &self.files.pictures;
        if is_early || !is_shown && files().next().is_none() && pictures.is_empty() {
            return Ok(());
        }
        let start = Instant::now();
        if !pictures.is_empty()
            && let Some(svg) = svg(&self.rows)
        {
            pictures.iter().try_for_each(|picture| picture.keep(&svg, self.rows.len()))?;
        }
        if let Some(table) = table_with_decimals(&self.columns, &self.rows, unit, self.most_decimals) {
            let document = Document { title: heading.into(), blocks: vec![table] };
            let rows = self.rows.len();
            if is_shown {
                let text = printable(&document.to_text(stdout::width())).to_string();
                interrupt::set_so_far(Some((text, rows)));
            }
            for (_, draft) in files() {
                let text = document.to_text(width_of_files()).trim_start_matches('\n').as_bytes().to_vec();
                draft.keep(|kept| *kept = KeptRows { text, rows });
            }
        }
        self.kept = Some((Instant::now(), start.elapsed()));
        Ok(())
    }

    /// Writes the table between the heading and the blocks of `rest`, with times in this unit, if the format is
    /// a table; and the files. Does nothing without rows.
    pub fn finish(
        &mut self,
        heading: &str,
        unit: Unit,
        rest: impl FnOnce(&[R]) -> Vec<DocumentBlock>,
    ) -> Result<(), CliError> {
        interrupt::set_so_far(None);
        if self.rows.is_empty() {
            return Ok(());
        }
        let table = table_with_decimals(&self.columns, &self.rows, unit, self.most_decimals);
        let rest = rest(&self.rows);
        let document = match is_quiet() {
            true => Document { title: String::new(), blocks: table.into_iter().collect() },
            false => Document { title: heading.into(), blocks: table.into_iter().chain(rest).collect() },
        };
        let text = |width| document.to_text(width).trim_start_matches('\n').as_bytes().to_vec();
        if self.format == Format::Table {
            interrupt::add_written(self.rows.len());
            self.out.write_all(&text(stdout::width()))?;
            self.out.flush()?;
        }
        let behind = self.behind.iter().map(json_line).collect::<Result<Vec<_>, CliError>>()?.concat();
        if self.format == Format::Json {
            self.out.write_all(&behind)?;
            self.out.flush()?;
        }
        for (format, draft) in take(&mut self.files.rows) {
            let lines = self.rows.iter().enumerate().map(|(n, row)| self.line(format, row, n == 0));
            let mut lines = lines.collect::<Result<Vec<_>, CliError>>()?.concat();
            lines.extend(behind.iter().filter(|_| format == Format::Json));
            let lines = if format == Format::Table { text(width_of_files()) } else { lines };
            draft.write(|mut file| file.write_all(&lines))?;
        }
        Ok(())
    }

    /// Draws a plot of the rows into the files for pictures.
    pub fn draw(self, plot: impl FnOnce(&[R]) -> Plot) -> Result<(), CliError> {
        self.files.draw(|| Ok(plot(&self.rows).svg()))
    }

    /// Draws the rows as SVG into the files for pictures.
    pub fn draw_svg(self, svg: impl FnOnce(&[R]) -> Result<String, CliError>) -> Result<(), CliError> {
        self.files.draw(|| svg(&self.rows))
    }
}

/// Returns an object as a line of JSON.
fn json_line(object: &Object) -> Result<Vec<u8>, CliError> {
    let mut line = serde_json::to_vec(object).map_err(CliError::run)?;
    line.push(b'\n');
    Ok(line)
}
