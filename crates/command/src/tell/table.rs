//! Rows as a table.

use loggp::Time;
use loggp_document::{CellFormat, DocumentBlock, Table};
use loggp_study::rows::{Columns, Field};

use crate::number::{Unit, percent, rough, rough_time, thousands};

/// Limit of the decimals of times in a table.
pub const MOST_DECIMALS: usize = 3;

/// Returns rows as a table, with times in this unit; `None` without rows or columns.
pub fn table<R>(columns: &Columns<R>, rows: &[R], unit: Unit) -> Option<DocumentBlock> {
    table_with_decimals(columns, rows, unit, MOST_DECIMALS)
}

/// Returns rows as a table, with times in this unit and at most `most_decimals`; `None` without rows or columns.
pub fn table_with_decimals<R>(
    columns: &Columns<R>,
    rows: &[R],
    unit: Unit,
    most_decimals: usize,
) -> Option<DocumentBlock> {
    let columns = columns.titled(rows);
    let format = TimeFormat::for_fields(columns.iter().flat_map(|(.., fields)| fields), unit, most_decimals);
    let table = columns.iter().fold(Table::new("", ""), |table, (title, yields, fields)| {
        let show = if fields.iter().any(is_text) { CellFormat::Text } else { CellFormat::Right };
        let table = table.column(title, "", show);
        if *yields { table.yielding() } else { table }
    });
    let shown = |row: usize| columns.iter().map(|(.., fields)| format.text(&fields[row]).into()).collect();
    let table = Table { rows: (0..rows.len()).map(shown).collect(), ..table };
    (!rows.is_empty() && !columns.is_empty()).then_some(DocumentBlock::Table(table))
}

/// The format of the times in a table.
struct TimeFormat {
    unit: Unit,
    /// Decimals of exact times.
    exact: usize,
    /// Decimals of measured times.
    measured: usize,
}

/// Digits of the shortest measured time in a table.
const MEASURED_DIGITS: usize = 6;

impl TimeFormat {
    /// Returns the format for the fields of a table, with at most `most` decimals: exact times have as many
    /// as the longest needs, measured times no more than are meaningful.
    fn for_fields<'a>(
        fields: impl Iterator<Item = &'a Field> + Clone,
        unit: Unit,
        most: usize,
    ) -> TimeFormat {
        let exact = fields.clone().filter_map(exact_time).map(|time| unit.decimals(time));
        let exact = exact.max().unwrap_or(0).min(most);
        let shortest = fields.filter_map(|field| match field {
            Field::Measured(time) => Some(*time),
            _ => None,
        });
        let digits = |time| unit.number(time, 0).chars().filter(char::is_ascii_digit).count();
        let whole = shortest.min().map_or(1, digits);
        TimeFormat { unit, exact, measured: MEASURED_DIGITS.saturating_sub(whole).min(most).max(exact) }
    }

    /// Returns a field as the table shows it.
    fn text(&self, field: &Field) -> String {
        match field {
            Field::Text(text) | Field::Swept(text) => text.clone(),
            Field::Count(count) if *count < 0 => format!("-{}", thousands(-count)),
            Field::Count(count) => thousands(count),
            Field::CountOf(most, Some(all)) => format!("{} of {}", thousands(most), thousands(all)),
            Field::CountOf(most @ 1.., None) => thousands(most),
            Field::Time(time) => self.unit.number(*time, self.exact),
            Field::Measured(time) => self.unit.number(*time, self.measured),
            Field::Given(time) => self.unit.show(*time),
            Field::More(about, time) => format!("{about}+{}", self.unit.show(*time)),
            Field::HostTime(time) => rough_time(*time),
            Field::Number(number) => rough(*number),
            Field::Error(error) => percent(*error),
            Field::Verified(right) => if *right { "yes" } else { "NO" }.into(),
            Field::OnTime(held) => if *held { "yes" } else { "late" }.into(),
            Field::Prefixed(sign, field) => match **field {
                Field::Null => sign.to_string(),
                _ => format!("{sign} {}", self.text(field)),
            },
            _ => "-".into(),
        }
    }
}

/// Returns the exact time in a field, if it has one.
fn exact_time(field: &Field) -> Option<Time> {
    match field {
        Field::Time(time) => Some(*time),
        Field::Prefixed(_, field) => exact_time(field),
        _ => None,
    }
}

/// Returns whether a field is aligned to the left of its column.
fn is_text(field: &Field) -> bool {
    matches!(field, Field::Text(_) | Field::Verified(_) | Field::OnTime(_) | Field::More(..))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::stdout::width_of_files;

    #[test]
    fn numbers_are_aligned_to_the_right() {
        let mut columns = Columns::new();
        columns.add("one", |n: &i64| *n).title("one");
        columns.add("word", |_| "a \"b\", c").title("word");
        let table = table(&columns, &[7, 1000], Unit::from_text("us", loggp::US));
        let Some(DocumentBlock::Table(table)) = table else { panic!("there are rows") };
        assert_eq!(table.to_text(width_of_files()), "  one  word\n    7  a \"b\", c\n1,000  a \"b\", c\n");
    }
}
