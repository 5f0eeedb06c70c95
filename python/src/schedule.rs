//! Schedules: sends, receives and computations of ranks without a program.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use loggp::params::LeveledParams;
use loggp::schedule::{
    CostModel, Operation, PlacedOperation, PlayReport, Player, Requirement, Schedule as Built,
    ScheduleBuilder, ScheduleError,
};
use loggp_goal as goal;
use parking_lot::Mutex;
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::{PyBytes, PyTuple};

use crate::Object;
use crate::columns::{Columns, Elements, Numbers, column, common_length, elements, look_for_signals};
use crate::error::{file_error, run_error};
use crate::interruptible::{Stop, Stopping, interruptible, interruptible_if};
use crate::machine::Machine;
use crate::number::count;
use crate::parameters::refused;
use crate::time::{Time, read_time};
use crate::trace::Trace;

/// A schedule of the sends, receives and computations of P ranks, each of which may wait for others of its
/// rank.
///
/// Each function takes numbers or arrays: with arrays it adds many operations at once. It gives the numbers
/// of the operations in their ranks, which `requires` takes. A bare number of time counts cycles, of 1 us
/// by default.
///
/// >>> import loggp
/// >>> schedule = loggp.Schedule(2)
/// >>> schedule.send(0, to=1, bytes=8)
/// 0
/// >>> receive = schedule.recv(1, source=0, bytes=8)
/// >>> compute = schedule.calc(1, 5)
/// >>> schedule.requires(1, compute, receive)
/// >>> schedule.play(loggp.Machine(P=2, L=6, o=2, g=4)).time
/// Time('15 us')
#[pyclass(frozen, module = "loggp")]
pub struct Schedule {
    P: usize,
    cycle: loggp::Time,
    draft: Arc<Mutex<Draft>>,
}

/// A schedule that grows, or one that is complete, or both.
#[derive(Default)]
struct Draft {
    /// The operations and requirements of each rank; `None` if only the complete schedule is there.
    ranks: Option<Vec<Rank>>,
    built: Option<Arc<Built>>,
}

#[derive(Clone, Default)]
struct Rank {
    operations: Vec<PlacedOperation>,
    requirements: Vec<Requirement>,
}

/// The result of playing a schedule.
#[pyclass(frozen, module = "loggp")]
pub struct Play {
    report: PlayReport,
    ranks: usize,
    trace: Option<Py<Trace>>,
}

impl Draft {
    /// Returns the ranks, to add to them. What was built before is built again.
    fn ranks(&mut self, P: usize) -> &mut Vec<Rank> {
        let built = self.built.take();
        self.ranks.get_or_insert_with(|| match built {
            None => vec![Rank::default(); P],
            Some(built) => (0..P)
                .map(|rank| Rank {
                    operations: built.operations(rank).collect(),
                    requirements: built.requirements_of(rank).collect(),
                })
                .collect(),
        })
    }

    /// Returns the complete schedule.
    fn build(&mut self, P: usize) -> Result<Arc<Built>, ScheduleError> {
        if let Some(built) = &self.built {
            return Ok(built.clone());
        }
        let mut builder = ScheduleBuilder::new(P)?;
        for (number, rank) in self.ranks.iter().flatten().enumerate() {
            builder.begin_rank(number)?;
            rank.operations.iter().try_for_each(|operation| builder.add_placed(*operation).map(drop))?;
            rank.requirements.iter().try_for_each(|requirement| builder.require(*requirement))?;
        }
        let built = Arc::new(builder.build()?);
        self.built = Some(built.clone());
        Ok(built)
    }
}

fn invalid(why: impl ToString) -> PyErr {
    PyValueError::new_err(why.to_string())
}

/// Returns a number as one of a smaller type.
fn small<T: TryFrom<i64>>(number: i64, name: &str) -> PyResult<T> {
    T::try_from(number)
        .map_err(|_| invalid(format!("{name} = {number} cannot be; give 0 or more, and less than 2^32")))
}

impl Schedule {
    fn with_built(built: Built, cycle: loggp::Time) -> Schedule {
        let P = built.ranks();
        let draft = Draft { ranks: None, built: Some(Arc::new(built)) };
        Schedule { P, cycle, draft: Arc::new(Mutex::new(draft)) }
    }

