//! Where the promises that were made at one place of the network leave room.

use std::collections::HashMap;
use std::hash::Hash;

use crate::time::Time;

/// Stands for no stretch, where a number of one is asked for.
const NONE: u32 = u32::MAX;

/// A place that holds so many messages at once: an end of the network, or a port, which holds one.
///
/// All promises are known before the first one is made, so the moments at which anything can change are known
/// too. They cut time into stretches, which are the leaves of a binary tree. A promise costs the logarithm of
/// their number, and so does the search for room, however many holes are too short.
pub(super) struct Room {
    /// How many messages it holds.
    capacity: i32,
    /// Where the stretches begin and end.
    times: Vec<Time>,
    /// The tree: 1 is its root, the children of n are 2n and 2n + 1.
    nodes: Vec<Node>,
    /// The moment that was looked for last: the next one is near.
    near: usize,
}

/// Some stretches, one after the other.
#[derive(Clone, Copy)]
struct Node {
    /// How many messages were promised all of them, as far as no node above counts it.
    all: i32,
    /// The most that were promised any of them which is not full, as far as no node above counts it.
    most: i32,
    /// The first stretch that is full.
    first: u32,
    /// The last stretch that is full.
    last: u32,
    /// The longest time between two full stretches.
    hole: Time,
}

impl Node {
    /// Nothing is promised.
    const EMPTY: Node = Node { all: 0, most: 0, first: NONE, last: NONE, hole: Time::ZERO };

    /// No promise makes a full stretch full again.
    const FULL: i32 = i32::MIN / 2;
}

impl Room {
    /// A place with nothing promised yet. The moments are in order.
    fn new(capacity: usize, times: Vec<Time>) -> Room {
        let leaves = times.len().saturating_sub(1).next_power_of_two();
        let capacity = capacity.clamp(1, i32::MAX as usize / 2) as i32;
        Room { capacity, times, nodes: vec![Node::EMPTY; 2 * leaves], near: 0 }
    }

    fn leaves(&self) -> usize {
        self.nodes.len() / 2
    }

    /// When stretch `leaf` begins.
    fn start(&self, leaf: u32) -> Time {
        self.times[leaf as usize]
    }

    /// When stretch `leaf` ends.
    fn end(&self, leaf: u32) -> Time {
        self.times[leaf as usize + 1]
    }

    /// Promises [start, end), which are two of the moments.
    pub fn promise(&mut self, start: Time, end: Time) {
        let [from, to] = [start, end].map(|time| self.place(time));
        self.add(from, to);
        while self.nodes[1].most >= self.capacity {
            self.fill();
        }
    }

    /// The place of a moment, which is looked for in wider and wider surroundings.
    fn place(&mut self, time: Time) -> usize {
        let mut step = 16;
        let (mut low, mut high) = (self.near, self.near);
        while low > 0 && self.times[low] >= time {
            low = low.saturating_sub(step);
            step *= 2;
        }
        while high < self.times.len() && self.times[high] < time {
            high += step;
            step *= 2;
        }
        let high = high.min(self.times.len());
        let place = low + self.times[low..high].partition_point(|moment| *moment < time);
        self.near = place.min(self.times.len() - 1);
        place
    }

    /// Counts one more in the stretches `from..to`: in the fewest nodes that are these, from the leaves up.
    fn add(&mut self, from: usize, to: usize) {
        if from >= to {
            return;
        }
        let [mut left, mut right] = [from, to].map(|leaf| leaf + self.leaves());
        let (mut first, mut last) = (left, right - 1);
        while left < right {
            if left % 2 == 1 {
                self.count(left);
                left += 1;
            }
            if right % 2 == 1 {
                right -= 1;
                self.count(right);
            }
            (left, right) = (left / 2, right / 2);
        }
        while first > 1 {
            (first, last) = (first / 2, last / 2);
            self.find_most(first);
            if first != last {
                self.find_most(last);
            }
        }
    }

    /// Counts one more in all of a node's stretches.
    fn count(&mut self, node: usize) {
        self.nodes[node].all += 1;
        self.nodes[node].most += 1;
    }

    /// Finds the most in a node from its children.
    fn find_most(&mut self, node: usize) {
        let [left, right] = [self.nodes[2 * node], self.nodes[2 * node + 1]];
        self.nodes[node].most = self.nodes[node].all + left.most.max(right.most);
    }

