//! Reductions to all.

use super::rabenseifner::{self, Halving, Pairing};
use super::{broadcast, reduce};
use crate::patterns::WriteResult;
use crate::patterns::algorithm::CollectiveAlgorithm;
use crate::patterns::call::{CollectiveKind, Sizes};
use crate::patterns::member::{Lengths, MemberWriter, part};

/// Everyone sends to rank 0, which sends to everyone.
pub(crate) fn linear(rank: &mut MemberWriter, of: &Lengths, algorithm: &CollectiveAlgorithm) -> WriteResult {
    debug_assert_eq!(of.root(), 0);
    reduce::linear(rank, of, algorithm)?;
    broadcast::linear(rank, of, algorithm)
}

/// A reduction to rank 0 and then a broadcast, as the library does these.
pub(crate) fn nonoverlapping(rank: &mut MemberWriter, of: &Lengths, _: &CollectiveAlgorithm) -> WriteResult {
    let all = Sizes::Same(of.call.whole());
    rank.write(&of.call.part(CollectiveKind::Reduce, all, all))?;
    rank.write(&of.call.part(CollectiveKind::Bcast, all, all))
}

/// A reduction to rank 0 up a binomial tree and a broadcast down one.
pub(crate) fn binomial(
    rank: &mut MemberWriter,
    of: &Lengths,
    algorithm: &CollectiveAlgorithm,
) -> WriteResult {
    reduce::binomial(rank, of, algorithm)?;
    broadcast::binomial(rank, of, algorithm)
}

/// Ranks whose numbers differ in one bit exchange all, for one bit after the other.
pub(crate) fn recursive_doubling(
    rank: &mut MemberWriter,
    of: &Lengths,
    _: &CollectiveAlgorithm,
) -> WriteResult {
    let (nodes, whole) = (Pairing::ToOdd.nodes(rank.P), of.whole());
    if let Some(node) = Pairing::ToOdd.combine(rank, whole)? {
        for bit in 0..nodes.count.ilog2() {
            rank.swap(nodes.rank(node ^ 1 << bit), whole)?;
            rank.combine(whole)?;
        }
    }
    Pairing::ToOdd.tell(rank, whole)
}

/// P parts go round a ring, twice: they are combined, and then told.
pub(crate) fn ring(rank: &mut MemberWriter, of: &Lengths, algorithm: &CollectiveAlgorithm) -> WriteResult {
    if of.whole() < rank.P as u64 {
        return rank.write_instead(("recursive-doubling", recursive_doubling), of, algorithm);
    }
    in_phases(rank, of.whole(), 1)
}

/// The ring in phases, so that no message of the first half has more than a segment.
pub(crate) fn segmented_ring(
    rank: &mut MemberWriter,
    of: &Lengths,
    algorithm: &CollectiveAlgorithm,
) -> WriteResult {
    let (P, whole) = (rank.P as u64, of.whole());
    let each = of.segment(algorithm.segment, whole).saturating_mul(P);
    if whole < each || each == 0 {
        return rank.write_instead(("ring", ring), of, algorithm);
    }
    let rest = whole % each;
    in_phases(rank, whole, (whole / each + u64::from(rest >= P && rest > each / 2)) as usize)
}

fn in_phases(rank: &mut MemberWriter, whole: u64, phases: usize) -> WriteResult {
    let P = rank.P;
    let (next, before) = (rank.ahead(1), rank.behind(1));
    let block = |rank: &MemberWriter, behind: usize| part(whole, P, rank.behind(behind));
    for phase in 0..phases {
        let length = |rank: &MemberWriter, behind: usize| part(block(rank, behind), phases, phase);
        let mut open = rank.start_recv(before, length(rank, 1))?;
        rank.send(next, length(rank, 0))?;
        for step in 1..P - 1 {
            let received = std::mem::replace(&mut open, rank.start_recv(before, length(rank, step + 1))?);
            rank.wait([received])?;
            rank.combine(length(rank, step))?;
            rank.send(next, length(rank, step))?;
        }
        rank.wait([open])?;
        rank.combine(length(rank, P - 1))?;
    }
    for step in 0..P - 1 {
        let (sent, received) = (block(rank, P - 1 + step), block(rank, step));
        rank.send_recv((next, sent), (before, received))?;
    }
    Ok(())
}

/// Rabenseifner's algorithm: halves of halves are exchanged and combined, and then gathered by all. In pairs of
/// ranks too many both combine a half first.
pub(crate) fn rabenseifner(
    rank: &mut MemberWriter,
    of: &Lengths,
    algorithm: &CollectiveAlgorithm,
) -> WriteResult {
    if of.whole() < 1 << rank.P.ilog2() || !of.call.is_commutative {
        return rank.write_instead(("linear", linear), of, algorithm);
    }
    rabenseifner::all_reduce(rank, of, Pairing::Halves, Halving::Nested)
}

/// Rabenseifner's algorithm in MPICH's way: in pairs of ranks too many the even one gives all to the odd one first.
pub(crate) fn rabenseifner_whole(
    rank: &mut MemberWriter,
    of: &Lengths,
    algorithm: &CollectiveAlgorithm,
) -> WriteResult {
    unless_few(rank, of, algorithm, Halving::Blocks)
}

/// Rabenseifner's algorithm as MPICH does it in an immediate reduction: what is too much is in the last block.
pub(crate) fn rabenseifner_last(
    rank: &mut MemberWriter,
    of: &Lengths,
    algorithm: &CollectiveAlgorithm,
) -> WriteResult {
    unless_few(rank, of, algorithm, Halving::LongLast)
}

/// Rabenseifner's algorithm in a form, or recursive doubling for messages with fewer elements than ranks.
fn unless_few(
    rank: &mut MemberWriter,
    of: &Lengths,
    algorithm: &CollectiveAlgorithm,
    halving: Halving,
) -> WriteResult {
    if of.whole() < 1 << rank.P.ilog2() {
        return rank.write_instead(("recursive-doubling", recursive_doubling), of, algorithm);
    }
    rabenseifner::all_reduce(rank, of, Pairing::ToOdd, halving)
}
