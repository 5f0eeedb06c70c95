//! Programs under many orders of messages.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;

use loggp::RunError as NotFinished;
use loggp::check::{Check, CheckReport as Report, Failure as Failed, FailureKind, Strategy};
use parking_lot::Mutex;
use pyo3::exceptions::{PyAssertionError, PyKeyboardInterrupt, PySystemExit, PyValueError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::interruptible::interruptible_python;
use crate::order::{Order, OrderSource};
use crate::parameters::refused;
use crate::program::session::Session;
use crate::program::{Programs, run_error};
use crate::time::Time;
use crate::trace::Trace;

/// The report of a check. Printed, it says so in sentences.
#[pyclass(module = "loggp")]
pub struct CheckReport {
    runs: usize,
    audited: usize,
    messages: usize,
    is_complete: bool,
    results: Vec<(Vec<Py<PyAny>>, usize, Py<Order>)>,
    choices: Vec<(String, usize, usize)>,
    failure: Option<Py<Failure>>,
    text: String,
}

/// A run that failed, under the fewest late messages that suffice.
#[pyclass(module = "loggp")]
pub struct Failure {
    run: usize,
    sentence: String,
    error: Option<Py<PyAny>>,
    delayed: Vec<(usize, usize, usize, Time)>,
    order: Py<Order>,
    trace: Py<Trace>,
}

/// The settings of a check.
pub struct CheckSettings {
    pub runs: usize,
    pub strategy: String,
    pub seed: u64,
    pub results_may_differ: bool,
    pub losses: usize,
    pub duplicates: usize,
    pub crashes: usize,
    pub audits: usize,
    pub seconds: Option<f64>,
    pub copy: bool,
}

/// The result of a processor, which is compared as Python compares it, and arrays by their elements.
struct Outcome<'a> {
    object: Py<PyAny>,
    trial: &'a Trial<'a>,
}

/// A result that a check compares: `None` for a processor that has crashed, where some may.
trait Compared: PartialEq + Send + Sync {
    fn object(&self) -> Option<&Py<PyAny>>;
}

impl Compared for Outcome<'_> {
    fn object(&self) -> Option<&Py<PyAny>> {
        Some(&self.object)
    }
}

impl Compared for Option<Outcome<'_>> {
    fn object(&self) -> Option<&Py<PyAny>> {
        self.as_ref().map(|outcome| &outcome.object)
    }
}

/// Returns the results as a program's caller gets them.
fn objects<R: Compared>(py: Python<'_>, results: &[R]) -> Vec<Py<PyAny>> {
    let object = |result: &R| result.object().map_or_else(|| py.None(), |object| object.clone_ref(py));
    results.iter().map(object).collect()
}

impl PartialEq for Outcome<'_> {
    fn eq(&self, other: &Outcome) -> bool {
        let compared: PyResult<Option<String>> = Python::attach(|py| {
            let compare = py.import("loggp._compare")?.getattr("difference")?;
            compare.call1((&self.object, &other.object))?.extract()
        });
        match compared {
            Ok(None) => true,
            Ok(Some(hint)) => {
                if !hint.is_empty() {
                    self.trial.hint.lock().get_or_insert(hint);
                }
                false
            }
            Err(error) => self.trial.end(error),
        }
    }
}

/// A program that is checked.
struct Trial<'a> {
    program: &'a Py<PyAny>,
    verify: Option<&'a Py<PyAny>>,
    copy: bool,
    /// The exception that ends the check, such as that of Ctrl-C.
    interrupt: Mutex<Option<PyErr>>,
    /// A sentence on a comparison of results that may be to blame where they differed.
    hint: Mutex<Option<String>>,
}

