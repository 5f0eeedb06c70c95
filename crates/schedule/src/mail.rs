//! Messages between ranks, and the filter of a receive.

use super::operations::{ANY, PackedOperation};
use loggp_model::message::{MatchKey, Matchable, RawTag, RecvFilter};
use loggp_model::time::Time;

/// A message on its way to its receiver, or waiting there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mail {
    /// Time of arrival.
    pub arrival: Time,
    pub from: u32,
    /// The send operation.
    pub sent_by: u32,
    /// The number of messages that the sender had sent before.
    pub number: u32,
    pub tag: RawTag,
    /// Length in words.
    pub words: u32,
}

impl Matchable for Mail {
    #[inline]
    fn key(&self) -> MatchKey {
        (self.arrival, self.from, self.number)
    }

    #[inline]
    fn tag(&self) -> RawTag {
        self.tag
    }
}

/// Returns the filter of a receive operation.
pub(super) fn recv_filter(operation: &PackedOperation) -> RecvFilter {
    let named = |number: u32| (number != ANY).then_some(number);
    RecvFilter { from: operation.peer, tag: RawTag::from_schedule(named(operation.tag)) }
}
