//! Which messages a receive takes.

use super::tag::RawTag;
use crate::time::Time;

/// A message, as far as the matcher must know it.
pub(crate) trait Matched {
    /// When its receiver can take it.
    fn arrival(&self) -> Time;
    fn from(&self) -> u32;
    /// How many messages its sender had sent before.
    fn number(&self) -> u32;
    fn tag(&self) -> RawTag;

    /// Its place among messages: by arrival, then by sender, then as they were sent.
    #[inline]
    fn key(&self) -> Key {
        (self.arrival(), self.from(), self.number())
    }
}

/// A message's arrival, sender and number: the order in which receives take messages.
pub(crate) type Key = (Time, u32, u32);

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
    pub(crate) const ANYONE: u32 = u32::MAX;
    /// Stands for no message.
    pub(crate) const NOTHING: Want = Want { from: Want::ANYONE, tag: RawTag::NOTHING };

    /// Messages with this tag, from one processor or from any.
    #[inline]
    pub(crate) fn of(from: Option<usize>, tag: RawTag) -> Want {
        Want { from: from.map_or(Want::ANYONE, |from| from as u32), tag }
    }

    /// Whether the receive takes this message.
    #[inline]
    pub(crate) fn takes(&self, message: &impl Matched) -> bool {
        self.tag.takes(message.tag()) && (self.from == Want::ANYONE || self.from == message.from())
    }

    /// Whether messages of several senders or tags will do.
    pub(crate) fn is_wild(&self) -> bool {
        self.from == Want::ANYONE || self.tag.is_wild()
    }

    /// What it stands for, in the words of errors; `name` is the tag's.
    pub(crate) fn told(self, name: Option<&str>) -> String {
        let about = self.tag.told(name);
        match self.from {
            Want::ANYONE => format!("a message {about}"),
            from => format!("a message from {from} {about}"),
        }
    }
}