    /// Does something with the complete schedule, until Ctrl-C ends it.
    fn with_complete<T: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Built, &Stop) -> T + Send + 'static,
    ) -> PyResult<T> {
        /// The most operations with which it takes some milliseconds.
        const FEW: usize = 1 << 14;
        let (draft, P) = (self.draft.clone(), self.P);
        let done = interruptible_if(py, self.__len__() > FEW, move |stop| {
            let built = draft.lock().build(P)?;
            Ok::<T, ScheduleError>(work(&built, stop))
        });
        done?.map_err(invalid)
    }

    /// Adds an operation, or one for each number. Returns their numbers in their ranks.
    fn add<'py>(
        &self,
        py: Python<'py>,
        ranks: &Numbers,
        others: &[(&str, &Numbers)],
        of: impl Fn(usize) -> PyResult<Operation>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let all: Vec<_> = std::iter::once(("rank", ranks)).chain(others.iter().copied()).collect();
        let length = common_length(&all)?;
        // All or nothing: what is wrong is found before anything is added.
        for place in 0..length.unwrap_or(1) {
            look_for_signals(py, place)?;
            self.rank(ranks.at(place))?;
            of(place)?;
        }
        let mut draft = self.draft.lock();
        let drafted = draft.ranks(self.P);
        let mut add = |place: usize| {
            let rank = self.rank(ranks.at(place))?;
            let own = &mut drafted[rank].operations;
            own.push(PlacedOperation { operation: of(place)?, cpu: 0, nic: 0 });
            PyResult::Ok(own.len() as i64 - 1)
        };
        match length {
            None => add(0)?.into_bound_py_any(py),
            Some(length) => {
                let numbers: Vec<i64> = (0..length).map(add).collect::<PyResult<_>>()?;
                drop(draft); // other threads may run while Python looks for signals
                Ok(column(py, length, numbers.into_iter())?.into_bound(py))
            }
        }
    }

    fn rank(&self, rank: i64) -> PyResult<usize> {
        let found = usize::try_from(rank).ok().filter(|rank| *rank < self.P);
        found.ok_or_else(|| invalid(format!("there is no rank {rank}; there are ranks 0 to {}", self.P - 1)))
    }

    /// Reads times, in ps.
    fn times(&self, times: &Object<'_>) -> PyResult<Numbers> {
        if let Ok(time) = read_time(times, self.cycle) {
            return Ok(Numbers::One(time.as_ps()));
        }
        if times.extract::<&str>().is_ok() || times.extract::<f64>().is_ok() {
            read_time(times, self.cycle)?; // says what is wrong
        }
        if let Ok(Elements::Whole(cycles)) = elements(times, "time") {
            return Ok(Numbers::Each(
                cycles.into_iter().map(|cycles| (cycles * self.cycle).as_ps()).collect(),
            ));
        }
        if let Ok(Elements::Real(cycles)) = elements(times, "time") {
            let ps = self.cycle.as_ps() as f64;
            return Ok(Numbers::Each(
                cycles.into_iter().map(|cycles| (cycles * ps).round() as i64).collect(),
            ));
        }
        let times: PyResult<Vec<i64>> =
            times.try_iter()?.map(|time| Ok(read_time(&time?, self.cycle)?.as_ps())).collect();
        Ok(Numbers::Each(times?))
    }
}

/// Reads a tag or a sender: `None` is any.
fn read_or_any(numbers: Option<&Object<'_>>, name: &str) -> PyResult<Option<Numbers>> {
    numbers.map(|numbers| Numbers::read(numbers, name)).transpose()
}

#[pymethods]
impl Schedule {
    #[new]
    #[pyo3(signature = (P, *, cycle = None))]
    fn new(#[pyo3(from_py_with = count)] P: usize, cycle: Option<&Object<'_>>) -> PyResult<Schedule> {
        ScheduleBuilder::new(P).map_err(invalid)?;
        let cycle = cycle.map_or(Ok(loggp::US), |cycle| read_time(cycle, loggp::US))?;
        Ok(Schedule { P, cycle, draft: Arc::default() })
    }

