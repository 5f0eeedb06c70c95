//! What came before, by which the next is written.

use std::collections::HashMap;
use std::hash::Hash;
use std::io::{Error, Result};

use crate::message::MessageId;
use crate::time::Time;

/// So many times are remembered.
const TIMES: usize = 128;

/// What came before in the same list.
pub(super) struct Memory {
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
    pub tag: u64,
    /// Times that were there lately, each in the place that follows from it.
    pub times: [Option<u64>; TIMES],
}

impl Memory {
    /// Before a list.
    pub(super) fn new() -> Memory {
        let none = MessageId { from: 0, number: usize::MAX };
        let (id, to, from, length, request, tag) = (0, 0, 0, 0, 0, 0);
        let (end, enter) = (Time::ZERO, Time::ZERO);
        Memory { id, end, sent: none, got: none, to, from, length, enter, request, tag, times: [None; TIMES] }
    }

    /// The place of a time, by its code.
    pub(super) fn place(code: u64) -> usize {
        (code.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 57) as usize
    }
}

/// Names or tags that came before in the same file. Each has a number, from 1.
pub(super) struct Known<T> {
    /// What they are, for an error.
    kind: &'static str,
    /// In the order of their numbers.
    all: Vec<T>,
    /// Which number they have.
    numbers: HashMap<T, u64>,
}

impl<T: Clone + Eq + Hash> Known<T> {
    /// None of this kind.
    pub(super) fn new(kind: &'static str) -> Known<T> {
        Known { kind, all: Vec::new(), numbers: HashMap::new() }
    }

    /// Its number, or 0 if it was not there.
    pub(super) fn number(&self, it: &T) -> u64 {
        self.numbers.get(it).copied().unwrap_or(0)
    }

    /// The one with this number.
    pub(super) fn get(&self, number: u64) -> Result<T> {
        let place = usize::try_from(number - 1).ok();
        let it = place.and_then(|place| self.all.get(place));
        it.cloned().ok_or_else(|| Error::other(format!("there is no {} {number}", self.kind)))
    }

    /// It was there.
    pub(super) fn add(&mut self, it: T) {
        self.all.push(it.clone());
        self.numbers.insert(it, self.all.len() as u64);
    }
}
