//! What is sorted: keys, alone or with something that goes with them.

use std::fmt::Debug;

use loggp::Payload;

/// Something with a key of so many bits.
pub trait Item: Payload + Copy + Default + Debug + PartialEq + Sync {
    /// The bits of the key.
    const BITS: u32;

    /// A digit of the key.
    fn digit(&self, digit: Digit) -> usize;
}

/// Some bits of a key, by which one pass sorts.
#[derive(Clone, Copy, Debug)]
pub struct Digit {
    /// The number of lower bits, by which earlier passes have sorted.
    pub shift: u32,
    /// The number of its bits.
    pub bits: u32,
}

impl Digit {
    /// The digits of a key of so many bits, lowest first: `radix` bits each, and the last what is left.
    pub fn all(key: u32, radix: u32) -> impl ExactSizeIterator<Item = Digit> {
        let passes = key.div_ceil(radix);
        (0..passes).map(move |pass| {
            let shift = pass * radix;
            Digit { shift, bits: radix.min(key - shift) }
        })
    }

    /// How many values it has, and a pass buckets.
    pub fn buckets(self) -> usize {
        1 << self.bits
    }
}

macro_rules! keys {
    ($($key:ty)*) => {$(
        impl Item for $key {
            const BITS: u32 = <$key>::BITS;

            #[inline]
            fn digit(&self, digit: Digit) -> usize {
                (*self >> digit.shift) as usize & (digit.buckets() - 1)
            }
        }
    )*};
}
keys!(u32 u64);

/// A key with a tag, which is no part of the key.
impl<K: Item> Item for (K, u32) {
    const BITS: u32 = K::BITS;

    #[inline]
    fn digit(&self, digit: Digit) -> usize {
        self.0.digit(digit)
    }
}
