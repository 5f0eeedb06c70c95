//! The calls that a program yields.

use std::sync::Arc;

use loggp::collectives::Shift;
use loggp::{Group, Tag, Time};
use pyo3::exceptions::{PyStopIteration, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyType;

use crate::number::Number;
use crate::program::session::Seat;
use crate::value::Value;

/// An operation of a processor. Python objects are held as [`Value`]s, since a call may be dropped on a
/// processor's own stack.
pub enum Kind {
    Send(Message),
    PostSend(Message),
    SendRecv(Message, usize),
    SendReceiving(Box<SendReceiving>),
    Receive(Filter, Wait),
    PostReceive(Filter),
    Probe(Filter),
    OneSided(OneSided),
    WaitUntil(Time),
    Work { kind: &'static str, units: u64 },
    Wait(u32),
    WaitAll(Vec<u32>),
    WaitAny(Vec<u32>, Value),
    Test(u32),
    Barrier(Option<Group>),
    Exchange(Box<Exchange>),
    Collective(Box<Collective>),
}

impl Kind {
    /// Returns whether it posts a request.
    pub fn is_posted(&self) -> bool {
        matches!(self, Kind::PostSend(_) | Kind::PostReceive(_) | Kind::OneSided(OneSided::PostGet { .. }))
    }
}

/// A call that reaches into another processor's memory. Lengths are in bytes.
pub enum OneSided {
    Put {
        to: usize,
        bytes: usize,
    },
    Get {
        to: usize,
        back: usize,
    },
    PostGet {
        to: usize,
        back: usize,
    },
    /// A function of Python that is called when the processors before have done what they do.
    Atomic {
        to: usize,
        bytes: usize,
        update: Value,
    },
    Flush(Option<usize>),
}

/// A message to send.
pub struct Message {
    pub to: usize,
    pub tag: Tag<Value>,
    pub value: Value,
}

/// A send that receives while it waits for the gap.
pub struct SendReceiving {
    pub message: Message,
    pub taking: Tag<Value>,
    pub on: Value,
    /// True if `on` gets the sender too.
    pub names_sender: bool,
}

/// Messages that are sent in an order, and as many that are received.
pub struct Exchange {
    pub tag: Tag<Value>,
    /// The words of the longest message.
    pub longest: usize,
    pub steps: Vec<Shift<Value>>,
}

/// The messages that a receive takes: any sender's and with any tag, where `None`.
#[derive(Clone, Copy)]
pub struct Filter {
    pub from: Option<usize>,
    pub tag: Option<Tag<Value>>,
    /// True if the sender is part of the result.
    pub names_sender: bool,
}

/// The patience of a receive.
#[derive(Clone, Copy)]
pub enum Wait {
    Forever,
    Not,
    Until(Time),
}

/// A collective of all processors, or of a group.
pub struct Collective {
    pub operation: Operation,
    pub group: Option<Group>,
    /// The bytes of each value, if the program says so.
    pub bytes: Option<usize>,
}

/// An operation of a collective.
pub enum Operation {
    Broadcast { root: usize, value: Option<Value> },
    Reduce { root: usize, value: Value, op: Value },
    AllReduce { value: Value, op: Value },
    AllMax { value: Number, place: usize, with: Value },
    Scan { value: Value, op: Value },
    ExclusiveScan { value: Value, op: Value },
    Gather { root: usize, value: Value },
    Scatter { root: usize, values: Option<Vec<Value>> },
    AllGather { value: Value },
    AllToAll { values: Vec<Value> },
    ReduceScatter { values: Vec<Value>, op: Value },
    BroadcastVector { root: usize, elements: usize, vector: Option<Vec<Value>>, in_chain: bool },
    AllGatherVector { elements: Vec<usize>, vector: Vec<Value> },
    ReduceVector { root: usize, vector: Vec<Value>, op: Value },
    AllReduceVector { vector: Vec<Value>, op: Value },
    ScanVector { vector: Vec<Value>, op: Value },
}

/// A call of a processor, which it does when the program yields it: `yield p.send(1, "datum", 42)`.
///
/// `value = yield p.recv("datum")` and `value = yield from p.recv("datum")` are the same. Of
/// the second form type checkers know the type of the value.
#[pyclass(module = "loggp", freelist = 64)]
pub struct Call {
    /// `None` once it has been yielded.
    kind: Option<Kind>,
    /// The name of the function that made it.
    name: &'static str,
    seat: Arc<Seat>,
    /// The number of its processor's yields before it was made.
    made_after: u32,
    /// True if it was given out by `yield from`.
    is_begun: bool,
}

impl Call {
    #[inline]
    pub fn new(seat: &Arc<Seat>, name: &'static str, kind: Kind) -> Call {
        Call { kind: Some(kind), name, made_after: seat.note_made(), seat: seat.clone(), is_begun: false }
    }

    /// Returns what it does, unless it has been yielded before; `None` if it is a call of another processor.
    #[inline]
    pub fn take(&mut self, seat: &Arc<Seat>) -> Result<Kind, Misuse> {
        if !Arc::ptr_eq(&self.seat, seat) {
            return Err(Misuse::OfAnother(self.seat.id));
        }
        self.take_kind().ok_or(Misuse::Again(self.name))
    }

    #[inline]
    fn take_kind(&mut self) -> Option<Kind> {
        self.kind.take().inspect(|_| self.seat.note_gone())
    }

    /// Returns the name of the function that made it, if it was returned and never yielded.
    pub fn take_returned(&mut self) -> Option<&'static str> {
        self.take_kind().map(|_| self.name)
    }

    /// Notes that it was made and not yielded, unless it was yielded.
    fn forget(&mut self) {
        if self.take_kind().is_some() {
            self.seat.note_forgotten(self.name, self.made_after);
        }
    }
}

/// A reason why a yielded call cannot be done.
pub enum Misuse {
    OfAnother(usize),
    Again(&'static str),
}

#[pymethods]
impl Call {
    fn __iter__(slf: Py<Call>) -> Py<Call> {
        slf
    }

    fn __next__(slf: &Bound<'_, Call>) -> PyResult<Option<Py<Call>>> {
        let mut call = slf.borrow_mut();
        if !std::mem::replace(&mut call.is_begun, true) {
            return Ok(Some(slf.clone().unbind()));
        }
        // `yield from` has yielded it by now. Whoever unpacks it or iterates over it has not.
        if call.take_kind().is_some() {
            let name = call.name;
            let sentence = format!(
                "p.{name}(...) was not yielded, so that it has no result to unpack; write `yield p.{name}(...)`"
            );
            return Err(PyTypeError::new_err(sentence));
        }
        Ok(None)
    }

    /// Ends `yield from` with the call's result.
    fn send(&self, value: Py<PyAny>) -> PyResult<()> {
        Err(PyStopIteration::new_err((value,)))
    }

    #[classmethod]
    fn __class_getitem__(cls: &Bound<'_, PyType>, _result: &Bound<'_, PyAny>) -> Py<PyType> {
        cls.clone().unbind()
    }

    fn __repr__(&self) -> String {
        format!("<call of p.{} by processor {}>", self.name, self.seat.id)
    }
}

/// A call that was made and is dropped before it was yielded is a mistake of the program.
impl Drop for Call {
    #[inline]
    fn drop(&mut self) {
        if self.kind.is_some() {
            self.forget();
        }
    }
}
