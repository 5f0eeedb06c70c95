//! Scans.

use crate::patterns::WriteResult;
use crate::patterns::algorithm::CollectiveAlgorithm;
use crate::patterns::call::CollectiveKind;
use crate::patterns::member::{Lengths, MemberWriter};

/// Every rank gets what those before have combined, and sends what it has combined to the next one.
pub(crate) fn linear(rank: &mut MemberWriter, of: &Lengths, _: &CollectiveAlgorithm) -> WriteResult {
    let (id, P, whole) = (rank.id, rank.P, of.whole());
    if id > 0 {
        rank.recv(id - 1, whole)?;
        if id < P - 1 || of.call.kind == CollectiveKind::Scan {
            rank.combine(whole)?;
        }
    }
    if id < P - 1 { rank.send(id + 1, whole) } else { Ok(()) }
}

/// Ranks whose numbers differ in one bit exchange what they have combined, for one bit after the other.
pub(crate) fn recursive_doubling(
    rank: &mut MemberWriter,
    of: &Lengths,
    _: &CollectiveAlgorithm,
) -> WriteResult {
    let (id, whole) = (rank.id, of.whole());
    if whole == 0 {
        return Ok(());
    }
    let mut is_first = of.call.kind == CollectiveKind::Exscan;
    for distance in rank.distances() {
        let other = id ^ distance;
        if other >= rank.P {
            continue;
        }
        rank.swap(other, whole)?;
        rank.combine(whole)?;
        // What came from ranks before goes into the result too, which is its first value in an exclusive scan.
        if other < id && !std::mem::take(&mut is_first) {
            rank.combine(whole)?;
        }
    }
    Ok(())
}
