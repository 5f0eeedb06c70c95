//! A send or a receive that is under way: which messages it takes, and how far it is.
//!
//! One message, or three where its receiver has to agree first (LogGPS, section 3.1): a request of no words, a reply of no
//! words, and what was to be sent. Whoever has several under way, a program's requests or a schedule's rank, asks each what
//! comes [next](Operation::next).

use std::fmt;
use std::panic::Location;

use super::network::Network;
use super::pace::Outgoing;
use super::reception::Awaits;
use crate::message::parcel::Parcel;
use crate::message::{Letter, RawTag, Want};
use crate::time::Time;
use crate::trace::ActivityKind;

/// A send or a receive that is under way.
#[derive(Debug)]
pub(crate) struct Operation {
    /// The other processor, once that is known.
    pub peer: u32,
    /// How long the message is, if it is a send.
    pub words: u32,
    /// What the message is about.
    pub tag: RawTag,
    /// What errors call the tag.
    pub name: Option<&'static str>,
    /// What it has done last.
    done: Done,
    /// What it waits for.
    pub stage: Stage,
    /// What it sends.
    pub parcel: Option<Parcel>,
    /// What it has received last.
    pub letter: Option<Letter>,
    /// When that was there.
    pub came: Time,
    /// What it has of its own, if it is a request; else it is done in its processor's time.
    pub own: Option<Box<Own>>,
}

/// What a send or a receive has done last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Done {
    /// Nothing: it sends what its receiver need not agree to.
    NothingOfSend,
    /// Nothing: it sends what its receiver has to agree to.
    NothingOfLongSend,
    /// It has asked, by the message of this number.
    Asked(u32),
    /// Its receiver has agreed to that message.
    GotReply(u32),
    /// Nothing: it receives.
    NothingOfReceive,
    /// It was asked, by the message of this number.
    WasAsked(u32),
    /// It has agreed to that message.
    Replied(u32),
    /// Everything.
    All,
}

/// What a send or a receive waits for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stage {
    /// Its message goes after others to the same processor.
    Behind,
    /// Its processor, which has taken a message for the call, to get there: what requests have to do until then is first.
    LocalTime,
    /// The turn of its message, which has this tag.
    Turn(Outgoing, RawTag),
    /// A message.
    Message(Want),
    /// Nothing: it is done, when its own time says if it has one.
    Done,
}

/// What comes next for a send or a receive, once it has done all before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Send a message with this tag and so many words.
    Send(RawTag, u32),
    /// Take a message.
    Take(Want),
    /// Nothing: it is done.
    Done,
}

/// What a request has of its own, which goes on beside its processor (LogGPS, section 3.2).
#[derive(Debug)]
pub(crate) struct Own {
    /// Its local time, from its call on; once it is done, when it was.
    pub now: Time,
    /// What it did.
    pub pieces: Vec<Piece>,
    /// Whether it is a send.
    pub sends: bool,
    /// When it was called for.
    pub called: Time,
    /// Where in the program.
    pub at: &'static Location<'static>,
}

/// What a request did for a while.
#[derive(Debug)]
pub(crate) struct Piece {
    /// When that began.
    pub start: Time,
    /// When it was over.
    pub end: Time,
    /// What it was.
    pub what: ActivityKind,
}

impl Operation {
    /// A send that has not begun. If it `asks`, its receiver has to agree first.
    #[inline]
    pub(crate) fn send(to: u32, tag: RawTag, words: u32, asks: bool, parcel: Option<Parcel>) -> Operation {
        let done = if asks { Done::NothingOfLongSend } else { Done::NothingOfSend };
        Operation { peer: to, words, done, parcel, ..Operation::receive(Want { from: to, tag }) }
    }

    /// A receive that has not begun.
    #[inline]
    pub(crate) fn receive(Want { from, tag }: Want) -> Operation {
        let (done, stage) = (Done::NothingOfReceive, Stage::Behind);
        Operation {
            peer: from,
            words: 0,
            tag,
            name: None,
            done,
            stage,
            parcel: None,
            letter: None,
            came: Time::ZERO,
            own: None,
        }
    }

    /// The same, of which errors call the tag so.
    #[inline]
    pub(crate) fn named(self, name: Option<&'static str>) -> Operation {
        Operation { name, ..self }
    }

    /// Nothing, which is done.
    pub(crate) fn nothing() -> Operation {
        let nothing = Operation::receive(Want::NOTHING);
        Operation { done: Done::All, stage: Stage::Done, ..nothing }
    }

    /// What comes next.
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

    /// It has sent what came next, as its processor's message of this number.
    #[inline]
    pub(crate) fn has_sent(&mut self, number: u32) {
        self.done = match self.done {
            Done::NothingOfLongSend => Done::Asked(number),
            Done::WasAsked(asked) => Done::Replied(asked),
            _ => Done::All,
        }
    }

    /// It has taken what came next: a message of this sender, number and tag.
    #[inline]
    pub(crate) fn has_taken(&mut self, from: u32, number: u32, tag: RawTag) {
        self.done = match self.done {
            Done::NothingOfReceive if tag.is_request() => Done::WasAsked(number),
            Done::Asked(asked) => Done::GotReply(asked),
            _ => Done::All,
        };
        if tag.is_first() {
            // Which of any it is: of a long message only the request says.
            (self.peer, self.tag) = (from, tag.requested());
        }
    }

    /// Whether what it has to send next is what the program sends, and not only announces that.
    #[inline]
    pub(crate) fn sends_data(&self) -> bool {
        matches!(self.done, Done::NothingOfSend | Done::GotReply(_))
    }

    /// Whether the other processor knows of it, and is to act: it is done, or both have met and it waits for the rest.
    pub(crate) fn has_met(&self) -> bool {
        match self.stage {
            Stage::Done => true,
            Stage::Message(_) => matches!(self.done, Done::Asked(_) | Done::Replied(_)),
            _ => false,
        }
    }

    /// What errors say that it waits for.
    #[inline]
    pub(crate) fn awaits(&self, network: &Network) -> Awaits {
        let S = network.params().gps().map_or(usize::MAX, |gps| gps.S);
        match self.done {
            Done::Asked(_) => Awaits::Agreement { to: self.peer, words: self.words, S },
            _ => Awaits::Message,
        }
    }

    /// The message that it has received, if it is done.
    #[inline]
    pub(crate) fn into_letter(self) -> Option<Letter> {
        if self.is_done() { self.letter } else { None }
    }

    /// When it gives up that was to give up at a moment: what has begun goes on to its end.
    #[inline]
    pub(crate) fn gives_up(&self, at: Time) -> Time {
        if self.letter.is_some() { Time::MAX } else { at }
    }

    /// Whether it is done.
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
