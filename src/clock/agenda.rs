//! Who runs next on the jumping clock.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::time::Time;

/// The processors that wait for a time, in a heap by time and then by number.
#[derive(Debug, Default)]
pub(crate) struct Agenda(BinaryHeap<Reverse<Entry>>);

/// A processor and its time, packed into one number that compares fast: time, number, ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry(u128);

impl Entry {
    /// Processor `id` runs at `time`, unless its ticket has changed by then.
    pub fn new(time: Time, id: u32, ticket: u32) -> Entry {
        debug_assert!(time >= Time::ZERO);
        Entry((time.as_ps() as u128) << 64 | u128::from(id) << 32 | u128::from(ticket))
    }

    pub fn id(self) -> u32 {
        (self.0 >> 32) as u32
    }

    pub fn ticket(self) -> u32 {
        self.0 as u32
    }
}

impl Agenda {
    /// Adds an entry.
    pub fn add(&mut self, entry: Entry) {
        self.0.push(Reverse(entry));
    }

    /// Takes the earliest entry.
    pub fn pop(&mut self) -> Option<Entry> {
        self.0.pop().map(|Reverse(entry)| entry)
    }

    /// Takes the earliest entry and puts `mine` in its place; or does nothing, if `mine` is the earliest.
    pub fn exchange(&mut self, mine: Entry) -> Option<Entry> {
        let mut top = self.0.peek_mut()?;
        if mine < top.0 {
            return None;
        }
        let Reverse(earliest) = std::mem::replace(&mut *top, Reverse(mine));
        drop(top);
        Some(earliest)
    }
}
