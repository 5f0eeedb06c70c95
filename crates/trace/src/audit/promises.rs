//! Finds the times at which the promises made at a resource in the network leave room.

use std::collections::HashMap;

use loggp_model::time::Time;

use super::flight::NetworkResource;

/// A resource that holds a limited number of messages at once: an end of the network, or a port, which holds
/// one.
///
/// All promises are known before the first one is made, so the moments at which anything can change are known
/// too. They cut time into stretches, which are the leaves of a binary tree. A promise costs the logarithm of
/// their number, and so does the search for room, however many holes are too short.
pub(super) struct PromisedResource {
    /// The most messages that it holds.
    capacity: i32,
    /// The moments at which stretches begin and end.
    times: Vec<Time>,
    /// The tree: 1 is its root, the children of n are 2n and 2n + 1.
    nodes: Vec<Node>,
}

/// A node of the tree: consecutive stretches.
#[derive(Clone, Copy)]
struct Node {
    /// Number of messages promised all of these stretches and not counted in a node above.
    all: i32,
    /// The most messages promised any stretch that is not full, without those counted in a node above.
    most: i32,
    /// Start of the first full stretch, or the end of time if none is full.
    first: Time,
    /// End of the last full stretch, or the beginning of time if none is full.
    last: Time,
    /// The longest time between two full stretches.
    hole: Time,
}

impl Node {
    /// Stretches with nothing promised.
    const EMPTY: Node =
        Node { all: 0, most: 0, first: Time::MAX, last: Time::from_ps(i64::MIN), hole: Time::ZERO };

    /// Makes `most` so small that no promise makes a full stretch full again.
    const FULL: i32 = i32::MIN / 2;
}

impl PromisedResource {
    /// Creates a resource with nothing promised. The moments are sorted.
    fn new(capacity: usize, times: Vec<Time>) -> PromisedResource {
        let leaves = times.len().saturating_sub(1).next_power_of_two();
        let capacity = capacity.clamp(1, i32::MAX as usize / 2) as i32;
        PromisedResource { capacity, times, nodes: vec![Node::EMPTY; 2 * leaves] }
    }

    fn leaves(&self) -> usize {
        self.nodes.len() / 2
    }

    /// Promises [start, end) to a message; both are among the moments.
    fn promise(&mut self, start: Time, end: Time) {
        let [from, to] = [start, end].map(|time| self.times.partition_point(|moment| *moment < time));
        self.count(1, self.leaves(), from, to);
        while self.nodes[1].most >= self.capacity {
            self.fill(1);
        }
    }

    /// Counts one more message in the stretches `from..to` of the node's `size` ones.
    fn count(&mut self, node: usize, size: usize, from: usize, to: usize) {
        if from >= to {
            return;
        }
        if to - from == size {
            self.nodes[node].all += 1;
            self.nodes[node].most += 1;
            return;
        }
        let half = size / 2;
        self.count(2 * node, half, from.min(half), to.min(half));
        self.count(2 * node + 1, half, from.max(half) - half, to.max(half) - half);
        self.sum_up(node);
    }

    /// Marks as full the node's stretch that was promised the most, the first if there are several.
    fn fill(&mut self, node: usize) {
        if let Some(leaf) = node.checked_sub(self.leaves()) {
            let (first, last) = (self.times[leaf], self.times[leaf + 1]);
            self.nodes[node] = Node { all: 0, most: Node::FULL, first, last, hole: Time::ZERO };
            return;
        }
        let [left, right] = [2 * node, 2 * node + 1];
        self.fill(if self.nodes[left].most < self.nodes[right].most { right } else { left });
        self.sum_up(node);
    }

    /// Updates a node from its children.
    fn sum_up(&mut self, node: usize) {
        let [left, right] = [self.nodes[2 * node], self.nodes[2 * node + 1]];
        let both = left.first < Time::MAX && right.first < Time::MAX;
        let between = if both { right.first - left.last } else { Time::ZERO };
        let all = self.nodes[node].all;
        self.nodes[node] = Node {
            all,
            most: all + left.most.max(right.most),
            first: left.first.min(right.first),
            last: left.last.max(right.last),
            hole: between.max(left.hole).max(right.hole),
        };
    }

