//! The program's messages: sends, receives, exchanges and probes.

use std::collections::VecDeque;

use loggp::{Payload, Proc, Tag, WithSender};
use loggp_model::message::RawTag;
use loggp_mpi_trace::call::{Envelope, Receive, RequestId, SendMode};
use loggp_mpi_trace::recording::post::Address;

use crate::failure::FaultKind;
use crate::rank::Rank;
use crate::reply::Reply;
use crate::requests::{Completion, Pending};

/// A message of the program: its tag in its communicator, and its data.
pub(crate) struct Parcel {
    pub tag: u32,
    /// The type of its data, if it is known.
    pub kind: u64,
    pub data: Vec<u8>,
}

impl Payload for Parcel {
    fn bytes(&self) -> usize {
        self.data.len()
    }
}

/// A message under way from one rank to another.
pub(crate) struct UnderWay {
    /// Its number among the messages of its sender.
    number: u64,
    pub scope: u32,
    pub tag: u32,
    bytes: u64,
    /// Where the program sends it, if that is checked.
    pub place: Address,
}

/// Messages under way from one rank to another, in the order of their sends.
pub(crate) type Sent = VecDeque<UnderWay>;

/// A message that a rank has: its sender in the world, and the message.
pub(crate) struct Got {
    pub from: usize,
    pub scope: u32,
    pub parcel: Parcel,
}

