//! Faults of the machine, which no program causes.

use std::collections::{BTreeMap, BTreeSet};

use crate::message::MessageId;
use crate::time::Time;

/// Faults of the machine in a run, which its program doesn't cause. A check draws
/// them, and a trace says which happened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Messages that leave their senders and never arrive. A message to the sender itself is never lost.
    pub lost: BTreeSet<MessageId>,
    /// Messages that arrive twice, and how much later the second time. A message to the sender itself never
    /// does, nor does a message with a rendezvous (LogGPS).
    pub twice: BTreeMap<MessageId, Time>,
    /// Processors that crash, each before its message with this number. A crashed processor does nothing any
    /// more and has no result.
    pub crashed: BTreeMap<usize, usize>,
    /// Whether the run was allowed to end before its programs, and with messages and requests left.
    pub ended_early: bool,
}

impl Faults {
    /// Returns whether there are no faults.
    pub fn is_empty(&self) -> bool {
        *self == Faults::default()
    }

    /// Returns whether messages may remain that are not received, because the program cannot know which
    /// arrive.
    #[doc(hidden)]
    pub fn may_leave_messages(&self) -> bool {
        self.ended_early || !(self.lost.is_empty() && self.crashed.is_empty())
    }
}
