//! Faults of the machine, which no program causes.

use std::collections::{BTreeMap, BTreeSet};

use crate::message::MessageId;
use crate::time::Time;

/// Faults of the machine in a run, which its program doesn't cause. A [check](crate::check::Check::losses) draws
/// them, and a trace says which happened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Faults {
    /// Messages that leave their senders and never arrive. A message to the sender itself is never lost.
    pub lost: BTreeSet<MessageId>,
    /// Messages that arrive twice, and how much later the second time. A message to the sender itself never
    /// does, nor does a message with a rendezvous (LogGPS).
    pub twice: BTreeMap<MessageId, Time>,
    /// Processors that crash, each before its message with this number. A crashed processor does nothing any
    /// more and has no result.
    pub crashed: BTreeMap<usize, usize>,
}

impl Faults {
    /// Returns whether there are no faults.
    pub fn is_empty(&self) -> bool {
        *self == Faults::default()
    }

    /// Returns whether messages may remain that are not received, because the program cannot know which
    /// arrive.
    pub(crate) fn may_leave_messages(&self) -> bool {
        !(self.lost.is_empty() && self.crashed.is_empty())
    }

    /// Returns, for each fault, these faults without that one.
    pub(crate) fn reductions(&self) -> impl Iterator<Item = Faults> {
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