    /// Reads a schedule in GOAL, as text or in binary form, from a file. `unit` is the length of a unit of
    /// `calc`.
    #[staticmethod]
    #[pyo3(signature = (path, *, unit = None))]
    fn read(py: Python<'_>, path: PathBuf, unit: Option<&Object<'_>>) -> PyResult<Schedule> {
        let unit = unit.map_or(Ok(loggp::NS), |unit| read_time(unit, loggp::US))?;
        let file = File::open(&path).map_err(|why| file_error(&path, &why))?;
        let read = interruptible(py, move |stop| goal::read(Stopping::new(file, stop), unit))?;
        let built = read.map_err(|why| invalid(format!("{}: {why}", path.display())))?;
        Ok(Schedule::with_built(built, loggp::US))
    }

    /// Reads a schedule in GOAL from text or bytes.
    ///
    /// >>> import loggp
    /// >>> schedule = loggp.Schedule.from_goal("num_ranks 2 rank 0 { send 8b to 1 tag 5 } rank 1 { recv 8b from 0 tag 5 }")
    /// >>> schedule.P, len(schedule)
    /// (2, 2)
    #[staticmethod]
    #[pyo3(signature = (goal, *, unit = None))]
    fn from_goal(py: Python<'_>, goal: &Object<'_>, unit: Option<&Object<'_>>) -> PyResult<Schedule> {
        let unit = unit.map_or(Ok(loggp::NS), |unit| read_time(unit, loggp::US))?;
        // They are read where they are.
        let bytes: Box<dyn AsRef<[u8]> + Send> = match goal.extract::<PyBackedStr>() {
            Ok(text) => Box::new(text),
            Err(_) => Box::new(
                goal.extract::<PyBackedBytes>()
                    .map_err(|_| PyTypeError::new_err("give GOAL as text or bytes"))?,
            ),
        };
        /// The most bytes that are read in some milliseconds.
        const FEW: usize = 1 << 18;
        let is_long = (*bytes).as_ref().len() > FEW;
        let read = move |stop: &Stop| goal::read(Stopping::new((*bytes).as_ref(), stop), unit);
        let built = interruptible_if(py, is_long, read)?.map_err(invalid)?;
        Ok(Schedule::with_built(built, loggp::US))
    }

    #[staticmethod]
    fn _restore(py: Python<'_>, goal: &Object<'_>, cycle: Time) -> PyResult<Schedule> {
        let unit = Bound::new(py, Time(loggp::PS))?.into_any();
        Ok(Schedule { cycle: cycle.0, ..Schedule::from_goal(py, goal, Some(&unit))? })
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let unit = Bound::new(py, Time(loggp::PS))?.into_any();
        let goal = self.to_goal(py, Some(&unit))?;
        (py.get_type::<Schedule>().getattr("_restore")?, (goal, Time(self.cycle))).into_pyobject(py)
    }

    /// Returns the schedule as text in GOAL.
    #[pyo3(signature = (*, unit = None))]
    fn to_goal(&self, py: Python<'_>, unit: Option<&Object<'_>>) -> PyResult<String> {
        let unit = unit.map_or(Ok(loggp::NS), |unit| read_time(unit, loggp::US))?;
        let text = self.with_complete(py, move |built, stop| {
            let mut text = Stopping::new(Vec::new(), stop);
            goal::write(built, &mut text, unit).map(|()| text.inner)
        });
        String::from_utf8(text?.map_err(invalid)?).map_err(invalid)
    }

    /// Returns the schedule in GOAL's binary form, which LogGOPSim takes.
    #[pyo3(signature = (*, unit = None))]
    fn to_binary_goal(&self, py: Python<'_>, unit: Option<&Object<'_>>) -> PyResult<Py<PyBytes>> {
        let unit = unit.map_or(Ok(loggp::NS), |unit| read_time(unit, loggp::US))?;
        let bytes = self.with_complete(py, move |built, stop| {
            let mut bytes = Stopping::new(Vec::new(), stop);
            goal::write_binary(built, &mut bytes, unit).map(|()| bytes.inner)
        });
        Ok(PyBytes::new(py, &bytes?.map_err(invalid)?).unbind())
    }

    /// Writes the schedule to a file, in GOAL as text, or in binary form.
    #[pyo3(signature = (path, *, unit = None, binary = false))]
    fn write(&self, py: Python<'_>, path: PathBuf, unit: Option<&Object<'_>>, binary: bool) -> PyResult<()> {
        let unit = unit.map_or(Ok(loggp::NS), |unit| read_time(unit, loggp::US))?;
        let to = path.clone();
        let written = self.with_complete(py, move |built, stop| {
            stop.write(&to, |file| match binary {
                true => goal::write_binary(built, file, unit),
                false => goal::write(built, file, unit),
            })
        });
        written?.map_err(|why| file_error(&path, &why))
    }

