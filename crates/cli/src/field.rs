//! A value of a report: what programs get of it, and what people see.

use std::borrow::Cow;

use loggp::{Carrier, ClockKind, Dilation, Ports, Rules, Time, Work};
use loggp_programs::Metric;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::number::{Unit, percent, rough, rough_time, thousands};

/// A value.
pub enum Field {
    /// Rows of this kind have no such value: JSON has not even the name.
    Absent,
    /// There is no value, but there could be one.
    Nothing,
    /// Words.
    Text(String),
    /// A value of what is swept, as people read it.
    Swept(String),
    /// A number of things.
    Count(i128),
    /// The most that there were at once, and the most that there may be.
    Of(usize, Option<usize>),
    /// A time of the machine, which is exact.
    Time(Time),
    /// Several such times.
    Times(Vec<Time>),
    /// A time of the machine that was measured.
    Measured(Time),
    /// A time of this computer.
    OfHost(Time),
    /// Another number.
    Number(f64),
    /// A relative error.
    Error(f64),
    /// Whether something is so.
    Truth(bool),
    /// Whether a result is right.
    Verified(bool),
    /// Whether this computer kept up.
    Held(bool),
    /// A value that people see behind a sign; or no value, of which they see only the sign.
    Signed(&'static str, Box<Field>),
    /// Several rows of another kind, such as the phases of a run.
    Rows(Vec<Object>),
    /// What else a run showed.
    Metrics(Vec<Metric>),
}

/// Values by their names, which are paths: `stalls.ns` is `ns` in the object `stalls`. Those of an object stand together.
pub struct Object(pub Vec<(Cow<'static, str>, Field)>);

/// How a table shows times.
pub struct Scale {
    /// The unit in which times are counted.
    unit: Unit,
    /// With how many decimals what is exact.
    exact: usize,
    /// With how many decimals measured times are shown.
    measured: usize,
}

/// What is measured is shown with so many digits.
const MEASURED_DIGITS: usize = 6;

impl Scale {
    /// For all fields of a table, with at most so many decimals: times as exactly as the most exact needs, and of what was
    /// measured nothing that is only noise.
    pub fn of<'a>(fields: impl Iterator<Item = &'a Field> + Clone, unit: Unit, most: usize) -> Scale {
        let exact = fields.clone().filter_map(Field::exact).map(|time| unit.decimals(time));
        let exact = exact.max().unwrap_or(0).min(most);
        let shortest = fields.filter_map(|field| match field {
            Field::Measured(time) => Some(*time),
            _ => None,
        });
        let digits = |time| unit.number(time, 0).chars().filter(char::is_ascii_digit).count();
        let whole = shortest.min().map_or(1, digits);
        Scale { unit, exact, measured: MEASURED_DIGITS.saturating_sub(whole).min(most).max(exact) }
    }
}

impl Field {
    /// The time in it that is exact, if there is one.
    fn exact(&self) -> Option<Time> {
        match self {
            Field::Time(time) => Some(*time),
            Field::Signed(_, field) => field.exact(),
            _ => None,
        }
    }

    /// Whether it stands at the left of its column.
    pub fn is_words(&self) -> bool {
        matches!(self, Field::Text(_) | Field::Verified(_) | Field::Held(_))
    }

    /// Whether people learn something from it that they do not take for granted.
    pub fn says_something(&self) -> bool {
        !matches!(self, Field::Absent | Field::Nothing | Field::Held(true) | Field::Time(Time::ZERO))
    }

    /// What people see.
    pub fn shown(&self, scale: &Scale) -> String {
        match self {
            Field::Text(text) | Field::Swept(text) => text.clone(),
            Field::Count(count) if *count < 0 => format!("-{}", thousands(-count)),
            Field::Count(count) => thousands(count),
            Field::Of(most, Some(all)) => format!("{} of {}", thousands(most), thousands(all)),
            Field::Of(most @ 1.., None) => thousands(most),
            Field::Time(time) => scale.unit.number(*time, scale.exact),
            Field::Measured(time) => scale.unit.number(*time, scale.measured),
            Field::OfHost(time) => rough_time(*time),
            Field::Number(number) => rough(*number),
            Field::Error(error) => percent(*error),
            Field::Verified(right) => if *right { "yes" } else { "NO" }.into(),
            Field::Held(held) => if *held { "" } else { "late" }.into(),
            Field::Signed(sign, field) => match **field {
                Field::Nothing => sign.to_string(),
                _ => format!("{sign} {}", field.shown(scale)),
            },
            _ => "-".into(),
        }
    }
}

impl Serialize for Field {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Field::Absent | Field::Nothing => serializer.serialize_none(),
            Field::Text(text) | Field::Swept(text) => serializer.serialize_str(text),
            Field::Count(count) => count.serialize(serializer),
            Field::Of(most, _) => most.serialize(serializer),
            Field::Time(time) | Field::Measured(time) | Field::OfHost(time) => {
                Ns(*time).serialize(serializer)
            }
            Field::Times(times) => serializer.collect_seq(times.iter().copied().map(Ns)),
            Field::Number(number) | Field::Error(number) => serializer.serialize_f64(*number),
            Field::Truth(yes) | Field::Verified(yes) | Field::Held(yes) => serializer.serialize_bool(*yes),
            Field::Signed(_, field) => field.serialize(serializer),
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

/// What is a value by itself.
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
    Carrier: |carrier: Carrier| Field::Text(carrier.to_string());
    ClockKind: |clock: ClockKind| Field::Text(clock.to_string());
    Dilation: |dilation: Dilation| Field::Text(dilation.to_string());
    Ports: |ports: Ports| Field::Text(ports.to_string());
    Rules: |rules: Rules| Field::Text(rules.to_string());
    Work: |work: Work| Field::Text(work.to_string());
}

impl<T: Into<Field>> From<Option<T>> for Field {
    fn from(value: Option<T>) -> Field {
        value.map_or(Field::Nothing, T::into)
    }
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Values(self.0.iter().map(|(name, field)| (&**name, field)).collect()).serialize(serializer)
    }
}

/// The values of an object, by what is left of their paths.
struct Values<'a>(Vec<(&'a str, &'a Field)>);

impl Serialize for Values<'_> {
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
                    map.serialize_entry(object, &(!inner.is_empty()).then_some(Values(inner)))?;
                }
            }
        }
        map.end()
    }
}

/// A time in nanoseconds: a whole number where it is one.
struct Ns(Time);

impl Serialize for Ns {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.as_ps() {
            ps if ps % 1000 == 0 => serializer.serialize_i64(ps / 1000),
            _ => serializer.serialize_f64(self.0.as_ns()),
        }
    }
}
