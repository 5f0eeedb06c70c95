//! What a machine has beside its parameters, and what the model leaves open and a run must settle: how long each message
//! is under way, and who goes first among those that act at the same time.

use crate::text::names;

names!(Latency: "exact" Exact; "random" Random; "exponential" Exponential);
names!(Ports: "single" Single "dual" Dual);
names!(Ties: "number" Number "rotation" Rotation; "random" Random);

/// How many long messages a processor's interface handles at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ports {
    /// One, sent or received (LogGP, section 2).
    #[default]
    Single,
    /// One sent and one received.
    Dual,
}

/// How long a word is under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Latency {
    /// Exactly L, as the papers assume when they predict a time.
    #[default]
    Exact,
    /// Anything from 0 to L, drawn for each message: what a correct program must bear (LogP, section 3).
    Random {
        /// The same seed draws the same latencies, whatever the clock.
        seed: u64,
    },
    /// Mostly little and at most L: drawn from an exponential distribution with the mean L/4. What would be longer
    /// is L.
    Exponential {
        /// The same seed draws the same latencies, whatever the clock.
        seed: u64,
    },
}

/// Who goes first among processors that act at the same time. The model does not say, and where they compete for a
/// receiver's capacity or port, times depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ties {
    /// The one with the lower number.
    #[default]
    Number,
    /// Each in turn: the first place moves on by one processor every g, or every cycle if there is no gap.
    Rotation,
    /// Anyone: the order is drawn for each moment.
    Random {
        /// The same seed draws the same orders, whatever the clock.
        seed: u64,
    },
}
