//! A value of a report: what programs get of it, and what people see.

use std::borrow::Cow;

use loggp::{Carrier, ClockKind, Dilation, Ports, Rules, Time, Work};
use loggp_programs::Metric;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::number::{Unit, percent, rough, rough_time, thousands};

/// A value.
pub enum Cell {
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
    /// Whether a result is right.
    Verified(bool),
    /// Whether this computer kept up.
    Held(bool),
    /// A value that people see behind a sign; or no value, of which they see only the sign.
    Signed(&'static str, Box<Cell>),
    /// Several rows of another kind, such as the phases of a run.
    Rows(Vec<Object>),
    /// What else a run showed.
    Metrics(Vec<Metric>),
}

/// Values by their names, which are paths: `stalls.ns` is `ns` in the object `stalls`. Those of an object stand together.
pub struct Object(pub Vec<(Cow<'static, str>, Cell)>);

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
    /// For all cells of a table, with at most so many decimals: times as exactly as the most exact needs, and of what was
    /// measured nothing that is only noise.
    pub fn of<'a>(cells: impl Iterator<Item = &'a Cell> + Clone, unit: Unit, most: usize) -> Scale {
        let exact = cells.clone().filter_map(Cell::exact).map(|time| unit.decimals(time));
        let exact = exact.max().unwrap_or(0).min(most);
        let shortest = cells.filter_map(|cell| match cell {
            Cell::Measured(time) => Some(*time),
            _ => None,
        });
        let digits = |time| unit.number(time, 0).chars().filter(char::is_ascii_digit).count();
        let whole = shortest.min().map_or(1, digits);
        Scale { unit, exact, measured: MEASURED_DIGITS.saturating_sub(whole).min(most).max(exact) }
    }
}

impl Cell {
    /// The time in it that is exact, if there is one.
    fn exact(&self) -> Option<Time> {
        match self {
            Cell::Time(time) => Some(*time),
            Cell::Signed(_, cell) => cell.exact(),
            _ => None,
        }
    }

    /// Whether it stands at the left of its column.
    pub fn is_words(&self) -> bool {
        matches!(self, Cell::Text(_) | Cell::Verified(_) | Cell::Held(_))
    }

    /// Whether people learn something from it that they do not take for granted.
    pub fn says_something(&self) -> bool {
        !matches!(self, Cell::Absent | Cell::Nothing | Cell::Held(true) | Cell::Time(Time::ZERO))
    }

    /// What people see.
    pub fn shown(&self, scale: &Scale) -> String {
        match self {
            Cell::Text(text) | Cell::Swept(text) => text.clone(),
            Cell::Count(count) if *count < 0 => format!("-{}", thousands(-count)),
            Cell::Count(count) => thousands(count),
            Cell::Of(most, Some(all)) => format!("{} of {}", thousands(most), thousands(all)),
            Cell::Of(most @ 1.., None) => thousands(most),
            Cell::Time(time) => scale.unit.number(*time, scale.exact),
            Cell::Measured(time) => scale.unit.number(*time, scale.measured),
            Cell::OfHost(time) => rough_time(*time),
            Cell::Number(number) => rough(*number),
            Cell::Error(error) => percent(*error),
            Cell::Verified(right) => if *right { "yes" } else { "NO" }.into(),
            Cell::Held(held) => if *held { "" } else { "late" }.into(),
            Cell::Signed(sign, cell) => match **cell {
                Cell::Nothing => sign.to_string(),
                _ => format!("{sign} {}", cell.shown(scale)),
            },
            _ => "-".into(),
        }
    }
}

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Cell::Absent | Cell::Nothing => serializer.serialize_none(),
            Cell::Text(text) | Cell::Swept(text) => serializer.serialize_str(text),
            Cell::Count(count) => count.serialize(serializer),
            Cell::Of(most, _) => most.serialize(serializer),
            Cell::Time(time) | Cell::Measured(time) | Cell::OfHost(time) => Ns(*time).serialize(serializer),
            Cell::Times(times) => serializer.collect_seq(times.iter().copied().map(Ns)),
            Cell::Number(number) | Cell::Error(number) => serializer.serialize_f64(*number),
            Cell::Verified(yes) | Cell::Held(yes) => serializer.serialize_bool(*yes),
            Cell::Signed(_, cell) => cell.serialize(serializer),
            Cell::Rows(rows) => rows.serialize(serializer),
            Cell::Metrics(metrics) => {
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
macro_rules! cells {
    ($($kind:ty: $cell:expr;)*) => {
        $(impl From<$kind> for Cell {
            fn from(value: $kind) -> Cell {
                $cell(value)
            }
        })*
    };
}

cells! {
    String: Cell::Text;
    &str: |text: &str| Cell::Text(text.into());
    usize: |count| Cell::Count(count as i128);
    u64: |count: u64| Cell::Count(count.into());
    i64: |count: i64| Cell::Count(count.into());
    Time: Cell::Time;
    f64: Cell::Number;
    Carrier: |carrier: Carrier| Cell::Text(carrier.to_string());
    ClockKind: |clock: ClockKind| Cell::Text(clock.to_string());
    Dilation: |dilation: Dilation| Cell::Text(dilation.to_string());
    Ports: |ports: Ports| Cell::Text(ports.to_string());
    Rules: |rules: Rules| Cell::Text(rules.to_string());
    Work: |work: Work| Cell::Text(work.to_string());
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Cell {
        value.map_or(Cell::Nothing, T::into)
    }
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Values(self.0.iter().map(|(name, cell)| (&**name, cell)).collect()).serialize(serializer)
    }
}

/// The values of an object, by what is left of their paths.
struct Values<'a>(Vec<(&'a str, &'a Cell)>);

impl Serialize for Values<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        fn object<'a>((path, _): &(&'a str, &Cell)) -> Option<&'a str> {
            path.split_once('.').map(|(object, _)| object)
        }
        let mut map = serializer.serialize_map(None)?;
        for values in self.0.chunk_by(|one, other| object(one).is_some() && object(one) == object(other)) {
            let there = values.iter().filter(|(_, cell)| !matches!(cell, Cell::Absent));
            match object(&values[0]) {
                None => there.copied().try_for_each(|(name, cell)| map.serialize_entry(name, cell))?,
                Some(object) => {
                    let inner: Vec<_> =
                        there.map(|(path, cell)| (&path[object.len() + 1..], *cell)).collect();
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
