//! What a run must settle beside the parameters: how many long messages an interface handles at once, how long each
//! message is under way, and which of the processors that act at the same time goes first.

use std::collections::BTreeMap;

use crate::text::names;
use crate::time::Time;

names!(Latency: "exact" Exact; "random" Random; "exponential" Exponential);
names!(Ports: "single" Single "dual" Dual);
names!(Ties: "number" Number "rotation" Rotation; "random" Random);

/// How many long messages a processor's interface handles at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ports {
    /// One message, sent or received (LogGP, section 2).
    #[default]
    Single,
    /// One message sent and one received.
    Dual,
}

/// How long a word is under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Latency {
    /// Exactly L, as the papers assume when they predict a time.
    #[default]
    Exact,
    /// From 0 to L, drawn anew for each message: a correct program must bear that (LogP, section 3).
    Random {
        /// The same seed draws the same latencies, whatever the clock.
        seed: u64,
    },
    /// Mostly short: drawn for each message from an exponential distribution with the mean L/4, and cut off at L.
    Exponential {
        /// The same seed draws the same latencies, whatever the clock.
        seed: u64,
    },
}

/// Which of the processors that act at the same time goes first. The model does not say, but times depend on it where the
/// processors compete for a receiver's capacity or port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ties {
    /// The processor with the lower number.
    #[default]
    Number,
    /// Each processor in turn: the first place moves on by one processor every g, or every cycle if there is no gap.
    Rotation,
    /// Any processor: the order is drawn for each moment.
    Random {
        /// The same seed draws the same orders, whatever the clock.
        seed: u64,
    },
}

/// Moments at which other processors go first than [`Ties`] says: these, in this order, and then all others as it says. Who is to
/// go first at a moment may be left out where it does not matter, and numbers of no processor mean nothing.
pub type Precedence = BTreeMap<Time, Vec<usize>>;

impl Latency {
    /// The seed, if latencies are drawn.
    pub fn seed_mut(&mut self) -> Option<&mut u64> {
        match self {
            Latency::Exact => None,
            Latency::Random { seed } | Latency::Exponential { seed } => Some(seed),
        }
    }
}

impl Ties {
    /// The seed, if the order is drawn.
    pub fn seed_mut(&mut self) -> Option<&mut u64> {
        match self {
            Ties::Number | Ties::Rotation => None,
            Ties::Random { seed } => Some(seed),
        }
    }
}
