//! Tables, whose columns have titles, units and formats.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::printable::printable_line;
use loggp_draw::digits::{exact, percent, rough};

/// A table with a title.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// Name of its file, or the end of that name.
    pub name: String,
    pub title: String,
    pub columns: Vec<TableColumn>,
    /// Rows, each with a cell for every column.
    pub rows: Vec<Vec<Cell>>,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TableColumn {
    pub title: String,
    /// Unit of its numbers; empty if they have none.
    pub unit: String,
    /// Format of its cells.
    pub show: CellFormat,
    /// True if a text that is too wide does without it first, where all rows have the same there.
    #[serde(skip)]
    pub yields: bool,
}

/// The format of a column's cells in tables. CSV has all digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CellFormat {
    /// Text.
    Text,
    /// Text that is aligned to the right, as numbers are.
    Right,
    /// Words for outcomes.
    Mark,
    /// Ids of articles of the same document.
    Name,
    /// Numbers with as many decimals as needed, up to three.
    Exact,
    /// Numbers with three significant digits.
    Rough,
    /// Fractions as per cent, with a sign.
    Percent,
}

/// A cell of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Cell {
    /// An empty cell.
    Nothing,
    /// A number.
    Number(f64),
    /// Text.
    Text(String),
}

impl CellFormat {
    /// Returns whether cells are aligned to the right, as numbers are.
    pub fn is_right(self) -> bool {
        !matches!(self, CellFormat::Text | CellFormat::Mark | CellFormat::Name)
    }
}

impl Table {
    /// Creates a table without columns and rows.
    pub fn new(name: impl Into<String>, title: impl Into<String>) -> Table {
        Table { name: name.into(), title: title.into(), columns: Vec::new(), rows: Vec::new() }
    }

    /// Adds a column of text.
    #[must_use]
    pub fn text(self, title: &str) -> Table {
        self.column(title, "", CellFormat::Text)
    }

    /// Adds a column of numbers with up to three decimals.
    #[must_use]
    pub fn exact(self, title: &str, unit: &str) -> Table {
        self.column(title, unit, CellFormat::Exact)
    }

    /// Adds a column of numbers with three significant digits.
    #[must_use]
    pub fn rough(self, title: &str, unit: &str) -> Table {
        self.column(title, unit, CellFormat::Rough)
    }

    /// Adds a column of relative errors.
    #[must_use]
    pub fn percent(self, title: &str) -> Table {
        self.column(title, "", CellFormat::Percent)
    }

    /// Adds a column.
    #[must_use]
    pub fn column(mut self, title: &str, unit: &str, show: CellFormat) -> Table {
        self.columns.push(TableColumn { title: title.into(), unit: unit.into(), show, yields: false });
        self
    }

    /// Lets a text that is too wide do without the last column, where all rows have the same there.
    #[must_use]
    pub fn yielding(mut self) -> Table {
        self.columns.iter_mut().rev().take(1).for_each(|column| column.yields = true);
        self
    }

    /// Removes columns of which all cells are empty.
    #[must_use]
    pub fn without_empty(mut self) -> Table {
        let says = |column: usize| self.rows.iter().any(|row| row[column] != Cell::Nothing);
        let says: Vec<bool> = (0..self.columns.len()).map(says).collect();
        let mut kept = says.iter();
        self.columns.retain(|_| kept.next() == Some(&true));
        for row in &mut self.rows {
            let mut kept = says.iter();
            row.retain(|_| kept.next() == Some(&true));
        }
        self
    }

    /// Adds a row.
    ///
    /// # Panics
    ///
    /// If the row does not have a cell for every column.
    pub fn push(&mut self, row: Vec<Cell>) {
        assert_eq!(row.len(), self.columns.len(), "a row of {} has a cell for every column", self.title);
        self.rows.push(row);
    }
}

impl TableColumn {
    /// Returns the title with the unit.
    pub fn heading(&self) -> String {
        if self.unit.is_empty() { self.title.clone() } else { format!("{} [{}]", self.title, self.unit) }
    }

    /// Returns a cell of the column as text.
    pub fn cell_text(&self, cell: &Cell) -> String {
        match (cell, self.show) {
            (Cell::Nothing, _) => String::new(),
            (Cell::Text(text), _) => printable_line(text).into_owned(),
            (Cell::Number(number), CellFormat::Percent) => {
                // What rounds to zero is +0.00%, and never -0.00%: -0 + 0 is 0.
                percent((number * 1e4).round() / 1e4 + 0.0)
            }
            (Cell::Number(number), CellFormat::Rough) => rough(*number),
            (Cell::Number(number), _) => exact(*number),
        }
    }
}

/// Shows a number with all its digits.
impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cell::Nothing => Ok(()),
            Cell::Number(number) => number.fmt(f),
            Cell::Text(text) => text.fmt(f),
        }
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Cell {
        if number.is_finite() { Cell::Number(number) } else { Cell::Nothing }
    }
}

impl From<usize> for Cell {
    fn from(number: usize) -> Cell {
        Cell::Number(number as f64)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::Text(text.into())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell::Text(text)
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Cell {
        value.map_or(Cell::Nothing, Into::into)
    }
}
