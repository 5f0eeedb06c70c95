//! The machine: its parameters and settings.

use std::fs::File;
use std::path::PathBuf;

use loggp::params::Parameter;
use loggp::{Latency, Level, Noise, PS, Params, ParamsBuilder, ParamsError, Ports, Ties, TimeError, preset};
use loggp_command::FileMachine;
use pyo3::exceptions::{PyAttributeError, PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyList, PyString};

use crate::check::{self, CheckReport};
use crate::interned::intern;
use crate::order::Order;
use crate::parameters::{TIMED_WORK, listed, own_times, parameter, refused};
use crate::program::{Programs, run_error};
use crate::run::Run;
use crate::session::Session;
use crate::time::{Time, read_time, time_text};

/// A parallel machine on which programs run.
///
/// Parameters have the papers' names. A bare number counts cycles (1 us unless told), and a time may have a
/// unit.
///
/// >>> import loggp
/// >>> machine = loggp.Machine(P=8, L=6, o="2us", g=4 * loggp.US)
/// >>> machine.L, machine.P
/// (Time('6 us'), 8)
#[pyclass(frozen, module = "loggp")]
pub struct Machine {
    pub machine: loggp::Machine,
    pub ports: Ports,
    pub noise: Option<Noise>,
    pub levels: Vec<Level>,
    /// A setting that schedules have not.
    not_of_schedules: Option<&'static str>,
    /// The settings that are no parameters, as they were given.
    others: Vec<(String, Py<PyAny>)>,
}

/// The settings of a machine that are no parameters.
const SETTINGS: [&str; 7] = ["ports", "latency", "ties", "noise", "barrier", "levels", "rates"];

#[pymethods]
impl Machine {
    #[new]
    #[pyo3(signature = (P, **settings))]
    fn new(P: &Bound<'_, PyAny>, settings: Option<&Bound<'_, PyDict>>) -> PyResult<Machine> {
        let settings = Settings::read(Some(P), settings)?;
        let params = settings.set_params(Params::builder(0))?;
        settings.finish(params)
    }

