//! What must be known about all ranks before the schedule of one is written.

use rustc_hash::{FxHashMap, FxHashSet};

use super::collective_counts::CollectiveSeries;
use crate::call::{Envelope, RequestId};

/// The sender, the receiver and the schedule's tag of messages.
pub(super) type Channel = (u32, u32, u32);

/// The outcome of a request that only a later call tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// A receive took this message.
    Took(Envelope),
    /// The request was cancelled, or did not complete.
    Nothing,
}

/// The outcomes of requests, by their ranks and numbers.
pub(super) type Fates = FxHashMap<(u32, RequestId), Fate>;

/// The facts about all ranks without which the schedule is not right. Earlier readings of the calls find
/// these facts.
#[derive(Debug, Default)]
pub(super) struct Knowledge {
    /// The outcomes of requests.
    pub fates: Fates,
    /// Ranks and numbers of their communicators on which they receive with any tag only.
    pub one_tag: FxHashSet<(u32, u32)>,
    /// Channels in which not all messages were received, with the number that were.
    pub limits: FxHashMap<Channel, u32>,
    /// Synchronous sends, by their numbers in the channel.
    pub synchronous: FxHashMap<Channel, Vec<u32>>,
    /// Collectives that not all ranks made: those of a communicator, or a persistent one of its, with the number that all made.
    pub collectives: FxHashMap<CollectiveSeries, u64>,
}

impl Knowledge {
    /// Returns whether a rank receives on a communicator with any tag only, so that tags tell nothing apart.
    #[inline]
    pub(super) fn has_one_tag(&self, rank: u32, communicator: u32) -> bool {
        !self.one_tag.is_empty() && self.one_tag.contains(&(rank, communicator))
    }

    /// Returns whether a channel has fewer messages than this.
    #[inline]
    pub(super) fn is_beyond(&self, channel: Channel, number: u32) -> bool {
        !self.limits.is_empty() && self.limits.get(&channel).is_some_and(|limit| number >= *limit)
    }

    /// Returns whether a message is of a synchronous send.
    #[inline]
    pub(super) fn is_synchronous(&self, channel: Channel, number: u32) -> bool {
        !self.synchronous.is_empty()
            && self.synchronous.get(&channel).is_some_and(|all| all.binary_search(&number).is_ok())
    }
}
