//! The end of a check's time, which everything that may be slow consults.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The moment after which a check begins nothing more, if there is one; and a flag that ends it sooner.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Deadline {
    end: Option<Instant>,
    stop: Option<&'static AtomicBool>,
}

impl Deadline {
    /// Returns the deadline of a check that begins now and has this much time.
    pub(super) fn after(time: Option<Duration>, stop: Option<&'static AtomicBool>) -> Deadline {
        let end = time.and_then(|time| Instant::now().checked_add(time)); // never, if no clock reaches it
        Deadline { end, stop }
    }

    pub(super) fn is_over(self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
            || self.end.is_some_and(|end| Instant::now() >= end)
    }
}

/// The tries that a search may still make until a deadline.
#[derive(Debug)]
pub(super) struct SearchBudget {
    pub tries: usize,
    pub deadline: Deadline,
}

impl SearchBudget {
    /// Returns whether no try or no time is left.
    pub(super) fn is_spent(&self) -> bool {
        self.tries == 0 || self.deadline.is_over()
    }

    /// Takes a try. Returns whether there was one, in time.
    pub(super) fn take(&mut self) -> bool {
        let is_left = !self.is_spent();
        self.tries = if is_left { self.tries - 1 } else { 0 };
        is_left
    }
}
