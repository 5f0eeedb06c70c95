//! The search for the values of a parameter at which something about a run changes.
//!
//! The critical path at a value is a line along the parameter. While a run takes as long as the longest of
//! its paths, its time is the maximum of their lines: no run lies below the line of another, and between two
//! runs none lies above the chord. So two lines that are not the same cross between their runs, and a run at
//! the crossing either lies on both of them, or shows a third line above. Where the run is no such maximum
//! (the capacity, ports and the order of receptions can make it another one), the search bisects.

use std::collections::{BTreeMap, HashMap};
use std::panic::resume_unwind;
use std::thread::{self, ScopedJoinHandle};

use loggp::path::Formula;
use loggp::{RunError, Time};

/// A run at one value of a parameter.
#[derive(Clone, Debug)]
pub struct ReplayPoint {
    /// Value; of a time in picoseconds.
    pub value: i64,
    /// A value at which a run has this critical path.
    pub seen_at: i64,
    /// Length of the run.
    pub time: Time,
    /// A number of the order in which all was done.
    pub order: u64,
    /// Formula of its critical path.
    pub formula: Formula,
    /// How often the parameter is in the formula.
    pub slope: i64,
}

impl ReplayPoint {
    /// Returns the length of its path at another value, in picoseconds.
    pub fn path_length(&self, value: i64) -> i128 {
        let by = i128::from(value) - i128::from(self.value);
        i128::from(self.time.as_ps()) + i128::from(self.slope) * by
    }

    /// Returns whether its path is as long as another run.
    pub fn reaches(&self, other: &ReplayPoint) -> bool {
        self.path_length(other.value) == i128::from(other.time.as_ps())
    }

    /// Returns the first whole value at which its path is not longer than that of a run at a greater value,
    /// if their lines cross.
    fn crossing(&self, later: &ReplayPoint) -> Option<i64> {
        let ahead = self.path_length(later.value) - i128::from(later.time.as_ps());
        let slopes = i128::from(self.slope) - i128::from(later.slope);
        let back = ahead.checked_div(slopes)?;
        i64::try_from(i128::from(later.value) - back).ok()
    }
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

/// Two runs next to each other.
struct Interval {
    low: i64,
    high: i64,
    /// True if the next guess is the crossing of the lines, and not the middle.
    is_guessed: bool,
}

/// Returns whether no change is looked for between two runs.
pub(super) type IsSame<'a> = dyn Fn(&ReplayPoint, &ReplayPoint) -> bool + 'a;

/// The runs at the ends of an interval.
type Ends<'p> = [&'p ReplayPoint; 2];

/// Makes the run with a value, between two others if there are any.
pub(super) type RunAt<'a> =
    dyn Fn(i64, [Option<&ReplayPoint>; 2]) -> Result<ReplayPoint, FailedReplay> + Sync + 'a;

/// A search between runs at some values.
pub(super) struct ChangeSearch<'a> {
    /// Makes the run with a value, between two others if there are any.
    pub run_at: &'a RunAt<'a>,
    /// The runs between which no change is looked for.
    pub is_same: &'a IsSame<'a>,
    /// True if the values are times, in which a path is a line.
    pub has_lines: bool,
    /// Limit of the runs.
    pub most_runs: usize,
    /// Limit of the changes, of which the first are found.
    pub most_changes: usize,
    /// The number of runs that are made at once.
    pub threads: usize,
    /// The runs so far, by value.
    pub points: BTreeMap<i64, ReplayPoint>,
}

