//! What happened in a run: activities, progress of requests, messages and calls.

use std::borrow::Cow;

use super::call::Call;
use crate::message::MessageId;
use crate::time::Time;

/// What happened in a run, by processor.
#[derive(Clone, Debug, Default)]
pub struct Records {
    /// The activities of the processors, by processor and then by time.
    pub activities: Vec<Activity>,
    /// The progress of requests beside that: by processor, then by when it waited for them, and then by time.
    pub progress: Vec<Progress>,
    /// The messages, by sender and then in the order in which it sent them.
    pub messages: Vec<Message>,
    /// The calls of the programs, by processor and then by time.
    pub calls: Vec<Call>,
}

/// An activity of a processor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Activity {
    /// The processor.
    pub id: usize,
    /// The start.
    pub start: Time,
    /// The end.
    pub end: Time,
    /// The kind of activity.
    pub kind: ActivityKind,
}

/// A kind of activity of a processor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ActivityKind {
    /// Compute: this kind of work.
    Work(Cow<'static, str>),
    /// The overhead of sending a message.
    Send(MessageId),
    /// The overhead of receiving a message.
    Receive(MessageId),
    /// Wait for the gap after a send or a reception.
    Gap,
    /// Wait for the capacity.
    Stall,
    /// Wait for the port.
    Port,
    /// Wait for a message or a moment.
    Idle,
    /// Wait in the machine's own barrier: for the other processors, and for the barrier's cost. A barrier
    /// that takes no time is recorded too.
    Barrier,
    /// Start the request with this number.
    Post(u32),
    /// Wait for the request with this number.
    Wait(u32),
}

impl ActivityKind {
    /// Returns whether the processor is busy all the time, so that [noise](crate::params::Noise) lengthens all of it.
    pub fn is_busy(&self) -> bool {
        use ActivityKind::{Post, Receive, Send, Work};
        matches!(self, Work(_) | Send(_) | Receive(_) | Post(_))
    }

    /// Returns the message whose overhead it is.
    #[doc(hidden)]
    pub fn message(&self) -> Option<MessageId> {
        match *self {
            ActivityKind::Send(id) | ActivityKind::Receive(id) => Some(id),
            _ => None,
        }
    }
}

/// A stretch of a request's progress, which goes on beside its processor's activities.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The processor.
    pub id: usize,
    /// The request's number: how many requests its processor had made before.
    pub request: u32,
    /// The start.
    pub start: Time,
    /// The end.
    pub end: Time,
    /// The kind of activity.
    pub kind: ActivityKind,
}

/// A message and its times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The name of the message.
    pub id: MessageId,
    /// Its receiver.
    pub to: usize,
    /// Length in words.
    pub words: usize,
    /// The latency of its first word while the port is free: the one drawn for it, or L.
    pub latency: Time,
    /// Its sender's place among the processors that act at the same time, by the order of the machine's
    /// [`Ties`](crate::params::Ties).
    pub place: usize,
    /// The time at which its first word entered the network.
    pub enter: Time,
    /// The time at which its first word left the network.
    pub first: Time,
    /// The time at which all of it had arrived.
    pub arrival: Time,
}