    /// Returns a machine of the papers. What a paper leaves open must be given, and what it gives may be
    /// changed.
    ///
    /// >>> import loggp
    /// >>> loggp.Machine.preset("cs2-elan", P=64).g
    /// Time('13.8 us')
    #[staticmethod]
    #[pyo3(name = "preset", signature = (name, *, P = None, **settings))]
    fn from_preset(
        name: &str,
        P: Option<&Bound<'_, PyAny>>,
        settings: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Machine> {
        let settings = Settings::read(P, settings)?;
        let params = settings.set_params(preset(name).map_err(refused)?.builder())?;
        settings.finish(params)
    }

    /// Returns the machine that a file describes, with its ports and levels: one that `loggp machines` and
    /// `loggp calibrate` write, or by hand. What it leaves open must be given, and what it gives may be changed.
    ///
    /// >>> import loggp, pathlib
    /// >>> file = pathlib.Path("lab.json")
    /// >>> _ = file.write_text('{"params": {"P": 4, "L": "6us", "o": "2us", "g": "4us"}, "ports": "dual"}')
    /// >>> machine = loggp.Machine.from_file(file, o=1)
    /// >>> machine, machine.settings
    /// (Machine(P=4, word=8, L='6 us', o='1 us', g='4 us'), {'ports': 'dual'})
    #[staticmethod]
    #[pyo3(signature = (path, *, P = None, **settings))]
    fn from_file(
        py: Python<'_>,
        path: PathBuf,
        P: Option<&Bound<'_, PyAny>>,
        settings: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Machine> {
        let refuse = |why: String| PyValueError::new_err(format!("{}: {why}", path.display()));
        File::open(&path).map_err(|why| PyOSError::new_err(format!("{}: {why}", path.display())))?;
        let file = FileMachine::read(&path).map_err(refuse)?;
        let mut settings = Settings::read(P, settings)?;
        let builder = settings.set_params(file.builder.clone())?;
        let params = builder.clone().build().map_err(|why| refuse(why.to_string()))?;
        let levels = file.levels(&params).map_err(refuse)?;
        let mut of_file = Vec::new();
        if let Some(ports) = file.ports {
            of_file.push(("ports".to_owned(), PyString::new(py, &ports.to_string()).into_any()));
        }
        if !levels.is_empty() {
            let levels: PyResult<Vec<_>> = levels.iter().map(|level| level_dict(py, level)).collect();
            of_file.push(("levels".to_owned(), PyList::new(py, levels?)?.into_any()));
        }
        settings.others.splice(0..0, of_file);
        settings.finish(builder)
    }

    /// Returns the same machine with other parameters or settings.
    ///
    /// >>> import loggp
    /// >>> loggp.Machine(P=8, L=6, o=2, g=4).replace(L=60).L
    /// Time('60 us')
    #[pyo3(signature = (**settings))]
    fn replace(&self, py: Python<'_>, settings: Option<&Bound<'_, PyDict>>) -> PyResult<Machine> {
        let mut settings = Settings::read(None, settings)?;
        let kept = self.others.iter().map(|(name, value)| (name.clone(), value.bind(py).clone()));
        settings.others.splice(0..0, kept);
        let params = settings.set_params(ParamsBuilder::from(*self.machine.params()))?;
        settings.finish(params)
    }

    /// Runs a program on every processor, and returns when all have finished.
    ///
    /// `trace=False` records no trace, which takes less time and much less memory. `order` is that of
    /// a failed check, and `formula` the time that the run should take: a time, or a function of the machine.
    ///
    /// >>> import loggp
    /// >>> def program(p):
    /// ...     if p.id == 0:
    /// ...         yield p.send(1, "datum", 42)
    /// ...     else:
    /// ...         sender, value = yield p.recv("datum")
    /// ...         return value
    /// >>> run = loggp.Machine(P=2, L=6, o=2, g=4).run(program)
    /// >>> run.time, run.results
    /// (Time('10 us'), [None, 42])
    #[pyo3(signature = (program, *, trace = true, order = None, formula = None))]
    fn run(
        slf: &Bound<'_, Machine>,
        program: Py<PyAny>,
        trace: bool,
        order: Option<&Bound<'_, Order>>,
        formula: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Run> {
        let (py, params) = (slf.py(), *slf.get().machine.params());
        let formula = match formula {
            None => None,
            Some(formula) if formula.is_callable() => Some(read_time(&formula.call1((slf,))?, params.cycle)?),
            Some(time) => Some(read_time(time, params.cycle)?),
        };
        let mut machine = slf.get().machine.clone().trace(trace);
        if let Some(order) = order {
            machine = machine.order(&order.get().0);
        }
        let programs = Programs::new(&program, Session::new(&machine));
        let ran = machine.run_recorded(|p| programs.run(p));
        let ran = ran.map_err(|error| run_error(py, error, &programs));
        programs.close(py);
        Run::new(py, ran?, formula)
    }

    /// Runs a program under many orders of messages, and reduces a failure to the fewest late messages.
    ///
    /// `strategy` is one of mixed, random, late-few, few-changes, one-end, ties and systematic. `verify` gets
    /// the list of results, and raises an AssertionError or returns a sentence if they are wrong. `losses`
    /// and `crashes` are the most messages that are lost and processors that crash in a run, and `seconds`
    /// the time after which no run is begun.
    ///
    /// >>> import loggp
    /// >>> def program(p):
    /// ...     if p.id == 0:
    /// ...         first, _ = yield p.recv("word")
    /// ...         second, _ = yield p.recv("word")
    /// ...         return first, second
    /// ...     yield p.send(0, "word")
    /// >>> machine = loggp.Machine(P=3, L=6, o=1, g=1)
    /// >>> report = machine.check(program, runs=100)
    /// >>> report.failure.delayed
    /// [(1, 0, 0, Time('6 us'))]
    /// >>> machine.run(program, order=report.failure.order).results[0]
    /// (2, 1)
    #[pyo3(signature = (
        program, *, runs = 1000, strategy = "mixed", seed = 1, verify = None, results_may_differ = false, losses = 0,
        crashes = 0, audits = 50, seconds = None
    ))]
    #[allow(clippy::too_many_arguments)] // as many as a check has
    fn check(
        &self,
        py: Python<'_>,
        program: Py<PyAny>,
        runs: usize,
        strategy: &str,
        seed: u64,
        verify: Option<Py<PyAny>>,
        results_may_differ: bool,
        losses: usize,
        crashes: usize,
        audits: usize,
        seconds: Option<f64>,
    ) -> PyResult<CheckReport> {
        let strategy = strategy.to_owned();
        let settings =
            check::Settings { runs, strategy, seed, results_may_differ, losses, crashes, audits, seconds };
        check::check(py, self.machine.clone(), program, verify, settings)
    }

