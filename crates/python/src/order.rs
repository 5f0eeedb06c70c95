//! Orders of messages.

use pyo3::prelude::*;

/// An order in which messages arrive and processors act, such as one under which a check failed: see
/// `Machine.run`.
#[pyclass(frozen, module = "loggp")]
pub struct Order(pub loggp::Order);
