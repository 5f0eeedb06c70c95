//! The values that messages carry: any Python object, with the number of bytes that it counts for.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::Display;

use loggp::{Pack, Payload, Unpack};
use pyo3::Borrowed;
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyComplex, PyFloat, PyInt, PyList, PyMemoryView, PyString, PyTuple,
};

use crate::Object;

thread_local! {
    /// Objects whose last use may have been on a processor's small stack, where no Python code may run.
    static DROPPED: RefCell<Vec<Py<PyAny>>> = const { RefCell::new(Vec::new()) };
}

/// Drops the objects that were left on processors' stacks. Belongs on a thread's own stack.
pub fn drop_left_objects() {
    let left = DROPPED.with(|dropped| match dropped.try_borrow_mut() {
        Ok(mut dropped) if !dropped.is_empty() => std::mem::take(&mut *dropped),
        _ => Vec::new(),
    });
    drop(left); // may run Python code, which may get here again
}

thread_local! {
    /// The values of messages that come twice, until their runs end. A message has a value's place here.
    static TWICE: RefCell<Vec<Value>> = const { RefCell::new(Vec::new()) };
}

/// Returns the number of values of messages that come twice.
pub fn kept_twice() -> usize {
    TWICE.with_borrow(Vec::len)
}

/// Drops the values of messages that come twice, but for the first `kept`. Belongs on a thread's own stack.
pub fn drop_twice(kept: usize) {
    drop(TWICE.with_borrow_mut(|twice| twice.split_off(kept.min(twice.len()))));
}

/// A Python object in a message.
pub struct Value {
    /// `None` once it has been moved out.
    object: Option<Py<PyAny>>,
    bytes: usize,
}

/// A Python object of which every processor knows that it counts for this many bytes, as a type of Rust does.
#[derive(Clone)]
pub struct Fixed<const BYTES: usize>(Value);

/// A number, which counts for as many bytes as Rust's `u64` and `f64`.
pub type Word = Fixed<WORD>;

/// A value that collectives carry.
pub trait Carried: Payload + Clone {
    fn from_value(value: Value) -> Self;
    fn into_object(self) -> Py<PyAny>;
}

impl Payload for Value {
    fn bytes(&self) -> usize {
        self.bytes
    }

    fn pack<'v>(&'v self, to: &mut Pack<'v>) {
        let place = TWICE.with_borrow_mut(|twice| {
            twice.push(self.clone());
            twice.len() as u64 - 1
        });
        to.add(&place.to_ne_bytes());
    }

    fn unpack(from: &mut Unpack) -> Option<Value> {
        let place = u64::from_ne_bytes(from.take(size_of::<u64>())?.try_into().ok()?);
        TWICE.with_borrow(|twice| twice.get(place as usize).cloned())
    }

    fn unpack_boxed(from: &mut Unpack) -> Option<Box<Value>> {
        Value::unpack(from).map(Box::new)
    }
}

impl<const BYTES: usize> Payload for Fixed<BYTES> {
    const SIZE: Option<usize> = Some(BYTES);

    fn bytes(&self) -> usize {
        BYTES
    }

    fn pack<'v>(&'v self, to: &mut Pack<'v>) {
        self.0.pack(to);
    }

    fn unpack(from: &mut Unpack) -> Option<Self> {
        Value::unpack(from).map(Fixed)
    }

    fn unpack_boxed(from: &mut Unpack) -> Option<Box<Self>> {
        Self::unpack(from).map(Box::new)
    }
}

impl Value {
    pub fn new(object: Py<PyAny>, bytes: usize) -> Value {
        Value { object: Some(object), bytes }
    }

    /// Returns a value that counts for `bytes`, or for what the object says of itself.
    pub fn measured(object: Object<'_>, bytes: Option<usize>) -> PyResult<Value> {
        let bytes = bytes.map_or_else(|| bytes_of(&object), Ok)?;
        Ok(Value::new(object.unbind(), bytes))
    }

    /// Returns a carried value as one that is only kept.
    pub fn kept(value: impl Carried) -> Value {
        Value::new(value.into_object(), 0)
    }

    /// Returns its object.
    pub fn object(&self) -> &Py<PyAny> {
        self.object.as_ref().expect("a value is moved out once")
    }

    /// Returns an object that counts for eight bytes.
    pub fn word(object: Py<PyAny>) -> Value {
        Value::new(object, WORD)
    }
}

impl Carried for Value {
    fn from_value(value: Value) -> Value {
        value
    }

    fn into_object(mut self) -> Py<PyAny> {
        self.object.take().expect("a value is moved out once")
    }
}

impl<const BYTES: usize> Carried for Fixed<BYTES> {
    fn from_value(value: Value) -> Self {
        Fixed(value)
    }

    fn into_object(self) -> Py<PyAny> {
        self.0.into_object()
    }
}

/// Counts a reference, which runs no Python code.
impl Clone for Value {
    fn clone(&self) -> Value {
        let object = self.object.as_ref().map(|object| Python::attach(|py| object.clone_ref(py)));
        Value { object, bytes: self.bytes }
    }
}

