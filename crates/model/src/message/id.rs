//! The name of a message in errors and traces.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A message, named by its sender and its number among that sender's messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct MessageId {
    /// The sender.
    pub from: usize,
    /// Number of messages that the sender sent before it.
    pub number: usize,
}

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "message {} of processor {}", self.number, self.from)
    }
}
