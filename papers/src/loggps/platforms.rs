//! The paper's three platforms, as table 5 has them.

use loggp::ParamsBuilder;
use loggp_programs::message::{MESSAGE, RECEIVER_DELAY};

use crate::prelude::*;

pub(super) struct Platform {
    /// Name in the paper.
    pub name: &'static str,
    /// Name of its preset.
    pub machine: &'static str,
    /// Imbalance longer than a message and its reply take: the paper's W; the Cenju-4, for which its text has
    /// none, has Myrinet's.
    pub W: Time,
    /// Longest message of the figures, in bytes.
    pub longest: usize,
}

pub(super) const PLATFORMS: [Platform; 3] = [
    Platform { name: "Cenju-4", machine: "cenju4", W: Time::from_ps(500 * US.as_ps()), longest: 4000 },
    Platform { name: "Myrinet", machine: "myrinet", W: Time::from_ps(500 * US.as_ps()), longest: 24_000 },
    Platform {
        name: "Fast Ethernet",
        machine: "fast-ethernet",
        W: Time::from_ps(5000 * US.as_ps()),
        longest: 24_000,
    },
];

impl Platform {
    /// Returns a machine of two of its processors.
    pub(super) fn params(&self) -> Params {
        preset_machine(self.machine, 2)
    }
}

/// Returns whether all checks came out right.
pub(super) fn all(checks: Vec<Ran<bool>>) -> Ran<bool> {
    let both = |one: Ran<bool>, other: Ran<bool>| one.map(|one| one && other.value());
    checks.into_iter().reduce(both).expect("there is a check")
}

/// Returns a machine with some of its parameters changed.
pub(super) fn with_changes(params: Params, text: &str) -> Params {
    ParamsBuilder::from(params).set(text).and_then(ParamsBuilder::build).expect("the change can be")
}

/// Returns the case of a message of k bytes whose receiver is late.
pub(super) fn message_case(algorithm: &str, params: Params, k: usize, late: Time) -> Case {
    let case = Case { size: k, ..Case::new(&MESSAGE, algorithm, params) };
    case.with(&RECEIVER_DELAY, late.into())
}
