//! Message splitting: which part of which message goes by which intermediate processor (figures 8, 9, 11 and 12).

use std::sync::Arc;

use super::packet::{Element, Piece, Slice};

/// Where the round robin of the elements that cannot be divided equally begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// At processor 0, in every source (section 7.1, figure 8).
    Local,
    /// Where that of the source before has ended: a prefix sum says where (figure 9).
    Scan,
    /// For each destination by itself, where that of the source before has ended (section 8, figures 11 and 12).
    Alternate,
    /// The same, and a destination's begins where that of the destination before has ended (section 8).
    Combine,
}

/// Where the round robin of each destination begins, if one goes on where the other ends, and the first begins at
/// `first`.
pub fn one_after_another(sendl: &[usize], first: usize) -> Vec<usize> {
    let P = sendl.len();
    let mut k = first % P;
    let begin = |elements: &usize| {
        let begins = k;
        k = (k + elements % P) % P;
        begins
    };
    sendl.iter().map(begin).collect()
}

/// Splits the messages of a source, of which the one for j has `sendl[j]` of all its elements: figure 8, with the round robin
/// for destination j beginning at intermediate `begins[j]`. For every intermediate the parts that are not empty, by j.
pub fn split(sendl: &[usize], begins: &[usize], all: &Arc<Vec<Element>>) -> Vec<Vec<Piece>> {
    let P = sendl.len();
    let mut parts = vec![Vec::new(); P];
    let mut start = 0;
    for (j, &elements) in sendl.iter().enumerate().filter(|(_, elements)| **elements > 0) {
        for (k, parts) in parts.iter_mut().enumerate() {
            let gets_one_more = (k + P - begins[j]) % P < elements % P;
            let len = elements / P + usize::from(gets_one_more);
            if len > 0 {
                parts.push(Piece { whose: j, place: None, slice: Slice::new(all, start, len) });
                start += len;
            }
        }
    }
    parts
}

/// How many elements are in each message of so many parts.
pub fn lengths(messages: &[Vec<Piece>]) -> Vec<usize> {
    messages.iter().map(|parts| parts.iter().map(|part| part.slice.len()).sum()).collect()
}

/// A random permutation of the intermediate processors that leaves the lengths of their messages as they are: entry k says
/// by whom message k goes (appendix).
pub fn shuffled(lengths: &[usize], rng: &mut fastrand::Rng) -> Vec<usize> {
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
