//! What goes wrong in a run through no fault of its program.

use std::collections::{BTreeMap, BTreeSet};

use crate::message::MessageId;
use crate::time::Time;

/// What goes wrong in a run through no fault of its program. A [check](crate::Check::losses) draws it, and a trace says what
/// of it happened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Faults {
    /// The messages that leave their senders and never arrive. None that a processor sends to itself is lost.
    pub lost: BTreeSet<MessageId>,
    /// The messages that come twice, and how much later the second time. None that a processor sends to itself does, and none
    /// that asks for its way first (LogGPS).
    pub twice: BTreeMap<MessageId, Time>,
    /// The processors that crash, each before its message of this number: it does nothing any more, and has no result.
    pub crashed: BTreeMap<usize, usize>,
}

impl Faults {
    /// Returns whether nothing goes wrong.
    pub fn is_empty(&self) -> bool {
        *self == Faults::default()
    }

    /// Returns whether messages may be left that nobody receives: the program no longer knows what comes.
    pub(crate) fn may_leave_messages(&self) -> bool {
        !(self.lost.is_empty() && self.crashed.is_empty())
    }

    /// Returns the same with one fault less, for each of its faults.
    pub(crate) fn fewer(&self) -> impl Iterator<Item = Faults> {
        let without_loss = |message| {
            let mut fewer = self.clone();
            fewer.lost.remove(message);
            fewer
        };
        let without_crash = |id| {
            let mut fewer = self.clone();
            fewer.crashed.remove(id);
            fewer
        };
        let without_second = |message| {
            let mut fewer = self.clone();
            fewer.twice.remove(message);
            fewer
        };
        let come = self.lost.iter().map(without_loss).chain(self.twice.keys().map(without_second));
        come.chain(self.crashed.keys().map(without_crash))
    }
}
