//! Columns for pandas, Polars and others, by Arrow's C stream interface, which needs no library on either
//! side: <https://arrow.apache.org/docs/format/CDataInterface.html>.
//!
//! Whoever takes the stream owns the columns. Each structure holds what it points to in `held`, until it is
//! released.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::{null, null_mut};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// A column: a name, and values that may be missing.
#[derive(Clone)]
struct Column {
    name: CString,
    values: Values,
}

#[derive(Clone)]
enum Values {
    Whole(Vec<Option<i64>>),
    Number(Vec<Option<f64>>),
    Bool(Vec<Option<bool>>),
    Text(Vec<Option<String>>),
}

/// Returns columns as a capsule with a stream of one batch. Each has a name, a kind (`int`, `float`, `bool`
/// or `str`) and as many values as the others.
#[pyfunction]
pub fn arrow_stream<'py>(
    py: Python<'py>,
    columns: Vec<(String, String, Bound<'py, PyAny>)>,
) -> PyResult<Bound<'py, PyCapsule>> {
    let columns = columns.into_iter().map(|(name, kind, values)| {
        let values = match kind.as_str() {
            "int" => Values::Whole(values.extract()?),
            "float" => Values::Number(values.extract()?),
            "bool" => Values::Bool(values.extract()?),
            "str" => Values::Text(values.extract()?),
            _ => return Err(PyValueError::new_err(format!("there is no kind of column {kind}"))),
        };
        Ok(Column { name: CString::new(name)?, values })
    });
    let columns: Vec<Column> = columns.collect::<PyResult<_>>()?;
    if let Some(other) = columns.iter().find(|column| column.values.len() != columns[0].values.len()) {
        let sentence = format!(
            "column {:?} is not as long as {:?}; give columns of one length",
            other.name, columns[0].name
        );
        return Err(PyValueError::new_err(sentence));
    }
    PyCapsule::new_with_value(py, Stream::new(columns), c"arrow_array_stream")
}

impl Values {
    fn len(&self) -> usize {
        match self {
            Values::Whole(values) => values.len(),
            Values::Number(values) => values.len(),
            Values::Bool(values) => values.len(),
            Values::Text(values) => values.len(),
        }
    }

    /// Returns Arrow's letter for the type.
    fn format(&self) -> &'static CStr {
        match self {
            Values::Whole(_) => c"l",
            Values::Number(_) => c"g",
            Values::Bool(_) => c"b",
            Values::Text(_) => c"U",
        }
    }

    /// Returns which values are there as a bit each, and the buffers with them.
    fn buffers(&self) -> Vec<Vec<u64>> {
        match self {
            Values::Whole(values) => {
                let numbers = values.iter().map(|value| value.unwrap_or_default() as u64).collect();
                vec![bits(values.iter().map(Option::is_some)), numbers]
            }
            Values::Number(values) => {
                let numbers = values.iter().map(|value| value.unwrap_or_default().to_bits()).collect();
                vec![bits(values.iter().map(Option::is_some)), numbers]
            }
            Values::Bool(values) => {
                vec![
                    bits(values.iter().map(Option::is_some)),
                    bits(values.iter().map(|value| *value == Some(true))),
                ]
            }
            Values::Text(values) => {
                let (mut bytes, mut ends) = (Vec::new(), vec![0]);
                for value in values {
                    bytes.extend_from_slice(value.as_deref().unwrap_or_default().as_bytes());
                    ends.push(bytes.len() as u64);
                }
                bytes.resize(bytes.len().next_multiple_of(8), 0);
                let words =
                    bytes.chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().expect("it has 8")));
                vec![bits(values.iter().map(Option::is_some)), ends, words.collect()]
            }
        }
    }
}

/// Returns bits in words, the first in the lowest bit of the first byte.
fn bits(all: impl ExactSizeIterator<Item = bool>) -> Vec<u64> {
    let mut words = vec![0u64; all.len().div_ceil(64)];
    all.enumerate().for_each(|(i, bit)| words[i / 64] |= u64::from(bit) << (i % 64));
    words.into_iter().map(u64::to_le).collect()
}

/// Arrow's description of a column, or of a table with its columns as children.
#[repr(C)]
struct Schema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut Schema,
    dictionary: *mut Schema,
    release: Option<unsafe extern "C" fn(*mut Schema)>,
    held: *mut c_void,
}

/// Arrow's values of a column, or of a table with its columns as children.
#[repr(C)]
struct Array {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut Array,
    dictionary: *mut Array,
    release: Option<unsafe extern "C" fn(*mut Array)>,
    held: *mut c_void,
}

/// Arrow's stream of tables, here of one.
#[repr(C)]
struct Stream {
    get_schema: unsafe extern "C" fn(*mut Stream, *mut Schema) -> c_int,
    get_next: unsafe extern "C" fn(*mut Stream, *mut Array) -> c_int,
    get_last_error: unsafe extern "C" fn(*mut Stream) -> *const c_char,
    release: Option<unsafe extern "C" fn(*mut Stream)>,
    held: *mut c_void,
}

/// The memory that a schema points to.
struct HeldSchema {
    name: CString,
    children: Vec<*mut Schema>,
}

/// The memory that an array points to.
struct HeldArray {
    _words: Vec<Vec<u64>>,
    buffers: Vec<*const c_void>,
    children: Vec<*mut Array>,
}

