//! What travels between ranks, and what a rank's receives take.

use super::stored::{ANY, Packed};
use crate::message::{Matched, RawTag, Want};
use crate::time::Time;

/// A message at its receiver.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mail {
    /// When it is there.
    pub arrival: Time,
    /// Its sender.
    pub from: u32,
    /// The operation that sent it.
    pub sent_by: u32,
    /// How many messages its sender had sent before.
    pub number: u32,
    /// What it is about.
    pub tag: RawTag,
    /// Its length.
    pub words: u32,
}

impl Matched for Mail {
    #[inline]
    fn arrival(&self) -> Time {
        self.arrival
    }

    #[inline]
    fn from(&self) -> u32 {
        self.from
    }

    #[inline]
    fn number(&self) -> u32 {
        self.number
    }

    #[inline]
    fn tag(&self) -> RawTag {
        self.tag
    }
}

/// What an operation receives.
pub(super) fn wanted(operation: &Packed) -> Want {
    let named = |number: u32| (number != ANY).then_some(number);
    Want { from: operation.peer, tag: RawTag::scheduled(named(operation.tag)) }
}
