//! The machine: its parameters and settings.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;

use loggp::params::Parameter;
use loggp::trace::Faults;
use loggp::{
    Capacity, Latency, Level, MessageId, Noise, PS, Params, ParamsBuilder, ParamsError, Ports, Protocol,
    Ties, TimeError, preset,
};
use loggp_command::FileMachine;
use pyo3::exceptions::{PyAttributeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict, PyInt, PyList, PyString};

use crate::Object;
use crate::check::{self, CheckReport};
use crate::error::file_error;
use crate::interned::intern;
use crate::number::count;
use crate::order::Order;
use crate::parameters::{Own, TIMED_WORK, listed, own, parameter, refused};
use crate::program::session::Session;
use crate::program::{Programs, refuse_no_program, run_error};
use crate::run::Run;
use crate::time::{read_time, time_text};

/// A parallel machine on which programs run.
///
/// Parameters have the papers' names. A bare number counts cycles (1 us by default), and a time may have a
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
    pub rendezvous: Protocol,
    pub noise: Option<Noise>,
    pub levels: Vec<Level>,
    /// A setting that schedules have not.
    not_of_schedules: Option<&'static str>,
    /// The settings that are no parameters, as text and numbers.
    others: Vec<(String, Py<PyAny>)>,
}

/// The default settings, in Python's form.
const USUAL: [(&str, &str); 8] = [
    ("ports", "'single'"),
    ("rendezvous", "'push'"),
    ("capacity", "'arrived'"),
    ("latency", "'exact'"),
    ("ties", "'number'"),
    ("noise", "None"),
    ("levels", "[]"),
    ("rates", "{}"),
];

/// The settings of a machine that are no parameters.
const SETTINGS: [&str; 9] =
    ["ports", "rendezvous", "capacity", "latency", "ties", "noise", "barrier", "levels", "rates"];

