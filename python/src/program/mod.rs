//! Python programs on the library's processors: asks each generator for its next call, makes the call, and
//! gives the generator the result.
//!
//! A processor has a small stack of its own, on which no Python code may run. So the generators run on the
//! stack of the thread that runs the machine, which holds Python meanwhile.

pub(crate) mod answer;
pub(crate) mod call;
pub(crate) mod perform;
pub(crate) mod place;
pub(crate) mod proc;
pub(crate) mod requests;
pub(crate) mod session;
pub(crate) mod tags;

use std::sync::Arc;

use loggp::stack::{on_thread_stack, thread_stack};
use loggp::{Proc as Processor, RunError};
use parking_lot::Mutex;
use pyo3::exceptions::{PyAttributeError, PyRuntimeError, PyStopIteration, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyIterator;
use pyo3::types::iterator::PySendResult;

use crate::Object;
use crate::error::Places;
use crate::value::{drop_left_objects, drop_twice, kept_twice};
use answer::Answer;
use call::{Call, Kind, Misuse};
use perform::perform;
use place::frame_place;
use proc::Proc;
use requests::Requests;
use session::{Line, Seat, Session, fail};

/// The programs of a run: a generator for each processor that has started.
pub struct Programs<'a> {
    program: &'a Py<PyAny>,
    session: Arc<Session>,
    generators: Vec<Mutex<Option<Py<PyIterator>>>>,
    /// The number of values of other runs' messages that come twice: a program may run a machine.
    kept_twice: usize,
}

/// The next step of a program.
enum ProgramStep {
    /// A call, and its line if it posts a request.
    Call(Kind, Option<Line>),
    /// It has ended with this result.
    Return(Py<PyAny>),
    /// It has raised an exception.
    Fail(PyErr),
}

impl<'a> Programs<'a> {
    pub fn new(program: &'a Py<PyAny>, session: Session) -> Programs<'a> {
        let P = session.params.P;
        let generators = (0..P).map(|_| Mutex::default()).collect();
        Programs { program, session: Arc::new(session), generators, kept_twice: kept_twice() }
    }

    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Runs the program on a processor. Returns its result.
    pub fn run(&self, p: &mut Processor) -> Py<PyAny> {
        let boxed = thread_stack(p);
        let (stack, seat) = (&*boxed, Arc::new(Seat::new(p.id(), self.session.clone())));
        let mut requests = Requests::default();
        let mut step = on_thread_stack(stack, || self.start(&seat));
        loop {
            if seat.has_asked_time() {
                p.now(); // a check must know
            }
            let (call, line) = match step {
                ProgramStep::Call(call, line) => (call, line),
                ProgramStep::Return(result) => {
                    self.session.note_unawaited(seat.id, requests.first_line());
                    return result;
                }
                ProgramStep::Fail(error) => fail(&seat, error),
            };
            let answer = perform(p, stack, &seat, &mut requests, call, line);
            seat.show(p.local_time(), p.local_next_send());
            step = on_thread_stack(stack, || self.continue_with(&seat, answer));
        }
    }

    /// Starts the program of a processor.
    fn start(&self, seat: &Arc<Seat>) -> ProgramStep {
        Python::attach(|py| {
            let made = match self.program.bind(py).call1((Proc::new(seat.clone()),)) {
                Ok(made) => made,
                Err(error) => return ProgramStep::Fail(error),
            };
            let generator = match is_generator(&made) {
                // A function without a yield has ended.
                Ok(false) => return self.end(seat, made, None),
                Ok(true) => made.cast_into::<PyIterator>().map_err(PyErr::from),
                Err(error) => Err(error),
            };
            match generator {
                Err(error) => ProgramStep::Fail(error),
                Ok(generator) => {
                    *self.generators[seat.id].lock() = Some(generator.clone().unbind());
                    self.resume(seat, &generator, Ok(py.None().into_bound(py)))
                }
            }
        })
    }

    /// Lets a program go on with the result of its call.
    #[inline]
    fn continue_with(&self, seat: &Arc<Seat>, answer: Answer) -> ProgramStep {
        drop_left_objects();
        Python::attach(|py| {
            let generator = self.generators[seat.id].lock().as_ref().map(|generator| generator.clone_ref(py));
            let generator = generator.expect("it has started").into_bound(py);
            self.resume(seat, &generator, answer.into_object(py, seat))
        })
    }

    /// Sends a program a value, or throws an exception into it, until it yields a call or ends.
    #[inline]
    fn resume<'py>(
        &self,
        seat: &Arc<Seat>,
        generator: &Bound<'py, PyIterator>,
        sent: PyResult<Bound<'py, PyAny>>,
    ) -> ProgramStep {
        let py = generator.py();
        let mut sent = sent;
        loop {
            if let Err(interrupted) = self.session.count_step(py) {
                return ProgramStep::Fail(interrupted);
            }
            let resumed = match sent {
                Ok(value) => generator.send(&value),
                Err(error) => throw(generator, error),
            };
            let yielded = match resumed {
                Ok(PySendResult::Next(yielded)) => yielded,
                Ok(PySendResult::Return(result)) => return self.end(seat, result, Some(generator)),
                Err(error) => return ProgramStep::Fail(with_forgotten(error, seat, generator)),
            };
            let call = call_of(&yielded, seat);
            drop(yielded);
            seat.note_yield(|| place_of(generator.as_any()));
            match (call, seat.take_forgotten(|| name_of_program(generator))) {
                (Ok(call), None) => {
                    let line = if call.is_posted() { self.line(generator) } else { None };
                    return ProgramStep::Call(call, line);
                }
                (_, Some(forgotten)) => sent = Err(PyRuntimeError::new_err(forgotten)),
                (Err(error), None) => sent = Err(error),
            }
        }
    }

