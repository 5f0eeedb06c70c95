//! Orders of messages.

use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::program::Programs;
use crate::session::Session;
use crate::trace::Trace;

/// An order in which messages arrive and processors act, such as one under which a check failed: see
/// `Machine.run`.
#[pyclass(module = "loggp")]
pub struct Order {
    pub order: loggp::Order,
    pub source: Source,
}

/// A run under an order, from whose trace the order can be made again.
pub enum Source {
    Trace(Py<Trace>),
    /// A run of this program, which is made when it is needed.
    Run(Box<loggp::Machine>, Py<PyAny>),
}

impl Source {
    /// Returns the trace of the run.
    fn trace(&self, py: Python<'_>, order: &loggp::Order) -> PyResult<Py<Trace>> {
        let (machine, program) = match self {
            Source::Trace(trace) => return Ok(trace.clone_ref(py)),
            Source::Run(machine, program) => ((**machine).clone().order(order).trace(true), program),
        };
        let programs = Programs::new(program, Session::new(&machine, false));
        let ran = machine.run_surviving(|p| programs.run(p));
        let ran = ran.map_err(|error| crate::program::run_error(py, error, &programs));
        programs.close(py);
        Py::new(py, Trace::new(ran?.trace.expect("it was traced")))
    }
}

#[pymethods]
impl Order {
    #[staticmethod]
    fn _restore(py: Python<'_>, trace: Bound<'_, Trace>) -> PyResult<Order> {
        trace.get().order(py)
    }

    /// An order is kept as a trace under it. That of a check's result is made then, by one more run.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let trace = self.source.trace(py, &self.order)?;
        (py.get_type::<Order>().getattr("_restore")?, (trace,)).into_pyobject(py)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        match &self.source {
            Source::Trace(_) => Ok(()),
            Source::Run(_, program) => visit.call(program),
        }
    }
}
