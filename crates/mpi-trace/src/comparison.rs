//! How the predicted time of a program differs from the recorded one.
//!
//! Each rank's time is divided into computing and the calls of each group. The recorded time in a call is from its
//! beginning to its end. The predicted time is from the moment when the computing before the call is over to the moment
//! when what follows it begins. What lies between two calls without computing between them counts for the first.

use loggp::Time;
use loggp::schedule::PlayReport;

use crate::schedule::{CallGroup, ProgramSchedule, RankIndex};

/// A recorded and a predicted time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimePair {
    pub recorded: Time,
    pub predicted: Time,
}

impl TimePair {
    /// Returns by how much the predicted time is longer.
    pub fn difference(&self) -> Time {
        self.predicted - self.recorded
    }

    /// Returns by which part of the recorded time the predicted one is longer, or `None` if that has no number.
    pub fn error(&self) -> Option<f64> {
        let recorded = self.recorded.as_ps() as f64;
        (recorded > 0.0).then(|| self.difference().as_ps() as f64 / recorded)
    }
}

/// What of a rank's time is what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RankComparison {
    /// From the end of `MPI_Init` to the beginning of `MPI_Finalize`.
    pub end: TimePair,
    pub computing: TimePair,
    /// The time in calls, by group, in the order of groups.
    pub groups: Vec<(CallGroup, TimePair)>,
}

/// What of a program's time is what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// The end of the last rank.
    pub end: TimePair,
    /// The mean of all ranks.
    pub mean: RankComparison,
    pub ranks: Vec<RankComparison>,
}

impl Comparison {
    /// Compares a program with the play of its schedule, which must have moments for anything but the ends to be
    /// compared. Returns `None` if the schedule has no calls.
    pub fn new(program: &ProgramSchedule, played: &PlayReport) -> Option<Comparison> {
        let mut begin = 0;
        let mut ranks = Vec::with_capacity(program.ranks.len());
        for (rank, (index, finish)) in program.ranks.iter().zip(&played.finishes).enumerate() {
            let count = program.schedule.operations(rank).len();
            let mut result = RankComparison {
                end: TimePair { recorded: time(index.recorded_ns), predicted: *finish },
                ..RankComparison::default()
            };
            if let Some(moments) = &played.moments {
                divide(&mut result, index, moments.get(begin..begin + count)?);
            }
            begin += count;
            ranks.push(result);
        }
        let last = |end: fn(&TimePair) -> Time| ranks.iter().map(|rank| end(&rank.end)).max();
        let end = TimePair { recorded: last(|end| end.recorded)?, predicted: last(|end| end.predicted)? };
        Some(Comparison { end, mean: mean(&ranks), ranks })
    }
}

fn time(ns: i64) -> Time {
    Time::from_ps(ns.saturating_mul(1000).min(i64::MAX - 1))
}

/// Divides the time of a rank, given the moments of its operations.
fn divide(result: &mut RankComparison, index: &RankIndex, moments: &[(Time, Time)]) {
    let mut predicted: Vec<(CallGroup, Time)> = Vec::new();
    let mut computing = Time::ZERO;
    let mut add = |group: CallGroup, time: Time| match predicted.iter_mut().find(|(other, _)| *other == group)
    {
        Some((_, sum)) => *sum += time,
        None => predicted.push((group, time)),
    };
    let threads = index.spans.iter().map(|span| span.thread).max().unwrap_or_default();
    for thread in 0..=threads {
        // The group whose time runs, and since when.
        let mut now: Option<(CallGroup, Time)> = None;
        for (place, span) in index.spans.iter().enumerate().filter(|(_, span)| span.thread == thread) {
            let until = index.spans.get(place + 1).map_or(moments.len() as u32, |next| next.first);
            let Some((start, end)) = moments.get(span.first as usize).copied().filter(|_| span.first < until)
            else {
                now = now.or(Some((span.group, Time::ZERO)));
                continue;
            };
            if let Some((group, since)) = now {
                add(group, (start - since).max(Time::ZERO));
            }
            now = Some(match span.has_calc {
                true => {
                    computing += end - start;
                    (span.group, end)
                }
                false => (span.group, start),
            });
        }
        if let Some((group, since)) = now
            && thread == 0
            && group != CallGroup::End
        {
            add(group, (result.end.predicted - since).max(Time::ZERO));
        }
    }
    result.computing = TimePair { recorded: time(index.computing_ns), predicted: computing };
    let mut groups: Vec<(CallGroup, TimePair)> = Vec::new();
    for (group, ns) in &index.inside_ns {
        groups.push((*group, TimePair { recorded: time(*ns), predicted: Time::ZERO }));
    }
    for (group, predicted) in predicted {
        match groups.iter_mut().find(|(other, _)| *other == group) {
            Some((_, pair)) => pair.predicted = predicted,
            None if predicted > Time::ZERO => {
                groups.push((group, TimePair { recorded: Time::ZERO, predicted }));
            }
            None => (),
        }
    }
    groups.sort_by_key(|(group, _)| *group);
    result.groups = groups;
}

/// Returns the mean of all ranks.
fn mean(ranks: &[RankComparison]) -> RankComparison {
    let n = ranks.len().max(1) as i128;
    let mean_of = |get: &dyn Fn(&RankComparison) -> TimePair| {
        let sum = |one: fn(&TimePair) -> Time| {
            let sum: i128 = ranks.iter().map(|rank| i128::from(one(&get(rank)).as_ps())).sum();
            Time::from_ps((sum / n) as i64)
        };
        TimePair { recorded: sum(|pair| pair.recorded), predicted: sum(|pair| pair.predicted) }
    };
    let mut groups: Vec<CallGroup> =
        ranks.iter().flat_map(|rank| rank.groups.iter().map(|(group, _)| *group)).collect();
    groups.sort_unstable();
    groups.dedup();
    let of = |rank: &RankComparison, group| {
        rank.groups.iter().find(|(other, _)| *other == group).map(|(_, pair)| *pair).unwrap_or_default()
    };
    let groups = groups.into_iter().map(|group| (group, mean_of(&|rank| of(rank, group)))).collect();
    RankComparison { end: mean_of(&|rank| rank.end), computing: mean_of(&|rank| rank.computing), groups }
}
