//! What an engine tells its clock when its processor waits for messages.

use crate::error::{Doing, WantedMessage};
use crate::message::matching::{Posted, Receive};
use crate::message::{Outside, Seen, Want};
use crate::params::{ByLevel, ReceptionCost};
use crate::time::Time;

/// Which messages a processor waits for, and how long.
#[derive(Debug)]
pub(crate) struct Reception<'e> {
    /// The messages that the processor's current call takes, if that is a receive.
    pub want: Want,
    /// When a reception can start: the processor is free, and the gap since its last reception began is over.
    pub ready: Time,
    /// When the processor gives up.
    pub deadline: Time,
    /// What the processor does with the message.
    pub purpose: Purpose,
    /// The receives of requests, if there are any. They were posted before the call. The clock has them during the wait.
    pub requests: Option<&'e mut Option<Box<Requested>>>,
    /// What errors say that the processor waits for.
    pub awaits: Awaits,
}

/// The receives of a processor's requests.
#[derive(Debug, Default)]
pub(crate) struct Requested {
    /// The receives that wait for a message.
    pub posted: Posted,
    /// The receive that gets the message; if it is `None`, the call gets it.
    pub chosen: Option<Receive>,
    /// What errors say that the processor waits for, if it waits for requests.
    pub awaited: Option<Doing>,
}

/// What a receive does with its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// It takes the message, and the processor goes on when the overhead is over.
    Take,
    /// It looks at the message and leaves it where it is, which takes no time.
    Look,
    /// It takes the message, and the processor goes on at once: requests may have to act before the reception is over. The
    /// deadline is when a request acts.
    Fetch,
    /// As `Fetch`, but the deadline is when the receive gives up.
    FetchInTime,
}

/// What errors say that a processor waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Awaits {
    /// The message that it wants.
    #[default]
    Message,
    /// A processor's reply to the request for a message of more than S words.
    Agreement { to: u32, words: u32, S: usize },
}

impl Awaits {
    /// What errors say of a processor that waits for this, and wants these messages.
    pub(crate) fn doing(self, want: Want, name: Option<String>) -> Doing {
        match self {
            Awaits::Message => Doing::WaitingFor(WantedMessage { want, name }),
            Awaits::Agreement { to, words, S } => {
                Doing::WaitingToSend { to: to as usize, words: words as usize, S }
            }
        }
    }
}

impl Purpose {
    /// Whether a call with this deadline sees the message. It does not see one that is sent and arrives in the very instant of the
    /// deadline.
    #[inline]
    pub(crate) fn sees(self, (arrival, message): Seen, deadline: Time) -> bool {
        arrival != deadline || self == Purpose::Fetch || !message.to.is_instant()
    }

    /// When a processor that is `ready` goes on after it got a message. A signal of the machine's own barrier costs
    /// nothing.
    #[inline]
    pub(crate) fn over(self, (arrival, message): Seen, ready: Time, cost: &ByLevel<ReceptionCost>) -> Time {
        let start = ready.max(arrival);
        let Outside { from, words, tag, .. } = message;
        let costs = self == Purpose::Take && !tag.is_signal();
        if costs {
            start + cost.between(from as usize, message.to.id() as usize).of(words as usize)
        } else {
            start
        }
    }
}

impl Reception<'_> {
    /// A look for a message that has arrived.
    pub(crate) fn look(want: Want, now: Time) -> Reception<'static> {
        let (purpose, awaits) = (Purpose::Look, Awaits::Message);
        Reception { want, ready: now, deadline: now, purpose, requests: None, awaits }
    }
}
