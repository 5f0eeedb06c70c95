//! Broadcast trees: each node's children, and the time at which the datum arrives. Other programs run them
//! backwards, or need only their times.
//!
//! A node that has the datum at time t can send it from then on, to one child every d; a child has it D after
//! the send began (Karp et al., "Optimal Broadcast and Summation in the LogP Model", definition 3.4).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use loggp_model::time::Time;

/// Each node's children, in the order in which they get the datum. A child's number is larger than its
/// parent's.
pub type Children = Vec<Vec<usize>>;

/// Returns the label and the parent of the P nodes with the smallest labels of the universal tree, ascending.
/// A node with label t has children with the labels t + D, t + D + d, t + D + 2d ... (definition 3.5). The
/// root is its own parent.
pub fn universal(P: usize, D: Time, d: Time) -> Vec<(Time, usize)> {
    let mut nodes = vec![(Time::ZERO, 0)];
    // The next child of every node in the tree: its label and its parent.
    let mut next = BinaryHeap::from([Reverse((D, 0))]);
    while nodes.len() < P {
        let Reverse((label, parent)) = next.pop().expect("every node always has a next child");
        next.push(Reverse((label + d, parent)));
        next.push(Reverse((label + D, nodes.len())));
        nodes.push((label, parent));
    }
    nodes
}

/// Returns the optimal tree: the universal one.
pub fn optimal(P: usize, D: Time, d: Time) -> Children {
    let mut children = vec![Vec::new(); P];
    for (child, (_, parent)) in universal(P, D, d).into_iter().enumerate().skip(1) {
        children[parent].push(child);
    }
    children
}

/// Returns the tree by halving: a processor that answers for n gives floor(n/2) away, and goes on with the
/// rest.
pub fn binomial(P: usize) -> Children {
    let mut children = vec![Vec::new(); P];
    let mut answers_for = vec![P; P];
    for id in 0..P {
        while answers_for[id] > 1 {
            let given = answers_for[id] / 2;
            answers_for[id] -= given;
            let child = id + answers_for[id];
            answers_for[child] = given;
            children[id].push(child);
        }
    }
    children
}

/// Returns the binary tree in breadth-first order.
pub fn binary(P: usize) -> Children {
    (0..P).map(|id| (2 * id + 1..=2 * id + 2).filter(|child| *child < P).collect()).collect()
}

/// Returns the tree in which the root is the parent of all others.
pub fn flat(P: usize) -> Children {
    let mut children = vec![Vec::new(); P];
    children[0].extend(1..P);
    children
}

/// Returns B(P), the least t by which the datum reaches P processors (definition 3.1). The flat tree is an
/// upper bound.
pub fn B(P: usize, D: Time, d: Time) -> Time {
    let (mut early, mut enough) = (-1, flat_time(P, D, d).as_ps());
    while enough - early > 1 {
        let t = early + (enough - early) / 2;
        if reachable(Time::from_ps(t), D, d, P) < P as u128 { early = t } else { enough = t }
    }
    Time::from_ps(enough)
}

/// Returns p(t), the number of processors that a broadcast can reach by t; it stops counting at P.
///
/// Theorem 3.2 has it as f_t, for D a multiple of d = 1. Here without that normalization: a node at depth j
/// has the label jD + id if it and its ancestors have i elder siblings in total. There are C(i+j-1, j-1) ways
/// to share i among j, and their sum over all i <= m is C(m+j, j).
pub fn reachable(t: Time, D: Time, d: Time, P: usize) -> u128 {
    let mut rest = t; // t - jD
    let mut reached = 0;
    for j in 0_u128.. {
        if rest < Time::ZERO || reached >= P as u128 {
            break;
        }
        reached += match d.as_ps() {
            0 if j > 0 => P as u128, // any number of children at the same time
            0 => 1,
            d => choose((rest.as_ps() / d) as u128 + j, j, P as u128),
        };
        rest -= D;
    }
    reached
}

/// Returns C(n, j), or any value of at least `most` if C(n, j) is at least that.
pub fn choose(n: u128, j: u128, most: u128) -> u128 {
    let mut ways = 1;
    // C(n, i) is at least 2^i as long as i <= n/2, so the loop is short.
    for i in 1..=j.min(n - j) {
        ways = ways * (n - i + 1) / i;
        if ways >= most {
            break;
        }
    }
    ways
}

/// Returns the time of the tree by halving: the new source is D later, and the old one d later unless it is
/// done.
pub fn binomial_time(P: usize, D: Time, d: Time) -> Time {
    match P {
        1 => Time::ZERO,
        2 => D,
        _ => (D + binomial_time(P / 2, D, d)).max(d + binomial_time(P.div_ceil(2), D, d)),
    }
}

/// Returns the time of the binary tree. Counted from 1, node n has the children 2n and 2n + 1, which get the
/// datum D and D + d later: its label is D for every binary digit after its first, and d for every 1 among
/// them.
pub fn binary_time(P: usize, D: Time, d: Time) -> Time {
    let label = |n: usize| i64::from(n.ilog2()) * D + i64::from(n.count_ones() - 1) * d;
    (1..=P).map(label).max().unwrap_or(Time::ZERO)
}

/// Returns the time at which the root's last child has the datum.
pub fn flat_time(P: usize, D: Time, d: Time) -> Time {
    (P as i64 - 2) * d + D
}

#[cfg(test)]
mod tests {
    use super::*;
    use loggp_model::time::US;

    #[test]
    fn reachable_is_the_recurrence_of_theorem_3_2() {
        for D in 1..=12 {
            let mut f: Vec<u128> = Vec::new();
            for t in 0..60 {
                f.push(if t < D { 1 } else { f[t - 1] + f[t - D] });
                assert_eq!(reachable(t as i64 * US, D as i64 * US, US, usize::MAX), f[t], "D = {D}, t = {t}");
            }
        }
    }

    #[test]
    fn choose_stops_at_the_most() {
        assert_eq!(choose(6, 3, 1000), 20);
        assert_eq!(choose(5, 5, 1000), 1);
        assert!(choose(1 << 70, 1 << 69, 1000) >= 1000);
    }
}
