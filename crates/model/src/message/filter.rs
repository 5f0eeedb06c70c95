//! Filters: which messages a receive or a look takes.

use super::payload::Payload;
use super::tag::{RawTag, Tag};

/// The messages that a receive or a look takes.
///
/// | filter | messages | a receive returns |
/// |---|---|---|
/// | `TAG` | with this tag, from any processor | the value |
/// | [`TAG.from(3)`](Tag::from) | with this tag, from processor 3 | the value |
/// | [`AnyTag::new()`](AnyTag::new) | with any tag, from any processor | the tag's number and the value |
/// | [`AnyTag::new().from(3)`](AnyTag::from) | with any tag, from processor 3 | the tag's number and the value |
/// | [`TAG.with_sender()`](Tag::with_sender), [`AnyTag::new().with_sender()`](AnyTag::with_sender) | the same as without | the sender, and what it returns without |
///
/// ```
/// use loggp::{Machine, Params, Tag, US};
///
/// const NUMBER: Tag<u64> = Tag::new(0);
///
/// let machine = Machine::new(Params::builder(3).L(6 * US).o(2 * US).g(4 * US).build()?);
/// let run = machine.run(|p| {
///     if p.id() > 0 {
///         p.send(0, NUMBER, p.id() as u64);
///         return 0;
///     }
///     let last = p.recv(NUMBER.from(2));
///     let (sender, number) = p.recv_with_sender(NUMBER);
///     assert_eq!(sender, 1);
///     10 * last + number
/// })?;
/// assert_eq!(run.results[0], 21);
/// # Ok::<(), loggp::RunError>(())
/// ```
pub trait Filter: Copy + sealed::Sealed {
    /// The values of the messages.
    type Value: Payload;
    /// The result of a receive.
    type Received;

    /// Returns the processor that the messages come from, or `None` for any.
    #[doc(hidden)]
    fn sender(self) -> Option<usize>;

    #[doc(hidden)]
    fn tag(self) -> Tag<Self::Value>;

    /// Makes the result of a message's sender, the number of its tag, and its value.
    #[doc(hidden)]
    fn received(sender: usize, number: u16, value: Self::Value) -> Self::Received;
}

mod sealed {
    pub trait Sealed {}
    impl<T> Sealed for super::Tag<T> {}
    impl<T> Sealed for super::TagFrom<T> {}
    impl<T> Sealed for super::AnyTag<T> {}
    impl<F> Sealed for super::WithSender<F> {}
}

impl<T: Payload> Filter for Tag<T> {
    type Value = T;
    type Received = T;

    #[inline]
    fn sender(self) -> Option<usize> {
        None
    }

    #[inline]
    fn tag(self) -> Tag<T> {
        self
    }

    #[inline]
    fn received(_sender: usize, _number: u16, value: T) -> T {
        value
    }
}

/// The messages with a tag from one processor: see [`Tag::from`].
#[derive(Debug)]
pub struct TagFrom<T> {
    tag: Tag<T>,
    sender: usize,
}

impl<T> Tag<T> {
    /// Returns the [filter](Filter) of messages with this tag from one processor.
    #[inline]
    pub fn from(self, sender: usize) -> TagFrom<T> {
        TagFrom { tag: self, sender }
    }

    /// Returns the [filter](Filter) of messages with this tag from any processor, with which a receive returns
    /// the sender too.
    #[inline]
    pub fn with_sender(self) -> WithSender<Tag<T>> {
        WithSender(self)
    }
}

impl<T> Clone for TagFrom<T> {
    fn clone(&self) -> TagFrom<T> {
        *self
    }
}

impl<T> Copy for TagFrom<T> {}

impl<T: Payload> Filter for TagFrom<T> {
    type Value = T;
    type Received = T;

    #[inline]
    fn sender(self) -> Option<usize> {
        Some(self.sender)
    }

    #[inline]
    fn tag(self) -> Tag<T> {
        self.tag
    }

    #[inline]
    fn received(_sender: usize, _number: u16, value: T) -> T {
        value
    }
}

/// The messages with any tag, whose values must be of type `T`. Messages of collectives are none of these.
#[derive(Debug)]
pub struct AnyTag<T> {
    tag: Tag<T>,
    sender: Option<usize>,
}

impl<T> AnyTag<T> {
    /// Returns the filter of messages from any processor.
    #[allow(clippy::new_without_default)] // a filter has no default
    pub fn new() -> AnyTag<T> {
        AnyTag { tag: Tag::from_raw(RawTag::ANY, None), sender: None }
    }

    /// Returns the filter of messages from one processor.
    pub fn from(self, sender: usize) -> AnyTag<T> {
        AnyTag { sender: Some(sender), ..self }
    }

    /// Returns the filter of the same messages with which a receive returns the sender too.
    pub fn with_sender(self) -> WithSender<AnyTag<T>> {
        WithSender(self)
    }
}

impl<T> Clone for AnyTag<T> {
    fn clone(&self) -> AnyTag<T> {
        *self
    }
}

impl<T> Copy for AnyTag<T> {}

impl<T: Payload> Filter for AnyTag<T> {
    type Value = T;
    type Received = (u16, T);

    fn sender(self) -> Option<usize> {
        self.sender
    }

    fn tag(self) -> Tag<T> {
        self.tag
    }

    fn received(_sender: usize, number: u16, value: T) -> (u16, T) {
        (number, value)
    }
}

/// The messages of another filter, with which a receive returns the sender and what it returns without: see
/// [`Tag::with_sender`].
#[derive(Clone, Copy, Debug)]
pub struct WithSender<F>(pub F);

impl<F: Filter> Filter for WithSender<F> {
    type Value = F::Value;
    type Received = (usize, F::Received);

    #[inline]
    fn sender(self) -> Option<usize> {
        self.0.sender()
    }

    #[inline]
    fn tag(self) -> Tag<F::Value> {
        self.0.tag()
    }

    #[inline]
    fn received(sender: usize, number: u16, value: F::Value) -> (usize, F::Received) {
        (sender, F::received(sender, number, value))
    }
}
