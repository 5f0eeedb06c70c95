//! Our answers with their sources. A value of a run is a [`Ran`], which only a run can make, so that no
//! constant of an exhibit can pass for one.

use std::ops::{Add, Div, Mul, Sub};

use loggp::check::CheckReport;
use loggp::trace::Trace;
use loggp_study::Answers;
use loggp_study::loggps::LogGpsCalibration;
use serde::{Deserialize, Serialize};

/// Source of our result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AnswerSource {
    /// A closed form.
    Formula,
    /// Arithmetic on numbers that the paper prints beside the one in question.
    Arithmetic,
    /// A run on the virtual clock.
    Model,
    /// A count without a run, of a schedule or a graph.
    Count,
}

/// A value that was computed from a run. Arithmetic with other values keeps it one.
///
/// Nothing else makes one:
///
/// ```compile_fail
/// let constant = loggp_papers::Ran(2.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Ran<T>(T);

/// A result of a run.
pub trait RunResult: sealed::Sealed {
    /// Returns a value computed from the run.
    fn ran<T>(&self, compute: impl FnOnce(&Self) -> T) -> Ran<T> {
        self.assert_run();
        Ran(compute(self))
    }

    #[doc(hidden)]
    fn assert_run(&self) {}
}

impl RunResult for Answers {}
impl RunResult for Trace {}
impl RunResult for LogGpsCalibration {}
impl<T> RunResult for loggp::Run<T> {}
impl<R> RunResult for CheckReport<R> {}

pub(crate) mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Answers {}
    impl Sealed for super::Trace {}
    impl Sealed for super::LogGpsCalibration {}
    impl<T> Sealed for loggp::Run<T> {}
    impl<R> Sealed for super::CheckReport<R> {}
}

impl<T> Ran<T> {
    /// Returns the bare value, for texts and pictures.
    pub fn value(self) -> T {
        self.0
    }

    /// Returns a value computed from this one.
    pub fn map<U>(self, compute: impl FnOnce(T) -> U) -> Ran<U> {
        Ran(compute(self.0))
    }
}

/// Implements an operator between values of runs, and between one and a number, on either side.
macro_rules! operators {
    ($($operator:ident $function:ident;)+) => {$(
        impl $operator for Ran<f64> {
            type Output = Ran<f64>;
            fn $function(self, other: Ran<f64>) -> Ran<f64> {
                Ran(self.0.$function(other.0))
            }
        }

        impl $operator<f64> for Ran<f64> {
            type Output = Ran<f64>;
            fn $function(self, other: f64) -> Ran<f64> {
                Ran(self.0.$function(other))
            }
        }

        impl $operator<Ran<f64>> for f64 {
            type Output = Ran<f64>;
            fn $function(self, other: Ran<f64>) -> Ran<f64> {
                Ran(self.$function(other.0))
            }
        }
    )+};
}

operators! {
    Add add;
    Sub sub;
    Mul mul;
    Div div;
}

/// Our answer: a value and its source.
pub trait Answer<T> {
    /// Source of such a value.
    const SOURCE: AnswerSource;

    /// Returns the value.
    fn into_value(self) -> T;
}

impl<T> Answer<T> for Ran<T> {
    const SOURCE: AnswerSource = AnswerSource::Model;

    fn into_value(self) -> T {
        self.0
    }
}

/// Implements answers that come from no run.
macro_rules! answers {
    ($($kind:ty => $value:ty, $source:ident;)+) => {$(
        impl Answer<$value> for $kind {
            const SOURCE: AnswerSource = AnswerSource::$source;

            fn into_value(self) -> $value {
                self.into()
            }
        }
    )+};
}

answers! {
    f64 => f64, Formula;
    u32 => f64, Count;
    bool => bool, Formula;
    String => String, Formula;
    &str => String, Formula;
}
