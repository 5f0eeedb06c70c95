//! Who runs next: on the virtual clock among all processors, on the wall clock among those of a core.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::time::Time;

/// The processors that wait for a time, earliest first, and at the same time in the order of their places.
///
/// Processors of one program wait for similar things (their overhead, a latency), so most of them queue up
/// in order by themselves. A few lanes, each in order, take such entries at their ends; an entry that fits no
/// lane goes to a heap. So the common case touches two ends of a lane and no tree.
#[derive(Debug)]
pub(crate) struct Agenda {
    /// The earliest entry, [`Entry::NONE`] if there is none.
    earliest: Entry,
    /// The lane of the earliest entry, or [`LANES`] for the heap.
    lane: usize,
    /// The earliest first entry of the other lanes and the heap.
    next: Entry,
    /// The last entry that each lane took. The first lane that ended earlier takes an entry. So each lane ends earlier than
    /// the lane before it, and an entry goes to the lane that ends closest before it.
    tails: [Entry; LANES],
    /// The first entry of each lane, and of the heap; [`Entry::NONE`] if there is none.
    heads: [Entry; LANES + 1],
    /// The other entries of each lane.
    lanes: [VecDeque<Entry>; LANES],
    /// The entries that fitted no lane.
    heap: BinaryHeap<Reverse<Entry>>,
}

/// The number of lanes: programs rarely wait for more kinds of things at once.
const LANES: usize = 3;

/// The least number of entries for which a lane makes room.
const FEW: usize = 32;

/// When a processor runs next, in one number that compares fast: time, the processor's place at that time, ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry(u128);

impl Entry {
    /// Later than any entry.
    const NONE: Entry = Entry(u128::MAX);

    /// The processor that has this place at `time` runs at `time`, unless its ticket has changed.
    #[inline]
    pub(crate) fn new(time: Time, place: u32, ticket: u32) -> Entry {
        debug_assert!(time >= Time::ZERO);
        Entry((time.as_ps() as u128) << 64 | u128::from(place) << 32 | u128::from(ticket))
    }

    #[inline]
    pub(crate) fn moment(self) -> (Time, u32) {
        (Time::from_ps((self.0 >> 64) as i64), (self.0 >> 32) as u32)
    }

    pub(crate) fn ticket(self) -> u32 {
        self.0 as u32
    }

    /// Whether it stands for no entry. Only half of it is looked at: an entry is written in halves, and to read all of it at once
    /// a core would wait until both are in the cache.
    #[inline]
    fn is_none(self) -> bool {
        (self.0 >> 64) as u64 == u64::MAX
    }
}

impl Default for Agenda {
    fn default() -> Agenda {
        Agenda {
            earliest: Entry::NONE,
            lane: LANES,
            next: Entry::NONE,
            tails: [Entry(0); LANES],
            heads: [Entry::NONE; LANES + 1],
            lanes: Default::default(),
            heap: BinaryHeap::new(),
        }
    }
}

impl Agenda {
    /// Adds an entry, if no entry can be out of date.
    #[inline]
    pub(crate) fn add(&mut self, entry: Entry) {
        self.insert(entry, |_| true);
    }

    /// Adds an entry. `counts` says whether another entry is still up to date. One that is not stays until it is popped, or
    /// until there is no room: so entries that do not count take no more room than those that do.
    #[inline]
    pub(crate) fn insert(&mut self, entry: Entry, counts: impl Fn(Entry) -> bool) {
        for lane in 0..LANES {
            if self.tails[lane] <= entry {
                self.tails[lane] = entry;
                if self.heads[lane].is_none() {
                    return self.comes_to_front(lane, entry);
                }
                if self.lanes[lane].len() == self.lanes[lane].capacity() {
                    return self.make_room(entry, counts);
                }
                return self.lanes[lane].push_back(entry);
            }
        }
        self.add_to_heap(entry, counts);
    }

    /// Adds an entry that fits no lane.
    #[inline(never)]
    fn add_to_heap(&mut self, entry: Entry, counts: impl Fn(Entry) -> bool) {
        if self.heap.len() == self.heap.capacity() {
            return self.make_room(entry, counts);
        }
        self.heap.push(Reverse(entry));
        if entry < self.heads[LANES] {
            self.comes_to_front(LANES, entry);
        }
    }

    /// Adds an entry for which there is no room: takes out all entries that do not count, and doubles the room of the rest.
    #[cold]
    #[inline(never)]
    fn make_room(&mut self, entry: Entry, counts: impl Fn(Entry) -> bool) {
        for (lane, head) in self.lanes.iter_mut().zip(&mut self.heads) {
            lane.retain(|entry| counts(*entry));
            if !head.is_none() && !counts(*head) {
                *head = lane.pop_front().unwrap_or(Entry::NONE);
            }
            lane.reserve(lane.len().max(FEW));
        }
        self.heap.retain(|Reverse(entry)| counts(*entry));
        self.heap.reserve(self.heap.len().max(FEW));
        self.heads[LANES] = self.heap.peek().map_or(Entry::NONE, |Reverse(entry)| *entry);
        self.look_for_the_earliest();
        self.insert(entry, counts);
    }