impl Trial<'_> {
    /// Runs the program once on a machine, which has an order.
    fn run<R: Send>(
        &self,
        machine: &loggp::Machine,
        run: impl FnOnce(&loggp::Machine, &Programs) -> Result<loggp::Run<R>, NotFinished>,
    ) -> Result<loggp::Run<R>, NotFinished> {
        Python::attach(|py| {
            let programs = Programs::new(self.program, Session::new(machine, self.copy));
            let ran = run(machine, &programs);
            let failure = programs.session().take_failure();
            programs.close(py);
            if let Some((_, error)) = failure
                && (error.is_instance_of::<PyKeyboardInterrupt>(py)
                    || error.is_instance_of::<PySystemExit>(py))
            {
                self.end(error);
            }
            ran
        })
    }

    /// Lets Python verify the results.
    fn verify<R: Compared>(&self, results: &[R]) -> Result<(), String> {
        let Some(verify) = self.verify else { return Ok(()) };
        Python::attach(|py| match verify.bind(py).call1((objects(py, results),)) {
            Ok(said) if said.is_none() => Ok(()),
            Ok(said) => match said.extract::<bool>() {
                Ok(true) => Ok(()),
                Ok(false) => Err("the verification says False".into()),
                Err(_) => Err(said.to_string()),
            },
            Err(error) if error.is_instance_of::<PyAssertionError>(py) => Err(error.to_string()),
            Err(error) => {
                self.end(error);
            }
        })
    }

    /// Ends the check with an exception: what is left of it is unwound.
    fn end(&self, error: PyErr) -> ! {
        *self.interrupt.lock() = Some(error);
        resume_unwind(Box::new("it was interrupted"))
    }
}

/// Runs a program under many orders. All of it happens on a thread of its own, since the search for orders and the
/// audits take long and look for no signals.
pub fn check(
    py: Python<'_>,
    machine: loggp::Machine,
    program: Py<PyAny>,
    verify: Option<Py<PyAny>>,
    settings: CheckSettings,
) -> PyResult<CheckReport> {
    interruptible_python(py, move || check_here(&machine, &program, verify.as_ref(), &settings))?
}

fn check_here(
    machine: &loggp::Machine,
    program: &Py<PyAny>,
    verify: Option<&Py<PyAny>>,
    settings: &CheckSettings,
) -> PyResult<CheckReport> {
    let strategy: Strategy = settings.strategy.parse().map_err(refused)?;
    let mut check = Check::new()
        .runs(settings.runs)
        .strategy(strategy)
        .seed(settings.seed)
        .results_may_differ(settings.results_may_differ)
        .losses(settings.losses)
        .duplicates(settings.duplicates)
        .crashes(settings.crashes)
        .audits(settings.audits);
    if let Some(seconds) = settings.seconds {
        let time = Duration::try_from_secs_f64(seconds);
        check = check.time(
            time.map_err(|_| PyValueError::new_err(format!("{seconds} s is no time; give 0 or more")))?,
        );
    }
    let trial =
        Trial { program, verify, copy: settings.copy, interrupt: Mutex::default(), hint: Mutex::default() };
    let no_check = |error: NotFinished| PyValueError::new_err(error.to_string());
    let run = || {
        if settings.crashes > 0 {
            // The verification alone decides, since a crash changes the results.
            let run = |machine: &loggp::Machine, programs: &Programs| {
                machine.run_surviving(|p| Outcome { object: programs.run(p), trial: &trial })
            };
            let run = |machine: &loggp::Machine| Ok(trial.run(machine, run)?.results);
            let report =
                check.results_may_differ(true).run_each(machine, run, |results| trial.verify(results));
            report.map_err(no_check).map(|report| CheckReport::new(report, machine, &trial))
        } else {
            let run = |machine: &loggp::Machine, programs: &Programs| {
                machine.run(|p| Outcome { object: programs.run(p), trial: &trial })
            };
            let run = |machine: &loggp::Machine| Ok(trial.run(machine, run)?.results);
            let report = check.run_each(machine, run, |results| trial.verify(results));
            report.map_err(no_check).map(|report| CheckReport::new(report, machine, &trial))
        }
    };
    match (catch_unwind(AssertUnwindSafe(run)), trial.interrupt.into_inner()) {
        (_, Some(error)) => Err(error),
        (Ok(report), None) => report?,
        (Err(panic), None) => resume_unwind(panic),
    }
}