    /// Returns the earliest moment, not before `from`, from which on there is room for `length`.
    pub(super) fn earliest_fit(&self, from: Time, length: Time) -> Time {
        let mut moment = from;
        if length > Time::ZERO {
            self.find_fit(1, &mut moment, length);
        }
        moment
    }

    /// Moves `moment` on over the node's stretches to one with room. Returns whether it found one.
    fn find_fit(&self, node: usize, moment: &mut Time, length: Time) -> bool {
        let Node { first, last, hole, .. } = self.nodes[node];
        if last <= *moment {
            return false;
        }
        if first >= *moment + length {
            return true;
        }
        if hole < length {
            *moment = last;
            return false;
        }
        self.find_fit(2 * node, moment, length) || self.find_fit(2 * node + 1, moment, length)
    }

    /// Returns the end of the last full stretch that overlaps [from, to), or `None` if there is room
    /// throughout.
    pub(super) fn full_until(&self, from: Time, to: Time) -> Option<Time> {
        self.full_before(1, to).filter(|end| *end > from)
    }

    /// Returns the end of the last of the node's full stretches that begin before a moment.
    fn full_before(&self, node: usize, to: Time) -> Option<Time> {
        let Node { first, last, .. } = self.nodes[node];
        if first >= to {
            return None;
        }
        if last <= to || node >= self.leaves() {
            return Some(last);
        }
        self.full_before(2 * node + 1, to).or_else(|| self.full_before(2 * node, to))
    }
}

/// Places with promises.
pub(super) struct PromisedResources(HashMap<NetworkResource, PromisedResource>);

impl PromisedResources {
    /// Creates the resources of promises that will be made, without resources that can hold any number of messages.
    pub(super) fn new(
        promises: impl Iterator<Item = (NetworkResource, Time, Time)>,
        capacity: impl Fn(NetworkResource) -> usize,
    ) -> PromisedResources {
        let limited = promises.filter(|(resource, ..)| capacity(*resource) < usize::MAX);
        let mut moments: Vec<(NetworkResource, Time)> =
            limited.flat_map(|(resource, start, end)| [(resource, start), (resource, end)]).collect();
        moments.sort_unstable();
        moments.dedup();
        let room = |of_one: &[(NetworkResource, Time)]| {
            let times = of_one.iter().map(|(_, time)| *time).collect();
            (of_one[0].0, PromisedResource::new(capacity(of_one[0].0), times))
        };
        PromisedResources(moments.chunk_by(|a, b| a.0 == b.0).map(room).collect())
    }

    /// Returns a resource, or `None` if nothing is ever promised there.
    pub(super) fn at(&self, resource: NetworkResource) -> Option<&PromisedResource> {
        self.0.get(&resource)
    }

    /// Makes a promise at its resource.
    pub(super) fn promise(&mut self, (resource, start, end): (NetworkResource, Time, Time)) {
        if let Some(room) = self.0.get_mut(&resource) {
            room.promise(start, end);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    const RESOURCE: NetworkResource = NetworkResource::From(0, 0);

    fn time(ps: i64) -> Time {
        Time::from_ps(ps)
    }

    proptest! {
        #![proptest_config(crate::cases::cases(256))]

        /// After every promise, the tree agrees with counting messages moment by moment.
        #[test]
        fn tree_agrees_with_counting_each_moment(
            capacity in 1..4_usize,
            promises in vec((0..40_i64, 1..9_i64), 1..25),
            (from, length) in (0..50_i64, 1..12_i64),
        ) {
            let all = promises.iter().map(|(start, length)| (RESOURCE, time(*start), time(start + length)));
            let mut rooms = PromisedResources::new(all, |_| capacity);
            let mut counts = [0; 80];
            for (start, long) in promises {
                rooms.promise((RESOURCE, time(start), time(start + long)));
                counts[start as usize..(start + long) as usize].iter_mut().for_each(|count| *count += 1);
                let full = |moment: i64| counts.get(moment as usize).is_some_and(|count| *count >= capacity);
                let room = rooms.at(RESOURCE).unwrap();
                let fit = (from..).find(|e| !(*e..e + length).any(full)).unwrap();
                prop_assert_eq!(room.earliest_fit(time(from), time(length)), time(fit));
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
