//! The calls of a program, with their arguments and results, from which the run can be repeated.
//!
//! A collective is recorded as its sends and receives. A processor's local time passes only in its calls, so
//! each call begins when the one before it ends.

use std::borrow::Cow;
use std::fmt;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use smallvec::SmallVec;

use crate::message::{MessageId, RawTag, Tag};
use crate::text::escaped;
use crate::time::Time;

/// A call of a processor's program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The processor.
    pub id: usize,
    /// The time of the call.
    pub start: Time,
    /// The time at which the program continued.
    pub end: Time,
    /// The kind of call, with arguments and results.
    pub kind: CallKind,
}

/// A kind of call, with its arguments and results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallKind {
    /// Compute: this kind of work, for as long as the call lasts. Where work is measured, the program's own
    /// code between two calls has the kind `code`.
    Work(Cow<'static, str>),
    /// Wait for this moment, if it is still to come.
    WaitUntil(Time),
    /// Send a message.
    Send {
        /// The receiver.
        to: usize,
        /// Tag of the message.
        tag: CallTag,
        /// Size of the message in bytes, as it is charged.
        bytes: usize,
        /// The message.
        sent: Transfer,
    },
    /// Receive a message, or look for one.
    Receive {
        /// The sender, or `None` for any.
        from: Option<usize>,
        /// Tag of the message.
        tag: CallTag,
        /// The end of the wait.
        until: Until,
        /// The message, or `None` if none arrived.
        #[serde(rename = "got", default, skip_serializing_if = "Option::is_none")]
        received: Option<Transfer>,
    },
    /// Send a message and receive one with the same tag.
    SendRecv(Box<SendRecv>),
    /// Look for a message and leave it where it is.
    Probe {
        /// The sender, or `None` for any.
        from: Option<usize>,
        /// Tag of the message.
        tag: CallTag,
        /// The sender of the message that was found, or `None`.
        #[serde(rename = "saw")]
        found: Option<usize>,
    },
    /// Wait in the machine's own barrier.
    Barrier,
    /// Start a send and return a request.
    Isend {
        /// The request's number: how many requests the processor had made before.
        request: u32,
        /// The receiver.
        to: usize,
        /// Tag of the message.
        tag: CallTag,
        /// Size of the message in bytes, as it is charged.
        bytes: usize,
    },
    /// Start a receive and return a request.
    Irecv {
        /// The request's number: how many requests the processor had made before.
        request: u32,
        /// The sender, or `None` for any.
        from: Option<usize>,
        /// Tag of the message.
        tag: CallTag,
    },
    /// Wait for a request or for one of several, or find with a test that one is done.
    Wait {
        /// The request that was done.
        request: u32,
        /// `true` for a send, `false` for a receive.
        #[serde(rename = "sends")]
        is_send: bool,
        /// The message of the request.
        transfer: Transfer,
    },
    /// Test a request that is not done.
    Test {
        /// The request.
        request: u32,
    },
    /// Put something into a processor's memory, or get something from there.
    OneSided {
        /// The processor.
        to: usize,
        /// Size in bytes of what goes there.
        bytes: usize,
        /// Size in bytes of what comes back, or `None` if nothing does.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        back: Option<usize>,
        /// The request's number, if the call starts one and returns it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        request: Option<u32>,
        /// The message, and as request and reply what goes and what comes back; `None` if a request does.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sent: Option<Transfer>,
    },
    /// Wait until all is there that the processor has put into the memory of one, or of all.
    Flush {
        /// The processor, or `None` for all.
        to: Option<usize>,
    },
}

/// Arguments and results of `Proc::send_recv`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SendRecv {
    /// The receiver of the message that is sent.
    pub to: usize,
    /// The sender of the message that is received.
    pub from: usize,
    /// Tag of both messages.
    pub tag: CallTag,
    /// Size in bytes of the message that is sent, as it is charged.
    pub bytes: usize,
    /// The message that was sent.
    pub sent: Transfer,
    /// The message that was received.
    #[serde(rename = "got")]
    pub received: Transfer,
}

/// A message as one of its ends sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transfer {
    /// The message that carries the value.
    pub message: MessageId,
    /// The rendezvous before a long message (LogGPS, section 3.1), or `None` for others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rendezvous: Option<Box<Rendezvous>>,
}

/// The request and the reply before a message that waits for its receiver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rendezvous {
    /// The sender's request.
    pub request: MessageId,
    /// The receiver's reply.
    pub reply: MessageId,
}

/// The end of a receive's wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Until {
    /// Until a message arrives.
    #[serde(rename = "come")]
    Arrival,
    /// Until this moment. If it has passed, the receive only looks for a message that is there, which costs a
    /// cycle if there is none.
    Moment(Time),
    /// Until the gap before a send is over, namely the next send after a receive of this kind that found no
    /// message. See `Proc::send_receiving`.
    GapOver,
}