/// Runs a program once more under an order, and returns the exception of that run, if it fails.
fn failed_again(
    py: Python<'_>,
    machine: &loggp::Machine,
    trial: &Trial,
    order: &loggp::Order,
) -> Option<Py<PyAny>> {
    let programs = Programs::new(trial.program, Session::new(machine, trial.copy));
    let ran = machine.clone().order(order).run_surviving(|p| programs.run(p));
    let error = ran.err().map(|error| run_error(py, error, &programs));
    programs.close(py);
    error.map(|error| error.into_value(py).into_any())
}

impl CheckReport {
    fn new<R: Compared>(
        report: Report<Vec<R>>,
        machine: &loggp::Machine,
        trial: &Trial,
    ) -> PyResult<CheckReport> {
        Python::attach(|py| CheckReport::with_objects(py, report, machine, trial))
    }

    fn with_objects<R: Compared>(
        py: Python<'_>,
        mut report: Report<Vec<R>>,
        machine: &loggp::Machine,
        trial: &Trial,
    ) -> PyResult<CheckReport> {
        let results = report.results.iter().map(|distinct| {
            let source = OrderSource::Run(Box::new(machine.clone()), trial.program.clone_ref(py));
            let order = Order { order: distinct.order.clone(), source };
            Ok((objects(py, &distinct.result), distinct.runs, Py::new(py, order)?))
        });
        let results: PyResult<_> = results.collect();
        // Their places in the program are lines of Rust.
        let choices = std::mem::take(&mut report.choices).into_iter();
        let choices = choices.map(|choice| (choice.about, choice.taken, choice.with_choice)).collect();
        let (mut text, mut failure) = (report.to_string(), None);
        if let Some(failed) = report.failure.take() {
            let in_rust = failed.kind.to_string();
            let (sentence, error) = match failed.kind {
                FailureKind::RunFailed(_) => {
                    let error = failed_again(py, machine, trial, &failed.order);
                    (error.as_ref().map(|error| error.bind(py).to_string()), error)
                }
                FailureKind::DifferentResult => {
                    (trial.hint.lock().take().map(|hint| format!("{in_rust}; {hint}")), None)
                }
                _ => (None, None),
            };
            let sentence = sentence.unwrap_or_else(|| in_rust.clone());
            text = text.replacen(&in_rust, &sentence, 1);
            failure = Some(Py::new(py, Failure::new(py, failed, sentence, error)?)?);
        }
        Ok(CheckReport {
            runs: report.runs,
            audited: report.audited,
            messages: report.messages,
            is_complete: report.coverage.is_some_and(|coverage| coverage.is_complete()),
            results: results?,
            choices,
            failure,
            text,
        })
    }
}

impl Failure {
    fn new(py: Python<'_>, failed: Failed, sentence: String, error: Option<Py<PyAny>>) -> PyResult<Failure> {
        let delayed = failed.delayed.iter();
        let delayed =
            delayed.map(|late| (late.message.from, late.message.number, late.to, Time(late.latency)));
        let trace = Py::new(py, Trace::new(failed.trace))?;
        Ok(Failure {
            run: failed.run,
            delayed: delayed.collect(),
            sentence,
            error,
            order: Py::new(
                py,
                Order { order: failed.order, source: OrderSource::Trace(trace.clone_ref(py).into_any()) },
            )?,
            trace,
        })
    }
}

#[pymethods]
impl CheckReport {
    #[staticmethod]
    #[allow(clippy::too_many_arguments)] // as many as a report has
    fn _restore(
        runs: usize,
        audited: usize,
        messages: usize,
        is_complete: bool,
        results: Vec<(Vec<Py<PyAny>>, usize, Py<Order>)>,
        choices: Vec<(String, usize, usize)>,
        failure: Option<Py<Failure>>,
        text: String,
    ) -> CheckReport {
        CheckReport { runs, audited, messages, is_complete, results, choices, failure, text }
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let CheckReport { runs, audited, messages, is_complete, text, .. } = self;
        let (results, choices, failure) = (self.results(py), self.choices(), self.failure(py));
        let all = (runs, audited, messages, is_complete, results, choices, failure, text);
        (py.get_type::<CheckReport>().getattr("_restore")?, all).into_pyobject(py)
    }

