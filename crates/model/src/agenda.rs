//! The queue of processors that wait for a time: one for all processors on the virtual clock, and one for
//! each core on the wall clock.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::time::Time;

/// The processors that wait for a time, earliest first, and at the same time in the order of their places.
///
/// Processors of one program wait for similar times (their overhead, a latency), so most entries are added in
/// order. A few lanes, each in order, take such entries at their ends; an entry that fits no lane goes to a
/// heap. So the common case touches the two ends of a lane and no tree.
#[derive(Debug)]
pub struct Agenda {
    /// The earliest entry, or [`AgendaEntry::NONE`].
    earliest: AgendaEntry,
    /// The lane of the earliest entry, or [`LANES`] for the heap.
    lane: usize,
    /// The earliest first entry of the other lanes and the heap.
    next: AgendaEntry,
    /// The last entry that was pushed on each lane. Invariant: no tail is later than the one before. A push picks
    /// the first lane whose tail <= entry (patience sorting).
    tails: [AgendaEntry; LANES],
    /// The first entry of each lane and of the heap, or [`AgendaEntry::NONE`].
    heads: [AgendaEntry; LANES + 1],
    /// The other entries of each lane.
    lanes: [VecDeque<AgendaEntry>; LANES],
    /// The entries that fit no lane.
    heap: BinaryHeap<Reverse<AgendaEntry>>,
}

/// The number of lanes. Programs rarely wait for more kinds of times at once.
const LANES: usize = 3;

/// The least number of entries for which a lane makes space.
const LEAST_SPACE: usize = 32;

/// The moment at which a processor runs next, as one number that compares fast: time, the processor's place
/// at that time, ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AgendaEntry(u128);

impl AgendaEntry {
    /// Stands for no entry, and is later than any.
    const NONE: AgendaEntry = AgendaEntry(u128::MAX);

    /// Makes an entry: the processor with this place at `time` runs at `time`, unless its ticket has changed
    /// since.
    #[inline]
    pub fn new(time: Time, place: u32, ticket: u32) -> AgendaEntry {
        debug_assert!(time >= Time::ZERO);
        AgendaEntry((time.as_ps() as u128) << 64 | u128::from(place) << 32 | u128::from(ticket))
    }

    #[inline]
    pub fn moment(self) -> (Time, u32) {
        (Time::from_ps((self.0 >> 64) as i64), (self.0 >> 32) as u32)
    }

    pub fn ticket(self) -> u32 {
        self.0 as u32
    }

    /// Returns whether this is [`AgendaEntry::NONE`]. Reads only half of the entry: an entry is written in
    /// halves, and a core that reads both at once has to wait until both are in the cache.
    #[inline]
    fn is_none(self) -> bool {
        (self.0 >> 64) as u64 == u64::MAX
    }
}

impl Default for Agenda {
    fn default() -> Agenda {
        Agenda {
            earliest: AgendaEntry::NONE,
            lane: LANES,
            next: AgendaEntry::NONE,
            tails: [AgendaEntry(0); LANES],
            heads: [AgendaEntry::NONE; LANES + 1],
            lanes: Default::default(),
            heap: BinaryHeap::new(),
        }
    }
}

impl Agenda {
    /// Adds an entry where no entry can be out of date.
    #[inline]
    pub fn add(&mut self, entry: AgendaEntry) {
        self.insert(entry, |_| true);
    }

    /// Adds an entry. `is_current` tells whether an entry is still up to date. An entry that is out of date
    /// stays until it is popped or space is needed, so such entries take no more space than the others.
    #[inline(always)]
    pub fn insert(&mut self, entry: AgendaEntry, is_current: impl Fn(AgendaEntry) -> bool) {
        for lane in 0..LANES {
            if self.tails[lane] <= entry {
                self.tails[lane] = entry;
                if self.heads[lane].is_none() {
                    return self.set_head(lane, entry);
                }
                if self.lanes[lane].len() == self.lanes[lane].capacity() {
                    return self.grow(entry, is_current);
                }
                return self.lanes[lane].push_back(entry);
            }
        }
        self.add_to_heap(entry, is_current);
    }

    /// Adds an entry that fits no lane.
    #[inline(never)]
    fn add_to_heap(&mut self, entry: AgendaEntry, is_current: impl Fn(AgendaEntry) -> bool) {
        if self.heap.len() == self.heap.capacity() {
            return self.grow(entry, is_current);
        }
        self.heap.push(Reverse(entry));
        if entry < self.heads[LANES] {
            self.set_head(LANES, entry);
        }
    }

