//! Which messages a receive takes.

use super::tag::RawTag;
use crate::time::Time;

/// What a matcher knows of a message.
pub(crate) trait Matched {
    /// When it is there.
    fn arrival(&self) -> Time;
    /// Its sender.
    fn from(&self) -> u32;
    /// How many messages its sender had sent before.
    fn number(&self) -> u32;
    /// What it is about.
    fn tag(&self) -> RawTag;

    /// Its place among messages: by arrival, then by sender, then as they were sent.
    #[inline]
    fn key(&self) -> Key {
        (self.arrival(), self.from(), self.number())
    }
}

/// The order of messages.
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
    /// No message.
    pub(crate) const NOTHING: Want = Want { from: Want::ANYONE, tag: RawTag::NOTHING };

    /// Messages with this tag, from a processor or any.
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

    /// What it is, in words; errors call the tag so.
    pub(crate) fn told(self, name: Option<&str>) -> String {
        let about = self.tag.told(name);
        match self.from {
            Want::ANYONE => format!("a message {about}"),
            from => format!("a message from {from} {about}"),
        }
    }
}
