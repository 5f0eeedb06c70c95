//! Reduce-scatters, in which the parts may have different lengths.

use loggp_schedule::rounds::Nodes;

use super::rabenseifner::Pairing;
use super::trees;
use crate::patterns::WriteResult;
use crate::patterns::algorithm::CollectiveAlgorithm;
use crate::patterns::call::{CollectiveKind, Sizes};
use crate::patterns::member::{Lengths, MemberWriter};

/// Returns the length of the parts of some ranks.
fn parts(of: &Lengths, ranks: std::ops::Range<usize>) -> u64 {
    match of.call.sent {
        Sizes::Same(_) => of.sent(0) * ranks.len() as u64,
        Sizes::Each(_) => ranks.map(|part| of.sent(part)).sum(),
    }
}

/// A reduction to rank 0 and then a scatter, as the library does these.
pub(crate) fn nonoverlapping(rank: &mut MemberWriter, of: &Lengths, _: &CollectiveAlgorithm) -> WriteResult {
    let (call, P) = (of.call, rank.P);
    let total = Sizes::Same(call.sent.total(P));
    if is_block(of) && call.sent.of(0) == 0 {
        return Ok(());
    }
    rank.write(&call.part(CollectiveKind::Reduce, total, total))?;
    let scatter = if is_block(of) { CollectiveKind::Scatter } else { CollectiveKind::Scatterv };
    rank.write(&call.part(scatter, call.sent, Sizes::Same(call.sent.of(rank.id))))
}

/// A reduction to rank 0 up a binomial tree, which then sends to everyone at once.
pub(crate) fn binomial(rank: &mut MemberWriter, of: &Lengths, _: &CollectiveAlgorithm) -> WriteResult {
    let whole = parts(of, 0..rank.P);
    let tree = trees::contiguous_binomial(rank.P, rank.id);
    for child in tree.children {
        rank.recv(child, whole)?;
        rank.combine(whole)?;
    }
    if let Some(parent) = tree.parent {
        rank.send(parent, whole)?;
        return rank.recv(0, of.sent(rank.id));
    }
    let sent = (1..rank.P).map(|to| rank.start_send(to, of.sent(to))).collect::<Result<Vec<_>, _>>()?;
    rank.wait(sent)
}

fn is_block(of: &Lengths) -> bool {
    of.call.kind == CollectiveKind::ReduceScatterBlock
}

/// The nodes, each of which has the parts of its pair.
struct NodeParts {
    nodes: Nodes,
}

impl NodeParts {
    fn new(P: usize) -> NodeParts {
        NodeParts { nodes: Pairing::ToOdd.nodes(P) }
    }

    /// Returns the length of the parts of some nodes.
    fn length(&self, of: &Lengths, nodes: std::ops::Range<usize>) -> u64 {
        let first = |node: usize| node + node.min(self.nodes.pairs);
        parts(of, first(nodes.start)..first(nodes.end))
    }
}

/// Halves of halves of the parts are exchanged and combined, the largest first. Ranks too many give all to another
/// one and get their part at the end.
pub(crate) fn recursive_halving(
    rank: &mut MemberWriter,
    of: &Lengths,
    algorithm: &CollectiveAlgorithm,
) -> WriteResult {
    if is_block(of) && !of.call.is_commutative {
        return rank.write_instead(("nonoverlapping", nonoverlapping), of, algorithm);
    }
    let (P, id, by_node) = (rank.P, rank.id, NodeParts::new(rank.P));
    let (nodes, whole) = (by_node.nodes, parts(of, 0..P));
    if whole == 0 {
        return Ok(());
    }
    if let Some(node) = Pairing::ToOdd.combine(rank, whole)? {
        let (mut first, mut count) = (0, nodes.count);
        while count > 1 {
            count /= 2;
            let other = nodes.rank(node ^ count);
            let halves = [first..first + count, first + count..first + 2 * count];
            let kept = usize::from(node & count != 0);
            let (sent, received) =
                (by_node.length(of, halves[1 - kept].clone()), by_node.length(of, halves[kept].clone()));
            let open = if received > 0 { Some(rank.start_recv(other, received)?) } else { None };
            if sent > 0 {
                rank.send(other, sent)?;
            }
            rank.wait(open)?;
            rank.combine(received)?;
            first = halves[kept].start;
        }
    }
    if id >= 2 * nodes.pairs {
        return Ok(());
    }
    // The even rank of a pair gets its part from the odd one.
    let even = id & !1;
    match of.sent(even) {
        0 => Ok(()),
        length if id == even => rank.recv(id + 1, length),
        length => rank.send(even, length),
    }
}

