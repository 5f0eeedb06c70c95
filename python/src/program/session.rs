//! The state that the processors of a run of Python programs share.

use std::collections::HashMap;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicUsize, Ordering::Relaxed};

use loggp::{Machine, Params, Time};
use parking_lot::Mutex;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyFloat, PyInt, PyString};

use crate::program::place::{frame_place, running_frame};
use crate::program::tags::Tags;

/// A run of Python programs.
pub struct Session {
    pub params: Params,
    pub machine: Machine,
    pub tags: Tags,
    /// True if values are copied when they are sent.
    pub copies: bool,
    /// The code in which requests were called for. It is held, so that no other code gets its address.
    codes: Mutex<Vec<Py<PyAny>>>,
    /// For a processor whose program ended before it had waited for its requests, the line of the first.
    unawaited: Mutex<HashMap<usize, Line>>,
    /// The processor whose program failed first, and its exception.
    failure: Mutex<Option<(usize, PyErr)>>,
    /// Set when the run has ended: what is left of its programs is only dropped.
    is_over: AtomicBool,
    /// The number of steps of all programs, to look for signals now and then.
    steps: AtomicU32,
    /// The address of the frame that runs the machine, if it is one of Python.
    runner: usize,
}

/// A line of a program: the number of its code among a run's, and the line's.
#[derive(Clone, Copy)]
pub struct Line {
    code: usize,
    line: u32,
}

/// A processor of a run, as its Python objects know it.
pub struct Seat {
    pub id: usize,
    pub session: Arc<Session>,
    now: AtomicI64,
    next_send: AtomicI64,
    asks_time: AtomicBool,
    has_forgotten: AtomicBool,
    /// The first call that the program made and did not yield.
    forgotten: Mutex<Option<Forgotten>>,
    /// The number of calls that were made, are there, and have not been yielded.
    unyielded: AtomicUsize,
    /// The number of yields so far.
    yields: AtomicU32,
    /// True if there were some at the last yield.
    keeps: AtomicBool,
    /// If so, the line of the first yield at which there were some.
    kept_since: Mutex<Option<String>>,
}

/// A call that was dropped before it was yielded.
struct Forgotten {
    name: &'static str,
    /// Where it was made, if it is known: `at program.py:12`.
    place: Option<String>,
}

/// The number of steps between two looks for signals: programs see them by themselves, and more often.
const STEPS_BETWEEN_LOOKS: u32 = 1024;

impl Session {
    pub fn new(machine: &Machine, copies: bool) -> Session {
        Session {
            params: *machine.params(),
            machine: machine.clone(),
            tags: Tags::default(),
            copies,
            codes: Mutex::default(),
            unawaited: Mutex::default(),
            failure: Mutex::default(),
            is_over: AtomicBool::new(false),
            steps: AtomicU32::new(0),
            runner: Python::attach(|py| running_frame(py).map_or(0, |frame| frame.as_ptr().addr())),
        }
    }

    /// Notes that a program has failed, and returns the sentence for the run's error.
    pub fn fail(&self, id: usize, error: PyErr) -> String {
        let sentence = error.to_string();
        self.failure.lock().get_or_insert((id, error));
        sentence
    }

    /// Removes and returns the first failure.
    pub fn take_failure(&self) -> Option<(usize, PyErr)> {
        self.failure.lock().take()
    }

    /// Returns a copy of a value, if values are copied: what the one who has it changes, no other sees.
    pub fn copied<'py>(&self, value: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let cannot_change = || {
            value.is_none()
                || value.is_instance_of::<PyInt>()
                || value.is_instance_of::<PyFloat>()
                || value.is_exact_instance_of::<PyString>()
                || value.is_exact_instance_of::<PyBytes>()
        };
        if !self.copies || cannot_change() {
            return Ok(value);
        }
        value.py().import("copy")?.call_method1("deepcopy", (value,))
    }

    /// Returns the line at which a frame is.
    pub fn line(&self, frame: &Bound<'_, PyAny>) -> PyResult<Line> {
        let (code, line) = (frame.getattr("f_code")?, frame.getattr("f_lineno")?.extract()?);
        let mut codes = self.codes.lock();
        let known = codes.iter().position(|known| known.is(&code));
        let code = known.unwrap_or_else(|| {
            codes.push(code.unbind());
            codes.len() - 1
        });
        Ok(Line { code, line })
    }

    /// Notes the line of the first request that a program left when it ended.
    pub fn note_unawaited(&self, id: usize, line: Option<Line>) {
        if let Some(line) = line {
            self.unawaited.lock().insert(id, line);
        }
    }

    /// Returns the line of the first request that a program left when it ended, as `program.py:12`.
    pub fn unawaited_place(&self, py: Python<'_>, id: usize) -> Option<String> {
        let Line { code, line } = *self.unawaited.lock().get(&id)?;
        let code = self.codes.lock().get(code)?.clone_ref(py);
        let file: String = code.getattr(py, "co_filename").ok()?.extract(py).ok()?;
        Some(format!("{file}:{line}"))
    }

    pub fn end(&self) {
        self.is_over.store(true, Relaxed);
    }

    /// Counts a step of a program, and looks for signals, such as that of Ctrl-C.
    #[inline]
    pub fn count_step(&self, py: Python<'_>) -> PyResult<()> {
        let steps = self.steps.load(Relaxed).wrapping_add(1);
        self.steps.store(steps, Relaxed);
        if steps.is_multiple_of(STEPS_BETWEEN_LOOKS) { py.check_signals() } else { Ok(()) }
    }
}

