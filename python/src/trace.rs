//! The trace of a run, as columns.

use std::collections::HashMap;
use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use loggp::MessageId;
use loggp::trace::{Activity, ActivityKind, Message, Progress, Trace as Record};
use loggp_model::log::kinds::{KIND_NAMES, kind_number};
use loggp_trace::Recording;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyTuple};

use crate::columns::Columns;
use crate::error::file_error;
use crate::interruptible::{Stopping, interruptible};
use crate::order::{Order, OrderSource};
use crate::time::Time;

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
    record: Arc<LazyLock<Record, MakeRecord>>,
    progress: PyOnceLock<Py<Columns>>,
    activities: PyOnceLock<Py<Columns>>,
    messages: PyOnceLock<Py<Columns>>,
}

type MakeRecord = Box<dyn FnOnce() -> Record + Send>;

impl Trace {
    pub fn new(record: Record) -> Trace {
        Trace::made_by(Box::new(|| record))
    }

    pub fn of_recording(recording: Recording) -> Trace {
        Trace::made_by(Box::new(|| recording.into_trace()))
    }

    fn made_by(make: MakeRecord) -> Trace {
        Trace::with_record(Arc::new(LazyLock::new(make)))
    }

    fn with_record(record: Arc<LazyLock<Record, MakeRecord>>) -> Trace {
        Trace {
            record,
            progress: PyOnceLock::new(),
            activities: PyOnceLock::new(),
            messages: PyOnceLock::new(),
        }
    }

    /// Returns the record, which is made if this is the first time.
    fn record(&self, py: Python<'_>) -> PyResult<&Record> {
        let record = self.record.clone();
        interruptible(py, move |_| {
            LazyLock::force(&record);
        })?;
        Ok(&self.record)
    }
}

/// Finds the rows of messages.
struct MessageRows<'a> {
    messages: &'a [Message],
    /// The first row of each sender.
    firsts: HashMap<usize, usize>,
}

impl<'a> MessageRows<'a> {
    fn new(messages: &'a [Message]) -> MessageRows<'a> {
        let mut firsts = HashMap::new();
        for (row, message) in messages.iter().enumerate() {
            firsts.entry(message.id.from).or_insert(row);
        }
        MessageRows { messages, firsts }
    }

    /// Returns the row of the message that is sent or received, or -1.
    fn row(&self, kind: &ActivityKind) -> i64 {
        let (ActivityKind::Send(id) | ActivityKind::Receive(id)) = kind else { return -1 };
        // The numbers of a sender's messages have no gaps, but a file may have any.
        let row = self.firsts.get(&id.from).map(|first| first + id.number);
        if let Some(row) = row
            && self.messages.get(row).is_some_and(|message| message.id == *id)
        {
            return row as i64;
        }
        let key = |id: MessageId| (id.from, id.number);
        let found = self.messages.binary_search_by_key(&key(*id), |message| key(message.id));
        found.map_or(-1, |row| row as i64)
    }
}

#[pymethods]
impl Trace {
    /// The names of the kinds of activities.
    #[classattr]
    const KINDS: [&'static str; KIND_NAMES.len()] = KIND_NAMES;

    /// Reads a trace that the command or `write` has written.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf) -> PyResult<Trace> {
        let file = File::open(&path).map_err(|why| file_error(&path, &why))?;
        let read = interruptible(py, move |stop| Record::read(BufReader::new(Stopping::new(file, stop))))?;
        read.map(Trace::new).map_err(|why| PyValueError::new_err(format!("{}: {why}", path.display())))
    }

    /// Reads a trace from the bytes of a file of it.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: PyBackedBytes) -> PyResult<Trace> {
        let read = interruptible(py, move |stop| Record::read(Stopping::new(&*bytes, stop)))?;
        read.map(Trace::new).map_err(|why| PyValueError::new_err(why.to_string()))
    }

