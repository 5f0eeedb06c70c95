//! A value from another process: bytes, until its receiver names its type.

use std::any::TypeId;

use super::pack::{Body, Unpack, stable_hash};
use super::payload::Payload;

/// A value from another process, not yet unpacked.
pub struct PackedValue {
    /// The received bytes: a header, then the value.
    pub bytes: Vec<u8>,
    pub value_start: usize,
    /// The long slice that travelled separately, if there is one.
    pub slice: Option<Body>,
    /// [`stable_hash`] of the type that was sent.
    pub type_number: u64,
}

impl PackedValue {
    /// Unpacks the value. Returns `self` unchanged if it is not a `T`.
    pub(super) fn open<T: Payload>(mut self) -> Result<T, PackedValue> {
        if self.type_number != stable_hash(&TypeId::of::<T>()) {
            return Err(self);
        }
        let mut from = Unpack::new(&self.bytes[self.value_start..], self.slice.take());
        match T::unpack(&mut from) {
            Some(value) if from.is_empty() => Ok(value),
            _ => Err(self),
        }
    }
}

// A packed value is opened before its length could be asked for.
impl Payload for PackedValue {
    fn bytes(&self) -> usize {
        0
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::fmt::Debug;
    use std::sync::Arc;

    use super::super::pack::Pack;
    use super::*;
    use crate::time::US;

    fn check_round_trip<T: Payload + Debug + PartialEq>(value: T) -> bool {
        let mut pack = Pack::default();
        value.pack(&mut pack);
        assert_eq!(pack.refused_type, None);
        let slice = pack.slice.map(|slice| Body::from_bytes(slice.bytes, slice.align).unwrap());
        let is_separate = slice.is_some();
        let mut from = Unpack::new(&pack.bytes, slice);
        assert_eq!(T::unpack(&mut from).as_ref(), Some(&value));
        assert!(from.is_empty());
        // Truncated bytes are refused.
        let cut = &pack.bytes[..pack.bytes.len().saturating_sub(1)];
        assert!(pack.bytes.is_empty() || T::unpack(&mut Unpack::new(cut, None)).is_none());
        is_separate
    }

    #[test]
    fn values_are_unpacked_as_packed() {
        check_round_trip(());
        check_round_trip((1_u8, -2_i64, 3.5_f64, 'x', true, 7 * US));
        check_round_trip([1_u128, u128::MAX]);
        check_round_trip((vec![1.5_f64; 10], vec![(1_u8, 2_u32); 3], [vec![1_u16], vec![]]));
        check_round_trip((String::from("text"), Some(1_u8), None::<u64>));
        check_round_trip([Ok::<u8, String>(1), Err("no".into())]);
        check_round_trip((Box::new(5_u32), Arc::new([1_u16; 5]), VecDeque::from([1, 2])));
        let shared: (Arc<[u64]>, Arc<str>, Box<str>) = (vec![1, 2].into(), "abc".into(), "de".into());
        check_round_trip(shared);
        check_round_trip((vec![vec![String::from("a")]; 2], vec![[0_u64; 0]; 3], vec![(); 4]));
    }

    #[test]
    fn long_slice_travels_separately() {
        assert!(check_round_trip(vec![1.5_f64; 1000]));
        assert!(check_round_trip((1_u8, vec![[1_u32; 3]; 1000], vec![7_u16; 9000])));
        assert!(!check_round_trip(vec![(1_u8, 2_u32); 5000]));
        let other = Body::from_bytes(&[1; 8], 1).unwrap();
        // SAFETY: numbers are plain.
        assert_eq!(unsafe { other.into_items::<u64>(1) }, Some(vec![0x0101_0101_0101_0101]));
    }

    #[test]
    fn refused_type_is_named() {
        struct Unsendable;
        impl Payload for Unsendable {
            fn bytes(&self) -> usize {
                1
            }
        }
        let values = (1_u8, vec![Unsendable]);
        let mut pack = Pack::default();
        values.pack(&mut pack);
        assert!(pack.refused_type.unwrap().ends_with("Unsendable"));
    }
}