/// The memory that a stream points to. The columns are taken once.
struct HeldStream {
    columns: Vec<Column>,
    is_taken: bool,
}

/// Values may be missing.
const NULLABLE: i64 = 2;

impl Schema {
    fn new(format: &'static CStr, name: CString, children: Vec<Schema>) -> Schema {
        let children = children.into_iter().map(|child| Box::into_raw(Box::new(child))).collect();
        let held = Box::leak(Box::new(HeldSchema { name, children }));
        Schema {
            format: format.as_ptr(),
            name: held.name.as_ptr(),
            metadata: null(),
            flags: NULLABLE,
            n_children: held.children.len() as i64,
            children: held.children.as_mut_ptr(),
            dictionary: null_mut(),
            release: Some(release_schema),
            held: (held as *mut HeldSchema).cast(),
        }
    }
}

impl Array {
    /// Creates an array. Without words of its own it is a table.
    fn new(length: usize, words: Vec<Vec<u64>>, children: Vec<Array>) -> Array {
        let children = children.into_iter().map(|child| Box::into_raw(Box::new(child))).collect();
        let mut buffers: Vec<*const c_void> = words.iter().map(|words| words.as_ptr().cast()).collect();
        if words.is_empty() {
            buffers.push(null()); // no row is missing
        }
        let missing = if words.is_empty() { 0 } else { -1 }; // -1 lets the taker count
        let held = Box::leak(Box::new(HeldArray { _words: words, buffers, children }));
        Array {
            length: length as i64,
            null_count: missing,
            offset: 0,
            n_buffers: held.buffers.len() as i64,
            n_children: held.children.len() as i64,
            buffers: held.buffers.as_mut_ptr(),
            children: held.children.as_mut_ptr(),
            dictionary: null_mut(),
            release: Some(release_array),
            held: (held as *mut HeldArray).cast(),
        }
    }

    /// Returns the end of a stream.
    fn end() -> Array {
        Array {
            length: 0,
            null_count: 0,
            offset: 0,
            n_buffers: 0,
            n_children: 0,
            buffers: null_mut(),
            children: null_mut(),
            dictionary: null_mut(),
            release: None,
            held: null_mut(),
        }
    }
}

impl Stream {
    fn new(columns: Vec<Column>) -> Stream {
        let held = Box::into_raw(Box::new(HeldStream { columns, is_taken: false }));
        Stream { get_schema, get_next, get_last_error, release: Some(release_stream), held: held.cast() }
    }
}

// SAFETY: a stream owns what it points to, and nothing of it belongs to a thread.
unsafe impl Send for Stream {}

impl Drop for Stream {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: nobody has taken the stream, or its taker would have removed `release`.
            unsafe { release(self) }
        }
    }
}

/// Writes the schema of a stream that is not released, and returns 0.
unsafe extern "C" fn get_schema(stream: *mut Stream, into: *mut Schema) -> c_int {
    // SAFETY: the caller promises that the stream is whole, and Stream::new made what it holds.
    let held = unsafe { &*(*stream).held.cast::<HeldStream>() };
    let column = |column: &Column| Schema::new(column.values.format(), column.name.clone(), Vec::new());
    let schema = Schema::new(c"+s", CString::default(), held.columns.iter().map(column).collect());
    // SAFETY: the caller promises that there is room.
    unsafe { into.write(schema) };
    0
}

/// Writes the next table of a stream that is not released, or the end, and returns 0.
unsafe extern "C" fn get_next(stream: *mut Stream, into: *mut Array) -> c_int {
    // SAFETY: the caller promises that the stream is whole and used by nobody else, and Stream::new made what
    // it holds.
    let held = unsafe { &mut *(*stream).held.cast::<HeldStream>() };
    let array = if std::mem::replace(&mut held.is_taken, true) {
        Array::end()
    } else {
        let length = held.columns.first().map_or(0, |column| column.values.len());
        let column = |column: &Column| Array::new(length, column.values.buffers(), Vec::new());
        Array::new(length, Vec::new(), held.columns.iter().map(column).collect())
    };
    // SAFETY: the caller promises that there is room.
    unsafe { into.write(array) };
    0
}

/// Returns no error: there are none.
unsafe extern "C" fn get_last_error(_stream: *mut Stream) -> *const c_char {
    null()
}

unsafe extern "C" fn release_stream(stream: *mut Stream) {
    // SAFETY: the caller promises that the stream is whole, so that it still holds what Stream::new leaked.
    unsafe {
        drop(Box::from_raw((*stream).held.cast::<HeldStream>()));
        (*stream).release = None;
    }
}

unsafe extern "C" fn release_schema(schema: *mut Schema) {
    // SAFETY: the caller promises that the schema is whole, so that it still holds what Schema::new leaked. A
    // child that was taken out has no `release`.
    unsafe {
        for child in Box::from_raw((*schema).held.cast::<HeldSchema>()).children {
            let mut child = Box::from_raw(child);
            child.release.inspect(|release| release(&mut *child));
        }
        (*schema).release = None;
    }
}

unsafe extern "C" fn release_array(array: *mut Array) {
    // SAFETY: the caller promises that the array is whole, so that it still holds what Array::new leaked. A
    // child that was taken out has no `release`.
    unsafe {
        for child in Box::from_raw((*array).held.cast::<HeldArray>()).children {
            let mut child = Box::from_raw(child);
            child.release.inspect(|release| release(&mut *child));
        }
        (*array).release = None;
    }
}
