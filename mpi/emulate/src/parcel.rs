//! The program's messages as they travel.

use std::collections::VecDeque;

use std::sync::Arc;

use loggp::Payload;
use loggp_mpi_trace::call::Receive;
use loggp_mpi_trace::recording::post::{Address, Signature};

/// The number of accesses of each rank that have ended.
pub(crate) type EndedAccesses = Arc<[u64]>;

/// A message of the program: its tag in its communicator, and its data.
pub(crate) struct ProgramMessage {
    pub tag: u32,
    /// The types of its data, if they are known.
    pub types: Signature,
    /// What its sender can know of accesses to windows, if the program is checked.
    pub ended: Option<EndedAccesses>,
    pub data: Vec<u8>,
}

impl Payload for ProgramMessage {
    fn bytes(&self) -> usize {
        self.data.len()
    }
}

/// A message under way from one rank to another.
pub(crate) struct UnderWay {
    /// Its number among the messages of its sender.
    pub number: u64,
    pub scope: u32,
    pub tag: u32,
    pub bytes: u64,
    /// Where the program sends it, if that is checked.
    pub place: Address,
}

/// Messages under way from one rank to another, in the order of their sends.
pub(crate) type Sent = VecDeque<UnderWay>;

/// A message that a rank has: its sender in the world, and the message.
pub(crate) struct Got {
    pub from: usize,
    pub scope: u32,
    pub parcel: ProgramMessage,
    /// Its number among the rank's messages to itself, or 0 if another rank sent it.
    pub own_number: u64,
}

impl Got {
    /// Returns whether a receive in a scope takes it.
    pub(crate) fn is_meant(&self, receive: &Receive, scope: u32) -> bool {
        is_meant(receive, scope, (self.from, self.scope, self.parcel.tag))
    }
}

/// Returns whether a receive in a scope takes a message of a sender, a scope and a tag.
pub(crate) fn is_meant(receive: &Receive, scope: u32, (from, of, tag): (usize, u32, u32)) -> bool {
    of == scope
        && receive.from.is_none_or(|asked| asked as usize == from)
        && receive.tag.is_none_or(|asked| asked as u32 == tag)
}
