//! A message, with what the processors did about it, and the places in which it is on its way.

use std::fmt;

use crate::params::Ports;
use crate::time::Time;
use crate::trace::Message;

/// A message, and what the processors did about it.
#[derive(Clone, Copy)]
pub(super) struct Flight<'a> {
    /// The message.
    pub message: &'a Message,
    /// How long its last word comes after the first.
    pub spread: Time,
    /// What its sender did, if anybody sent it.
    pub sent: Option<Sent>,
    /// Whether its receiver took it.
    pub received: bool,
    /// When the gap after its sender's message before it is over, if there is one.
    pub gap_over: Option<Time>,
    /// It comes out no earlier, if it may overtake none on the same way.
    pub not_before: Option<Time>,
}

/// What the sender of a message did.
#[derive(Clone, Copy)]
pub(super) struct Sent {
    /// When the overhead began.
    pub begun: Time,
    /// When the overhead was over.
    pub ready: Time,
    /// When its stall was over, if it stalled.
    pub admitted: Time,
    /// When its wait for the port was over, if it waited.
    pub entered: Time,
}

/// A place that holds so many messages at once.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Place {
    /// A processor's end of the network, for what it sends.
    From(usize),
    /// The same for what it receives.
    To(usize),
    /// A processor's port: whether it is the one for receiving, where there are two.
    Port(usize, bool),
}

impl Flight<'_> {
    /// When it was ready, or at least entered.
    pub(super) fn ready(&self) -> Time {
        self.sent.map_or(self.message.enter, |sent| sent.ready)
    }

    /// When it asks for its way: when it is ready, or when it would be there, if a negative G_l makes that earlier.
    pub(super) fn ask(&self) -> Time {
        self.ready().min(self.ready() + self.message.latency + self.spread)
    }

    /// Its sender's port, and its receiver's.
    pub(super) fn ports(&self, ports: Ports) -> [Place; 2] {
        [Place::Port(self.message.id.from, false), Place::Port(self.message.to, ports == Ports::Dual)]
    }

    /// Where it is from when to when: in transit during [enter, arrival), and a long one in the ports at both ends.
    pub(super) fn stays(&self, ports: Ports) -> impl Iterator<Item = (Place, Time, Time)> + use<> {
        let Message { id, to, enter, first, arrival, .. } = *self.message;
        let [exit, entrance] = self.ports(ports);
        let stays = [
            (Place::From(id.from), enter, arrival),
            (Place::To(to), enter, arrival),
            (exit, enter, enter + self.spread),
            (entrance, first, first + self.spread),
        ];
        stays.into_iter().filter(|(_, start, end)| start < end)
    }
}

/// Where a message is, as sentences say it.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::From(id) => write!(f, "in transit from processor {id}"),
            Place::To(id) => write!(f, "in transit to processor {id}"),
            Place::Port(id, _) => write!(f, "in the port of processor {id}"),
        }
    }
}
