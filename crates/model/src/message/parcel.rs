//! A value of any type, wrapped so that its type need not be known on the way.
//!
//! Like a `Box<dyn Any>`, but a value of up to three words (a number, a pair, a `Vec`) lies in the parcel
//! itself, so that sending it allocates nothing. Larger values are boxed, and the box lies in the parcel.
//! `.ci/sanitize` runs the tests of this unsafe code under AddressSanitizer.

use std::any::{TypeId, type_name};
use std::fmt;
use std::mem::{self, MaybeUninit};
use std::ptr;

use super::pack::{Pack, stable_hash};
use super::packed_value::PackedValue;
use super::payload::Payload;
use crate::panics::contain;

/// Memory for an inline value: three words.
type Storage = MaybeUninit<[usize; 3]>;

/// A value whose type is known only at run time.
pub struct Parcel {
    /// The value, or a box with it, of the type that `vtable` belongs to.
    storage: Storage,
    vtable: &'static ValueVtable,
}

/// The operations on a value whose type is not known.
struct ValueVtable {
    id: fn() -> TypeId,
    name: fn() -> &'static str,
    /// Drops the value in the storage; `None` if that does nothing.
    drop: Option<unsafe fn(&mut Storage)>,
    pack: for<'v> unsafe fn(&'v Storage, &mut Pack<'v>),
}

/// Returns whether a `T` lies in the parcel itself.
const fn is_inline<T>() -> bool {
    mem::size_of::<T>() <= mem::size_of::<Storage>() && mem::align_of::<T>() <= mem::align_of::<Storage>()
}

/// Gives each type its vtable.
struct VtableOf<T>(T);

impl<T: Payload> VtableOf<T> {
    const VTABLE: ValueVtable = ValueVtable {
        id: TypeId::of::<T>,
        name: type_name::<T>,
        drop: match is_inline::<T>() && !mem::needs_drop::<T>() {
            true => None,
            false => Some(|storage| {
                // SAFETY: the caller has a parcel with this vtable, so by `Parcel::new` the storage holds a
                // `T` if that is inline and else a `Box<T>`; and the caller uses the storage no more.
                unsafe {
                    if is_inline::<T>() {
                        storage.as_mut_ptr().cast::<T>().drop_in_place();
                    } else {
                        storage.as_mut_ptr().cast::<Box<T>>().drop_in_place();
                    }
                }
            }),
        },
        pack: |storage, pack| {
            // SAFETY: the caller has a parcel with this vtable, so by `Parcel::new` the storage holds a `T`
            // if that is inline and else a `Box<T>`.
            unsafe {
                if is_inline::<T>() {
                    (*storage.as_ptr().cast::<T>()).pack(pack);
                } else {
                    (**storage.as_ptr().cast::<Box<T>>()).pack(pack);
                }
            }
        },
    };
}

impl Parcel {
    /// Wraps a value.
    #[inline]
    pub fn new<T: Payload>(value: T) -> Parcel {
        let mut storage = Storage::uninit();
        // SAFETY: the storage is large and aligned enough for a `T` if that is inline, and always for a
        // `Box<T>`.
        unsafe {
            if is_inline::<T>() {
                storage.as_mut_ptr().cast::<T>().write(value);
            } else {
                storage.as_mut_ptr().cast::<Box<T>>().write(Box::new(value));
            }
        }
        Parcel { storage, vtable: &VtableOf::<T>::VTABLE }
    }

    /// Moves the value out if it is a `T`, which leaves the parcel empty; else returns `None`.
    #[inline]
    pub fn open<T: Payload>(&mut self) -> Option<T> {
        // The compiler may give a type several vtables, though it seldom does: then the type's id decides.
        if !ptr::eq(self.vtable, &VtableOf::<T>::VTABLE) && (self.vtable.id)() != TypeId::of::<T>() {
            return self.unpack();
        }
        self.vtable = &VtableOf::<()>::VTABLE;
        // SAFETY: the vtable said that `new` wrapped a `T`, so the storage holds one if that is inline and
        // else a `Box<T>`. Now the vtable says that the storage is empty, so the value is moved out only
        // once.
        unsafe {
            if is_inline::<T>() {
                Some(self.storage.as_ptr().cast::<T>().read())
            } else {
                Some(*self.storage.as_ptr().cast::<Box<T>>().read())
            }
        }
    }

