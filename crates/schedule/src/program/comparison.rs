//! The difference between the predicted time of a program and the recorded one.
//!
//! Each rank's time is divided into computing and the calls of each group. The recorded time in a call is from its
//! beginning to its end. The predicted time is from the moment when the computing before the call is over to the moment
//! when what follows it begins. What lies between two calls without computing between them counts for the first.

use loggp_model::time::Time;

use super::index::CallGroup;
use super::schedule::ProgramSchedule;
use super::times::{RankComparison, TimePair, time};
use super::watch::PlayWatch;
use crate::PlayReport;

/// A program's time, divided into computing and calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// The end of the last rank.
    pub end: TimePair,
    /// The mean of all ranks.
    pub mean: RankComparison,
    pub ranks: Vec<RankComparison>,
}

impl Comparison {
    /// Compares a program with the play of its schedule. If the play was not watched, only the ends are compared.
    /// Returns `None` if the schedule is of no program.
    pub fn new(
        program: &ProgramSchedule,
        played: &PlayReport,
        watched: Option<PlayWatch>,
    ) -> Option<Comparison> {
        let mut watched = watched.map_or_else(Vec::new, |watched| watched.ranks).into_iter();
        let ranks = program.ranks.iter().zip(&played.finishes).map(|(index, finish)| {
            let end = TimePair { recorded: time(index.recorded_ns), predicted: *finish };
            watched.next().map_or_else(|| RankComparison { end, ..Default::default() }, |one| one.finish(end))
        });
        let ranks: Vec<RankComparison> = ranks.collect();
        let last = |end: fn(&TimePair) -> Time| ranks.iter().map(|rank| end(&rank.end)).max();
        let end = TimePair { recorded: last(|end| end.recorded)?, predicted: last(|end| end.predicted)? };
        Some(Comparison { end, mean: mean(&ranks), ranks })
    }
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
