//! Gathers and scatters.

use loggp_schedule::rounds::BinomialPlace;

use crate::patterns::WriteResult;
use crate::patterns::algorithm::CollectiveAlgorithm;
use crate::patterns::call::CollectiveKind;
use crate::patterns::member::{Lengths, MemberWriter};

/// Everyone sends to the root, which receives in the order of ranks.
pub(crate) fn gather(rank: &mut MemberWriter, of: &Lengths, algorithm: &CollectiveAlgorithm) -> WriteResult {
    let root = of.root();
    if rank.id != root {
        let length = of.sent(root);
        return if is_skipped(of, algorithm, length) { Ok(()) } else { rank.send(root, length) };
    }
    let all = messages(rank, of, algorithm, |from| of.received(from));
    all.into_iter().try_for_each(|(from, length)| rank.recv(from, length))
}

/// Everyone sends to the root, which receives from all at once.
pub(crate) fn gather_at_once(
    rank: &mut MemberWriter,
    of: &Lengths,
    algorithm: &CollectiveAlgorithm,
) -> WriteResult {
    if rank.id != of.root() {
        return gather(rank, of, algorithm);
    }
    let mut all = Vec::new();
    for (from, length) in messages(rank, of, algorithm, |from| of.received(from)) {
        all.push(rank.start_recv(from, length)?);
    }
    rank.wait(all)
}

/// Returns all ranks but the root with the lengths of their messages, without those that are left out.
fn messages(
    rank: &MemberWriter,
    of: &Lengths,
    algorithm: &CollectiveAlgorithm,
    length: impl Fn(usize) -> u64,
) -> Vec<(usize, u64)> {
    let all = (0..rank.P).filter(|other| *other != of.root()).map(|other| (other, length(other)));
    all.filter(|(_, length)| !is_skipped(of, algorithm, *length)).collect()
}

/// Returns whether a message is left out: empty ones can be in lists with a length for each rank.
fn is_skipped(of: &Lengths, algorithm: &CollectiveAlgorithm, length: u64) -> bool {
    let is_list = matches!(of.call.kind, CollectiveKind::Gatherv | CollectiveKind::Scatterv);
    length == 0 && is_list && !algorithm.sends_empty
}

/// The root tells a rank to send, which does so, and then sends the rest.
pub(crate) fn gather_in_turn(
    rank: &mut MemberWriter,
    of: &Lengths,
    algorithm: &CollectiveAlgorithm,
) -> WriteResult {
    let root = of.root();
    let first = |length: u64| of.segment(algorithm.segment, length);
    if rank.id != root {
        let length = of.sent(root);
        rank.recv(root, 0)?;
        rank.send(root, first(length))?;
        return rank.send(root, length - first(length));
    }
    let mut rests = Vec::new();
    for from in (0..rank.P).filter(|from| *from != root) {
        let length = of.received(from);
        let begin = rank.start_recv(from, first(length))?;
        rank.send(from, 0)?;
        rests.push(rank.start_recv(from, length - first(length))?);
        rank.wait([begin])?;
    }
    rank.wait(rests)
}

/// Blocks go up a binomial tree of contiguous ranks, all that a rank has in one message.
pub(crate) fn gather_binomial(rank: &mut MemberWriter, of: &Lengths, _: &CollectiveAlgorithm) -> WriteResult {
    let (P, root, place) = (rank.P, of.root(), rank.place_from(of.root()));
    let block = of.call.whole();
    let tree = BinomialPlace { P, place };
    for place in tree.children() {
        rank.recv(rank.member_at(place, root), block * BinomialPlace { P, place }.size() as u64)?;
    }
    let parent = tree.parent().map(|parent| rank.member_at(parent, root));
    parent.map_or(Ok(()), |parent| rank.send(parent, block * tree.size() as u64))
}

/// The root sends to everyone, one after the other.
pub(crate) fn scatter(rank: &mut MemberWriter, of: &Lengths, algorithm: &CollectiveAlgorithm) -> WriteResult {
    let root = of.root();
    if rank.id != root {
        let length = of.received(root);
        return if is_skipped(of, algorithm, length) { Ok(()) } else { rank.recv(root, length) };
    }
    let all = messages(rank, of, algorithm, |to| of.sent(to));
    all.into_iter().try_for_each(|(to, length)| rank.send(to, length))
}

/// The root sends to everyone at once.
pub(crate) fn scatter_at_once(
    rank: &mut MemberWriter,
    of: &Lengths,
    algorithm: &CollectiveAlgorithm,
) -> WriteResult {
    if rank.id != of.root() {
        return scatter(rank, of, algorithm);
    }
    let mut all = Vec::new();
    for (to, length) in messages(rank, of, algorithm, |to| of.sent(to)) {
        all.push(rank.start_send(to, length)?);
    }
    rank.wait(all)
}

/// Blocks go down a binomial tree of contiguous ranks, the furthest ones first.
pub(crate) fn scatter_binomial(
    rank: &mut MemberWriter,
    of: &Lengths,
    _: &CollectiveAlgorithm,
) -> WriteResult {
    let (P, root, place) = (rank.P, of.root(), rank.place_from(of.root()));
    let block = of.call.whole();
    let tree = BinomialPlace { P, place };
    if let Some(parent) = tree.parent() {
        rank.recv(rank.member_at(parent, root), block * tree.size() as u64)?;
    }
    for place in tree.children().rev() {
        rank.send(rank.member_at(place, root), block * BinomialPlace { P, place }.size() as u64)?;
    }
    Ok(())
}
