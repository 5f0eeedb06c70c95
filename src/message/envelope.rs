//! A message as it travels from its sender to its receiver.

use super::id::MessageId;
use super::parcel::Parcel;
use super::tag::RawTag;
use super::want::Matched;
use crate::time::Time;

/// A message with its arrival.
#[derive(Debug)]
pub(crate) struct Envelope {
    /// When its receiver can take it.
    pub arrival: Time,
    pub letter: Letter,
}

/// What can be seen of a message: when its receiver can take it, and its outside.
pub(crate) type Seen = (Time, Outside);

impl Envelope {
    #[inline]
    pub(crate) fn seen(&self) -> Seen {
        (self.arrival, self.letter.outside)
    }

    /// A copy without the payload, for those who look at a message and do not take it.
    #[cold]
    pub(crate) fn outside(&self) -> Envelope {
        let letter = Letter { outside: self.letter.outside, parcel: Parcel::new(()) };
        Envelope { arrival: self.arrival, letter }
    }
}

/// A message without its arrival.
#[derive(Debug)]
pub(crate) struct Letter {
    pub outside: Outside,
    /// The payload.
    pub parcel: Parcel,
}

/// What can be read on a message without opening it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outside {
    pub from: u32,
    pub to: Receiver,
    /// How many messages its sender had sent before.
    pub number: u32,
    pub words: u32,
    pub tag: RawTag,
}

impl Outside {
    /// The message's name.
    #[inline]
    pub(crate) fn id(&self) -> MessageId {
        MessageId { from: self.from as usize, number: self.number as usize }
    }
}

/// To whom a message goes, and whether it arrives in the very instant in which it is sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Receiver(u32);

impl Receiver {
    /// There are fewer processors, so this bit is free.
    const INSTANT: u32 = 1 << 31;

    #[inline]
    pub(crate) fn new(id: u32, is_instant: bool) -> Receiver {
        Receiver(if is_instant { id | Receiver::INSTANT } else { id })
    }

    #[inline]
    pub(crate) fn id(self) -> u32 {
        self.0 & !Receiver::INSTANT
    }

    /// Whether the message took no time on its way to another processor. A look in that instant does not see it: whether the look
    /// or the send came first would be a matter of chance.
    #[inline]
    pub(crate) fn is_instant(self) -> bool {
        self.0 & Receiver::INSTANT != 0
    }
}

impl Matched for Seen {
    #[inline]
    fn arrival(&self) -> Time {
        self.0
    }

    #[inline]
    fn from(&self) -> u32 {
        self.1.from
    }

    #[inline]
    fn number(&self) -> u32 {
        self.1.number
    }

    #[inline]
    fn tag(&self) -> RawTag {
        self.1.tag
    }
}

impl Matched for Envelope {
    #[inline]
    fn arrival(&self) -> Time {
        self.arrival
    }

    #[inline]
    fn from(&self) -> u32 {
        self.letter.outside.from
    }

    #[inline]
    fn number(&self) -> u32 {
        self.letter.outside.number
    }

    #[inline]
    fn tag(&self) -> RawTag {
        self.letter.outside.tag
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_fits_a_cache_line() {
        assert_eq!(std::mem::size_of::<Envelope>(), 64);
        assert_eq!(std::mem::size_of::<Letter>(), 56);
    }
}
