//! The wait for a message, which an engine asks of its clock.

use crate::error::{ProcStatus, WantedMessage};
use crate::message::matching::{PostedReceive, ReceiveQueue};
use crate::message::{ArrivedHeader, Header, Receiver, RecvFilter};
use crate::params::{PerLevel, ReceptionCost};
use crate::time::Time;

/// The messages that a processor waits for, from when on, and until when.
#[derive(Debug)]
pub struct MessageWait<'e> {
    /// The messages that the current call receives; none if it is not a receive.
    pub filter: RecvFilter,
    /// The earliest time at which the processor takes a message. For [`Purpose::Receive`] the receive gap is
    /// over then. For [`Purpose::Take`] it need not be: the gap delays only the reception.
    pub earliest: Time,
    /// The end of the wait.
    pub deadline: Time,
    pub purpose: Purpose,
    /// The receives of requests, which were posted before the call. The clock has them during the wait.
    pub posted_receives: Option<&'e mut Option<Box<PostedReceives>>>,
    pub wait_reason: WaitReason,
}

/// The receives of a processor's requests.
#[derive(Debug, Default)]
pub struct PostedReceives {
    /// The receives that wait for a message.
    pub queue: ReceiveQueue,
    /// The receive that gets the message; `None` if the call does.
    pub chosen: Option<PostedReceive>,
    /// True if one of them is for room in the network, whose signal may be sent any time before it arrives.
    pub awaits_room: bool,
    /// The status of the processor in errors, if it waits for requests.
    pub status: Option<ProcStatus>,
}

/// The purpose of a wait for a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Take the message, and go on when its reception is over.
    Receive,
    /// Look at the message and leave it in the inbox, which takes no time.
    Look,
    /// Take the message, and go on at its arrival, because requests may have to act before the reception is over.
    /// The deadline is the next turn, at which a request or the call acts.
    Take,
    /// As `Take`, but the deadline is the call's own, at which its receive gives up.
    TakeOrGiveUp,
}

/// The reason of a wait, for errors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WaitReason {
    /// A message that the call receives.
    #[default]
    Message,
    /// The grant of a message of more than S words, which was announced to its receiver.
    Grant { to: u32, words: u32, S: usize },
    /// Room for its message to a processor.
    Room { to: u32 },
}

impl WaitReason {
    /// Returns the status of a processor that waits for this reason, and for these messages.
    pub fn status(self, filter: RecvFilter, name: Option<String>) -> ProcStatus {
        match self {
            WaitReason::Message => ProcStatus::WaitingFor(WantedMessage { filter, name }),
            WaitReason::Room { to } => ProcStatus::WaitingForRoom { to: to as usize },
            WaitReason::Grant { to, words, S } => {
                ProcStatus::WaitingToSend { to: to as usize, words: words as usize, S }
            }
        }
    }
}

impl Purpose {
    /// Returns whether a wait with this deadline sees the message. It does not see a message that is both
    /// sent and arrives in the very instant of the deadline, unless the deadline is a turn.
    #[inline]
    pub fn can_see(self, (arrival, message): ArrivedHeader, deadline: Time) -> bool {
        arrival != deadline || self.can_see_at_once(message.to)
    }

    /// Returns whether a wait that ends at once sees a message to this receiver.
    #[cold]
    fn can_see_at_once(self, to: Receiver) -> bool {
        self == Purpose::Take || !to.is_instant()
    }

    /// Returns when a processor that takes a message at `earliest` or later goes on. A signal of the
    /// machine's own barrier costs nothing.
    #[inline]
    pub fn end(
        self,
        (arrival, message): ArrivedHeader,
        earliest: Time,
        cost: &PerLevel<ReceptionCost>,
    ) -> Time {
        let start = earliest.max(arrival);
        let Header { from, words, tag, .. } = message;
        let costs = self == Purpose::Receive && !tag.is_signal();
        if costs {
            start + cost.between(from as usize, message.to.id() as usize).overhead(words as usize)
        } else {
            start
        }
    }
}

impl MessageWait<'_> {
    /// Creates a look for a message that has arrived.
    pub fn for_probe(filter: RecvFilter, now: Time) -> MessageWait<'static> {
        let (purpose, wait_reason) = (Purpose::Look, WaitReason::Message);
        MessageWait { filter, earliest: now, deadline: now, purpose, posted_receives: None, wait_reason }
    }
}
