//! The trait of values that can be sent, and its implementations.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;

use super::pack::{Pack, Plain, Unpack};
use crate::time::Time;

/// A value that can be sent in a message, with the number of bytes that it counts for.
///
/// A payload moves by ownership, so its bytes need not be contiguous. It is packed only where processors are
/// processes: see `Link`. The types of this crate and those that derive the trait can be
/// packed.
///
/// Numbers, characters, tuples, arrays, `Vec`, `VecDeque`, `String`, `Option`, `Result`, and a `Box` or an
/// `Arc` of a payload, a slice or a `str` are payloads. A structure becomes a payload by
/// `#[derive(Payload)]`, which adds up its fields, or by hand:
///
/// ```
/// use loggp::Payload;
///
/// struct Row { index: u32, values: Vec<f64> }
///
/// impl Payload for Row {
///     fn bytes(&self) -> usize {
///         self.index.bytes() + self.values.bytes()
///     }
/// }
/// assert_eq!(Row { index: 1, values: vec![0.0; 10] }.bytes(), 84);
/// ```
///
/// A type that implements the trait by hand can be sent to another process only if it says how it is packed:
///
/// ```
/// use loggp::{Pack, Payload, Unpack};
///
/// struct Row { index: u32, values: Vec<f64> }
///
/// impl Payload for Row {
///     fn bytes(&self) -> usize {
///         self.values.bytes()
///     }
///     fn pack<'v>(&'v self, to: &mut Pack<'v>) {
///         self.index.pack(to);
///         self.values.pack(to);
///     }
///     fn unpack(from: &mut Unpack) -> Option<Row> {
///         Some(Row { index: u32::unpack(from)?, values: Vec::unpack(from)? })
///     }
/// }
/// ```
///
/// **Shared data.** An `Arc` counts for the value inside, however often it is shared: the message costs as
/// much as the value would, and the host copies nothing.
///
/// ```
/// use std::sync::Arc;
/// use loggp::{Machine, Params, US, collectives};
///
/// let machine = Machine::new(Params::builder(8).L(6 * US).o(2 * US).g(4 * US).G(US).build()?);
/// let table: Arc<[f64]> = vec![1.5; 1000].into();
/// let run = machine.run(|p| {
///     collectives::broadcast(p, 0, (p.id() == 0).then(|| table.clone()))
/// })?;
/// assert!(run.results.iter().all(|result| Arc::ptr_eq(result, &table)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A reference is not a payload, because a message moves to its receiver and borrows nothing:
///
/// ```compile_fail,E0277
/// # let machine = loggp::Machine::new(loggp::Params::builder(2).build().unwrap());
/// # machine.run(|p| {
/// const ROW: loggp::Tag<&Vec<f64>> = loggp::Tag::new(0);
/// let row = vec![0.0; 10];
/// p.send(1, ROW, &row);
/// # });
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be sent: it is no `Payload`",
    label = "no `Payload`",
    note = "a message moves to its receiver and borrows nothing: instead of a reference send an owned value, such as a \
            clone or a `Vec` of a slice, or share an `Arc`",
    note = "a type of your own becomes a payload by `#[derive(loggp::Payload)]`, if all its fields are payloads"
)]
pub trait Payload: Send + 'static {
    /// The bytes that every value of the type counts for, or `None` if values differ.
    const SIZE: Option<usize> = None;

    /// `Some` if a slice of such values can be copied as bytes.
    #[doc(hidden)]
    const PLAIN: Option<Plain<Self>> = None;

    /// Returns the number of bytes that this value counts for.
    fn bytes(&self) -> usize;

    /// Adds the bytes from which [`unpack`](Payload::unpack) makes the value again in another process. By
    /// default the value cannot be sent to another process.
    fn pack<'v>(&'v self, to: &mut Pack<'v>) {
        to.refuse::<Self>();
    }

    /// Makes a value from the bytes that [`pack`](Payload::pack) added. Returns `None` if they are not such a
    /// value.
    fn unpack(_from: &mut Unpack) -> Option<Self>
    where
        Self: Sized,
    {
        None
    }

    /// Makes a value in a box, also of an unsized type.
    #[doc(hidden)]
    fn unpack_boxed(_from: &mut Unpack) -> Option<Box<Self>> {
        None
    }
}