    /// Ends a program that has returned.
    fn end(&self, seat: &Seat, result: Object<'_>, generator: Option<&Bound<'_, PyIterator>>) -> ProgramStep {
        let program = || generator.map_or_else(|| "the program".into(), name_of_program);
        if let Some(forgotten) = seat.take_forgotten(program) {
            return ProgramStep::Fail(PyRuntimeError::new_err(forgotten));
        }
        if let Ok(call) = result.cast::<Call>()
            && let Some(name) = call.borrow_mut().take_returned()
        {
            let sentence = format!(
                "processor {} returned p.{name}(...) and did not yield it, so that nothing was done; \
                 write `return (yield p.{name}(...))`",
                seat.id
            );
            return ProgramStep::Fail(PyRuntimeError::new_err(sentence));
        }
        match name_of_generator(&result) {
            Some(name) => {
                let sentence = format!(
                    "processor {} returned the generator {name}, of which nothing was done; \
                     write `return (yield from {name}(...))`",
                    seat.id
                );
                ProgramStep::Fail(PyRuntimeError::new_err(sentence))
            }
            None => ProgramStep::Return(result.unbind()),
        }
    }

    /// Returns the line at which a program is, that of the innermost of generators that yield from each other.
    fn line(&self, generator: &Bound<'_, PyIterator>) -> Option<Line> {
        self.session.line(&frame_of(generator.as_any())?).ok()
    }

    /// Returns the line at which a processor's program is, or at which it called for a request that it left when it
    /// ended, as `program.py:12`.
    fn place(&self, py: Python<'_>, id: usize) -> Option<String> {
        let generator = self.generators.get(id)?.lock().as_ref()?.clone_ref(py).into_bound(py).into_any();
        place_of(&generator).or_else(|| self.session.unawaited_place(py, id))
    }

    /// Ends what is left of the programs, so that their `finally` blocks run.
    pub fn close(self, py: Python<'_>) {
        self.session.end();
        drop_twice(self.kept_twice);
        drop_left_objects();
        for generator in self.generators {
            let Some(generator) = generator.into_inner() else { continue };
            if let Err(error) = generator.call_method0(py, "close") {
                error.write_unraisable(py, Some(generator.bind(py)));
            }
        }
        drop_left_objects();
    }
}

/// Returns whether a program has made a generator. Refuses what looks like one and cannot be driven.
fn is_generator(made: &Object<'_>) -> PyResult<bool> {
    if made.hasattr("cr_frame")? || made.hasattr("ag_frame")? {
        let sentence = "the program is an async function; write it with `def`, and `yield` for `await`";
        return Err(PyTypeError::new_err(sentence));
    }
    made.hasattr("gi_frame")
}

/// Returns the name of the function that made a generator; `None` if it is none, or has begun.
fn name_of_generator(object: &Object<'_>) -> Option<String> {
    if !object.get_type().name().is_ok_and(|name| name == "generator") {
        return None;
    }
    let is_new = object.getattr("gi_frame").ok()?.getattr("f_lasti").ok()?.extract::<i64>().ok()? <= 0;
    if is_new { object.getattr("__name__").ok()?.extract().ok() } else { None }
}

