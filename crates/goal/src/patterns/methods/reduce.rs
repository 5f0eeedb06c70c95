//! Reductions to a root.

use super::broadcast::{even_segments, segments};
use super::rabenseifner::{self, Halving, Pairing};
use super::trees::{self, TreeNeighbours};
use crate::patterns::WriteResult;
use crate::patterns::algorithm::CollectiveAlgorithm;
use crate::patterns::member::{Lengths, MemberWriter, StartedOperation};

/// Everyone sends to the root, which receives from the last one first.
pub(crate) fn linear(rank: &mut MemberWriter, of: &Lengths, _: &CollectiveAlgorithm) -> WriteResult {
    let (id, root, P) = (rank.id, of.root(), rank.P);
    if id != root {
        return rank.send(root, of.whole());
    }
    for from in (0..P).rev() {
        if from != id {
            rank.recv(from, of.whole())?;
        }
        if from < P - 1 {
            rank.combine(of.whole())?;
        }
    }
    Ok(())
}

pub(crate) fn chain(rank: &mut MemberWriter, of: &Lengths, algorithm: &CollectiveAlgorithm) -> WriteResult {
    let place = trees::chains(rank.P, rank.place_from(of.root()), algorithm.fan_out.unwrap_or(1));
    up_tree(rank, of, algorithm, of.root(), &place)
}

pub(crate) fn binary(rank: &mut MemberWriter, of: &Lengths, algorithm: &CollectiveAlgorithm) -> WriteResult {
    let place = trees::binary(rank.P, rank.place_from(of.root()));
    up_tree(rank, of, algorithm, of.root(), &place)
}

pub(crate) fn binomial(
    rank: &mut MemberWriter,
    of: &Lengths,
    algorithm: &CollectiveAlgorithm,
) -> WriteResult {
    let place = trees::contiguous_binomial(rank.P, rank.place_from(of.root()));
    up_tree(rank, of, algorithm, of.root(), &place)
}

/// Combines in the order of ranks at rank 0, which sends the result to the root.
pub(crate) fn binomial_in_order(
    rank: &mut MemberWriter,
    of: &Lengths,
    algorithm: &CollectiveAlgorithm,
) -> WriteResult {
    up_tree(rank, of, algorithm, 0, &trees::contiguous_binomial(rank.P, rank.id))?;
    from_to_root(rank, of, 0)
}

/// The rank that has the result sends it to the root.
fn from_to_root(rank: &mut MemberWriter, of: &Lengths, from: usize) -> WriteResult {
    match (rank.id, of.root()) {
        (_, root) if root == from => Ok(()),
        (id, root) if id == root => rank.recv(from, of.whole()),
        (id, root) if id == from => rank.send(root, of.whole()),
        _ => Ok(()),
    }
}

/// Combines in the order of ranks at the last one, which sends the result to the root.
pub(crate) fn in_order_binary(
    rank: &mut MemberWriter,
    of: &Lengths,
    algorithm: &CollectiveAlgorithm,
) -> WriteResult {
    let last = rank.P - 1;
    up_tree(rank, of, algorithm, 0, &trees::in_order_binary(rank.P, rank.id))?;
    from_to_root(rank, of, last)
}

/// Combines segments up a tree. A rank receives from one child while it combines what came from the one before.
fn up_tree(
    rank: &mut MemberWriter,
    of: &Lengths,
    algorithm: &CollectiveAlgorithm,
    root: usize,
    place: &TreeNeighbours,
) -> WriteResult {
    let whole = of.whole();
    let segments = segments(whole, of.segment(algorithm.segment, whole));
    let parent = place.parent.map(|parent| rank.member_at(parent, root));
    let children: Vec<usize> = place.children.iter().map(|child| rank.member_at(*child, root)).collect();
    // The reception that goes on, and the segment that it completes if it is the last one of it.
    let mut open: Option<(StartedOperation, u64, bool)> = None;
    let finish = |rank: &mut MemberWriter, open: Option<(StartedOperation, u64, bool)>| {
        let Some((received, length, is_last)) = open else { return Ok(()) };
        rank.wait([received])?;
        rank.combine(length)?;
        parent.filter(|_| is_last).map_or(Ok(()), |parent| rank.send(parent, length))
    };
    for length in segments {
        for (number, child) in children.iter().enumerate() {
            let next = (rank.start_recv(*child, length)?, length, number + 1 == children.len());
            finish(rank, open.replace(next))?;
        }
        if let Some(parent) = parent.filter(|_| children.is_empty()) {
            rank.send(parent, length)?;
        }
    }
    finish(rank, open)
}

/// Combines nearly equal segments along a chain, one after the other.
pub(crate) fn even_chain(
    rank: &mut MemberWriter,
    of: &Lengths,
    algorithm: &CollectiveAlgorithm,
) -> WriteResult {
    let place = trees::chains(rank.P, rank.place_from(of.root()), 1);
    let [to, from] = [place.parent, place.children.first().copied()]
        .map(|place| place.map(|place| rank.member_at(place, of.root())));
    for length in even_segments(of, algorithm) {
        if let Some(from) = from {
            rank.recv(from, length)?;
            rank.combine(length)?;
        }
        to.map_or(Ok(()), |to| rank.send(to, length))?;
    }
    Ok(())
}

/// Rabenseifner's algorithm: halves of halves are exchanged and combined, and the root gathers the parts. In pairs
/// of ranks too many both combine a half first.
pub(crate) fn rabenseifner(
    rank: &mut MemberWriter,
    of: &Lengths,
    algorithm: &CollectiveAlgorithm,
) -> WriteResult {
    if of.whole() < 1 << rank.P.ilog2() || !of.call.is_commutative {
        return rank.write_instead(("linear", linear), of, algorithm);
    }
    rabenseifner::reduce(rank, of, Pairing::Halves, Halving::Nested)
}

/// Rabenseifner's algorithm, or a binomial tree for messages with fewer elements than ranks.
pub(crate) fn rabenseifner_or_binomial(
    rank: &mut MemberWriter,
    of: &Lengths,
    algorithm: &CollectiveAlgorithm,
) -> WriteResult {
    unless_few(rank, of, algorithm, (Pairing::Halves, Halving::Nested))
}

/// Rabenseifner's algorithm in MPICH's way: in pairs of ranks too many the odd one gives all to the even one first.
pub(crate) fn rabenseifner_whole(
    rank: &mut MemberWriter,
    of: &Lengths,
    algorithm: &CollectiveAlgorithm,
) -> WriteResult {
    unless_few(rank, of, algorithm, (Pairing::ToEven, Halving::Blocks))
}

/// Rabenseifner's algorithm as MPICH does it in an immediate reduction: what is too much is in the last block.
pub(crate) fn rabenseifner_last(
    rank: &mut MemberWriter,
    of: &Lengths,
    algorithm: &CollectiveAlgorithm,
) -> WriteResult {
    unless_few(rank, of, algorithm, (Pairing::ToEven, Halving::LongLast))
}

/// Rabenseifner's algorithm in a form, or a binomial tree for messages with fewer elements than ranks.
fn unless_few(
    rank: &mut MemberWriter,
    of: &Lengths,
    algorithm: &CollectiveAlgorithm,
    (pairing, halving): (Pairing, Halving),
) -> WriteResult {
    if of.whole() < 1 << rank.P.ilog2() {
        return rank.write_instead(("binomial", binomial), of, algorithm);
    }
    rabenseifner::reduce(rank, of, pairing, halving)
}