impl ChangeSearch<'_> {
    /// Makes the run with a value, unless it was made before.
    pub(super) fn run_once(&mut self, value: i64) -> Result<ReplayPoint, FailedReplay> {
        if let Some(point) = self.points.get(&value) {
            return Ok(point.clone());
        }
        let point = (self.run_at)(value, [None; 2])?;
        self.points.insert(value, point.clone());
        Ok(point)
    }

    /// Makes the run with a value between others that were made.
    pub(super) fn run_between(&mut self, value: i64) -> Result<ReplayPoint, FailedReplay> {
        let before = self.points.range(..value).next_back().map(|(_, point)| point);
        let after = self.points.range(value + 1..).next().map(|(_, point)| point);
        let point = (self.run_at)(value, [before, after])?;
        self.points.insert(value, point.clone());
        Ok(point)
    }

    /// Makes runs until between neighbours either no change is looked for, or no whole value lies. Returns
    /// whether it came to that within the limits.
    pub(super) fn run(&mut self) -> Result<bool, FailedReplay> {
        let values: Vec<i64> = self.points.keys().copied().collect();
        let pairs = values.windows(2).map(|pair| (pair[0], pair[1]));
        let mut open: Vec<Interval> =
            pairs.map(|(low, high)| Interval { low, high, is_guessed: true }).rev().collect();
        let (mut changes, mut ahead) = (0, HashMap::new());
        while let Some(Interval { low, high, is_guessed }) = open.pop() {
            let ends = [&self.points[&low], &self.points[&high]];
            if (self.is_same)(ends[0], ends[1]) {
                continue;
            }
            if changes == self.most_changes || self.points.len() >= self.most_runs {
                return Ok(false);
            }
            let Some(between) = self.guess(ends, is_guessed) else {
                changes += 1;
                continue;
            };
            let here = match ahead.remove(&between) {
                Some(made) => made?,
                None => self.take_run((between, ends), &open, &mut ahead)?,
            };
            let is_guessed = is_guessed_beside(&here, ends, is_guessed);
            self.points.insert(between, here);
            open.push(Interval { low: between, high, is_guessed });
            open.push(Interval { low, high: between, is_guessed });
        }
        Ok(true)
    }

    /// Returns the value between two runs that is to be looked at next, if there is one.
    fn guess(&self, [first, last]: Ends, is_guessed: bool) -> Option<i64> {
        let (low, high) = (first.value, last.value);
        if i128::from(high) - i128::from(low) <= 1 {
            return None;
        }
        let crossing = first.crossing(last).filter(|_| is_guessed && self.has_lines);
        Some(crossing.unwrap_or(low + (high - low) / 2).clamp(low + 1, high - 1))
    }

    /// Makes a run. Beside it others are made that will be asked for after it, as far as there are threads:
    /// those of `open`, from its end on. They wait in `ahead`, so that the same runs are asked for in the same
    /// order on any number of threads.
    fn take_run(
        &self,
        (value, ends): (i64, Ends),
        open: &[Interval],
        ahead: &mut HashMap<i64, Result<ReplayPoint, FailedReplay>>,
    ) -> Result<ReplayPoint, FailedReplay> {
        let room = self.most_runs.saturating_sub(self.points.len() + ahead.len() + 1);
        let mut later = LaterRuns { search: self, ahead, most: room.min(self.threads - 1), runs: Vec::new() };
        for Interval { low, high, is_guessed } in open.iter().rev() {
            later.add([&self.points[low], &self.points[high]], *is_guessed);
        }
        let runs = later.runs;
        let (here, made) = thread::scope(|scope| {
            let run_at = self.run_at;
            let mut threads = Vec::new();
            for (value, ends) in runs {
                let run = move || (value, run_at(value, ends.map(Some)));
                threads.extend(thread::Builder::new().spawn_scoped(scope, run));
            }
            let here = run_at(value, ends.map(Some));
            let join =
                |thread: ScopedJoinHandle<_>| thread.join().unwrap_or_else(|panic| resume_unwind(panic));
            (here, threads.into_iter().map(join).collect::<Vec<_>>())
        });
        ahead.extend(made);
        here
    }
}

/// Runs that a search will ask for.
struct LaterRuns<'s> {
    search: &'s ChangeSearch<'s>,
    /// The runs that are made.
    ahead: &'s HashMap<i64, Result<ReplayPoint, FailedReplay>>,
    /// Limit of the runs that are not made.
    most: usize,
    /// The runs that are not made, by value, each with the runs that it lies between.
    runs: Vec<(i64, Ends<'s>)>,
}

impl<'s> LaterRuns<'s> {
    /// Adds the runs between two others, as far as the runs that are made tell.
    fn add(&mut self, ends: Ends<'s>, is_guessed: bool) {
        let [first, last] = ends;
        if self.runs.len() == self.most || (self.search.is_same)(first, last) {
            return;
        }
        let Some(between) = self.search.guess(ends, is_guessed) else { return };
        match self.ahead.get(&between) {
            None => self.runs.push((between, ends)),
            Some(Err(_)) => (),
            Some(Ok(here)) => {
                let is_guessed = is_guessed_beside(here, ends, is_guessed);
                self.add([first, here], is_guessed);
                self.add([here, last], is_guessed);
            }
        }
    }
}

/// Returns whether the guesses between a run and its neighbours are the crossings of their lines, and not the
/// middle.
fn is_guessed_beside(here: &ReplayPoint, [first, last]: Ends, is_guessed: bool) -> bool {
    !is_guessed || here.is_convex_between(first, last)
}

impl ReplayPoint {
    /// Returns whether a run between two others lies above their lines, and below their chord.
    fn is_convex_between(&self, low: &ReplayPoint, high: &ReplayPoint) -> bool {
        let time = i128::from(self.time.as_ps());
        let [low_ps, high_ps] = [low, high].map(|point| i128::from(point.time.as_ps()));
        let [all, part] = [high, self].map(|point| i128::from(point.value) - i128::from(low.value));
        let chord = low_ps.checked_mul(all - part).zip(high_ps.checked_mul(part));
        let is_below = chord.is_none_or(|(one, other)| time.saturating_mul(all) <= one.saturating_add(other));
        is_below && time >= low.path_length(self.value) && time >= high.path_length(self.value)
    }
}
