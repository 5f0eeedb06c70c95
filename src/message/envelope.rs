//! A message as it travels from its sender to its receiver.

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

impl Envelope {
    /// A copy without the payload, for those who look at a message and do not take it.
    #[cold]
    pub(crate) fn outside(&self) -> Envelope {
        let Letter { from, to, number, words, tag, .. } = self.letter;
        let letter = Letter { from, to, number, words, tag, parcel: Parcel::new(()) };
        Envelope { arrival: self.arrival, letter }
    }
}

/// A message without its arrival.
#[derive(Debug)]
pub(crate) struct Letter {
    pub from: u32,
    pub to: u32,
    /// How many messages its sender had sent before.
    pub number: u32,
    pub words: u32,
    pub tag: RawTag,
    /// The payload.
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
