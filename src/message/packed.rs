//! A value that has come from another process: bytes, until its receiver says of which type it is.

use std::any::TypeId;

use super::pack::{Body, Unpack, number_of};
use super::payload::Payload;

/// A value that has come from another process, and whose type the receiver says.
pub(crate) struct Packed {
    /// What came, with what comes before the value.
    pub came: Vec<u8>,
    /// Where the value begins.
    pub begin: usize,
    /// The slice that was not copied, if there is one.
    pub slice: Option<Body>,
    /// Stands for the type that was sent.
    pub of: u64,
}

impl Packed {
    /// The value, if it is a `T`; else all as it was.
    pub(super) fn open<T: Payload>(mut self) -> Result<T, Packed> {
        if self.of != number_of(&TypeId::of::<T>()) {
            return Err(self);
        }
        let mut from = Unpack::new(&self.came[self.begin..], self.slice.take());
        match T::unpack(&mut from) {
            Some(value) if from.is_empty() => Ok(value),
            _ => Err(self),
        }
    }
}

/// It is opened before anybody could ask.
impl Payload for Packed {
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

    fn there_and_back<T: Payload + Debug + PartialEq>(value: T) -> bool {
        let mut pack = Pack::default();
        value.pack(&mut pack);
        assert_eq!(pack.refused, None);
        let slice = pack.slice.map(|slice| Body::copied(slice.bytes, slice.align).unwrap());
        let apart = slice.is_some();
        let mut from = Unpack::new(&pack.bytes, slice);
        assert_eq!(T::unpack(&mut from).as_ref(), Some(&value));
        assert!(from.is_empty());
        // What was cut off is refused.
        let cut = &pack.bytes[..pack.bytes.len().saturating_sub(1)];
        assert!(pack.bytes.is_empty() || T::unpack(&mut Unpack::new(cut, None)).is_none());
        apart
    }

    #[test]
    fn what_is_packed_is_unpacked() {
        there_and_back(());
        there_and_back((1_u8, -2_i64, 3.5_f64, 'x', true, 7 * US));
        there_and_back([1_u128, u128::MAX]);
        there_and_back((vec![1.5_f64; 10], vec![(1_u8, 2_u32); 3], [vec![1_u16], vec![]]));
        there_and_back((String::from("text"), Some(1_u8), None::<u64>));
        there_and_back([Ok::<u8, String>(1), Err("no".into())]);
        there_and_back((Box::new(5_u32), Arc::new([1_u16; 5]), VecDeque::from([1, 2])));
        let shared: (Arc<[u64]>, Arc<str>, Box<str>) = (vec![1, 2].into(), "abc".into(), "de".into());
        there_and_back(shared);
        there_and_back((vec![vec![String::from("a")]; 2], vec![[0_u64; 0]; 3], vec![(); 4]));
    }

    #[test]
    fn a_long_slice_is_not_copied_twice() {
        assert!(there_and_back(vec![1.5_f64; 1000]));
        assert!(there_and_back((1_u8, vec![[1_u32; 3]; 1000], vec![7_u16; 9000])));
        assert!(!there_and_back(vec![(1_u8, 2_u32); 5000]));
        let other = Body::copied(&[1; 8], 1).unwrap();
        // SAFETY: numbers are plain.
        assert_eq!(unsafe { other.into_items::<u64>(1) }, Some(vec![0x0101_0101_0101_0101]));
    }

    #[test]
    fn what_cannot_travel_is_named() {
        struct Own;
        impl Payload for Own {
            fn bytes(&self) -> usize {
                1
            }
        }
        let values = (1_u8, vec![Own]);
        let mut pack = Pack::default();
        values.pack(&mut pack);
        assert!(pack.refused.unwrap().ends_with("Own"));
    }
}
