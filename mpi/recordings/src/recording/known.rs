//! The facts about a rank up to a position in its file.

use std::collections::VecDeque;
use std::sync::Arc;

use super::clock::BlockClock;
use super::header::PlaceIndex;
use crate::call::{Communicator, Place, RequestId, Unmodelled};

/// The facts about a rank up to a position in its file.
pub(super) struct Known {
    pub ranks: u32,
    pub communicators: Vec<Communicator>,
    pub places: Vec<Place>,
    /// What the file says of each place: its module and the address in it.
    pub addresses: Vec<(String, u64)>,
    pub unmodelled: Vec<Unmodelled>,
    pub offsets: Vec<(i64, i64)>,
    pub requests: OpenRequests,
    pub clock: BlockClock,
    /// The end of the last call in the file, in ticks.
    pub last_end: u64,
    /// The end of the last call, in ticks and in ns.
    pub latest: Option<(u64, i64)>,
    pub thread: u16,
    /// When `MPI_Finalize` began.
    pub finalize: Option<i64>,
    /// Why the recorder stopped before.
    pub stopped: Option<String>,
    pub index: Arc<PlaceIndex>,
}

impl Known {
    /// Returns what is known at the beginning of a program of so many ranks.
    pub(super) fn new(ranks: u32, index: Arc<PlaceIndex>) -> Known {
        Known {
            ranks,
            communicators: vec![Communicator { members: (0..ranks).collect(), ..Communicator::default() }],
            places: vec![Place { function: "?".into(), source: None }],
            addresses: vec![(String::new(), 0)],
            unmodelled: Vec::new(),
            offsets: Vec::new(),
            requests: OpenRequests::default(),
            clock: BlockClock::default(),
            last_end: 0,
            latest: None,
            thread: 0,
            finalize: None,
            stopped: None,
            index,
        }
    }

    /// Returns a moment in ns: no earlier than the end of the last call, unless it is so in ticks. Two blocks may
    /// take a moment between them for two that are some ns apart.
    #[inline]
    pub(super) fn moment(&self, ticks: u64) -> i64 {
        let ns = self.clock.ns(ticks);
        match self.latest {
            Some((last, end)) if ticks.wrapping_sub(last) as i64 >= 0 => ns.max(end),
            _ => ns,
        }
    }
}

/// Numbers of requests that are not completed yet: a bit for each, from the oldest one on.
#[derive(Default)]
pub(super) struct OpenRequests {
    /// The number of the next one.
    pub next: RequestId,
    /// The number of the first word.
    first: u64,
    words: VecDeque<u64>,
}

impl OpenRequests {
    /// Numbers a new request.
    #[inline]
    pub(super) fn add(&mut self) -> RequestId {
        let number = self.next;
        self.next += 1;
        if number / 64 - self.first >= self.words.len() as u64 {
            self.words.push_back(0);
        }
        if let Some(word) = self.words.back_mut() {
            *word |= 1 << (number % 64);
        }
        number
    }

    /// Completes the request that is so many before the next one, and returns its number, or `None` if there is no
    /// such request that waits.
    #[inline]
    pub(super) fn take(&mut self, distance: u64) -> Option<RequestId> {
        let number = self.next.checked_sub(distance)?;
        let word = (number / 64).checked_sub(self.first)?;
        let word = self.words.get_mut(usize::try_from(word).ok()?)?;
        let bit = 1 << (number % 64);
        if *word & bit == 0 {
            return None;
        }
        *word &= !bit;
        while self.words.len() > 1 && self.words.front() == Some(&0) {
            self.words.pop_front();
            self.first += 1;
        }
        Some(number)
    }
}