    fn __getattr__(&self, py: Python<'_>, name: &str) -> PyResult<Py<PyAny>> {
        parameter(py, self.machine.params(), name)?.ok_or_else(|| {
            PyAttributeError::new_err(format!(
                "a machine has no {name}; it has its parameters, run and check"
            ))
        })
    }

    /// The settings that are no parameters, as they were given.
    #[getter]
    fn settings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let settings = PyDict::new(py);
        self.others.iter().try_for_each(|(name, value)| settings.set_item(name, value))?;
        Ok(settings)
    }

    fn __repr__(&self) -> String {
        format!("Machine({})", listed(self.machine.params()))
    }
}

impl Machine {
    /// Returns the name of a setting that only runs of programs have, if there is one.
    pub fn setting_of_programs(&self) -> Option<&'static str> {
        self.not_of_schedules
    }
}

/// The settings of a machine, as a call gives them.
struct Settings<'py> {
    /// The cycle, which bare numbers count.
    cycle: Option<loggp::Time>,
    /// Parameters as text.
    params: Vec<String>,
    others: Vec<(String, Bound<'py, PyAny>)>,
}

impl<'py> Settings<'py> {
    fn read(P: Option<&Bound<'py, PyAny>>, given: Option<&Bound<'py, PyDict>>) -> PyResult<Settings<'py>> {
        let mut settings = Settings { cycle: None, params: Vec::new(), others: Vec::new() };
        let named = given.into_iter().flat_map(|given| given.iter());
        let P = P.map(|P| (PyString::new(P.py(), "P").into_any(), P.clone()));
        for (name, value) in P.into_iter().chain(named) {
            let name: String = name.extract()?;
            if SETTINGS.contains(&name.as_str()) {
                settings.others.push((name, value));
            } else if let Some(parameter) = Parameter::by_name(&name) {
                let text = if parameter.is_time() { time_text(&value)? } else { count_text(&name, &value)? };
                settings.params.push(format!("{name}={text}"));
            } else if name == Parameter::CYCLE.name {
                let text = time_text(&value)?;
                let refuse = |why: TimeError| PyValueError::new_err(format!("cycle = {text}: {why}"));
                settings.cycle = Some(text.parse().map_err(refuse)?);
            } else {
                let (params, settings) = (Parameter::names(), SETTINGS.join(", "));
                let sentence =
                    format!("{name} is nothing of a machine; it has the parameters {params}, and {settings}");
                return Err(PyTypeError::new_err(sentence));
            }
        }
        Ok(settings)
    }

    fn set_params(&self, mut builder: ParamsBuilder) -> PyResult<ParamsBuilder> {
        if let Some(cycle) = self.cycle {
            builder = builder.cycle(cycle);
        }
        self.params.iter().try_fold(builder, |builder, text| builder.set(text)).map_err(refused)
    }

    /// Sets the settings that are no parameters.
    fn finish(self, params: ParamsBuilder) -> PyResult<Machine> {
        let mut machine = loggp::Machine::new(params.build().map_err(refused)?).rate(TIMED_WORK, PS);
        let (mut ports, mut latency, mut ties) = (Ports::default(), Latency::default(), Ties::default());
        let (mut noise, mut has_barrier, mut levels) = (None, false, Vec::new());
        for (name, value) in &self.others {
            let cycle = machine.params().cycle;
            machine = match name.as_str() {
                "ports" => {
                    ports = read_name(value)?;
                    machine.ports(ports)
                }
                "latency" => {
                    latency = read_name(value)?;
                    machine.latency(latency)
                }
                "ties" => {
                    ties = read_name(value)?;
                    machine.ties(ties)
                }
                "noise" => {
                    noise = if value.is_none() { None } else { Some(read_name::<Noise>(value)?) };
                    machine.noise(noise.clone())
                }
                "barrier" => {
                    has_barrier = true;
                    machine.barrier(read_time(value, cycle)?)
                }
                "levels" => {
                    let read = value.try_iter()?.map(|level| read_level(&level?, machine.params()));
                    levels = read.collect::<PyResult<_>>()?;
                    machine.levels(levels.clone())
                }
                _ => set_rates(machine, value)?,
            };
        }
        let not_of_schedules = [
            (latency.is_random(), "drawn latencies"),
            (ties != Ties::Number, "ties"),
            (has_barrier, "barrier"),
        ];
        let not_of_schedules = not_of_schedules.into_iter().find(|(is_set, _)| *is_set).map(|(_, name)| name);
        let others = self.others.into_iter().map(|(name, value)| (name, value.unbind())).collect();
        Ok(Machine { machine, ports, noise, levels, not_of_schedules, others })
    }
}

