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
    /// What comes after it, or the free place after this one.
    after: u32,
}

/// Operations in the order in which they became ready, and of those that did so at the same time as they are written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queue {
    /// Where the first one is.
    head: u32,
    /// Where the last one is.
    tail: u32,
}

impl Link {
    /// Since when the operation is ready, and what it is.
    fn waits(&self) -> (Time, u32) {
        (self.since, self.operation)
    }
}

impl Links {
    /// Nothing waits.
    pub(super) fn new() -> Links {
        Links { links: Vec::new(), free: NONE }
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
        Queue { head: NONE, tail: NONE }
    }
}

impl Queue {
    /// The first operation, and since when it is ready.
    #[inline]
    pub(super) fn first(&self, links: &Links) -> Option<(Time, u32)> {
        (self.head != NONE).then(|| links.links[self.head as usize].waits())
    }

    /// Adds an operation that is in no queue. Mostly it comes last.
    #[inline]
    pub(super) fn push(&mut self, links: &mut Links, since: Time, operation: u32) {
        let mut before = self.tail;
        if before != NONE && links.links[before as usize].waits() > (since, operation) {
            let earlier = |place: &u32| links.links[*place as usize].waits() < (since, operation);
            before = self.places(links).take_while(earlier).last().unwrap_or(NONE);
        }
        let after = if before == NONE { self.head } else { links.links[before as usize].after };
        let here = links.put(Link { since, operation, after });
        match before {
            NONE => self.head = here,
            before => links.links[before as usize].after = here,
        }
        if after == NONE {
            self.tail = here;
        }
    }

    /// Takes the first operation.
    #[inline]
    pub(super) fn pop(&mut self, links: &mut Links) -> Option<u32> {
        let (_, operation) = self.first(links)?;
        let after = std::mem::replace(&mut links.links[self.head as usize].after, links.free);
        links.free = std::mem::replace(&mut self.head, after);
        if self.head == NONE {
            self.tail = NONE;
        }
        Some(operation)
    }

    /// Where the operations are.
    fn places<'a>(&self, links: &'a Links) -> impl Iterator<Item = u32> + 'a {
        let some = |place: u32| (place != NONE).then_some(place);
        std::iter::successors(some(self.head), move |place| some(links.links[*place as usize].after))
    }
}
