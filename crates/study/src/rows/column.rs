//! The columns of rows. A column has the name of its values in JSON, CSV and tables, and all three are made
//! from columns and rows.
//!
//! The titles of CSV are always the same for a command, so that files with rows of different machines and
//! clocks can be put together; missing values stay empty.

use std::borrow::Cow;

use serde_json::Value;

use super::field::{Field, Object};

/// The columns of rows of type `R`.
pub struct Columns<'a, R>(Vec<Column<'a, R>>);

/// A column of rows.
pub struct Column<'a, R> {
    /// Name in JSON and CSV; `None` if only a table has the column.
    name: Option<Cow<'static, str>>,
    /// True if CSV has the column too.
    csv: bool,
    /// Title in a table; `None` if the table leaves it out.
    title: Option<String>,
    /// True if a table leaves it out when no field is informative.
    optional: bool,
    /// True if a table that is too wide does without it first.
    yields: bool,
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

impl<'a, R> Column<'a, R> {
    /// Shows the column in tables too, under this title.
    pub fn title(&mut self, title: &str) -> &mut Self {
        self.title = Some(title.into());
        self
    }

    /// Leaves the column out of a table in which none of its fields is informative.
    pub fn optional(&mut self) -> &mut Self {
        self.optional = true;
        self
    }

    /// Lets a table that is too wide do without the column, if all rows have the same there.
    pub fn yields(&mut self) -> &mut Self {
        self.yields = true;
        self
    }

    /// Puts the column behind the one with this title in tables.
    pub fn after(&mut self, title: &'static str) -> &mut Self {
        self.place = ColumnPlace::After(title);
        self
    }

    /// Puts the column behind all others in tables.
    pub fn last(&mut self) -> &mut Self {
        self.place = ColumnPlace::Last;
        self
    }

    /// Leaves the column out of CSV.
    pub fn json_only(&mut self) {
        self.csv = false;
    }
}

impl<R> Default for Columns<'_, R> {
    fn default() -> Self {
        Columns(Vec::new())
    }
}

