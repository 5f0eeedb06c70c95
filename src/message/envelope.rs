//! What travels.

use super::parcel::Parcel;
use super::tag::RawTag;
use super::want::Matched;
use crate::time::Time;

/// A message on its way.
#[derive(Debug)]
pub(crate) struct Envelope {
    /// When it is there.
    pub arrival: Time,
    /// The message.
    pub letter: Letter,
}

impl Envelope {
    /// What can be seen of it without taking it: all but what it carries.
    #[cold]
    pub(crate) fn outside(&self) -> Envelope {
        let Letter { from, to, number, words, tag, .. } = self.letter;
        let letter = Letter { from, to, number, words, tag, parcel: Parcel::new(()) };
        Envelope { arrival: self.arrival, letter }
    }
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
    pub tag: RawTag,
    /// What it carries.
    pub parcel: Parcel,
}

impl Matched for Envelope {
    #[inline]
    fn arrival(&self) -> Time {
        self.arrival
    }

    #[inline]
    fn from(&self) -> u32 {
        self.letter.from
    }

    #[inline]
    fn number(&self) -> u32 {
        self.letter.number
    }

    #[inline]
    fn tag(&self) -> RawTag {
        self.letter.tag
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
