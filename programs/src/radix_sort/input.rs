//! Keys to sort: random, and as awkward as keys are.

use fastrand::Rng;

use super::item::{Digit, Item};

/// What the keys are like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// Every key is as likely as any other.
    Uniform,
    /// Of every digit there are only the four lowest values, so all keys are in few buckets.
    Skewed,
    /// Uniform keys that are in order.
    Sorted,
    /// All keys are the same.
    Equal,
}

/// The bits of a digit that skewed keys use.
pub const SKEWED_BITS: u32 = 2;

impl Input {
    /// Makes so many keys.
    pub fn keys<K: Key>(self, count: usize, radix: u32, seed: u64) -> Vec<K> {
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

/// A key that is nothing but a number.
pub trait Key: Item + Ord {
    /// A random one among those with no other bits than these.
    fn random(rng: &mut Rng, mask: u64) -> Self;
}

impl Key for u32 {
    fn random(rng: &mut Rng, mask: u64) -> u32 {
        rng.u32(..) & mask as u32
    }
}

impl Key for u64 {
    fn random(rng: &mut Rng, mask: u64) -> u64 {
        rng.u64(..) & mask
    }
}
