//! The tags of a run: text, numbers, and either with a step.

use std::collections::HashMap;
use std::sync::Arc;

use loggp::Tag;
use parking_lot::Mutex;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyString, PyTuple};

use crate::Object;
use crate::interned::intern;
use crate::program::place::running_place;
use crate::value::Value;

/// The numbers of the tags of a run. A number keeps its own where that is free, and text gets the lowest free
/// one.
#[derive(Default)]
pub struct Tags(Mutex<Table>);

#[derive(Default)]
struct Table {
    /// The objects that were used as tags last, so that the same object is found at once. They are held, so
    /// that no other object gets their address.
    recent: Vec<(Py<PyAny>, Tag<Value>)>,
    next_recent: usize,
    known: HashMap<Key, u16>,
    keys: HashMap<u16, Key>,
    /// The lines that first named the tags.
    places: HashMap<u16, String>,
    /// No text has a number below.
    lowest_free: u32,
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum Key {
    Number(i64),
    Text(Arc<str>),
}

/// The number of objects that are found at once.
const RECENT: usize = 8;

impl Tags {
    /// Returns the tag that an object stands for.
    #[inline]
    pub fn tag(&self, object: &Object<'_>) -> PyResult<Tag<Value>> {
        let mut table = self.0.lock();
        for (recent, tag) in &table.recent {
            if recent.as_ptr() == object.as_ptr() {
                return Ok(*tag);
            }
        }
        let tag = table.find(object)?;
        let entry = (object.clone().unbind(), tag);
        let replaced = if table.recent.len() < RECENT {
            table.recent.push(entry);
            None
        } else {
            let place = table.next_recent % RECENT;
            table.next_recent += 1;
            Some(std::mem::replace(&mut table.recent[place], entry))
        };
        drop(table);
        drop(replaced); // runs Python code, if it was the last use of a text
        Ok(tag)
    }

    /// Returns the line that first named the tag of a message, which this describes: `with tag 3 (datum)`.
    pub fn place(&self, about: &str) -> Option<String> {
        let number = about.strip_prefix("with tag ")?.split(|c: char| !c.is_ascii_digit()).next()?;
        self.0.lock().places.get(&number.parse().ok()?).cloned()
    }

    /// Returns the object that a tag's number stands for.
    pub fn object(&self, py: Python<'_>, number: u16) -> PyResult<Py<PyAny>> {
        match self.0.lock().keys.get(&number) {
            Some(Key::Text(text)) => Ok(PyString::new(py, text).into_any().unbind()),
            Some(Key::Number(number)) => Ok(number.into_pyobject(py)?.into_any().unbind()),
            None => Ok(number.into_pyobject(py)?.into_any().unbind()),
        }
    }
}

impl Table {
    fn find(&mut self, object: &Object<'_>) -> PyResult<Tag<Value>> {
        let (key, step) = match object.cast::<PyTuple>() {
            Ok(pair) if pair.len() == 2 => (key(&pair.get_item(0)?), Some(pair.get_item(1)?)),
            _ => (key(object), None),
        };
        let Some(key) = key else {
            return Err(PyTypeError::new_err(format!(
                "{} is no tag; give text, a number, or either with a step: (\"half\", 3)",
                object.repr()?
            )));
        };
        let number = match self.known.get(&key) {
            Some(number) => *number,
            None => self.number(object.py(), &key)?,
        };
        let tag = match &key {
            Key::Number(own) if *own == i64::from(number) => Tag::new(number),
            Key::Number(own) => Tag::named(number, intern(&own.to_string())),
            Key::Text(text) => Tag::named(number, intern(text)),
        };
        let Some(step) = step else { return Ok(tag) };
        match step.extract::<u32>() {
            Ok(step) => Ok(tag.step(step as usize)),
            Err(_) => Err(PyValueError::new_err(format!(
                "{} is no step of a tag; give a whole number from 0 to 4294967295",
                step.repr()?
            ))),
        }
    }

    /// Gives a new tag its number.
    fn number(&mut self, py: Python<'_>, key: &Key) -> PyResult<u16> {
        let own = match key {
            Key::Number(own) => u16::try_from(*own).ok().filter(|own| !self.keys.contains_key(own)),
            Key::Text(_) => None,
        };
        let number = match own {
            Some(own) => own,
            None => loop {
                let Ok(number) = u16::try_from(self.lowest_free) else {
                    let sentence = "a run has at most 65536 different tags; give a tag a step: (\"half\", 3)";
                    return Err(PyValueError::new_err(sentence));
                };
                self.lowest_free += 1;
                if !self.keys.contains_key(&number) {
                    break number;
                }
            },
        };
        self.places.extend(running_place(py).ok().map(|place| (number, place)));
        self.known.insert(key.clone(), number);
        self.keys.insert(number, key.clone());
        Ok(number)
    }
}

fn key(object: &Object<'_>) -> Option<Key> {
    if let Ok(text) = object.cast::<PyString>() {
        return Some(Key::Text(text.to_str().ok()?.into()));
    }
    object.cast::<PyInt>().ok()?.extract().ok().map(Key::Number)
}