/// A tag as a trace records it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CallTag {
    /// A number that is different for each tag. Collectives' tags have numbers that a program cannot use.
    #[serde(serialize_with = "write_hex", deserialize_with = "read_hex")]
    pub number: u64,
    /// The program's name for the tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Cow<'static, str>>,
}

/// Writes a tag's number as text, because viewers that save a file again round large numbers.
fn write_hex<S: Serializer>(number: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{number:x}"))
}

fn read_hex<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let text = String::deserialize(deserializer)?;
    u64::from_str_radix(&text, 16).map_err(|_| {
        D::Error::custom(format_args!("a tag's number is {:?}, and no hexadecimal one", escaped(&text)))
    })
}

impl CallTag {
    /// Records a tag.
    #[doc(hidden)]
    pub fn new<T>(tag: Tag<T>) -> CallTag {
        CallTag { number: tag.raw.number(), name: tag.name.map(Cow::Borrowed) }
    }

    /// Returns a description of this tag without its step: `tag 3 (row)`, or for a collective its kind, `a
    /// broadcast`.
    pub fn about(&self) -> String {
        RawTag::from_number(self.number).description(self.name.as_deref())
    }

    /// Returns the group whose collective uses this tag, or `None` if the tag is a program's; group 0 is all
    /// processors.
    #[doc(hidden)]
    pub fn group(&self) -> Option<u32> {
        RawTag::from_number(self.number).group()
    }
}

/// As in errors: `with tag 3 (row), step 2`.
impl fmt::Display for CallTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        RawTag::from_number(self.number).display(self.name.as_deref()).fmt(f)
    }
}

impl CallKind {
    /// Returns the name of the method that was called.
    pub fn name(&self) -> &'static str {
        match self {
            CallKind::Work(_) => "work",
            CallKind::WaitUntil(_) => "wait_until",
            CallKind::Send { .. } => "send",
            CallKind::Receive { until: Until::Arrival, .. } => "recv",
            CallKind::Receive { until: Until::Moment(_), .. } => "recv_deadline",
            CallKind::Receive { until: Until::GapOver, .. } => "recv in the gap",
            CallKind::SendRecv(_) => "send_recv",
            CallKind::Probe { .. } => "probe",
            CallKind::Barrier => "barrier",
            CallKind::Isend { .. } => "isend",
            CallKind::Irecv { .. } => "irecv",
            CallKind::Wait { .. } => "wait",
            CallKind::Test { .. } => "test",
            CallKind::OneSided { back: None, .. } => "put",
            CallKind::OneSided { .. } => "get",
            CallKind::Flush { .. } => "flush",
        }
    }

    /// Returns the tag, or `None` if the call has none. The tag of a `wait` is that of its `isend` or
    /// `irecv`.
    pub fn tag(&self) -> Option<&CallTag> {
        self.parts().tag
    }

    /// Returns the message that was sent, or `None`. The message of an `isend` is that of its `wait`.
    pub fn sent(&self) -> Option<&Transfer> {
        self.parts().sent
    }

    /// Returns the message that was received, or `None`.
    pub fn received(&self) -> Option<&Transfer> {
        self.parts().received
    }

    /// Returns the parts of the call.
    #[doc(hidden)]
    pub fn parts(&self) -> CallParts<'_> {
        let parts = CallParts::default();
        match self {
            CallKind::Work(_) | CallKind::WaitUntil(_) | CallKind::Barrier => parts,
            CallKind::Send { to, tag, bytes, sent } => {
                CallParts { tag: Some(tag), to_send: Some((*to, *bytes)), sent: Some(sent), ..parts }
            }
            CallKind::Receive { from, tag, received, .. } => {
                CallParts { tag: Some(tag), from: *from, received: received.as_ref(), ..parts }
            }
            CallKind::SendRecv(both) => CallParts {
                tag: Some(&both.tag),
                to_send: Some((both.to, both.bytes)),
                from: Some(both.from),
                sent: Some(&both.sent),
                received: Some(&both.received),
                ..parts
            },
            CallKind::Probe { from, tag, found } => {
                CallParts { tag: Some(tag), from: *from, found: *found, ..parts }
            }
            CallKind::Isend { request, to, tag, bytes } => {
                CallParts { request: Some(*request), tag: Some(tag), to_send: Some((*to, *bytes)), ..parts }
            }
            CallKind::Irecv { request, from, tag } => {
                CallParts { request: Some(*request), tag: Some(tag), from: *from, ..parts }
            }
            CallKind::Wait { request, is_send: true, transfer } => {
                CallParts { request: Some(*request), sent: Some(transfer), ..parts }
            }
            CallKind::Wait { request, is_send: false, transfer } => {
                CallParts { request: Some(*request), received: Some(transfer), ..parts }
            }
            CallKind::Test { request } => CallParts { request: Some(*request), ..parts },
            CallKind::OneSided { request, .. } => CallParts { request: *request, ..parts },
            CallKind::Flush { .. } => parts,
        }
    }

    /// Replaces the group's number `n` in the tag by `numbers[n]`.
    pub(crate) fn regroup(&mut self, numbers: &[u32]) {
        let tag = match self {
            CallKind::Send { tag, .. } | CallKind::Isend { tag, .. } | CallKind::Probe { tag, .. } => tag,
            CallKind::Receive { tag, .. } | CallKind::Irecv { tag, .. } => tag,
            CallKind::SendRecv(both) => &mut both.tag,
            _ => return,
        };
        tag.number = RawTag::from_number(tag.number).with_renumbered_group(numbers).number();
    }
}

