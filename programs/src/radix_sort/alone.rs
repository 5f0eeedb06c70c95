//! The sort of one processor: a radix sort in its own memory.
//!
//! Keys that do not fit into a core's cache are first split by their highest bits, so that all other passes
//! work in the cache. Nothing is ranked or sent.

use super::item::{Digit, SortItem};
use super::kernels::{CACHE, histogram, scatter, starts};

/// Bits of a digit, few enough for all buckets' ends to stay in the fastest cache.
const RADIX: u32 = 8;

/// Sorts items by their keys into `out`; `scratch` has the same length. Items with equal keys stay in order.
pub(super) fn sort_alone<T: SortItem>(items: &[T], out: &mut [T], scratch: &mut [T]) {
    if size_of_val(items) <= CACHE {
        out.copy_from_slice(items);
        sort_in_passes(out, scratch, T::BITS);
    } else {
        split_and_sort(items, out, scratch, T::BITS);
    }
}

/// Sorts items by the lowest `bits` of their keys: first by the highest digit of those, and then each bucket.
fn split_and_sort<T: SortItem>(items: &[T], out: &mut [T], scratch: &mut [T], bits: u32) {
    let digit = Digit { shift: bits - RADIX, bits: RADIX };
    let counts = histogram(items, digit);
    if digit.shift > 0 && counts[items[0].digit(digit)] as usize == items.len() {
        return split_and_sort(items, out, scratch, digit.shift);
    }
    scatter(items, digit, &mut starts(&counts), out);
    let mut rest = out;
    for count in counts {
        let (bucket, others) = rest.split_at_mut(count as usize);
        if size_of_val(bucket) <= CACHE || digit.shift <= RADIX {
            sort_in_passes(bucket, scratch, digit.shift);
        } else {
            let items = bucket.to_vec();
            split_and_sort(&items, bucket, scratch, digit.shift);
        }
        rest = others;
    }
}

/// Sorts items by the lowest `bits` of their keys, lowest digit first. Digits with one common value are left
/// out.
fn sort_in_passes<T: SortItem>(items: &mut [T], scratch: &mut [T], bits: u32) {
    let n = items.len();
    if n < 2 {
        return;
    }
    let (mut from, mut to, mut swapped) = (items, &mut scratch[..n], false);
    for digit in Digit::all(bits, RADIX) {
        let counts = histogram(from, digit);
        if counts[from[0].digit(digit)] as usize == n {
            continue;
        }
        scatter(from, digit, &mut starts(&counts), to);
        (from, to) = (to, from);
        swapped = !swapped;
    }
    if swapped {
        to.copy_from_slice(from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sort_is_stable_for_any_number_of_keys_of_any_kind() {
        let mut rng = fastrand::Rng::with_seed(1);
        for n in [0, 1, 2, 100, 70_000, 400_000] {
            for few in [1, 300, 1 << 20, u64::MAX] {
                for step in [1, 1 << 13, 0x0001_0000_0000_0001] {
                    let key = |tag| (rng.u64(..few).wrapping_mul(step), tag);
                    let items: Vec<(u64, u32)> = (0..n).map(key).collect();
                    let mut expected = items.clone();
                    expected.sort_by_key(|(key, _)| *key);
                    let (mut out, mut scratch) = (items.clone(), items.clone());
                    sort_alone(&items, &mut out, &mut scratch);
                    assert!(out == expected, "{n} {few} {step}");
                }
            }
        }
    }
}
