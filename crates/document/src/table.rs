//! A table: what its columns are, and what its cells say.

use std::fmt;

use serde::{Deserialize, Serialize};

use loggp_draw::digits::{exact, percent, rough};

/// A table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// What its file is called, or the end of that.
    pub name: String,
    /// What is in it.
    pub title: String,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its rows, each with a cell for every column.
    pub rows: Vec<Vec<Cell>>,
}

/// A column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Column {
    /// What stands above it.
    pub title: String,
    /// The unit of its numbers; empty where they have none.
    pub unit: String,
    /// How its numbers are shown.
    pub show: Show,
}

/// How numbers are shown to people. Programs get all digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Show {
    /// It holds text.
    Text,
    /// It holds text that ends where the column ends, as numbers do.
    Right,
    /// It holds words that say how something came out.
    Mark,
    /// It holds names of articles of the same document.
    Name,
    /// With as many decimals as they need, up to three.
    Exact,
    /// With three digits that count.
    Rough,
    /// A part as per cent, with its sign.
    Percent,
}

/// A cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Cell {
    /// There is nothing to say.
    Nothing,
    /// A number.
    Number(f64),
    /// Text.
    Text(String),
}

impl Table {
    /// A table without columns and rows.
    pub fn new(name: impl Into<String>, title: impl Into<String>) -> Table {
        Table { name: name.into(), title: title.into(), columns: Vec::new(), rows: Vec::new() }
    }

    /// One more column of text.
    #[must_use]
    pub fn text(self, title: &str) -> Table {
        self.column(title, "", Show::Text)
    }

    /// One more column of numbers that are shown as they are.
    #[must_use]
    pub fn exact(self, title: &str, unit: &str) -> Table {
        self.column(title, unit, Show::Exact)
    }

    /// One more column of numbers of which three digits are enough.
    #[must_use]
    pub fn rough(self, title: &str, unit: &str) -> Table {
        self.column(title, unit, Show::Rough)
    }

    /// One more column of relative errors.
    #[must_use]
    pub fn percent(self, title: &str) -> Table {
        self.column(title, "", Show::Percent)
    }

    /// One more column.
    #[must_use]
    pub fn column(mut self, title: &str, unit: &str, show: Show) -> Table {
        self.columns.push(Column { title: title.into(), unit: unit.into(), show });
        self
    }

    /// The same without the columns in which no cell says anything.
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

    /// One more row.
    ///
    /// # Panics
    ///
    /// If it has not a cell for every column.
    pub fn push(&mut self, row: Vec<Cell>) {
        assert_eq!(row.len(), self.columns.len(), "a row of {} has a cell for every column", self.title);
        self.rows.push(row);
    }
}

impl Column {
    /// What stands above the column, with its unit.
    pub fn heading(&self) -> String {
        if self.unit.is_empty() { self.title.clone() } else { format!("{} [{}]", self.title, self.unit) }
    }

    /// A cell of the column for people.
    pub fn shown(&self, cell: &Cell) -> String {
        match (cell, self.show) {
            (Cell::Nothing, _) => String::new(),
            (Cell::Text(text), _) => text.clone(),
            (Cell::Number(number), Show::Percent) => {
                // What is less than half a hundredth of a per cent is +0.00%, and never -0.00%: -0 + 0 is 0.
                percent((number * 1e4).round() / 1e4 + 0.0)
            }
            (Cell::Number(number), Show::Rough) => rough(*number),
            (Cell::Number(number), _) => exact(*number),
        }
    }
}

/// With all digits, for programs.
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
