//! Items to sort: keys, alone or with a tag.

use std::fmt::Debug;

use fastrand::Rng;
use loggp::Payload;

/// An item with a key of [`BITS`](SortItem::BITS) bits.
pub trait SortItem: Payload + Copy + Default + Debug + PartialEq + Sync {
    /// Bits of the key.
    const BITS: u32;

    /// Returns a digit of the key.
    fn digit(&self, digit: Digit) -> usize;
}

/// A key that is a plain number.
pub trait SortKey: SortItem + Ord {
    /// Returns a random key with no other bits than those of the mask.
    fn random(rng: &mut Rng, mask: u64) -> Self;
}

/// The bits of a key by which one pass sorts.
#[derive(Clone, Copy, Debug)]
pub struct Digit {
    /// Number of lower bits, by which earlier passes have sorted.
    pub shift: u32,
    /// Number of its bits.
    pub bits: u32,
}

impl Digit {
    /// Returns the digits of a key of `key` bits, lowest first: `radix` bits each, and the last one the rest.
    pub fn all(key: u32, radix: u32) -> impl ExactSizeIterator<Item = Digit> {
        let passes = key.div_ceil(radix);
        (0..passes).map(move |pass| {
            let shift = pass * radix;
            Digit { shift, bits: radix.min(key - shift) }
        })
    }

    /// Returns the number of its values, which are the buckets of a pass.
    pub fn buckets(self) -> usize {
        1 << self.bits
    }
}

macro_rules! keys {
    ($($key:ident)*) => {$(
        impl SortItem for $key {
            const BITS: u32 = <$key>::BITS;

            #[inline]
            fn digit(&self, digit: Digit) -> usize {
                (*self >> digit.shift) as usize & (digit.buckets() - 1)
            }
        }

        impl SortKey for $key {
            fn random(rng: &mut Rng, mask: u64) -> $key {
                rng.$key(..) & mask as $key
            }
        }
    )*};
}
keys!(u32 u64);

/// A key with a tag that is no part of it.
impl<K: SortItem> SortItem for (K, u32) {
    const BITS: u32 = K::BITS;

    #[inline]
    fn digit(&self, digit: Digit) -> usize {
        self.0.digit(digit)
    }
}
