//! Message splitting: which part of which message goes by which intermediate processor (figures 8, 9, 11 and 12).

use super::packet::{Piece, Slice};

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

/// The parts that a source sends by each intermediate processor k, for every destination j.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// For every k the parts that are not empty, by j.
    pub parts: Vec<Vec<Cut>>,
}

/// A part: elements of the source's array from a place on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The destination.
    pub j: usize,
    /// The place of its first element.
    pub start: usize,
    /// How many elements are in it.
    pub len: usize,
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

impl Split {
    /// Splits the messages of a source, of which the one for j has `sendl[j]` elements: figure 8, with the round robin
    /// for destination j beginning at intermediate `begins[j]`.
    pub fn new(sendl: &[usize], begins: &[usize]) -> Split {
        let P = sendl.len();
        let mut parts = vec![Vec::new(); P];
        let mut start = 0;
        for (j, &elements) in sendl.iter().enumerate().filter(|(_, elements)| **elements > 0) {
            for (k, parts) in parts.iter_mut().enumerate() {
                let gets_one_more = (k + P - begins[j]) % P < elements % P;
                let len = elements / P + usize::from(gets_one_more);
                if len > 0 {
                    parts.push(Cut { j, start, len });
                    start += len;
                }
            }
        }
        Split { parts }
    }

    /// How many elements go by each intermediate.
    pub fn lengths(&self) -> Vec<usize> {
        self.parts.iter().map(|parts| parts.iter().map(|cut| cut.len).sum()).collect()
    }

    /// How many parts are not empty.
    pub fn count(&self) -> usize {
        self.parts.iter().map(Vec::len).sum()
    }

    /// The message for intermediate k, as parts of a source's array.
    pub fn message(&self, k: usize, place: Option<usize>, all: &std::sync::Arc<Vec<u32>>) -> Vec<Piece> {
        let part = |cut: &Cut| Piece { whose: cut.j, place, slice: Slice::new(all, cut.start, cut.len) };
        self.parts[k].iter().map(part).collect()
    }
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
