//! An answer: JSON, and columns of numbers behind it.

use super::json::{JsonObject, ToJson};

/// An answer to the page.
#[derive(Debug, Default)]
pub struct PageAnswer {
    json: JsonObject,
    columns: Vec<NumberColumn>,
}

/// Numbers of one type.
#[derive(Clone, Debug, PartialEq)]
pub enum NumberColumn {
    F64(Vec<f64>),
    I32(Vec<i32>),
    U8(Vec<u8>),
}

impl NumberColumn {
    fn name(&self) -> &'static str {
        match self {
            NumberColumn::F64(_) => "f64",
            NumberColumn::I32(_) => "i32",
            NumberColumn::U8(_) => "u8",
        }
    }

    fn len(&self) -> usize {
        match self {
            NumberColumn::F64(all) => all.len(),
            NumberColumn::I32(all) => all.len(),
            NumberColumn::U8(all) => all.len(),
        }
    }

    /// Returns the bytes that it takes, to the begin of the next column.
    fn room(&self) -> usize {
        let each = match self {
            NumberColumn::F64(_) => 8,
            NumberColumn::I32(_) => 4,
            NumberColumn::U8(_) => 1,
        };
        (self.len() * each).next_multiple_of(8)
    }

    fn write(&self, to: &mut Vec<u8>) {
        match self {
            NumberColumn::F64(all) => all.iter().for_each(|number| to.extend(number.to_le_bytes())),
            NumberColumn::I32(all) => all.iter().for_each(|number| to.extend(number.to_le_bytes())),
            NumberColumn::U8(all) => to.extend(all),
        }
        to.resize(to.len().next_multiple_of(8), 0);
    }
}

impl PageAnswer {
    /// Creates an answer with the fields of an object.
    pub(crate) fn new(json: JsonObject) -> PageAnswer {
        PageAnswer { json, columns: Vec::new() }
    }

    /// Returns its JSON.
    pub fn json(&self) -> String {
        self.json.json()
    }

    /// Creates the answer that something was wrong.
    pub fn error(sentence: String) -> PageAnswer {
        let begin = sentence.split([' ', ':']).find(|word| !word.starts_with('-')).unwrap_or_default();
        let fields = ["L", "o", "g", "G", "P", "C", "word", "size", "cycle"];
        let about = fields.contains(&begin).then_some(begin);
        PageAnswer::new(JsonObject::default().with("error", &sentence).with("about", about))
    }

    /// Sets a field.
    pub(crate) fn set(&mut self, name: &str, value: impl ToJson) {
        self.json.set(name, value);
    }

    /// Adds a column, and returns what stands for it in the JSON.
    pub(crate) fn column(&mut self, column: NumberColumn) -> JsonObject {
        let at: usize = self.columns.iter().map(NumberColumn::room).sum();
        let place =
            JsonObject::default().with("at", at).with("length", column.len()).with("type", column.name());
        self.columns.push(column);
        place
    }

    /// Sets a field to a column.
    pub(crate) fn set_column(&mut self, name: &str, column: NumberColumn) {
        let place = self.column(column);
        self.set(name, place);
    }

    /// Sets a field to columns by their names.
    pub(crate) fn set_columns<N: AsRef<str>>(
        &mut self,
        name: &str,
        columns: impl IntoIterator<Item = (N, NumberColumn)>,
    ) {
        let table: JsonObject =
            columns.into_iter().map(|(name, column)| (name, self.column(column))).collect();
        self.set(name, table);
    }

    /// Returns the answer as the page reads it.
    pub fn to_words(&self) -> Vec<u64> {
        let json = self.json().into_bytes();
        let columns: usize = self.columns.iter().map(NumberColumn::room).sum();
        let mut bytes = Vec::with_capacity(16 + json.len() + columns);
        bytes.extend((json.len() as u32).to_le_bytes());
        bytes.extend((((8 + json.len()).next_multiple_of(8) + columns) as u32).to_le_bytes());
        bytes.extend(json);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        self.columns.iter().for_each(|column| column.write(&mut bytes));
        bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect()
    }
}
