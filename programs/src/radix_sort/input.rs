//! Keys to sort: random ones, and awkward ones.

use fastrand::Rng;

use super::item::{Digit, SortKey};

/// The distribution of the keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// All keys are equally likely.
    Uniform,
    /// Every digit has only its four lowest values, so all keys are in few buckets.
    Skewed,
    /// Uniform keys in sorted order.
    Sorted,
    /// All keys are equal.
    Equal,
}

/// Bits of a digit that skewed keys use.
pub(super) const SKEWED_BITS: u32 = 2;

impl Input {
    /// Makes `count` keys.
    pub fn keys<K: SortKey>(self, count: usize, radix: u32, seed: u64) -> Vec<K> {
        let mut rng = Rng::with_seed(seed);
        match self {
            Input::Uniform => (0..count).map(|_| K::random(&mut rng, u64::MAX)).collect(),
            Input::Skewed => {
                let low = |digit: Digit| ((1 << digit.bits.min(SKEWED_BITS)) - 1) << digit.shift;
                let mask = Digit::all(K::BITS, radix).map(low).sum();
                (0..count).map(|_| K::random(&mut rng, mask)).collect()
            }
            Input::Sorted => {
                let mut keys = Input::Uniform.keys(count, radix, seed);
                keys.sort_unstable();
                keys
            }
            Input::Equal => vec![K::random(&mut rng, u64::MAX); count],
        }
    }
}
