//! The phases of the transform, and the time of a processor in each.

use loggp::{Proc, Time};

/// A phase (LogP, section 4.1.3; LogGP, section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FftPhase {
    /// Local computation in the first layout.
    First,
    /// Communication.
    Remap,
    /// Packing points into long messages, or unpacking long messages.
    Redistribution,
    /// Local computation in the second layout.
    Third,
}

impl FftPhase {
    /// Returns its name in a report.
    pub(super) fn name(self) -> &'static str {
        match self {
            FftPhase::First => "compute I",
            FftPhase::Remap => "remap",
            FftPhase::Redistribution => "redistribution",
            FftPhase::Third => "compute III",
        }
    }
}

/// The time that a processor spent in each phase, in its local time.
pub(super) struct PhaseStopwatch {
    /// Start of the present phase.
    since: Time,
    /// Time spent in each phase.
    pub spent: [Time; 4],
}

impl PhaseStopwatch {
    /// Starts the first phase.
    pub(super) fn start(p: &Proc) -> PhaseStopwatch {
        PhaseStopwatch { since: p.local_time(), spent: [Time::ZERO; 4] }
    }

    /// Counts the time since the last lap for this phase. A phase may come again.
    pub(super) fn lap(&mut self, p: &Proc, phase: FftPhase) {
        self.spent[phase as usize] += p.local_time() - self.since;
        self.since = p.local_time();
    }
}
