//! A run that has succeeded.

use loggp::Stats as Account;
use loggp_trace::Recording;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::time::Time;
use crate::trace::Trace;

/// The results of a run.
#[pyclass(module = "loggp")]
pub struct Run {
    pub time: loggp::Time,
    pub results: Vec<Py<PyAny>>,
    pub accounts: Vec<Account>,
    pub formula: Option<loggp::Time>,
    pub trace: Option<Py<Trace>>,
}

/// The account of a processor's time.
#[pyclass(frozen, module = "loggp")]
pub struct Stats(Account);

impl Run {
    pub fn new(
        py: Python<'_>,
        (run, recording): (loggp::Run<Option<Py<PyAny>>>, Option<Recording>),
        formula: Option<loggp::Time>,
    ) -> PyResult<Run> {
        let (run, results) = run.take_results();
        let results = results.into_iter().map(|result| result.unwrap_or_else(|| py.None())).collect();
        let trace = recording.map(|recording| Py::new(py, Trace::of_recording(recording))).transpose()?;
        Ok(Run { time: run.time, results, accounts: run.processors, formula, trace })
    }

    fn sum(&self, of: impl Fn(&Account) -> u64) -> u64 {
        self.accounts.iter().map(of).sum()
    }
}

#[pymethods]
impl Run {
    #[staticmethod]
    fn _restore(
        time: Time,
        results: Vec<Py<PyAny>>,
        accounts: Vec<Vec<i64>>,
        formula: Option<Time>,
        trace: Option<Py<Trace>>,
    ) -> Run {
        let accounts = accounts.iter().map(|numbers| restore(numbers)).collect();
        Run { time: time.0, results, accounts, formula: formula.map(|time| time.0), trace }
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let accounts: Vec<_> = self.accounts.iter().map(numbers).collect();
        let all = (self.time(), self.results(py), accounts, self.formula(), self.trace(py));
        (py.get_type::<Run>().getattr("_restore")?, all).into_pyobject(py)
    }

    /// Shows the run in a notebook: its picture, or if that is too large a table.
    fn _repr_html_<'py>(slf: &Bound<'py, Run>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("loggp._tools")?.call_method1("run_html", (slf,))
    }

    /// The time at which the last processor finished, or until which the run went.
    #[getter]
    fn time(&self) -> Time {
        Time(self.time)
    }

    /// The results of the processors' programs, by number.
    #[getter]
    fn results(&self, py: Python<'_>) -> Vec<Py<PyAny>> {
        self.results.iter().map(|result| result.clone_ref(py)).collect()
    }

    /// The accounts of the processors' time, by number.
    #[getter]
    fn processors(&self) -> Vec<Stats> {
        self.accounts.iter().map(|account| Stats(account.clone())).collect()
    }

    /// The time by the formula that was given, or None.
    #[getter]
    fn formula(&self) -> Option<Time> {
        self.formula.map(Time)
    }

    /// The trace, or None if the run was not traced.
    #[getter]
    fn trace(&self, py: Python<'_>) -> Option<Py<Trace>> {
        self.trace.as_ref().map(|trace| trace.clone_ref(py))
    }

    /// The number of messages sent.
    #[getter]
    fn messages(&self) -> u64 {
        self.sum(|account| account.sent)
    }

    /// The number of stalls of all processors.
    #[getter]
    fn stalls(&self) -> u64 {
        self.sum(|account| account.stalls)
    }

    /// The sum of all processors' stall times.
    #[getter]
    fn stalled(&self) -> Time {
        Time(self.accounts.iter().map(|account| account.stall).sum())
    }

    /// The largest number of messages that were in transit from one processor, or to one, at once; 0 where
    /// the capacity is unlimited.
    #[getter]
    fn most_in_transit(&self) -> usize {
        self.accounts.iter().map(Account::most_in_transit).max().unwrap_or(0)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.results.iter().try_for_each(|result| visit.call(result))
    }

    fn __clear__(&mut self) {
        self.results.clear();
    }

    fn __repr__(&self) -> String {
        let (P, messages) = (self.accounts.len(), self.messages());
        format!("<run of {P} processors: {}, {messages} messages, {} stalls>", self.time, self.stalls())
    }
}

/// Names the numbers of an account, to keep them.
macro_rules! numbers {
    ($($count:ident),*; $($time:ident),*) => {
        /// Returns the numbers of an account.
        fn numbers(account: &Account) -> Vec<i64> {
            vec![$(account.$count as i64,)* $(account.$time.as_ps()),*]
        }

        /// Returns the account with these numbers.
        fn restore(numbers: &[i64]) -> Account {
            let (mut account, mut numbers) = (Account::default(), numbers.iter().copied());
            $(account.$count = numbers.next().unwrap_or_default() as _;)*
            $(account.$time = loggp::Time::from_ps(numbers.next().unwrap_or_default());)*
            account
        }
    };
}

numbers!(
    sent, words_sent, received, words_received, stalls, out_of_order, most_from, most_to;
    send, recv, gap, idle, stall, port, work, finish, longest_stall
);

/// Makes a getter for each field of an account.
macro_rules! account {
    ($($(#[doc = $doc:literal])* $name:ident: $type:ty = $get:expr,)*) => {
        #[pymethods]
        impl Stats {
            #[staticmethod]
            fn _restore(numbers: Vec<i64>) -> Stats {
                Stats(restore(&numbers))
            }

            fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
                (py.get_type::<Stats>().getattr("_restore")?, (numbers(&self.0),)).into_pyobject(py)
            }

            $($(#[doc = $doc])* #[getter] fn $name(&self) -> $type { let get: fn(&Account) -> $type = $get; get(&self.0) })*

            fn __repr__(&self) -> String {
                let Account { finish, sent, received, .. } = self.0;
                format!("<account: finished at {finish}, sent {sent}, received {received}>")
            }
        }
    };
}

account! {
    /// The time at which its program finished.
    finish: Time = |account| Time(account.finish),
    /// The time of overhead of sending.
    send: Time = |account| Time(account.send),
    /// The time of overhead of receiving.
    recv: Time = |account| Time(account.recv),
    /// The time of waiting for the gap.
    gap: Time = |account| Time(account.gap),
    /// The time of waiting for the capacity.
    stall: Time = |account| Time(account.stall),
    /// The time of waiting for the port.
    port: Time = |account| Time(account.port),
    /// The time of computing.
    work: Time = |account| Time(account.work),
    /// The time of waiting for messages and moments.
    idle: Time = |account| Time(account.idle),
    /// The number of messages sent.
    sent: u64 = |account| account.sent,
    /// The number of messages received.
    received: u64 = |account| account.received,
    /// The words of the messages sent.
    words_sent: u64 = |account| account.words_sent,
    /// The words of the messages received.
    words_received: u64 = |account| account.words_received,
    /// The number of stalls.
    stalls: u64 = |account| account.stalls,
    /// The longest stall.
    longest_stall: Time = |account| Time(account.longest_stall),
}
