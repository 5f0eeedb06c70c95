//! Who runs next: on the virtual clock among all processors, on the wall clock among those of a core.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::time::Time;

/// The processors that wait for a time, earliest first, and at the same time in the order of their places.
///
/// Processors of one program wait for similar things (their overhead, a latency), so most of them queue up
/// in order by themselves. A few lanes, each in order, take those at their ends; who fits no lane goes to a
/// heap. So the common case touches two ends of a lane and no tree.
#[derive(Debug)]
pub(crate) struct Agenda {
    /// Each lane's first entry, and the heap's; [`Entry::NONE`] if there is none.
    heads: [Entry; LANES + 1],
    /// Each lane's last entry; zero if there is none.
    tails: [Entry; LANES],
    /// The entries behind each lane's first one.
    lanes: [VecDeque<Entry>; LANES],
    /// The entries that fitted no lane.
    heap: BinaryHeap<Reverse<Entry>>,
    /// The earliest entry, [`Entry::NONE`] if there is none; and its lane.
    earliest: (Entry, usize),
}

/// How many lanes: programs rarely wait for more kinds of things at once.
const LANES: usize = 3;

/// A processor and its time, packed into one number that compares fast: time, place at that time, ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry(u128);

impl Entry {
    /// Later than any entry.
    const NONE: Entry = Entry(u128::MAX);

    /// The processor that has this place at `time` runs then, unless its ticket has changed.
    #[inline]
    pub fn new(time: Time, place: u32, ticket: u32) -> Entry {
        debug_assert!(time >= Time::ZERO);
        Entry((time.as_ps() as u128) << 64 | u128::from(place) << 32 | u128::from(ticket))
    }

    /// Its time and its place.
    #[inline]
    pub fn moment(self) -> (Time, u32) {
        (Time::from_ps((self.0 >> 64) as i64), (self.0 >> 32) as u32)
    }

    pub fn ticket(self) -> u32 {
        self.0 as u32
    }
}

impl Default for Agenda {
    fn default() -> Agenda {
        Agenda {
            heads: [Entry::NONE; LANES + 1],
            tails: [Entry(0); LANES],
            lanes: Default::default(),
            heap: BinaryHeap::new(),
            earliest: (Entry::NONE, LANES),
        }
    }
}

impl Agenda {
    /// Adds an entry.
    #[inline]
    pub fn add(&mut self, entry: Entry) {
        // The lane whose end is closest before the entry: that leaves the others to earlier ones.
        let mut best = None;
        for lane in 0..LANES {
            if self.tails[lane] <= entry && best.is_none_or(|best| self.tails[lane] > self.tails[best]) {
                best = Some(lane);
            }
        }
        match best {
            Some(lane) => {
                self.tails[lane] = entry;
                if self.heads[lane] == Entry::NONE {
                    self.heads[lane] = entry;
                    self.earliest = self.earliest.min((entry, lane));
                } else {
                    self.lanes[lane].push_back(entry);
                }
            }
            None => {
                self.heads[LANES] = self.heads[LANES].min(entry);
                self.earliest = self.earliest.min((entry, LANES));
                self.heap.push(Reverse(entry));
            }
        }
    }

    /// Takes the earliest entry.
    #[inline]
    pub fn pop(&mut self) -> Option<Entry> {
        let (earliest, lane) = self.earliest;
        if lane < LANES {
            self.heads[lane] = self.lanes[lane].pop_front().unwrap_or_else(|| {
                self.tails[lane] = Entry(0);
                Entry::NONE
            });
        } else {
            self.heap.pop();
            self.heads[LANES] = self.heap.peek().map_or(Entry::NONE, |Reverse(entry)| *entry);
        }
        self.earliest = (self.heads[LANES], LANES);
        for lane in 0..LANES {
            if self.heads[lane] < self.earliest.0 {
                self.earliest = (self.heads[lane], lane);
            }
        }
        (earliest != Entry::NONE).then_some(earliest)
    }

    /// Adds `mine` and takes the earliest entry; or does nothing, if `mine` is the earliest.
    #[inline]
    pub fn exchange(&mut self, mine: Entry) -> Option<Entry> {
        if mine < self.earliest.0 {
            return None;
        }
        self.add(mine);
        self.pop()
    }

    /// An entry that will probably be due when so many others have been.
    #[inline]
    pub fn coming(&self, others: usize) -> Option<Entry> {
        let (_, lane) = self.earliest;
        self.lanes.get(lane)?.get(others).copied()
    }

    /// The earliest entry, which stays.
    #[inline]
    pub fn peek(&self) -> Option<Entry> {
        let (earliest, _) = self.earliest;
        (earliest != Entry::NONE).then_some(earliest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::PS;

    #[test]
    fn gives_back_in_order() {
        let mut rng = fastrand::Rng::with_seed(1);
        for n in 0..200 {
            let mut agenda = Agenda::default();
            let mut expected: Vec<Entry> =
                (0..n).map(|place| Entry::new(rng.i64(0..50) * PS, place, rng.u32(..))).collect();
            expected.iter().for_each(|e| agenda.add(*e));
            let mine = Entry::new(25 * PS, n, 0);
            match agenda.exchange(mine) {
                None => assert!(expected.iter().all(|e| mine < *e)),
                Some(earliest) => {
                    assert_eq!(Some(&earliest), expected.iter().min());
                    expected.retain(|e| *e != earliest);
                    expected.push(mine);
                }
            }
            expected.sort();
            assert_eq!(std::iter::from_fn(|| agenda.pop()).collect::<Vec<_>>(), expected);
        }
    }
}
