//! Numbers of Python that are compared where no Python code may run.

use loggp::Payload;
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::value::WORD;

/// Reads a whole number that is not negative.
pub fn count(number: &Bound<'_, PyAny>) -> PyResult<usize> {
    number.extract().map_err(|error: PyErr| {
        let py = number.py();
        match error.is_instance_of::<PyOverflowError>(py) {
            true => {
                PyValueError::new_err(format!("{number} cannot be; give a whole number from 0 to 2^64 - 1"))
            }
            false => PyTypeError::new_err(format!("{number} is no whole number; give one, 0 or more")),
        }
    })
}

/// Reads a whole number that is not negative, or None.
pub fn optional_count(number: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
    if number.is_none() { Ok(None) } else { count(number).map(Some) }
}

/// A number, which counts for as many bytes as Rust's `i64` and `f64`.
#[derive(Clone, Copy, IntoPyObject)]
pub enum Number {
    Whole(i64),
    Real(f64),
}

impl Payload for Number {
    const SIZE: Option<usize> = Some(WORD);

    fn bytes(&self) -> usize {
        WORD
    }
}

impl Number {
    pub fn read(number: &Bound<'_, PyAny>) -> PyResult<Number> {
        if let Ok(whole) = number.extract() {
            return Ok(Number::Whole(whole));
        }
        let refuse = |_| {
            let sentence =
                format!("{number} is no number of 64 bits, and only such can be the largest of all");
            PyTypeError::new_err(sentence)
        };
        number.extract().map(Number::Real).map_err(refuse)
    }

    fn real(self) -> f64 {
        match self {
            Number::Whole(whole) => whole as f64,
            Number::Real(real) => real,
        }
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Number) -> bool {
        self.partial_cmp(other).is_some_and(|order| order.is_eq())
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Number) -> Option<std::cmp::Ordering> {
        match (self, other) {
            (Number::Whole(one), Number::Whole(other)) => one.partial_cmp(other),
            _ => self.real().partial_cmp(&other.real()),
        }
    }
}
