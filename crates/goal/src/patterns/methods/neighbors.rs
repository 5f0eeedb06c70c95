//! Collectives of neighbours.

use crate::patterns::WriteResult;
use crate::patterns::algorithm::CollectiveAlgorithm;
use crate::patterns::call::CollectiveKind;
use crate::patterns::member::{Lengths, MemberWriter, StartedOperation};

/// All messages at once: to every neighbour and from every neighbour, in their order.
pub(crate) fn linear(rank: &mut MemberWriter, of: &Lengths, _: &CollectiveAlgorithm) -> WriteResult {
    use CollectiveKind::*;
    let call = of.call;
    // In a gather every neighbour gets the same.
    let is_same = matches!(call.kind, NeighborAllgather | NeighborAllgatherv);
    let mut all: Vec<StartedOperation> = Vec::new();
    for (number, from) in call.sources.iter().enumerate() {
        if let Some(from) = from {
            all.push(rank.start_recv(*from, of.received(number))?);
        }
    }
    for (number, to) in call.destinations.iter().enumerate() {
        if let Some(to) = to {
            all.push(rank.start_send(*to, of.sent(if is_same { 0 } else { number }))?);
        }
    }
    rank.wait(all)
}
