//! The proof that the time of a run in a kept order is known at every value of a parameter, where ports and
//! the capacity make it no maximum of lines.
//!
//! Between two values at which [all comes out the same](KeptChoices::hold_until) the time is convex, so its
//! lines follow from its values and slopes at the ends. Where that cannot be shown, the range is split: where
//! a comparison comes out otherwise, or in the middle. At last there are no whole values between the ends.

use loggp::Time;
use loggp::params::{LevelParameter, LeveledParams};
use loggp::schedule::KeptOrder;
use loggp_schedule::{KeptChoices, Side};

use super::search::{ChangeSearch, FailedReplay, ReplayPoint};

/// The subject of a proof.
pub(super) struct Proof<'a> {
    pub order: &'a KeptOrder,
    pub machine: &'a LeveledParams,
    pub parameter: LevelParameter,
    /// Limit of the steps of all its runs.
    pub most_acts: usize,
    /// The number of runs beside values.
    pub runs: usize,
}

/// The result of a proof.
pub(super) struct Proven {
    /// The value up to which the time is known.
    pub until: i64,
    /// The slope right above the first value.
    pub slope: Option<i64>,
    /// The number of runs beside values that were made.
    pub runs: usize,
    /// True if it was given up for its length, so that more of it might be proven.
    pub is_cut: bool,
}

/// A range without its ends.
struct OpenRange {
    low: i64,
    high: i64,
    /// True if the time is convex in the parameter.
    is_convex: bool,
    /// The number of splits where a comparison could come out otherwise.
    splits: u32,
}

/// Limit of the steps of all runs of a proof that nobody asked for: a tenth of a second.
pub(super) const FEW_ACTS: usize = 500_000;
/// The limit where it is asked for: a minute.
pub(super) const MANY_ACTS: usize = 200_000_000;
/// A proof is given up that would need too many runs, once this part of the limit is used up.
const FEW: usize = 8;

impl Proof<'_> {
    /// Adds runs to a search until the time is known at each value of a range, from its start on, or until
    /// the search comes to its limit. What the lines between the runs say is true then.
    pub(super) fn run(
        mut self,
        search: &mut ChangeSearch,
        (from, end): (i64, i64),
    ) -> Result<Proven, FailedReplay> {
        let most_runs = search.most_runs.min(self.most_acts / self.order.acts().max(1));
        let mut open = vec![OpenRange { low: from, high: end, is_convex: false, splits: 0 }];
        let (mut until, mut slope, mut is_cut) = (from, None, false);
        // Right above the last value that was looked at.
        let mut last: Option<KeptChoices> = None;
        while let Some(OpenRange { low, high, is_convex, splits }) = open.pop() {
            if high - low <= 1 {
                until = high;
                continue;
            }
            let made = search.points.len() + self.runs;
            let so_far = i128::from(low) - i128::from(from);
            let is_hopeless =
                made as i128 * (i128::from(end) - i128::from(from)) > 2 * so_far * most_runs as i128;
            is_cut = made >= most_runs || (made > most_runs / FEW && is_hopeless);
            if is_cut {
                break;
            }
            let known = last.take().filter(|choices| choices.value == low);
            let longest = search.points.values().map(|point| point.time).max().unwrap_or(Time::ZERO);
            let longest = longest.max(Time::from_ps(end));
            let above = match known {
                Some(choices) => Some(choices),
                None => self.choices(low, Side::Above, longest),
            };
            let (Some(above), Some(below)) = (above, self.choices(high, Side::Below, longest)) else { break };
            if low == from {
                slope = Some(above.slope);
            }
            let found = if is_convex { Ok(()) } else { above.hold_until(&below) };
            let is_convex = found.is_ok();
            let width = i128::from(high) - i128::from(low);
            let [first, end_time] = [&above, &below].map(|choices| i128::from(choices.time.as_ps()));
            let split = if is_convex {
                if first + i128::from(above.slope) * width == end_time {
                    if !self.add_line(search, &above, &below)? {
                        break;
                    }
                    until = high;
                    continue;
                }
                if is_enough(search, &above, &below) {
                    until = high;
                    continue;
                }
                let ahead = first + i128::from(above.slope) * width - end_time;
                let slopes = i128::from(above.slope) - i128::from(below.slope);
                ahead.checked_div(slopes).map(|back| high.saturating_sub(back as i64))
            } else {
                found.err().flatten().filter(|_| splits % 8 < 6)
            };
            let split = split.unwrap_or(low + (high - low) / 2).clamp(low + 1, high - 1);
            search.run_between(split)?;
            last = Some(above);
            open.push(OpenRange { low: split, high, is_convex, splits: 0 });
            open.push(OpenRange { low, high: split, is_convex, splits: splits + 1 });
        }
        Ok(Proven { until, slope, runs: self.runs, is_cut })
    }

    /// Returns how the run comes about beside a value, if it can be found.
    fn choices(&mut self, value: i64, side: Side, longest: Time) -> Option<KeptChoices> {
        self.runs += 1;
        let machine = self.machine.with(self.parameter, value).ok()?;
        self.order.choices(&machine, self.parameter, side, longest).ok()?
    }

    /// Adds a line, on which all runs between two values lie. Returns false if one of them does not, which
    /// cannot be.
    fn add_line(
        &self,
        search: &mut ChangeSearch,
        above: &KeptChoices,
        below: &KeptChoices,
    ) -> Result<bool, FailedReplay> {
        let (slope, last) = (above.slope, below.value - 1);
        let known = search.points.get(&last).filter(|point| point.slope == slope).cloned();
        let mut point = match known {
            Some(point) => point,
            None => search.run_between(last)?,
        };
        if point.slope != slope {
            // It is as long as a path of its neighbours, and has another.
            point = (search.run_at)(last, [None; 2])?;
        }
        let line = ReplayPoint { slope, value: above.value, time: above.time, ..point.clone() };
        search.points.insert(last, ReplayPoint { slope, ..point });
        let first = search.points.get(&above.value);
        if first.is_none_or(|first| first.time != above.time) && last > above.value + 1 {
            let value = above.value + 1;
            let time = Time::from_ps(line.path_length(value) as i64);
            search.points.insert(value, ReplayPoint { value, time, ..line.clone() });
        }
        Ok(search.points.get(&last).is_some_and(|point| line.reaches(point)))
    }
}

/// Returns whether a convex range need not be known in full.
fn is_enough(search: &ChangeSearch, above: &KeptChoices, below: &KeptChoices) -> bool {
    let ends = [above, below].map(|choices| Some((search.points.get(&choices.value)?, choices)));
    let [Some((low, above)), Some((high, below))] = ends else { return false };
    let beside = |point: &ReplayPoint, choices: &KeptChoices| ReplayPoint {
        time: choices.time,
        slope: choices.slope,
        ..point.clone()
    };
    let (first, last) = (beside(low, above), beside(high, below));
    let pairs = [(&first, &last), (low, &first), (high, &last)];
    // Where the line of one end meets the other, the range would be taken for one line.
    let is_line = low.reaches(high) || high.reaches(low);
    !is_line && pairs.into_iter().all(|(one, other)| (search.is_same)(one, other))
}
