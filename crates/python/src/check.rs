//! Programs under many orders of messages.

use pyo3::prelude::*;

/// An order in which messages arrive and processors act, such as one under which a check failed.
#[pyclass(frozen, module = "loggp")]
pub struct Order(pub loggp::Order);
