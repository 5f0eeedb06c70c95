//! What a message is called, in errors and in traces.

use std::fmt;

/// Names a message by its sender and its number among that sender's messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MessageId {
    /// The sender.
    pub from: usize,
    /// How many messages the sender had sent before.
    pub number: usize,
}

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "message {} of processor {}", self.number, self.from)
    }
}
