//! Queues of operations that take no room in their ranks: all share the links.

use crate::time::Time;

/// No operation.
const NONE: u32 = u32::MAX;

/// What waits in queues, and the places that are free.
#[derive(Debug)]
pub(super) struct Links {
    /// What waits, and free places.
    links: Vec<Link>,
    /// The first free place.
    free: u32,
}

/// An operation in a queue.
#[derive(Clone, Copy, Debug)]
struct Link {
    /// Since when it is ready.
    since: Time,
    /// What it is.
    operation: u32,
    /// What comes after it, after the last one the first; or the free place after this one.
    after: u32,
}

/// Operations in the order in which they became ready, and of those that did so at the same time as they are written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queue {
    /// Where the last one is.
    last: u32,
}

impl Link {
    /// Since when the operation is ready, and what it is.
    fn waits(&self) -> (Time, u32) {
        (self.since, self.operation)
    }
}

impl Links {
    /// What one operation in a queue takes.
    pub(super) const BYTES: u64 = size_of::<Link>() as u64;

    /// Nothing waits, and there is room for so many.
    pub(super) fn with_room(operations: usize) -> Links {
        Links { links: Vec::with_capacity(operations), free: NONE }
    }

    /// Puts a link where there is room.
    #[inline]
    fn put(&mut self, link: Link) -> u32 {
        match self.free {
            NONE => {
                self.links.push(link);
                (self.links.len() - 1) as u32
            }
            place => {
                self.free = std::mem::replace(&mut self.links[place as usize], link).after;
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
    /// The first operation, and since when it is ready.
    #[inline]
    pub(super) fn first(&self, links: &Links) -> Option<(Time, u32)> {
        let last = links.links.get(self.last as usize)?;
        Some(links.links[last.after as usize].waits())
    }

    /// Adds an operation that is in no queue. Mostly it comes last.
    #[inline]
    pub(super) fn push(&mut self, links: &mut Links, since: Time, operation: u32) {
        let here = links.put(Link { since, operation, after: NONE });
        let Some(last) = links.links.get(self.last as usize) else {
            (links.links[here as usize].after, self.last) = (here, here);
            return;
        };
        let is_last = last.waits() < (since, operation);
        let mut before = self.last;
        while !is_last
            && links.links[links.links[before as usize].after as usize].waits() < (since, operation)
        {
            before = links.links[before as usize].after;
        }
        let after = std::mem::replace(&mut links.links[before as usize].after, here);
        links.links[here as usize].after = after;
        if is_last {
            self.last = here;
        }
    }

    /// Takes the first operation.
    #[inline]
    pub(super) fn pop(&mut self, links: &mut Links) -> Option<u32> {
        let first = links.links.get(self.last as usize)?.after;
        let Link { operation, after, .. } = links.links[first as usize];
        links.links[self.last as usize].after = after;
        if first == self.last {
            self.last = NONE;
        }
        links.links[first as usize].after = std::mem::replace(&mut links.free, first);
        Some(operation)
    }
}
