//! A send or a receive that is under way: the messages that it consists of, and its progress.
//!
//! It is one message, or three if the receiver has to agree first (LogGPS, section 3.1): its announcement, the
//! receiver's grant, and the data. The first two, the paper's request and reply, have no words. Where the receiver
//! [pulls](Protocol::Pull), it reads the data before it sends the grant, which says that it has them. A processor with
//! requests and a rank of a schedule have several operations under way, and ask each for its
//! [next step](ActiveOperation::next_step).

use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use super::message_wait::WaitReason;
use super::network::Network;
use super::rank::OutgoingMessage;
use crate::log::Activity;
use crate::message::parcel::Parcel;
use crate::message::{ArrivedMessage, Header, MessageId, Pack, Payload, RawTag, RecvFilter};
use crate::time::Time;
use crate::transport::{DataRead, Protocol};

/// A send or a receive that is under way.
#[derive(Debug)]
pub struct ActiveOperation {
    /// The other processor, or any until it is known.
    pub peer: u32,
    /// The length of the message, if this is a send or the message is read.
    pub words: u32,
    pub tag: RawTag,
    /// The name of the tag, for errors.
    pub name: Option<&'static str>,
    last_step: LastStep,
    pub stage: OperationStage,
    /// The data of a send until they are sent, or of a receive until they are read.
    pub parcel: Option<Parcel>,
    /// The last message that was received.
    pub received: Option<ArrivedMessage>,
    /// The state of a request; `None` for a call, which runs in its processor's local time.
    pub request: Option<Box<RequestState>>,
}

/// The last step that a send or a receive has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LastStep {
    /// A send whose receiver need not agree.
    SendNotStarted,
    /// A send whose receiver has to agree.
    LongSendNotStarted,
    /// A send has sent its announcement, whose number this is.
    SentAnnounce(u32),
    /// A send has received the grant of the announcement of this number.
    ReceivedGrant(u32),
    /// A send whose receiver reads the data.
    OfferNotStarted,
    /// A send has sent its announcement, whose number this is, and its receiver reads the data.
    SentOffer(u32),
    /// A request to a processor's memory.
    RequestNotStarted,
    /// A request, whose number this is, is sent.
    SentRequest(u32),
    ReceiveNotStarted,
    /// A receive has received an announcement, whose number this is.
    ReceivedAnnounce(u32),
    /// A receive has sent the grant of the announcement of this number.
    SentGrant(u32),
    /// A receive has received an announcement, which has this number in tags and this one among its sender's
    /// messages, and reads the data.
    ReceivedOffer(u32, u32),
    /// A receive has asked for the data of the announcement of this number.
    AskedForData(u32),
    /// A receive has read the data of the announcement of this number.
    HasRead(u32),
    Everything,
}

/// The event that a send or a receive waits for.
#[derive(Clone, Copy, Debug)]
pub enum OperationStage {
    /// Not started yet: a send may wait until earlier messages to the same processor have been served.
    Queued,
    /// A call has received a message, and requests must first catch up with its reception.
    AwaitLocalTime,
    /// The turn of its message, which has this tag.
    AwaitTurn(OutgoingMessage, RawTag),
    AwaitMessage(RecvFilter),
    /// Room for its message, which has this tag, at both ends.
    AwaitRoom(OutgoingMessage, RawTag),
    /// Nothing. A request is done at its own local time, which may be later than its processor's.
    Done,
}

/// The next step of a send or a receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationStep {
    /// Send a message with this tag and number of words.
    Send(RawTag, u32),
    /// Read a message from its sender's memory.
    Read(DataRead),
    Receive(RecvFilter),
    Done,
}

/// The state of a request, which runs beside its processor (LogGPS, section 3.2). A call has none.
#[derive(Debug)]
pub struct RequestState {
    pub number: u32,
    /// The request's local time, from its call until it is done.
    pub now: Time,
    pub activities: Vec<Activity>,
    pub is_send: bool,
    pub called_at: Time,
    /// The call in the program.
    pub location: &'static Location<'static>,
    /// Of a long message that it sends.
    agreement: Option<Arc<Agreement>>,
}

/// The decision on a long message: its receiver agrees to it, or its sender withdraws it, whoever is first.
#[derive(Debug, Default)]
pub struct Agreement(AtomicU8);

impl Agreement {
    const AGREED: u8 = 1;
    const WITHDRAWN: u8 = 2;

