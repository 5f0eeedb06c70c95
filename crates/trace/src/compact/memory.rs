//! Memory of a compact file: earlier values to which the next item refers.

use std::collections::HashMap;
use std::hash::Hash;
use std::io::{Error, Result};

use loggp_model::message::MessageId;
use loggp_model::time::Time;

/// The number of time differences that a list remembers.
const TIMES: usize = 128;

/// Values of a list's last items, to which the next one refers.
pub(super) struct Memory {
    /// Processor of the last activity or call.
    pub id: usize,
    /// End of the last activity or call.
    pub end: Time,
    /// The last message that was sent.
    pub sent: MessageId,
    /// The last message that was received.
    pub received: MessageId,
    /// The processor that was last named as a receiver.
    pub to: usize,
    /// The processor that was last named as a source.
    pub from: usize,
    /// The length of the last message, in words or bytes.
    pub length: usize,
    /// Entry of the last message.
    pub enter: Time,
    /// The request that was last named.
    pub request: u32,
    /// The number of the last tag that was written out in full.
    pub tag: u64,
    /// The codes of recent differences between two times, each at its [`Memory::slot`].
    pub times: [Option<u64>; TIMES],
}

impl Memory {
    /// Returns the memory at the start of a list.
    pub(super) fn new() -> Memory {
        let none = MessageId { from: 0, number: usize::MAX };
        Memory {
            id: 0,
            end: Time::ZERO,
            sent: none,
            received: none,
            to: 0,
            from: 0,
            length: 0,
            enter: Time::ZERO,
            request: 0,
            tag: 0,
            times: [None; TIMES],
        }
    }

    /// Returns the slot in `times` for the code of a difference.
    pub(super) fn slot(code: u64) -> usize {
        (code.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 57) as usize
    }
}

/// Names or tags that the file had in full so far, numbered from 1.
pub(super) struct Dictionary<T> {
    /// The word for an entry in an error: `name` or `tag`.
    kind: &'static str,
    /// Entries in the order of their numbers.
    all: Vec<T>,
    numbers: HashMap<T, u64>,
}

impl<T: Clone + Eq + Hash> Dictionary<T> {
    /// Creates an empty dictionary.
    pub(super) fn new(kind: &'static str) -> Dictionary<T> {
        Dictionary { kind, all: Vec::new(), numbers: HashMap::new() }
    }

    /// Returns the number of an entry, or 0 if there is none.
    pub(super) fn number(&self, it: &T) -> u64 {
        self.numbers.get(it).copied().unwrap_or(0)
    }

    /// Returns the entry with this number.
    pub(super) fn get(&self, number: u64) -> Result<T> {
        let index = usize::try_from(number - 1).ok();
        let it = index.and_then(|index| self.all.get(index));
        it.cloned().ok_or_else(|| Error::other(format!("there is no {} {number}", self.kind)))
    }

    /// Adds an entry with the next number.
    pub(super) fn add(&mut self, it: T) {
        self.all.push(it.clone());
        self.numbers.insert(it, self.all.len() as u64);
    }
}
