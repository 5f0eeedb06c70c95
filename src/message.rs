//! Messages: what can be sent, and what travels.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use crate::parcel::Parcel;
use crate::time::Time;

/// What can be sent. A payload says how many bytes it counts for; it moves by ownership and is never
/// serialized, so the bytes need not lie in one place.
///
/// Numbers, characters, tuples, arrays, `Vec`, `VecDeque`, `String`, `Option`, `Result`, and a `Box` or an `Arc` of a
/// payload, a slice or a `str` are payloads. A structure becomes one by `#[derive(Payload)]` (the sum of its fields),
/// or by hand:
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
/// **Shared data.** An `Arc` counts for what is inside, however many share it: a message costs the same, and the host
/// copies nothing.
///
/// ```
/// use std::sync::Arc;
/// use loggp::{Machine, Params, US, collectives};
///
/// let machine = Machine::new(Params::new(8).L(6 * US).o(2 * US).g(4 * US).G(US).build()?);
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
/// # let machine = loggp::Machine::new(loggp::Params::new(2).build().unwrap());
/// # machine.run(|p| {
/// let row = vec![0.0; 10];
/// p.send(1, 0, &row);
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
    /// The bytes that every value of the type counts for, if all count the same.
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

/// The bytes of a sequence; at once where all its items count the same.
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

/// In a `Box` or an `Arc`: a value without a size cannot be moved, and so not be sent by itself.
impl<T: Payload> Payload for [T] {
    fn bytes(&self) -> usize {
        sum(self)
    }
}

/// In a `Box` or an `Arc`, as a slice.
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

/// It counts for what is inside.
impl<T: Payload + ?Sized> Payload for Box<T> {
    const SIZE: Option<usize> = T::SIZE;
    fn bytes(&self) -> usize {
        T::bytes(self)
    }
}

/// It counts for what is inside, however many share that.
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

/// It counts for what is inside. Which of the two it is counts for nothing, as the type of a message does.
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

/// What a message is about. The machine's own messages have tags that no program can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Tag(u64);

impl Tag {
    /// LogGPS's "may I send?", under the tag of the message that waits.
    const REQUEST: u64 = 1 << 63;
    /// LogGPS's "you may", which answers a request.
    const REPLY: u64 = 1 << 62;
    /// The message that waited for the reply.
    const AGREED: u64 = 1 << 61;
    /// A message of a collective operation: the operation's kind, the step in it, and its number.
    const COLLECTIVE: u64 = 1 << 60;
    /// Where a collective's step lies, above its number.
    const STEP: u32 = 28;
    /// Where a collective's kind lies, above its step.
    const KIND: u32 = 52;

    /// A program's tag.
    pub fn user(tag: u32) -> Tag {
        Tag(tag.into())
    }

    /// The tag of a step of the processor's collective with this number. Both are cut to what a tag has room
    /// for, as only the collectives that are under way have to be told apart.
    pub fn collective(kind: Collective, number: u32, step: usize) -> Tag {
        let number = u64::from(number) & ((1 << Tag::STEP) - 1);
        let step = step as u64 & ((1 << (Tag::KIND - Tag::STEP)) - 1);
        Tag(Tag::COLLECTIVE | (kind as u64) << Tag::KIND | step << Tag::STEP | number)
    }

    /// Whether it is a signal of the machine's own barrier.
    #[inline]
    pub fn is_signal(self) -> bool {
        self.0 >> Tag::KIND == (Tag::COLLECTIVE >> Tag::KIND) | Collective::HardwareBarrier as u64
    }

    /// The request for a message with this tag.
    pub fn request(self) -> Tag {
        Tag(self.0 | Tag::REQUEST)
    }

    /// The tag of the message that this is the request for, or the tag itself.
    pub fn requested(self) -> Tag {
        Tag(self.0 & !Tag::REQUEST)
    }

    pub fn is_request(self) -> bool {
        self.0 & Tag::REQUEST != 0
    }

    /// The reply to its sender's request with this number.
    pub fn reply(number: u32) -> Tag {
        Tag(Tag::REPLY | u64::from(number))
    }

