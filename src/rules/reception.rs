//! What a processor waits for that waits for messages: what its engine tells its clock.

use crate::error::{Doing, WantedMessage};
use crate::message::matching::{Posted, Receive};
use crate::message::{Envelope, Letter, Want};
use crate::params::ReceptionCost;
use crate::time::Time;

/// The receives of a processor that wait for their messages, and for how long.
#[derive(Debug)]
pub(crate) struct Reception<'e> {
    /// The messages that the call takes which the processor is in, if it is one that receives.
    pub want: Want,
    /// What errors call its tag.
    pub name: Option<&'static str>,
    /// From when on a reception can start: the processor is free, and the gap since its last reception began is over.
    pub ready: Time,
    /// The moment at which it gives up.
    pub deadline: Time,
    /// What it does with the message.
    pub purpose: Purpose,
    /// The receives of requests, which were posted before, if there are any. The clock has them while the processor waits.
    pub requests: Option<&'e mut Option<Box<Requested>>>,
    /// What errors say that it waits for.
    pub awaits: Awaits,
}

/// The receives of a processor's requests.
#[derive(Debug, Default)]
pub(crate) struct Requested {
    /// Those that wait for a message.
    pub posted: Posted,
    /// The one of them that gets the message; if none does, the call gets it.
    pub chosen: Option<Receive>,
    /// What errors say that the processor waits for, if it waits for requests.
    pub awaited: Option<Doing>,
}

/// What a receive does with its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// It takes it, which costs the overhead: the processor goes on when that is over.
    Take,
    /// It looks at it, which is over at once, and leaves it where it is.
    Look,
    /// It takes it while requests are under way, which may have to act before the reception is over: so the processor
    /// goes on at once.
    Fetch,
    /// The same, and it gives up at the deadline; else that is when a request acts.
    FetchInTime,
}

/// What errors say that a processor waits for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Awaits {
    /// The message that it wants.
    #[default]
    Message,
    /// That a processor agrees to a message of so many words, more than S.
    Agreement {
        /// The receiver.
        to: u32,
        /// The length of the message.
        words: u32,
        /// The machine's S.
        S: usize,
    },
}

impl Awaits {
    /// What a processor does that waits for this, and wants these messages.
    pub(crate) fn doing(self, want: Want, name: Option<&'static str>) -> Doing {
        match self {
            Awaits::Message => Doing::WaitingFor(WantedMessage { want, name }),
            Awaits::Agreement { to, words, S } => {
                Doing::WaitingToSend { to: to as usize, words: words as usize, S }
            }
        }
    }
}

impl Purpose {
    /// Whether a call sees a message at its deadline. What another sends in that very instant it does not: who came first
    /// would be a matter of chance.
    #[inline]
    pub(crate) fn sees(self, message: &Envelope, deadline: Time, cost: &ReceptionCost) -> bool {
        let Letter { from, to, words, tag, .. } = message.letter;
        let is_now = message.arrival == deadline && self != Purpose::Fetch;
        !is_now || from == to || tag.is_signal() || !cost.is_instant(words)
    }

    /// When a processor goes on that gets a message, if it is ready from a moment on. A signal of the machine's own barrier
    /// costs nothing.
    #[inline]
    pub(crate) fn over(self, message: &Envelope, ready: Time, cost: &ReceptionCost) -> Time {
        let start = ready.max(message.arrival);
        let costs = self == Purpose::Take && !message.letter.tag.is_signal();
        if costs { start + cost.of(message.letter.words as usize) } else { start }
    }
}

impl Reception<'_> {
    /// A look for a message that is there now.
    pub(crate) fn look(want: Want, now: Time) -> Reception<'static> {
        let (name, purpose, awaits) = (None, Purpose::Look, Awaits::Message);
        Reception { want, name, ready: now, deadline: now, purpose, requests: None, awaits }
    }
}
