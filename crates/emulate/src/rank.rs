//! The loop of a processor: it takes the calls that its rank posts, and makes them of the machine's.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;

use loggp::{Payload, Proc, Tag, WithSender};
use loggp_model::message::RawTag;
use loggp_mpi_trace::call::{CallKind, CollectiveKind, Counts, Envelope, Receive, RequestId, Root, SendMode};
use loggp_mpi_trace::recording::post::{Post, PostKind, Types};
use loggp_mpi_trace::schedule::{Collective, CommunicatorList, KnownCommunicator};
use loggp_schedule::ScheduleBuilder;
use rustc_hash::FxHashMap;

use crate::board::{CollectiveId, Contribution, Form, Manner, Taken};
use crate::failure::{Called, CurrentCall, FaultKind, LastCall, Wanted};
use crate::link::{Answer, Link};
use crate::plan::{Background, Blank, BlankTag, Plan, scaled};
use crate::requests::{Completion, Pending};
use crate::session::Shared;

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

/// Messages under way from one rank to another: the scope, the tag and the bytes of each.
pub(crate) type Sent = VecDeque<(u32, u32, u64)>;

/// The making of a communicator.
#[derive(Default)]
pub(crate) struct Making {
    /// True if all ranks have made it.
    is_made: bool,
    /// How many ranks have gone on.
    left: usize,
}

/// A message that a rank has: its sender in the world, and the message.
pub(crate) struct Got {
    pub from: usize,
    pub scope: u32,
    pub parcel: Parcel,
}

/// What a rank hears of a call.
pub(crate) enum Reply {
    Words(Vec<u64>),
    /// A message, and its sender in the communicator.
    Message(u64, Parcel),
    Collective(Taken),
    /// What a wait or a test has found; `None` if a test has found nothing.
    Found(Option<Vec<(usize, Completion)>>),
    /// The rank has come to its end, or does not wait for an answer.
    End,
}

impl Reply {
    pub(crate) const NOTHING: Reply = Reply::Words(Vec::new());

    fn answer(&self) -> Answer<'_> {
        let mut answer = Answer::default();
        match self {
            Reply::Words(words) => answer.words.extend(words),
            Reply::Message(from, parcel) => add_message(&mut answer, *from, parcel),
            Reply::Collective(taken) => add_collective(&mut answer, taken),
            Reply::Found(None) => answer.words.push(0),
            Reply::Found(Some(found)) => {
                answer.words.extend([1, found.len() as u64]);
                for (place, completion) in found {
                    let (kind, is_cancelled) = completion.kind();
                    answer.words.extend([*place as u64, kind, u64::from(is_cancelled)]);
                    match completion {
                        Completion::Receive(from, parcel) => add_message(&mut answer, *from, parcel),
                        Completion::Collective(taken) => add_collective(&mut answer, taken),
                        Completion::Send => (),
                        Completion::Cancelled => answer.words.extend([0, 0, 0]),
                    }
                }
            }
            Reply::End => (),
        }
        answer
    }
}

fn add_message<'a>(answer: &mut Answer<'a>, from: u64, parcel: &'a Parcel) {
    answer.words.extend([from, u64::from(parcel.tag), parcel.data.len() as u64]);
    answer.data.push(&parcel.data);
}

fn add_collective<'a>(answer: &mut Answer<'a>, taken: &'a Taken) {
    answer.words.extend([taken.form as u64, taken.parts().count() as u64]);
    answer.words.extend(taken.parts().map(|part| part.len() as u64));
    answer.data.extend(taken.parts());
}

/// A collective under way: how to take what the rank gets of it.
pub(crate) struct Open {
    id: CollectiveId,
    communicator: u32,
    kind: CollectiveKind,
    root: Root,
    received: Counts,
}

/// What decides the messages of a collective.
#[derive(PartialEq, Eq, Hash)]
struct PlanKey {
    kind: CollectiveKind,
    communicator: u32,
    root: Option<u32>,
    counts: [Vec<u64>; 2],
    is_immediate: bool,
}

