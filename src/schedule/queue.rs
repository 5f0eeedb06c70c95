//! Queues of operations, as linked lists in one shared pool: an empty queue takes four bytes.

use crate::time::Time;

/// Stands for no entry.
const NONE: u32 = u32::MAX;

/// The entries of all queues, and free places.
#[derive(Debug)]
pub(super) struct LinkPool {
    entries: Vec<QueueLink>,
    /// The first free place, or [`NONE`].
    free: u32,
}

/// An entry: an operation in a queue.
#[derive(Clone, Copy, Debug)]
struct QueueLink {
    /// The time since which it is ready.
    since: Time,
    operation: u32,
    /// The next entry of the queue, which is circular; or for a free place the next free place.
    after: u32,
}

/// Operations in the order in which they became ready; ties go by the operation's number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queue {
    /// The last entry, whose successor is the first; [`NONE`] if the queue is empty.
    last: u32,
}

impl QueueLink {
    /// Returns the sort key.
    fn key(&self) -> (Time, u32) {
        (self.since, self.operation)
    }
}

impl LinkPool {
    /// Size of an entry in bytes.
    pub(super) const BYTES: u64 = size_of::<QueueLink>() as u64;

    /// Creates an empty pool with room for this many entries.
    pub(super) fn with_capacity(operations: usize) -> LinkPool {
        LinkPool { entries: Vec::with_capacity(operations), free: NONE }
    }

    /// Stores an entry and returns its place.
    #[inline]
    fn insert(&mut self, link: QueueLink) -> u32 {
        match self.free {
            NONE => {
                self.entries.push(link);
                (self.entries.len() - 1) as u32
            }
            place => {
                self.free = std::mem::replace(&mut self.entries[place as usize], link).after;
                place
            }
        }
    }
}

impl Default for Queue {
    fn default() -> Queue {
        Queue { last: NONE }
    }
}

impl Queue {
    /// Returns the first operation and the time since which it is ready, or `None` if the queue is empty.
    #[inline]
    pub(super) fn first(&self, links: &LinkPool) -> Option<(Time, u32)> {
        let last = links.entries.get(self.last as usize)?;
        Some(links.entries[last.after as usize].key())
    }

    /// Inserts an operation in order. Mostly it comes last.
    #[inline]
    pub(super) fn push(&mut self, links: &mut LinkPool, since: Time, operation: u32) {
        let entry = links.insert(QueueLink { since, operation, after: NONE });
        let Some(last) = links.entries.get(self.last as usize) else {
            (links.entries[entry as usize].after, self.last) = (entry, entry);
            return;
        };
        let is_last = last.key() < (since, operation);
        let mut before = self.last;
        while !is_last
            && links.entries[links.entries[before as usize].after as usize].key() < (since, operation)
        {
            before = links.entries[before as usize].after;
        }
        let after = std::mem::replace(&mut links.entries[before as usize].after, entry);
        links.entries[entry as usize].after = after;
        if is_last {
            self.last = entry;
        }
    }

    /// Removes the first operation, or returns `None` if the queue is empty.
    #[inline]
    pub(super) fn pop(&mut self, links: &mut LinkPool) -> Option<u32> {
        let first = links.entries.get(self.last as usize)?.after;
        let QueueLink { operation, after, .. } = links.entries[first as usize];
        links.entries[self.last as usize].after = after;
        if first == self.last {
            self.last = NONE;
        }
        links.entries[first as usize].after = std::mem::replace(&mut links.free, first);
        Some(operation)
    }
}
