//! The columns of a report. A column has the name of its values in JSON, CSV and the table, and all three are
//! made from columns and rows.
//!
//! The titles of CSV are always the same for a command, so that files with rows of different machines and
//! clocks can be put together; missing values stay empty.

use std::borrow::Cow;

use loggp_document::{CellFormat, DocumentBlock, Table};
use serde_json::Value;

use super::field::{Field, Object, TimeFormat};
use super::number::Unit;

/// A column of a report whose rows are of type `R`.
pub struct ReportColumn<'a, R> {
    /// Name in JSON and CSV; `None` if only a table has the column.
    name: Option<Cow<'static, str>>,
    /// True if CSV has the column too.
    csv: bool,
    /// Title in a table; `None` if the table leaves it out.
    title: Option<String>,
    /// True if a table leaves it out when no field is informative.
    optional: bool,
    place: ColumnPlace,
    /// Returns the value of a row.
    value: Box<dyn Fn(&R) -> Field + 'a>,
}

/// The place of a column in a table. JSON and CSV have columns in the order of their list.
#[derive(PartialEq)]
enum ColumnPlace {
    /// In the order of the list.
    Here,
    /// Behind the column with this title.
    After(&'static str),
    /// Behind all others.
    Last,
}

impl<'a, R> ReportColumn<'a, R> {
    /// Creates a column that JSON and CSV have under this name, and tables don't have.
    pub fn new<C: Into<Field>>(
        name: impl Into<Cow<'static, str>>,
        value: impl Fn(&R) -> C + 'a,
    ) -> ReportColumn<'a, R> {
        let value = Box::new(move |row: &R| value(row).into());
        ReportColumn {
            name: Some(name.into()),
            csv: true,
            title: None,
            optional: false,
            place: ColumnPlace::Here,
            value,
        }
    }

