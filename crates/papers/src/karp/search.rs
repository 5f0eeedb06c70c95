//! Searches through all that could be done, against which the paper's optimal algorithms are held.

use std::collections::HashMap;

/// What the best of all broadcast trees need, for every number of processors from 1 on.
pub struct Trees {
    /// The least time by which all have the datum.
    pub time: Vec<i64>,
    /// The least sum of the times at which they have it.
    pub sum: Vec<i64>,
}

impl Trees {
    /// Of all trees of up to P processors, in which a child has the datum D after its parent began to send, and the next
    /// child d later. Every tree of n is a first child with a tree of m, and the rest of the tree, which begins d later.
    pub fn up_to(P: usize, D: i64, d: i64) -> Trees {
        let (mut time, mut sum) = (vec![0], vec![0]);
        for n in 2..=P {
            let of = |values: &[i64], m: usize| values[m - 1];
            let splits = 1..n;
            let least_time = splits.clone().map(|m| {
                let rest = if n - m > 1 { d + of(&time, n - m) } else { 0 };
                (D + of(&time, m)).max(rest)
            });
            let least_time = least_time.min().expect("there is a split");
            let least_sum = splits.map(|m| {
                let others = (n - m - 1) as i64;
                of(&sum, m) + m as i64 * D + of(&sum, n - m) + others * d
            });
            let least_sum = least_sum.min().expect("there is a split");
            time.push(least_time);
            sum.push(least_sum);
        }
        Trees { time, sum }
    }
}

/// The most operands that one processor can have summed at the end of cycle T, with the help of others: all
/// that it may do in a cycle is tried. The paper's lemmas are not used, but that each sends once.
pub struct Sums {
    /// The machine's times, in cycles.
    times: [i64; 3],
    /// What was found, by T and helpers.
    known: HashMap<(i64, usize), i64>,
}

impl Sums {
    /// On a machine with these L, o and g.
    pub fn on(times: [i64; 3]) -> Sums {
        Sums { times, known: HashMap::new() }
    }

    /// The most by T with so many helpers.
    pub fn most(&mut self, T: i64, helpers: usize) -> i64 {
        if let Some(most) = self.known.get(&(T, helpers)) {
            return *most;
        }
        let most = self.from(0, T, helpers, 0, None) + 1;
        self.known.insert((T, helpers), most);
        most
    }

    /// From time t on, with so many sums received and not added yet, and the last reception begun at a time.
    fn from(&mut self, t: i64, T: i64, helpers: usize, pending: i64, last: Option<i64>) -> i64 {
        const NEVER: i64 = i64::MIN / 2;
        let [L, o, g] = self.times;
        if t > T || pending > T - t {
            return NEVER;
        }
        let mut most = if t == T { 0 } else { NEVER };
        if t < T {
            most = most.max(self.from(t + 1, T, helpers, pending, last)); // idle
            most = most.max(1 + self.from(t + 1, T, helpers, pending, last)); // an operand of its own
        }
        if t < T && pending > 0 {
            most = most.max(self.from(t + 1, T, helpers, pending - 1, last));
        }
        if last.is_none_or(|last| t >= last + g) && t >= L + o {
            for theirs in 1..=helpers {
                let sum = self.most(t - L - o, theirs - 1);
                let rest = self.from(t + o, T, helpers - theirs, pending + 1, Some(t));
                most = most.max(sum + rest);
            }
        }
        most
    }
}
