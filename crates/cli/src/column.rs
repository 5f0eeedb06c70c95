//! The columns of a report: each says once what its values are called in JSON, CSV and a table. From columns and rows come
//! all three.
//!
//! The titles of CSV are always the same for a command, so that files with the rows of different machines and clocks can be
//! put together; what a row has not stays empty.

use std::borrow::Cow;

use loggp_document::{Block, Show, Table};
use serde_json::Value;

use super::field::{Field, Object, Scale};
use super::number::Unit;

/// A column for rows of some kind.
pub struct Column<'a, R> {
    /// Its name in JSON and CSV, if it is there.
    name: Option<Cow<'static, str>>,
    /// Whether CSV has it too.
    csv: bool,
    /// Its title in a table, if it is there.
    title: Option<String>,
    /// Whether a table leaves it out where no field says anything.
    optional: bool,
    /// The column's place in a table.
    place: Place,
    /// Makes the value of a row.
    value: Box<dyn Fn(&R) -> Field + 'a>,
}

/// Where a column stands in a table. In JSON and CSV columns stand as they are listed.
#[derive(PartialEq)]
enum Place {
    /// It stands where it is listed.
    Here,
    /// It stands behind the column with this title.
    After(&'static str),
    /// It stands behind all others.
    Last,
}

impl<'a, R> Column<'a, R> {
    /// A column that JSON and CSV have under this name.
    pub fn new<C: Into<Field>>(
        name: impl Into<Cow<'static, str>>,
        value: impl Fn(&R) -> C + 'a,
    ) -> Column<'a, R> {
        let value = Box::new(move |row: &R| value(row).into());
        Column { name: Some(name.into()), csv: true, title: None, optional: false, place: Place::Here, value }
    }

    /// A column that only a table has.
    pub fn shown<C: Into<Field>>(title: &str, value: impl Fn(&R) -> C + 'a) -> Column<'a, R> {
        Column { name: None, title: Some(title.into()), ..Column::new("", value) }
    }

    /// Shows the column in a table too, under this title.
    pub fn titled(self, title: &str) -> Self {
        Column { title: Some(title.into()), ..self }
    }

    /// Leaves the column out of tables.
    pub fn untitled(self) -> Self {
        Column { title: None, ..self }
    }

    /// Shows the column in a table only where it says something.
    pub fn optional(self) -> Self {
        Column { optional: true, ..self }
    }

    /// Puts the column behind the one with this title in a table.
    pub fn after(self, title: &'static str) -> Self {
        Column { place: Place::After(title), ..self }
    }

    /// Puts the column behind all others in a table.
    pub fn last(self) -> Self {
        Column { place: Place::Last, ..self }
    }

    /// Leaves the column out of CSV.
    pub fn json_only(self) -> Self {
        Column { csv: false, ..self }
    }
}

/// A row as JSON has it.
pub fn object<R>(columns: &[Column<R>], row: &R) -> Object {
    let named = |column: &Column<R>| column.name.clone().map(|name| (name, (column.value)(row)));
    Object(columns.iter().filter_map(named).collect())
}

/// The titles of CSV.
pub fn csv_titles<R>(columns: &[Column<R>]) -> Vec<u8> {
    csv_line(
        columns
            .iter()
            .filter(|column| column.csv)
            .filter_map(|column| column.name.as_deref())
            .map(String::from),
    )
}

/// A row as a line of CSV.
pub fn csv_row<R>(columns: &[Column<R>], row: &R) -> serde_json::Result<Vec<u8>> {
    let columns = columns.iter().filter(|column| column.csv && column.name.is_some());
    let text = |column: &Column<R>| {
        Ok(match serde_json::to_value((column.value)(row))? {
            Value::Null => String::new(),
            Value::String(text) => text,
            value => value.to_string(),
        })
    };
    Ok(csv_line(columns.map(text).collect::<serde_json::Result<Vec<_>>>()?.into_iter()))
}

/// A line of CSV.
fn csv_line(fields: impl Iterator<Item = String>) -> Vec<u8> {
    let mut line = csv::Writer::from_writer(Vec::new());
    line.write_record(fields.map(String::into_bytes)).expect("a line is written into memory");
    line.into_inner().expect("a line is written into memory")
}

/// Rows as a table, with times in this unit and at most so many decimals; nothing where there are no rows.
pub fn table<R>(columns: &[Column<R>], rows: &[R], unit: Unit, most_decimals: usize) -> Option<Block> {
    let columns = in_order(columns).into_iter().filter_map(|column| {
        let fields: Vec<Field> = rows.iter().map(&column.value).collect();
        let is_there = !column.optional || fields.iter().any(Field::says_something);
        is_there.then(|| (column.title.as_deref().unwrap_or_default(), fields))
    });
    let columns: Vec<(&str, Vec<Field>)> = columns.collect();
    let scale = Scale::of(columns.iter().flat_map(|(_, fields)| fields), unit, most_decimals);
    let table = columns.iter().fold(Table::new("", ""), |table, (title, fields)| {
        let words = fields.iter().any(Field::is_words);
        table.column(title, "", if words { Show::Text } else { Show::Right })
    });
    let shown = |row: usize| columns.iter().map(|(_, fields)| fields[row].shown(&scale).into()).collect();
    let table = Table { rows: (0..rows.len()).map(shown).collect(), ..table };
    (!rows.is_empty()).then_some(Block::Table(table))
}

/// The columns that a table has, as they stand there.
fn in_order<'c, 'a, R>(columns: &'c [Column<'a, R>]) -> Vec<&'c Column<'a, R>> {
    let mut table: Vec<&Column<R>> = Vec::new();
    let titled = |column: &&Column<R>| column.title.is_some();
    for column in columns.iter().filter(titled).filter(|column| column.place != Place::Last) {
        let before = |other: &&Column<R>| match column.place {
            Place::After(title) => other.title.as_deref() == Some(title),
            _ => false,
        };
        let place = table.iter().position(before).map_or(table.len(), |place| place + 1);
        table.insert(place, column);
    }
    table.extend(columns.iter().filter(titled).filter(|column| column.place == Place::Last));
    table
}

#[cfg(test)]
mod tests {
    use super::super::stdout::width_of_files;
    use super::*;

    fn columns() -> [Column<'static, i64>; 5] {
        [
            Column::new("word", |_| "a \"b\", c").titled("word").last(),
            Column::new("of.one", |n| *n).titled("one"),
            Column::new("of.absent", |_| Field::Absent).json_only(),
            Column::new("none.absent", |_| Field::Absent),
            Column::shown("twice", |n| 2 * n).after("one"),
        ]
    }

    #[test]
    fn a_row_is_an_object_without_what_is_absent() {
        let json = serde_json::to_string(&object(&columns(), &1000)).unwrap();
        assert_eq!(json, r#"{"word":"a \"b\", c","of":{"one":1000},"none":null}"#);
    }

    #[test]
    fn csv_quotes_what_has_a_comma_or_a_quote() {
        assert_eq!(csv_titles(&columns()), b"word,of.one,none.absent\n");
        assert_eq!(csv_row(&columns(), &1000).unwrap(), b"\"a \"\"b\"\", c\",1000,\n");
    }

    #[test]
    fn a_table_has_its_own_order_and_numbers_end_in_the_same_column() {
        let table = table(&columns(), &[7, 1000], Unit::of("us", loggp::US), 3);
        let Some(Block::Table(table)) = table else { panic!("there are rows") };
        assert_eq!(
            table.to_text(width_of_files()),
            "  one  twice  word\n    7     14  a \"b\", c\n1,000  2,000  a \"b\", c\n"
        );
    }
}
