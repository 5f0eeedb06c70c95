//! A send or a receive that is under way: which messages it consists of, and how far it is.
//!
//! It is one message, or three if the receiver has to agree first (LogGPS, section 3.1): a request of no words, a reply of no
//! words, and the data. A processor with requests and a rank of a schedule have several operations under way, and ask each
//! for its [next](Operation::next) step.

use std::fmt;
use std::panic::Location;

use super::network::Network;
use super::pace::Outgoing;
use super::reception::Awaits;
use crate::message::parcel::Parcel;
use crate::message::{Envelope, RawTag, Want};
use crate::time::Time;
use crate::trace::ActivityKind;

/// A send or a receive that is under way.
#[derive(Debug)]
pub(crate) struct Operation {
    /// The other processor, once that is known.
    pub peer: u32,
    /// The length of the message, if it is a send.
    pub words: u32,
    pub tag: RawTag,
    /// What errors call the tag.
    pub name: Option<&'static str>,
    done: Done,
    pub stage: Stage,
    /// The data that it sends, until they are sent.
    pub parcel: Option<Parcel>,
    /// The message that it has received last.
    pub got: Option<Envelope>,
    /// The local time and more of a request; a call goes on in its processor's time.
    pub own: Option<Box<Own>>,
}

/// What a send or a receive has done last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Done {
    /// A send that has done nothing; its receiver need not agree.
    NothingOfSend,
    /// A send that has done nothing; its receiver has to agree.
    NothingOfLongSend,
    /// A send that has sent its request, which has this number.
    Asked(u32),
    /// A send that has got the reply to the request of this number.
    GotReply(u32),
    /// A receive that has done nothing.
    NothingOfReceive,
    /// A receive that has got a request, which has this number.
    WasAsked(u32),
    /// A receive that has sent the reply to the request of this number.
    Replied(u32),
    /// A send or a receive that has done everything.
    All,
}

/// What a send or a receive waits for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stage {
    /// It has not begun: its message enters after earlier ones to the same processor.
    Behind,
    /// The call has taken a message, and requests first have to do everything until that time.
    LocalTime,
    /// It waits for the turn of its message, which has this tag.
    Turn(Outgoing, RawTag),
    /// It waits for a message.
    Message(Want),
    /// It is done; a request at its own local time, which may be later than its processor's.
    Done,
}

/// What a send or a receive does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// It sends a message with this tag and so many words.
    Send(RawTag, u32),
    /// It takes a message.
    Take(Want),
    /// Nothing: it is done.
    Done,
}

/// What a request has and a call has not: a request goes on beside its processor (LogGPS, section 3.2).
#[derive(Debug)]
pub(crate) struct Own {
    /// The request's local time, from its call until it is done.
    pub now: Time,
    /// What the request did.
    pub pieces: Vec<Piece>,
    /// Whether the request is a send.
    pub sends: bool,
    /// When the program called for it.
    pub called: Time,
    /// Where in the program that was.
    pub at: &'static Location<'static>,
}

/// What a request did for a while.
#[derive(Debug)]
pub(crate) struct Piece {
    pub start: Time,
    pub end: Time,
    pub what: ActivityKind,
}

impl Operation {
    /// A send that has not begun. If it `asks`, the receiver has to agree first.
    #[inline]
    pub(crate) fn send(to: u32, tag: RawTag, words: u32, asks: bool, parcel: Option<Parcel>) -> Operation {
        let done = if asks { Done::NothingOfLongSend } else { Done::NothingOfSend };
        Operation { words, done, parcel, ..Operation::receive(Want { from: to, tag }) }
    }

    /// A receive that has not begun.
    #[inline]
    pub(crate) fn receive(Want { from, tag }: Want) -> Operation {
        let (done, stage) = (Done::NothingOfReceive, Stage::Behind);
        Operation { peer: from, words: 0, tag, name: None, done, stage, parcel: None, got: None, own: None }
    }

    /// This operation, with a name for its tag.
    #[inline]
    pub(crate) fn named(self, name: Option<&'static str>) -> Operation {
        Operation { name, ..self }
    }

