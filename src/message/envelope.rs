//! What travels, and which of it a receive takes.

use super::matching::Matched;
use super::parcel::Parcel;
use super::tag::RawTag;
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Want {
    /// The processor that they must come from, or [`Want::ANYONE`].
    pub from: u32,
    /// The tag that they must have.
    pub tag: RawTag,
}

impl Want {
    /// Stands for any sender. No processor has this number.
    pub const ANYONE: u32 = u32::MAX;
    /// No message.
    pub const NOTHING: Want = Want { from: Want::ANYONE, tag: RawTag::NOTHING };

    /// Messages with this tag, from a processor or any.
    #[inline]
    pub fn of(from: Option<usize>, tag: RawTag) -> Want {
        Want { from: from.map_or(Want::ANYONE, |from| from as u32), tag }
    }

    /// Whether the receive takes this message.
    #[inline]
    pub fn takes(&self, message: &impl Matched) -> bool {
        self.tag.takes(message.tag()) && (self.from == Want::ANYONE || self.from == message.from())
    }

    /// Whether messages of several senders or tags will do.
    pub fn is_wild(&self) -> bool {
        self.from == Want::ANYONE || self.tag.is_wild()
    }

    /// What it is, in words; errors call the tag so.
    pub fn told(self, name: Option<&str>) -> String {
        let about = self.tag.told(name);
        match self.from {
            Want::ANYONE => format!("a message {about}"),
            from => format!("a message from {from} {about}"),
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