    /// Unpacks the value if it came from another process and is a `T`; else returns `None`.
    #[cold]
    fn unpack<T: Payload>(&mut self) -> Option<T> {
        if TypeId::of::<T>() == TypeId::of::<PackedValue>() {
            return None;
        }
        match self.open::<PackedValue>()?.open::<T>() {
            Ok(value) => Some(value),
            Err(packed) => {
                *self = Parcel::new(packed);
                None
            }
        }
    }

    /// Packs the value, and returns the [`stable_hash`] of its type.
    pub fn pack<'v>(&'v self, pack: &mut Pack<'v>) -> u64 {
        // SAFETY: the vtable is the parcel's own.
        unsafe { (self.vtable.pack)(&self.storage, pack) };
        stable_hash(&(self.vtable.id)())
    }

    /// Returns the name of the value's type.
    pub fn type_name(&self) -> &'static str {
        match (self.vtable.id)() == TypeId::of::<PackedValue>() {
            true => "value of another type",
            false => (self.vtable.name)(),
        }
    }
}

impl Drop for Parcel {
    #[inline]
    fn drop(&mut self) {
        if let Some(drop) = self.vtable.drop {
            // SAFETY: the vtable is the parcel's own, and the storage is used no more.
            contain(|| unsafe { drop(&mut self.storage) });
        }
    }
}

// SAFETY: `new` takes only `Send` values, and a parcel gives access to its value only by moving it.
unsafe impl Send for Parcel {}

impl fmt::Debug for Parcel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Parcel<{}>", self.type_name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn check_round_trip<T: Payload + Clone + PartialEq + fmt::Debug>(value: T) {
        assert_eq!(Parcel::new(value.clone()).open::<T>().unwrap(), value);
    }

    #[test]
    fn wrapped_values_are_moved_out_unchanged() {
        #[derive(Clone, Debug, PartialEq)]
        #[repr(align(64))]
        struct Aligned(u8);
        impl Payload for Aligned {
            fn bytes(&self) -> usize {
                1
            }
        }
        check_round_trip(());
        check_round_trip(7_u8);
        check_round_trip((1.5_f64, 2_u64, 3_u64));
        check_round_trip(vec![1_u32, 2, 3]);
        check_round_trip([9_u64; 4]);
        check_round_trip([9_u128; 40]);
        check_round_trip(Aligned(1));
        check_round_trip(String::from("text"));
    }

    #[test]
    fn value_stays_when_opened_as_another_type() {
        let mut parcel = Parcel::new(vec![1_u32]);
        assert_eq!(parcel.open::<Vec<u64>>(), None);
        assert!(parcel.type_name().contains("Vec<u32>"));
        assert_eq!(parcel.open::<Vec<u32>>().unwrap(), [1]);
    }

    #[test]
    fn value_is_dropped_once() {
        let counted = Arc::new(());
        let (small, large) = (counted.clone(), [(); 5].map(|()| counted.clone()));
        drop(Parcel::new(small));
        drop(Parcel::new(large));
        assert_eq!(Arc::strong_count(&counted), 1);
        let opened = Parcel::new([(); 5].map(|()| counted.clone())).open::<[Arc<()>; 5]>().unwrap();
        assert_eq!(Arc::strong_count(&counted), 6);
        drop(opened);
        assert_eq!(Arc::strong_count(&counted), 1);
    }

    #[test]
    fn parcel_is_four_words() {
        assert_eq!(mem::size_of::<Parcel>(), 4 * mem::size_of::<usize>());
    }
}
