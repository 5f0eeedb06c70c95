//! The read of a long message by its receiver, where the receiver moves the data.

use crate::message::{MessageId, RawTag};

/// A read of a message from its sender's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataRead {
    /// The message, whose number is the one after that of its announcement.
    pub message: MessageId,
    /// The number of its announcement in the tags of its grant and of itself.
    pub announced: u32,
    pub words: u32,
}

impl DataRead {
    /// Returns the tag of the data.
    pub fn tag(self) -> RawTag {
        RawTag::granted(self.announced)
    }
}
