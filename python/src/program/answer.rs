//! The results of calls.

use std::sync::Arc;

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::number::Number;
use crate::program::proc::Request;
use crate::program::session::Seat;
use crate::value::{Carried, Value};

/// The result of a call. Python objects are held as [`Value`]s, since it may be dropped on a processor's own
/// stack.
pub enum Answer {
    None,
    Value(Value),
    /// A message: the sender and the number of the tag, if they are part of the result, and the value.
    Message {
        sender: Option<usize>,
        number: Option<u16>,
        value: Value,
    },
    /// A message of a receive that may find none.
    Found(Box<Answer>),
    /// The sender of a message that is there.
    Sender(usize),
    /// The number of a request.
    Posted(u32),
    Values(Vec<Value>),
    /// Messages with their senders.
    Messages(Vec<(usize, Value)>),
    /// The largest number, its place and what was given with it.
    Maximum(Number, usize, Value),
    Lists(Vec<Vec<Value>>),
    Many(Vec<Answer>),
    /// A request's result, if it is done.
    Tested(Option<Box<Answer>>),
    /// The first of a list of requests that was done, its result, and the list.
    First(usize, Box<Answer>, Value),
    /// The call cannot be done, for this reason.
    Refused(String),
}

impl Answer {
    /// Makes the result of a receive from a message with the filter's tag.
    pub fn message((sender, value): (usize, Value), names_sender: bool) -> Answer {
        Answer::Message { sender: names_sender.then_some(sender), number: None, value }
    }

    /// Makes the result of a receive from a message with any tag.
    pub fn tagged((sender, (number, value)): (usize, (u16, Value)), names_sender: bool) -> Answer {
        Answer::Message { sender: names_sender.then_some(sender), number: Some(number), value }
    }

    /// Makes the object that the program gets.
    #[inline]
    pub fn into_object<'py>(self, py: Python<'py>, seat: &Arc<Seat>) -> PyResult<Bound<'py, PyAny>> {
        // The collectives give several processors one object.
        let own = |value: Value| seat.session.copied(value.into_object().into_bound(py));
        let all = |values: Vec<Value>| {
            let values: PyResult<Vec<_>> = values.into_iter().map(own).collect();
            Ok::<_, PyErr>(PyList::new(py, values?)?.into_any())
        };
        match self {
            Answer::None => Ok(py.None().into_bound(py)),
            Answer::Value(value) => own(value),
            Answer::Message { sender, number, value } => {
                let mut message = value.into_object().into_bound(py);
                if let Some(number) = number {
                    message = (seat.session.tags.object(py, number)?, message).into_bound_py_any(py)?;
                }
                match sender {
                    Some(sender) => (sender, message).into_bound_py_any(py),
                    None => Ok(message),
                }
            }
            Answer::Found(message) => match message.into_object(py, seat)? {
                none if none.is_none() => Err(PyValueError::new_err(
                    "a message with the value None came, and None says that none did; give with_sender=True, or send \
                     another value",
                )),
                message => Ok(message),
            },
            Answer::Sender(sender) => sender.into_bound_py_any(py),
            Answer::Posted(number) => Request::new(seat.clone(), number).into_bound_py_any(py),
            Answer::Values(values) => all(values),
            Answer::Messages(messages) => {
                let messages = messages.into_iter().map(|(sender, value)| (sender, value.into_object()));
                Ok(PyList::new(py, messages.collect::<Vec<_>>())?.into_any())
            }
            Answer::Maximum(value, place, with) => {
                (value.into_bound_py_any(py)?, place, own(with)?).into_bound_py_any(py)
            }
            Answer::Lists(lists) => {
                let lists: PyResult<Vec<_>> = lists.into_iter().map(all).collect();
                Ok(PyList::new(py, lists?)?.into_any())
            }
            Answer::Many(answers) => {
                let all: PyResult<Vec<_>> =
                    answers.into_iter().map(|answer| answer.into_object(py, seat)).collect();
                Ok(PyList::new(py, all?)?.into_any())
            }
            Answer::Tested(None) => (false, py.None()).into_bound_py_any(py),
            Answer::Tested(Some(result)) => (true, result.into_object(py, seat)?).into_bound_py_any(py),
            Answer::First(place, result, list) => {
                list.into_object().bind(py).call_method1("pop", (place,))?;
                (place, result.into_object(py, seat)?).into_bound_py_any(py)
            }
            Answer::Refused(sentence) => Err(PyValueError::new_err(sentence)),
        }
    }
}