    /// True if no run failed.
    #[getter]
    fn has_passed(&self) -> bool {
        self.failure.is_none()
    }

    /// The number of runs, with the one that failed.
    #[getter]
    fn runs(&self) -> usize {
        self.runs
    }

    /// The number of runs that were checked against the machine's rules.
    #[getter]
    fn audited(&self) -> usize {
        self.audited
    }

    /// The number of messages of the first run.
    #[getter]
    fn messages(&self) -> usize {
        self.messages
    }

    /// True if there are no other orders, which only the systematic strategy knows.
    #[getter]
    fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// The distinct results, each with the number of its runs and the order of the first.
    #[getter]
    fn results(&self, py: Python<'_>) -> Vec<(Vec<Py<PyAny>>, usize, Py<Order>)> {
        let clone = |results: &[Py<PyAny>]| results.iter().map(|result| result.clone_ref(py)).collect();
        self.results
            .iter()
            .map(|(results, runs, order)| (clone(results), *runs, order.clone_ref(py)))
            .collect()
    }

    /// The receives that could have taken another message: the tag, how many messages were taken, and of
    /// these how many with a choice.
    #[getter]
    fn choices(&self) -> Vec<(String, usize, usize)> {
        self.choices.clone()
    }

    /// The first run that failed, or None.
    #[getter]
    fn failure(&self, py: Python<'_>) -> Option<Py<Failure>> {
        self.failure.as_ref().map(|failure| failure.clone_ref(py))
    }

    fn __bool__(&self) -> bool {
        self.has_passed()
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        for (results, _, order) in &self.results {
            results.iter().try_for_each(|result| visit.call(result))?;
            visit.call(order)?;
        }
        visit.call(&self.failure)
    }

    fn __clear__(&mut self) {
        self.results.clear();
        self.failure = None;
    }

    fn __str__(&self) -> &str {
        &self.text
    }

    fn __repr__(&self) -> String {
        let how = if self.has_passed() { "passed" } else { "failed" };
        format!("<check of {} runs: {how}>", self.runs)
    }
}

#[pymethods]
impl Failure {
    #[staticmethod]
    fn _restore(
        run: usize,
        sentence: String,
        error: Option<Py<PyAny>>,
        delayed: Vec<(usize, usize, usize, Time)>,
        order: Py<Order>,
        trace: Py<Trace>,
    ) -> Failure {
        Failure { run, sentence, error, delayed, order, trace }
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let (error, order, trace) = (self.error(py), self.order(py), self.trace(py));
        let all = (self.run, &self.sentence, error, self.delayed(), order, trace);
        (py.get_type::<Failure>().getattr("_restore")?, all).into_pyobject(py)
    }

    /// The number of runs before this one.
    #[getter]
    fn run(&self) -> usize {
        self.run
    }

    /// The exception of the run, with that of its program as its cause; None if the run ended, with a wrong
    /// result.
    #[getter]
    fn error(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.error.as_ref().map(|error| error.clone_ref(py))
    }

    /// The messages that are late, and all others arrive at once: the sender, the number of the message among
    /// those of its sender, the receiver, and the time under way.
    #[getter]
    fn delayed(&self) -> Vec<(usize, usize, usize, Time)> {
        self.delayed.clone()
    }

    /// The order of the run, for `Machine.run`.
    #[getter]
    fn order(&self, py: Python<'_>) -> Py<Order> {
        self.order.clone_ref(py)
    }

    /// The trace of the run, up to the failure.
    #[getter]
    fn trace(&self, py: Python<'_>) -> Py<Trace> {
        self.trace.clone_ref(py)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.error)?;
        visit.call(&self.order)
    }

    fn __clear__(&mut self) {
        self.error = None;
    }

    fn __str__(&self) -> &str {
        &self.sentence
    }
}