impl Seat {
    pub fn new(id: usize, session: Arc<Session>) -> Seat {
        Seat {
            id,
            session,
            now: AtomicI64::new(0),
            next_send: AtomicI64::new(0),
            asks_time: AtomicBool::new(false),
            has_forgotten: AtomicBool::new(false),
            forgotten: Mutex::default(),
            unyielded: AtomicUsize::new(0),
            yields: AtomicU32::new(0),
            keeps: AtomicBool::new(false),
            kept_since: Mutex::default(),
        }
    }

    /// Returns the processor's local time, for which its program asks.
    pub fn now(&self) -> Time {
        self.asks_time.store(true, Relaxed);
        Time::from_ps(self.now.load(Relaxed))
    }

    pub fn next_send(&self) -> Time {
        self.asks_time.store(true, Relaxed);
        Time::from_ps(self.next_send.load(Relaxed))
    }

    /// Returns whether the program has asked for the time.
    #[inline]
    pub fn has_asked_time(&self) -> bool {
        self.asks_time.load(Relaxed)
    }

    /// Sets what the program can see of its processor until its next call.
    #[inline]
    pub fn show(&self, now: Time, next_send: Time) {
        self.now.store(now.as_ps(), Relaxed);
        self.next_send.store(next_send.as_ps(), Relaxed);
    }

    /// Notes that a call was made, and is to be yielded. Returns the number of yields before.
    #[inline]
    pub fn note_made(&self) -> u32 {
        self.unyielded.store(self.unyielded.load(Relaxed) + 1, Relaxed);
        self.yields.load(Relaxed)
    }

    /// Notes that a call was yielded, or was dropped.
    #[inline]
    pub fn note_gone(&self) {
        self.unyielded.store(self.unyielded.load(Relaxed).saturating_sub(1), Relaxed);
    }

    /// Notes that a program yields, and where, if it begins to keep calls that it has not yielded.
    #[inline]
    pub fn note_yield(&self, place: impl FnOnce() -> Option<String>) {
        self.yields.store(self.yields.load(Relaxed).wrapping_add(1), Relaxed);
        let keeps = self.unyielded.load(Relaxed) > 0;
        if keeps != self.keeps.load(Relaxed) {
            self.keeps.store(keeps, Relaxed);
            *self.kept_since.lock() = if keeps { place() } else { None };
        }
    }

    /// Notes that a call was dropped before it was yielded. It was made after this number of yields.
    #[cold]
    pub fn note_forgotten(&self, name: &'static str, made_after: u32) {
        if self.session.is_over.load(Relaxed) || self.has_forgotten.swap(true, Relaxed) {
            return;
        }
        Python::attach(|py| {
            let pending = PyErr::take(py);
            let place = if made_after == self.yields.load(Relaxed) {
                // What a program had when it ended is dropped where the machine runs.
                let frame = running_frame(py).ok();
                let frame = frame.filter(|frame| frame.as_ptr().addr() != self.session.runner);
                frame.and_then(|frame| frame_place(&frame).ok()).map(|line| format!("at {line}"))
            } else {
                self.kept_since.lock().as_ref().map(|line| format!("before the yield at {line}"))
            };
            *self.forgotten.lock() = Some(Forgotten { name, place });
            if let Some(pending) = pending {
                pending.restore(py);
            }
        });
    }

    /// Returns a sentence about a call that was not yielded, if there was one. `program` says which program it is.
    #[inline]
    pub fn take_forgotten(&self, program: impl FnOnce() -> String) -> Option<String> {
        if self.has_forgotten.load(Relaxed) { self.take_noted(program) } else { None }
    }

    #[cold]
    fn take_noted(&self, program: impl FnOnce() -> String) -> Option<String> {
        self.has_forgotten.store(false, Relaxed);
        let Forgotten { name, place } = self.forgotten.lock().take()?;
        let place = place.unwrap_or_else(|| format!("after the last yield of {}", program()));
        Some(format!(
            "p.{name}(...) was made {place} and not yielded, so that nothing was done; write `yield p.{name}(...)`"
        ))
    }
}

/// Ends the run, because a program has failed. The run's error gets the exception later.
pub fn fail(seat: &Seat, error: PyErr) -> ! {
    let sentence = seat.session.fail(seat.id, error);
    resume_unwind(Box::new(sentence))
}
