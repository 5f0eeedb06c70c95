//! A machine's parameters, as Python sees them.

use loggp::params::{LongMessages, Parameter};
use loggp::{Params, ParamsError};
use pyo3::exceptions::{PyAttributeError, PyValueError};
use pyo3::prelude::*;

use crate::time::Time;

/// The kind of work that `p.work(time)` charges. A unit of it is a picosecond.
pub const TIMED_WORK: &str = "work";

/// The parameters between two processors: `L`, `o` and all others that a machine has.
#[pyclass(frozen, module = "loggp")]
pub struct Parameters(pub Params);

#[pymethods]
impl Parameters {
    fn __getattr__(&self, py: Python<'_>, name: &str) -> PyResult<Py<PyAny>> {
        parameter(py, &self.0, name)?.ok_or_else(|| {
            PyAttributeError::new_err(format!("{name} is no parameter; there are {}", Parameter::names()))
        })
    }

    fn __repr__(&self) -> String {
        format!("Parameters({})", listed(&self.0))
    }
}

/// Returns the times that the machine has.
pub fn own_times(params: &Params) -> impl Iterator<Item = (&'static str, loggp::Time)> {
    let has_G = params.long != LongMessages::LogP;
    params.times().filter(move |(name, _)| has_G || *name != "G")
}

/// Returns the parameters as names with values, as a call has them.
pub fn listed(params: &Params) -> String {
    let times = own_times(params).map(|(name, time)| format!("{name}='{time}'"));
    let counts = params.counts().map(|(name, count)| format!("{name}={count}"));
    counts.chain(times).collect::<Vec<_>>().join(", ")
}

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