/// Reads a setting by its name.
fn read_name<T: std::str::FromStr<Err = ParamsError>>(value: &Bound<'_, PyAny>) -> PyResult<T> {
    let Ok(name) = value.cast::<PyString>() else {
        return Err(PyTypeError::new_err(format!("{} is no name of a setting; give text", value.repr()?)));
    };
    name.to_str()?.parse().map_err(refused)
}

/// Returns the text of a count.
fn count_text(name: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    if value.cast::<PyInt>().is_ok() || value.cast::<PyString>().is_ok() || value.hasattr("__index__")? {
        return Ok(value.str()?.to_str()?.to_owned());
    }
    if value.is_none() {
        return Ok("none".into());
    }
    Err(PyValueError::new_err(format!("{name} = {} is not a number; give a whole one", value.repr()?)))
}

/// Reads a level: its parameters, of which P is the number of processors in a group, its ports, and whether
/// it has one port.
fn read_level(level: &Bound<'_, PyAny>, machine: &Params) -> PyResult<Level> {
    let Ok(level) = level.cast::<PyDict>() else {
        let sentence = format!("{} is no level; give a dict such as dict(P=4, L=1, o=1, g=1)", level.repr()?);
        return Err(PyTypeError::new_err(sentence));
    };
    let mut settings = Settings::read(None, Some(&level.copy()?.without("one_port")?))?;
    let ports = match settings.others.pop() {
        None => Ports::default(),
        Some((name, value)) if name == "ports" && settings.others.is_empty() => read_name(&value)?,
        Some((name, _)) => {
            return Err(PyTypeError::new_err(format!(
                "a level has no {name}; it has parameters, ports and one_port"
            )));
        }
    };
    let params = settings.set_params(Params::builder(0).cycle(machine.cycle).word(machine.word.get()))?;
    let one_port = level.get_item("one_port")?.map(|one| one.is_truthy()).transpose()?.unwrap_or_default();
    Ok(Level::new(params.build().map_err(refused)?).ports(ports).one_port(one_port))
}

/// Returns a level as a dict, which [`read_level`] reads.
fn level_dict<'py>(py: Python<'py>, level: &Level) -> PyResult<Bound<'py, PyDict>> {
    let described = PyDict::new(py);
    for (name, count) in level.params.counts().filter(|(name, _)| *name != "word") {
        described.set_item(name, count)?;
    }
    for (name, time) in own_times(&level.params) {
        described.set_item(name, Time(time))?;
    }
    described.set_item("ports", level.ports.to_string())?;
    described.set_item("one_port", level.one_port)?;
    Ok(described)
}

/// Removes a key.
trait Without<'py>: Sized {
    fn without(self, key: &str) -> PyResult<Bound<'py, PyDict>>;
}

impl<'py> Without<'py> for Bound<'py, PyDict> {
    fn without(self, key: &str) -> PyResult<Bound<'py, PyDict>> {
        if self.contains(key)? {
            self.del_item(key)?;
        }
        Ok(self)
    }
}

/// Sets the costs of a unit of each kind of work.
fn set_rates(machine: loggp::Machine, rates: &Bound<'_, PyAny>) -> PyResult<loggp::Machine> {
    let Ok(rates) = rates.cast::<PyDict>() else {
        let sentence = format!("{} are no rates; give a dict such as {{\"add\": \"50ns\"}}", rates.repr()?);
        return Err(PyTypeError::new_err(sentence));
    };
    let cycle = machine.params().cycle;
    rates.iter().try_fold(machine, |machine, (kind, unit)| {
        let kind: String = kind.extract()?;
        if kind == TIMED_WORK {
            let sentence = format!("the kind of work {kind:?} is that of p.work(time); name yours otherwise");
            return Err(PyValueError::new_err(sentence));
        }
        Ok(machine.rate(intern(&kind), read_time(&unit, cycle)?))
    })
}
