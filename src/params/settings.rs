//! What a machine has beside its parameters, and what the model leaves open and a run must settle: how long each message
//! is under way, and who goes first among those that act at the same time.

use std::fmt;
use std::str::FromStr;

use super::ParamsError;

/// How many long messages a processor's interface handles at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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

/// Writes a latency as [`FromStr`] reads it: `exact`, `random:7`, `exponential:7`.
impl fmt::Display for Latency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Latency::Exact => f.write_str("exact"),
            Latency::Random { seed } => write!(f, "random:{seed}"),
            Latency::Exponential { seed } => write!(f, "exponential:{seed}"),
        }
    }
}

impl FromStr for Latency {
    type Err = ParamsError;

    fn from_str(text: &str) -> Result<Latency, ParamsError> {
        match (text, seeded(text)) {
            ("exact", _) => Ok(Latency::Exact),
            (_, Some(("random", seed))) => Ok(Latency::Random { seed }),
            (_, Some(("exponential", seed))) => Ok(Latency::Exponential { seed }),
            _ => Err(ParamsError::new("give exact, or random or exponential with a seed, as in random:1")),
        }
    }
}

/// Writes an order as [`FromStr`] reads it: `number`, `rotation`, `random:7`.
impl fmt::Display for Ties {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ties::Number => f.write_str("number"),
            Ties::Rotation => f.write_str("rotation"),
            Ties::Random { seed } => write!(f, "random:{seed}"),
        }
    }
}

impl FromStr for Ties {
    type Err = ParamsError;

    fn from_str(text: &str) -> Result<Ties, ParamsError> {
        match (text, seeded(text)) {
            ("number", _) => Ok(Ties::Number),
            ("rotation", _) => Ok(Ties::Rotation),
            (_, Some(("random", seed))) => Ok(Ties::Random { seed }),
            _ => Err(ParamsError::new("give number, rotation, or random with a seed, as in random:1")),
        }
    }
}

/// What is drawn how, and by which seed.
fn seeded(text: &str) -> Option<(&str, u64)> {
    let (how, seed) = text.split_once(':')?;
    Some((how, seed.parse().ok()?))
}
