//! A message on its way from its sender to its receiver.

use super::id::MessageId;
use super::parcel::Parcel;
use super::recv_filter::{MatchKey, Matchable};
use super::tag::RawTag;
use crate::time::Time;

/// A message and the time of its arrival.
#[derive(Debug)]
pub struct ArrivedMessage {
    pub arrival: Time,
    pub message: SentMessage,
}

/// A message's arrival and header: all that is known of it before it is taken.
pub type ArrivedHeader = (Time, Header);

impl ArrivedMessage {
    #[inline]
    pub fn arrived_header(&self) -> ArrivedHeader {
        (self.arrival, self.message.header)
    }

    /// Returns a copy without the payload, for a call that looks at a message and does not take it.
    #[cold]
    pub fn without_payload(&self) -> ArrivedMessage {
        let message = SentMessage { header: self.message.header, parcel: Parcel::new(()) };
        ArrivedMessage { arrival: self.arrival, message }
    }
}

/// A message's header and payload, without its arrival.
#[derive(Debug)]
pub struct SentMessage {
    pub header: Header,
    pub parcel: Parcel,
}

/// The sender, receiver, number, length and tag of a message.
#[derive(Clone, Copy, Debug)]
pub struct Header {
    pub from: u32,
    pub to: Receiver,
    /// Number of messages that its sender sent before it.
    pub number: u32,
    pub words: u32,
    pub tag: RawTag,
}

impl Header {
    /// Added to the number of a memory's answer: it comes behind the messages of the memory's processor.
    const ANSWER: u32 = 1 << 31;

    /// Creates the header of a memory's answer, which has a number among the messages of its receiver.
    pub fn of_answer(memory: usize, to: usize, number: u32, words: usize) -> Header {
        let tag = RawTag::answer(number.wrapping_sub(1));
        let (to, number) = (Receiver::new(to as u32, false), number | Header::ANSWER);
        Header { from: memory as u32, to, number, words: words as u32, tag }
    }

    /// Returns the name of the message. An answer has one of its receiver's.
    #[inline]
    pub fn id(&self) -> MessageId {
        if self.tag.is_answer() {
            let number = self.number & !Header::ANSWER;
            return MessageId { from: self.to.id() as usize, number: number as usize };
        }
        MessageId { from: self.from as usize, number: self.number as usize }
    }
}

/// The receiver of a message, with a bit that says whether the message arrives at the moment it is sent.
#[derive(Clone, Copy, Debug)]
pub struct Receiver(u32);

impl Receiver {
    /// No processor number is so large, so this bit is free.
    const INSTANT: u32 = 1 << 31;

    #[inline]
    pub fn new(id: u32, is_instant: bool) -> Receiver {
        Receiver(if is_instant { id | Receiver::INSTANT } else { id })
    }

    #[inline]
    pub fn id(self) -> u32 {
        self.0 & !Receiver::INSTANT
    }

    /// Returns whether the message took no time on its way to another processor. A look at that moment does
    /// not see it, because chance would decide whether the look or the send came first.
    #[inline]
    pub fn is_instant(self) -> bool {
        self.0 & Receiver::INSTANT != 0
    }
}

impl Matchable for ArrivedHeader {
    #[inline]
    fn key(&self) -> MatchKey {
        (self.0, self.1.from, self.1.number)
    }

    #[inline]
    fn tag(&self) -> RawTag {
        self.1.tag
    }
}

impl Matchable for ArrivedMessage {
    #[inline]
    fn key(&self) -> MatchKey {
        self.arrived_header().key()
    }

    #[inline]
    fn tag(&self) -> RawTag {
        self.message.header.tag
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_fits_a_cache_line() {
        assert_eq!(std::mem::size_of::<ArrivedMessage>(), 64);
        assert_eq!(std::mem::size_of::<SentMessage>(), 56);
    }
}