/// The arguments and results that calls of several kinds have.
#[derive(Default)]
pub struct CallParts<'a> {
    /// The request that the call makes, waits for or tests.
    pub request: Option<u32>,
    pub tag: Option<&'a CallTag>,
    /// The receiver and the bytes of the message that it sends.
    pub to_send: Option<(usize, usize)>,
    /// The source that it names.
    pub from: Option<usize>,
    /// The sender of the message that it found and left.
    pub found: Option<usize>,
    /// The message that was sent when the call ended.
    pub sent: Option<&'a Transfer>,
    /// The message that was received when the call ended.
    pub received: Option<&'a Transfer>,
}

impl Transfer {
    /// Returns the first message: the request of a rendezvous, or the message itself.
    #[doc(hidden)]
    pub fn first(&self) -> MessageId {
        self.rendezvous.as_ref().map_or(self.message, |rendezvous| rendezvous.request)
    }

    /// Creates a transfer of a message, with the request and the reply of its rendezvous if there was one.
    pub(crate) fn new(message: MessageId, rendezvous: Option<(MessageId, MessageId)>) -> Transfer {
        let rendezvous = rendezvous.map(|(request, reply)| Box::new(Rendezvous { request, reply }));
        Transfer { message, rendezvous }
    }
}

impl Until {
    /// Returns the end of a wait with this deadline.
    #[doc(hidden)]
    pub fn from_deadline(deadline: Time) -> Until {
        if deadline == Time::MAX { Until::Arrival } else { Until::Moment(deadline) }
    }
}

/// Messages that a processor sent (`true`) or received during its current call, with their tags.
#[derive(Clone, Debug, Default)]
pub struct CallMessages(SmallVec<[(bool, RawTag, MessageId); 1]>);

impl CallMessages {
    /// Adds a message that was sent, or received.
    pub(crate) fn add(&mut self, is_send: bool, tag: RawTag, id: MessageId) {
        self.0.push((is_send, tag, id));
    }

    /// Forgets all messages, at the end of a call.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns the message that the program sent, or `None`: a send does nothing while the program unwinds.
    pub fn sent(&self) -> Option<Transfer> {
        self.transfer(true)
    }

    /// Returns the message that the program received, or `None`.
    pub fn received(&self) -> Option<Transfer> {
        self.transfer(false)
    }

    /// Returns the message that was sent to a memory, with its answer if there is one.
    pub fn one_sided(&self) -> Option<Transfer> {
        let sent = self.0.iter().find(|(sends, tag, _)| *sends && tag.is_one_sided())?.2;
        let answer = self.0.iter().find(|(_, tag, _)| tag.is_answer());
        Some(Transfer::new(sent, answer.map(|(.., answer)| (sent, *answer))))
    }

    /// Returns the message that was sent (`is_send`) or received, with the request in the same direction and
    /// the reply in the other.
    fn transfer(&self, is_send: bool) -> Option<Transfer> {
        let find = |is_send: bool, which: fn(RawTag) -> bool| {
            self.0.iter().find(|(sends, tag, _)| *sends == is_send && which(*tag)).map(|(.., id)| *id)
        };
        let announced = find(is_send, RawTag::is_announce);
        // Data have their announcement's sender. Those that their receiver reads have the next number, and no call of
        // their sender sends them.
        let data = || {
            let MessageId { from, number } = announced?;
            let is_data = |(sends, tag, id): &&(bool, RawTag, MessageId)| {
                *sends == is_send && id.from == from && !tag.is_start_of_send() && !tag.is_grant()
            };
            let offered = MessageId { from, number: number + 1 };
            Some(self.0.iter().find(is_data).map_or(offered, |(.., id)| *id))
        };
        let message = find(is_send, |tag| tag.is_start_of_send() && !tag.is_announce()).or_else(data)?;
        Some(Transfer::new(message, announced.zip(find(!is_send, RawTag::is_grant))))
    }
}
