//! Queues of operations that take no room in their ranks: an operation is in one queue at most, so all share the links.

use crate::time::Time;

/// No operation.
const NONE: u32 = u32::MAX;

/// Which operation comes after which.
#[derive(Debug)]
pub(super) struct Links(Vec<u32>);

/// Operations in the order in which they became ready, and of those that did so at the same time as they are written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queue {
    /// The first one.
    head: u32,
    /// The last one.
    tail: u32,
}

impl Links {
    /// For so many operations.
    pub(super) fn new(operations: usize) -> Links {
        Links(vec![NONE; operations])
    }
}

impl Default for Queue {
    fn default() -> Queue {
        Queue { head: NONE, tail: NONE }
    }
}

impl Queue {
    /// The first operation.
    #[inline]
    pub(super) fn first(&self) -> Option<u32> {
        (self.head != NONE).then_some(self.head)
    }

    /// Adds an operation that is in no queue. Mostly it comes last.
    #[inline]
    pub(super) fn push(&mut self, links: &mut Links, operation: u32, since: impl Fn(u32) -> Time) {
        let key = |operation: u32| (since(operation), operation);
        let mut before = self.tail;
        if before != NONE && key(before) > key(operation) {
            before = self.iter(links).take_while(|other| key(*other) < key(operation)).last().unwrap_or(NONE);
        }
        let after = match before {
            NONE => std::mem::replace(&mut self.head, operation),
            before => std::mem::replace(&mut links.0[before as usize], operation),
        };
        links.0[operation as usize] = after;
        if after == NONE {
            self.tail = operation;
        }
    }

    /// Takes the first operation.
    #[inline]
    pub(super) fn pop(&mut self, links: &Links) -> Option<u32> {
        let first = self.first()?;
        self.head = links.0[first as usize];
        if self.head == NONE {
            self.tail = NONE;
        }
        Some(first)
    }

    /// All operations.
    fn iter<'a>(&self, links: &'a Links) -> impl Iterator<Item = u32> + 'a {
        let some = |operation: u32| (operation != NONE).then_some(operation);
        std::iter::successors(some(self.head), move |operation| some(links.0[*operation as usize]))
    }
}
