//! The lines of the program in Python.

use pyo3::prelude::*;

/// Returns the frame of Python that is running.
pub fn running_frame(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    py.import("sys")?.call_method0("_getframe")
}

/// Returns the line of Python that is running, as `program.py:12`.
pub fn running_place(py: Python<'_>) -> PyResult<String> {
    frame_place(&running_frame(py)?)
}

/// Returns the line at which a frame is, as `program.py:12`.
pub fn frame_place(frame: &Bound<'_, PyAny>) -> PyResult<String> {
    let file: String = frame.getattr("f_code")?.getattr("co_filename")?.extract()?;
    let line: usize = frame.getattr("f_lineno")?.extract()?;
    Ok(format!("{file}:{line}"))
}