    /// Decides, and returns whether that has come first.
    fn decide(&self, what: u8) -> bool {
        self.0.compare_exchange(0, what, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    fn is_withdrawn(&self) -> bool {
        self.0.load(Ordering::Relaxed) == Agreement::WITHDRAWN
    }
}

/// The value of an announcement.
struct Announcement {
    /// That of a request, which may be withdrawn.
    agreement: Option<Arc<Agreement>>,
    /// Data that the receiver reads, and their length in words.
    data: Option<(u32, Parcel)>,
}

impl Payload for Announcement {
    fn bytes(&self) -> usize {
        0
    }

    /// Nothing of it goes to another process; a message there is not withdrawn.
    fn pack<'v>(&'v self, to: &mut Pack<'v>) {
        if self.data.is_some() {
            to.refuse::<Self>();
        }
    }
}

/// The processor's current call, in place of a request's number.
pub(crate) const CALL: u32 = u32::MAX;

impl RequestState {
    /// Creates the state of a request that is posted `now`.
    pub(crate) fn new(
        number: u32,
        now: Time,
        is_send: bool,
        location: &'static Location<'static>,
    ) -> Box<RequestState> {
        let activities = Vec::new();
        Box::new(RequestState { number, now, activities, is_send, called_at: now, location, agreement: None })
    }
}

impl ActiveOperation {
    /// Creates a send that has not started. If its message is long, it has a protocol.
    #[inline]
    pub fn send(
        to: u32,
        tag: RawTag,
        words: u32,
        protocol: Option<Protocol>,
        parcel: Option<Parcel>,
    ) -> ActiveOperation {
        let last_step = match protocol {
            None => LastStep::SendNotStarted,
            Some(Protocol::Push) => LastStep::LongSendNotStarted,
            Some(Protocol::Pull) => LastStep::OfferNotStarted,
        };
        ActiveOperation { words, last_step, parcel, ..ActiveOperation::receive(RecvFilter { from: to, tag }) }
    }

    /// Creates a receive that has not started.
    #[inline]
    pub fn receive(RecvFilter { from, tag }: RecvFilter) -> ActiveOperation {
        ActiveOperation {
            peer: from,
            words: 0,
            tag,
            name: None,
            last_step: LastStep::ReceiveNotStarted,
            stage: OperationStage::Queued,
            parcel: None,
            received: None,
            request: None,
        }
    }

    /// Returns the send, which has not started, as one whose receiver has to agree first.
    pub fn synchronous(self) -> ActiveOperation {
        ActiveOperation { last_step: LastStep::LongSendNotStarted, ..self }
    }

    /// Creates a message to a processor's memory, which answers with `back` words if it is a request.
    pub fn one_sided(to: u32, words: u32, back: Option<u32>) -> ActiveOperation {
        let (tag, last_step) = match back {
            Some(_) => (RawTag::GET, LastStep::RequestNotStarted),
            None => (RawTag::PUT, LastStep::SendNotStarted),
        };
        let parcel = back.map(|words| Parcel::new(u64::from(words)));
        ActiveOperation { last_step, ..ActiveOperation::send(to, tag, words, None, parcel) }
    }

    #[inline]
    pub fn with_name(self, name: Option<&'static str>) -> ActiveOperation {
        ActiveOperation { name, ..self }
    }

    /// Creates an operation that has nothing to do, and is done.
    pub fn done() -> ActiveOperation {
        let nothing = ActiveOperation::receive(RecvFilter::NOTHING);
        ActiveOperation { last_step: LastStep::Everything, stage: OperationStage::Done, ..nothing }
    }

