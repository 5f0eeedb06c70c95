//! What came before, by which the next is written.

use std::collections::HashMap;
use std::hash::Hash;

use crate::message::MessageId;
use crate::time::Time;
use crate::trace::record::Message;

/// So many times are remembered.
const TIMES: usize = 128;

/// What came before in the same list.
pub struct Memory {
    /// Whose the last activity or call was.
    pub id: usize,
    /// When it ended.
    pub end: Time,
    /// The last message that was sent.
    pub sent: MessageId,
    /// The last message that was received.
    pub got: MessageId,
    /// The processor that was last named as a receiver.
    pub to: usize,
    /// The processor that was last named as a source.
    pub from: usize,
    /// The length of the last message, in words or bytes.
    pub length: usize,
    /// When the last message entered.
    pub enter: Time,
    /// The request that was last named.
    pub request: u32,
    /// The number of the last tag that was new.
    pub tag: usize,
    /// Times that were there lately, each in the place that follows from it.
    pub times: [Option<u64>; TIMES],
}