/// The parts go round a ring and are combined on their way.
pub(crate) fn ring(rank: &mut MemberWriter, of: &Lengths, _: &CollectiveAlgorithm) -> WriteResult {
    let (P, next, before) = (rank.P, rank.ahead(1), rank.behind(1));
    let part = |rank: &MemberWriter, behind: usize| of.sent(rank.behind(behind));
    let mut open = rank.start_recv(before, part(rank, 2))?;
    rank.send(next, part(rank, 1))?;
    for step in 2..P {
        let received = std::mem::replace(&mut open, rank.start_recv(before, part(rank, step + 1))?);
        rank.wait([received])?;
        rank.combine(part(rank, step))?;
        rank.send(next, part(rank, step))?;
    }
    rank.wait([open])?;
    rank.combine(of.sent(rank.id))
}

/// Halves of halves of the parts are exchanged and combined in the order of ranks, the nearest ranks first. So
/// every rank gets another one's part, and sends it there at the end.
pub(crate) fn butterfly(rank: &mut MemberWriter, of: &Lengths, _: &CollectiveAlgorithm) -> WriteResult {
    let (P, id, by_node) = (rank.P, rank.id, NodeParts::new(rank.P));
    let nodes = by_node.nodes;
    let whole = parts(of, 0..P);
    if is_block(of) && whole == 0 {
        return Ok(());
    }
    let bits = nodes.count.ilog2();
    let mirrored = |node: usize| node.reverse_bits() >> (usize::BITS - bits);
    let Some(node) = Pairing::ToOdd.combine(rank, whole)? else {
        return rank.recv(nodes.rank(mirrored(id / 2)), of.sent(id));
    };
    let (mut first, mut count) = (0, nodes.count);
    for bit in 0..bits {
        count /= 2;
        let other = nodes.rank(node ^ 1 << bit);
        let halves = [first..first + count, first + count..first + 2 * count];
        let kept = node >> bit & 1;
        let (sent, received) =
            (by_node.length(of, halves[1 - kept].clone()), by_node.length(of, halves[kept].clone()));
        rank.send_recv((other, sent), (other, received))?;
        rank.combine(received)?;
        first = halves[kept].start;
    }
    // Equal parts of a power of 2 of ranks are put in the other order before.
    if is_block(of) && P.is_power_of_two() {
        return Ok(());
    }
    let peer = nodes.rank(mirrored(node));
    if mirrored(node) < nodes.pairs {
        rank.send(peer - 1, of.sent(peer - 1))?;
    }
    if peer == id { Ok(()) } else { rank.send_recv((peer, of.sent(peer)), (peer, of.sent(id))) }
}

/// Everyone sends every other one its part, one after the other.
pub(crate) fn pairwise(rank: &mut MemberWriter, of: &Lengths, _: &CollectiveAlgorithm) -> WriteResult {
    if parts(of, 0..rank.P) == 0 {
        return Ok(());
    }
    for distance in 1..rank.P {
        let to = rank.ahead(distance);
        rank.send_recv((to, of.sent(to)), (rank.behind(distance), of.sent(rank.id)))?;
        rank.combine(of.sent(rank.id))?;
    }
    Ok(())
}

/// Ranks whose numbers differ in one bit exchange all parts but those that both have combined, for one bit after the
/// other. Those without a partner get what it would have sent from one that has it.
pub(crate) fn recursive_doubling(
    rank: &mut MemberWriter,
    of: &Lengths,
    _: &CollectiveAlgorithm,
) -> WriteResult {
    let (P, id) = (rank.P, rank.id);
    let whole = parts(of, 0..P);
    if whole == 0 {
        return Ok(());
    }
    for distance in rank.distances() {
        let (other, here, there) = (id ^ distance, id & !(distance - 1), (id ^ distance) & !(distance - 1));
        // All but the parts of those who have combined with each other.
        let without = |first: usize| whole - parts(of, first.min(P)..(first + distance).min(P));
        let mut came = false;
        if other < P {
            rank.send_recv((other, without(here)), (other, without(there)))?;
            came = true;
        }
        if there + distance > P {
            let complete = P.saturating_sub(here + distance);
            for half in (0..distance.ilog2()).rev().map(|bit| 1 << bit) {
                let (other, first) = (id ^ half, id & !(2 * half - 1));
                let is_split = |low: usize, high: usize| low < first + complete && high >= first + complete;
                if other > id && is_split(id, other) {
                    rank.send(other, without(there))?;
                } else if other < id && is_split(other, id) {
                    rank.recv(other, without(there))?;
                    came = true;
                }
            }
        }
        if came {
            rank.combine(without(there))?;
        }
    }
    Ok(())
}