/// A rank, as its processor sees it.
pub(crate) struct Rank<'a> {
    pub id: usize,
    pub shared: &'a Shared<'a>,
    pub link: Link<'a>,
    pub communicators: CommunicatorList,
    pub requests: FxHashMap<RequestId, Pending>,
    /// Messages that a probe has received, and no receive has taken; a matched one has its number.
    pub probed: Vec<(Option<u64>, Got)>,
    next_message: u64,
    /// Messages of the rank to itself.
    pub own: VecDeque<Got>,
    /// Requests that the program gave up, and sends that go on behind a buffer.
    pub given_up: Vec<Pending>,
    plans: FxHashMap<PlanKey, Arc<Plan>>,
    makings: FxHashMap<Vec<u32>, u64>,
    /// True if the last call was a look at the clock.
    looked_at_clock: bool,
    call: CurrentCall,
    /// The types of the current call's data.
    types: Types,
    /// True if the rank has received from anyone, or any tag.
    has_chosen: bool,
}

/// A run that fails says in which calls its ranks were.
impl Drop for Rank<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let CurrentCall { what, place } = self.call;
            let address = self.link.address(place);
            let (wants, has_chosen) = (self.wants(), self.has_chosen);
            *self.shared.calls[self.id].lock() = Some(LastCall { what, address, wants, has_chosen });
        }
    }
}

