//! The trace of a run, as columns.

use pyo3::prelude::*;

/// The record of a run.
#[pyclass(frozen, module = "loggp")]
pub struct Trace(pub loggp::trace::Trace);

impl Trace {
    pub fn new(trace: loggp::trace::Trace) -> Trace {
        Trace(trace)
    }
}

#[pymethods]
impl Trace {}
