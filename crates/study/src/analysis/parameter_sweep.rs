//! The critical path along a parameter: its formula in replays with other values, and the values from which
//! on it changes.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use loggp::params::{LevelParameter, LeveledParams};
use loggp::path::{Events, Formula, FormulaBuilder, Path};
use loggp::replay::Replay;
use loggp::schedule::KeptRun;
use loggp::trace::{Activity, ActivityKind, Message, Trace};
use loggp::{MessageId, RunError, Time};

use super::search::{ChangeSearch, FailedReplay, ReplayPoint};
use crate::range::Range;

/// Replays of a recorded run at several values of a parameter.
#[derive(Clone, Debug, Default)]
pub struct ParameterSweep {
    /// Replays at the requested values.
    pub points: Vec<ReplayPoint>,
    /// Replays at each value from which on the formula differs, in ascending order.
    pub changes: Vec<ReplayPoint>,
    /// True if there are more changes than were looked for.
    pub has_more: bool,
}

/// Most changes that are looked for.
const MOST_CHANGES: usize = 32;
/// Most replays: some dozens for each change.
const MOST_REPLAYS: usize = 64 * MOST_CHANGES;

/// The run that is swept.
pub(super) struct SweptRun<'a, 'r> {
    /// Parameters of the machine, except the swept one.
    pub machine: &'a LeveledParams,
    /// The swept parameter.
    pub parameter: LevelParameter,
    /// Makes a run with these parameters.
    pub make_run: &'a MakeRun<'r>,
}

/// Makes a run with these parameters, perhaps beside others.
pub(super) type MakeRun<'a> = dyn Fn(LeveledParams) -> Result<RunPath<'a>, RunError> + Sync + 'a;

/// The end of a run, and what led to it.
pub struct RunPath<'a> {
    /// Time at which the last processor finished.
    pub time: Time,
    /// A number of the order in which all was done: two runs with different ones did not do the same.
    pub order: u64,
    /// Finds the formula of the critical path, for which not all runs are asked.
    pub formula: Box<dyn FnOnce() -> Formula + 'a>,
}

impl RunPath<'_> {
    /// Finds the critical path of a traced run.
    pub fn from_trace(trace: &Trace) -> RunPath<'static> {
        let events = Events::new(trace);
        let formula = FormulaBuilder::new(&trace.machine()).formula(&Path::from_events(&events).hops);
        RunPath { time: events.finish, order: order(trace), formula: Box::new(|| formula) }
    }

    /// Returns a run in a kept order.
    pub fn from_kept(run: KeptRun<'_>) -> RunPath<'_> {
        RunPath { time: run.time, order: 0, formula: Box::new(move || run.formula()) }
    }
}

/// Returns a number of the order in which a processor computes, sends and receives, and in which messages
/// enter and come out at it.
fn order(trace: &Trace) -> u64 {
    let mut hasher = DefaultHasher::new();
    for Activity { id, kind, .. } in &trace.activities {
        match kind {
            ActivityKind::Work(_) => id.hash(&mut hasher),
            ActivityKind::Send(message) => (id, 0, message.from, message.number).hash(&mut hasher),
            ActivityKind::Receive(message) => (id, 1, message.from, message.number).hash(&mut hasher),
            _ => (),
        }
    }
    let mut ends: Vec<(usize, Time, MessageId)> = Vec::new();
    let both = |message: &Message| {
        [(message.id.from, message.enter, message.id), (message.to, message.first, message.id)]
    };
    ends.extend(trace.messages.iter().flat_map(both));
    ends.sort_unstable();
    ends.iter().for_each(|(processor, _, id)| (processor, id.from, id.number).hash(&mut hasher));
    hasher.finish()
}

impl ParameterSweep {
    /// Replays a recorded run along a range of one of its machine's parameters.
    pub fn replay(trace: &Trace, range: &Range) -> Result<ParameterSweep, FailedReplay> {
        ParameterSweep::run(trace.machine(), range, &|machine| {
            Ok(RunPath::from_trace(&replay_with(trace, machine)?))
        })
    }

    /// Makes runs along a range of one of a machine's parameters.
    pub fn run(
        machine: impl Into<LeveledParams>,
        range: &Range,
        make_run: &MakeRun,
    ) -> Result<ParameterSweep, FailedReplay> {
        let machine = &machine.into();
        let Some(parameter) = range.quantity.parameter() else { return Ok(ParameterSweep::default()) };
        let swept_run = SweptRun { machine, parameter, make_run };
        let values: BTreeSet<i64> = range.points.iter().map(|point| point.number as i64).collect();
        let mut search = ChangeSearch {
            run_at: &|value, _| swept_run.run_at(value, [None; 2]),
            is_same: &|one, other| one.formula.is_like(&other.formula),
            has_lines: range.quantity.is_time(),
            most_runs: values.len() + MOST_REPLAYS,
            most_changes: MOST_CHANGES,
            threads: 1,
            points: BTreeMap::new(),
        };
        let points = values.into_iter().map(|value| search.run_once(value)).collect::<Result<Vec<_>, _>>()?;
        let has_more = !search.run()?;
        let all: Vec<&ReplayPoint> = search.points.values().collect();
        let is_change = |pair: &&[&ReplayPoint]| {
            pair[1].value - pair[0].value == 1 && !pair[0].formula.is_like(&pair[1].formula)
        };
        let changes = all.windows(2).filter(is_change).map(|pair| pair[1].clone());
        let changes = changes.take(MOST_CHANGES).collect();
        Ok(ParameterSweep { points, changes, has_more })
    }
}

/// Replays a recorded run with other parameters.
pub fn replay_with(trace: &Trace, machine: LeveledParams) -> Result<Trace, RunError> {
    let run = Replay::new(trace).machine(machine).trace(true).run()?;
    Ok(run.trace.expect("it is traced"))
}

impl SweptRun<'_, '_> {
    /// Makes the run with this value. If it is as long as the path of one of the `known` runs, that is its own.
    pub(super) fn run_at(
        &self,
        value: i64,
        known: [Option<&ReplayPoint>; 2],
    ) -> Result<ReplayPoint, FailedReplay> {
        let make_run = || (self.make_run)(self.machine.with(self.parameter, value)?);
        let name = self.parameter.name();
        let failed = |error: RunError| FailedReplay {
            value: match self.parameter.is_time() {
                true => format!("{name}={}", Time::from_ps(value)),
                false => format!("{name}={value}"),
            },
            error: error.into(),
        };
        let RunPath { time, order, formula } = make_run().map_err(failed)?;
        let is_as_long = |point: &&ReplayPoint| point.path_length(value) == i128::from(time.as_ps());
        if let Some(known) = known.into_iter().flatten().find(is_as_long) {
            return Ok(ReplayPoint { value, time, order, ..known.clone() });
        }
        let formula = formula();
        Ok(ReplayPoint { value, seen_at: value, time, order, slope: formula.count(name), formula })
    }
}