    #[inline]
    pub fn next_step(&self) -> OperationStep {
        match self.last_step {
            LastStep::SendNotStarted | LastStep::RequestNotStarted => {
                OperationStep::Send(self.tag, self.words)
            }
            LastStep::SentRequest(number) => {
                OperationStep::Receive(RecvFilter { from: self.peer, tag: RawTag::answer(number) })
            }
            LastStep::LongSendNotStarted | LastStep::OfferNotStarted => {
                OperationStep::Send(self.tag.announce(), 0)
            }
            LastStep::SentAnnounce(number) | LastStep::SentOffer(number) => {
                OperationStep::Receive(RecvFilter { from: self.peer, tag: RawTag::grant(number) })
            }
            LastStep::ReceivedGrant(number) => OperationStep::Send(RawTag::granted(number), self.words),
            LastStep::ReceiveNotStarted => {
                OperationStep::Receive(RecvFilter { from: self.peer, tag: self.tag })
            }
            LastStep::ReceivedAnnounce(number) | LastStep::HasRead(number) => {
                OperationStep::Send(RawTag::grant(number), 0)
            }
            LastStep::ReceivedOffer(announced, number) => {
                let number = number.wrapping_add(1) as usize;
                let message = MessageId { from: self.peer as usize, number };
                OperationStep::Read(DataRead { message, announced, words: self.words })
            }
            LastStep::SentGrant(number) | LastStep::AskedForData(number) => {
                OperationStep::Receive(RecvFilter { from: self.peer, tag: RawTag::granted(number) })
            }
            LastStep::Everything => OperationStep::Done,
        }
    }

    /// Returns whether its next step announces data that its receiver reads, for which a number is kept.
    pub fn keeps_number(&self) -> bool {
        self.last_step == LastStep::OfferNotStarted
    }

    /// Notes that its next step is done: it has sent its processor's message of this number.
    #[inline]
    pub fn on_sent(&mut self, number: u32) {
        self.last_step = match self.last_step {
            LastStep::LongSendNotStarted | LastStep::OfferNotStarted if self.is_withdrawn() => {
                LastStep::Everything
            }
            LastStep::LongSendNotStarted => LastStep::SentAnnounce(number),
            LastStep::OfferNotStarted => LastStep::SentOffer(number),
            LastStep::ReceivedAnnounce(asked) => LastStep::SentGrant(asked),
            LastStep::ReceivedOffer(asked, _) => LastStep::AskedForData(asked),
            LastStep::RequestNotStarted => LastStep::SentRequest(number),
            _ => LastStep::Everything,
        }
    }

    /// Takes the message of its next step, which is done. A message that its sender has withdrawn is none: then a receive has
    /// not begun.
    #[inline]
    pub(crate) fn take(&mut self, mut message: ArrivedMessage) {
        let Header { from, number, tag, .. } = message.message.header;
        if !tag.is_announce() {
            self.on_received(from, number, tag);
        } else if !self.take_announcement(&mut message) {
            return;
        }
        self.received = Some(message);
    }

    /// Takes an announcement. Returns false if its message has been withdrawn.
    fn take_announcement(&mut self, message: &mut ArrivedMessage) -> bool {
        let Header { from, number, tag, .. } = message.message.header;
        let announcement: Option<Announcement> = message.message.parcel.open();
        let (agreement, data) = announcement.map_or((None, None), |it| (it.agreement, it.data));
        if agreement.is_some_and(|agreement| !agreement.decide(Agreement::AGREED)) {
            return false;
        }
        self.on_received(from, number, tag);
        if let Some((words, data)) = data {
            self.parcel = Some(data);
            self.on_offered(number, words);
        }
        true
    }

    /// Lets the send, which a request makes, be withdrawn until its receiver has agreed, if that has to.
    pub(crate) fn allow_withdrawal(&mut self) {
        if let (LastStep::LongSendNotStarted | LastStep::OfferNotStarted, Some(request)) =
            (self.last_step, &mut self.request)
        {
            request.agreement = Some(Arc::default());
        }
    }

    /// Withdraws the send. Returns `None` if its receiver has agreed, or need not. Else it is done once it has announced its
    /// message, and this returns which answer it then waited for, if it did.
    pub(crate) fn withdraw_send(&mut self) -> Option<Option<RecvFilter>> {
        let agreement = self.request.as_ref()?.agreement.as_ref()?;
        if !agreement.decide(Agreement::WITHDRAWN) {
            return None;
        }
        let OperationStage::AwaitMessage(filter) = self.stage else { return Some(None) };
        (self.last_step, self.stage) = (LastStep::Everything, OperationStage::Done);
        Some(Some(filter))
    }

    fn is_withdrawn(&self) -> bool {
        let agreement = self.request.as_ref().and_then(|request| request.agreement.as_ref());
        agreement.is_some_and(|agreement| agreement.is_withdrawn())
    }