    /// An entry has become the first of its lane, or of the heap.
    #[inline]
    fn comes_to_front(&mut self, lane: usize, entry: Entry) {
        self.heads[lane] = entry;
        if lane == self.lane {
            self.earliest = self.earliest.min(entry);
        } else if entry < self.earliest {
            (self.next, self.earliest, self.lane) = (self.earliest, entry, lane);
        } else {
            self.next = self.next.min(entry);
        }
    }

    /// Takes the earliest entry.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Entry> {
        let (earliest, lane) = (self.earliest, self.lane);
        let head = if lane < LANES { self.lanes[lane].pop_front() } else { self.pop_heap() };
        let head = head.unwrap_or(Entry::NONE);
        self.heads[lane] = head;
        self.earliest = head;
        if self.next < head {
            self.look_for_the_earliest();
        }
        (!earliest.is_none()).then_some(earliest)
    }

    /// Drops the heap's first entry. Returns the next one.
    #[inline(never)]
    fn pop_heap(&mut self) -> Option<Entry> {
        self.heap.pop();
        self.heap.peek().map(|Reverse(entry)| *entry)
    }

    /// Finds the lane with the earliest entry.
    #[inline(never)]
    fn look_for_the_earliest(&mut self) {
        (self.earliest, self.next) = (Entry::NONE, Entry::NONE);
        for (lane, head) in self.heads.into_iter().enumerate() {
            if head < self.earliest {
                (self.next, self.earliest, self.lane) = (self.earliest, head, lane);
            } else {
                self.next = self.next.min(head);
            }
        }
    }

    /// Whether an entry that is not on the agenda would be the earliest.
    #[inline]
    pub(crate) fn is_before_all(&self, entry: Entry) -> bool {
        entry < self.earliest
    }

    /// Adds `mine` and takes the earliest entry; or does nothing, if `mine` is the earliest.
    #[inline]
    pub(crate) fn exchange(&mut self, mine: Entry, counts: impl Fn(Entry) -> bool) -> Option<Entry> {
        if self.is_before_all(mine) {
            return None;
        }
        self.insert(mine, counts);
        self.pop()
    }

    /// An entry that will probably come up after so many others.
    #[inline]
    pub(crate) fn coming(&self, others: usize) -> Option<Entry> {
        self.lanes.get(self.lane)?.get(others).copied()
    }

    /// The earliest entry, without taking it.
    #[inline]
    pub(crate) fn peek(&self) -> Option<Entry> {
        (!self.earliest.is_none()).then_some(self.earliest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::PS;

    /// Hundreds of processors take new tickets again and again, mostly long before their entries come up.
    #[test]
    fn what_counts_no_more_takes_no_room() {
        const P: usize = 300;
        let mut rng = fastrand::Rng::with_seed(2);
        let (mut agenda, mut tickets, mut times) = (Agenda::default(), [0; P], [Time::ZERO; P]);
        (0..P).for_each(|id| agenda.add(Entry::new(times[id], id as u32, 0)));
        // Miri takes a second for a hundred of them.
        for step in 0..if cfg!(miri) { 2000 } else { 100_000 } {
            let id = rng.usize(0..P);
            tickets[id] += 1;
            times[id] = rng.i64(0..1000) * rng.i64(0..1000) * PS;
            let counts = |entry: Entry| tickets[entry.moment().1 as usize] == entry.ticket();
            agenda.insert(Entry::new(times[id], id as u32, tickets[id]), counts);
            let room = agenda.lanes.iter().map(VecDeque::capacity).sum::<usize>() + agenda.heap.capacity();
            assert!(room <= (LANES + 1) * 2 * P, "room for {room} entries after {step}");
        }
        let counts = |entry: &Entry| tickets[entry.moment().1 as usize] == entry.ticket();
        let left: Vec<Entry> = std::iter::from_fn(|| agenda.pop()).filter(counts).collect();
        let mut expected: Vec<Entry> =
            (0..P).map(|id| Entry::new(times[id], id as u32, tickets[id])).collect();
        expected.sort();
        assert_eq!(left, expected);
    }

    #[test]
    fn gives_back_in_order() {
        let mut rng = fastrand::Rng::with_seed(1);
        for n in 0..200 {
            let mut agenda = Agenda::default();
            let mut expected: Vec<Entry> =
                (0..n).map(|place| Entry::new(rng.i64(0..50) * PS, place, rng.u32(..))).collect();
            expected.iter().for_each(|e| agenda.add(*e));
            let mine = Entry::new(25 * PS, n, 0);
            match agenda.exchange(mine, |_| true) {
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