    /// The number of ranks.
    #[getter]
    fn P(&self) -> usize {
        self.P
    }

    /// The number of operations.
    fn __len__(&self) -> usize {
        let draft = self.draft.lock();
        match (&draft.ranks, &draft.built) {
            (Some(ranks), _) => ranks.iter().map(|rank| rank.operations.len()).sum(),
            (None, built) => built.as_ref().map_or(0, |built| built.len()),
        }
    }

    /// Adds a send of `bytes` bytes to rank `to`.
    #[pyo3(signature = (rank, to, bytes, tag = None))]
    fn send<'py>(
        &self,
        rank: &Bound<'py, PyAny>,
        to: &Bound<'py, PyAny>,
        bytes: &Bound<'py, PyAny>,
        tag: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (ranks, to) = (Numbers::read(rank, "rank")?, Numbers::read(to, "to")?);
        let bytes = Numbers::read(bytes, "bytes")?;
        let tags = tag.map_or(Ok(Numbers::One(0)), |tag| Numbers::read(tag, "tag"))?;
        self.add(rank.py(), &ranks, &[("to", &to), ("bytes", &bytes), ("tag", &tags)], |place| {
            let (to, tag) = (self.rank(to.at(place))? as u32, small(tags.at(place), "tag")?);
            Ok(Operation::Send { to, bytes: length(bytes.at(place))?, tag })
        })
    }

    /// Adds a receive from rank `source`, or of any, and with a tag, or with any.
    #[pyo3(signature = (rank, source = None, bytes = None, tag = None))]
    fn recv<'py>(
        &self,
        rank: &Bound<'py, PyAny>,
        source: Option<&Bound<'py, PyAny>>,
        bytes: Option<&Bound<'py, PyAny>>,
        tag: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let ranks = Numbers::read(rank, "rank")?;
        let (sources, tags) = (read_or_any(source, "source")?, read_or_any(tag, "tag")?);
        let bytes = bytes.map_or(Ok(Numbers::One(1)), |bytes| Numbers::read(bytes, "bytes"))?;
        let mut others = vec![("bytes", &bytes)];
        others.extend(sources.as_ref().map(|sources| ("source", sources)));
        others.extend(tags.as_ref().map(|tags| ("tag", tags)));
        self.add(rank.py(), &ranks, &others, |place| {
            let from = sources.as_ref().map(|sources| Ok::<_, PyErr>(self.rank(sources.at(place))? as u32));
            let tag = tags.as_ref().map(|tags| small(tags.at(place), "tag"));
            Ok(Operation::Recv {
                from: from.transpose()?,
                bytes: length(bytes.at(place))?,
                tag: tag.transpose()?,
            })
        })
    }

    /// Adds a computation.
    fn calc<'py>(&self, rank: &Bound<'py, PyAny>, time: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let (ranks, times) = (Numbers::read(rank, "rank")?, self.times(time)?);
        self.add(rank.py(), &ranks, &[("time", &times)], |place| {
            match loggp::Time::from_ps(times.at(place)) {
                time if time >= loggp::Time::ZERO => Ok(Operation::Calc(time)),
                time => Err(invalid(format!("a computation of {time} cannot be; give 0 or more"))),
            }
        })
    }

    /// Makes operation `later` of a rank wait until its operation `earlier` is done, or with `begun=True` has
    /// begun.
    #[pyo3(signature = (rank, later, earlier, *, begun = false))]
    fn requires(
        &self,
        rank: &Object<'_>,
        later: &Object<'_>,
        earlier: &Object<'_>,
        begun: bool,
    ) -> PyResult<()> {
        let (ranks, later) = (Numbers::read(rank, "rank")?, Numbers::read(later, "later")?);
        let earlier = Numbers::read(earlier, "earlier")?;
        let length = common_length(&[("rank", &ranks), ("later", &later), ("earlier", &earlier)])?;
        let mut draft = self.draft.lock();
        let drafted = draft.ranks(self.P);
        let read = |place: usize| {
            let (rank, later, earlier) = (self.rank(ranks.at(place))?, later.at(place), earlier.at(place));
            let requirement =
                Requirement { later: small(later, "later")?, earlier: small(earlier, "earlier")?, begun };
            PyResult::Ok((rank, requirement))
        };
        let count = length.unwrap_or(1);
        for place in 0..count {
            let (rank, Requirement { later, earlier, .. }) = read(place)?;
            let operations = drafted[rank].operations.len();
            if later.max(earlier) as usize >= operations {
                return Err(invalid(format!(
                    "rank {rank} has {operations} operations, and there is no number {} in it, counted from 0",
                    later.max(earlier)
                )));
            }
        }
        for place in 0..count {
            let (rank, requirement) = read(place)?;
            drafted[rank].requirements.push(requirement);
        }
        Ok(())
    }

    /// Plays the schedule on a machine, whose P does not count. `rules` are those of the papers, or of
    /// loggopsim.
    #[pyo3(signature = (machine, *, rules = "papers", trace = false, moments = false))]
    fn play(
        &self,
        py: Python<'_>,
        machine: &Bound<'_, Machine>,
        rules: &str,
        trace: bool,
        moments: bool,
    ) -> PyResult<Play> {
        let machine = machine.get();
        if let Some(setting) = machine.setting_of_programs() {
            let sentence = format!("a schedule is played without {setting}; leave that out of the machine");
            return Err(PyValueError::new_err(sentence));
        }
        let rules: CostModel = rules.parse().map_err(refused)?;
        let params = LeveledParams::new(*machine.machine.params(), machine.levels.clone());
        let player = Player::new(params).rules(rules).trace(trace).moments(moments);
        let player = player.ports(machine.ports).rendezvous(machine.rendezvous).noise(machine.noise.clone());
        let played =
            self.with_complete(py, move |built, stop| player.stop_if(stop.is_over.clone()).run(built))?;
        let mut report = played.map_err(|error| run_error(py, error, None, &()))?;
        let trace = report.trace.take().map(|trace| Py::new(py, Trace::new(trace))).transpose()?;
        Ok(Play { report, ranks: self.P, trace })
    }

    fn __repr__(&self) -> String {
        format!("<schedule of {} ranks, {} operations>", self.P, self.__len__())
    }
}

