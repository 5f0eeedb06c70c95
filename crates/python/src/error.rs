//! The exception of a run that did not finish.

use loggp::{Cause, RunError as Failed};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyKeyboardInterrupt, PySystemExit, PyValueError};
use pyo3::prelude::*;

use crate::time::Time;

create_exception!(
    loggp,
    RunError,
    PyException,
    "A run that did not finish: its cause, and what each processor was doing.\n\n\
     `processors` has for each its number, its local time, and what it did; `processor` is the number of the one whose \
     program failed, or None. An exception of a program is the error's `__cause__`."
);

/// Returns the exception of a run that did not finish. `failure` is the exception of a program and its
/// processor, `place` the line at which a program is.
pub fn run_error(
    py: Python<'_>,
    mut failed: Failed,
    failure: Option<(usize, PyErr)>,
    place: &dyn Fn(usize) -> Option<String>,
) -> PyErr {
    if let Some((_, error)) = &failure
        && (error.is_instance_of::<PyKeyboardInterrupt>(py) || error.is_instance_of::<PySystemExit>(py))
    {
        return error.clone_ref(py);
    }
    if let Cause::Params(why) = &failed.cause {
        return PyValueError::new_err(why.to_string());
    }
    let id = match (&failure, &failed.cause) {
        (Some((id, _)), _) => Some(*id),
        (
            None,
            Cause::Misused { id, .. }
            | Cause::NoSuchProcessor { id, .. }
            | Cause::WrongType { id, .. }
            | Cause::TooLong { id, .. }
            | Cause::NotWaited { id, .. }
            | Cause::EndOfTime { id }
            | Cause::Panic { id, .. }
            | Cause::PollingDeadlock { id },
        ) => Some(*id),
        _ => None,
    };
    let cause = match &failure {
        Some((id, error)) => format!("processor {id} raised {error}"),
        None => in_python(failed.cause.to_string(), id.and_then(place)),
    };
    failed.cause = Cause::Host(cause);
    let error = RunError::new_err(failed.to_string());
    let value = error.value(py);
    let processors: Vec<_> =
        failed.processors.iter().map(|state| (state.id, Time(state.at), state.status.to_string())).collect();
    let set = value.setattr("processors", processors).and_then(|()| value.setattr("processor", id));
    if let Err(error) = set {
        return error;
    }
    if let Some((_, cause)) = failure {
        error.set_cause(py, Some(cause));
    }
    error
}

/// Returns a sentence with a line of Python, instead of that of Rust which made the call.
fn in_python(sentence: String, place: Option<String>) -> String {
    let Some(place) = place else { return sentence };
    let (before, after) = match sentence.rsplit_once(" (at ") {
        Some((before, rust)) => (before, rust.split_once(')').map_or("", |(_, after)| after)),
        None => (&*sentence, ""),
    };
    format!("{before} ({}){after}", place.trim())
}
