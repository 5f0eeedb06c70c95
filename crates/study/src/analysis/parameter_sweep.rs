//! The critical path along a parameter: its formula in replays with other values, and the values from which
//! on it changes.

use loggp::path::{Events, Path};
use loggp::replay::Replay;
use loggp::trace::Trace;
use loggp::{Params, RunError, Time};

use super::formula::{Formula, FormulaBuilder, with_value};
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

/// A replay of a recorded run at one value of a parameter.
#[derive(Clone, Debug)]
pub struct ReplayPoint {
    /// Value; of a time in picoseconds.
    pub value: i64,
    /// Length of the run.
    pub time: Time,
    /// Formula of its critical path.
    pub formula: Formula,
}

/// The error of a failed replay.
#[derive(Debug, thiserror::Error)]
#[error("{value}: {error}")]
pub struct FailedReplay {
    /// The value, such as `L=5 us`.
    pub value: String,
    #[source]
    pub error: Box<RunError>,
}

/// Most changes that are looked for: each takes some dozens of replays at most.
const MOST_CHANGES: usize = 32;

/// The run that is swept.
struct SweptRun<'a> {
    /// Parameters of the machine, except the swept one.
    params: Params,
    range: &'a Range,
    /// Makes and traces a run with these parameters.
    make_run: &'a dyn Fn(Params) -> Result<Trace, RunError>,
}

impl ParameterSweep {
    /// Replays a recorded run along a range of one of its machine's parameters.
    pub fn replay(trace: &Trace, range: &Range) -> Result<ParameterSweep, FailedReplay> {
        let make_run = |params| {
            let run = Replay::new(trace).params(params).trace(true).run()?;
            Ok(run.trace.expect("it is traced"))
        };
        ParameterSweep::run(trace.params, range, &make_run)
    }

    /// Makes and traces runs along a range of one of a machine's parameters.
    pub fn run(
        params: Params,
        range: &Range,
        make_run: &dyn Fn(Params) -> Result<Trace, RunError>,
    ) -> Result<ParameterSweep, FailedReplay> {
        let swept_run = SweptRun { params, range, make_run };
        let mut values: Vec<i64> = range.points.iter().map(|point| point.number as i64).collect();
        values.sort();
        values.dedup();
        let mut sweep = ParameterSweep::default();
        for value in values {
            let here = swept_run.run_at(value)?;
            if let Some(last) = sweep.points.last() {
                let mut last = last.clone();
                while !last.formula.is_like(&here.formula) {
                    if sweep.changes.len() == MOST_CHANGES {
                        sweep.has_more = true;
                        break;
                    }
                    last = swept_run.find_change(last, here.clone())?;
                    sweep.changes.push(last.clone());
                }
            }
            sweep.points.push(here);
        }
        Ok(sweep)
    }
}

impl SweptRun<'_> {
    /// Makes the run with this value.
    fn run_at(&self, value: i64) -> Result<ReplayPoint, FailedReplay> {
        let (name, is_time) = (self.range.quantity.name(), self.range.quantity.is_time());
        let run = || (self.make_run)(with_value(&self.params, name, value)?);
        let trace = run().map_err(|error| FailedReplay {
            value: match is_time {
                true => format!("{name}={}", Time::from_ps(value)),
                false => format!("{name}={value}"),
            },
            error: error.into(),
        })?;
        let events = Events::new(&trace);
        let formula = FormulaBuilder::new(&trace.params).formula(&Path::from_events(&events).hops);
        Ok(ReplayPoint { value, time: events.finish, formula })
    }

    /// Finds by bisection the least value above `low` at which the formula differs from that at `low`.
    fn find_change(&self, mut low: ReplayPoint, mut high: ReplayPoint) -> Result<ReplayPoint, FailedReplay> {
        let mut is_guessed = true;
        while high.value - low.value > 1 {
            let middle = low.value + (high.value - low.value) / 2;
            let guess = self.crossing(&low, &high).filter(|_| is_guessed).unwrap_or(middle);
            is_guessed = !is_guessed;
            let here = self.run_at(guess.clamp(low.value + 1, high.value - 1))?;
            match here.formula.is_like(&low.formula) {
                true => low = here,
                false => high = here,
            }
        }
        Ok(high)
    }

    /// Returns where both formulas give the same time, which is mostly where one becomes the other.
    fn crossing(&self, low: &ReplayPoint, high: &ReplayPoint) -> Option<i64> {
        let name = self.range.quantity.name();
        // Slope and intercept of a formula.
        let line = |at: &ReplayPoint| {
            let slope = i128::from(at.formula.count(name));
            (slope, i128::from(at.time.as_ps()) - slope * i128::from(at.value))
        };
        let ((slope, start), (other_slope, other_start)) = (line(low), line(high));
        let crossing = (other_start - start).checked_div(slope - other_slope)?;
        i64::try_from(crossing).ok().filter(|_| self.range.quantity.is_time())
    }
}