/// Returns a length in bytes.
fn length(bytes: i64) -> PyResult<u64> {
    u64::try_from(bytes).map_err(|_| invalid(format!("bytes = {bytes} cannot be; give 0 or more")))
}

#[pymethods]
impl Play {
    /// The time at which the last rank was done.
    #[getter]
    fn time(&self) -> Time {
        Time(self.report.time)
    }

    /// The time at which each rank was done, in ps.
    #[getter]
    fn finishes(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        column(py, self.report.finishes.len(), self.report.finishes.iter().map(|finish| finish.as_ps()))
    }

    /// The moments at which each operation began and was done, in ps, by rank and then by number, if they were
    /// asked for.
    #[getter]
    fn moments(&self, py: Python<'_>) -> PyResult<Option<Columns>> {
        let Some(moments) = &self.report.moments else { return Ok(None) };
        let mut columns = Columns::new(moments.len());
        columns.add(py, "start", moments.iter().map(|(start, _)| start.as_ps()))?;
        columns.add(py, "end", moments.iter().map(|(_, end)| end.as_ps()))?;
        Ok(Some(columns))
    }

    /// The number of messages, including the requests and replies before long ones.
    #[getter]
    fn messages(&self) -> u64 {
        self.report.messages
    }

    /// The number of stalls.
    #[getter]
    fn stalls(&self) -> u64 {
        self.report.stalls
    }

    /// The length of all stalls together.
    #[getter]
    fn stalled(&self) -> Time {
        Time(self.report.stall_time)
    }

    /// The number of computations, sends and receptions.
    #[getter]
    fn events(&self) -> u64 {
        self.report.events
    }

    /// Sentences about what is probably a mistake in the schedule: receives that name another length than their
    /// message has. A receive without `bytes` names 1.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.report.warnings.clone()
    }

    /// The trace, or None if the play was not traced.
    #[getter]
    fn trace(&self, py: Python<'_>) -> Option<Py<Trace>> {
        self.trace.as_ref().map(|trace| trace.clone_ref(py))
    }

    fn __repr__(&self) -> String {
        let PlayReport { time, messages, stalls, .. } = &self.report;
        format!("<play of {} ranks: {time}, {messages} messages, {stalls} stalls>", self.ranks)
    }
}
