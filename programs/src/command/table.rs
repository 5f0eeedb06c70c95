//! A table of text: columns as wide as they must be.

use std::fmt;

/// Cells in rows, under titles.
pub struct Table {
    /// The titles, and what stands below them.
    columns: Vec<Column>,
}

/// A column of a table.
struct Column {
    /// What stands above it.
    title: String,
    /// What stands in it.
    cells: Vec<String>,
    /// Numbers stand at the right.
    right: bool,
}

impl Table {
    /// A table of nothing.
    pub fn new() -> Table {
        Table { columns: Vec::new() }
    }

    /// Adds a column of words.
    pub fn words(&mut self, title: &str, cells: impl Iterator<Item = String>) {
        self.columns.push(Column { title: title.into(), cells: cells.collect(), right: false });
    }

    /// Adds a column of numbers.
    pub fn numbers(&mut self, title: &str, cells: impl Iterator<Item = String>) {
        self.columns.push(Column { title: title.into(), cells: cells.collect(), right: true });
    }
}

impl Column {
    /// How wide it must be.
    fn width(&self) -> usize {
        self.cells.iter().chain([&self.title]).map(|cell| cell.chars().count()).max().unwrap_or(0)
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = self.columns.iter().map(|column| column.cells.len()).max().unwrap_or(0);
        let cell = |column: &Column, row: Option<usize>| {
            let text = row.map_or(&column.title, |row| &column.cells[row]);
            let width = column.width();
            if column.right { format!("{text:>width$}") } else { format!("{text:<width$}") }
        };
        for row in std::iter::once(None).chain((0..rows).map(Some)) {
            let line: Vec<String> = self.columns.iter().map(|column| cell(column, row)).collect();
            writeln!(f, "{}", line.join("  ").trim_end())?;
        }
        Ok(())
    }
}