    /// An operation that has nothing to do, and is done.
    pub(crate) fn nothing() -> Operation {
        let nothing = Operation::receive(Want::NOTHING);
        Operation { done: Done::All, stage: Stage::Done, ..nothing }
    }

    #[inline]
    pub(crate) fn next(&self) -> Step {
        match self.done {
            Done::NothingOfSend => Step::Send(self.tag, self.words),
            Done::NothingOfLongSend => Step::Send(self.tag.request(), 0),
            Done::Asked(number) => Step::Take(Want { from: self.peer, tag: RawTag::reply(number) }),
            Done::GotReply(number) => Step::Send(RawTag::agreed(number), self.words),
            Done::NothingOfReceive => Step::Take(Want { from: self.peer, tag: self.tag }),
            Done::WasAsked(number) => Step::Send(RawTag::reply(number), 0),
            Done::Replied(number) => Step::Take(Want { from: self.peer, tag: RawTag::agreed(number) }),
            Done::All => Step::Done,
        }
    }

    /// It has done its next step: it has sent its processor's message of this number.
    #[inline]
    pub(crate) fn has_sent(&mut self, number: u32) {
        self.done = match self.done {
            Done::NothingOfLongSend => Done::Asked(number),
            Done::WasAsked(asked) => Done::Replied(asked),
            _ => Done::All,
        }
    }

    /// It has done its next step: it has taken a message of this sender, number and tag.
    #[inline]
    pub(crate) fn has_taken(&mut self, from: u32, number: u32, tag: RawTag) {
        self.done = match self.done {
            Done::NothingOfReceive if tag.is_request() => Done::WasAsked(number),
            Done::Asked(asked) => Done::GotReply(asked),
            _ => Done::All,
        };
        if tag.is_first() {
            // A receive may have wanted any sender or tag. The data after a request do not say them again.
            (self.peer, self.tag) = (from, tag.requested());
        }
    }

    /// Whether the message that it sends next has the program's data, and is no request or reply.
    #[inline]
    pub(crate) fn sends_data(&self) -> bool {
        matches!(self.done, Done::NothingOfSend | Done::GotReply(_))
    }

    /// Whether nothing but the other processor's next step is missing: it is done, or it has sent its request or reply.
    pub(crate) fn has_met(&self) -> bool {
        match self.stage {
            Stage::Done => true,
            Stage::Message(_) => matches!(self.done, Done::Asked(_) | Done::Replied(_)),
            _ => false,
        }
    }

    /// What errors say that it waits for, on processor `id`.
    #[inline]
    pub(crate) fn awaits(&self, network: &Network, id: usize) -> Awaits {
        match self.done {
            Done::Asked(_) => {
                let S = network.between(id, self.peer as usize).gps().map_or(usize::MAX, |gps| gps.S);
                Awaits::Agreement { to: self.peer, words: self.words, S }
            }
            _ => Awaits::Message,
        }
    }

    /// The message that it has received, if it is done.
    #[inline]
    pub(crate) fn into_message(self) -> Option<Envelope> {
        if self.is_done() { self.got } else { None }
    }

    /// When an operation gives up that was to give up at `at`: never, if it has already taken a message.
    #[inline]
    pub(crate) fn gives_up(&self, at: Time) -> Time {
        if self.got.is_some() { Time::MAX } else { at }
    }

    #[inline]
    pub(crate) fn is_done(&self) -> bool {
        matches!(self.stage, Stage::Done)
    }
}

/// A request, in words.
impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(own) = &self.own else { return f.write_str("a call") };
        let (peer, words, about) = (self.peer, self.words, self.tag.told(self.name));
        match (own.sends, words, peer) {
            (true, 1, _) => write!(f, "isend of 1 word to {peer} {about}"),
            (true, ..) => write!(f, "isend of {words} words to {peer} {about}"),
            (false, _, Want::ANYONE) => write!(f, "irecv {about}"),
            (false, ..) => write!(f, "irecv from {peer} {about}"),
        }?;
        write!(f, ", called for at {} (at {})", own.called, own.at)
    }
}