    /// Creates a column that only tables have.
    pub fn table_only<C: Into<Field>>(title: &str, value: impl Fn(&R) -> C + 'a) -> ReportColumn<'a, R> {
        ReportColumn { name: None, title: Some(title.into()), ..ReportColumn::new("", value) }
    }

    /// Shows the column in tables too, under this title.
    pub fn with_title(self, title: &str) -> Self {
        ReportColumn { title: Some(title.into()), ..self }
    }

    /// Leaves the column out of tables.
    pub fn without_title(self) -> Self {
        ReportColumn { title: None, ..self }
    }

    /// Leaves the column out of a table in which none of its fields is informative.
    pub fn optional(self) -> Self {
        ReportColumn { optional: true, ..self }
    }

    /// Puts the column behind the one with this title in tables.
    pub fn after(self, title: &'static str) -> Self {
        ReportColumn { place: ColumnPlace::After(title), ..self }
    }

    /// Puts the column behind all others in tables.
    pub fn last(self) -> Self {
        ReportColumn { place: ColumnPlace::Last, ..self }
    }

    /// Leaves the column out of CSV.
    pub fn json_only(self) -> Self {
        ReportColumn { csv: false, ..self }
    }
}

/// Returns a row as a JSON object.
pub fn json_object<R>(columns: &[ReportColumn<R>], row: &R) -> Object {
    let named = |column: &ReportColumn<R>| column.name.clone().map(|name| (name, (column.value)(row)));
    Object(columns.iter().filter_map(named).collect())
}

/// Returns rows as a list of JSON objects.
pub fn json_rows<R>(columns: &[ReportColumn<R>], rows: &[R]) -> Field {
    Field::Rows(rows.iter().map(|row| json_object(columns, row)).collect())
}

/// Returns a name as a JSON key.
pub fn json_key(name: &str) -> String {
    name.replace(' ', "_")
}

/// Returns the line of titles of CSV.
pub fn csv_titles<R>(columns: &[ReportColumn<R>]) -> Vec<u8> {
    csv_line(
        columns
            .iter()
            .filter(|column| column.csv)
            .filter_map(|column| column.name.as_deref())
            .map(String::from),
    )
}

/// Returns a row as a line of CSV.
pub fn csv_row<R>(columns: &[ReportColumn<R>], row: &R) -> serde_json::Result<Vec<u8>> {
    let columns = columns.iter().filter(|column| column.csv && column.name.is_some());
    let text = |column: &ReportColumn<R>| {
        Ok(match serde_json::to_value((column.value)(row))? {
            Value::Null => String::new(),
            Value::String(text) => text,
            value => value.to_string(),
        })
    };
    Ok(csv_line(columns.map(text).collect::<serde_json::Result<Vec<_>>>()?.into_iter()))
}

fn csv_line(fields: impl Iterator<Item = String>) -> Vec<u8> {
    let mut line = csv::Writer::from_writer(Vec::new());
    line.write_record(fields.map(String::into_bytes)).expect("a line is written into memory");
    line.into_inner().expect("a line is written into memory")
}

/// Returns rows as a table, with times in this unit and at most `most_decimals`; `None` without rows.
pub fn table<R>(
    columns: &[ReportColumn<R>],
    rows: &[R],
    unit: Unit,
    most_decimals: usize,
) -> Option<DocumentBlock> {
    let columns = table_order(columns).into_iter().filter_map(|column| {
        let fields: Vec<Field> = rows.iter().map(&column.value).collect();
        let is_there = !column.optional || fields.iter().any(Field::is_informative);
        is_there.then(|| (column.title.as_deref().unwrap_or_default(), fields))
    });
    let columns: Vec<(&str, Vec<Field>)> = columns.collect();
    let scale = TimeFormat::for_fields(columns.iter().flat_map(|(_, fields)| fields), unit, most_decimals);
    let table = columns.iter().fold(Table::new("", ""), |table, (title, fields)| {
        let words = fields.iter().any(Field::is_text);
        table.column(title, "", if words { CellFormat::Text } else { CellFormat::Right })
    });
    let shown = |row: usize| columns.iter().map(|(_, fields)| fields[row].to_text(&scale).into()).collect();
    let table = Table { rows: (0..rows.len()).map(shown).collect(), ..table };
    (!rows.is_empty()).then_some(DocumentBlock::Table(table))
}

/// Returns the columns that a table has, in the order of the table.
fn table_order<'c, 'a, R>(columns: &'c [ReportColumn<'a, R>]) -> Vec<&'c ReportColumn<'a, R>> {
    let mut table: Vec<&ReportColumn<R>> = Vec::new();
    let titled = |column: &&ReportColumn<R>| column.title.is_some();
    for column in columns.iter().filter(titled).filter(|column| column.place != ColumnPlace::Last) {
        let before = |other: &&ReportColumn<R>| match column.place {
            ColumnPlace::After(title) => other.title.as_deref() == Some(title),
            _ => false,
        };
        let place = table.iter().position(before).map_or(table.len(), |place| place + 1);
        table.insert(place, column);
    }
    table.extend(columns.iter().filter(titled).filter(|column| column.place == ColumnPlace::Last));
    table
}

#[cfg(test)]
mod tests {
    use super::super::stdout::width_of_files;
    use super::*;

    fn columns() -> [ReportColumn<'static, i64>; 5] {
        [
            ReportColumn::new("word", |_| "a \"b\", c").with_title("word").last(),
            ReportColumn::new("of.one", |n| *n).with_title("one"),
            ReportColumn::new("of.absent", |_| Field::Absent).json_only(),
            ReportColumn::new("none.absent", |_| Field::Absent),
            ReportColumn::table_only("twice", |n| 2 * n).after("one"),
        ]
    }

    #[test]
    fn object_leaves_out_absent_fields() {
        let json = serde_json::to_string(&json_object(&columns(), &1000)).unwrap();
        assert_eq!(json, r#"{"word":"a \"b\", c","of":{"one":1000},"none":null}"#);
    }

    #[test]
    fn csv_quotes_commas_and_quotes() {
        assert_eq!(csv_titles(&columns()), b"word,of.one,none.absent\n");
        assert_eq!(csv_row(&columns(), &1000).unwrap(), b"\"a \"\"b\"\", c\",1000,\n");
    }

    #[test]
    fn table_orders_columns_and_aligns_numbers() {
        let table = table(&columns(), &[7, 1000], Unit::from_text("us", loggp::US), 3);
        let Some(DocumentBlock::Table(table)) = table else { panic!("there are rows") };
        assert_eq!(
            table.to_text(width_of_files()),
            "  one  twice  word\n    7     14  a \"b\", c\n1,000  2,000  a \"b\", c\n"
        );
    }
}
