//! Values of rows, and their form in JSON.

use std::borrow::Cow;

use loggp::Time;
use loggp_programs::Metric;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Number;

/// A value of a row. Its kind says how tables show it.
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
    /// A time that stands with its unit, as those that are given do.
    Given(Time),
    /// By how much a value grows, behind words about that.
    More(&'static str, Time),
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

impl Field {
    /// Returns whether the field is worth a column: it is no missing value, no zero time and no run on time.
    pub fn is_informative(&self) -> bool {
        !matches!(self, Field::Absent | Field::Null | Field::OnTime(true) | Field::Time(Time::ZERO))
    }
}

impl Serialize for Field {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Field::Absent | Field::Null => serializer.serialize_none(),
            Field::Text(text) | Field::Swept(text) => serializer.serialize_str(text),
            Field::Count(count) => count.serialize(serializer),
            Field::CountOf(most, _) => most.serialize(serializer),
            Field::Time(time)
            | Field::Measured(time)
            | Field::HostTime(time)
            | Field::Given(time)
            | Field::More(_, time) => nanoseconds(*time).serialize(serializer),
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

/// Implements `From` for types that are values of a row.
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