    /// Adds an entry for which there is no space: removes all entries that are out of date, and doubles the
    /// space of the rest.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, entry: AgendaEntry, is_current: impl Fn(AgendaEntry) -> bool) {
        for (lane, head) in self.lanes.iter_mut().zip(&mut self.heads) {
            lane.retain(|entry| is_current(*entry));
            if !head.is_none() && !is_current(*head) {
                *head = lane.pop_front().unwrap_or(AgendaEntry::NONE);
            }
            lane.reserve(lane.len().max(LEAST_SPACE));
        }
        self.heap.retain(|Reverse(entry)| is_current(*entry));
        self.heap.reserve(self.heap.len().max(LEAST_SPACE));
        self.heads[LANES] = self.heap.peek().map_or(AgendaEntry::NONE, |Reverse(entry)| *entry);
        self.find_earliest();
        self.insert(entry, is_current);
    }

    /// Makes an entry the first of its lane, or of the heap.
    #[inline(always)]
    fn set_head(&mut self, lane: usize, entry: AgendaEntry) {
        self.heads[lane] = entry;
        if lane == self.lane {
            self.earliest = self.earliest.min(entry);
        } else if entry < self.earliest {
            (self.next, self.earliest, self.lane) = (self.earliest, entry, lane);
        } else {
            self.next = self.next.min(entry);
        }
    }

    /// Removes and returns the earliest entry.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<AgendaEntry> {
        let (earliest, lane) = (self.earliest, self.lane);
        let head = if lane < LANES { self.lanes[lane].pop_front() } else { self.pop_heap() };
        let head = head.unwrap_or(AgendaEntry::NONE);
        self.heads[lane] = head;
        self.earliest = head;
        if self.next < head {
            self.find_earliest();
        }
        (!earliest.is_none()).then_some(earliest)
    }

    /// Removes the heap's first entry, and returns the next one.
    #[inline(never)]
    fn pop_heap(&mut self) -> Option<AgendaEntry> {
        self.heap.pop();
        self.heap.peek().map(|Reverse(entry)| *entry)
    }

    /// Finds the lane that has the earliest entry.
    #[inline(never)]
    fn find_earliest(&mut self) {
        (self.earliest, self.next) = (AgendaEntry::NONE, AgendaEntry::NONE);
        for (lane, head) in self.heads.into_iter().enumerate() {
            if head < self.earliest {
                (self.next, self.earliest, self.lane) = (self.earliest, head, lane);
            } else {
                self.next = self.next.min(head);
            }
        }
    }

    /// Returns whether an entry that is not on the agenda is earlier than all that are.
    #[inline]
    pub fn is_before_all(&self, entry: AgendaEntry) -> bool {
        entry < self.earliest
    }

    /// Adds `mine` and removes the earliest entry. Does nothing and returns `None` if `mine` is the earliest.
    #[inline]
    pub fn exchange(
        &mut self,
        mine: AgendaEntry,
        is_current: impl Fn(AgendaEntry) -> bool,
    ) -> Option<AgendaEntry> {
        if self.is_before_all(mine) {
            return None;
        }
        self.insert(mine, is_current);
        self.pop()
    }

    /// Returns an entry that will probably be the earliest after `others` more entries, if one is known.
    #[inline]
    pub fn later_entry(&self, others: usize) -> Option<AgendaEntry> {
        self.lanes.get(self.lane)?.get(others).copied()
    }

    /// Returns the earliest entry without removing it.
    #[inline]
    pub fn peek(&self) -> Option<AgendaEntry> {
        (!self.earliest.is_none()).then_some(self.earliest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::PS;

    /// Hundreds of processors take new tickets again and again, mostly long before their entries come up.
    #[test]
    fn outdated_entries_take_no_space() {
        const P: usize = 300;
        let mut rng = fastrand::Rng::with_seed(2);
        let (mut agenda, mut tickets, mut times) = (Agenda::default(), [0; P], [Time::ZERO; P]);
        (0..P).for_each(|id| agenda.add(AgendaEntry::new(times[id], id as u32, 0)));
        // Miri takes a second for a hundred steps.
        for step in 0..if cfg!(miri) { 2000 } else { 100_000 } {
            let id = rng.usize(0..P);
            tickets[id] += 1;
            times[id] = rng.i64(0..1000) * rng.i64(0..1000) * PS;
            let is_current = |entry: AgendaEntry| tickets[entry.moment().1 as usize] == entry.ticket();
            agenda.insert(AgendaEntry::new(times[id], id as u32, tickets[id]), is_current);
            let space = agenda.lanes.iter().map(VecDeque::capacity).sum::<usize>() + agenda.heap.capacity();
            assert!(space <= (LANES + 1) * 2 * P, "space for {space} entries after {step}");
        }
        let is_current = |entry: &AgendaEntry| tickets[entry.moment().1 as usize] == entry.ticket();
        let left: Vec<AgendaEntry> = std::iter::from_fn(|| agenda.pop()).filter(is_current).collect();
        let mut expected: Vec<AgendaEntry> =
            (0..P).map(|id| AgendaEntry::new(times[id], id as u32, tickets[id])).collect();
        expected.sort();
        assert_eq!(left, expected);
    }

    #[test]
    fn entries_are_popped_in_order() {
        let mut rng = fastrand::Rng::with_seed(1);
        for n in 0..200 {
            let mut agenda = Agenda::default();
            let mut expected: Vec<AgendaEntry> =
                (0..n).map(|place| AgendaEntry::new(rng.i64(0..50) * PS, place, rng.u32(..))).collect();
            expected.iter().for_each(|e| agenda.add(*e));
            let mine = AgendaEntry::new(25 * PS, n, 0);
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
