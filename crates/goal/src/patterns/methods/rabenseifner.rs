//! Rabenseifner's reductions: a reduce-scatter by recursive halving, and then a gather or an all-gather.
//!
//! A power of 2 of the ranks does it, the nodes. Of ranks too many each is paired with another one, and only one
//! of a pair is a node.

use loggp_schedule::ScheduleError;
use loggp_schedule::rounds::Nodes;

use crate::patterns::WriteResult;
use crate::patterns::member::{Lengths, MemberWriter, part};

/// What the pairs do first.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pairing {
    /// Each combines a half, and the odd rank gives its half to the even one, which is the node.
    Halves,
    /// The even rank gives all to the odd one, which is the node.
    ToOdd,
    /// The odd rank gives all to the even one, which is the node.
    ToEven,
}

/// How a message is halved again and again.
#[derive(Clone, Copy)]
pub(crate) enum Halving {
    /// A half of a half, rounded down for the lower node.
    Nested,
    /// In blocks, one for each node, the longer ones first.
    Blocks,
    /// In blocks of the same length, but for the last one, which has the rest too.
    LongLast,
}

impl Pairing {
    /// Returns the nodes of this many ranks.
    pub(crate) fn nodes(self, P: usize) -> Nodes {
        Nodes::new(P, self == Pairing::ToOdd)
    }

    /// Combines in the pairs, so that the nodes have all. Returns the node that the rank is.
    pub(crate) fn combine(self, rank: &mut MemberWriter, whole: u64) -> Result<Option<usize>, ScheduleError> {
        let nodes = self.nodes(rank.P);
        let node = nodes.node(rank.id);
        let Some(other) = nodes.partner(rank.id) else { return Ok(node) };
        let (low, high) = (whole / 2, whole - whole / 2);
        match (self, node) {
            (Pairing::Halves, _) => {
                let (sent, received) = if node.is_none() { (low, high) } else { (high, low) };
                rank.send_recv((other, sent), (other, received))?;
                rank.combine(received)?;
                if node.is_none() { rank.send(other, high)? } else { rank.recv(other, high)? }
            }
            (_, None) => rank.send(other, whole)?,
            (_, Some(_)) => {
                rank.recv(other, whole)?;
                rank.combine(whole)?;
            }
        }
        Ok(node)
    }

    /// Gives the result to the ranks that are no nodes.
    pub(crate) fn tell(self, rank: &mut MemberWriter, whole: u64) -> WriteResult {
        let nodes = self.nodes(rank.P);
        match (nodes.partner(rank.id), nodes.node(rank.id)) {
            (None, _) => Ok(()),
            (Some(node), None) => rank.recv(node, whole),
            (Some(other), Some(_)) => rank.send(other, whole),
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
        let low = match halving {
            Halving::Nested => length / 2,
            Halving::Blocks => (first..first + count).map(|block| part(whole, nodes, block)).sum(),
            Halving::LongLast => whole / nodes as u64 * count as u64,
        };
        let high = length - low;
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
) -> Result<Vec<(u64, u64)>, ScheduleError> {
    let steps = halves(whole, nodes.count, node, halving);
    for (bit, (given, kept)) in steps.iter().enumerate() {
        let other = nodes.rank(node ^ 1 << bit);
        rank.send_recv((other, *given), (other, *kept))?;
        rank.combine(*kept)?;
    }
    Ok(steps)
}

/// Reduces to all.
pub(crate) fn all_reduce(
    rank: &mut MemberWriter,
    of: &Lengths,
    pairing: Pairing,
    halving: Halving,
) -> WriteResult {
    let (nodes, whole) = (pairing.nodes(rank.P), of.whole());
    if let Some(node) = pairing.combine(rank, whole)? {
        let steps = reduce_scatter(rank, nodes, node, whole, halving)?;
        for (bit, (given, kept)) in steps.iter().enumerate().rev() {
            let other = nodes.rank(node ^ 1 << bit);
            rank.send_recv((other, *kept), (other, *given))?;
        }
    }
    pairing.tell(rank, whole)
}

/// Reduces to the root.
pub(crate) fn reduce(
    rank: &mut MemberWriter,
    of: &Lengths,
    pairing: Pairing,
    halving: Halving,
) -> WriteResult {
    let (nodes, whole, root) = (pairing.nodes(rank.P), of.whole(), of.root());
    let mut node = pairing.combine(rank, whole)?;
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
