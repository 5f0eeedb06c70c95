//! A machine's parameters, as Python sees them.

use loggp::params::Parameter;
use loggp::{Params, ParamsError};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::time::Time;

/// The kind of work that `p.work(time)` charges. A unit of it is a picosecond.
pub const TIMED_WORK: &str = "work";

/// Returns the error of a machine that cannot be.
pub fn refused(error: ParamsError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Returns the value of a parameter, `None` if there is no such parameter. One that the machine does not have
/// is Python's `None`.
pub fn parameter(py: Python<'_>, params: &Params, name: &str) -> PyResult<Option<Py<PyAny>>> {
    let parameter =
        Some(&Parameter::CYCLE).filter(|cycle| cycle.name == name).or_else(|| Parameter::by_name(name));
    let Some(parameter) = parameter else { return Ok(None) };
    let value = match parameter.number(params) {
        None => py.None(),
        Some(ps) if parameter.is_time() => Py::new(py, Time(loggp::Time::from_ps(ps)))?.into_any(),
        Some(count) => count.into_pyobject(py)?.into_any().unbind(),
    };
    Ok(Some(value))
}
