//! The optimal tree of Karp, Sahay, Santos and Schauser ("Optimal Broadcast and Summation in the LogP Model",
//! section 3.2), in a form in which every processor can compute its place alone.
//!
//! A node that starts at t has children that start at t + D, t + D + d, t + D + 2d ... (definition 3.4). So
//! by t a tree can reach F(t) = F(t-d) + F(t-D) processors: those of the root without its first child, and
//! those of that child. Here every node has an interval of processors, and gives its first child as many of
//! them, from one end, as F(t-D) allows. The tree then reaches all at the least t with F(t) >= P, which is
//! the optimum. The processors below a node are contiguous, so that values can be combined in the order of
//! the processors. No child has more than the one before it, so that in a reduction, where the tree runs
//! backwards, the processors that are received first are ready first.

use loggp_model::time::Time;

/// The trees with the same D and d, for any number of processors.
pub struct Tree {
    /// Time from the start of a node to the start of its first child.
    D: Time,
    /// Time from the start of one child of a node to that of the next.
    d: Time,
    /// The number of processors that can be reached by a time, for each time at which it grows, until it is
    /// enough.
    reach: Vec<(Time, usize)>,
}

/// A processor's place in a tree.
#[derive(Debug, PartialEq)]
pub struct TreePlace {
    /// The children, in the order of their starts.
    pub children: Vec<usize>,
    /// The parent; `None` for the root.
    pub parent: Option<usize>,
}

impl Tree {
    /// Creates the trees that reach up to `P` processors.
    pub fn new(P: usize, D: Time, d: Time) -> Tree {
        let mut reach = vec![(Time::ZERO, 1)];
        if D <= Time::ZERO || d <= Time::ZERO {
            // Any number of processors is reached by D, in a chain or from one node.
            reach.push((D, P));
            return Tree { D, d, reach };
        }
        reach.push((D, 2));
        // Each growth at t causes one at t + d, by a sibling, and one at t + D, by a child. These are the
        // next of each.
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

    /// Returns the time by which `n` processors can be reached.
    pub fn time_to_reach(&self, n: usize) -> Time {
        self.reach[self.reach.partition_point(|(_, reached)| *reached < n)].0
    }

    /// Returns the place of `id` in the tree of processors 0 to P - 1 with this root.
    ///
    /// A root in the middle gives from its larger side, which has half of the others and so enough for a
    /// child, as long as D >= d.
    pub fn place(&self, P: usize, root: usize, id: usize) -> TreePlace {
        debug_assert!(self.D >= self.d || root == 0 || root == P - 1);
        let (mut parent, mut node, mut below) = (None, root, 0..P);
        // Positions in `reach` of the time for n processors, and of the number reached D earlier. Both only
        // go back, as n only falls.
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
            return TreePlace { children, parent };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loggp_model::time::US;

    /// Returns the least time by trial: a node with n processors gives its first child any number of these
    /// processors.
    fn least_times(P: usize, D: Time, d: Time) -> Vec<Time> {
        let mut least = vec![Time::ZERO; 2];
        for n in 2..=P {
            let with = |given: usize| {
                (D + least[given]).max(if given + 1 < n { d + least[n - given] } else { Time::ZERO })
            };
            least.push((1..n).map(with).min().unwrap());
        }
        least
    }

    /// Returns the start of the last processor in the tree of which each processor computes its own place.
    fn last_start(P: usize, root: usize, D: Time, d: Time) -> Time {
        let tree = Tree::new(P, D, d);
        let places: Vec<TreePlace> = (0..P).map(|id| tree.place(P, root, id)).collect();
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
    fn tree_of_all_places_is_optimal() {
        for (D, d) in [(10, 4), (1, 1), (7, 7), (5, 3), (3, 8), (100, 1), (0, 3), (4, 0), (0, 0)] {
            let (D, d) = (D * US, d * US);
            let least = least_times(40, D, d);
            for (P, least) in least.into_iter().enumerate().skip(1) {
                assert_eq!(Tree::new(P, D, d).time_to_reach(P), least, "P = {P}, D = {D}, d = {d}");
                let roots = if D >= d { 0..P } else { 0..1 };
                for root in roots {
                    assert_eq!(last_start(P, root, D, d), least, "P = {P}, root {root}, D = {D}, d = {d}");
                }
            }
        }
        assert_eq!(Tree::new(8, 10 * US, 4 * US).time_to_reach(8), 24 * US); // LogP's figure 3
        assert_eq!(
            Tree::new(1 << 20, 1000 * US, Time::from_ps(1)).time_to_reach(1 << 20).as_ps(),
            1_001_048_574
        );
    }
}
