//! What goes wrong in a run through no fault of its program.

use std::collections::{BTreeMap, BTreeSet};

use crate::message::MessageId;

/// What goes wrong in a run through no fault of its program. A [check](crate::Check::losses) draws it, and a trace says what
/// of it happened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Faults {
    /// The messages that leave their senders and never arrive. None that a processor sends to itself is lost.
    pub lost: BTreeSet<MessageId>,
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
        self.lost.iter().map(without_loss).chain(self.crashed.keys().map(without_crash))
    }
}
