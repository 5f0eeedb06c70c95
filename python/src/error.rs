//! The exceptions of runs that did not finish, and of files.

use std::io::{self, ErrorKind};
use std::path::Path;

use loggp::{Cause, ProcStatus, ProcessorState, RunError as Failed};
use pyo3::create_exception;
use pyo3::exceptions::{
    PyException, PyFileNotFoundError, PyKeyboardInterrupt, PyOSError, PySystemExit, PyValueError,
};
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

/// The lines of programs, for the error of their run.
pub trait Places {
    /// Returns the line at which a processor's program is, as `program.py:12`.
    fn of_program(&self, id: usize) -> Option<String>;

    /// Returns the line that first named the tag of a message, which this describes.
    fn of_tag(&self, about: &str) -> Option<String>;
}

/// Programs that are not in Python.
impl Places for () {
    fn of_program(&self, _: usize) -> Option<String> {
        None
    }

    fn of_tag(&self, _: &str) -> Option<String> {
        None
    }
}

/// Returns the exception of a run that did not finish. `failure` is the exception of a program and its
/// processor.
pub fn run_error(
    py: Python<'_>,
    mut failed: Failed,
    failure: Option<(usize, PyErr)>,
    places: &dyn Places,
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
    let cause = match (&failure, &failed.cause) {
        (Some((id, error)), _) => format!("processor {id} raised {error}"),
        (None, Cause::NotReceived { about, .. }) => match places.of_tag(about) {
            Some(place) => format!("{}; the tag was first named at {place}", failed.cause),
            None => failed.cause.to_string(),
        },
        (None, cause) => in_python(cause.to_string(), id.and_then(|id| places.of_program(id))),
    };
    failed.cause = Cause::Host(cause);
    for state in &mut failed.processors {
        state.place = if is_waiting(&state.status) { places.of_program(state.id) } else { None };
    }
    let error = RunError::new_err(failed.to_string());
    let value = error.value(py);
    let said = |ProcessorState { status, place, .. }: &ProcessorState| match place {
        Some(place) => format!("{status}, at {place}"),
        None => status.to_string(),
    };
    let processors: Vec<_> =
        failed.processors.iter().map(|state| (state.id, Time(state.at), said(state))).collect();
    let set = value.setattr("processors", processors).and_then(|()| value.setattr("processor", id));
    if let Err(error) = set {
        return error;
    }
    if let Some((_, cause)) = failure {
        error.set_cause(py, Some(cause));
    }
    error
}

/// Returns whether a processor stands in a call.
fn is_waiting(status: &ProcStatus) -> bool {
    !matches!(
        status,
        ProcStatus::NotStarted | ProcStatus::Running | ProcStatus::Finished | ProcStatus::Crashed
    )
}

/// Returns the exception of a file that cannot be read or written, as that of Python's `open`.
pub fn file_error(path: &Path, why: &io::Error) -> PyErr {
    /// "No such file or directory", on every Unix.
    const ENOENT: i32 = 2;
    let sentence = why.to_string();
    let reason = sentence.split(" (os error ").next().unwrap_or_default().to_owned();
    match (why.raw_os_error(), why.kind()) {
        (Some(number), _) => PyOSError::new_err((number, reason, path.as_os_str().to_owned())),
        (None, ErrorKind::NotFound) => {
            PyFileNotFoundError::new_err((ENOENT, reason, path.as_os_str().to_owned()))
        }
        _ => PyOSError::new_err(format!("{}: {reason}", path.display())),
    }
}

/// Returns a sentence with a line of Python, instead of that of Rust which made the call.
fn in_python(sentence: String, place: Option<String>) -> String {
    let Some(place) = place else { return sentence };
    let (before, after) = match sentence.rsplit_once(" (at ") {
        Some((before, rust)) => (before, rust.split_once(')').map_or("", |(_, after)| after)),
        None => (&*sentence, ""),
    };
    format!("{before} (at {place}){after}")
}
