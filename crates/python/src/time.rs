//! Times: whole picoseconds, as in the library.

use std::hash::{DefaultHasher, Hash, Hasher};

use loggp::{MS, NS, PS, SEC, Time as Moment, US};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt, PyString, PyTuple};

/// A moment or a length of time, in whole picoseconds.
///
/// >>> from loggp import Time, NS, US
/// >>> 6 * US + 30 * NS
/// Time('6.03 us')
/// >>> (3 * US) / (2 * US)
/// 1.5
/// >>> Time("7.63ns").ps
/// 7630
#[pyclass(frozen, module = "loggp", from_py_object)]
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub Moment);

/// Adds the units of time to the module.
pub fn add_units(module: &Bound<'_, PyModule>) -> PyResult<()> {
    for (name, unit) in [("PS", PS), ("NS", NS), ("US", US), ("MS", MS), ("SEC", SEC)] {
        module.add(name, Time(unit))?;
    }
    Ok(())
}

/// Returns a number or a time as text that the library reads: a bare number counts cycles.
pub fn time_text(value: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(time) = value.cast::<Time>() {
        return Ok(format!("{}ps", time.get().0.as_ps()));
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(text.to_str()?.to_owned());
    }
    // Rust prints no exponents, which the library does not read.
    if value.cast::<PyFloat>().is_ok() {
        return Ok(value.extract::<f64>()?.to_string());
    }
    match value.cast::<PyInt>() {
        Ok(number) => Ok(number.str()?.to_str()?.to_owned()),
        Err(_) if value.hasattr("__float__")? => Ok(value.extract::<f64>()?.to_string()),
        Err(_) => Err(PyTypeError::new_err(format!(
            "{} is no time; give a number of cycles, \"3.5us\", or 3.5 * loggp.US",
            value.repr()?
        ))),
    }
}

/// Reads a time: a [`Time`], a number of cycles, or text.
pub fn read_time(value: &Bound<'_, PyAny>, cycle: Moment) -> PyResult<Moment> {
    if let Ok(time) = value.cast::<Time>() {
        return Ok(time.get().0);
    }
    let text = time_text(value)?;
    Moment::parse(&text, cycle)
        .map_err(|why| PyValueError::new_err(format!("{}: {why}", value.repr().unwrap())))
}

/// Returns a number of picoseconds, rounded to a whole one.
fn whole(ps: f64) -> PyResult<Time> {
    if ps.abs() < i64::MAX as f64 {
        return Ok(Time(Moment::from_ps(ps.round() as i64)));
    }
    Err(PyValueError::new_err(format!("{ps} picoseconds are no time; give at most {}", Moment::MAX)))
}

#[pymethods]
impl Time {
    #[new]
    fn new(text: &Bound<'_, PyAny>) -> PyResult<Time> {
        if let Ok(time) = text.cast::<Time>() {
            return Ok(*time.get());
        }
        let Ok(given) = text.cast::<PyString>() else {
            let sentence =
                format!("{} has no unit; write loggp.Time(\"6us\"), or 6 * loggp.US", text.repr()?);
            return Err(PyTypeError::new_err(sentence));
        };
        let parsed = given.to_str()?.parse().map(Time);
        parsed.map_err(|why: loggp::TimeError| {
            PyValueError::new_err(format!("{}: {why}", text.repr().unwrap()))
        })
    }

    /// Returns the time with this number of picoseconds.
    #[staticmethod]
    fn from_ps(ps: i64) -> Time {
        Time(Moment::from_ps(ps))
    }

    /// The number of picoseconds, a whole one.
    #[getter]
    fn ps(&self) -> i64 {
        self.0.as_ps()
    }

    /// The number of nanoseconds.
    #[getter]
    fn ns(&self) -> f64 {
        self.0.in_units(NS)
    }

    /// The number of microseconds.
    #[getter]
    fn us(&self) -> f64 {
        self.0.in_units(US)
    }

    /// The number of milliseconds.
    #[getter]
    fn ms(&self) -> f64 {
        self.0.in_units(MS)
    }

    /// The number of seconds.
    #[getter]
    fn s(&self) -> f64 {
        self.0.in_units(SEC)
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        format!("Time('{}')", self.0)
    }

    fn __format__(&self, spec: &Bound<'_, PyString>) -> PyResult<Py<PyAny>> {
        let text = PyString::new(spec.py(), &self.0.to_string());
        Ok(text.call_method1("__format__", (spec,))?.unbind())
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.hash(&mut hasher);
        hasher.finish()
    }

