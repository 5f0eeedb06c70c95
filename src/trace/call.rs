//! What a program called: each call with what it asked for and what came of it, so that the run can be made again.
//!
//! Collectives are made of sends and receives, and these are what is noted. A processor's local time passes in its calls
//! alone: so each call begins when the one before it has ended.

use std::borrow::Cow;
use std::fmt;

use crate::message::{MessageId, RawTag, Tag};
use crate::time::Time;

/// A call of a processor's program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The processor.
    pub id: usize,
    /// When it was called.
    pub start: Time,
    /// When the program went on.
    pub end: Time,
    /// What was called.
    pub what: CallKind,
}

/// What a program can call, with what it gave and what it got.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallKind {
    /// Compute: this kind of work, for as long as the call lasts. Where work is measured, the program's own code between
    /// two calls is one of the kind `code`.
    Work(Cow<'static, str>),
    /// Wait for this moment, if it is still to come.
    WaitUntil(Time),
    /// Send a message.
    Send {
        /// The receiver.
        to: usize,
        /// What it is about.
        tag: CallTag,
        /// For how many bytes it counts.
        bytes: usize,
        /// The message.
        sent: Transfer,
    },
    /// Receive a message, or look for one.
    Receive {
        /// From whom, unless anyone would do.
        from: Option<usize>,
        /// What about.
        tag: CallTag,
        /// For how long.
        until: Until,
        /// The message that came, if one did.
        got: Option<Transfer>,
    },
    /// Send a message and receive one with the same tag.
    SendRecv(Box<SendRecv>),
    /// Look for a message and leave it where it is.
    Probe {
        /// From whom, unless anyone would do.
        from: Option<usize>,
        /// What about.
        tag: CallTag,
        /// The sender of the one that was there, if one was.
        saw: Option<usize>,
    },
    /// Wait in the machine's own barrier.
    Barrier,
    /// Call for a send.
    Isend {
        /// How many requests the processor had called for before.
        request: u32,
        /// The receiver.
        to: usize,
        /// What the message is about.
        tag: CallTag,
        /// For how many bytes it counts.
        bytes: usize,
    },
    /// Call for a receive.
    Irecv {
        /// How many requests the processor had called for before.
        request: u32,
        /// From whom, unless anyone would do.
        from: Option<usize>,
        /// What about.
        tag: CallTag,
    },
    /// Wait for a request, for one of several, or look for one that was done.
    Wait {
        /// The one that was done.
        request: u32,
        /// Whether it is a send.
        sends: bool,
        /// Its message.
        transfer: Transfer,
    },
    /// Look for a request that was not done.
    Test {
        /// The request.
        request: u32,
    },
}

/// What [`Proc::send_recv`](crate::Proc::send_recv) was given, and what it got.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SendRecv {
    /// The receiver of the message that is sent.
    pub to: usize,
    /// The sender of the one that is received.
    pub from: usize,
    /// What both are about.
    pub tag: CallTag,
    /// For how many bytes the message that is sent counts.
    pub bytes: usize,
    /// The message that was sent.
    pub sent: Transfer,
    /// The message that was received.
    pub got: Transfer,
}

/// A message, as one of its ends called for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// The message that carries the value.
    pub message: MessageId,
    /// How its receiver agreed to it, if it had to (LogGPS, section 3.1).
    pub rendezvous: Option<Box<Rendezvous>>,
}

/// The two messages before one that waits for its receiver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendezvous {
    /// The sender asks.
    pub request: MessageId,
    /// The receiver agrees.
    pub reply: MessageId,
}

/// For how long a receive waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Until {
    /// Until a message comes.
    Come,
    /// Until this moment. One that has passed means now: a look, which costs a cycle if there is nothing.
    Moment(Time),
    /// Until the gap before a send is over, which is the processor's next one behind such a look in vain: see
    /// [`Proc::send_receiving`](crate::Proc::send_receiving).
    GapOver,
}

/// What a message is about, as a trace tells it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CallTag {
    /// The number that tells it from all others. The collectives' tags have numbers that no program can name.
    pub number: u64,
    /// What the program calls it.
    pub name: Option<Cow<'static, str>>,
}

impl CallTag {
    /// A tag without its type.
    pub(crate) fn of<T>(tag: Tag<T>) -> CallTag {
        CallTag { number: tag.raw.number(), name: tag.name.map(Cow::Borrowed) }
    }

    /// What messages with this tag and those of its other steps are about: `tag 3 (row)`, or for a collective's its kind,
    /// `a broadcast`.
    pub fn about(&self) -> String {
        RawTag::numbered(self.number).line(self.name.as_deref())
    }

    /// The group to whose collective a message with this tag belongs, if to any; group 0 is all processors.
    pub(crate) fn group(&self) -> Option<u32> {
        RawTag::numbered(self.number).group()
    }
}

/// As errors say it: `with tag 3 (row), step 2`.
impl fmt::Display for CallTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        RawTag::numbered(self.number).told(self.name.as_deref()).fmt(f)
    }
}

