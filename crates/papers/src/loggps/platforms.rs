//! The paper's three platforms, as table 5 has them.

use loggp::{Params, Time, US, preset};

/// A platform.
pub struct Platform {
    /// What the paper calls it.
    pub name: &'static str,
    /// What the machines call it.
    pub machine: &'static str,
    /// An imbalance that is longer than all that is under way: the paper's W, and for the Cenju-4, where its text has none,
    /// Myrinet's.
    pub W: Time,
    /// The longest message of the figures, in bytes.
    pub longest: usize,
}

/// The platforms.
pub const PLATFORMS: [Platform; 3] = [
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
    /// Two processors of it.
    pub fn params(&self) -> Params {
        two_of(self.machine)
    }
}

/// Two processors of a machine.
pub fn two_of(machine: &str) -> Params {
    let preset = preset(machine).expect("the paper's machines are there");
    preset.builder().P(2).build().expect("they leave nothing open")
}

/// A machine with some of its parameters changed.
pub fn changed(params: Params, text: &str) -> Params {
    let builder = loggp::ParamsBuilder::from(params).set(text);
    builder.and_then(loggp::ParamsBuilder::build).expect("the change can be")
}
