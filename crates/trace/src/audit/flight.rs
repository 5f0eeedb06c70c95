//! A message with its send and receptions, and the room and ports in the network that it occupies.

use std::fmt;

use loggp_model::params::Params;
use loggp_model::time::Time;
use loggp_model::transport::Capacity;

use crate::Message;

/// A message with its send and receptions.
#[derive(Clone, Copy)]
pub(super) struct Flight<'a> {
    pub message: &'a Message,
    pub params: &'a Params,
    pub level: usize,
    pub ports: [NetworkResource; 2],
    /// True if its receiver reads it from its sender's memory.
    pub is_read: bool,
    /// Time from its first word to its last.
    pub stream: Time,
    /// The times of the message's send, or `None` if no processor sent the message.
    pub sent: Option<SendTimes>,
    /// Number of times that the receiver took the message.
    pub received: usize,
    /// The start of its reception, if it was received.
    pub taken: Option<Time>,
    /// Until when it is in transit, if the number of messages is limited there.
    pub capacity: Option<Capacity>,
    /// End of the gap after the sender's message before this one, if there is one.
    pub gap_over: Option<Time>,
    /// The processor whose memory sent it, if it is an answer; its sender is the processor that asked.
    pub memory: Option<usize>,
    /// The time at which its request asked for its way, if it is an answer: it asks with the request.
    pub asked: Option<Time>,
    /// True if it goes to a memory, which no call receives.
    pub is_one_sided: bool,
    /// Time before which its first word may not come out, if it may overtake no message on the same way.
    pub not_before: Option<Time>,
}

/// The times of a send.
#[derive(Clone, Copy)]
pub(super) struct SendTimes {
    /// Start of the overhead.
    pub begun: Time,
    /// End of the overhead.
    pub ready: Time,
    /// End of the stall, if there was one; otherwise `ready`.
    pub admitted: Time,
    /// End of the wait for the port, if there was one; otherwise `admitted`.
    pub entered: Time,
}

/// A resource in the network that can hold a limited number of messages at once. The first number is its level.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum NetworkResource {
    /// A processor's end of the network for messages that it sends.
    From(usize, usize),
    /// A processor's end of the network for messages to it.
    To(usize, usize),
    /// The end of the network for the answers of a processor's memory.
    Memory(usize, usize),
    /// The credits of a processor for messages to another, or those of its memory, if the flag is `true`.
    Credits(usize, (usize, bool), usize),
    /// The port of a processor, or of the group that begins with it. The flag is `true` for a port that only
    /// receives.
    Port(usize, usize, bool),
}

impl NetworkResource {
    pub(super) fn level(self) -> usize {
        use NetworkResource::{Credits, From, Memory, Port, To};
        let (From(level, _) | To(level, _) | Memory(level, _) | Credits(level, ..) | Port(level, ..)) = self;
        level
    }

    /// Returns whether the resource is a port, which holds one message at a time, and not C.
    pub(super) fn is_port(self) -> bool {
        matches!(self, NetworkResource::Port(..))
    }

    /// Returns where its messages are counted for the report: among those from a processor (0), or to one (1).
    pub(super) fn counted(self) -> Option<usize> {
        match self {
            NetworkResource::From(..) | NetworkResource::Credits(..) => Some(0),
            NetworkResource::To(..) => Some(1),
            NetworkResource::Memory(..) | NetworkResource::Port(..) => None,
        }
    }
}

impl Flight<'_> {
    /// Returns the time at which the message was ready, or its entry if no processor sent it.
    pub(super) fn ready(&self) -> Time {
        self.sent.map_or(self.message.enter, |sent| sent.ready)
    }

    /// Returns the time at which the message asks for its way: when it is ready, or when it would arrive if a
    /// negative G_l makes that earlier.
    pub(super) fn asked_at(&self) -> Time {
        if let Some(asked) = self.asked {
            return asked;
        }
        self.ready().min(self.ready() + self.message.latency + self.stream)
    }

    /// Returns the time at which the capacity admits the message, or its entry if no processor sent it.
    pub(super) fn admitted(&self) -> Time {
        self.sent.map_or(self.message.enter, |sent| sent.admitted)
    }

    /// Returns whether it is in transit until its reception starts, which nobody knew when it entered.
    pub(super) fn lasts_until_received(&self) -> bool {
        self.capacity.is_some_and(Capacity::lasts_until_received)
    }

    /// Returns the time for which it takes room beyond its arrival, where that is known when it enters.
    pub(super) fn beyond_arrival(&self) -> Time {
        if self.has_credit() { self.params.L } else { Time::ZERO }
    }

    /// Returns whether it holds a credit while it is in transit, and until that is back.
    fn has_credit(&self) -> bool {
        self.capacity == Some(Capacity::Credits)
    }

    /// Returns the time during which the message takes room at both ends of the network.
    pub(super) fn transit(&self) -> (Time, Time) {
        match self.lasts_until_received() {
            true => (self.admitted(), self.taken.unwrap_or(Time::MAX)),
            false => (self.message.enter, self.message.arrival + self.beyond_arrival()),
        }
    }

    /// Returns the sender's end of the network and the receiver's. A credit is the sender's.
    pub(super) fn ends(&self) -> [NetworkResource; 2] {
        let Message { id, to, .. } = *self.message;
        let sender = match self.memory {
            _ if self.has_credit() => {
                let sender = (self.memory.unwrap_or(id.from), self.memory.is_some());
                NetworkResource::Credits(self.level, sender, to)
            }
            Some(memory) => NetworkResource::Memory(self.level, memory),
            None => NetworkResource::From(self.level, id.from),
        };
        [sender, NetworkResource::To(self.level, to)]
    }

    /// Returns the resources that the message occupies, each with start and end: both ends of the network during its
    /// transit, and the ports if it is long.
    pub(super) fn occupancies(&self) -> impl Iterator<Item = (NetworkResource, Time, Time)> + use<> {
        let Message { enter, first, .. } = *self.message;
        let ([egress, ingress], [sender, receiver], transit) = (self.ports, self.ends(), self.transit());
        // The receiver of data that it reads does not hold back their sender.
        let since = if self.is_read { transit.1 } else { transit.0 };
        let comes = if self.has_credit() { transit.1 } else { transit.0 };
        let occupancies = [
            (sender, since, transit.1),
            (receiver, comes, transit.1),
            (egress, enter, enter + self.stream),
            (ingress, first, first + self.stream),
        ];
        occupancies.into_iter().filter(|(_, start, end)| start < end)
    }
}

/// Describes the resource for the report's sentences.
impl fmt::Display for NetworkResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NetworkResource::From(_, id) => write!(f, "in transit from processor {id}"),
            NetworkResource::To(_, id) => write!(f, "in transit to processor {id}"),
            NetworkResource::Memory(_, id) => write!(f, "in transit from the memory of processor {id}"),
            NetworkResource::Credits(_, (id, of_memory), to) => {
                let of = if *of_memory { "the memory of " } else { "" };
                write!(f, "in transit with a credit of {of}processor {id} for {to}")
            }
            NetworkResource::Port(_, id, _) => write!(f, "in the port of processor {id}"),
        }
    }
}
