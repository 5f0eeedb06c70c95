//! Message splitting: the parts of each message, and their intermediate processors (figures 8, 9, 11 and 12).

use std::sync::Arc;

use super::packet::{Element, ElementSlice, PacketPart};

/// Start of the round robin of the elements that cannot be divided equally.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// At processor 0, in every source (section 7.1, figure 8).
    Local,
    /// At the end of that of the source before, by a prefix sum (figure 9).
    Scan,
    /// For each destination separately, at the end of that of the source before (section 8, figures 11 and
    /// 12).
    Alternate,
    /// As `Alternate`, but a destination's round robin begins where that of the destination before ends
    /// (section 8).
    Combine,
}

/// Returns the start of each destination's round robin, if each begins where the one before ends, and the
/// first at `first`.
pub(super) fn consecutive_starts(sendl: &[usize], first: usize) -> Vec<usize> {
    let P = sendl.len();
    let mut k = first % P;
    let next_start = |elements: &usize| {
        let start = k;
        k = (k + elements % P) % P;
        start
    };
    sendl.iter().map(next_start).collect()
}

/// Splits the messages of a source as in figure 8. The message for j has `sendl[j]` of the elements, and its
/// round robin begins at intermediate `starts[j]`. Returns for each intermediate the parts that are not
/// empty, by j.
pub(super) fn split(sendl: &[usize], starts: &[usize], all: &Arc<Vec<Element>>) -> Vec<Vec<PacketPart>> {
    let P = sendl.len();
    let mut parts = vec![Vec::new(); P];
    let mut start = 0;
    for (j, &elements) in sendl.iter().enumerate().filter(|(_, elements)| **elements > 0) {
        for (k, parts) in parts.iter_mut().enumerate() {
            let gets_one_more = (k + P - starts[j]) % P < elements % P;
            let len = elements / P + usize::from(gets_one_more);
            if len > 0 {
                parts.push(PacketPart { peer: j, place: None, slice: ElementSlice::new(all, start, len) });
                start += len;
            }
        }
    }
    parts
}

/// Returns the number of elements of each message.
pub(super) fn lengths(messages: &[Vec<PacketPart>]) -> Vec<usize> {
    messages.iter().map(|parts| parts.iter().map(|part| part.slice.len()).sum()).collect()
}

/// Returns a random permutation of the intermediate processors that keeps the lengths of their messages:
/// entry k is the intermediate of message k (appendix).
pub(super) fn shuffle(lengths: &[usize], rng: &mut fastrand::Rng) -> Vec<usize> {
    let mut by: Vec<usize> = (0..lengths.len()).collect();
    let mut sizes = lengths.to_vec();
    sizes.sort_unstable();
    sizes.dedup();
    for size in sizes {
        let group: Vec<usize> = (0..lengths.len()).filter(|k| lengths[*k] == size).collect();
        let mut drawn = group.clone();
        rng.shuffle(&mut drawn);
        group.into_iter().zip(drawn).for_each(|(k, to)| by[k] = to);
    }
    by
}
