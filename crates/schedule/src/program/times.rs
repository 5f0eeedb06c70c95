//! Times of a program beside those of a play of its schedule.

use loggp_model::time::Time;

use super::index::CallGroup;

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

/// A rank's time, divided into computing and calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RankComparison {
    /// The whole time of the rank.
    pub end: TimePair,
    pub computing: TimePair,
    /// The time in calls, by group, in the order of groups.
    pub groups: Vec<(CallGroup, TimePair)>,
}

/// Returns a recorded time.
pub(super) fn time(ns: i64) -> Time {
    Time::from_ps(ns.saturating_mul(1000).min(i64::MAX - 1))
}
