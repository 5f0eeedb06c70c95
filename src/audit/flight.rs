//! A message, with what the processors did about it, and the places in which it is on its way.

use std::fmt;

use crate::params::Params;
use crate::time::Time;
use crate::trace::Message;

/// A message, and what the processors did about it.
#[derive(Clone, Copy)]
pub(super) struct Flight<'a> {
    /// The message.
    pub message: &'a Message,
    /// The parameters of the level at which it goes.
    pub params: &'a Params,
    /// The number of that level, and the sender's port and the receiver's there.
    pub level: usize,
    pub ports: [Place; 2],
    /// How long its last word comes after the first.
    pub spread: Time,
    /// What its sender did, if anybody sent it.
    pub sent: Option<Sent>,
    /// How often its receiver took it.
    pub received: usize,
    /// When the gap after the sender's message before this one is over, if there is such a message.
    pub gap_over: Option<Time>,
    /// The moment before which the message may not come out, if it may overtake no message on the same way.
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

/// A place in the network that can hold a limited number of messages at once, at the level of this number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Place {
    /// A processor's end of the network, for what it sends.
    From(usize, usize),
    /// A processor's end of the network, for what it receives.
    To(usize, usize),
    /// The port of a processor, or of the group that begins with it. The flag says whether it is the port for receiving; a
    /// single port has `false`.
    Port(usize, usize, bool),
}

impl Place {
    pub(super) fn level(self) -> usize {
        let (Place::From(level, _) | Place::To(level, _) | Place::Port(level, ..)) = self;
        level
    }
}

impl Flight<'_> {
    /// When the message was ready, or when it entered if nobody sent it.
    pub(super) fn ready(&self) -> Time {
        self.sent.map_or(self.message.enter, |sent| sent.ready)
    }

    /// When the message asks for its way: when it is ready, or when it would arrive if a negative G_l makes that earlier.
    pub(super) fn ask(&self) -> Time {
        self.ready().min(self.ready() + self.message.latency + self.spread)
    }

    /// The places that the message takes, from when to when: both ends of the network during [enter, arrival), and the ports
    /// if it is long.
    pub(super) fn stays(&self) -> impl Iterator<Item = (Place, Time, Time)> + use<> {
        let Message { id, to, enter, first, arrival, .. } = *self.message;
        let ([exit, entrance], level) = (self.ports, self.level);
        let stays = [
            (Place::From(level, id.from), enter, arrival),
            (Place::To(level, to), enter, arrival),
            (exit, enter, enter + self.spread),
            (entrance, first, first + self.spread),
        ];
        stays.into_iter().filter(|(_, start, end)| start < end)
    }
}

/// A place, as the report's sentences say it.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::From(_, id) => write!(f, "in transit from processor {id}"),
            Place::To(_, id) => write!(f, "in transit to processor {id}"),
            Place::Port(_, id, _) => write!(f, "in the port of processor {id}"),
        }
    }
}
