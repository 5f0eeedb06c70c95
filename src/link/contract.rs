//! The interface of a link.

use std::fmt;
use std::time::Duration;

use loggp_model::message::{Body, Slice};

/// A link that carries messages between the processes of a machine: see
/// [`Machine::with_link`](crate::Machine::with_link).
///
/// Messages from one process to another arrive in the order in which they were sent. A message is a few
/// bytes, and optionally a long slice, which a link may send from and receive into its final place.
pub trait Link: Send + Sync {
    /// Returns the number of this process, from 0 on.
    fn id(&self) -> usize;

    /// Returns the number of processes.
    fn P(&self) -> usize;

    /// Sends a message to another process, and returns when its bytes may be changed. Until then the link
    /// continues to receive, so that two processes can send to each other at the same time.
    fn send(&self, to: usize, bytes: &[u8], slice: Option<Slice>);

    /// Returns the next message that has arrived, if there is one.
    fn poll(&self) -> Option<Incoming>;

    /// Returns whether a process has ended and all its messages have been received.
    fn has_ended(&self, id: usize) -> bool;

    /// Returns the largest number of bytes of a message, and of the slice behind it.
    fn max_bytes(&self) -> usize {
        usize::MAX
    }

    /// Returns whether processes share cores. A process that waits then yields its core.
    fn is_crowded(&self) -> bool;

    /// Returns for how much of the time during which process 0 computes the process `other` then waits for a message of so
    /// many bytes, which process 0 has begun to send: 1 or more if nobody else moves it. `None` if that cannot be measured.
    /// All processes call this function.
    fn wait_while_sender_computes(&self, _other: usize, _bytes: usize, _computing: Duration) -> Option<f64> {
        None
    }

    /// Returns a description in a few words, such as `2 threads`.
    fn name(&self) -> String;
}

/// A message that has arrived over a link.
#[derive(Debug)]
pub struct Incoming {
    /// The process that sent the packet.
    pub from: usize,
    /// Its bytes, without the slice.
    pub bytes: Vec<u8>,
    /// Its slice, if it has one.
    pub slice: Option<Body>,
}

impl fmt::Debug for dyn Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.id(), self.name())
    }
}