/// Returns `Some` if a sequence of `T` is packed as bytes, which zero-sized items do not have.
const fn plain_items<T: Payload>() -> Option<Plain<T>> {
    if size_of::<T>() > 0 { T::PLAIN } else { None }
}

fn pack_items<'v, T: Payload>(items: &'v [T], to: &mut Pack<'v>) {
    if let Some(plain) = plain_items::<T>() {
        return to.add_plain(items, plain);
    }
    to.add(&(items.len() as u64).to_ne_bytes());
    items.iter().for_each(|item| item.pack(to));
}

fn unpack_items<T: Payload>(from: &mut Unpack) -> Option<Vec<T>> {
    match plain_items::<T>() {
        Some(plain) => from.take_plain(plain),
        None => (0..from.take_length()?).map(|_| T::unpack(from)).collect(),
    }
}

/// Implements `unpack_boxed` for a sized type.
macro_rules! unpack_boxed {
    () => {
        fn unpack_boxed(from: &mut Unpack) -> Option<Box<Self>> {
            Self::unpack(from).map(Box::new)
        }
    };
}

macro_rules! number {
    ($($type:ty)*) => {$(
        impl Payload for $type {
            const SIZE: Option<usize> = Some(std::mem::size_of::<$type>());
            // SAFETY: all bytes of a number are its value, and every value is one.
            const PLAIN: Option<Plain<$type>> = Some(unsafe { Plain::new_unchecked() });
            fn bytes(&self) -> usize {
                std::mem::size_of::<$type>()
            }
            fn pack<'v>(&'v self, to: &mut Pack<'v>) {
                to.add(&self.to_ne_bytes());
            }
            fn unpack(from: &mut Unpack) -> Option<Self> {
                Some(<$type>::from_ne_bytes(from.take(std::mem::size_of::<$type>())?.try_into().ok()?))
            }
            unpack_boxed!();
        }
    )*};
}
number!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64);

/// Implements `Payload` for a type that is packed as a number.
macro_rules! as_number {
    ($($type:ty, $number:ty, |$value:ident| $to:expr, |$back:ident| $from:expr;)*) => {$(
        impl Payload for $type {
            const SIZE: Option<usize> = Some(std::mem::size_of::<$type>());
            fn bytes(&self) -> usize {
                std::mem::size_of::<$type>()
            }
            fn pack<'v>(&'v self, to: &mut Pack<'v>) {
                let $value = *self;
                to.add(&<$number>::to_ne_bytes($to));
            }
            fn unpack(from: &mut Unpack) -> Option<Self> {
                let $back = <$number>::unpack(from)?;
                $from
            }
            unpack_boxed!();
        }
    )*};
}
as_number! {
    bool, u8, |value| value.into(), |number| (number < 2).then_some(number == 1);
    char, u32, |value| value.into(), |number| char::from_u32(number);
    Time, i64, |value| value.as_ps(), |number| Some(Time::from_ps(number));
}

impl Payload for () {
    const SIZE: Option<usize> = Some(0);
    fn bytes(&self) -> usize {
        0
    }
    fn pack<'v>(&'v self, _to: &mut Pack<'v>) {}
    fn unpack(_from: &mut Unpack) -> Option<()> {
        Some(())
    }
    unpack_boxed!();
}

macro_rules! tuple {
    ($($name:ident)*) => {
        impl<$($name: Payload),*> Payload for ($($name,)*) {
            const SIZE: Option<usize> = {
                let mut sum = Some(0);
                $(sum = match (sum, $name::SIZE) {
                    (Some(sum), Some(size)) => Some(sum + size),
                    _ => None,
                };)*
                sum
            };
            fn bytes(&self) -> usize {
                let ($($name,)*) = self;
                0 $(+ $name.bytes())*
            }
            fn pack<'v>(&'v self, to: &mut Pack<'v>) {
                let ($($name,)*) = self;
                $($name.pack(to);)*
            }
            fn unpack(from: &mut Unpack) -> Option<Self> {
                Some(($($name::unpack(from)?,)*))
            }
            unpack_boxed!();
        }
    };
}
tuple!(A);
tuple!(A B);
tuple!(A B C);
tuple!(A B C D);
tuple!(A B C D E);
tuple!(A B C D E F);