    /// Whether it is a reply to a request.
    pub fn is_reply(self) -> bool {
        self.0 & Tag::REPLY != 0
    }

    /// The message for which its sender's request with this number asked.
    pub fn agreed(number: u32) -> Tag {
        Tag(Tag::AGREED | u64::from(number))
    }

    /// Whether a receive that asks for `self` takes a message with the tag `of`, or the request for one.
    fn takes(self, of: Tag) -> bool {
        of.requested() == self
    }
}

/// The kinds of collective operations, so that different ones never take each other's messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Collective {
    /// The machine's own barrier.
    HardwareBarrier,
    /// A barrier made of messages.
    Barrier,
    Broadcast,
    Reduce,
    AllReduce,
    Scan,
    ExclusiveScan,
    Gather,
    AllToAll,
}

impl Collective {
    /// What errors call the kind with this number.
    fn name(kind: u64) -> &'static str {
        const NAMES: [&str; 9] = [
            "the machine's barrier",
            "a barrier",
            "a broadcast",
            "a reduce",
            "an all-reduce",
            "a scan",
            "an exclusive scan",
            "a gather",
            "an all-to-all",
        ];
        NAMES.get(kind as usize).copied().unwrap_or("of no kind")
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            tag if tag & Tag::REPLY != 0 => f.write_str("that lets it send"),
            tag if tag & Tag::AGREED != 0 => f.write_str("that it agreed to take"),
            tag if tag & Tag::COLLECTIVE != 0 => {
                let number = tag & ((1 << Tag::STEP) - 1);
                let step = tag >> Tag::STEP & ((1 << (Tag::KIND - Tag::STEP)) - 1);
                let kind = Collective::name(tag >> Tag::KIND & 0xFF);
                write!(f, "in collective {number}, {kind}, step {step}")
            }
            _ => write!(f, "with tag {}", self.requested().0),
        }
    }
}

/// A message on its way.
#[derive(Debug)]
pub(crate) struct Envelope {
    /// When it is there.
    pub arrival: Time,
    /// The message.
    pub letter: Letter,
}

/// A message, but for its arrival.
#[derive(Debug)]
pub(crate) struct Letter {
    /// Its sender.
    pub from: u32,
    /// Its receiver.
    pub to: u32,
    /// How many messages its sender had sent before.
    pub number: u32,
    /// How long it is.
    pub words: u32,
    /// What it is about.
    pub tag: Tag,
    /// What it carries.
    pub parcel: Parcel,
}

/// Which messages a receive takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Want {
    /// From this processor, or from any.
    pub from: Option<u32>,
    /// About this.
    pub tag: Tag,
}

impl Want {
    /// Whether the receive takes this message.
    #[inline]
    pub fn matches(&self, letter: &Letter) -> bool {
        self.tag.takes(letter.tag) && self.from.is_none_or(|from| from == letter.from)
    }
}

impl fmt::Display for Want {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.from {
            Some(from) => write!(f, "a message from {from} {}", self.tag),
            None => write!(f, "a message {}", self.tag),
        }
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

    #[test]
    fn collectives_have_tags_of_their_own() {
        let tag = Tag::collective(Collective::Barrier, 5, 3);
        let others = [
            Tag::user(5),
            Tag::reply(5),
            Tag::agreed(5),
            Tag::collective(Collective::HardwareBarrier, 5, 3),
            Tag::collective(Collective::Barrier, 6, 3),
            Tag::collective(Collective::Barrier, 5, 2),
        ];
        for other in others {
            assert!(!tag.takes(other) && !other.takes(tag), "{other}");
        }
        assert!(tag.takes(tag) && tag.takes(tag.request()));
        assert_eq!(tag.to_string(), "in collective 5, a barrier, step 3");
        assert_eq!(tag.request().to_string(), tag.to_string());
    }

    #[test]
    fn a_message_fits_a_cache_line() {
        assert_eq!(std::mem::size_of::<Envelope>(), 64);
        assert_eq!(std::mem::size_of::<Letter>(), 56);
    }
}