impl Rank<'_> {
    pub(crate) fn take_data(data: &mut &[u8], bytes: u64) -> Vec<u8> {
        let (own, rest) = data.split_at((bytes as usize).min(data.len()));
        *data = rest;
        own.to_vec()
    }

    /// Returns a message of the current call, with its data.
    fn parcel(&self, message: &Envelope, data: &mut &[u8]) -> Parcel {
        let data = Rank::take_data(data, message.bytes);
        Parcel { tag: message.tag as u32, kind: self.types.sent, data }
    }

    /// Returns the tag on the machine of a message, and notes that it is under way.
    pub(crate) fn envelope(&mut self, message: &Envelope) -> Tag<Parcel> {
        let (scope, tag) = (self.scope(message.communicator), message.tag as u32);
        let is_checked = self.shared.settings.checks.is_some();
        let place = if is_checked { self.link.address(self.call.place) } else { Address::default() };
        let mut sent = self.shared.sent[message.peer as usize].lock();
        let bytes = message.bytes;
        self.messages_sent += 1;
        let number = self.messages_sent;
        sent.entry(self.id).or_default().push_back(UnderWay { number, scope, tag, bytes, place });
        Tag::from_raw(RawTag::scoped(scope, Some(tag)), None)
    }

    pub(crate) fn send(
        &mut self,
        p: &mut Proc,
        mode: SendMode,
        message: Envelope,
        request: Option<RequestId>,
        data: &mut &[u8],
    ) -> Reply {
        let parcel = self.parcel(&message, data);
        let to = message.peer as usize;
        let may_wait = mode == SendMode::Standard
            && self.shared.settings.checks.is_some_and(|checks| checks.is_unbuffered);
        let is_synchronous = mode == SendMode::Synchronous || may_wait;
        let has_receive = || {
            self.requests
                .values()
                .any(|pending| matches!(pending, Pending::Own(_) | Pending::Receive { from: None, .. }))
        };
        if to == self.id && is_synchronous && request.is_none() && !has_receive() {
            let why = format!(
                "deadlock: rank {to} sends to itself and waits until it receives; post the receive first"
            );
            self.fail(p, (FaultKind::CallOrdering, why));
        }
        if to == self.id && self.may_keep(message.communicator) {
            // What a rank sends to itself takes no time but that of the copy.
            let scope = self.scope(message.communicator);
            self.own.push_back(Got { from: to, scope, parcel });
            request.into_iter().for_each(|request| {
                self.requests.insert(request, Pending::Ready(Completion::Send));
            });
            return Reply::NOTHING;
        }
        let tag = self.envelope(&message);
        match request {
            Some(request) => {
                let posted = p.post_send(to, tag, parcel, is_synchronous);
                self.requests
                    .insert(request, Pending::Send(posted, Some((message.peer, self.messages_sent))));
            }
            None if is_synchronous => p.send_synchronously(to, tag, parcel),
            None if mode == SendMode::Buffered => {
                let posted = p.post_send(to, tag, parcel, false);
                self.given_up.push(Pending::Send(posted, None));
            }
            None => p.send(to, tag, parcel),
        }
        Reply::NOTHING
    }

    /// Returns whether a message of the rank to itself need not go over the machine: none of its receives there may want it.
    fn may_keep(&mut self, communicator: u32) -> bool {
        let scope = self.scope(communicator);
        let is_open = |pending: &Pending| matches!(pending, Pending::Receive { scope: of, from: None, .. } if *of == scope);
        !self.requests.values().any(is_open)
    }

    /// Returns the filter on the machine of a receive.
    pub(crate) fn filter(&mut self, receive: &Receive) -> Tag<Parcel> {
        let scope = self.scope(receive.communicator);
        Tag::from_raw(RawTag::scoped(scope, receive.tag.map(|tag| tag as u32)), None)
    }

    /// Receives a message.
    pub(crate) fn receive(&mut self, p: &mut Proc, receive: &Receive) -> Got {
        let got = self.receive_any_type(p, receive);
        self.compare_types(p, got.from, got.parcel.kind, self.types.received);
        got
    }

    pub(crate) fn receive_any_type(&mut self, p: &mut Proc, receive: &Receive) -> Got {
        if let Some(got) = self.take_here(receive) {
            return got;
        }
        if receive.from == Some(self.id as u32) {
            self.fail_to_receive_own(p, receive);
        }
        let filter = self.filter(receive);
        let (from, parcel) = match receive.from {
            Some(from) => p.recv(WithSender(filter.from(from as usize))),
            None => p.recv(filter.with_sender()),
        };
        self.arrived(receive.communicator, from, parcel)
    }

    pub(crate) fn fail_to_receive_own(&mut self, p: &mut Proc, receive: &Receive) -> ! {
        let scope = self.scope(receive.communicator);
        let is_near = |message: &UnderWay| {
            message.scope != scope && receive.tag.is_none_or(|asked| asked as u32 == message.tag)
        };
        let is_elsewhere = self.shared.sent[self.id].lock().values().flatten().any(is_near);
        let kind = if is_elsewhere { FaultKind::ParameterMatching } else { FaultKind::CallOrdering };
        let why = format!(
            "deadlock: rank {} waits for a message from itself that it has not sent; post the receive first, or send before",
            self.id
        );
        self.fail(p, (kind, why))
    }

    /// Takes a message that is at the rank already: one that a probe has received, or its own.
    pub(crate) fn take_here(&mut self, receive: &Receive) -> Option<Got> {
        if self.probed.is_empty() && self.own.is_empty() {
            return None;
        }
        let (scope, id) = (self.scope(receive.communicator), self.id);
        let is_meant = |got: &Got| {
            got.scope == scope
                && receive.from.is_none_or(|from| from as usize == got.from)
                && receive.tag.is_none_or(|tag| tag as u32 == got.parcel.tag)
        };
        if let Some(at) = self.probed.iter().position(|(number, got)| number.is_none() && is_meant(got)) {
            return Some(self.probed.remove(at).1);
        }
        if receive.from.is_some_and(|from| from as usize != id) {
            return None;
        }
        let at = self.own.iter().position(is_meant)?;
        self.own.remove(at)
    }

    /// Notes that a message has been received.
    pub(crate) fn arrived(&mut self, communicator: u32, from: usize, parcel: Parcel) -> Got {
        let scope = self.scope(communicator);
        let mut sent = self.shared.sent[self.id].lock();
        if let Some(queue) = sent.get_mut(&from)
            && let Some(at) =
                queue.iter().position(|message| (message.scope, message.tag) == (scope, parcel.tag))
        {
            queue.remove(at);
        }
        Got { from, scope, parcel }
    }

    /// Notes that a message, of this number among those of the rank, is no longer under way.
    pub(crate) fn forget_sent(&self, to: u32, number: u64) {
        if let Some(queue) = self.shared.sent[to as usize].lock().get_mut(&self.id) {
            queue.retain(|message| message.number != number);
        }
    }

    /// Posts a receive.
    pub(crate) fn post_receive(&mut self, p: &mut Proc, receive: &Receive) -> Pending {
        if let Some(got) = self.take_here(receive) {
            self.compare_types(p, got.from, got.parcel.kind, self.types.received);
            let from = self.place(receive.communicator, got.from);
            return Pending::Ready(Completion::Receive(from, got.parcel));
        }
        if receive.from == Some(self.id as u32) {
            return Pending::Own(*receive);
        }
        let (filter, scope) = (self.filter(receive), self.scope(receive.communicator));
        let (communicator, from) = (receive.communicator, receive.from);
        let request = match from {
            Some(from) => p.irecv(WithSender(filter.from(from as usize))),
            None => p.irecv(filter.with_sender()),
        };
        let (tag, kind) = (receive.tag, self.types.received);
        Pending::Receive { request, communicator, scope, from, tag, kind }
    }

    /// Makes a send and a receive in one call.
    pub(crate) fn exchange(
        &mut self,
        p: &mut Proc,
        message: Option<Envelope>,
        receive: Option<&Receive>,
        request: Option<RequestId>,
        data: &mut &[u8],
    ) -> Reply {
        let is_same = message.zip(receive).is_some_and(|(message, receive)| {
            receive.tag == Some(message.tag) && receive.from.is_some_and(|from| from as usize != self.id)
        });
        if let (Some(message), Some(receive), None, true) = (message, receive, request, is_same)
            && message.peer as usize != self.id
            && self.probed.is_empty()
        {
            let parcel = self.parcel(&message, data);
            let (tag, from) = (self.envelope(&message), receive.from.expect("it names one") as usize);
            let parcel = p.send_recv(message.peer as usize, from, tag, parcel);
            self.compare_types(p, from, parcel.kind, self.types.received);
            let got = self.arrived(receive.communicator, from, parcel);
            return Reply::Message(self.place(receive.communicator, from), got.parcel);
        }
        // Where the two have not one tag they are requests.
        let number = request.unwrap_or(RequestId::MAX);
        let posted = receive.map(|receive| self.post_receive(p, receive));
        if let Some(message) = message {
            self.send(p, SendMode::Standard, message, Some(number), data);
        }
        let sent = self.requests.remove(&number);
        if request.is_some() {
            let both = match (posted, sent) {
                (Some(posted), Some(sent)) => Pending::Both(Box::new([posted, sent])),
                (posted, sent) => posted.or(sent).unwrap_or(Pending::Ready(Completion::Send)),
            };
            self.requests.insert(number, both);
            return Reply::NOTHING;
        }
        let received = posted.map(|posted| self.finish_request(p, posted));
        sent.into_iter().for_each(|sent| _ = self.finish_request(p, sent));
        match received {
            Some(Completion::Receive(from, parcel)) => Reply::Message(from, parcel),
            _ => Reply::NOTHING,
        }
    }

    /// Looks for a message, or waits for one.
    pub(crate) fn probe(
        &mut self,
        p: &mut Proc,
        receive: &Receive,
        is_wait: bool,
        is_matched: bool,
    ) -> Reply {
        let here = self.take_here(receive);
        let is_here = here.is_some();
        let got = match here {
            Some(got) => Some(got),
            // The message is received here, and a later receive has it.
            None if is_wait => Some(self.receive(p, receive)),
            None => {
                let filter = self.filter(receive);
                let found = match receive.from {
                    Some(from) if from as usize == self.id => None,
                    Some(from) => p.probe(filter.from(from as usize)),
                    None => p.probe(filter),
                };
                match found {
                    Some(from) if is_matched => {
                        let one = Receive { from: Some(from as u32), ..*receive };
                        Some(self.receive(p, &one))
                    }
                    Some(from) => return self.describe(p, receive, from),
                    None => None,
                }
            }
        };
        let Some(got) = got else { return Reply::Words(vec![0; if is_matched { 5 } else { 4 }]) };
        let from = self.place(receive.communicator, got.from);
        let mut words = vec![from, u64::from(got.parcel.tag), got.parcel.data.len() as u64];
        if is_matched || !is_wait {
            words.insert(0, 1);
        }
        let number = is_matched.then(|| {
            self.next_message += 1;
            self.next_message
        });
        words.extend(number);
        let is_own = is_here && got.from == self.id && !is_matched;
        match is_own {
            true => self.own.push_front(got),
            false => self.probed.push((number, got)),
        }
        Reply::Words(words)
    }

    /// Returns what a look has found: the first message of a sender that the receive takes. If there is none that has not been
    /// withdrawn, it looks again.
    fn describe(&mut self, p: &mut Proc, receive: &Receive, from: usize) -> Reply {
        let scope = self.scope(receive.communicator);
        let place = self.place(receive.communicator, from);
        let is_meant = |message: &&UnderWay| {
            message.scope == scope && receive.tag.is_none_or(|asked| asked as u32 == message.tag)
        };
        let sent = self.shared.sent[self.id].lock();
        let found = sent.get(&from).and_then(|queue| queue.iter().find(is_meant));
        let words = found.map(|message| vec![1, place, u64::from(message.tag), message.bytes]);
        drop(sent);
        if let Some(words) = words {
            return Reply::Words(words);
        }
        // A receive takes what was withdrawn, and goes on waiting.
        let taken = p.irecv(WithSender(self.filter(receive).from(from)));
        p.is_done(&taken);
        p.withdraw(&taken);
        self.probe(p, receive, false, false)
    }

    pub(crate) fn receive_matched(
        &mut self,
        p: &mut Proc,
        message: u64,
        request: Option<RequestId>,
    ) -> Reply {
        let Some(at) = self.probed.iter().position(|(number, _)| *number == Some(message)) else {
            p.fail_with(format!("rank {} receives a message that no probe has matched", self.id));
        };
        let got = self.probed.remove(at).1;
        let from = self.place_in_scope(got.scope, got.from);
        match request {
            None => Reply::Message(from, got.parcel),
            Some(request) => {
                self.requests.insert(request, Pending::Ready(Completion::Receive(from, got.parcel)));
                Reply::NOTHING
            }
        }
    }

    pub(crate) fn place_in_scope(&mut self, scope: u32, world: usize) -> u64 {
        let number = self.communicators.iter().position(|of| 2 * of.number == scope).unwrap_or(0);
        self.place(number as u32, world)
    }

    /// Compares the type of a message with that of its receive.
    pub(crate) fn compare_types(&self, p: &mut Proc, from: usize, sent: u64, asked: u64) {
        if sent != 0 && asked != 0 && sent != asked {
            let call = self.last_call();
            let why = format!(
                "rank {} is{}, and gets data of another type than it names from rank {from}; both ends of a message name the same type",
                self.id,
                call.text()
            );
            self.fail(p, (FaultKind::ParameterMatching, why));
        }
    }
}
