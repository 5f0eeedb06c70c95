//! All-to-alls, in which the blocks may have different lengths.

use loggp_schedule::rounds::{Round, staggered};

use crate::patterns::WriteResult;
use crate::patterns::algorithm::CollectiveAlgorithm;
use crate::patterns::call::CollectiveKind;
use crate::patterns::member::{Lengths, MemberWriter, StartedOperation};

/// Returns whether a message of this length is left out.
type Skip = fn(u64) -> bool;

/// All messages at once: receives from the next rank on, sends from the one before on.
pub(crate) fn linear(rank: &mut MemberWriter, of: &Lengths, _: &CollectiveAlgorithm) -> WriteResult {
    let P = rank.P;
    let from = (1..P).map(|distance| rank.ahead(distance)).collect();
    let to = (1..P).map(|distance| rank.behind(distance)).collect();
    at_once(rank, of, from, to, |_| false)
}

/// All messages at once, in the order of ranks.
pub(crate) fn linear_by_rank(
    rank: &mut MemberWriter,
    of: &Lengths,
    algorithm: &CollectiveAlgorithm,
) -> WriteResult {
    let (P, id) = (rank.P, rank.id);
    let others: Vec<usize> = (0..P).filter(|other| *other != id).collect();
    let skip: Skip = match of.call.kind {
        CollectiveKind::Alltoallv | CollectiveKind::Alltoallw if !algorithm.sends_empty => {
            |length| length == 0
        }
        _ => |_| false,
    };
    at_once(rank, of, others.clone(), others, skip)
}

/// As `linear`, but only so many messages at once each way.
pub(crate) fn scattered(
    rank: &mut MemberWriter,
    of: &Lengths,
    algorithm: &CollectiveAlgorithm,
) -> WriteResult {
    let (P, batch) = (rank.P, algorithm.fan_out.unwrap_or(32));
    // In the lists of v-collectives messages of 0 bytes are left out.
    let skip: Skip = match of.call.kind {
        CollectiveKind::Alltoall => |_| false,
        _ => |length| length == 0,
    };
    for first in (0..P).step_by(batch) {
        let steps = first.max(1)..P.min(first + batch);
        let from = steps.clone().map(|distance| rank.ahead(distance)).collect();
        let to = steps.map(|distance| rank.behind(distance)).collect();
        at_once(rank, of, from, to, skip)?;
    }
    Ok(())
}

fn at_once(
    rank: &mut MemberWriter,
    of: &Lengths,
    from: Vec<usize>,
    to: Vec<usize>,
    skip: Skip,
) -> WriteResult {
    let mut all: Vec<StartedOperation> = Vec::with_capacity(from.len() + to.len());
    for from in from.into_iter().filter(|from| !skip(of.received(*from))) {
        all.push(rank.start_recv(from, of.received(from))?);
    }
    for to in to.into_iter().filter(|to| !skip(of.sent(*to))) {
        all.push(rank.start_send(to, of.sent(to))?);
    }
    rank.wait(all)
}

/// One after the other: to the rank at a distance ahead, and from the one as far behind.
pub(crate) fn pairwise(rank: &mut MemberWriter, of: &Lengths, _: &CollectiveAlgorithm) -> WriteResult {
    for Round { to, from, .. } in staggered(rank.P, rank.id) {
        rank.send_recv((to, of.sent(to)), (from, of.received(from)))?;
    }
    Ok(())
}

/// In pairs whose numbers differ in the same bits, if the number of ranks is a power of 2.
pub(crate) fn pairwise_by_bits(
    rank: &mut MemberWriter,
    of: &Lengths,
    algorithm: &CollectiveAlgorithm,
) -> WriteResult {
    if !rank.P.is_power_of_two() {
        return rank.write_instead(("pairwise", pairwise), of, algorithm);
    }
    for bits in 1..rank.P {
        let other = rank.id ^ bits;
        rank.send_recv((other, of.sent(other)), (other, of.received(other)))?;
    }
    Ok(())
}

/// In round r all blocks go 2^r ahead that have to go a distance with that bit.
pub(crate) fn bruck(rank: &mut MemberWriter, of: &Lengths, _: &CollectiveAlgorithm) -> WriteResult {
    for distance in rank.distances() {
        // Numbers below P with this bit.
        let (full, rest) = (rank.P / (2 * distance), rank.P % (2 * distance));
        let count = full * distance + rest.saturating_sub(distance);
        let length = of.sent(0) * count as u64;
        rank.send_recv((rank.ahead(distance), length), (rank.behind(distance), length))?;
    }
    Ok(())
}
