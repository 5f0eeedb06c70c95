//! What travels, and which of it a receive takes.

use std::fmt;

use super::tag::{RawTag, Tag};
use crate::message::parcel::Parcel;
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
    pub fn outside(&self) -> Envelope {
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

/// Which messages a receive takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Want {
    /// The processor that they must come from, unless any will do.
    pub from: Option<u32>,
    /// The tag that they must have.
    pub tag: RawTag,
    /// What errors call the tag.
    pub name: Option<&'static str>,
}

impl Want {
    /// Messages with this tag.
    #[inline]
    pub fn of<T>(from: Option<usize>, tag: Tag<T>) -> Want {
        Want { from: from.map(|from| from as u32), tag: tag.raw, name: tag.name }
    }

    /// Whether the receive takes this message.
    #[inline]
    pub fn matches(&self, letter: &Letter) -> bool {
        self.tag.takes(letter.tag) && self.from.is_none_or(|from| from == letter.from)
    }
}

impl fmt::Display for Want {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let about = self.tag.told(self.name);
        match self.from {
            Some(from) => write!(f, "a message from {from} {about}"),
            None => write!(f, "a message {about}"),
        }
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
