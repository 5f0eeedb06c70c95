//! All-gathers, in which the ranks' blocks may have different lengths.

use loggp_schedule::rounds::{Round, bruck as bruck_rounds};

use super::broadcast::segments;
use crate::patterns::WriteResult;
use crate::patterns::algorithm::CollectiveAlgorithm;
use crate::patterns::call::{CollectiveKind, Sizes};
use crate::patterns::member::{Lengths, MemberWriter};

/// Returns the length of some blocks that begin with a rank's.
fn blocks(rank: &MemberWriter, of: &Lengths, first: usize, count: usize) -> u64 {
    match of.call.received {
        Sizes::Same(_) => of.received(0) * count as u64,
        Sizes::Each(_) => (first..first + count).map(|block| of.received(block % rank.P)).sum(),
    }
}

/// A gather to rank 0 and then a broadcast, as the library does these.
pub(crate) fn linear(rank: &mut MemberWriter, of: &Lengths, _: &CollectiveAlgorithm) -> WriteResult {
    let (call, P) = (of.call, rank.P);
    let total = Sizes::Same(call.received.total(P));
    let gather = match call.kind {
        CollectiveKind::Allgather => CollectiveKind::Gather,
        _ => CollectiveKind::Gatherv,
    };
    let own = Sizes::Same(call.received.of(rank.id));
    rank.write(&call.part(gather, own, call.received))?;
    rank.write(&call.part(CollectiveKind::Bcast, total, total))
}

/// Everyone sends to all others at once.
pub(crate) fn linear_at_once(rank: &mut MemberWriter, of: &Lengths, _: &CollectiveAlgorithm) -> WriteResult {
    let (P, id) = (rank.P, rank.id);
    let mut all = Vec::new();
    let others: Vec<(usize, usize)> = match of.call.kind {
        CollectiveKind::Allgather => {
            (0..P).filter(|other| *other != id).map(|other| (other, other)).collect()
        }
        _ => (1..P).map(|distance| (rank.ahead(distance), rank.behind(distance))).collect(),
    };
    for (to, from) in others {
        all.push(rank.start_recv(from, of.received(from))?);
        all.push(rank.start_send(to, of.received(id))?);
    }
    rank.wait(all)
}

/// In round r all blocks that came so far go 2^r away, as far as they are missing there.
pub(crate) fn bruck(rank: &mut MemberWriter, of: &Lengths, _: &CollectiveAlgorithm) -> WriteResult {
    for Round { to, from, values } in bruck_rounds(rank.P, rank.id) {
        let (sent, received) = (blocks(rank, of, rank.id, values), blocks(rank, of, from, values));
        rank.send_recv((to, sent), (from, received))?;
    }
    Ok(())
}

/// Ranks whose numbers differ in one bit exchange all that they have, for one bit after the other. If the number of
/// ranks is no power of 2, it is Bruck's algorithm.
pub(crate) fn recursive_doubling(
    rank: &mut MemberWriter,
    of: &Lengths,
    algorithm: &CollectiveAlgorithm,
) -> WriteResult {
    if !rank.P.is_power_of_two() {
        return rank.write_instead(("bruck", bruck), of, algorithm);
    }
    for distance in rank.distances() {
        let (other, first) = (rank.id ^ distance, rank.id & !(distance - 1));
        let (sent, received) =
            (blocks(rank, of, first, distance), blocks(rank, of, first ^ distance, distance));
        rank.send_recv((other, sent), (other, received))?;
    }
    Ok(())
}

/// Every block goes round the ring.
pub(crate) fn ring(rank: &mut MemberWriter, of: &Lengths, _: &CollectiveAlgorithm) -> WriteResult {
    for step in 0..rank.P - 1 {
        let (sent, received) = (of.received(rank.behind(step)), of.received(rank.behind(step + 1)));
        rank.send_recv((rank.ahead(1), sent), (rank.behind(1), received))?;
    }
    Ok(())
}

/// Every block goes round the ring in segments.
pub(crate) fn pipelined_ring(
    rank: &mut MemberWriter,
    of: &Lengths,
    algorithm: &CollectiveAlgorithm,
) -> WriteResult {
    let (P, id) = (rank.P, rank.id);
    let longest = (0..P).map(|block| of.received(block)).max().unwrap_or(0);
    let segment = of.segment(algorithm.segment, longest);
    // An empty block takes a step too, in which nothing is sent.
    let pieces = |first: usize| {
        let all = (0..P - 1).map(|step| of.received((first + P - step) % P));
        all.flat_map(|length| segments(length, segment)).collect::<Vec<_>>()
    };
    let (sent, received) = (pieces(id), pieces(rank.behind(1)));
    for number in 0..sent.len().max(received.len()) {
        let piece = |of: &[u64]| of.get(number).copied().unwrap_or(0);
        match (piece(&sent), piece(&received)) {
            (0, 0) => {}
            (0, received) => rank.recv(rank.behind(1), received)?,
            (sent, 0) => rank.send(rank.ahead(1), sent)?,
            (sent, received) => rank.send_recv((rank.ahead(1), sent), (rank.behind(1), received))?,
        }
    }
    Ok(())
}

/// Pairs of blocks go to the neighbours in turn, to one and to the other. If the number of ranks is odd, it is the
/// ring.
pub(crate) fn neighbor_exchange(
    rank: &mut MemberWriter,
    of: &Lengths,
    algorithm: &CollectiveAlgorithm,
) -> WriteResult {
    let (P, id) = (rank.P, rank.id);
    if !P.is_multiple_of(2) {
        return rank.write_instead(("ring", ring), of, algorithm);
    }
    let is_even = id.is_multiple_of(2);
    let (pair, other) =
        if is_even { (rank.ahead(1), rank.behind(1)) } else { (rank.behind(1), rank.ahead(1)) };
    rank.send_recv((pair, of.received(id)), (pair, of.received(pair)))?;
    // The first of each pair of blocks: the one that was received last, and the last from each neighbour.
    let mut last = if is_even { id } else { pair };
    let mut from = [last; 2];
    for step in 1..P / 2 {
        let side = step % 2;
        let forward = is_even == (side == 0);
        from[side] = if forward { from[side] + 2 } else { from[side] + P - 2 } % P;
        let neighbor = if side == 0 { pair } else { other };
        let (sent, received) = (blocks(rank, of, last, 2), blocks(rank, of, from[side], 2));
        rank.send_recv((neighbor, sent), (neighbor, received))?;
        last = from[side];
    }
    Ok(())
}
