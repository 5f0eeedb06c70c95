//! Values of a report, and their forms for JSON, CSV and tables.

use std::borrow::Cow;

use loggp::Time;
use loggp_programs::Metric;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Number;

use crate::number::{Unit, percent, rough, rough_time, thousands};

/// A value of a report.
pub enum Field {
    /// The row has no such value, and JSON leaves out the name.
    Absent,
    /// There is no value, and JSON has `null`.
    Null,
    Text(String),
    /// A value of the swept quantity, as text that is aligned as numbers are.
    Swept(String),
    Count(i128),
    /// The highest count, and its limit.
    CountOf(usize, Option<usize>),
    /// An exact time of the machine.
    Time(Time),
    Times(Vec<Time>),
    /// A measured time of the machine.
    Measured(Time),
    /// A time of this computer's own clock.
    HostTime(Time),
    Number(f64),
    Error(f64),
    Bool(bool),
    Verified(bool),
    OnTime(bool),
    /// A value with a prefix in tables, or the prefix alone if the value is null.
    Prefixed(&'static str, Box<Field>),
    /// Rows of another kind, such as the phases of a run.
    Rows(Vec<Object>),
    Metrics(Vec<Metric>),
}

/// Values by their names, which are paths: `stalls.ns` is `ns` in the object `stalls`. The values of an inner
/// object are adjacent.
pub struct Object(pub Vec<(Cow<'static, str>, Field)>);

/// The format of the times in a table.
pub struct TimeFormat {
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
    pub fn for_fields<'a>(
        fields: impl Iterator<Item = &'a Field> + Clone,
        unit: Unit,
        most: usize,
    ) -> TimeFormat {
        let exact = fields.clone().filter_map(Field::exact).map(|time| unit.decimals(time));
        let exact = exact.max().unwrap_or(0).min(most);
        let shortest = fields.filter_map(|field| match field {
            Field::Measured(time) => Some(*time),
            _ => None,
        });
        let digits = |time| unit.number(time, 0).chars().filter(char::is_ascii_digit).count();
        let whole = shortest.min().map_or(1, digits);
        TimeFormat { unit, exact, measured: MEASURED_DIGITS.saturating_sub(whole).min(most).max(exact) }
    }
}

impl Field {
    /// Returns the exact time in the field, if it has one.
    fn exact(&self) -> Option<Time> {
        match self {
            Field::Time(time) => Some(*time),
            Field::Prefixed(_, field) => field.exact(),
            _ => None,
        }
    }

    /// Returns whether the field is aligned to the left of its column.
    pub fn is_text(&self) -> bool {
        matches!(self, Field::Text(_) | Field::Verified(_) | Field::OnTime(_))
    }

    /// Returns whether the field is worth a column: it is no missing value, no zero time and no run on time.
    pub fn is_informative(&self) -> bool {
        !matches!(self, Field::Absent | Field::Null | Field::OnTime(true) | Field::Time(Time::ZERO))
    }

    /// Returns the field as a table shows it.
    pub fn to_text(&self, format: &TimeFormat) -> String {
        match self {
            Field::Text(text) | Field::Swept(text) => text.clone(),
            Field::Count(count) if *count < 0 => format!("-{}", thousands(-count)),
            Field::Count(count) => thousands(count),
            Field::CountOf(most, Some(all)) => format!("{} of {}", thousands(most), thousands(all)),
            Field::CountOf(most @ 1.., None) => thousands(most),
            Field::Time(time) => format.unit.number(*time, format.exact),
            Field::Measured(time) => format.unit.number(*time, format.measured),
            Field::HostTime(time) => rough_time(*time),
            Field::Number(number) => rough(*number),
            Field::Error(error) => percent(*error),
            Field::Verified(right) => if *right { "yes" } else { "NO" }.into(),
            Field::OnTime(held) => if *held { "" } else { "late" }.into(),
            Field::Prefixed(sign, field) => match **field {
                Field::Null => sign.to_string(),
                _ => format!("{sign} {}", field.to_text(format)),
            },
            _ => "-".into(),
        }
    }
}

impl Serialize for Field {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Field::Absent | Field::Null => serializer.serialize_none(),
            Field::Text(text) | Field::Swept(text) => serializer.serialize_str(text),
            Field::Count(count) => count.serialize(serializer),
            Field::CountOf(most, _) => most.serialize(serializer),
            Field::Time(time) | Field::Measured(time) | Field::HostTime(time) => {
                nanoseconds(*time).serialize(serializer)
            }
            Field::Times(times) => serializer.collect_seq(times.iter().copied().map(nanoseconds)),
            Field::Number(number) | Field::Error(number) => serializer.serialize_f64(*number),
            Field::Bool(yes) | Field::Verified(yes) | Field::OnTime(yes) => serializer.serialize_bool(*yes),
            Field::Prefixed(_, field) => field.serialize(serializer),
            Field::Rows(rows) => rows.serialize(serializer),
            Field::Metrics(metrics) => {
                let name = |metric: &Metric| match metric.unit {
                    "" => metric.name.to_string(),
                    unit => format!("{} ({unit})", metric.name),
                };
                serializer.collect_map(metrics.iter().map(|metric| (name(metric), metric.value)))
            }
        }
    }
}

/// Implements `From` for types that are values of a report.
macro_rules! fields {
    ($($kind:ty: $field:expr;)*) => {
        $(impl From<$kind> for Field {
            fn from(value: $kind) -> Field {
                $field(value)
            }
        })*
    };
}

fields! {
    String: Field::Text;
    &str: |text: &str| Field::Text(text.into());
    usize: |count| Field::Count(count as i128);
    u64: |count: u64| Field::Count(count.into());
    i64: |count: i64| Field::Count(count.into());
    Time: Field::Time;
    f64: Field::Number;
}

impl<T: Into<Field>> From<Option<T>> for Field {
    fn from(value: Option<T>) -> Field {
        value.map_or(Field::Null, T::into)
    }
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        NestedValues(self.0.iter().map(|(name, field)| (&**name, field)).collect()).serialize(serializer)
    }
}

/// The values of an inner object, by the rest of their paths.
struct NestedValues<'a>(Vec<(&'a str, &'a Field)>);

impl Serialize for NestedValues<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        fn object<'a>((path, _): &(&'a str, &Field)) -> Option<&'a str> {
            path.split_once('.').map(|(object, _)| object)
        }
        let mut map = serializer.serialize_map(None)?;
        for values in self.0.chunk_by(|one, other| object(one).is_some() && object(one) == object(other)) {
            let there = values.iter().filter(|(_, field)| !matches!(field, Field::Absent));
            match object(&values[0]) {
                None => there.copied().try_for_each(|(name, field)| map.serialize_entry(name, field))?,
                Some(object) => {
                    let inner: Vec<_> =
                        there.map(|(path, field)| (&path[object.len() + 1..], *field)).collect();
                    map.serialize_entry(object, &(!inner.is_empty()).then_some(NestedValues(inner)))?;
                }
            }
        }
        map.end()
    }
}

/// Returns a time in ns, as a whole number if it is one.
fn nanoseconds(time: Time) -> Number {
    match time.as_ps() {
        ps if ps % 1000 == 0 => (ps / 1000).into(),
        _ => Number::from_f64(time.as_ns()).expect("it is finite"),
    }
}
