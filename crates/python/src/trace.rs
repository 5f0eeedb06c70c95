//! The trace of a run, as columns.

use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::PathBuf;
use std::sync::LazyLock;

use loggp::__private::{KIND_NAMES, Recording, kind_number};
use loggp::MessageId;
use loggp::trace::{Activity, ActivityKind, Message, Trace as Record};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use crate::columns::Columns;

/// The record of a run: its activities and its messages, as columns.
///
/// Times are picoseconds, and kinds numbers of `Trace.KINDS`. A column is a memoryview:
/// `numpy.asarray(column)` shows it without a copy.
///
/// >>> import loggp
/// >>> def program(p):
/// ...     yield p.send(1, "x") if p.id == 0 else p.recv("x")
/// >>> trace = loggp.Machine(P=2, L=6, o=2, g=4).run(program).trace
/// >>> list(trace.messages.arrival), len(trace.activities)
/// ([8000000], 3)
/// >>> [trace.KINDS[kind] for kind in trace.activities.kind]
/// ['send', 'idle', 'receive']
#[pyclass(frozen, module = "loggp")]
pub struct Trace {
    /// It is put together when it is first asked for.
    record: LazyLock<Record, Box<dyn FnOnce() -> Record + Send>>,
    activities: PyOnceLock<Py<Columns>>,
    messages: PyOnceLock<Py<Columns>>,
}

impl Trace {
    pub fn new(record: Record) -> Trace {
        Trace::made_by(Box::new(|| record))
    }

    pub fn of_recording(recording: Recording) -> Trace {
        Trace::made_by(Box::new(|| recording.into_trace()))
    }

    fn made_by(make: Box<dyn FnOnce() -> Record + Send>) -> Trace {
        Trace { record: LazyLock::new(make), activities: PyOnceLock::new(), messages: PyOnceLock::new() }
    }
}

/// Returns the row of the message that is sent or received, or -1.
fn message_row(messages: &[Message], kind: &ActivityKind) -> i64 {
    let (ActivityKind::Send(id) | ActivityKind::Receive(id)) = kind else { return -1 };
    let key = |id: MessageId| (id.from, id.number);
    messages.binary_search_by_key(&key(*id), |message| key(message.id)).map_or(-1, |row| row as i64)
}

#[pymethods]
impl Trace {
    /// The names of the kinds of activities.
    #[classattr]
    const KINDS: [&'static str; KIND_NAMES.len()] = KIND_NAMES;

    /// Reads a trace that the command or `write` has written.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf) -> PyResult<Trace> {
        let refuse = |why: String| PyValueError::new_err(format!("{}: {why}", path.display()));
        let file =
            File::open(&path).map_err(|why| PyOSError::new_err(format!("{}: {why}", path.display())))?;
        let read = py.detach(|| Record::read(BufReader::new(file)));
        read.map(Trace::new).map_err(|why| refuse(why.to_string()))
    }

    /// Writes the trace to a file, which `loggp analyze`, `loggp timeline` and others read. With
    /// `chrome=True` viewers of Chrome's traces do too, and the file is larger.
    #[pyo3(signature = (path, *, chrome = false))]
    fn write(&self, py: Python<'_>, path: PathBuf, chrome: bool) -> PyResult<()> {
        let written = py.detach(|| {
            let mut file = BufWriter::new(File::create(&path)?);
            if chrome { self.record.write(&mut file) } else { self.record.write_compact(&mut file) }?;
            file.flush()
        });
        written.map_err(|why| PyOSError::new_err(format!("{}: {why}", path.display())))
    }

    /// The activities of the processors: `processor`, `start` and `end` in ps, `kind`, and `message`, the row
    /// of the message that is sent or received, or -1.
    #[getter]
    fn activities(&self, py: Python<'_>) -> PyResult<Py<Columns>> {
        let make = || {
            let rows = &self.record.activities;
            let mut columns = Columns::new(rows.len());
            let mut add = |name, of: &dyn Fn(&Activity) -> i64| columns.add(py, name, rows.iter().map(of));
            add("processor", &|activity| activity.id as i64)?;
            add("start", &|activity| activity.start.as_ps())?;
            add("end", &|activity| activity.end.as_ps())?;
            add("kind", &|activity| kind_number(&activity.kind) as i64)?;
            add("message", &|activity| message_row(&self.record.messages, &activity.kind))?;
            Py::new(py, columns)
        };
        Ok(self.activities.get_or_try_init(py, make)?.clone_ref(py))
    }

    /// The messages: `sender`, `number` among those of its sender, `receiver`, `words`, and in ps `latency`,
    /// `enter`, when its first word enters the network, `first`, when that leaves it, and `arrival` of the
    /// last.
    #[getter]
    fn messages(&self, py: Python<'_>) -> PyResult<Py<Columns>> {
        let make = || {
            let rows = &self.record.messages;
            let mut columns = Columns::new(rows.len());
            let mut add = |name, of: &dyn Fn(&Message) -> i64| columns.add(py, name, rows.iter().map(of));
            add("sender", &|message| message.id.from as i64)?;
            add("number", &|message| message.id.number as i64)?;
            add("receiver", &|message| message.to as i64)?;
            add("words", &|message| message.words as i64)?;
            add("latency", &|message| message.latency.as_ps())?;
            add("enter", &|message| message.enter.as_ps())?;
            add("first", &|message| message.first.as_ps())?;
            add("arrival", &|message| message.arrival.as_ps())?;
            Py::new(py, columns)
        };
        Ok(self.messages.get_or_try_init(py, make)?.clone_ref(py))
    }

    fn __repr__(&self) -> String {
        let Record { params, activities, messages, .. } = &*self.record;
        format!(
            "<trace of {} processors: {} activities, {} messages>",
            params.P,
            activities.len(),
            messages.len()
        )
    }
}
