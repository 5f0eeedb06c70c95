//! The optimal tree of Karp, Sahay, Santos and Schauser ("Optimal Broadcast and Summation in the LogP Model",
//! section 3.2), so that every processor can find its place in it alone.
//!
//! A node that begins at t has children that begin at t + D, t + D + d, t + D + 2d ... (definition 3.4). So
//! by t a tree can reach F(t) = F(t-d) + F(t-D) processors: those of the root without its first child, and
//! those of that child. Here every node answers for an interval of processors, and gives its first child as
//! many of them, from one end, as F(t-D) lets it. The tree so reaches all at the least t with F(t) >= P,
//! which is the optimum. What lies below a node stays together, so that values can be combined in the order
//! of the processors. And no child answers for more than the one before, so that backwards, in a reduction,
//! those who are ready first are those who come first.

use crate::time::Time;

/// The trees with one D and one d.
pub(super) struct Tree {
    /// From when a node can begin until its first child can.
    D: Time,
    /// The time from one child of a node to the next.
    d: Time,
    /// By when how many can be reached: a pair wherever that grows, until there are enough.
    reach: Vec<(Time, usize)>,
}

/// A processor's place in a tree.
#[derive(Debug, PartialEq)]
pub(super) struct Place {
    /// Its children, in the order in which they can begin.
    pub children: Vec<usize>,
    /// Its parent, if it is not the root.
    pub parent: Option<usize>,
}

impl Tree {
    /// The trees that reach up to `P` processors.
    pub(super) fn new(P: usize, D: Time, d: Time) -> Tree {
        let mut reach = vec![(Time::ZERO, 1)];
        if D <= Time::ZERO || d <= Time::ZERO {
            reach.push((D, P)); // as many as you like, of each other or of one
            return Tree { D, d, reach };
        }
        reach.push((D, 2));
        // What grows at t grows again at t + d, by a sibling, and at t + D, by a child: whose turn is next.
        let (mut sibling, mut child) = (1, 1);
        while reach[reach.len() - 1].1 < P {
            let (by_sibling, by_child) = (reach[sibling].0 + d, reach[child].0 + D);
            let t = by_sibling.min(by_child);
            sibling += usize::from(by_sibling == t);
            child += usize::from(by_child == t);
            reach.push((t, reach[sibling - 1].1.saturating_add(reach[child - 1].1)));
        }
        Tree { D, d, reach }
    }

    /// By when `n` processors can be reached.
    pub(super) fn soonest(&self, n: usize) -> Time {
        self.reach[self.reach.partition_point(|(_, reached)| *reached < n)].0
    }

    /// Where `id` is in the tree of processors 0 to P - 1 with this root.
    ///
    /// A root in the middle gives from its larger side. That has half of the others, and so enough for a
    /// child, as long as D >= d.
    pub(super) fn place(&self, P: usize, root: usize, id: usize) -> Place {
        debug_assert!(self.D >= self.d || root == 0 || root == P - 1);
        let (mut parent, mut node, mut below) = (None, root, 0..P);
        // When n can be reached, and how many by D before that: as n only falls, both are found by going back.
        let (mut soonest, mut before) = (self.reach.len() - 1, self.reach.len());
        let mut children = Vec::new();
        'node: loop {
            children.clear();
            while below.len() > 1 {
                let n = below.len();
                while soonest > 0 && self.reach[soonest - 1].1 >= n {
                    soonest -= 1;
                }
                let t = self.reach[soonest].0 - self.D;
                while before > 0 && self.reach[before - 1].0 > t {
                    before -= 1;
                }
                let reached = if before > 0 { self.reach[before - 1].1 } else { 0 };
                let most = reached.min(n - 1);
                let (left, right) = (node - below.start, below.end - node - 1);
                let given = if left > right {
                    let given = below.start..below.start + most.min(left);
                    below.start = given.end;
                    given
                } else {
                    let given = below.end - most.min(right)..below.end;
                    below.end = given.start;
                    given
                };
                let child = given.start;
                if given.contains(&id) {
                    (parent, node, below) = (Some(node), child, given);
                    continue 'node;
                }
                children.push(child);
            }
            return Place { children, parent };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::US;

    /// The least time, tried out: who answers for n gives its first child any number of them.
    fn tried_out(P: usize, D: Time, d: Time) -> Vec<Time> {
        let mut least = vec![Time::ZERO; 2];
        for n in 2..=P {
            let with = |given: usize| {
                (D + least[given]).max(if given + 1 < n { d + least[n - given] } else { Time::ZERO })
            };
            least.push((1..n).map(with).min().unwrap());
        }
        least
    }

    /// When the last of all processors can begin in the tree that they find, each alone.
    fn found(P: usize, root: usize, D: Time, d: Time) -> Time {
        let tree = Tree::new(P, D, d);
        let places: Vec<Place> = (0..P).map(|id| tree.place(P, root, id)).collect();
        let (mut last, mut seen, mut open) = (Time::ZERO, 0, vec![(root, Time::ZERO)]);
        while let Some((node, t)) = open.pop() {
            seen += 1;
            last = last.max(t);
            for (i, child) in places[node].children.iter().enumerate() {
                assert_eq!(places[*child].parent, Some(node));
                open.push((*child, t + D + i as i64 * d));
            }
        }
        assert_eq!((seen, places[root].parent), (P, None));
        last
    }

    #[test]
    fn the_tree_that_all_find_is_optimal() {
        for (D, d) in [(10, 4), (1, 1), (7, 7), (5, 3), (3, 8), (100, 1), (0, 3), (4, 0), (0, 0)] {
            let (D, d) = (D * US, d * US);
            let least = tried_out(40, D, d);
            for (P, least) in least.into_iter().enumerate().skip(1) {
                assert_eq!(Tree::new(P, D, d).soonest(P), least, "P = {P}, D = {D}, d = {d}");
                let roots = if D >= d { 0..P } else { 0..1 };
                for root in roots {
                    assert_eq!(found(P, root, D, d), least, "P = {P}, root {root}, D = {D}, d = {d}");
                }
            }
        }
        assert_eq!(Tree::new(8, 10 * US, 4 * US).soonest(8), 24 * US); // LogP's figure 3
        assert_eq!(Tree::new(1 << 20, 1000 * US, Time::from_ps(1)).soonest(1 << 20).as_ps(), 1_001_048_574);
    }
}
