//! The critical path along a parameter: its formula in replays with other values, and from which value on it is another.

use std::error::Error;
use std::fmt;

use loggp::path::{Events, Path};
use loggp::{Params, ParamsBuilder, Replay, RunError, Time, Trace};

use super::formula::{Formula, Terms};
use crate::range::Range;

/// A recorded run made again at several values of a parameter.
#[derive(Clone, Debug, Default)]
pub struct Along {
    /// At the values that were asked for.
    pub points: Vec<At>,
    /// At each value from which on the formula is another, from the least one up.
    pub changes: Vec<At>,
    /// Whether there are more changes than were looked for.
    pub has_more: bool,
}

/// A recorded run made again at one value of a parameter.
#[derive(Clone, Debug)]
pub struct At {
    /// The value; of a time in picoseconds.
    pub value: i64,
    /// How long the run is.
    pub time: Time,
    /// What its critical path consists of.
    pub formula: Formula,
}

/// A run that cannot be made again.
#[derive(Debug)]
pub struct NotMade {
    /// With which value: `L=5 us`.
    pub at: String,
    /// Why it cannot be.
    pub error: Box<RunError>,
}

/// No more changes are looked for: each takes some dozens of replays at most.
const MOST_CHANGES: usize = 32;

/// What is made again.
struct Sought<'a> {
    /// The machine, but for what is swept.
    params: Params,
    range: &'a Range,
    /// Makes and traces a run with these parameters.
    again: &'a dyn Fn(Params) -> Result<Trace, RunError>,
}

impl Along {
    /// Makes a recorded run again along a range of one of its machine's parameters.
    pub fn of(trace: &Trace, range: &Range) -> Result<Along, NotMade> {
        let again = |params| {
            let run = Replay::of(trace).params(params).trace(true).run()?;
            Ok(run.trace.expect("it is traced"))
        };
        Along::of_runs(trace.params, range, &again)
    }

    /// Has runs made and traced along a range of one of a machine's parameters.
    pub fn of_runs(
        params: Params,
        range: &Range,
        again: &dyn Fn(Params) -> Result<Trace, RunError>,
    ) -> Result<Along, NotMade> {
        let sought = Sought { params, range, again };
        let mut values: Vec<i64> = range.points.iter().map(|point| point.number as i64).collect();
        values.sort();
        values.dedup();
        let mut along = Along::default();
        for value in values {
            let here = sought.at(value)?;
            if let Some(last) = along.points.last() {
                let mut last = last.clone();
                while !last.formula.is_like(&here.formula) {
                    if along.changes.len() == MOST_CHANGES {
                        along.has_more = true;
                        break;
                    }
                    last = sought.change(last, here.clone())?;
                    along.changes.push(last.clone());
                }
            }
            along.points.push(here);
        }
        Ok(along)
    }
}

impl Sought<'_> {
    /// The run with this value.
    fn at(&self, value: i64) -> Result<At, NotMade> {
        let (name, is_time) = (self.range.quantity.name(), self.range.quantity.is_time());
        let again = || {
            let text = format!("{name}={value}{}", if is_time { "ps" } else { "" });
            let params = ParamsBuilder::from(self.params).set(&text)?.build()?;
            (self.again)(params)
        };
        let trace = again().map_err(|error| NotMade {
            at: match is_time {
                true => format!("{name}={}", Time::from_ps(value)),
                false => format!("{name}={value}"),
            },
            error: error.into(),
        })?;
        let events = Events::of(&trace);
        let formula = Terms::of(&trace.params).formula(&Path::through(&events).hops);
        Ok(At { value, time: events.finish, formula })
    }

    /// The least value found above the first one at which the formula is another than there, by bisection.
    fn change(&self, mut low: At, mut high: At) -> Result<At, NotMade> {
        let mut is_guessed = true;
        while high.value - low.value > 1 {
            let middle = low.value + (high.value - low.value) / 2;
            let guess = self.crossing(&low, &high).filter(|_| is_guessed).unwrap_or(middle);
            is_guessed = !is_guessed;
            let here = self.at(guess.clamp(low.value + 1, high.value - 1))?;
            match here.formula.is_like(&low.formula) {
                true => low = here,
                false => high = here,
            }
        }
        Ok(high)
    }

    /// Where both formulas come to the same time: mostly right where the one becomes the other.
    fn crossing(&self, low: &At, high: &At) -> Option<i64> {
        let name = self.range.quantity.name();
        // The line of a formula: how steep it is, and where it is at 0.
        let line = |at: &At| {
            let slope = i128::from(at.formula.count(name));
            (slope, i128::from(at.time.as_ps()) - slope * i128::from(at.value))
        };
        let ((slope, start), (other_slope, other_start)) = (line(low), line(high));
        let crossing = (other_start - start).checked_div(slope - other_slope)?;
        i64::try_from(crossing).ok().filter(|_| self.range.quantity.is_time())
    }
}

impl fmt::Display for NotMade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.at, self.error)
    }
}

impl Error for NotMade {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.error)
    }
}
