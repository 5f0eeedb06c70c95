//! Barriers. Their messages are empty.

use loggp_schedule::rounds::dissemination as dissemination_rounds;

use crate::patterns::WriteResult;
use crate::patterns::algorithm::CollectiveAlgorithm;
use crate::patterns::member::{Lengths, MemberWriter, StartedOperation};

/// Everyone tells rank 0, and then that tells everyone.
pub(crate) fn linear(rank: &mut MemberWriter, _: &Lengths, _: &CollectiveAlgorithm) -> WriteResult {
    if rank.id > 0 {
        rank.send(0, 0)?;
        return rank.recv(0, 0);
    }
    let all: Vec<StartedOperation> =
        (1..rank.P).map(|from| rank.start_recv(from, 0)).collect::<Result<_, _>>()?;
    rank.wait(all)?;
    (1..rank.P).try_for_each(|to| rank.send(to, 0))
}

/// A message goes round a ring, twice.
pub(crate) fn double_ring(rank: &mut MemberWriter, _: &Lengths, _: &CollectiveAlgorithm) -> WriteResult {
    let (next, before) = (rank.ahead(1), rank.behind(1));
    for _ in 0..2 {
        if rank.id > 0 {
            rank.recv(before, 0)?;
        }
        rank.send(next, 0)?;
        if rank.id == 0 {
            rank.recv(before, 0)?;
        }
    }
    Ok(())
}

/// Ranks whose numbers differ in one bit tell each other, for one bit after the other. Ranks too many tell another one
/// before, which tells them at the end.
pub(crate) fn recursive_doubling(
    rank: &mut MemberWriter,
    _: &Lengths,
    _: &CollectiveAlgorithm,
) -> WriteResult {
    let (P, id) = (rank.P, rank.id);
    let nodes = 1 << P.ilog2();
    if id >= nodes {
        return rank.swap(id - nodes, 0);
    }
    let further = Some(id + nodes).filter(|further| *further < P);
    further.map_or(Ok(()), |from| rank.recv(from, 0))?;
    (0..nodes.ilog2()).try_for_each(|bit| rank.swap(id ^ 1 << bit, 0))?;
    further.map_or(Ok(()), |to| rank.send(to, 0))
}

/// Dissemination: in round r everyone tells the rank 2^r ahead.
pub(crate) fn dissemination(rank: &mut MemberWriter, of: &Lengths, _: &CollectiveAlgorithm) -> WriteResult {
    let length = of.whole();
    dissemination_rounds(rank.P, rank.id)
        .try_for_each(|round| rank.send_recv((round.to, length), (round.from, length)))
}

/// Everyone tells rank 0 up a binomial tree, which tells everyone down the same tree.
pub(crate) fn tree(rank: &mut MemberWriter, _: &Lengths, _: &CollectiveAlgorithm) -> WriteResult {
    let tree = super::trees::contiguous_binomial(rank.P, rank.id);
    tree.children.iter().try_for_each(|child| rank.recv(*child, 0))?;
    if let Some(parent) = tree.parent {
        rank.send(parent, 0)?;
        rank.recv(parent, 0)?;
    }
    tree.children.iter().rev().try_for_each(|child| rank.send(*child, 0))
}