#[pymethods]
impl Machine {
    #[new]
    #[pyo3(signature = (P, **settings))]
    fn new(P: &Object<'_>, settings: Option<&Bound<'_, PyDict>>) -> PyResult<Machine> {
        let settings = MachineSettings::read(Some(P), settings)?;
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
        P: Option<&Object<'_>>,
        settings: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Machine> {
        let settings = MachineSettings::read(P, settings)?;
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
    /// (Machine(P=4, word=8, L='6 us', o='1 us', g='4 us', ports='dual'), {'ports': 'dual'})
    #[staticmethod]
    #[pyo3(signature = (path, *, P = None, **settings))]
    fn from_file(
        py: Python<'_>,
        path: PathBuf,
        P: Option<&Object<'_>>,
        settings: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Machine> {
        let refuse = |why: String| PyValueError::new_err(format!("{}: {why}", path.display()));
        File::open(&path).map_err(|why| file_error(&path, &why))?;
        let file = FileMachine::read(&path).map_err(refuse)?;
        let mut settings = MachineSettings::read(P, settings)?;
        let builder = settings.set_params(file.builder.clone())?;
        let params = builder.clone().build().map_err(|why| refuse(why.to_string()))?;
        let levels = file.levels(&params).map_err(refuse)?;
        let mut of_file = Vec::new();
        if let Some(ports) = file.ports {
            of_file.push(("ports".to_owned(), PyString::new(py, &ports.to_string()).into_any()));
        }
        if let Some(protocol) = file.rendezvous {
            of_file.push(("rendezvous".to_owned(), PyString::new(py, &protocol.to_string()).into_any()));
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
        let mut settings = MachineSettings::read(None, settings)?;
        let kept = self.others.iter().map(|(name, value)| (name.clone(), value.bind(py).clone()));
        settings.others.splice(0..0, kept);
        let params = settings.set_params(ParamsBuilder::from(*self.machine.params()))?;
        settings.finish(params)
    }

    /// Runs a program on every processor, and returns when all have finished.
    ///
    /// `trace=False` records no trace, which takes less time and much less memory. `order` is that of
    /// a failed check, and `formula` the time that the run should take: a time, or a function of the machine.
    /// With `until` the run ends at that time: a program that has not ended has the result None. Then messages may be
    /// left that nobody received, as with `allow_unreceived`. With `copy=True` every value is copied when it is sent, as
    /// between the processors of a real machine; else receivers get the object itself.
    ///
    /// Messages are named by their sender and their number among its messages, from 0 on: those of `lost` never
    /// arrive, and those of `twice`, a dict, arrive a second time so much later. A processor in `crashed`, a dict,
    /// does nothing any more from its message of that number on, and has the result None.
    ///
    /// >>> import loggp
    /// >>> def program(p):
    /// ...     if p.id == 0:
    /// ...         yield p.send(1, "datum", 42)
    /// ...     else:
    /// ...         value = yield p.recv("datum")
    /// ...         return value
    /// >>> run = loggp.Machine(P=2, L=6, o=2, g=4).run(program)
    /// >>> run.time, run.results
    /// (Time('10 us'), [None, 42])
    #[pyo3(signature = (
        program, *, trace = true, order = None, formula = None, until = None, allow_unreceived = false, copy = false,
        lost = None, twice = None, crashed = None
    ))]
    #[allow(clippy::too_many_arguments)] // as many as a run has
    fn run(
        slf: &Bound<'_, Machine>,
        program: Py<PyAny>,
        trace: bool,
        order: Option<&Bound<'_, Order>>,
        formula: Option<&Object<'_>>,
        until: Option<&Object<'_>>,
        allow_unreceived: bool,
        copy: bool,
        lost: Option<Vec<(usize, usize)>>,
        twice: Option<HashMap<(usize, usize), Object<'_>>>,
        crashed: Option<BTreeMap<usize, usize>>,
    ) -> PyResult<Run> {
        let (py, params) = (slf.py(), *slf.get().machine.params());
        refuse_no_program(program.bind(py))?;
        let formula = match formula {
            None => None,
            Some(formula) if formula.is_callable() => Some(read_time(&formula.call1((slf,))?, params.cycle)?),
            Some(time) => Some(read_time(time, params.cycle)?),
        };
        let mut machine = slf.get().machine.clone().trace(trace);
        if let Some(order) = order {
            machine = machine.order(&order.borrow().order);
        }
        if lost.is_some() || twice.is_some() || crashed.is_some() {
            machine = machine.faults(read_faults(&params, lost, twice, crashed)?);
        }
        let until = until.map(|until| read_time(until, params.cycle)).transpose()?;
        if let Some(until) = until.filter(|until| *until < loggp::Time::ZERO) {
            return Err(PyValueError::new_err(format!("a run until {until} cannot be; give 0 or more")));
        }
        machine = machine.ending(until, allow_unreceived);
        let programs = Programs::new(&program, Session::new(&machine, copy));
        let ran = machine.run_recorded(|p| programs.run(p));
        let ran = ran.map_err(|error| run_error(py, error, &programs));
        programs.close(py);
        Run::new(py, ran?, formula)
    }

    /// Runs a program under many orders of messages, and reduces a failure to the fewest late messages.
    ///
    /// `strategy` is one of mixed, random, late-few, few-changes, one-end, ties and systematic. `verify` gets
    /// the list of results, and raises an AssertionError or returns a sentence if they are wrong. `losses`,
    /// `duplicates` and `crashes` are the most messages that are lost or come twice and processors that crash in a run,
    /// and `seconds` the time after which no run is begun. `copy` is that of `run`.
    ///
    /// >>> import loggp
    /// >>> def program(p):
    /// ...     if p.id == 0:
    /// ...         first, _ = yield p.recv_with_sender("word")
    /// ...         second, _ = yield p.recv_with_sender("word")
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
        duplicates = 0, crashes = 0, audits = 50, seconds = None, copy = false
    ))]
    #[allow(clippy::too_many_arguments)] // as many as a check has
    fn check(
        &self,
        py: Python<'_>,
        program: Py<PyAny>,
        #[pyo3(from_py_with = count)] runs: usize,
        strategy: &str,
        #[pyo3(from_py_with = count)] seed: usize,
        verify: Option<Py<PyAny>>,
        results_may_differ: bool,
        #[pyo3(from_py_with = count)] losses: usize,
        #[pyo3(from_py_with = count)] duplicates: usize,
        #[pyo3(from_py_with = count)] crashes: usize,
        #[pyo3(from_py_with = count)] audits: usize,
        seconds: Option<f64>,
        copy: bool,
    ) -> PyResult<CheckReport> {
        refuse_no_program(program.bind(py))?;
        let settings = check::CheckSettings {
            runs,
            strategy: strategy.to_owned(),
            seed: seed as u64,
            results_may_differ,
            losses,
            duplicates,
            crashes,
            audits,
            seconds,
            copy,
        };
        check::check(py, self.machine.clone(), program, verify, settings)
    }

    fn __getattr__(&self, py: Python<'_>, name: &str) -> PyResult<Py<PyAny>> {
        parameter(py, self.machine.params(), name)?.ok_or_else(|| {
            PyAttributeError::new_err(format!(
                "a machine has no {name}; it has its parameters, run and check"
            ))
        })
    }

    /// The parameters that the machine has, by their names: `Machine(**machine.params, **machine.settings)` is the
    /// same machine.
    ///
    /// >>> import loggp
    /// >>> loggp.Machine(P=8, L=6, o=2, g=4, C=None).params
    /// {'P': 8, 'C': None, 'word': 8, 'L': Time('6 us'), 'o': Time('2 us'), 'g': Time('4 us')}
    #[getter]
    fn params<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        own(self.machine.params())
            .map(|(name, value)| Ok((name, value.into_object(py)?)))
            .collect::<PyResult<Vec<_>>>()?
            .into_py_dict(py)
    }

    /// The settings that are no parameters, by their names, as text and numbers.
    #[getter]
    fn settings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let settings = PyDict::new(py);
        for (name, value) in &self.others {
            let value = match value.bind(py).is_instance_of::<PyString>() {
                true => value.clone_ref(py),
                false => py.import("copy")?.call_method1("deepcopy", (value,))?.unbind(),
            };
            settings.set_item(name, value)?;
        }
        Ok(settings)
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<((), Bound<'py, PyDict>)> {
        let all = self.params(py)?;
        all.update(self.settings(py)?.as_mapping())?;
        Ok(((), all))
    }

    fn __eq__(&self, py: Python<'_>, other: &Object<'_>) -> PyResult<Py<PyAny>> {
        let Ok(other) = other.cast::<Machine>() else { return Ok(py.NotImplemented()) };
        let other = other.get();
        let is_same = self.machine.params() == other.machine.params() && self.set(py)? == other.set(py)?;
        Ok(is_same.into_pyobject(py)?.to_owned().into_any().unbind())
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        listed(self.machine.params()).hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let set = self.set(py)?.into_iter().map(|(name, value)| format!(", {name}={value}"));
        Ok(format!("Machine({}{})", listed(self.machine.params()), set.collect::<String>()))
    }
}

