//! A machine's parameters, as Python sees them.

use loggp::params::{LongMessages, Parameter};
use loggp::{Params, ParamsError};
use pyo3::IntoPyObjectExt;
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

/// The value of a parameter that a machine has.
pub enum Own {
    Time(loggp::Time),
    /// `None` is no limit.
    Count(Option<usize>),
}

impl Own {
    pub fn into_object(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        match self {
            Own::Time(time) => Time(time).into_bound_py_any(py),
            Own::Count(count) => count.into_bound_py_any(py),
        }
    }
}

/// Returns the parameters that the machine has: counts, times, and the cycle unless it is 1 us.
pub fn own(params: &Params) -> impl Iterator<Item = (&'static str, Own)> {
    let has_G = params.long != LongMessages::LogP;
    let counts = params.counts().map(|(name, count)| (name, Own::Count(limit(count))));
    let times = params.times().filter(move |(name, _)| has_G || *name != "G");
    let cycle = Some(params.cycle).filter(|cycle| *cycle != loggp::US);
    let times = times.chain(cycle.map(|cycle| (Parameter::CYCLE.name, cycle)));
    counts.chain(times.map(|(name, time)| (name, Own::Time(time))))
}

/// Returns a count, `None` if it is no limit.
fn limit(count: usize) -> Option<usize> {
    Some(count).filter(|count| *count != Params::NO_LIMIT)
}

/// Returns the parameters as names with values, as a call has them.
pub fn listed(params: &Params) -> String {
    let text = |(name, value)| match value {
        Own::Time(time) => format!("{name}='{time}'"),
        Own::Count(None) => format!("{name}=None"),
        Own::Count(Some(count)) => format!("{name}={count}"),
    };
    own(params).map(text).collect::<Vec<_>>().join(", ")
}

/// Returns the error of a machine that cannot be.
pub fn refused(error: ParamsError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Returns the value of a parameter, `None` if there is no such parameter. One that the machine does not have
/// is Python's `None`, and so is no limit. The capacity C is ceil(L/g) by default.
pub fn parameter(py: Python<'_>, params: &Params, name: &str) -> PyResult<Option<Py<PyAny>>> {
    let parameter =
        Some(&Parameter::CYCLE).filter(|cycle| cycle.name == name).or_else(|| Parameter::by_name(name));
    let Some(parameter) = parameter else { return Ok(None) };
    let value = match parameter.number(params) {
        _ if parameter.name == "C" => Own::Count(params.capacity()),
        None => Own::Count(None),
        Some(ps) if parameter.is_time() => Own::Time(loggp::Time::from_ps(ps)),
        Some(count) => Own::Count(limit(count as usize)),
    };
    Ok(Some(value.into_object(py)?.unbind()))
}