    /// Marks as full the first stretch of which the most was promised.
    fn fill(&mut self) {
        let leaves = self.leaves();
        let mut node = 1;
        while node < leaves {
            let [left, right] = [self.nodes[2 * node], self.nodes[2 * node + 1]];
            node = 2 * node + usize::from(left.most < right.most);
        }
        let leaf = (node - leaves) as u32;
        self.nodes[node] = Node { all: 0, most: Node::FULL, first: leaf, last: leaf, hole: Time::ZERO };
        while node > 1 {
            node /= 2;
            let [left, right] = [self.nodes[2 * node], self.nodes[2 * node + 1]];
            let mut hole = left.hole.max(right.hole);
            if left.last != NONE && right.first != NONE {
                hole = hole.max(self.start(right.first) - self.end(left.last));
            }
            let all = self.nodes[node].all;
            self.nodes[node] = Node {
                all,
                most: all + left.most.max(right.most),
                first: if left.first == NONE { right.first } else { left.first },
                last: if right.last == NONE { left.last } else { right.last },
                hole,
            };
        }
    }

    /// The earliest moment, not before `from`, from which on there is room for so long.
    pub fn fit(&self, from: Time, length: Time) -> Time {
        let mut moment = from;
        if length > Time::ZERO {
            self.fit_in(1, &mut moment, length);
        }
        moment
    }

    /// Moves on over the node's stretches while there is no room, and says whether it found some.
    fn fit_in(&self, node: usize, moment: &mut Time, length: Time) -> bool {
        let Node { first, last, hole, .. } = self.nodes[node];
        if first == NONE || self.end(last) <= *moment {
            return false;
        }
        if self.start(first) >= *moment + length {
            return true;
        }
        if hole < length {
            *moment = self.end(last);
            return false;
        }
        self.fit_in(2 * node, moment, length) || self.fit_in(2 * node + 1, moment, length)
    }

    /// If there is no room at some moment of [from, to): when that is over.
    pub fn full_until(&self, from: Time, to: Time) -> Option<Time> {
        let before = self.times.partition_point(|moment| *moment < to);
        let end = self.end(self.last_before(1, 0..self.leaves(), before)?);
        (end > from).then_some(end)
    }

    /// The last full stretch of the node's that comes before stretch `before`.
    fn last_before(&self, node: usize, covers: std::ops::Range<usize>, before: usize) -> Option<u32> {
        let Node { first, last, .. } = self.nodes[node];
        if first == NONE || before <= first as usize {
            return None;
        }
        if (last as usize) < before {
            return Some(last);
        }
        let middle = covers.start.midpoint(covers.end);
        self.last_before(2 * node + 1, middle..covers.end, before)
            .or_else(|| self.last_before(2 * node, covers.start..middle, before))
    }
}

/// Many places, by name.
pub(super) struct Rooms<K>(HashMap<K, Room>);

impl<K: Copy + Ord + Hash> Rooms<K> {
    /// Places of one capacity, and all that will be promised there.
    pub fn new(capacity: usize, promises: impl Iterator<Item = (K, Time, Time)>) -> Rooms<K> {
        let mut moments: Vec<(K, Time)> =
            promises.flat_map(|(place, start, end)| [(place, start), (place, end)]).collect();
        moments.sort_unstable();
        moments.dedup();
        let of_one = moments.chunk_by(|a, b| a.0 == b.0);
        let room = |of_one: &[(K, Time)]| {
            let times = of_one.iter().map(|(_, time)| *time).collect();
            (of_one[0].0, Room::new(capacity, times))
        };
        Rooms(of_one.map(room).collect())
    }

    /// A place at which anything is ever promised.
    pub fn at(&self, place: K) -> Option<&Room> {
        self.0.get(&place)
    }

    /// Makes a promise.
    pub fn promise(&mut self, place: K, start: Time, end: Time) {
        if let Some(room) = self.0.get_mut(&place) {
            room.promise(start, end);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn time(ps: i64) -> Time {
        Time::from_ps(ps)
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// What the tree says is what counting moment by moment says, after every promise.
        #[test]
        fn counts_like_fingers(
            capacity in 1..4_usize,
            promises in vec((0..40_i64, 1..9_i64), 1..25),
            (from, length) in (0..50_i64, 1..12_i64),
        ) {
            let all = promises.iter().map(|(start, length)| ((), time(*start), time(start + length)));
            let mut rooms = Rooms::new(capacity, all);
            let mut counts = [0; 80];
            for (start, long) in promises {
                rooms.promise((), time(start), time(start + long));
                counts[start as usize..(start + long) as usize].iter_mut().for_each(|count| *count += 1);
                let full = |moment: i64| counts.get(moment as usize).is_some_and(|count| *count >= capacity);
                let room = rooms.at(()).unwrap();
                let fit = (from..).find(|e| !(*e..e + length).any(full)).unwrap();
                prop_assert_eq!(room.fit(time(from), time(length)), time(fit));
                let last = (from..from + length).rfind(|moment| full(*moment));
                if let Some(over) = room.full_until(time(from), time(from + length)) {
                    prop_assert!(last.is_some_and(|last| (last + 1..over.as_ps()).all(full)));
                } else {
                    prop_assert_eq!(last, None);
                }
            }
        }
    }
}
