//! Exhaustive searches, with which the paper's optimal algorithms are compared.

use std::collections::HashMap;

/// The least times of all broadcast trees, for every number of processors from 1 on, in cycles.
pub struct BestTrees {
    /// Least time by which all have the datum.
    pub time: Vec<i64>,
    /// Least sum of the times at which they have it.
    pub sum: Vec<i64>,
}

impl BestTrees {
    /// Searches all trees of up to P processors. A child has the datum D after its parent began to send, and
    /// the next child d later. Every tree of n processors is a first child with a tree of m, and the rest of
    /// the tree, which begins d later.
    pub fn up_to(P: usize, D: i64, d: i64) -> BestTrees {
        let (mut time, mut sum) = (vec![0], vec![0]);
        for n in 2..=P {
            let value_at = |values: &[i64], m: usize| values[m - 1];
            let splits = 1..n;
            let least_time = splits.clone().map(|m| {
                let rest = if n - m > 1 { d + value_at(&time, n - m) } else { 0 };
                (D + value_at(&time, m)).max(rest)
            });
            let least_time = least_time.min().expect("there is a split");
            let least_sum = splits.map(|m| {
                let others = (n - m - 1) as i64;
                value_at(&sum, m) + m as i64 * D + value_at(&sum, n - m) + others * d
            });
            let least_sum = least_sum.min().expect("there is a split");
            time.push(least_time);
            sum.push(least_sum);
        }
        BestTrees { time, sum }
    }
}

/// A search for the most operands that one processor can have summed at the end of cycle T with the help of
/// others. All that it may do in a cycle is tried; of the paper's lemmas only one is used, that each
/// processor sends once.
pub struct SummationSearch {
    /// L, o and g of the machine, in cycles.
    times: [i64; 3],
    /// Results so far, by T and number of helpers.
    found: HashMap<(i64, usize), i64>,
}

impl SummationSearch {
    pub fn new(times: [i64; 3]) -> SummationSearch {
        SummationSearch { times, found: HashMap::new() }
    }

    /// Returns the most operands summed by T with this number of helpers.
    pub fn most_operands(&mut self, T: i64, helpers: usize) -> i64 {
        if let Some(most) = self.found.get(&(T, helpers)) {
            return *most;
        }
        let most = self.search(0, T, helpers, 0, None) + 1;
        self.found.insert((T, helpers), most);
        most
    }

    /// Returns the most operands added from time t on, with `pending` sums received and not added yet, and
    /// the last reception begun at `last`.
    fn search(&mut self, t: i64, T: i64, helpers: usize, pending: i64, last: Option<i64>) -> i64 {
        const NEVER: i64 = i64::MIN / 2;
        let [L, o, g] = self.times;
        if t > T || pending > T - t {
            return NEVER;
        }
        let mut most = if t == T { 0 } else { NEVER };
        if t < T {
            most = most.max(self.search(t + 1, T, helpers, pending, last)); // idle
            most = most.max(1 + self.search(t + 1, T, helpers, pending, last)); // an operand of its own
        }
        if t < T && pending > 0 {
            most = most.max(self.search(t + 1, T, helpers, pending - 1, last));
        }
        if last.is_none_or(|last| t >= last + g) && t >= L + o {
            for theirs in 1..=helpers {
                let sum = self.most_operands(t - L - o, theirs - 1);
                let rest = self.search(t + o, T, helpers - theirs, pending + 1, Some(t));
                most = most.max(sum + rest);
            }
        }
        most
    }
}
