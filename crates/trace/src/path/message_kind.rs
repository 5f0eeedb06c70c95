//! The ways of messages: from a processor to another, and to and from memories.

/// The way of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageKind {
    /// Its sender sends it to a processor, which receives it.
    Sent,
    /// Its receiver reads it from its sender's memory.
    Read,
    /// It goes to a memory, which does not answer.
    Put,
    /// It asks a memory for the message after it.
    Request,
    /// It is a memory's answer to the message before it.
    Answer,
}
