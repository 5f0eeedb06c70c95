//! Columns of numbers: memory that Python reads in place, and arrays of Python that are read.

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyAttributeError, PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyFloat, PyMemoryView};

use crate::Object;

/// Columns of the same length, each a memoryview that `numpy.asarray` shows without a copy.
///
/// They are attributes and items: `columns.start` and `columns["start"]`. `dict(columns)` makes a data frame.
#[pyclass(frozen, mapping, module = "loggp")]
pub struct Columns {
    names: Vec<&'static str>,
    columns: Vec<Py<PyAny>>,
    length: usize,
}

impl Columns {
    pub fn new(length: usize) -> Columns {
        Columns { names: Vec::new(), columns: Vec::new(), length }
    }

    /// Adds a column of whole numbers, one for each row.
    pub fn add(
        &mut self,
        py: Python<'_>,
        name: &'static str,
        numbers: impl Iterator<Item = i64>,
    ) -> PyResult<()> {
        self.names.push(name);
        self.columns.push(column(py, self.length, numbers)?);
        Ok(())
    }

    fn find(&self, py: Python<'_>, name: &str) -> Option<Py<PyAny>> {
        let place = self.names.iter().position(|own| *own == name)?;
        Some(self.columns[place].clone_ref(py))
    }
}

/// Makes a column of whole numbers: memory of Python, which cannot be changed.
pub fn column(py: Python<'_>, length: usize, numbers: impl Iterator<Item = i64>) -> PyResult<Py<PyAny>> {
    const BYTES: usize = size_of::<i64>();
    let memory = PyByteArray::new_with(py, length * BYTES, |bytes| {
        for (row, (place, number)) in bytes.chunks_exact_mut(BYTES).zip(numbers).enumerate() {
            look_for_signals(py, row)?;
            place.copy_from_slice(&number.to_ne_bytes());
        }
        Ok(())
    })?;
    let view = PyMemoryView::from(memory.as_any())?.call_method0("toreadonly")?;
    // An empty view has no other form.
    if length == 0 { Ok(view.unbind()) } else { Ok(view.call_method1("cast", ("q",))?.unbind()) }
}

/// Looks for signals, such as that of Ctrl-C, now and then.
#[inline]
pub fn look_for_signals(py: Python<'_>, row: usize) -> PyResult<()> {
    const BETWEEN_LOOKS: usize = 1 << 16;
    if row % BETWEEN_LOOKS == BETWEEN_LOOKS - 1 { py.check_signals() } else { Ok(()) }
}

#[pymethods]
impl Columns {
    fn __len__(&self) -> usize {
        self.length
    }

    fn __getitem__(&self, py: Python<'_>, name: &str) -> PyResult<Py<PyAny>> {
        self.find(py, name).ok_or_else(|| PyKeyError::new_err(name.to_owned()))
    }

    fn __getattr__(&self, py: Python<'_>, name: &str) -> PyResult<Py<PyAny>> {
        self.find(py, name).ok_or_else(|| {
            PyAttributeError::new_err(format!(
                "there is no column {name}; there are {}",
                self.names.join(", ")
            ))
        })
    }

    fn __contains__(&self, name: &str) -> bool {
        self.names.contains(&name)
    }

    fn __iter__(slf: &Bound<'_, Columns>) -> PyResult<Py<PyAny>> {
        let names = slf.get().names.clone().into_bound_py_any(slf.py())?;
        Ok(names.try_iter()?.into_any().unbind())
    }

    fn __dir__(&self) -> Vec<&'static str> {
        self.names.iter().copied().chain(["keys"]).collect()
    }

    /// Returns the names of the columns.
    fn keys(&self) -> Vec<&'static str> {
        self.names.clone()
    }

    fn __repr__(&self) -> String {
        format!("<{} rows of {}>", self.length, self.names.join(", "))
    }
}

/// Numbers of Python: one for all, or one for each.
pub enum Numbers {
    One(i64),
    Each(Vec<i64>),
}

impl Numbers {
    /// Reads a whole number, an array of whole numbers, or anything else that has some.
    pub fn read(numbers: &Object<'_>, name: &str) -> PyResult<Numbers> {
        if let Ok(one) = numbers.extract::<i64>() {
            return Ok(Numbers::One(one));
        }
        match elements(numbers, name)? {
            Elements::Whole(each) => Ok(Numbers::Each(each)),
            Elements::Real(_) => Err(PyTypeError::new_err(format!("{name} has numbers that are not whole"))),
        }
    }

