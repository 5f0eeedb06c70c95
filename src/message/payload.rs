//! What can be sent, and for how many bytes it counts.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::time::Time;

/// What can be sent. A payload says how many bytes it counts for. It moves by ownership and is never serialized,
/// so its bytes need not lie in one place.
///
/// Numbers, characters, tuples, arrays, `Vec`, `VecDeque`, `String`, `Option`, `Result`, and a `Box` or an `Arc` of a
/// payload, a slice or a `str` are payloads. A structure becomes a payload by `#[derive(Payload)]`, which adds up its
/// fields, or by hand:
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
/// **Shared data.** An `Arc` counts for the value inside, however many share it: the message costs as much as the value
/// would, and the host copies nothing.
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
/// A reference is no payload, for a message moves to its receiver and borrows nothing:
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
    /// The bytes that every value of the type counts for, if all values count the same.
    const SIZE: Option<usize> = None;

    /// The bytes that this value counts for.
    fn bytes(&self) -> usize;
}

macro_rules! plain {
    ($($type:ty)*) => {$(
        impl Payload for $type {
            const SIZE: Option<usize> = Some(std::mem::size_of::<$type>());
            fn bytes(&self) -> usize {
                std::mem::size_of::<$type>()
            }
        }
    )*};
}
plain!(() bool char u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64 Time);

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
        }
    };
}
tuple!(A);
tuple!(A B);
tuple!(A B C);
tuple!(A B C D);
tuple!(A B C D E);
tuple!(A B C D E F);

/// The bytes of a sequence. The items are not visited if all count the same.
fn sum<T: Payload>(items: &[T]) -> usize {
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
    fn bytes(&self) -> usize {
        sum(self)
    }
}

impl<T: Payload> Payload for Vec<T> {
    fn bytes(&self) -> usize {
        sum(self)
    }
}

impl<T: Payload> Payload for VecDeque<T> {
    fn bytes(&self) -> usize {
        let (front, back) = self.as_slices();
        sum(front) + sum(back)
    }
}

/// A slice has no size of its own, so it can be sent only in a `Box` or an `Arc`.
impl<T: Payload> Payload for [T] {
    fn bytes(&self) -> usize {
        sum(self)
    }
}

/// A `str` has no size of its own, so it can be sent only in a `Box` or an `Arc`.
impl Payload for str {
    fn bytes(&self) -> usize {
        self.len()
    }
}

impl Payload for String {
    fn bytes(&self) -> usize {
        self.len()
    }
}

/// A `Box` counts for the value inside.
impl<T: Payload + ?Sized> Payload for Box<T> {
    const SIZE: Option<usize> = T::SIZE;
    fn bytes(&self) -> usize {
        T::bytes(self)
    }
}

/// An `Arc` counts for the value inside, however many share it.
impl<T: Payload + Sync + ?Sized> Payload for Arc<T> {
    const SIZE: Option<usize> = T::SIZE;
    fn bytes(&self) -> usize {
        T::bytes(self)
    }
}

impl<T: Payload> Payload for Option<T> {
    fn bytes(&self) -> usize {
        self.as_ref().map_or(0, Payload::bytes)
    }
}

/// A `Result` counts for the value inside. Whether that is `Ok` or `Err` counts for nothing, as a message's type does.
impl<T: Payload, E: Payload> Payload for Result<T, E> {
    fn bytes(&self) -> usize {
        match self {
            Ok(value) => value.bytes(),
            Err(error) => error.bytes(),
        }
    }
}

#[cfg(feature = "complex")]
impl<T: Payload> Payload for num_complex::Complex<T> {
    const SIZE: Option<usize> = match T::SIZE {
        Some(size) => Some(2 * size),
        None => None,
    };
    fn bytes(&self) -> usize {
        self.re.bytes() + self.im.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_bytes() {
        assert_eq!((1_u8, 2.0_f64, [3_u32; 3]).bytes(), 21);
        assert_eq!(<(u8, f64, [u32; 3])>::SIZE, Some(21));
        assert_eq!(vec![(1_u32, vec![0_u8; 5]), (2, vec![])].bytes(), 13);
        assert_eq!(vec![0.0_f64; 1000].into_boxed_slice().bytes(), 8000);
        assert_eq!(("abc".to_string(), Some(1_u16), None::<u16>).bytes(), 5);
    }

    #[test]
    fn counts_what_is_inside() {
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