impl<'a, R> Columns<'a, R> {
    /// Returns no columns.
    pub fn new() -> Columns<'a, R> {
        Columns::default()
    }

    /// Adds a column that JSON and CSV have under this name, and tables only with a title.
    pub fn add<C: Into<Field>>(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        value: impl Fn(&R) -> C + 'a,
    ) -> &mut Column<'a, R> {
        self.push(Some(name.into()), Box::new(move |row| value(row).into()))
    }

    /// Adds a column that only tables have.
    pub fn add_to_table<C: Into<Field>>(
        &mut self,
        title: &str,
        value: impl Fn(&R) -> C + 'a,
    ) -> &mut Column<'a, R> {
        self.push(None, Box::new(move |row| value(row).into())).title(title)
    }

    fn push(
        &mut self,
        name: Option<Cow<'static, str>>,
        value: Box<dyn Fn(&R) -> Field + 'a>,
    ) -> &mut Column<'a, R> {
        let place = ColumnPlace::Here;
        self.0.push(Column { name, csv: true, title: None, optional: false, yields: false, place, value });
        self.0.last_mut().expect("one was added")
    }

    /// Adds the columns of `others`.
    pub fn extend(&mut self, others: Columns<'a, R>) {
        self.0.extend(others.0);
    }

    /// Leaves the columns with these names out of tables.
    pub fn hide(&mut self, names: &[&str]) {
        self.named(names).for_each(|column| column.title = None);
    }

    /// Leaves all columns out of tables.
    pub fn hide_all(&mut self) {
        self.0.iter_mut().for_each(|column| column.title = None);
    }

    /// Returns the columns with these names.
    pub fn named(&mut self, names: &[&str]) -> impl Iterator<Item = &mut Column<'a, R>> {
        let is_named = |name: &Cow<str>| names.contains(&&**name);
        self.0.iter_mut().filter(move |column| column.name.as_ref().is_some_and(is_named))
    }

    /// Returns a row as a JSON object.
    pub fn object(&self, row: &R) -> Object {
        let named = |column: &Column<R>| column.name.clone().map(|name| (name, (column.value)(row)));
        Object(self.0.iter().filter_map(named).collect())
    }

    /// Returns rows as a list of JSON objects.
    pub fn objects(&self, rows: &[R]) -> Field {
        Field::Rows(rows.iter().map(|row| self.object(row)).collect())
    }

    /// Returns the columns of CSV with their names.
    fn csv(&self) -> impl Iterator<Item = (&str, &Column<'a, R>)> {
        let columns = self.0.iter().filter(|column| column.csv);
        columns.filter_map(|column| Some((column.name.as_deref()?, column)))
    }

    /// Returns the line of titles of CSV.
    pub fn csv_titles(&self) -> Vec<u8> {
        csv_line(self.csv().map(|(name, _)| name.into()))
    }

    /// Returns a row as a line of CSV.
    pub fn csv_row(&self, row: &R) -> serde_json::Result<Vec<u8>> {
        let text = |(_, column): (_, &Column<R>)| {
            Ok(match serde_json::to_value((column.value)(row))? {
                Value::Null => String::new(),
                Value::String(text) => text,
                value => value.to_string(),
            })
        };
        Ok(csv_line(self.csv().map(text).collect::<serde_json::Result<Vec<_>>>()?.into_iter()))
    }

    /// Returns the columns of a table of these rows, in its order: their titles, whether they yield, and fields.
    pub fn titled(&self, rows: &[R]) -> Vec<(&str, bool, Vec<Field>)> {
        let columns = self.table_order().into_iter().filter_map(|column| {
            let fields: Vec<Field> = rows.iter().map(&column.value).collect();
            let is_there = !column.optional || fields.iter().any(Field::is_informative);
            is_there.then(|| (column.title.as_deref().unwrap_or_default(), column.yields, fields))
        });
        columns.collect()
    }

    /// Returns the columns that a table has, in the order of the table.
    fn table_order(&self) -> Vec<&Column<'a, R>> {
        let titled = self.0.iter().filter(|column| column.title.is_some());
        let (last, others): (Vec<_>, Vec<_>) = titled.partition(|column| column.place == ColumnPlace::Last);
        let mut table: Vec<&Column<R>> = Vec::new();
        for column in others {
            let before = |other: &&Column<R>| match column.place {
                ColumnPlace::After(title) => other.title.as_deref() == Some(title),
                _ => false,
            };
            let index = table.iter().position(before).map_or(table.len(), |index| index + 1);
            table.insert(index, column);
        }
        table.extend(last);
        table
    }
}

/// Returns a name as a JSON key.
pub fn json_key(name: &str) -> String {
    name.replace(' ', "_")
}

fn csv_line(fields: impl Iterator<Item = String>) -> Vec<u8> {
    let mut line = csv::Writer::from_writer(Vec::new());
    line.write_record(fields.map(String::into_bytes)).expect("a line is written into memory");
    line.into_inner().expect("a line is written into memory")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns() -> Columns<'static, i64> {
        let mut columns = Columns::new();
        columns.add("word", |_| "a \"b\", c").title("word").last();
        columns.add("of.one", |n: &i64| *n).title("one");
        columns.add("of.absent", |_| Field::Absent).json_only();
        columns.add("none.absent", |_| Field::Absent);
        columns.add_to_table("twice", |n| 2 * n).after("one");
        columns
    }

    #[test]
    fn object_leaves_out_absent_fields() {
        let json = serde_json::to_string(&columns().object(&1000)).unwrap();
        assert_eq!(json, r#"{"word":"a \"b\", c","of":{"one":1000},"none":null}"#);
    }

    #[test]
    fn csv_quotes_commas_and_quotes() {
        assert_eq!(columns().csv_titles(), b"word,of.one,none.absent\n");
        assert_eq!(columns().csv_row(&1000).unwrap(), b"\"a \"\"b\"\", c\",1000,\n");
    }

    #[test]
    fn table_orders_columns() {
        let columns = columns();
        let titles: Vec<&str> = columns.titled(&[7, 1000]).into_iter().map(|(title, ..)| title).collect();
        assert_eq!(titles, ["one", "twice", "word"]);
    }
}