    /// Returns the trace as the bytes of a file of it.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let record = self.record.clone();
        let written = interruptible(py, move |stop| {
            let mut bytes = Stopping::new(Vec::new(), stop);
            record.write_compact(&mut bytes).map(|()| bytes.inner)
        })?;
        Ok(PyBytes::new(py, &written.map_err(|why| PyValueError::new_err(why.to_string()))?))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        (py.get_type::<Trace>().getattr("from_bytes")?, (self.to_bytes(py)?,)).into_pyobject(py)
    }

    /// Writes the trace to a file, which `loggp analyze`, `loggp timeline` and others read. With
    /// `chrome=True` viewers of Chrome's traces do too, and the file is larger.
    #[pyo3(signature = (path, *, chrome = false))]
    fn write(&self, py: Python<'_>, path: PathBuf, chrome: bool) -> PyResult<()> {
        let (record, to) = (self.record.clone(), path.clone());
        let written = interruptible(py, move |stop| {
            let record = LazyLock::force(&record); // which takes long, and has no file yet
            stop.write(&to, |file| if chrome { record.write(file) } else { record.write_compact(file) })
        })?;
        written.map_err(|why| file_error(&path, &why))
    }

    /// The activities of the processors: `processor`, `start` and `end` in ps, `kind`, and `message`, the row
    /// of the message that is sent or received, or -1.
    #[getter]
    fn activities(&self, py: Python<'_>) -> PyResult<Py<Columns>> {
        let make = || {
            let record = self.record(py)?;
            let (rows, messages) = (&record.activities, MessageRows::new(&record.messages));
            let mut columns = Columns::new(rows.len());
            let mut add = |name, of: &dyn Fn(&Activity) -> i64| columns.add(py, name, rows.iter().map(of));
            add("processor", &|activity| activity.id as i64)?;
            add("start", &|activity| activity.start.as_ps())?;
            add("end", &|activity| activity.end.as_ps())?;
            add("kind", &|activity| kind_number(&activity.kind) as i64)?;
            add("message", &|activity| messages.row(&activity.kind))?;
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
            let rows = &self.record(py)?.messages;
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

    /// What requests did beside their processors: `processor` and `request`, the number of the request among
    /// its processor's, `start`, `end`, `kind` and `message` as those of activities.
    #[getter]
    fn progress(&self, py: Python<'_>) -> PyResult<Py<Columns>> {
        let make = || {
            let record = self.record(py)?;
            let (rows, messages) = (&record.progress, MessageRows::new(&record.messages));
            let mut columns = Columns::new(rows.len());
            let mut add = |name, of: &dyn Fn(&Progress) -> i64| columns.add(py, name, rows.iter().map(of));
            add("processor", &|progress| progress.id as i64)?;
            add("request", &|progress| progress.request.into())?;
            add("start", &|progress| progress.start.as_ps())?;
            add("end", &|progress| progress.end.as_ps())?;
            add("kind", &|progress| kind_number(&progress.kind) as i64)?;
            add("message", &|progress| messages.row(&progress.kind))?;
            Py::new(py, columns)
        };
        Ok(self.progress.get_or_try_init(py, make)?.clone_ref(py))
    }

    /// The length of a cycle of the machine.
    #[getter]
    fn cycle(&self, py: Python<'_>) -> PyResult<Time> {
        Ok(Time(self.record(py)?.params.cycle))
    }

    /// The order of the messages and the processors, with which `Machine.run` repeats the run: every message
    /// takes as long as it took here.
    ///
    /// >>> import loggp
    /// >>> def program(p):
    /// ...     if p.id > 0:
    /// ...         yield p.send(0, "x", p.id)
    /// ...     else:
    /// ...         return [(yield p.recv("x")), (yield p.recv("x"))]
    /// >>> drawn = loggp.Machine(P=3, L=60, o=1, g=1, latency="random:7").run(program)
    /// >>> again = loggp.Machine(P=3, L=60, o=1, g=1).run(program, order=drawn.trace.order)
    /// >>> again.time == drawn.time and again.results == drawn.results
    /// True
    #[getter]
    pub fn order(&self, py: Python<'_>) -> PyResult<Order> {
        let order = loggp::Order::from(self.record(py)?);
        Ok(Order {
            order,
            source: OrderSource::Trace(Py::new(py, Trace::with_record(self.record.clone()))?.into_any()),
        })
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let Record { params, activities, messages, .. } = self.record(py)?;
        let (P, activities, messages) = (params.P, activities.len(), messages.len());
        Ok(format!("<trace of {P} processors: {activities} activities, {messages} messages>"))
    }
}