    /// Notes that its next step is done: it has received a message of this sender, number and tag.
    #[inline]
    pub fn on_received(&mut self, from: u32, number: u32, tag: RawTag) {
        self.last_step = match self.last_step {
            LastStep::ReceiveNotStarted if tag.is_announce() => LastStep::ReceivedAnnounce(number),
            LastStep::SentAnnounce(asked) => LastStep::ReceivedGrant(asked),
            LastStep::AskedForData(asked) => LastStep::HasRead(asked),
            _ => LastStep::Everything,
        };
        if tag.is_start_of_send() {
            // A receive may take any sender or tag, and the data after a grant do not repeat either.
            (self.peer, self.tag) = (from, tag.without_announce());
        }
    }

    /// Notes that the announcement that it has received, of this number among its sender's messages, offers words to
    /// read.
    pub fn on_offered(&mut self, number: u32, words: u32) {
        if let LastStep::ReceivedAnnounce(announced) = self.last_step {
            (self.last_step, self.words) = (LastStep::ReceivedOffer(announced, number), words);
        }
    }

    /// Returns the parcel of the message that it sends or reads next: that of the program's data, or an empty one for
    /// an announcement or a grant. Data that the receiver reads come with their announcement.
    pub(crate) fn next_parcel(&mut self) -> Parcel {
        let data = match self.last_step {
            LastStep::SendNotStarted
            | LastStep::RequestNotStarted
            | LastStep::ReceivedGrant(_)
            | LastStep::ReceivedOffer(..) => self.parcel.take(),
            LastStep::LongSendNotStarted | LastStep::OfferNotStarted => {
                let agreement = self.request.as_ref().and_then(|request| request.agreement.clone());
                let is_offer = self.last_step == LastStep::OfferNotStarted;
                let data = if is_offer { self.parcel.take().map(|data| (self.words, data)) } else { None };
                let is_empty = agreement.is_none() && data.is_none();
                (!is_empty).then(|| Parcel::new(Announcement { agreement, data }))
            }
            _ => None,
        };
        data.unwrap_or_else(|| Parcel::new(()))
    }

    /// Returns whether it is done, or has sent its announcement or grant and waits only for the other processor.
    pub fn is_matched(&self) -> bool {
        use LastStep::{SentAnnounce, SentGrant, SentOffer};
        self.is_done() || matches!(self.last_step, SentAnnounce(_) | SentOffer(_) | SentGrant(_))
    }

    /// Returns the number of its request, or [`CALL`].
    #[inline]
    pub(crate) fn number(&self) -> u32 {
        self.request.as_ref().map_or(CALL, |request| request.number)
    }

    /// Returns its reason to wait on processor `id`, for errors.
    #[inline]
    pub fn wait_reason(&self, network: &Network, id: usize) -> WaitReason {
        match self.last_step {
            _ if matches!(self.stage, OperationStage::AwaitRoom(..)) => WaitReason::Room { to: self.peer },
            LastStep::SentAnnounce(_) | LastStep::SentOffer(_) => {
                let S = network.params_between(id, self.peer as usize).gps().map_or(usize::MAX, |gps| gps.S);
                WaitReason::Grant { to: self.peer, words: self.words, S }
            }
            _ => WaitReason::Message,
        }
    }

    /// Returns the message that it has received, or `None` if it is not done.
    #[inline]
    pub fn into_message(self) -> Option<ArrivedMessage> {
        if self.is_done() { self.received } else { None }
    }

    /// Returns when it gives up: at `until`, or never if it has already received a message.
    #[inline]
    pub(crate) fn deadline(&self, until: Time) -> Time {
        if self.received.is_some() { Time::MAX } else { until }
    }

    #[inline]
    pub fn is_done(&self) -> bool {
        matches!(self.stage, OperationStage::Done)
    }
}

/// Describes a request, for errors.
impl fmt::Display for ActiveOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(request) = &self.request else { return f.write_str("a call") };
        let (peer, words, about) = (self.peer, self.words, self.tag.display(self.name));
        match (request.is_send, words, peer) {
            _ if self.tag == RawTag::GET => write!(f, "get of {peer}"),
            (true, 1, _) => write!(f, "isend of 1 word to {peer} {about}"),
            (true, ..) => write!(f, "isend of {words} words to {peer} {about}"),
            (false, _, RecvFilter::ANY_SENDER) => write!(f, "irecv {about}"),
            (false, ..) => write!(f, "irecv from {peer} {about}"),
        }?;
        write!(f, ", called for at {} (at {})", request.called_at, request.location)
    }
}
