//! Options of a case beside its size. Each has a type, and its values are read from text by the kind of the
//! option and nowhere else.

mod kind;
mod times;

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use loggp::Time;
use loggp_model::text::escaped;

pub(crate) use kind::open_file;
pub use kind::{CustomKind, OneOf, OptionKind, OptionalKind, WholeNumber, is_csv_file, parse_count};
pub use times::{Cycles, Microseconds, TimeSpan};

/// An option of a case beside its size: `--alpha RATIO` on the command line, `case.with(&ALPHA, 0.5)` in a
/// program. A plan reads it by `case.get(&ALPHA)`.
#[derive(Debug)]
pub struct Opt<T: 'static> {
    info: OptionInfo,
    /// Default value.
    pub default: T,
    /// Kind of its values: the possible ones, and their syntax.
    pub kind: &'static dyn OptionKind<T>,
}

/// The parts of an option that do not depend on the type of its values.
#[derive(Debug)]
pub struct OptionInfo {
    /// Name on the command line.
    pub name: &'static str,
    /// Placeholder for its value in a help, such as `RATIO`.
    pub placeholder: &'static str,
    /// Meaning in one sentence.
    pub about: &'static str,
    /// True if a value replaces the size.
    pub is_instead_of_size: bool,
    /// Algorithms that have the option; empty if all have the option.
    pub algorithms: &'static [&'static str],
    /// Returns the values to choose the fastest from, for this many processors and this size; none if the
    /// value belongs to the question, as the cost of computing does.
    pub choices: fn(usize, usize) -> Vec<String>,
}

/// An option with values of any type.
pub trait ProgramOption: fmt::Debug + Sync {
    /// Returns the parts that do not depend on the type of its values.
    fn info(&self) -> &OptionInfo;
    /// Returns the name on the command line.
    fn name(&self) -> &'static str {
        self.info().name
    }
    /// Returns whether its values are times.
    fn is_time(&self) -> bool;
    /// Returns the default value.
    fn default(&'static self) -> OptionValue;
    /// Reads a value; the error says which values are possible.
    fn read(&'static self, text: &str) -> Result<OptionValue, String>;
    /// Returns the value for a number, in picoseconds if it is a time.
    fn value_of(&'static self, number: f64) -> Result<OptionValue, String>;
    /// Returns a value in the syntax in which it is read; empty if the value is none.
    fn text(&self, value: &OptionValue) -> String;
    /// Refuses a value that is not possible.
    fn check(&self, value: &OptionValue) -> Result<(), String>;
    /// Returns a value as a number, in picoseconds if it is a time, or `None` if it is no number.
    fn number(&self, value: &OptionValue, cycle: Time) -> Option<f64>;
}

/// The value of an option of any type.
#[derive(Clone)]
pub struct OptionValue {
    option: &'static dyn ProgramOption,
    value: Arc<dyn Any + Send + Sync>,
}

impl<T: Clone + fmt::Debug + Send + Sync> Opt<T> {
    /// Creates an option of this kind.
    pub const fn new(
        name: &'static str,
        placeholder: &'static str,
        about: &'static str,
        default: T,
        kind: &'static dyn OptionKind<T>,
    ) -> Opt<T> {
        let (is_instead_of_size, algorithms) = (false, &[] as &[&str]);
        let choices = |_, _| Vec::new();
        let info = OptionInfo { name, placeholder, about, is_instead_of_size, algorithms, choices };
        Opt { info, default, kind }
    }

    /// Returns the same option as one that replaces the size.
    #[must_use]
    pub const fn instead_of_size(mut self) -> Opt<T> {
        self.info.is_instead_of_size = true;
        self
    }

    /// Returns the same option for these algorithms alone.
    #[must_use]
    pub const fn for_algorithms(mut self, algorithms: &'static [&'static str]) -> Opt<T> {
        self.info.algorithms = algorithms;
        self
    }

    /// Returns the same option with values to choose the fastest from, for a number of processors and a size.
    #[must_use]
    pub const fn with_choices(mut self, choices: fn(usize, usize) -> Vec<String>) -> Opt<T> {
        self.info.choices = choices;
        self
    }

    /// Makes a value of this option.
    pub fn value(&'static self, value: T) -> OptionValue {
        OptionValue { option: self, value: Arc::new(value) }
    }
}

impl<T: Clone + fmt::Debug + Send + Sync> ProgramOption for Opt<T> {
    fn info(&self) -> &OptionInfo {
        &self.info
    }

    fn is_time(&self) -> bool {
        self.kind.is_time()
    }

    fn default(&'static self) -> OptionValue {
        self.value(self.default.clone())
    }

    fn read(&'static self, text: &str) -> Result<OptionValue, String> {
        self.kind.read(text).map(|value| self.value(value))
    }

    fn value_of(&'static self, number: f64) -> Result<OptionValue, String> {
        self.kind.value_of(number).map(|value| self.value(value))
    }

    fn text(&self, value: &OptionValue) -> String {
        self.kind.write(value.downcast())
    }

    fn check(&self, value: &OptionValue) -> Result<(), String> {
        self.kind.check(value.downcast())
    }

    fn number(&self, value: &OptionValue, cycle: Time) -> Option<f64> {
        self.kind.number(value.downcast(), cycle)
    }
}

impl OptionValue {
    /// Returns the option that has this value.
    pub fn option(&self) -> &'static dyn ProgramOption {
        self.option
    }

    /// Returns the value in the syntax in which it is read; empty if it is none.
    pub fn text(&self) -> String {
        self.option.text(self)
    }

    /// Returns whether the value is the default.
    pub fn is_default(&self) -> bool {
        self.text() == self.option().default().text()
    }

    /// Returns the value as a number, in picoseconds if it is a time, or `None` if it is no number.
    pub fn number(&self, cycle: Time) -> Option<f64> {
        self.option.number(self, cycle)
    }

    /// Refuses a value that is not possible, under the option's name.
    pub(crate) fn check(&self) -> Result<(), String> {
        self.option
            .check(self)
            .map_err(|why| format!("{} = {}: {why}", self.option.name(), escaped(&self.text())))
    }

    /// Returns the value as its type.
    ///
    /// # Panics
    ///
    /// If it is not of that type.
    pub(crate) fn downcast<T: 'static>(&self) -> &T {
        self.value.downcast_ref().unwrap_or_else(|| panic!("{} has no such values", self.option.name()))
    }
}

/// Writes the value as in `alpha=0.5`.
impl fmt::Display for OptionValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.option().name(), self.text())
    }
}

impl fmt::Debug for OptionValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