/// Returns the bytes of a sequence. The items are not visited if all count the same.
fn sum_bytes<T: Payload>(items: &[T]) -> usize {
    match T::SIZE {
        Some(size) => size * items.len(),
        None => items.iter().map(Payload::bytes).sum(),
    }
}

impl<T: Payload, const N: usize> Payload for [T; N] {
    const SIZE: Option<usize> = match T::SIZE {
        Some(size) => Some(size * N),
        None => None,
    };
    const PLAIN: Option<Plain<[T; N]>> = match T::PLAIN {
        // SAFETY: an array is its items, one after the other.
        Some(_) => Some(unsafe { Plain::new_unchecked() }),
        None => None,
    };
    fn bytes(&self) -> usize {
        sum_bytes(self)
    }
    fn pack<'v>(&'v self, to: &mut Pack<'v>) {
        self.iter().for_each(|item| item.pack(to));
    }
    fn unpack(from: &mut Unpack) -> Option<Self> {
        let items: Option<Vec<T>> = (0..N).map(|_| T::unpack(from)).collect();
        items?.try_into().ok()
    }
    unpack_boxed!();
}

impl<T: Payload> Payload for Vec<T> {
    fn bytes(&self) -> usize {
        sum_bytes(self)
    }
    fn pack<'v>(&'v self, to: &mut Pack<'v>) {
        pack_items(self, to);
    }
    fn unpack(from: &mut Unpack) -> Option<Self> {
        unpack_items(from)
    }
    unpack_boxed!();
}

impl<T: Payload> Payload for VecDeque<T> {
    fn bytes(&self) -> usize {
        let (front, back) = self.as_slices();
        sum_bytes(front) + sum_bytes(back)
    }
    fn pack<'v>(&'v self, to: &mut Pack<'v>) {
        to.add(&(self.len() as u64).to_ne_bytes());
        self.iter().for_each(|item| item.pack(to));
    }
    fn unpack(from: &mut Unpack) -> Option<Self> {
        (0..from.take_length()?).map(|_| T::unpack(from)).collect()
    }
    unpack_boxed!();
}

/// A slice is unsized, so it can be sent only in a `Box` or an `Arc`.
impl<T: Payload> Payload for [T] {
    fn bytes(&self) -> usize {
        sum_bytes(self)
    }
    fn pack<'v>(&'v self, to: &mut Pack<'v>) {
        pack_items(self, to);
    }
    fn unpack_boxed(from: &mut Unpack) -> Option<Box<Self>> {
        unpack_items(from).map(Vec::into_boxed_slice)
    }
}

/// A `str` is unsized, so it can be sent only in a `Box` or an `Arc`.
impl Payload for str {
    fn bytes(&self) -> usize {
        self.len()
    }
    fn pack<'v>(&'v self, to: &mut Pack<'v>) {
        pack_items(self.as_bytes(), to);
    }
    fn unpack_boxed(from: &mut Unpack) -> Option<Box<Self>> {
        String::unpack(from).map(String::into_boxed_str)
    }
}

impl Payload for String {
    fn bytes(&self) -> usize {
        self.len()
    }
    fn pack<'v>(&'v self, to: &mut Pack<'v>) {
        pack_items(self.as_bytes(), to);
    }
    fn unpack(from: &mut Unpack) -> Option<Self> {
        String::from_utf8(unpack_items(from)?).ok()
    }
    unpack_boxed!();
}

impl Payload for Cow<'static, str> {
    fn bytes(&self) -> usize {
        self.len()
    }
    fn pack<'v>(&'v self, to: &mut Pack<'v>) {
        pack_items(self.as_bytes(), to);
    }
    fn unpack(from: &mut Unpack) -> Option<Self> {
        String::unpack(from).map(Cow::Owned)
    }
    unpack_boxed!();
}

/// A `Box` counts for the value inside.
impl<T: Payload + ?Sized> Payload for Box<T> {
    const SIZE: Option<usize> = T::SIZE;
    fn bytes(&self) -> usize {
        T::bytes(self)
    }
    fn pack<'v>(&'v self, to: &mut Pack<'v>) {
        T::pack(self, to);
    }
    fn unpack(from: &mut Unpack) -> Option<Self> {
        T::unpack_boxed(from)
    }
    unpack_boxed!();
}

