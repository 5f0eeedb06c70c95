//! Numbers of Python that are compared where no Python code may run.

use loggp::Payload;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::value::WORD;

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
