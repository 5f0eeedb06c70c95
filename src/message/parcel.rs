//! A value of any type, packed so that its type need not be known on the way.
//!
//! Like a `Box<dyn Any>`, but what fits in three words (a number, a pair, a `Vec`) lies in the parcel itself,
//! so that sending it allocates nothing. Larger values are boxed, and the box lies in the parcel. No other
//! module of the messages has unsafe code; `.ci/sanitize` runs the tests of this module under AddressSanitizer.

use std::any::{TypeId, type_name};
use std::fmt;
use std::mem::{self, MaybeUninit};
use std::ptr;

use super::pack::{Pack, number_of};
use super::packed::Packed;
use super::payload::Payload;

/// Room for a value: three words.
type Room = MaybeUninit<[usize; 3]>;

/// A value whose type is known only at run time.
pub(crate) struct Parcel {
    /// The value, of the type that `label` stands for.
    room: Room,
    label: &'static Label,
}

/// What can be known of a value without knowing its type.
struct Label {
    /// The type of the value as the sender knows it.
    id: fn() -> TypeId,
    /// The name of that type.
    name: fn() -> &'static str,
    /// Drops what is in the room, if that is anything to do.
    drop: Option<unsafe fn(&mut Room)>,
    /// Packs what is in the room.
    pack: for<'v> unsafe fn(&'v Room, &mut Pack<'v>),
}

/// Whether a `T` lies in the parcel itself.
const fn fits<T>() -> bool {
    mem::size_of::<T>() <= mem::size_of::<Room>() && mem::align_of::<T>() <= mem::align_of::<Room>()
}

/// Gives each type its label.
struct LabelOf<T>(T);

impl<T: Payload> LabelOf<T> {
    const LABEL: Label = Label {
        id: TypeId::of::<T>,
        name: type_name::<T>,
        drop: match fits::<T>() && !mem::needs_drop::<T>() {
            true => None,
            false => Some(|room| {
                // SAFETY: the caller has a parcel with this label, so by `Parcel::new` the room holds a `T` where
                // that fits and else a `Box<T>`; and the caller uses the room no more.
                unsafe {
                    if fits::<T>() {
                        room.as_mut_ptr().cast::<T>().drop_in_place();
                    } else {
                        room.as_mut_ptr().cast::<Box<T>>().drop_in_place();
                    }
                }
            }),
        },
        pack: |room, pack| {
            // SAFETY: the caller has a parcel with this label, so by `Parcel::new` the room holds a `T` where
            // that fits and else a `Box<T>`.
            unsafe {
                if fits::<T>() {
                    (*room.as_ptr().cast::<T>()).pack(pack);
                } else {
                    (**room.as_ptr().cast::<Box<T>>()).pack(pack);
                }
            }
        },
    };
}

impl Parcel {
    /// Wraps a value.
    #[inline]
    pub(crate) fn new<T: Payload>(value: T) -> Parcel {
        let mut room = Room::uninit();
        // SAFETY: the room is large and aligned enough for a `T` if `fits` says so, and always for a `Box<T>`.
        unsafe {
            if fits::<T>() {
                room.as_mut_ptr().cast::<T>().write(value);
            } else {
                room.as_mut_ptr().cast::<Box<T>>().write(Box::new(value));
            }
        }
        Parcel { room, label: &LabelOf::<T>::LABEL }
    }

    /// Unwraps the value if it is a `T`, and leaves the parcel empty.
    #[inline]
    pub(crate) fn open<T: Payload>(&mut self) -> Option<T> {
        // The compiler may give a type several labels, though it seldom does: then the type's id decides.
        if !ptr::eq(self.label, &LabelOf::<T>::LABEL) && (self.label.id)() != TypeId::of::<T>() {
            return self.unpack();
        }
        self.label = &LabelOf::<()>::LABEL;
        // SAFETY: the label said that `new` wrapped a `T`, so the room holds one where that fits and else a `Box<T>`. Now it
        // says that the room holds nothing, so the value is moved out once.
        unsafe {
            if fits::<T>() {
                Some(self.room.as_ptr().cast::<T>().read())
            } else {
                Some(*self.room.as_ptr().cast::<Box<T>>().read())
            }
        }
    }

    /// Unpacks the value if it has come from another process and is a `T`.
    #[cold]
    fn unpack<T: Payload>(&mut self) -> Option<T> {
        if TypeId::of::<T>() == TypeId::of::<Packed>() {
            return None;
        }
        match self.open::<Packed>()?.open::<T>() {
            Ok(value) => Some(value),
            Err(packed) => {
                *self = Parcel::new(packed);
                None
            }
        }
    }

    /// Packs the value, and says of which type it is.
    pub(crate) fn pack<'v>(&'v self, pack: &mut Pack<'v>) -> u64 {
        // SAFETY: the label is the parcel's own.
        unsafe { (self.label.pack)(&self.room, pack) };
        number_of(&(self.label.id)())
    }

    /// The name of the type inside.
    pub(crate) fn type_name(&self) -> &'static str {
        match (self.label.id)() == TypeId::of::<Packed>() {
            true => "value of another type",
            false => (self.label.name)(),
        }
    }
}

impl Drop for Parcel {
    #[inline]
    fn drop(&mut self) {
        if let Some(drop) = self.label.drop {
            // SAFETY: the label is the parcel's own, and the room is used no more.
            unsafe { drop(&mut self.room) }
        }
    }
}

// SAFETY: `new` takes values that are `Send` only, and a parcel gives no access to its value but by moving it.
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

    fn there_and_back<T: Payload + Clone + PartialEq + fmt::Debug>(value: T) {
        assert_eq!(Parcel::new(value.clone()).open::<T>().unwrap(), value);
    }

    #[test]
    fn gives_back_what_was_wrapped() {
        #[derive(Clone, Debug, PartialEq)]
        #[repr(align(64))]
        struct Aligned(u8);
        impl Payload for Aligned {
            fn bytes(&self) -> usize {
                1
            }
        }
        there_and_back(());
        there_and_back(7_u8);
        there_and_back((1.5_f64, 2_u64, 3_u64));
        there_and_back(vec![1_u32, 2, 3]);
        there_and_back([9_u64; 4]);
        there_and_back([9_u128; 40]);
        there_and_back(Aligned(1));
        there_and_back(String::from("text"));
    }

    #[test]
    fn keeps_what_is_asked_for_by_another_type() {
        let mut parcel = Parcel::new(vec![1_u32]);
        assert_eq!(parcel.open::<Vec<u64>>(), None);
        assert!(parcel.type_name().contains("Vec<u32>"));
        assert_eq!(parcel.open::<Vec<u32>>().unwrap(), [1]);
    }

    #[test]
    fn drops_its_value_once() {
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
    fn is_four_words() {
        assert_eq!(mem::size_of::<Parcel>(), 4 * mem::size_of::<usize>());
    }
}