impl Drop for Value {
    #[inline]
    fn drop(&mut self) {
        if let Some(object) = self.object.take() {
            DROPPED.with_borrow_mut(|dropped| dropped.push(object));
        }
    }
}

/// The bytes of a number.
pub const WORD: usize = 8;

/// Returns the number of bytes that an object counts for.
pub fn bytes_of(object: &Object<'_>) -> PyResult<usize> {
    bytes_within(object, &mut Containers::default())
}

/// The tuples and lists within others that were counted, by their address.
#[derive(Default)]
struct Containers {
    /// The bytes of each, `None` while they are counted.
    counted: HashMap<usize, Option<usize>>,
    depth: usize,
}

impl Containers {
    /// The most tuples and lists within each other: the stack has room for them.
    const DEEPEST: usize = 1000;

    fn bytes<'py>(
        &mut self,
        container: &Bound<'py, PyAny>,
        items: impl Iterator<Item = Bound<'py, PyAny>>,
    ) -> PyResult<usize> {
        let refuse = |why: &str| {
            let kind = container.get_type().name()?;
            let sentence = format!(
                "a {kind} {why} does not say how many bytes it counts for; give words=, such as words=1"
            );
            Err(PyValueError::new_err(sentence))
        };
        let address = container.as_ptr().addr();
        let (mut sum, mut is_noted) = (0_usize, false);
        for item in items {
            // One that has only numbers needs no note.
            if !is_noted && (item.is_instance_of::<PyTuple>() || item.is_instance_of::<PyList>()) {
                match self.counted.insert(address, None) {
                    Some(None) => return refuse("that contains itself"),
                    Some(Some(bytes)) => {
                        self.counted.insert(address, Some(bytes));
                        return Ok(bytes);
                    }
                    None if self.depth == Self::DEEPEST => return refuse("nested more than 1000 deep"),
                    None => self.depth += 1,
                }
                is_noted = true;
            }
            sum = sum.saturating_add(bytes_within(&item, self)?);
        }
        if is_noted {
            self.depth -= 1;
            self.counted.insert(address, Some(sum));
        }
        Ok(sum)
    }
}

fn bytes_within(object: &Object<'_>, containers: &mut Containers) -> PyResult<usize> {
    if object.is_exact_instance_of::<PyInt>() || object.is_exact_instance_of::<PyFloat>() {
        return Ok(WORD);
    }
    if object.is_none() {
        return Ok(0);
    }
    if let Ok(bytes) = object.cast::<PyBytes>() {
        return Ok(bytes.as_bytes().len());
    }
    if let Ok(text) = object.cast::<PyString>() {
        return Ok(text.to_str()?.len());
    }
    if let Ok(items) = object.cast::<PyTuple>() {
        return containers.bytes(object, items.iter());
    }
    if let Ok(items) = object.cast::<PyList>() {
        return containers.bytes(object, items.iter());
    }
    if let Ok(bytes) = object.cast::<PyByteArray>() {
        return Ok(bytes.len());
    }
    let is_number = |object: &Object<'_>| {
        object.is_instance_of::<PyBool>()
            || object.is_instance_of::<PyInt>()
            || object.is_instance_of::<PyFloat>()
    };
    if is_number(object) {
        return Ok(WORD);
    }
    if object.is_instance_of::<PyComplex>() {
        return Ok(2 * WORD);
    }
    if object.is_instance_of::<crate::time::Time>() {
        return Ok(WORD);
    }
    // Arrays of NumPy and of others, and then everything else with a buffer.
    let length = object.getattr_opt("nbytes")?.map(|length| length.extract::<usize>());
    let length =
        length.or_else(|| PyMemoryView::from(object).ok().map(|view| view.getattr("nbytes")?.extract()));
    match length {
        Some(Ok(length)) => Ok(length),
        _ => Err(PyTypeError::new_err(format!(
            "a {} does not say how many bytes it counts for; give words=, such as words=1",
            object.get_type().name()?
        ))),
    }
}

/// A length in words, as a call gives it.
#[derive(Clone, Copy)]
pub struct Words(i64);

impl<'py> FromPyObject<'_, 'py> for Words {
    type Error = PyErr;

    #[inline]
    fn extract(words: Borrowed<'_, 'py, PyAny>) -> PyResult<Words> {
        match words.extract() {
            Ok(number) => Ok(Words(number)),
            // Too many for a number here are none that a message can have.
            Err(error) if error.is_instance_of::<PyOverflowError>(words.py()) => {
                Err(no_length(&words.str()?))
            }
            Err(error) => Err(error),
        }
    }
}

fn no_length(words: impl Display) -> PyErr {
    PyValueError::new_err(format!("words={words} is no length; give 0 or more, and less than 2^32"))
}

/// Returns the bytes of a number of words.
pub fn bytes_of_words(words: Option<Words>, word: usize) -> PyResult<Option<usize>> {
    let Some(Words(words)) = words else { return Ok(None) };
    let bytes = usize::try_from(words).ok().and_then(|words| words.checked_mul(word));
    bytes.map(Some).ok_or_else(|| no_length(words))
}
