//! Times that a program states besides that of the whole run, and what changes during it.

use std::borrow::Cow;

use loggp::Time;

/// Name of a phase.
pub type PhaseName = Cow<'static, str>;

/// A quantity that changes while a program runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Trend {
    /// Axis along which it changes, such as `step`.
    pub along: &'static str,
    /// Name of the quantity, such as `active processors`.
    pub quantity: &'static str,
    /// Points (x, y): the quantity is y from x to the next point.
    pub points: Vec<(f64, f64)>,
}

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