    /// Returns the length, or `None` if it is one for all.
    pub fn length(&self) -> Option<usize> {
        match self {
            Numbers::One(_) => None,
            Numbers::Each(each) => Some(each.len()),
        }
    }

    #[inline]
    pub fn at(&self, place: usize) -> i64 {
        match self {
            Numbers::One(one) => *one,
            Numbers::Each(each) => each[place],
        }
    }
}

/// Returns the common length of numbers, `None` if each is one for all.
pub fn common_length(all: &[(&str, &Numbers)]) -> PyResult<Option<usize>> {
    let mut common: Option<(&str, usize)> = None;
    for (name, numbers) in all {
        match (common, numbers.length()) {
            (Some((first, length)), Some(own)) if own != length => {
                let sentence = format!(
                    "{name} has {own} numbers and {first} {length}; give as many of each, or one for all"
                );
                return Err(PyValueError::new_err(sentence));
            }
            (None, Some(own)) => common = Some((name, own)),
            _ => (),
        }
    }
    Ok(common.map(|(_, length)| length))
}

/// The elements of an array.
pub enum Elements {
    Whole(Vec<i64>),
    Real(Vec<f64>),
}

/// Reads the elements of an array, by its memory if it has one.
pub fn elements(array: &Object<'_>, name: &str) -> PyResult<Elements> {
    if let Ok(view) = PyMemoryView::from(array)
        && let Some(elements) = from_memory(&view, name)?
    {
        return Ok(elements);
    }
    let Ok(items) = array.try_iter() else {
        let sentence = format!("{name} = {} is no whole number, nor an array of them", array.repr()?);
        return Err(PyTypeError::new_err(sentence));
    };
    let looked = |(row, item)| look_for_signals(array.py(), row).and(item);
    let items: Vec<Object<'_>> = items.enumerate().map(looked).collect::<PyResult<_>>()?;
    if items.iter().any(|item| item.is_instance_of::<PyFloat>()) {
        return Ok(Elements::Real(items.iter().map(|item| item.extract()).collect::<PyResult<_>>()?));
    }
    let whole = |(row, item): (usize, &Object<'_>)| {
        look_for_signals(array.py(), row)?;
        let refuse = |_| PyTypeError::new_err(format!("{name} has {}, which is no whole number", item));
        item.extract::<i64>().map_err(refuse)
    };
    Ok(Elements::Whole(items.iter().enumerate().map(whole).collect::<PyResult<_>>()?))
}

/// Reads the elements of memory of a known form; `None` if it has another.
fn from_memory(view: &Bound<'_, PyMemoryView>, name: &str) -> PyResult<Option<Elements>> {
    let (format, size): (String, usize) =
        (view.getattr("format")?.extract()?, view.getattr("itemsize")?.extract()?);
    if view.getattr("ndim")?.extract::<usize>()? != 1 {
        return Err(PyValueError::new_err(format!("{name} has rows and columns; give one row")));
    }
    let Some(form) = format.trim_start_matches(['@', '=']).chars().next().filter(|_| format.len() <= 2)
    else {
        return Ok(None);
    };
    if format.starts_with(['<', '>', '!']) && size > 1 {
        return Ok(None); // read one by one
    }
    let bytes = view.call_method0("tobytes")?;
    let bytes: &[u8] = bytes.extract()?;
    macro_rules! whole {
        ($($type:ty)*) => {
            $(if size == size_of::<$type>() && is_of::<$type>(form) {
                let numbers = bytes.chunks_exact(size).map(|number| {
                    let number = <$type>::from_ne_bytes(number.try_into().expect("it has this length"));
                    i64::try_from(number).map_err(|_| PyValueError::new_err(format!("{name} has {number}, which is too large")))
                });
                return Ok(Some(Elements::Whole(numbers.collect::<PyResult<_>>()?)));
            })*
        };
    }
    whole!(i64 u64 i32 u32 i16 u16 i8 u8);
    let real: Option<Vec<f64>> = match (form, size) {
        ('d', 8) => {
            Some(bytes.chunks_exact(8).map(|x| f64::from_ne_bytes(x.try_into().expect("eight"))).collect())
        }
        ('f', 4) => Some(
            bytes.chunks_exact(4).map(|x| f32::from_ne_bytes(x.try_into().expect("four")).into()).collect(),
        ),
        _ => None,
    };
    Ok(real.map(Elements::Real))
}

/// Returns whether the letter of a form is that of signed or unsigned whole numbers, as the type is.
fn is_of<T: TryFrom<i8>>(form: char) -> bool {
    let is_signed = T::try_from(-1).is_ok();
    if is_signed { "bhilqn".contains(form) } else { "BHILQN".contains(form) }
}
