//! The locks of windows: who has which, and who waits for one.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

/// The locks by window and rank.
pub(crate) type Locks = FxHashMap<(u32, u32), WindowLock>;

/// The lock of a rank's window.
#[derive(Default)]
pub(crate) struct WindowLock {
    pub is_exclusive: bool,
    /// How many have it.
    pub holders: usize,
    /// The ranks that wait for it, and whether they want it alone, in the order in which they asked.
    pub waiting: VecDeque<(u32, bool)>,
}

impl WindowLock {
    /// Takes the lock, if nobody who asked first has it or waits for it.
    pub(crate) fn take(&mut self, is_exclusive: bool) -> bool {
        let is_free = self.holders == 0 || !(self.is_exclusive || is_exclusive);
        if is_free {
            (self.is_exclusive, self.holders) = (is_exclusive, self.holders + 1);
        }
        is_free
    }

    /// Gives the lock back. Returns the ranks that have it now and have waited for it.
    pub(crate) fn give_back(&mut self) -> Vec<u32> {
        self.holders = self.holders.saturating_sub(1);
        let mut next = Vec::new();
        while let Some((rank, is_exclusive)) = self.waiting.front().copied()
            && self.take(is_exclusive)
        {
            self.waiting.pop_front();
            next.push(rank);
        }
        next
    }
}

/// A lock that a rank has: of a window, of one rank or of all, and the number of the place where it asked for it.
pub(crate) struct Held {
    pub window: u32,
    pub of: Option<u32>,
    pub is_exclusive: bool,
    pub place: u32,
}