impl<'a> Rank<'a> {
    pub(crate) fn new(shared: &'a Shared<'a>, p: &Proc) -> Rank<'a> {
        let id = p.id();
        let is_checked = shared.settings.checks.is_some();
        let link = Link::new(shared.segment.slot(id), shared.watch, (id, shared.ranks), is_checked);
        Rank {
            id,
            shared,
            link,
            communicators: CommunicatorList::default(),
            requests: FxHashMap::default(),
            probed: Vec::new(),
            next_message: 0,
            own: VecDeque::new(),
            given_up: Vec::new(),
            plans: FxHashMap::default(),
            makings: FxHashMap::default(),
            looked_at_clock: false,
            call: CurrentCall { what: Called::Nothing, place: 0 },
            types: Types::default(),
            has_chosen: false,
        }
    }

    /// Makes the rank's calls until its end.
    pub(crate) fn run(mut self, p: &mut Proc) {
        p.keep_order();
        self.link.bind();
        loop {
            let (posts, data) = self.link.next(p);
            let (mut rest, mut reply) = (&data[..], Reply::NOTHING);
            for post in posts {
                reply = self.make(p, post, &mut rest);
                if let Reply::End = reply {
                    return;
                }
            }
            self.link.answer(p, &reply.answer());
        }
    }

    /// Makes one call.
    fn make(&mut self, p: &mut Proc, post: Post, data: &mut &[u8]) -> Reply {
        if post.work_ns > 0 {
            p.compute_for(Cow::Borrowed("computing"), scaled(post.work_ns, self.shared.settings.speed));
        }
        self.call = CurrentCall { what: Called::of(&post.kind), place: post.place };
        self.types = post.types;
        self.learn(p);
        let looked = std::mem::replace(&mut self.looked_at_clock, matches!(post.kind, PostKind::Clock));
        match post.kind {
            PostKind::Call(kind) => self.call(p, kind, data),
            PostKind::Wait { form, requests } => self.wait(p, form, &requests),
            PostKind::GetStatus(request) => self.status(p, request),
            PostKind::Probe { receive, is_wait, is_matched } => self.probe(p, &receive, is_wait, is_matched),
            PostKind::ReceiveMatched { message, request } => self.receive_matched(p, message, request),
            PostKind::NewCommunicator { parent, of } => self.make_communicator(p, parent, of),
            PostKind::Made(_) => Reply::NOTHING,
            PostKind::Forget(request) => {
                self.given_up.extend(self.requests.remove(&request));
                Reply::NOTHING
            }
            PostKind::Cancel(request) => self.cancel(p, request),
            PostKind::Clock => {
                if looked {
                    p.wait_until(p.now() + p.params().cycle); // a program that waits for a time must come to it
                }
                Reply::NOTHING
            }
            PostKind::Finalize => {
                self.finish(p);
                Reply::End
            }
            PostKind::Abort(code) => {
                p.fail_with(format!("rank {} called MPI_Abort with code {code}", self.id))
            }
            PostKind::Refused(why) => self.refuse(p, &why),
            PostKind::Finding(kind, why) => p.fail_with(format!("{kind}: rank {} {why}", self.id)),
            PostKind::Exited => {
                p.fail_with(format!("rank {} has ended without MPI_Finalize", self.id));
            }
        }
    }

    /// Ends the run, since the rank has said why it cannot go on.
    fn refuse(&self, p: &mut Proc, why: &str) -> ! {
        p.fail_with(format!("rank {} {why}", self.id));
    }

    /// Ends the run, since a fault has been found.
    pub(crate) fn fail(&self, p: &mut Proc, (kind, why): (FaultKind, String)) -> ! {
        p.fail_with(format!("{kind}: {why}"));
    }

    /// Returns which messages the rank waits for in its present call.
    fn wants(&mut self) -> Vec<Wanted> {
        let mut wants = Vec::new();
        match self.call.what {
            Called::Receive(receive, false)
            | Called::Probe(receive, _)
            | Called::Exchange(_, Some(receive)) => {
                wants.push((receive.from, receive.tag, self.scope(receive.communicator)));
            }
            Called::Wait(_) => {
                let wanted = |pending: &Pending| match pending {
                    Pending::Receive { from, tag, scope, .. } => Some((*from, *tag, *scope)),
                    _ => None,
                };
                wants.extend(self.requests.values().filter_map(wanted));
            }
            _ => (),
        }
        wants
    }

    /// Compares the type of a message with that of its receive.
    pub(crate) fn compare_types(&self, p: &mut Proc, from: usize, sent: u64, asked: u64) {
        if sent != 0 && asked != 0 && sent != asked {
            let call = LastCall {
                what: self.call.what,
                address: self.link.address(self.call.place),
                ..LastCall::default()
            };
            let why = format!(
                "rank {} is{}, and gets data of another type than it names from rank {from}; both ends of a message name the same type",
                self.id,
                call.text()
            );
            self.fail(p, (FaultKind::ParameterMatching, why));
        }
    }

    /// Learns of the communicators that the rank has named since.
    fn learn(&mut self, p: &mut Proc) {
        let all = self.link.communicators();
        if all.len() > self.communicators.len() {
            let mut tags = self.shared.tags.lock();
            if let Err(why) = self.communicators.add(all, &mut tags, self.id, self.shared.ranks) {
                drop(tags);
                p.fail_with(why.to_string());
            }
        }
    }

    /// Returns a communicator of the rank. It is known: the reader of posts has looked.
    pub(crate) fn communicator(&mut self, number: u32) -> &mut KnownCommunicator {
        self.communicators.get(number, self.id).expect("the reader of posts knows it")
    }

    /// Returns the place of a rank of the world in a communicator, in the remote group if there is one.
    pub(crate) fn place(&mut self, communicator: u32, world: usize) -> u64 {
        let of = self.communicator(communicator);
        let peers = of.remote.as_ref().unwrap_or(&of.members);
        match peers.get(world) {
            Some(rank) if *rank as usize == world => world as u64,
            _ => peers.iter().position(|rank| *rank as usize == world).unwrap_or(world) as u64,
        }
    }

    /// Returns the scope of the messages of a communicator.
    pub(crate) fn scope(&mut self, communicator: u32) -> u32 {
        2 * self.communicator(communicator).number
    }

    fn call(&mut self, p: &mut Proc, kind: CallKind, data: &mut &[u8]) -> Reply {
        match kind {
            CallKind::Send { mode, message, request } => self.send(p, mode, message, request, data),
            CallKind::Recv { receive, request: Some(request) } => {
                let pending = self.post_receive(p, &receive);
                self.requests.insert(request, pending);
                Reply::NOTHING
            }
            CallKind::Recv { receive, request: None } => {
                let got = self.receive(p, &receive);
                Reply::Message(self.place(receive.communicator, got.from), got.parcel)
            }
            CallKind::SendRecv { message, receive, request } => {
                self.exchange(p, message, receive.as_ref(), request, data)
            }
            CallKind::Start(kinds) => {
                kinds.into_iter().for_each(|kind| _ = self.call(p, kind, data));
                Reply::NOTHING
            }
            CallKind::Collective { kind, communicator, root, sent, received, request } => {
                self.collective(p, (kind, communicator, root), (sent, received), request, data)
            }
            _ => p.fail_with(format!("rank {} posts what is no call", self.id)),
        }
    }

    fn take_data(data: &mut &[u8], bytes: u64) -> Vec<u8> {
        let (own, rest) = data.split_at((bytes as usize).min(data.len()));
        *data = rest;
        own.to_vec()
    }

    /// Returns the tag on the machine of a message, and notes that it is under way.
    fn envelope(&mut self, message: &Envelope) -> Tag<Parcel> {
        let (scope, tag) = (self.scope(message.communicator), message.tag as u32);
        let mut sent = self.shared.sent[message.peer as usize].lock();
        sent.entry(self.id).or_default().push_back((scope, tag, message.bytes));
        Tag::from_raw(RawTag::scoped(scope, Some(tag)), None)
    }

    fn send(
        &mut self,
        p: &mut Proc,
        mode: SendMode,
        message: Envelope,
        request: Option<RequestId>,
        data: &mut &[u8],
    ) -> Reply {
        let parcel = Parcel {
            tag: message.tag as u32,
            kind: self.types.sent,
            data: Rank::take_data(data, message.bytes),
        };
        let to = message.peer as usize;
        if to == self.id && self.send_to_itself(message.communicator, parcel.tag, &parcel.data) {
            request.into_iter().for_each(|request| {
                self.requests.insert(request, Pending::Ready(Completion::Send));
            });
            return Reply::NOTHING;
        }
        let tag = self.envelope(&message);
        let may_wait = mode == SendMode::Standard
            && self.shared.settings.checks.is_some_and(|checks| checks.is_unbuffered);
        let is_synchronous = mode == SendMode::Synchronous || may_wait;
        match request {
            Some(request) => {
                let posted = p.post_send(to, tag, parcel, is_synchronous);
                self.requests.insert(request, Pending::Send(posted));
            }
            None if is_synchronous => p.send_synchronously(to, tag, parcel),
            None if mode == SendMode::Buffered => {
                let posted = p.post_send(to, tag, parcel, false);
                self.given_up.push(Pending::Send(posted));
            }
            None => p.send(to, tag, parcel),
        }
        Reply::NOTHING
    }

    /// Copies a message of the rank to itself, unless one of its receives on the machine may want it: what a rank
    /// sends to itself takes no time but that of the copy.
    fn send_to_itself(&mut self, communicator: u32, tag: u32, data: &[u8]) -> bool {
        let scope = self.scope(communicator);
        let is_open = |pending: &Pending| matches!(pending, Pending::Receive { scope: of, from: None, .. } if *of == scope);
        if self.requests.values().any(is_open) {
            return false;
        }
        let parcel = Parcel { tag, kind: self.types.sent, data: data.to_vec() };
        self.own.push_back(Got { from: self.id, scope, parcel });
        true
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

    fn receive_any_type(&mut self, p: &mut Proc, receive: &Receive) -> Got {
        self.has_chosen |= receive.from.is_none() || receive.tag.is_none();
        if let Some(got) = self.take_here(receive) {
            return got;
        }
        if receive.from == Some(self.id as u32) {
            self.fail_to_receive_own(p);
        }
        let filter = self.filter(receive);
        let (from, parcel) = match receive.from {
            Some(from) => p.recv(WithSender(filter.from(from as usize))),
            None => p.recv(filter.with_sender()),
        };
        self.arrived(receive.communicator, from, parcel)
    }

    pub(crate) fn fail_to_receive_own(&mut self, p: &mut Proc) -> ! {
        p.fail_with(format!(
            "deadlock: rank {} waits for a message from itself that it has not sent; post the receive first, or send before",
            self.id
        ))
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
            && let Some(at) = queue.iter().position(|(of, tag, _)| (*of, *tag) == (scope, parcel.tag))
        {
            queue.remove(at);
        }
        Got { from, scope, parcel }
    }

    /// Posts a receive.
    fn post_receive(&mut self, p: &mut Proc, receive: &Receive) -> Pending {
        self.has_chosen |= receive.from.is_none() || receive.tag.is_none();
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
    fn exchange(
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
            let parcel = Parcel {
                tag: message.tag as u32,
                kind: self.types.sent,
                data: Rank::take_data(data, message.bytes),
            };
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
    fn probe(&mut self, p: &mut Proc, receive: &Receive, is_wait: bool, is_matched: bool) -> Reply {
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
                    Some(from) => return self.describe(receive, from),
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

    /// Returns what a look has found: the first message of a sender that the receive takes.
    fn describe(&mut self, receive: &Receive, from: usize) -> Reply {
        let scope = self.scope(receive.communicator);
        let place = self.place(receive.communicator, from);
        let sent = self.shared.sent[self.id].lock();
        let is_meant = |(of, tag, _): &&(u32, u32, u64)| {
            *of == scope && receive.tag.is_none_or(|asked| asked as u32 == *tag)
        };
        match sent.get(&from).and_then(|queue| queue.iter().find(is_meant)) {
            Some((_, tag, bytes)) => Reply::Words(vec![1, place, u64::from(*tag), *bytes]),
            None => Reply::Words(vec![0; 4]),
        }
    }

    fn receive_matched(&mut self, p: &mut Proc, message: u64, request: Option<RequestId>) -> Reply {
        let Some(at) = self.probed.iter().position(|(number, _)| *number == Some(message)) else {
            p.fail_with(format!("rank {} receives a message that no probe has matched", self.id));
        };
        let got = self.probed.remove(at).1;
        // The scope is twice the communicator's number, and its place here does not matter: the rank knows it.
        let from = self.place_in_scope(got.scope, got.from);
        match request {
            None => Reply::Message(from, got.parcel),
            Some(request) => {
                self.requests.insert(request, Pending::Ready(Completion::Receive(from, got.parcel)));
                Reply::NOTHING
            }
        }
    }

    fn place_in_scope(&mut self, scope: u32, world: usize) -> u64 {
        let number = self.communicators.iter().position(|of| 2 * of.number == scope).unwrap_or(0);
        self.place(number as u32, world)
    }

    /// Makes a collective.
    fn collective(
        &mut self,
        p: &mut Proc,
        (kind, communicator, root): (CollectiveKind, u32, Root),
        (sent, received): (Counts, Counts),
        request: Option<RequestId>,
        data: &mut &[u8],
    ) -> Reply {
        let plan = self.plan(p, (kind, communicator, root), (&sent, &received), request.is_some());
        let (id, tag) = self.next_collective(communicator);
        let bytes = self.contributed(kind, communicator, root, &sent);
        let of = self.communicator(communicator);
        let destinations = if kind.is_of_neighbors() { of.destinations.clone() } else { Vec::new() };
        let laid = Contribution { data: Rank::take_data(data, bytes), counts: sent, destinations };
        let (what, address) = (self.call.what, self.link.address(self.call.place));
        let call = LastCall { what, address, ..LastCall::default() };
        let is_immediate = request.is_some();
        let manner = Manner { kind, is_immediate, root, types: self.types, rank: self.id, call };
        if let Err(fault) = self.shared.board.lay(id, laid, manner) {
            self.fail(p, fault);
        }
        let open = Open { id, communicator, kind, root, received };
        match request {
            None => {
                plan.run(p, tag);
                Reply::Collective(self.take(p, &open))
            }
            Some(request) => {
                let begun = Background::begin(p, &plan, tag);
                self.requests.insert(request, Pending::Collective(Box::new((begun, open))));
                Reply::NOTHING
            }
        }
    }

    /// Takes what the rank gets of a collective whose messages are through.
    pub(crate) fn take(&mut self, p: &mut Proc, open: &Open) -> Taken {
        let shared = self.shared;
        let communicator = self.communicator(open.communicator);
        let taken = shared.board.take(open.id, open.kind, communicator, open.root);
        let asked = |place: usize| match &open.received {
            Counts::Same(bytes) => *bytes,
            Counts::Each(each) => each.get(place).copied().unwrap_or(0),
        };
        let first = taken.parts().next().map_or(0, <[u8]>::len);
        let differs = |(place, part): (usize, &[u8])| match taken.form {
            Form::Parts => part.len() as u64 != asked(place),
            Form::Combine => part.len() != first,
            Form::Nothing => false,
        };
        if let Some(place) = taken.parts().enumerate().position(differs) {
            let (name, id) = (open.kind.name(), self.id);
            let lengths = (taken.parts().nth(place).map_or(0, <[u8]>::len), asked(place));
            let why = match taken.form {
                Form::Parts => format!(
                    "rank {id} expects {} bytes of a part of MPI's {name} that has {}",
                    lengths.1, lengths.0
                ),
                _ => format!("rank {id} combines {first} bytes with {} in MPI's {name}", lengths.0),
            };
            self.fail(p, (FaultKind::ParameterMatching, format!("{why}; all ranks name the same counts")));
        }
        taken
    }

    /// Returns the bytes of what a rank contributes.
    fn contributed(&mut self, kind: CollectiveKind, communicator: u32, root: Root, sent: &Counts) -> u64 {
        use CollectiveKind::*;
        let of = self.communicator(communicator);
        let is_root = match root {
            Root::Rank(root) => of.remote.is_none() && root as usize == of.me,
            Root::This => true,
            Root::None | Root::Nobody => false,
        };
        let peers = of.remote.as_ref().unwrap_or(&of.members).len() as u64;
        let all = |n: u64| match sent {
            Counts::Same(bytes) => bytes * n,
            Counts::Each(each) => each.iter().sum(),
        };
        match kind {
            Barrier => 0,
            Bcast | Scatter | Scatterv if !is_root => 0,
            Scatter | Scatterv | Alltoall | Alltoallv | Alltoallw => all(peers),
            ReduceScatter | ReduceScatterBlock => all(of.members.len() as u64),
            NeighborAlltoall | NeighborAlltoallv | NeighborAlltoallw => all(of.destinations.len() as u64),
            _ => all(1),
        }
    }

    /// Numbers the communicator's next collective. Returns its identity, and the tag of its messages.
    fn next_collective(&mut self, communicator: u32) -> (CollectiveId, BlankTag) {
        let of = self.communicator(communicator);
        let number = of.collectives;
        of.collectives += 1;
        let tag = RawTag::scoped(2 * of.number + 1, Some(number as u32 & (u32::MAX >> 1)));
        ((of.number, number), Tag::<Blank>::from_raw(tag, None))
    }

    /// Returns the messages of a collective at this rank.
    fn plan(
        &mut self,
        p: &mut Proc,
        (kind, communicator, root): (CollectiveKind, u32, Root),
        (sent, received): (&Counts, &Counts),
        is_immediate: bool,
    ) -> Arc<Plan> {
        let list = |counts: &Counts| match counts {
            Counts::Same(bytes) => vec![*bytes],
            Counts::Each(each) => each.iter().copied().chain([u64::MAX]).collect(),
        };
        let root_number = if let Root::Rank(root) = root { Some(root) } else { None };
        let counts = [list(sent), list(received)];
        let key = PlanKey { kind, communicator, root: root_number, counts, is_immediate };
        let is_kept = !matches!(root, Root::This | Root::Nobody);
        if let Some(plan) = self.plans.get(&key).filter(|_| is_kept) {
            return plan.clone();
        }
        let settings = self.shared.settings;
        let (ranks, id) = (self.shared.ranks, self.id);
        let with = self.communicator(communicator);
        let what = Collective {
            kind,
            communicator: with,
            root,
            sent,
            received,
            tag: 0,
            is_immediate,
            table: settings.table,
            combine: settings.combine,
        };
        let plan = match write_plan(&what, ranks, id) {
            Ok(plan) => Arc::new(plan),
            Err(why) => p.fail_with(format!("rank {id}: MPI_{}: {why}", kind.name())),
        };
        if is_kept {
            self.plans.insert(key, plan.clone());
        }
        plan
    }

    /// Makes a communicator: all that take part exchange a word, and once the first one knows of all, all make the real
    /// call together.
    fn make_communicator(&mut self, p: &mut Proc, parent: u32, of: Option<Vec<u32>>) -> Reply {
        const WORD: u64 = 8;
        let is_of_some = of.is_some();
        let ranks = match of {
            Some(ranks) => ranks,
            None => {
                let of = self.communicator(parent);
                let mut ranks = of.members.clone();
                ranks.extend(of.remote.iter().flatten());
                ranks.sort_unstable();
                ranks
            }
        };
        let count = self.makings.entry(ranks.clone()).or_default();
        let key = (ranks, std::mem::replace(count, *count + 1));
        let word = Counts::Same(WORD);
        if is_of_some {
            self.gather_among(p, &key);
        } else {
            let what = (CollectiveKind::Allgather, parent, Root::None);
            let plan = self.plan(p, what, (&word, &word), false);
            let (_, tag) = self.next_collective(parent);
            plan.run(p, tag);
        }
        {
            let mut makings = self.shared.making.lock();
            let making = makings.entry(key.clone()).or_default();
            if !making.is_made {
                making.is_made = true;
                self.make_together(p, &key.0);
            }
            making.left += 1;
            if making.left == key.0.len() {
                makings.remove(&key);
            }
        }
        let (posts, _) = self.link.next(p);
        match posts.last() {
            Some(Post { kind: PostKind::Made(_), .. }) => Reply::NOTHING,
            Some(Post { kind: PostKind::Refused(why), .. }) => self.refuse(p, why),
            _ => p.fail_with(format!("rank {} did not make its communicator", self.id)),
        }
    }

    /// Lets all ranks that take part make the real call, and waits until all have.
    fn make_together(&self, p: &mut Proc, ranks: &[u32]) {
        let now = p.now().as_ps();
        let slot = |rank: &u32| self.shared.segment.slot(*rank as usize);
        ranks.iter().for_each(|rank| slot(rank).answer(now, &[], &[], 0));
        for rank in ranks {
            let begin = std::time::Instant::now();
            while !slot(rank).wait(std::time::Duration::from_millis(100)) {
                if let Some(why) = self.shared.watch.look_at(*rank as usize, begin.elapsed()) {
                    p.fail_with(why);
                }
            }
        }
    }

    /// Exchanges a word among ranks that have no communicator yet.
    fn gather_among(&mut self, p: &mut Proc, key: &(Vec<u32>, u64)) {
        let me = key.0.iter().position(|rank| *rank as usize == self.id).unwrap_or(0);
        // The first of them gathers, and tells all. The number of their making tells it apart.
        let tag = RawTag::scoped(RawTag::LAST_SCOPE - key.0[0], Some(key.1 as u32 & (u32::MAX >> 1)));
        let tag: BlankTag = Tag::from_raw(tag, None);
        if me == 0 {
            (1..key.0.len()).for_each(|_| _ = p.recv(tag));
            key.0[1..].iter().for_each(|rank| p.send(*rank as usize, tag, Blank::word()));
        } else {
            p.send(key.0[0] as usize, tag, Blank::word());
            p.recv(tag.from(key.0[0] as usize));
        }
    }

    /// Ends the rank: what it gave up, or never waited for, must be over.
    fn finish(&mut self, p: &mut Proc) {
        let mut left: Vec<_> = self.requests.drain().collect();
        left.sort_unstable_by_key(|(number, _)| *number);
        let given_up = std::mem::take(&mut self.given_up);
        for pending in given_up.into_iter().chain(left.into_iter().map(|(_, pending)| pending)) {
            self.finish_given_up(p, pending);
        }
    }
}

/// Returns a rank's part in a collective.
fn write_plan(what: &Collective, ranks: usize, rank: usize) -> Result<Plan, String> {
    let is_alone = what.communicator.members.len() == 1 && what.communicator.remote.is_none();
    let mut builder = ScheduleBuilder::new(ranks).map_err(|why| why.to_string())?;
    for earlier in 0..=rank {
        builder.begin_rank(earlier).map_err(|why| why.to_string())?;
    }
    if !is_alone {
        what.write(&mut builder, 0, &[])?;
    }
    let schedule = builder.build().map_err(|why| why.to_string())?;
    Ok(Plan::of_rank(&schedule, rank))
}
