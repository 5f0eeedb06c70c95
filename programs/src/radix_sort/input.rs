//! Keys to sort: random ones, and awkward ones.

use fastrand::Rng;

use super::item::{Digit, SortKey};

/// The distribution of the keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyDistribution {
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

impl KeyDistribution {
    /// Makes `count` keys.
    pub fn keys<K: SortKey>(self, count: usize, radix: u32, seed: u64) -> Vec<K> {
        let mut rng = Rng::with_seed(seed);
        match self {
            KeyDistribution::Uniform => (0..count).map(|_| K::random(&mut rng, u64::MAX)).collect(),
            KeyDistribution::Skewed => {
                let low = |digit: Digit| ((1 << digit.bits.min(SKEWED_BITS)) - 1) << digit.shift;
                let mask = Digit::all(K::BITS, radix).map(low).sum();
                (0..count).map(|_| K::random(&mut rng, mask)).collect()
            }
            KeyDistribution::Sorted => {
                let mut keys = KeyDistribution::Uniform.keys(count, radix, seed);
                keys.sort_unstable();
                keys
            }
            KeyDistribution::Equal => vec![K::random(&mut rng, u64::MAX); count],
        }
    }
}
