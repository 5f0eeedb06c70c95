//! The phases of the transform, and how long a processor spent in each.

use loggp::{Proc, Time};

/// A phase (LogP, section 4.1.3; LogGP, section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Local computation in the first layout.
    First,
    /// Communication.
    Remap,
    /// What makes long messages of points, or points of long messages.
    Redistribution,
    /// Local computation in the second layout.
    Third,
}

impl Phase {
    /// Its name in a report.
    pub fn name(self) -> &'static str {
        match self {
            Phase::First => "compute I",
            Phase::Remap => "remap",
            Phase::Redistribution => "redistribution",
            Phase::Third => "compute III",
        }
    }
}

/// How long a processor spent in each phase, in its local time.
pub struct Stopwatch {
    /// When the phase began that it is in.
    since: Time,
    /// The time spent in each phase.
    spent: [Time; 4],
}

impl Stopwatch {
    /// Starts as the first phase begins.
    pub fn start(p: &Proc) -> Stopwatch {
        Stopwatch { since: p.now(), spent: [Time::ZERO; 4] }
    }

    /// What came since the last lap was this phase. A phase may come again.
    pub fn lap(&mut self, p: &Proc, phase: Phase) {
        self.spent[phase as usize] += p.now() - self.since;
        self.since = p.now();
    }

    /// The time spent in each phase.
    pub fn times(self) -> [Time; 4] {
        self.spent
    }
}
