//! Rabenseifner's reductions: a reduce-scatter by recursive halving, and then a gather or an all-gather.
//!
//! A power of 2 of the ranks does it, the nodes. Of ranks too many each is paired with another one, and only one
//! of a pair is a node.

use super::WriteResult;
use super::member::{Lengths, MemberWriter, part};

/// What the pairs do first.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Pairing {
    /// Each combines a half, and the odd rank gives its half to the even one, which is the node.
    Halves,
    /// The even rank gives all to the odd one, which is the node.
    ToOdd,
    /// The odd rank gives all to the even one, which is the node.
    ToEven,
}

/// How a message is halved again and again.
#[derive(Clone, Copy)]
pub(super) enum Halving {
    /// A half of a half, rounded down for the lower node.
    Nested,
    /// In blocks, one for each node, the longer ones first.
    Blocks,
}

/// The nodes among the ranks.
#[derive(Clone, Copy)]
pub(super) struct Nodes {
    /// The number of nodes.
    pub count: usize,
    /// The number of pairs.
    pub pairs: usize,
    pub pairing: Pairing,
}

impl Nodes {
    pub fn new(P: usize, pairing: Pairing) -> Nodes {
        let count = 1 << P.ilog2();
        Nodes { count, pairs: P - count, pairing }
    }

    /// Returns the node that a rank is, or `None`.
    pub fn node(&self, id: usize) -> Option<usize> {
        let is_odd_node = self.pairing == Pairing::ToOdd;
        match id < 2 * self.pairs {
            true => (id.is_multiple_of(2) != is_odd_node).then_some(id / 2),
            false => Some(id - self.pairs),
        }
    }

    /// Returns the rank that is a node.
    pub fn rank(&self, node: usize) -> usize {
        match node < self.pairs {
            true => 2 * node + usize::from(self.pairing == Pairing::ToOdd),
            false => node + self.pairs,
        }
    }

    /// Combines in the pairs, so that the nodes have all. Returns the node that the rank is.
    pub fn combine_pairs(
        &self,
        rank: &mut MemberWriter,
        whole: u64,
    ) -> Result<Option<usize>, super::ScheduleError> {
        let (id, node) = (rank.id, self.node(rank.id));
        if id >= 2 * self.pairs {
            return Ok(node);
        }
        let other = id ^ 1;
        if self.pairing != Pairing::Halves {
            match node {
                None => rank.send(other, whole)?,
                Some(_) => {
                    rank.recv(other, whole)?;
                    rank.combine(whole)?;
                }
            }
            return Ok(node);
        }
        let (low, high) = (whole / 2, whole - whole / 2);
        let (sent, received) = if node.is_none() { (low, high) } else { (high, low) };
        rank.send_recv((other, sent), (other, received))?;
        rank.combine(received)?;
        if node.is_none() {
            rank.send(other, high)?
        } else {
            rank.recv(other, high)?
        }
        Ok(node)
    }

    /// Gives the result to the ranks that are no nodes.
    pub fn tell_pairs(&self, rank: &mut MemberWriter, whole: u64) -> WriteResult {
        match self.node(rank.id) {
            _ if rank.id >= 2 * self.pairs => Ok(()),
            None => rank.recv(rank.id ^ 1, whole),
            Some(_) => rank.send(rank.id ^ 1, whole),
        }
    }
}

/// The lengths that a node gives and keeps, from the first step to the last.
fn halves(whole: u64, nodes: usize, node: usize, halving: Halving) -> Vec<(u64, u64)> {
    let mut steps = Vec::new();
    let (mut length, mut first, mut count) = (whole, 0, nodes);
    for bit in 0..nodes.ilog2() {
        let is_upper = node >> bit & 1 == 1;
        count /= 2;
        let (low, high) = match halving {
            Halving::Nested => (length / 2, length - length / 2),
            Halving::Blocks => {
                let sum = |first: usize| (first..first + count).map(|block| part(whole, nodes, block)).sum();
                (sum(first), sum(first + count))
            }
        };
        let (given, kept) = if is_upper { (low, high) } else { (high, low) };
        first += if is_upper { count } else { 0 };
        length = kept;
        steps.push((given, kept));
    }
    steps
}

/// Combines halves of halves, in which nodes differ in one bit after the other. Returns what it gave and kept.
fn reduce_scatter(
    rank: &mut MemberWriter,
    nodes: Nodes,
    node: usize,
    whole: u64,
    halving: Halving,
) -> Result<Vec<(u64, u64)>, super::ScheduleError> {
    let steps = halves(whole, nodes.count, node, halving);
    for (bit, (given, kept)) in steps.iter().enumerate() {
        let other = nodes.rank(node ^ 1 << bit);
        rank.send_recv((other, *given), (other, *kept))?;
        rank.combine(*kept)?;
    }
    Ok(steps)
}

/// Reduces to all.
pub(super) fn all_reduce(
    rank: &mut MemberWriter,
    of: &Lengths,
    pairing: Pairing,
    halving: Halving,
) -> WriteResult {
    let (nodes, whole) = (Nodes::new(rank.P, pairing), of.whole());
    if let Some(node) = nodes.combine_pairs(rank, whole)? {
        let steps = reduce_scatter(rank, nodes, node, whole, halving)?;
        for (bit, (given, kept)) in steps.iter().enumerate().rev() {
            let other = nodes.rank(node ^ 1 << bit);
            rank.send_recv((other, *kept), (other, *given))?;
        }
    }
    nodes.tell_pairs(rank, whole)
}

/// Reduces to the root.
pub(super) fn reduce(
    rank: &mut MemberWriter,
    of: &Lengths,
    pairing: Pairing,
    halving: Halving,
) -> WriteResult {
    let (nodes, whole, root) = (Nodes::new(rank.P, pairing), of.whole(), of.root());
    let mut node = nodes.combine_pairs(rank, whole)?;
    let mut steps = Vec::new();
    if let Some(node) = node {
        steps = reduce_scatter(rank, nodes, node, whole, halving)?;
    }
    // A root that is no node takes the place of node 0.
    let root_node = nodes.node(root);
    if root_node.is_none() {
        let of_first = halves(whole, nodes.count, 0, halving);
        let length = of_first.last().map_or(whole, |(_, kept)| *kept);
        if rank.id == root {
            rank.recv(nodes.rank(0), length)?;
            (node, steps) = (Some(0), of_first);
        } else if node == Some(0) {
            rank.send(root, length)?;
            node = None;
        }
    }
    let Some(node) = node else { return Ok(()) };
    let at = |node: usize| if node == 0 && root_node.is_none() { root } else { nodes.rank(node) };
    let root_node = root_node.unwrap_or(0);
    for (bit, (given, kept)) in steps.iter().enumerate().rev() {
        let other = node ^ 1 << bit;
        if other >> bit == root_node >> bit {
            return rank.send(at(other), *kept);
        }
        rank.recv(at(other), *given)?;
    }
    Ok(())
}
