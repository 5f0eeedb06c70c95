//! What a small file has said already: the next item is written as its difference from that.

use std::collections::HashMap;
use std::hash::Hash;
use std::io::{Error, Result};

use crate::message::MessageId;
use crate::time::Time;

/// How many lengths of time a list remembers.
const TIMES: usize = 128;

/// What the items of a list so far leave for the next one to refer to.
pub(super) struct Memory {
    /// The processor of the last activity or call.
    pub id: usize,
    /// When the last activity or call ended.
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
    /// When the last message entered the network.
    pub enter: Time,
    /// The request that was last named.
    pub request: u32,
    /// The number of the last tag that was written out in full.
    pub tag: u64,
    /// The codes of recent differences between two times, each at its [`Memory::place`].
    pub times: [Option<u64>; TIMES],
}

impl Memory {
    /// The memory at the beginning of a list.
    pub(super) fn new() -> Memory {
        let none = MessageId { from: 0, number: usize::MAX };
        let (id, to, from, length, request, tag) = (0, 0, 0, 0, 0, 0);
        let (end, enter) = (Time::ZERO, Time::ZERO);
        Memory { id, end, sent: none, got: none, to, from, length, enter, request, tag, times: [None; TIMES] }
    }

    /// The place in `times` for the code of a difference between two times.
    pub(super) fn place(code: u64) -> usize {
        (code.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 57) as usize
    }
}

/// The names, or the tags, that the file has written out so far, numbered from 1.
pub(super) struct Known<T> {
    /// The word for one of them in an error: a name or a tag.
    kind: &'static str,
    /// All of them, in the order of their numbers.
    all: Vec<T>,
    /// The number of each.
    numbers: HashMap<T, u64>,
}

impl<T: Clone + Eq + Hash> Known<T> {
    /// Nothing is known at the beginning of a file.
    pub(super) fn new(kind: &'static str) -> Known<T> {
        Known { kind, all: Vec::new(), numbers: HashMap::new() }
    }

    /// The number of a name or a tag, or 0 if the file has not written it out so far.
    pub(super) fn number(&self, it: &T) -> u64 {
        self.numbers.get(it).copied().unwrap_or(0)
    }

    /// The name or the tag with this number.
    pub(super) fn get(&self, number: u64) -> Result<T> {
        let place = usize::try_from(number - 1).ok();
        let it = place.and_then(|place| self.all.get(place));
        it.cloned().ok_or_else(|| Error::other(format!("there is no {} {number}", self.kind)))
    }

    /// Gives the next number to a name or a tag.
    pub(super) fn add(&mut self, it: T) {
        self.all.push(it.clone());
        self.numbers.insert(it, self.all.len() as u64);
    }
}
