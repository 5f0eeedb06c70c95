//! Times of a program's computing.

use loggp::Time;

use crate::PhaseName;

/// Times of a case's computing on this computer, from a run on a [machine whose messages cost
/// nothing](crate::Case::without_message_costs).
#[derive(Clone, Debug, Default)]
pub struct ComputeTimes {
    /// Times of the phases.
    pub phases: Vec<(PhaseName, Time)>,
    /// Time that a processor computed, on average.
    pub work: Time,
}

impl ComputeTimes {
    /// Returns the time of a phase, or 0 if there is none with this name.
    pub fn phase(&self, name: &str) -> Time {
        self.phases.iter().find(|(other, _)| other == name).map(|(_, time)| *time).unwrap_or_default()
    }
}