/// Returns the frame of a generator, or of the innermost that it yields from; `None` if it has ended.
fn frame_of<'py>(generator: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let mut innermost = generator.clone();
    while let Ok(Some(inner)) = innermost.getattr_opt("gi_yieldfrom")
        && is_generator(&inner).unwrap_or(false)
    {
        innermost = inner;
    }
    innermost.getattr_opt("gi_frame").ok()?.filter(|frame| !frame.is_none())
}

/// Returns the line at which a generator is.
fn place_of(generator: &Bound<'_, PyAny>) -> Option<String> {
    frame_place(&frame_of(generator)?).ok()
}

/// Returns the name of a program, and where it begins.
fn name_of_program(generator: &Bound<'_, PyIterator>) -> String {
    let named = || {
        let (code, name) = (generator.getattr("gi_code")?, generator.getattr("__name__")?);
        let (file, line) = (code.getattr("co_filename")?, code.getattr("co_firstlineno")?);
        PyResult::Ok(format!("{name} ({file}:{line})"))
    };
    named().unwrap_or_else(|_| "the program".into())
}

/// Returns the exception of a program; if it took a call for its result, that says so, and the exception is the cause.
fn with_forgotten(error: PyErr, seat: &Seat, generator: &Bound<'_, PyIterator>) -> PyErr {
    let py = generator.py();
    if !error.is_instance_of::<PyTypeError>(py) && !error.is_instance_of::<PyAttributeError>(py) {
        return error;
    }
    match seat.take_forgotten(|| name_of_program(generator)) {
        None => error,
        Some(forgotten) => {
            let forgotten = PyRuntimeError::new_err(forgotten);
            forgotten.set_cause(py, Some(error));
            forgotten
        }
    }
}

/// Refuses what is no program.
pub fn refuse_no_program(program: &Object<'_>) -> PyResult<()> {
    if program.is_callable() {
        return Ok(());
    }
    let given = match name_of_generator(program) {
        Some(name) => format!("a generator of {name} is no program; give the function itself, {name}"),
        None => format!(
            "{} is no program; give a function of a processor, such as def program(p)",
            program.repr()?
        ),
    };
    Err(PyTypeError::new_err(given))
}

/// Throws an exception into a generator, at its yield.
fn throw<'py>(generator: &Bound<'py, PyIterator>, error: PyErr) -> PyResult<PySendResult<'py>> {
    let py = generator.py();
    match generator.call_method1("throw", (error,)) {
        Ok(yielded) => Ok(PySendResult::Next(yielded)),
        Err(end) if end.is_instance_of::<PyStopIteration>(py) => {
            Ok(PySendResult::Return(end.value(py).getattr("value")?))
        }
        Err(error) => Err(error),
    }
}

/// Returns what a yielded object is to do.
#[inline]
fn call_of(yielded: &Object<'_>, seat: &Arc<Seat>) -> PyResult<Kind> {
    let Ok(call) = yielded.cast::<Call>() else {
        if let Some(name) = name_of_generator(yielded) {
            return Err(PyTypeError::new_err(format!(
                "processor {} yielded the generator {name}, which is no call; write `yield from {name}(...)`",
                seat.id
            )));
        }
        return Err(PyTypeError::new_err(format!(
            "processor {} yielded {}, which is no call; yield one of its processor, such as p.recv(\"datum\")",
            seat.id,
            yielded.repr()?
        )));
    };
    call.borrow_mut().take(seat).map_err(|misuse| {
        PyRuntimeError::new_err(match misuse {
            Misuse::OfAnother(id) => {
                format!("processor {} yielded a call of processor {id}; each yields its own", seat.id)
            }
            Misuse::Again(name) => {
                format!("processor {} yielded one p.{name}(...) twice; make a call for each time", seat.id)
            }
        })
    })
}

impl Places for (Python<'_>, &Programs<'_>) {
    fn of_program(&self, id: usize) -> Option<String> {
        self.1.place(self.0, id)
    }

    fn of_tag(&self, about: &str) -> Option<String> {
        self.1.session().tags.place(about)
    }
}

/// Returns the exception of a run that has failed.
pub fn run_error(py: Python<'_>, error: RunError, programs: &Programs) -> PyErr {
    crate::error::run_error(py, error, programs.session().take_failure(), &(py, programs))
}
