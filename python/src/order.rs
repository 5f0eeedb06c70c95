//! Orders of messages.

use loggp::Machine;
use loggp::trace::Trace;
use pyo3::exceptions::PyValueError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::program::session::Session;
use crate::program::{Programs, run_error};

/// An order in which messages arrive and processors act, such as one under which a check failed: see
/// `Machine.run`.
#[pyclass(module = "loggp")]
pub struct Order {
    pub order: loggp::Order,
    pub source: OrderSource,
}

/// A run under an order, from whose trace the order can be made again.
pub enum OrderSource {
    /// A trace, an object of Python.
    Trace(Py<PyAny>),
    /// The bytes of a file of a trace.
    Bytes(Py<PyBytes>),
    /// A run of this program, which is made when it is needed.
    Run(Box<Machine>, Py<PyAny>),
}

impl OrderSource {
    /// Returns the trace of the run, as the bytes of a file of it.
    fn bytes<'py>(&self, py: Python<'py>, order: &loggp::Order) -> PyResult<Bound<'py, PyAny>> {
        let (machine, program) = match self {
            OrderSource::Trace(trace) => return trace.bind(py).call_method0("to_bytes"),
            OrderSource::Bytes(bytes) => return Ok(bytes.bind(py).clone().into_any()),
            OrderSource::Run(machine, program) => ((**machine).clone().order(order).trace(true), program),
        };
        let programs = Programs::new(program, Session::new(&machine, false));
        let ran = machine.run_surviving(|p| programs.run(p));
        let ran = ran.map_err(|error| run_error(py, error, &programs));
        programs.close(py);
        let mut bytes = Vec::new();
        ran?.trace.expect("it was traced").write_compact(&mut bytes)?;
        Ok(PyBytes::new(py, &bytes).into_any())
    }
}

#[pymethods]
impl Order {
    #[staticmethod]
    fn _restore(bytes: &Bound<'_, PyBytes>) -> PyResult<Order> {
        let trace = Trace::read(bytes.as_bytes()).map_err(|why| PyValueError::new_err(why.to_string()))?;
        Ok(Order { order: loggp::Order::from(&trace), source: OrderSource::Bytes(bytes.clone().unbind()) })
    }

    /// An order is kept as a trace under it. That of a check's result is made then, by one more run.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let bytes = self.source.bytes(py, &self.order)?;
        (py.get_type::<Order>().getattr("_restore")?, (bytes,)).into_pyobject(py)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        match &self.source {
            OrderSource::Trace(_) | OrderSource::Bytes(_) => Ok(()),
            OrderSource::Run(_, program) => visit.call(program),
        }
    }
}
