//! Times: whole picoseconds, as in the library.

use std::hash::{DefaultHasher, Hash, Hasher};

use loggp::{MS, NS, PS, SEC, Time as Moment, TimeError, US};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt, PyString, PyTuple};

use crate::Object;

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

/// Returns a number or a time as text that the library reads: a bare number counts cycles. One that is not whole
/// is rounded to the nearest picosecond.
pub fn time_text(value: &Object<'_>, cycle: Moment) -> PyResult<String> {
    if let Ok(time) = value.cast::<Time>() {
        return Ok(format!("{}ps", time.get().0.as_ps()));
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(text.to_str()?.to_owned());
    }
    if value.cast::<PyFloat>().is_err()
        && let Ok(whole) = value.call_method0("__index__")
    {
        return Ok(whole.str()?.to_str()?.to_owned());
    }
    match value.extract::<f64>() {
        Ok(cycles) => cycles_text(cycles, cycle),
        Err(_) => Err(PyTypeError::new_err(format!(
            "{} is no time; give a number of cycles, \"3.5us\", or 3.5 * loggp.US",
            value.repr()?
        ))),
    }
}

/// Returns a number of cycles as text, rounded to the nearest picosecond.
fn cycles_text(cycles: f64, cycle: Moment) -> PyResult<String> {
    if !cycles.is_finite() {
        let sentence =
            format!("{} is no time; give a finite number of cycles", cycles.to_string().to_lowercase());
        return Err(PyValueError::new_err(sentence));
    }
    let text = cycles.to_string(); // without an exponent, which the library does not read
    if Moment::parse(&text, cycle) != Err(TimeError::TooFine) {
        return Ok(text); // exact, or too long
    }
    match (cycles * cycle.as_ps() as f64).round() as i64 {
        0 if cycles < 0.0 => Ok("-1ps".into()), // what is below 0 stays so, and is refused where it must not be
        ps => Ok(format!("{ps}ps")),
    }
}

/// Reads a time: a [`Time`], a number of cycles, or text.
pub fn read_time(value: &Object<'_>, cycle: Moment) -> PyResult<Moment> {
    if let Ok(time) = value.cast::<Time>() {
        return Ok(time.get().0);
    }
    let text = time_text(value, cycle)?;
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
    fn new(text: &Object<'_>) -> PyResult<Time> {
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

    /// Formats it as its text, or with a form of numbers, as `.2f`, its number; with `us` or another unit behind
    /// that, in that unit.
    ///
    /// >>> from loggp import US
    /// >>> time = 1234567 * US / 100
    /// >>> f"{time}, {time:.1f}, {time:.2f us}, {time:,.0fns}, {time:us}, {time:>14}"
    /// '12.34567 ms, 12.3 ms, 12345.67 us, 12,345,670 ns, 12345.67 us,    12.34567 ms'
    fn __format__(&self, spec: &Bound<'_, PyString>) -> PyResult<Py<PyAny>> {
        let py = spec.py();
        let (form, unit) = split_form(spec.to_str()?);
        let text = self.0.to_string();
        if unit.is_none() && !form.ends_with(FORMS_OF_NUMBERS) {
            return Ok(PyString::new(py, &text).call_method1("__format__", (spec,))?.unbind());
        }
        let unit = unit.or_else(|| text.rsplit_once(' ').map(|(_, unit)| unit)).unwrap_or("us");
        let length = UNITS.into_iter().find(|(name, _)| *name == unit).map_or(US, |(_, length)| length);
        let number = self.0.in_units(length);
        let number: String = match form {
            "" => number.to_string(),
            form => number.into_pyobject(py)?.call_method1("__format__", (form,))?.extract()?,
        };
        Ok(PyString::new(py, &format!("{number} {unit}")).into_any().unbind())
    }

    /// The number of microseconds: what NumPy and Matplotlib take it for.
    fn __float__(&self) -> f64 {
        self.us()
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.hash(&mut hasher);
        hasher.finish()
    }

    fn __bool__(&self) -> bool {
        self.0 != Moment::ZERO
    }

    fn __richcmp__(&self, other: &Object<'_>, op: pyo3::basic::CompareOp) -> PyResult<Py<PyAny>> {
        let py = other.py();
        let other = match other.cast::<Time>() {
            Ok(other) => *other.get(),
            // A sum begins with 0, and nothing needs no unit.
            Err(_) if other.extract::<f64>().is_ok_and(|number| number == 0.0) => Time(Moment::ZERO),
            Err(_) => return Ok(py.NotImplemented()),
        };
        Ok(op.matches(self.cmp(&other)).into_pyobject(py)?.to_owned().into_any().unbind())
    }

    fn __add__(&self, other: &Object<'_>) -> PyResult<Time> {
        Ok(Time(self.0 + operand(other, "added to")?.0))
    }

    fn __radd__(&self, other: &Object<'_>) -> PyResult<Time> {
        self.__add__(other)
    }

    fn __sub__(&self, other: &Object<'_>) -> PyResult<Time> {
        Ok(Time(self.0 - operand(other, "subtracted from")?.0))
    }

    fn __rsub__(&self, other: &Object<'_>) -> PyResult<Time> {
        Ok(Time(operand(other, "subtracted from")?.0 - self.0))
    }

    fn __mul__(&self, times: &Object<'_>) -> PyResult<Time> {
        match times.cast::<PyInt>() {
            Ok(_) => Ok(Time(times.extract::<i64>()? * self.0)),
            Err(_) => whole(self.0.as_ps() as f64 * number(times)?),
        }
    }

    fn __rmul__(&self, times: &Object<'_>) -> PyResult<Time> {
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

    fn __floordiv__(&self, by: &Object<'_>) -> PyResult<i64> {
        let by = operand(by, "a divisor of")?.0.as_ps();
        let divides = self.0.as_ps().checked_div_euclid(by);
        divides.ok_or_else(|| pyo3::exceptions::PyZeroDivisionError::new_err("a time divided by zero"))
    }

    fn __mod__(&self, by: &Object<'_>) -> PyResult<Time> {
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

/// The units of times, by their names.
const UNITS: [(&str, Moment); 5] = [("ps", PS), ("ns", NS), ("us", US), ("ms", MS), ("s", SEC)];

/// The ends of the forms of numbers.
const FORMS_OF_NUMBERS: [char; 7] = ['e', 'E', 'f', 'F', 'g', 'G', 'n'];

/// Splits a form into that of a number and a unit. A lone `s` is Python's form of text.
fn split_form(spec: &str) -> (&str, Option<&'static str>) {
    for (unit, _) in UNITS {
        if let Some(form) = spec.strip_suffix(unit) {
            let is_of_number = |form: &str| form.ends_with(FORMS_OF_NUMBERS);
            if unit != "s" && form.is_empty() || is_of_number(form.trim_end()) || form == " " {
                return (form.trim_end(), Some(unit));
            }
        }
    }
    (spec, None)
}

/// Returns a time; 0 is one too.
fn operand(value: &Object<'_>, how: &str) -> PyResult<Time> {
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
fn number(value: &Object<'_>) -> PyResult<f64> {
    let number =
        if value.is_instance_of::<Time>() { Err(PyTypeError::new_err("a time")) } else { value.extract() };
    number.map_err(|_| {
        let repr = value.repr().map(|repr| repr.to_string()).unwrap_or_default();
        PyTypeError::new_err(format!("a time is multiplied or divided by a number, not by {repr}"))
    })
}
