//! A value of a report: what programs get of it, and what people see.

use loggp::Time;
use loggp_programs::Figure;
use loggp_programs::study::{Ns, Phase};
use serde::{Serialize, Serializer};

use super::number::{Unit, percent, rough, rough_time, thousands};

/// A value.
pub enum Cell {
    /// None, where rows of this kind have none: JSON has not even the name.
    Absent,
    /// None, where there could be one.
    Nothing,
    /// Words.
    Text(String),
    /// A value of what is swept, as people read it.
    Swept(String),
    /// A number of things.
    Count(i128),
    /// So many at most, of as many as may be.
    Of(usize, Option<usize>),
    /// A time of the machine, which is exact.
    Time(Time),
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
    /// The phases of a run.
    Phases(Vec<Phase>),
    /// What else a run showed.
    Figures(Vec<Figure>),
}

/// How a table shows times.
pub struct Scale {
    /// In what they are counted.
    unit: Unit,
    /// With how many decimals what is exact.
    exact: usize,
    /// With how many what was measured.
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
    /// What is exact in it.
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
            Cell::Number(number) | Cell::Error(number) => serializer.serialize_f64(*number),
            Cell::Verified(yes) | Cell::Held(yes) => serializer.serialize_bool(*yes),
            Cell::Signed(_, cell) => cell.serialize(serializer),
            Cell::Phases(phases) => phases.serialize(serializer),
            Cell::Figures(figures) => {
                let name = |figure: &Figure| match figure.unit {
                    "" => figure.name.to_string(),
                    unit => format!("{} ({unit})", figure.name),
                };
                serializer.collect_map(figures.iter().map(|figure| (name(figure), figure.value)))
            }
        }
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

impl From<usize> for Cell {
    fn from(count: usize) -> Cell {
        Cell::Count(count as i128)
    }
}

impl From<u64> for Cell {
    fn from(count: u64) -> Cell {
        Cell::Count(count.into())
    }
}

impl From<i64> for Cell {
    fn from(count: i64) -> Cell {
        Cell::Count(count.into())
    }
}

impl From<Time> for Cell {
    fn from(time: Time) -> Cell {
        Cell::Time(time)
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Cell {
        Cell::Number(number)
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Cell {
        value.map_or(Cell::Nothing, T::into)
    }
}