    fn __bool__(&self) -> bool {
        self.0 != Moment::ZERO
    }

    fn __richcmp__(&self, other: &Bound<'_, PyAny>, op: pyo3::basic::CompareOp) -> PyResult<Py<PyAny>> {
        let py = other.py();
        let other = match other.cast::<Time>() {
            Ok(other) => *other.get(),
            // A sum begins with 0, and nothing needs no unit.
            Err(_) if other.extract::<f64>().is_ok_and(|number| number == 0.0) => Time(Moment::ZERO),
            Err(_) => return Ok(py.NotImplemented()),
        };
        Ok(op.matches(self.cmp(&other)).into_pyobject(py)?.to_owned().into_any().unbind())
    }

    fn __add__(&self, other: &Bound<'_, PyAny>) -> PyResult<Time> {
        Ok(Time(self.0 + operand(other, "added to")?.0))
    }

    fn __radd__(&self, other: &Bound<'_, PyAny>) -> PyResult<Time> {
        self.__add__(other)
    }

    fn __sub__(&self, other: &Bound<'_, PyAny>) -> PyResult<Time> {
        Ok(Time(self.0 - operand(other, "subtracted from")?.0))
    }

    fn __rsub__(&self, other: &Bound<'_, PyAny>) -> PyResult<Time> {
        Ok(Time(operand(other, "subtracted from")?.0 - self.0))
    }

    fn __mul__(&self, times: &Bound<'_, PyAny>) -> PyResult<Time> {
        match times.cast::<PyInt>() {
            Ok(_) => Ok(Time(times.extract::<i64>()? * self.0)),
            Err(_) => whole(self.0.as_ps() as f64 * number(times)?),
        }
    }

    fn __rmul__(&self, times: &Bound<'_, PyAny>) -> PyResult<Time> {
        self.__mul__(times)
    }

    fn __truediv__<'py>(&self, by: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = by.py();
        let (divisor, is_time) = match by.cast::<Time>() {
            Ok(time) => (time.get().0.as_ps() as f64, true),
            Err(_) => (number(by)?, false),
        };
        if divisor == 0.0 {
            return Err(pyo3::exceptions::PyZeroDivisionError::new_err("a time divided by zero"));
        }
        let quotient = self.0.as_ps() as f64 / divisor;
        if is_time {
            Ok(quotient.into_pyobject(py)?.into_any())
        } else {
            Ok(Bound::new(py, whole(quotient)?)?.into_any())
        }
    }

    fn __floordiv__(&self, by: &Bound<'_, PyAny>) -> PyResult<i64> {
        let by = operand(by, "a divisor of")?.0.as_ps();
        let divides = self.0.as_ps().checked_div_euclid(by);
        divides.ok_or_else(|| pyo3::exceptions::PyZeroDivisionError::new_err("a time divided by zero"))
    }

    fn __mod__(&self, by: &Bound<'_, PyAny>) -> PyResult<Time> {
        let rest = self.0.as_ps().checked_rem_euclid(operand(by, "a divisor of")?.0.as_ps());
        let rest = rest.map(|ps| Time(Moment::from_ps(ps)));
        rest.ok_or_else(|| pyo3::exceptions::PyZeroDivisionError::new_err("a time divided by zero"))
    }

    fn __neg__(&self) -> Time {
        Time(-self.0)
    }

    fn __abs__(&self) -> Time {
        Time(self.0.max(-self.0))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Time>) -> PyResult<Bound<'py, PyTuple>> {
        let py = slf.py();
        let make = py.get_type::<Time>().getattr("from_ps")?;
        (make, (slf.get().ps(),)).into_pyobject(py)
    }
}

/// Returns a time; 0 is one too.
fn operand(value: &Bound<'_, PyAny>, how: &str) -> PyResult<Time> {
    if let Ok(time) = value.cast::<Time>() {
        return Ok(*time.get());
    }
    if value.extract::<f64>().is_ok_and(|number| number == 0.0) {
        return Ok(Time(Moment::ZERO));
    }
    let sentence = format!("{} cannot be {how} a time; give it a unit: 6 * loggp.US", value.repr()?);
    Err(PyTypeError::new_err(sentence))
}

/// Returns a number by which a time is multiplied or divided.
fn number(value: &Bound<'_, PyAny>) -> PyResult<f64> {
    value.extract().map_err(|_| {
        let repr = value.repr().map(|repr| repr.to_string()).unwrap_or_default();
        PyTypeError::new_err(format!("a time is multiplied or divided by a number, not by {repr}"))
    })
}
