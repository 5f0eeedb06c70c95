//! Sorting what ranks did by rank.

/// Sorts by rank, and leaves what is of one rank in its order: faster than a sort that compares.
pub(super) fn sort_by_rank<T>(all: &mut [T], ranks: usize, rank: impl Fn(&T) -> usize) {
    let mut next = vec![0; ranks + 1];
    all.iter().for_each(|one| next[rank(one) + 1] += 1);
    (0..ranks).for_each(|rank| next[rank + 1] += next[rank]);
    let index = |one: &T| {
        let index = &mut next[rank(one)];
        *index += 1;
        *index - 1
    };
    let mut indices: Vec<usize> = all.iter().map(index).collect();
    for here in 0..all.len() {
        while indices[here] != here {
            let there = indices[here];
            all.swap(here, there);
            indices.swap(here, there);
        }
    }
}

/// Sorts by rank and then by a key, by which what is of one rank is mostly in order already.
pub(super) fn sort_by_rank_and_key<T, K: Ord>(
    all: &mut [T],
    ranks: usize,
    rank: impl Fn(&T) -> usize,
    key: impl Fn(&T) -> K,
) {
    sort_by_rank(all, ranks, rank);
    // A standard library that is made for few bytes, as a page's, sorts what is in order too.
    if !all.is_sorted_by_key(&key) {
        all.sort_unstable_by_key(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_of_one_rank_stays_in_order() {
        let mut rng = fastrand::Rng::with_seed(7);
        for ranks in [1, 2, 5, 40] {
            let mut all: Vec<(usize, usize)> = (0..200).map(|nth| (rng.usize(..ranks), nth)).collect();
            let mut sorted = all.clone();
            sorted.sort_by_key(|(rank, _)| *rank);
            sort_by_rank(&mut all, ranks, |(rank, _)| *rank);
            assert_eq!(all, sorted);
        }
    }
}
