//! What can be said about a case beside its size: options, each with a type, and their values. A value is read from text
//! here and nowhere else, by the kind of its option.

mod kind;
mod times;

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use loggp::{Time, outside};

pub use kind::{Kind, Number, OneOf, Perhaps, Whole, Written, count};
pub use times::{Cycles, Length, Microseconds};

/// Something that can be said about a case beside its size: `--alpha RATIO` on the command line, `case.with(&ALPHA, 0.5)` in
/// a program. A plan reads it by `case.get(&ALPHA)`.
#[derive(Debug)]
pub struct Opt<T: 'static> {
    /// Its name on the command line.
    pub name: &'static str,
    /// What stands for its value in a help, such as `RATIO`.
    pub placeholder: &'static str,
    /// What it means, in one sentence.
    pub about: &'static str,
    /// Its value unless told.
    pub default: T,
    /// Which values there are, and how they are written.
    pub kind: &'static dyn Kind<T>,
    /// Whether it says how much there is to do, so that the size says nothing.
    pub instead_of_size: bool,
    /// The algorithms for which it is; none if it is for all.
    pub algorithms: &'static [&'static str],
}

/// An option, whatever its type.
pub trait ProgramOption: fmt::Debug + Sync {
    /// Its name on the command line.
    fn name(&self) -> &'static str;
    /// What stands for its value in a help, such as `RATIO`.
    fn placeholder(&self) -> &'static str;
    /// What it means, in one sentence.
    fn about(&self) -> &'static str;
    /// Whether it says how much there is to do, so that the size says nothing.
    fn is_instead_of_size(&self) -> bool;
    /// The algorithms for which it is; none if it is for all.
    fn algorithms(&self) -> &'static [&'static str];
    /// Whether its values are times.
    fn is_time(&self) -> bool;
    /// Its value unless told.
    fn default(&'static self) -> Value;
    /// Reads a value; or says which can be.
    fn read(&'static self, text: &str) -> Result<Value, String>;
    /// The value that is this number, of picoseconds if it is a time.
    fn at(&'static self, number: f64) -> Result<Value, String>;
    /// One of its values as it is read; nothing if it says nothing.
    fn text(&self, value: &Value) -> String;
    /// Refuses one of its values that cannot be.
    fn check(&self, value: &Value) -> Result<(), String>;
    /// One of its values as a number, of picoseconds if it is a time; nothing if it is none.
    fn number(&self, value: &Value, cycle: Time) -> Option<f64>;
}

/// The value of an option, whatever its type.
#[derive(Clone)]
pub struct Value {
    option: &'static dyn ProgramOption,
    value: Arc<dyn Any + Send + Sync>,
}

impl<T: Clone + fmt::Debug + Send + Sync> Opt<T> {
    /// An option of this kind.
    pub const fn new(
        name: &'static str,
        placeholder: &'static str,
        about: &'static str,
        default: T,
        kind: &'static dyn Kind<T>,
    ) -> Opt<T> {
        Opt { name, placeholder, about, default, kind, instead_of_size: false, algorithms: &[] }
    }

    /// The same option, which says how much there is to do.
    #[must_use]
    pub const fn instead_of_size(mut self) -> Opt<T> {
        self.instead_of_size = true;
        self
    }

    /// The same option, for these algorithms alone.
    #[must_use]
    pub const fn for_algorithms(mut self, algorithms: &'static [&'static str]) -> Opt<T> {
        self.algorithms = algorithms;
        self
    }

    /// A value of it.
    pub fn of(&'static self, value: T) -> Value {
        Value { option: self, value: Arc::new(value) }
    }
}

impl<T: Clone + fmt::Debug + Send + Sync> ProgramOption for Opt<T> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn placeholder(&self) -> &'static str {
        self.placeholder
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn is_instead_of_size(&self) -> bool {
        self.instead_of_size
    }

    fn algorithms(&self) -> &'static [&'static str] {
        self.algorithms
    }

    fn is_time(&self) -> bool {
        self.kind.is_time()
    }

    fn default(&'static self) -> Value {
        self.of(self.default.clone())
    }

    fn read(&'static self, text: &str) -> Result<Value, String> {
        self.kind.read(text).map(|value| self.of(value))
    }

    fn at(&'static self, number: f64) -> Result<Value, String> {
        self.kind.at(number).map(|value| self.of(value))
    }

    fn text(&self, value: &Value) -> String {
        self.kind.write(value.held())
    }

    fn check(&self, value: &Value) -> Result<(), String> {
        self.kind.check(value.held())
    }

    fn number(&self, value: &Value, cycle: Time) -> Option<f64> {
        self.kind.number(value.held(), cycle)
    }
}

impl Value {
    /// The option that has it.
    pub fn option(&self) -> &'static dyn ProgramOption {
        self.option
    }

    /// As it is read; nothing if it says nothing.
    pub fn text(&self) -> String {
        self.option.text(self)
    }

    /// Whether it is as usual.
    pub fn is_default(&self) -> bool {
        self.text() == self.option().default().text()
    }

    /// As a number, of picoseconds if it is a time; nothing if it is none.
    pub fn number(&self, cycle: Time) -> Option<f64> {
        self.option.number(self, cycle)
    }

    /// Refuses what cannot be, under the option's name.
    pub(crate) fn check(&self) -> Result<(), String> {
        self.option
            .check(self)
            .map_err(|why| format!("{} = {}: {why}", self.option.name(), outside(&self.text())))
    }

    /// What it is, for who knows its type.
    ///
    /// # Panics
    ///
    /// If it is not of that type.
    pub(crate) fn held<T: 'static>(&self) -> &T {
        self.value.downcast_ref().unwrap_or_else(|| panic!("{} has no such values", self.option.name()))
    }
}

/// As on the command line: `alpha=0.5`.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.option().name(), self.text())
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