/// An `Arc` counts for the value inside, however often it is shared.
impl<T: Payload + Sync + ?Sized> Payload for Arc<T> {
    const SIZE: Option<usize> = T::SIZE;
    fn bytes(&self) -> usize {
        T::bytes(self)
    }
    fn pack<'v>(&'v self, to: &mut Pack<'v>) {
        T::pack(self, to);
    }
    fn unpack(from: &mut Unpack) -> Option<Self> {
        T::unpack_boxed(from).map(Arc::from)
    }
    unpack_boxed!();
}

impl<T: Payload> Payload for Option<T> {
    fn bytes(&self) -> usize {
        self.as_ref().map_or(0, Payload::bytes)
    }
    fn pack<'v>(&'v self, to: &mut Pack<'v>) {
        to.add(&[u8::from(self.is_some())]);
        self.iter().for_each(|value| value.pack(to));
    }
    fn unpack(from: &mut Unpack) -> Option<Self> {
        if bool::unpack(from)? { T::unpack(from).map(Some) } else { Some(None) }
    }
    unpack_boxed!();
}

/// A `Result` counts for the value inside; the distinction between `Ok` and `Err` counts for nothing.
impl<T: Payload, E: Payload> Payload for Result<T, E> {
    fn bytes(&self) -> usize {
        match self {
            Ok(value) => value.bytes(),
            Err(error) => error.bytes(),
        }
    }
    fn pack<'v>(&'v self, to: &mut Pack<'v>) {
        to.add(&[u8::from(self.is_ok())]);
        match self {
            Ok(value) => value.pack(to),
            Err(error) => error.pack(to),
        }
    }
    fn unpack(from: &mut Unpack) -> Option<Self> {
        if bool::unpack(from)? { T::unpack(from).map(Ok) } else { E::unpack(from).map(Err) }
    }
    unpack_boxed!();
}

#[cfg(feature = "complex")]
impl<T: Payload> Payload for num_complex::Complex<T> {
    const SIZE: Option<usize> = match T::SIZE {
        Some(size) => Some(2 * size),
        None => None,
    };
    const PLAIN: Option<Plain<Self>> = match T::PLAIN {
        // SAFETY: it has the C layout of its two parts, one after the other.
        Some(_) => Some(unsafe { Plain::new_unchecked() }),
        None => None,
    };
    fn bytes(&self) -> usize {
        self.re.bytes() + self.im.bytes()
    }
    fn pack<'v>(&'v self, to: &mut Pack<'v>) {
        self.re.pack(to);
        self.im.pack(to);
    }
    fn unpack(from: &mut Unpack) -> Option<Self> {
        Some(num_complex::Complex::new(T::unpack(from)?, T::unpack(from)?))
    }
    unpack_boxed!();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_count_their_bytes() {
        assert_eq!((1_u8, 2.0_f64, [3_u32; 3]).bytes(), 21);
        assert_eq!(<(u8, f64, [u32; 3])>::SIZE, Some(21));
        assert_eq!(vec![(1_u32, vec![0_u8; 5]), (2, vec![])].bytes(), 13);
        assert_eq!(vec![0.0_f64; 1000].into_boxed_slice().bytes(), 8000);
        assert_eq!(("abc".to_string(), Some(1_u16), None::<u16>).bytes(), 5);
    }

    #[test]
    fn containers_count_their_contents() {
        assert_eq!((Box::new(1_u32), Arc::new([1_u16; 5])).bytes(), 14);
        assert_eq!(<(Box<u32>, Arc<[u16; 5]>)>::SIZE, Some(14));
        let shared: (Arc<[u64]>, Arc<str>, Box<str>) = (vec![1, 2].into(), "abc".into(), "de".into());
        assert_eq!(shared.bytes(), 21);
        assert_eq!(Arc::new(vec![String::from("ab"), String::from("cde")]).bytes(), 5);
        let results: [Result<u64, String>; 2] = [Ok(1), Err("no".into())];
        assert_eq!(results.bytes(), 10);
        let mut queue = VecDeque::from([1_u32, 2, 3]);
        queue.rotate_left(1);
        queue.push_front(0);
        assert_eq!(queue.bytes(), 16);
    }
}