/// The send before which a processor receives while the gap runs, by its calls from such a receive on: the place among
/// them, and the call. The last look before it was in vain.
pub(crate) fn send_after_gap(calls: &[Call]) -> Option<(usize, &Call)> {
    let is_it = |two: &[Call]| {
        let look = matches!(two[0].what, CallKind::Receive { until: Until::GapOver, got: None, .. });
        look && matches!(two[1].what, CallKind::Send { .. })
    };
    let place = 1 + calls.windows(2).position(is_it)?;
    Some((place, &calls[place]))
}

impl CallKind {
    /// What the program calls it.
    pub fn name(&self) -> &'static str {
        match self {
            CallKind::Work(_) => "work",
            CallKind::WaitUntil(_) => "wait_until",
            CallKind::Send { .. } => "send",
            CallKind::Receive { until: Until::Come, .. } => "recv",
            CallKind::Receive { until: Until::Moment(_), .. } => "recv_until",
            CallKind::Receive { until: Until::GapOver, .. } => "recv in the gap",
            CallKind::SendRecv(_) => "send_recv",
            CallKind::Probe { .. } => "probe",
            CallKind::Barrier => "barrier",
            CallKind::Isend { .. } => "isend",
            CallKind::Irecv { .. } => "irecv",
            CallKind::Wait { .. } => "wait",
            CallKind::Test { .. } => "test",
        }
    }

    /// What it is about, if it says so. What a `wait` waits for is about what its `isend` or `irecv` says.
    pub fn tag(&self) -> Option<&CallTag> {
        match self {
            CallKind::Send { tag, .. } | CallKind::Isend { tag, .. } => Some(tag),
            CallKind::Receive { tag, .. } | CallKind::Irecv { tag, .. } | CallKind::Probe { tag, .. } => {
                Some(tag)
            }
            CallKind::SendRecv(both) => Some(&both.tag),
            _ => None,
        }
    }

    /// Gives its group the number that is here at the place of the one that it has.
    pub(crate) fn regroup(&mut self, numbers: &[u32]) {
        let tag = match self {
            CallKind::Send { tag, .. } | CallKind::Isend { tag, .. } | CallKind::Probe { tag, .. } => tag,
            CallKind::Receive { tag, .. } | CallKind::Irecv { tag, .. } => tag,
            CallKind::SendRecv(both) => &mut both.tag,
            _ => return,
        };
        tag.number = RawTag::numbered(tag.number).regrouped(numbers).number();
    }

    /// The message that it sent, if it sent one. What an `isend` sends, its `wait` has.
    pub fn sent(&self) -> Option<&Transfer> {
        match self {
            CallKind::Send { sent, .. } | CallKind::Wait { sends: true, transfer: sent, .. } => Some(sent),
            CallKind::SendRecv(both) => Some(&both.sent),
            _ => None,
        }
    }

    /// The message that it received, if it received one.
    pub fn got(&self) -> Option<&Transfer> {
        match self {
            CallKind::Receive { got, .. } => got.as_ref(),
            CallKind::Wait { sends: false, transfer: got, .. } => Some(got),
            CallKind::SendRecv(both) => Some(&both.got),
            _ => None,
        }
    }
}

impl Transfer {
    /// A message, with its request and its reply if there is a reply.
    pub(crate) fn of(message: MessageId, rendezvous: Option<(MessageId, MessageId)>) -> Transfer {
        let rendezvous = rendezvous.map(|(request, reply)| Box::new(Rendezvous { request, reply }));
        Transfer { message, rendezvous }
    }
}

impl Until {
    /// The deadline of a receive.
    pub(crate) fn deadline(deadline: Time) -> Until {
        if deadline == Time::MAX { Until::Come } else { Until::Moment(deadline) }
    }
}

/// The messages of the call that a processor is in.
#[derive(Debug, Default)]
pub(crate) struct Parts(Vec<Part>);

/// A message that a processor sent or took during a call.
#[derive(Clone, Copy, Debug)]
struct Part {
    /// Whether it sent the message.
    sends: bool,
    /// What the message is about, which says whether it is a request or a reply.
    tag: RawTag,
    /// The message.
    id: MessageId,
}

impl Parts {
    /// The processor has sent a message.
    pub(crate) fn sends(&mut self, tag: RawTag, id: MessageId) {
        self.0.push(Part { sends: true, tag, id });
    }

    /// The processor has taken a message.
    pub(crate) fn takes(&mut self, tag: RawTag, id: MessageId) {
        self.0.push(Part { sends: false, tag, id });
    }

    /// The call is over.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// The message that the program sent, if it did: a send goes nowhere while the program unwinds.
    pub(crate) fn sent(&self) -> Option<Transfer> {
        self.transfer(true)
    }

    /// The message that the program received, if it did.
    pub(crate) fn got(&self) -> Option<Transfer> {
        self.transfer(false)
    }

    /// The message that went one way, with the request that went the same way and the reply that went the other.
    fn transfer(&self, sends: bool) -> Option<Transfer> {
        let find = |sends: bool, which: fn(RawTag) -> bool| {
            let part = self.0.iter().find(|part| part.sends == sends && which(part.tag));
            part.map(|part| part.id)
        };
        let message = find(sends, |tag| !tag.is_request() && !tag.is_reply())?;
        Some(Transfer::of(message, find(sends, RawTag::is_request).zip(find(!sends, RawTag::is_reply))))
    }
}
