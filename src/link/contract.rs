//! What a link does.

use std::fmt;

use crate::message::{Body, Slice};

/// What carries messages between the processes of a machine: see [`Machine::over`](crate::Machine::over).
///
/// Messages from one process to another come in the order in which they were sent. A message is a few bytes, and perhaps a
/// long slice that is sent from where it lies and received where it stays.
pub trait Link: Send + Sync {
    /// Which of the processes this is, from 0 on.
    fn id(&self) -> usize;

    /// How many processes there are.
    fn p(&self) -> usize;

    /// Sends a message to another process, and goes on when its bytes can be changed. While that is not so the link goes on
    /// to receive, so that two can send to each other.
    fn send(&self, to: usize, bytes: &[u8], slice: Option<Slice>);

    /// The next message that has come, if there is one.
    fn poll(&self) -> Option<Came>;

    /// Whether a process has ended, so that nothing more comes from it. What it has sent before has all come.
    fn has_ended(&self, id: usize) -> bool;

    /// How many bytes a message, or the slice behind it, has at most.
    fn longest(&self) -> usize {
        usize::MAX
    }

    /// Whether processes share cores: then one that waits lets others have its core.
    fn is_crowded(&self) -> bool;

    /// What it is, in a few words: `2 channels`, say.
    fn name(&self) -> String;
}

/// A message that has come.
#[derive(Debug)]
pub struct Came {
    /// From which process.
    pub from: usize,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Its slice.
    pub slice: Option<Body>,
}

/// A link as a machine has it.
impl fmt::Debug for dyn Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.id(), self.name())
    }
}
