//! The parameters as plain data, and the error that refuses them.

use std::num::NonZeroUsize;

use crate::time::Time;

/// A machine's parameters, under the papers' names.
///
/// ```
/// use loggp::{Params, US};
/// let cm5 = Params::builder(128).L(6 * US).o(2 * US).g(4 * US).word(16).build()?;
/// assert_eq!(cm5.capacity(), Some(2));
///
/// // Formulas read as in the papers. No field depends on another, so a changed copy is consistent: a CM-5 has
/// // no G, and sends the words of a long message as fast as short messages, one every max(g, o).
/// let Params { L, o, P, .. } = cm5;
/// assert_eq!((P as i64 - 1) * (L + 2 * o), 1270 * US);
/// let faster = Params { g: 2 * US, ..cm5 };
/// assert_eq!((cm5.G(), faster.G()), (Some(4 * US), Some(2 * US)));
/// # Ok::<(), loggp::ParamsError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// Latency: the longest time for which a word is under way.
    pub L: Time,
    /// Overhead: the time for which a processor is busy sending or receiving a message.
    pub o: Time,
    /// Gap: the least time between two sends, or two receptions, of one processor.
    pub g: Time,
    /// The costs of the words of a long message.
    pub long: LongMessages,
    /// The cost for the sender of agreeing on a message above S, beyond the request and the reply (default
    /// 0). Only a LogGPS machine has an S.
    pub R: Time,
    /// Number of processors.
    pub P: usize,
    /// Capacity, if it is set: see [`capacity`](Params::capacity).
    pub C: Option<NonZeroUsize>,
    /// Bytes of payload in a word, the length of a short message.
    pub word: NonZeroUsize,
    /// The papers' unit of time. A bare number counts cycles, and a look at an empty inbox costs one.
    pub cycle: Time,
}

/// The costs of the words of a long message, in which LogP, LogGP and LogGPS differ.
///
/// ```
/// use loggp::{Params, Time, US};
/// use loggp::params::LongMessages;
///
/// let logp = Params::builder(2).L(6 * US).o(2 * US).g(4 * US).build()?;
/// let loggp = Params { long: LongMessages::LogGP { G: Time::ZERO }, ..logp };
/// assert_eq!((logp.stream(11), loggp.stream(11)), (40 * US, Time::ZERO));
/// # Ok::<(), loggp::ParamsError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LongMessages {
    /// LogP knows only short messages: a long message is a train of them, a word every max(g, o) (LogGP,
    /// section 2.1).
    LogP,
    /// LogGP: a gap per further word.
    LogGP {
        /// Gap per further word of a long message.
        G: Time,
    },
    /// LogGPS: overheads and gaps per word, and long messages that wait for their receiver.
    LogGPS(LogGps),
}

/// The parameters that LogGPS adds to LogGP, or has instead of G (LogGPS, section 3). Lengths are in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogGps {
    /// Messages longer than this are sent in several packets.
    pub s: usize,
    /// Messages longer than this wait for their receiver before they are sent.
    pub S: usize,
    /// Overhead per word at the sender, on top of o.
    pub O_s: Time,
    /// Overhead per word at the receiver, on top of o.
    pub O_r: Time,
    /// Gap per word up to s.
    pub G_s: Time,
    /// Gap per word above s; may be negative.
    pub G_l: Time,
}

/// The refusal of a set of parameters, in one sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ParamsError(String);

impl ParamsError {
    #[doc(hidden)]
    pub fn new(sentence: impl Into<String>) -> ParamsError {
        // The sentence may quote text that was read.
        ParamsError(sentence.into().replace(char::is_control, " "))
    }
}

/// More processors than fit any host, and few enough to count with 32 bits.
pub const MAX_PROCESSORS: usize = 1 << 24;
/// The most words of a message and bytes of a word that 32 bits can count.
pub const MAX_WORDS: usize = u32::MAX as usize;

impl Params {
    /// A length or capacity that means no limit.
    pub const NO_LIMIT: usize = MAX_WORDS;

    /// Returns the time per further word of a long message: LogGP's G, or max(g, o) on a LogP machine. `None`
    /// on a LogGPS machine, where the cost of a word depends on the message's length.
    pub fn G(&self) -> Option<Time> {
        match self.long {
            LongMessages::LogP => Some(self.g.max(self.o)),
            LongMessages::LogGP { G } => Some(G),
            LongMessages::LogGPS(_) => None,
        }
    }

    /// Returns the parameters of LogGPS, or `None` if this is not a LogGPS machine.
    pub fn gps(&self) -> Option<LogGps> {
        match self.long {
            LongMessages::LogGPS(gps) => Some(gps),
            LongMessages::LogP | LongMessages::LogGP { .. } => None,
        }
    }

    /// Returns whether this is a LogP or LogGP machine, to which those papers' closed forms apply.
    pub fn is_loggp(&self) -> bool {
        self.gps().is_none()
    }
}
