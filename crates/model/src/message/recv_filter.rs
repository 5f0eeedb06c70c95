//! The filter of a receive as the machine has it: a sender and a tag without its type.

use super::tag::RawTag;
use crate::time::Time;

/// What matching needs to know of a message.
pub trait Matchable {
    /// Returns the key by which messages are ordered.
    fn key(&self) -> MatchKey;
    fn tag(&self) -> RawTag;

    #[inline]
    fn from(&self) -> u32 {
        self.key().1
    }
}

/// The moment from which its receiver can take a message, its sender, and the number of messages that the
/// sender sent before it: the order in which receives take messages.
pub type MatchKey = (Time, u32, u32);

/// The messages that a receive takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RecvFilter {
    /// The sender, or [`RecvFilter::ANY_SENDER`].
    pub from: u32,
    pub tag: RawTag,
}

impl RecvFilter {
    /// Stands for any sender. No processor has this number.
    pub const ANY_SENDER: u32 = u32::MAX;
    /// Takes no message.
    pub const NOTHING: RecvFilter = RecvFilter { from: RecvFilter::ANY_SENDER, tag: RawTag::NOTHING };

    /// Returns the filter of messages with this tag, from one processor or from any.
    #[inline]
    pub fn new(from: Option<usize>, tag: RawTag) -> RecvFilter {
        RecvFilter { from: from.map_or(RecvFilter::ANY_SENDER, |from| from as u32), tag }
    }

    /// Returns whether the receive takes this message.
    #[inline(always)]
    pub fn can_take(&self, message: &impl Matchable) -> bool {
        self.tag.can_take(message.tag())
            && (self.from == RecvFilter::ANY_SENDER || self.from == message.from())
    }

    /// Returns whether messages of several senders or tags pass.
    pub fn is_wild(&self) -> bool {
        self.from == RecvFilter::ANY_SENDER || self.tag.is_wild()
    }

    /// Describes the filter for errors; `name` is the tag's.
    pub(crate) fn describe(self, name: Option<&str>) -> String {
        let about = self.tag.display(name);
        match self.from {
            RecvFilter::ANY_SENDER => format!("a message {about}"),
            from => format!("a message from {from} {about}"),
        }
    }
}
