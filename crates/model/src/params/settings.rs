//! The settings of a run besides the parameters and the transport: the ports of an interface, the latency of each
//! message, the order of processors that act at the same time, and the cost of computing.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::text::names;
use crate::time::Time;

names!(Latency: "exact" Exact; "random" Random; "exponential" Exponential);
names!(Ports: "single" Single "dual" Dual);
names!(Work: "measured" Measured "charged" Charged);
names!(Ties: "number" Number "rotation" Rotation; "random" Random);

/// The number of long messages that a processor's interface handles at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Ports {
    /// One message, sent or received (LogGP, section 2).
    #[default]
    Single,
    /// One message sent and one received.
    Dual,
}

/// The time for which a word is under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Latency {
    /// Exactly L, as the papers assume when they predict a time.
    #[default]
    Exact,
    /// From 0 to L, drawn for each message: a correct program must allow for that (LogP, section 3).
    Random {
        /// The same seed draws the same latencies, whatever the clock.
        seed: u64,
    },
    /// Mostly short: drawn for each message from an exponential distribution with the mean L/4, and cut off
    /// at L.
    Exponential {
        /// The same seed draws the same latencies, whatever the clock.
        seed: u64,
    },
}

/// The order of processors that act at the same time. The model leaves it open, but times depend on it where
/// processors compete for a receiver's capacity or port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Ties {
    /// The processor with the lower number goes first.
    #[default]
    Number,
    /// Each processor in turn goes first: the turn moves on by one processor every g, or every cycle if g is
    /// 0.
    Rotation,
    /// The order is drawn for each moment.
    Random {
        /// The same seed draws the same orders, whatever the clock.
        seed: u64,
    },
}

/// The cost of a program's computation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Work {
    /// The time that this computer takes for it, between the machine's calls too. Runs differ.
    Measured,
    /// Units times the machine's rate for that kind of work; code between the machine's calls is free. Runs
    /// are exact.
    #[default]
    Charged,
}

/// Exceptions from [`Ties`]: the processors that go first at some moments, in this order, before all others.
/// Processors whose order does not matter may be left out, and numbers of no processor are ignored.
pub type Precedence = BTreeMap<Time, Vec<usize>>;

impl Latency {
    /// Returns whether latencies are drawn.
    pub fn is_random(self) -> bool {
        self != Latency::Exact
    }

    /// Changes the seed, if latencies are drawn.
    #[must_use]
    pub fn map_seed(self, change: impl FnOnce(u64) -> u64) -> Latency {
        match self {
            Latency::Exact => Latency::Exact,
            Latency::Random { seed } => Latency::Random { seed: change(seed) },
            Latency::Exponential { seed } => Latency::Exponential { seed: change(seed) },
        }
    }
}

impl Ties {
    /// Returns whether the order is drawn.
    pub fn is_random(self) -> bool {
        matches!(self, Ties::Random { .. })
    }

    /// Changes the seed, if the order is drawn.
    #[must_use]
    pub fn map_seed(self, change: impl FnOnce(u64) -> u64) -> Ties {
        match self {
            Ties::Random { seed } => Ties::Random { seed: change(seed) },
            other => other,
        }
    }
}
