//! Local computation of the radix sort: histograms, and the move of items to their buckets.

use super::item::{Digit, SortItem};

/// Returns the number of items in each bucket.
pub(super) fn histogram<T: SortItem>(items: &[T], digit: Digit) -> Vec<u32> {
    let mut counts = vec![0; digit.buckets()];
    for item in items {
        counts[item.digit(digit)] += 1;
    }
    counts
}

/// Returns the number of items in all buckets before each.
pub(super) fn starts(counts: &[u32]) -> Vec<u32> {
    let mut sum = 0;
    let start = |count: &u32| {
        sum += count;
        sum - count
    };
    counts.iter().map(start).collect()
}

/// Moves items to their buckets in order. The next one of bucket b goes to place `next[b]`.
pub(super) fn scatter<T: SortItem>(items: &[T], digit: Digit, next: &mut [u32], out: &mut [T]) {
    if size_of_val(items) > CACHE {
        scatter_buffered(items, digit, next, out)
    } else {
        scatter_directly(items, digit, next, out)
    }
}

/// Most bytes that stay in a core's cache while they are scattered.
pub(super) const CACHE: usize = 1 << 20;

/// Moves items to their places one by one.
fn scatter_directly<T: SortItem>(items: &[T], digit: Digit, next: &mut [u32], out: &mut [T]) {
    for item in items {
        let next = &mut next[item.digit(digit)];
        out[*next as usize] = *item;
        *next += 1;
    }
}

/// Moves items to a buffer for each bucket, and from there many at once, which needs less memory bandwidth. A
/// buffer holds the items of an aligned stretch of places.
fn scatter_buffered<T: SortItem>(items: &[T], digit: Digit, next: &mut [u32], out: &mut [T]) {
    const STRETCH: usize = 64;
    let first = next.to_vec();
    let mut buffers = vec![[T::default(); STRETCH]; next.len()];
    for item in items {
        let bucket = item.digit(digit);
        let place = next[bucket] as usize;
        next[bucket] += 1;
        let buffer = &mut buffers[bucket];
        buffer[place % STRETCH] = *item;
        if place % STRETCH == STRETCH - 1 {
            let start = place + 1 - STRETCH;
            match (first[bucket] as usize).saturating_sub(start) {
                0 => out[start..start + STRETCH].copy_from_slice(buffer),
                before => out[start + before..=place].copy_from_slice(&buffer[before..]),
            }
        }
    }
    for ((buffer, first), next) in buffers.iter().zip(first).zip(next) {
        let (first, next) = (first as usize, *next as usize);
        let start = next - next % STRETCH;
        let before = first.saturating_sub(start);
        if start + before < next {
            out[start + before..next].copy_from_slice(&buffer[before..next - start]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scatter_is_a_stable_sort_by_a_digit() {
        let mut rng = fastrand::Rng::with_seed(1);
        for n in [0, 1, 2, 63, 64, 65, 1000, 5000] {
            for bits in [1, 3, 8, 11] {
                let digit = Digit { shift: 2, bits };
                let few = rng.u32(1..2000);
                let items: Vec<(u32, u32)> = (0..n).map(|tag| (rng.u32(..few), tag)).collect();
                let mut expected = items.clone();
                expected.sort_by_key(|item| item.digit(digit));
                for scatter in [scatter_directly, scatter_buffered] {
                    let mut next = starts(&histogram(&items, digit));
                    let mut out = vec![(0, 0); n as usize];
                    scatter(&items, digit, &mut next, &mut out);
                    assert_eq!(out, expected);
                    assert_eq!(next.last(), Some(&n));
                }
            }
        }
    }
}
