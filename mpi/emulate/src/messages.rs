//! The program's messages: sends, receives and exchanges.

use loggp::{Proc, Tag, WithSender};
use loggp_model::message::RawTag;
use loggp_mpi_trace::call::{Envelope, Receive, RequestId, SendMode};
use loggp_mpi_trace::recording::post::{Address, Signature};

use crate::fault::FaultKind;
use crate::parcel::{Got, ProgramMessage, UnderWay};
use crate::pending::{Completion, Pending, ProgramSend};
use crate::rank::EmulatedRank;
use crate::reply::Reply;

impl EmulatedRank<'_> {
    pub(crate) fn take_data(data: &mut &[u8], bytes: u64) -> Vec<u8> {
        let (own, rest) = data.split_at((bytes as usize).min(data.len()));
        *data = rest;
        own.to_vec()
    }

    /// Returns a message of the current call, with its data.
    fn parcel(&self, message: &Envelope, data: &mut &[u8]) -> ProgramMessage {
        let data = EmulatedRank::take_data(data, message.bytes);
        ProgramMessage {
            tag: message.tag as u32,
            types: self.types.sent.clone(),
            ended: self.ended_accesses(),
            data,
        }
    }

    /// Returns the tag on the machine of a message, and notes that it is under way.
    pub(crate) fn envelope(&mut self, message: &Envelope) -> Tag<ProgramMessage> {
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
        if to == self.id && self.may_keep(message.communicator) {
            // What a rank sends to itself takes no time but that of the copy.
            let scope = self.scope(message.communicator);
            self.own_sent += 1;
            let own_number = self.own_sent;
            self.own.push_back(Got { from: to, scope, parcel, own_number });
            let pending = match is_synchronous {
                true => Pending::OwnSend { number: own_number, mode },
                false => Pending::Ready(Completion::Send),
            };
            match request {
                Some(request) => _ = self.requests.insert(request, pending),
                None => _ = self.finish_request(p, pending),
            }
            return Reply::NOTHING;
        }
        let tag = self.envelope(&message);
        match request {
            Some(request) => {
                let posted = p.post_send(to, tag, parcel, is_synchronous);
                let sent = ProgramSend { to: message.peer, number: self.messages_sent, mode };
                self.requests.insert(request, Pending::Send(posted, Some(sent)));
            }
            None if mode == SendMode::Buffered => {
                let posted = p.post_send(to, tag, parcel, false);
                self.given_up.push(Pending::Send(posted, None));
            }
            None => {
                self.backgrounds.send(p, to, (tag, parcel), is_synchronous);
                self.learn_of_receiver(message.peer, mode);
            }
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
    pub(crate) fn filter(&mut self, receive: &Receive) -> Tag<ProgramMessage> {
        let scope = self.scope(receive.communicator);
        Tag::from_raw(RawTag::scoped(scope, receive.tag.map(|tag| tag as u32)), None)
    }

    /// Receives a message.
    pub(crate) fn receive(&mut self, p: &mut Proc, receive: &Receive) -> Got {
        let got = self.receive_any_type(p, receive);
        self.compare_types(p, got.from, &got.parcel, &self.types.received);
        got
    }

    pub(crate) fn receive_any_type(&mut self, p: &mut Proc, receive: &Receive) -> Got {
        if let Some(got) = self.take_here(p, receive) {
            return got;
        }
        if receive.from == Some(self.id as u32) {
            self.fail_to_receive_own(p, receive);
        }
        let got = self.receive_there(p, receive);
        self.note_taken(&got);
        got
    }

    /// Receives a message from the machine, which stays among those under way.
    pub(crate) fn receive_there(&mut self, p: &mut Proc, receive: &Receive) -> Got {
        let (filter, scope) = (self.filter(receive), self.scope(receive.communicator));
        let (from, parcel) = match receive.from {
            Some(from) => self.backgrounds.receive(p, WithSender(filter.from(from as usize))),
            None => self.backgrounds.receive(p, filter.with_sender()),
        };
        self.learn_ended(parcel.ended.as_ref());
        Got { from, scope, parcel, own_number: 0 }
    }

    /// Returns whether a receive has taken, or will take, the rank's message to itself with this number.
    pub(crate) fn is_own_received(&mut self, number: u64) -> bool {
        let Some(at) = self.own.iter().position(|got| got.own_number == number) else { return true };
        let receives = self.requests.values().filter_map(|pending| match pending {
            Pending::Own(receive) => Some(*receive),
            _ => None,
        });
        let receives: Vec<Receive> = receives.collect();
        receives.iter().any(|receive| {
            let scope = self.scope(receive.communicator);
            self.own[at].is_meant(receive, scope)
        })
    }

    /// Ends a run in which the rank waits until it receives what it has sent to itself.
    pub(crate) fn fail_to_send_own(&mut self, p: &mut Proc, mode: SendMode) -> ! {
        let id = self.id;
        let why = format!(
            "deadlock: rank {id} sends to itself and waits until it receives; post the receive first"
        );
        let fault = match mode {
            SendMode::Synchronous => (FaultKind::CallOrdering, why),
            _ => (FaultKind::ReliesOnBuffering, format!("MPI may hang here: {why}")),
        };
        self.fail(p, fault)
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

    /// Notes that a message has been taken.
    pub(crate) fn note_taken(&self, got: &Got) {
        let mut sent = self.shared.sent[self.id].lock();
        if let Some(queue) = sent.get_mut(&got.from)
            && let Some(at) =
                queue.iter().position(|message| (message.scope, message.tag) == (got.scope, got.parcel.tag))
        {
            queue.remove(at);
        }
    }

    /// Returns a message that the machine has received, and notes that it has been taken.
    pub(crate) fn arrived(&mut self, communicator: u32, from: usize, parcel: ProgramMessage) -> Got {
        let got = Got { from, scope: self.scope(communicator), parcel, own_number: 0 };
        self.note_taken(&got);
        got
    }

    /// Notes that a message, of this number among those of the rank, is no longer under way.
    pub(crate) fn forget_sent(&self, to: u32, number: u64) {
        if let Some(queue) = self.shared.sent[to as usize].lock().get_mut(&self.id) {
            queue.retain(|message| message.number != number);
        }
    }

    /// Posts a receive.
    pub(crate) fn post_receive(&mut self, p: &mut Proc, receive: &Receive) -> Pending {
        if let Some(got) = self.take_here(p, receive) {
            self.compare_types(p, got.from, &got.parcel, &self.types.received);
            let from = self.rank_in(receive.communicator, got.from);
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
        let (tag, types) = (receive.tag, self.types.received.clone());
        Pending::Receive { request, communicator, scope, from, tag, types }
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
            && self.backgrounds.is_empty()
        {
            let parcel = self.parcel(&message, data);
            let (tag, from) = (self.envelope(&message), receive.from.expect("it names one") as usize);
            let parcel = p.send_recv(message.peer as usize, from, tag, parcel);
            self.learn_ended(parcel.ended.as_ref());
            self.compare_types(p, from, &parcel, &self.types.received);
            let got = self.arrived(receive.communicator, from, parcel);
            return Reply::Message(self.rank_in(receive.communicator, from), got.parcel);
        }
        // Where the two have not one tag, or immediate collectives go on meanwhile, they are requests.
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

    pub(crate) fn rank_in_scope(&mut self, scope: u32, world: usize) -> u64 {
        let number = self.communicators.iter().position(|of| 2 * of.number == scope).unwrap_or(0);
        self.rank_in(number as u32, world)
    }

    /// Compares the types of a message with those of its receive.
    pub(crate) fn compare_types(
        &self,
        p: &mut Proc,
        from: usize,
        parcel: &ProgramMessage,
        asked: &Signature,
    ) {
        if parcel.types.differs(asked, parcel.data.len() as u64) {
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