impl Machine {
    /// Returns the settings that differ from the default, by their names, in Python's form.
    fn set(&self, py: Python<'_>) -> PyResult<BTreeMap<&str, String>> {
        let mut set = BTreeMap::new();
        for (name, value) in &self.others {
            let form = value.bind(py).repr()?.to_string();
            set.insert(name.as_str(), form);
        }
        set.retain(|name, form| !USUAL.contains(&(*name, form)));
        Ok(set)
    }

    /// Returns the name of a setting that only runs of programs have, if there is one.
    pub fn setting_of_programs(&self) -> Option<&'static str> {
        self.not_of_schedules
    }
}

/// The settings of a machine, as a call gives them.
struct MachineSettings<'py> {
    /// The cycle, which bare numbers count.
    cycle: Option<loggp::Time>,
    params: Vec<(&'static Parameter, Bound<'py, PyAny>)>,
    others: Vec<(String, Bound<'py, PyAny>)>,
}

impl<'py> MachineSettings<'py> {
    fn read(
        P: Option<&Bound<'py, PyAny>>,
        given: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<MachineSettings<'py>> {
        let mut settings = MachineSettings { cycle: None, params: Vec::new(), others: Vec::new() };
        let named = given.into_iter().flat_map(|given| given.iter());
        let P = P.map(|P| (PyString::new(P.py(), "P").into_any(), P.clone()));
        for (name, value) in P.into_iter().chain(named) {
            let name: String = name.extract()?;
            if SETTINGS.contains(&name.as_str()) {
                settings.others.push((name, value));
            } else if let Some(parameter) = Parameter::by_name(&name) {
                settings.params.push((parameter, value));
            } else if name == Parameter::CYCLE.name {
                let text = time_text(&value, loggp::US)?;
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
        // What None says of S depends on the others.
        let (none, given): (Vec<_>, Vec<_>) = self.params.iter().partition(|(_, value)| value.is_none());
        for (parameter, value) in given.into_iter().chain(none) {
            let so_far = builder.so_far();
            let text = match value.is_none() {
                // A parameter that a machine does not have is None, and so is no limit.
                true if parameter.is_time() || parameter.is_loggps() && so_far.gps().is_none() => continue,
                true => "none".into(),
                false if parameter.is_time() => time_text(value, so_far.cycle)?,
                false => count_text(parameter.name, value)?,
            };
            builder = builder.set(&format!("{}={text}", parameter.name)).map_err(refused)?;
        }
        Ok(builder)
    }

    /// Sets the settings that are no parameters.
    fn finish(self, params: ParamsBuilder) -> PyResult<Machine> {
        let mut machine = loggp::Machine::new(params.build().map_err(refused)?).rate(TIMED_WORK, PS);
        let (mut ports, mut latency, mut ties) = (Ports::default(), Latency::default(), Ties::default());
        let (mut capacity, mut rendezvous) = (Capacity::default(), Protocol::default());
        let (mut noise, mut has_barrier, mut levels) = (None, false, Vec::new());
        let mut others: Vec<(String, Py<PyAny>)> = Vec::new();
        for (name, value) in self.others {
            let (py, cycle) = (value.py(), machine.params().cycle);
            others.retain(|(earlier, _)| *earlier != name);
            // Kept as text and numbers, which do not change.
            let mut kept = value.clone();
            let value = &value;
            machine = match name.as_str() {
                "ports" => {
                    ports = read_name(value)?;
                    machine.ports(ports)
                }
                "rendezvous" => {
                    rendezvous = read_name(value)?;
                    machine.rendezvous(rendezvous)
                }
                "capacity" => {
                    capacity = read_name(value)?;
                    machine.capacity(capacity)
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
                    let barrier = read_time(value, cycle)?;
                    kept = PyString::new(py, &barrier.to_string()).into_any();
                    machine.barrier(barrier)
                }
                "levels" => {
                    let read = value.try_iter()?.map(|level| read_level(&level?, machine.params()));
                    levels = read.collect::<PyResult<_>>()?;
                    let dicts: PyResult<Vec<_>> = levels.iter().map(|level| level_dict(py, level)).collect();
                    kept = PyList::new(py, dicts?)?.into_any();
                    machine.levels(levels.clone())
                }
                _ => {
                    let rates = read_rates(value, cycle)?;
                    let texts =
                        rates.iter().map(|(kind, unit)| (*kind, unit.to_string())).collect::<Vec<_>>();
                    kept = texts.into_py_dict(py)?.into_any();
                    rates.into_iter().fold(machine, |machine, (kind, unit)| machine.rate(kind, unit))
                }
            };
            others.push((name, kept.unbind()));
        }
        let not_of_schedules = [
            (latency.is_random(), "drawn latencies"),
            (ties != Ties::Number, "ties"),
            (capacity != Capacity::default(), "a capacity that counts otherwise than until messages arrive"),
            (has_barrier, "barrier"),
        ];
        let not_of_schedules = not_of_schedules.into_iter().find(|(is_set, _)| *is_set).map(|(_, name)| name);
        Ok(Machine { machine, ports, rendezvous, noise, levels, not_of_schedules, others })
    }
}

/// Reads the faults of a run.
fn read_faults(
    params: &Params,
    lost: Option<Vec<(usize, usize)>>,
    twice: Option<HashMap<(usize, usize), Object<'_>>>,
    crashed: Option<BTreeMap<usize, usize>>,
) -> PyResult<Faults> {
    let sender = |from: usize| match from < params.P {
        true => Ok(from),
        false => Err(PyValueError::new_err(format!(
            "there is no processor {from}; there are 0 to {}",
            params.P - 1
        ))),
    };
    let message = |(from, number)| PyResult::Ok(MessageId { from: sender(from)?, number });
    let later = |(id, later): ((usize, usize), Object<'_>)| match read_time(&later, params.cycle)? {
        time if time > loggp::Time::ZERO => Ok((message(id)?, time)),
        time => Err(PyValueError::new_err(format!(
            "a message cannot come a second time {time} after the first; give more than 0"
        ))),
    };
    let crash = |(id, number)| PyResult::Ok((sender(id)?, number));
    Ok(Faults {
        lost: lost.into_iter().flatten().map(message).collect::<PyResult<_>>()?,
        twice: twice.into_iter().flatten().map(later).collect::<PyResult<_>>()?,
        crashed: crashed.into_iter().flatten().map(crash).collect::<PyResult<_>>()?,
        ..Faults::default()
    })
}

/// Reads a setting by its name.
fn read_name<T: std::str::FromStr<Err = ParamsError>>(value: &Object<'_>) -> PyResult<T> {
    let Ok(name) = value.cast::<PyString>() else {
        return Err(PyTypeError::new_err(format!("{} is no name of a setting; give text", value.repr()?)));
    };
    name.to_str()?.parse().map_err(refused)
}

/// Returns the text of a count.
fn count_text(name: &str, value: &Object<'_>) -> PyResult<String> {
    if value.cast::<PyInt>().is_ok() || value.cast::<PyString>().is_ok() || value.hasattr("__index__")? {
        return Ok(value.str()?.to_str()?.to_owned());
    }
    Err(PyValueError::new_err(format!("{name} = {} is not a number; give a whole one", value.repr()?)))
}

/// Reads a level: its parameters, of which P is the number of processors in a group, its ports, and whether
/// it has one port.
fn read_level(level: &Object<'_>, machine: &Params) -> PyResult<Level> {
    let Ok(level) = level.cast::<PyDict>() else {
        let sentence = format!("{} is no level; give a dict such as dict(P=4, L=1, o=1, g=1)", level.repr()?);
        return Err(PyTypeError::new_err(sentence));
    };
    let mut settings = MachineSettings::read(None, Some(&level.copy()?.without("one_port")?))?;
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
    for (name, value) in own(&level.params).filter(|(name, _)| !["word", "cycle"].contains(name)) {
        match value {
            Own::Time(time) => described.set_item(name, time.to_string())?,
            Own::Count(count) => described.set_item(name, count)?,
        }
    }
    if level.ports != Ports::default() {
        described.set_item("ports", level.ports.to_string())?;
    }
    if level.one_port {
        described.set_item("one_port", true)?;
    }
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

/// Reads the costs of a unit of each kind of work.
fn read_rates(rates: &Object<'_>, cycle: loggp::Time) -> PyResult<Vec<(&'static str, loggp::Time)>> {
    let Ok(rates) = rates.cast::<PyDict>() else {
        let sentence = format!("{} are no rates; give a dict such as {{\"add\": \"50ns\"}}", rates.repr()?);
        return Err(PyTypeError::new_err(sentence));
    };
    let read = rates.iter().map(|(kind, unit)| {
        let kind: String = kind.extract()?;
        if kind == TIMED_WORK {
            let sentence = format!("the kind of work {kind:?} is that of p.work(time); name yours otherwise");
            return Err(PyValueError::new_err(sentence));
        }
        Ok((intern(&kind), read_time(&unit, cycle)?))
    });
    read.collect()
}
