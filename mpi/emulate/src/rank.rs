//! The loop of a processor: it takes the calls that its rank posts, and makes them of the machine's.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use loggp::{Proc, Request, Time};
use loggp_mpi_trace::call::{MpiCallKind, OneSided, Receive, RequestId, SendMode, WaitForm};
use loggp_mpi_trace::recording::post::{AccessKind, Post, PostKind, Types};
use loggp_mpi_trace::schedule::{CommunicatorList, KnownCommunicator};
use rustc_hash::FxHashMap;

use crate::background::Backgrounds;
use crate::ending::RankEnd;
use crate::failure::{Called, CurrentCall, LastCall, Wanted};
use crate::fault::FaultKind;
use crate::link::RankLink;
use crate::locks::Held;
use crate::looks::{LookTimes, is_in_vain};
use crate::parcel::Got;
use crate::pending::Pending;
use crate::plan::{CollectivePlan, PlanKey, scaled};
use crate::reply::Reply;
use crate::shared::Shared;

/// A rank, as its processor sees it.
pub(crate) struct EmulatedRank<'a> {
    pub id: usize,
    pub shared: &'a Shared<'a>,
    pub link: RankLink<'a>,
    pub communicators: CommunicatorList,
    pub requests: FxHashMap<RequestId, Pending>,
    pub backgrounds: Backgrounds,
    /// Messages that a probe has received, and no receive has taken; a matched one has its number.
    pub probed: Vec<(Option<u64>, Got)>,
    pub next_message: u64,
    /// Messages of the rank to itself.
    pub own: VecDeque<Got>,
    /// The number of messages that the rank has sent to itself.
    pub own_sent: u64,
    /// Requests that the program gave up, and sends that go on behind a buffer.
    pub given_up: Vec<Pending>,
    /// What it has asked of others' memories, and of whom.
    pub gets: Vec<(u32, Request<()>)>,
    /// The locks of windows that it has.
    pub held: Vec<Held>,
    pub plans: FxHashMap<PlanKey, Arc<CollectivePlan>>,
    pub makings: FxHashMap<Vec<u32>, u64>,
    /// The number of messages that it has sent to others.
    pub messages_sent: u64,
    /// The number of starts of each persistent collective.
    pub starts: FxHashMap<(u32, u64), u64>,
    /// True if the last call was a look at the clock.
    looked_at_clock: bool,
    /// Since when the rank only looks at the clock.
    polling_since: Time,
    pub call: CurrentCall,
    /// The receive for which it waits at present, if that is a request.
    pub awaited: Option<Wanted>,
    /// True while it waits for a send, if that is a request.
    pub awaits_send: bool,
    /// The times of its looks in vain, by their places in the program.
    pub look_times: FxHashMap<u32, LookTimes>,
    /// The place of the last call, if that was a look in vain.
    pub looked_in_vain: Option<u32>,
    /// True while the rank computes: it has gone on after its last call.
    computes: bool,
    /// The types of the current call's data.
    pub types: Types,
    /// The persistent collective that the current call starts.
    pub persistent: Option<u64>,
    /// True if the rank has received from anyone, or any tag, or has gone on after a look in vain.
    pub has_chosen: bool,
}

/// A run that fails says in which calls its ranks were.
impl Drop for EmulatedRank<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let CurrentCall { what, place } = self.call;
            let address = self.link.address(place);
            let has_chosen = self.has_chosen || self.computes && self.looked_in_vain.is_some();
            let (wants, locks) = (self.wants(), self.describe_locks());
            let sends = self.is_sending();
            let last = LastCall { what, address, wants, sends, has_chosen, locks };
            *self.shared.calls[self.id].lock() = Some(last);
        }
    }
}

impl<'a> EmulatedRank<'a> {
    pub(crate) fn new(shared: &'a Shared<'a>, p: &Proc) -> EmulatedRank<'a> {
        let id = p.id();
        let link = RankLink::new(shared, id);
        EmulatedRank {
            id,
            shared,
            link,
            communicators: CommunicatorList::default(),
            requests: FxHashMap::default(),
            backgrounds: Backgrounds::default(),
            probed: Vec::new(),
            next_message: 0,
            own: VecDeque::new(),
            own_sent: 0,
            given_up: Vec::new(),
            gets: Vec::new(),
            held: Vec::new(),
            plans: FxHashMap::default(),
            makings: FxHashMap::default(),
            messages_sent: 0,
            starts: FxHashMap::default(),
            persistent: None,
            polling_since: Time::ZERO,
            looked_at_clock: false,
            call: CurrentCall { what: Called::Nothing, place: 0 },
            awaited: None,
            awaits_send: false,
            look_times: FxHashMap::default(),
            looked_in_vain: None,
            computes: false,
            types: Types::default(),
            has_chosen: false,
        }
    }

    /// Makes the rank's calls until its end.
    pub(crate) fn run(mut self, p: &mut Proc) {
        p.keep_order();
        self.link.bind();
        loop {
            self.computes = true;
            let (posts, data) = self.link.next(p);
            self.computes = false;
            let (mut rest, mut reply) = (&data[..], Reply::NOTHING);
            for post in posts {
                reply = self.make(p, post, &mut rest);
                self.end_looks(&reply);
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
        if !matches!(post.kind, PostKind::Exited) {
            self.call = CurrentCall { what: Called::of(&post.kind), place: post.place };
        }
        self.types = post.types;
        self.learn(p);
        self.note_choice(&post.kind);
        let looked = std::mem::replace(&mut self.looked_at_clock, matches!(post.kind, PostKind::Clock));
        match post.kind {
            PostKind::Call(kind) => self.call(p, kind, data),
            PostKind::Wait { form, requests } => self.wait(p, form, &requests),
            PostKind::GetStatus(request) => self.status(p, request),
            PostKind::Probe { receive, is_wait, is_matched } => self.probe(p, &receive, is_wait, is_matched),
            PostKind::ReceiveMatched { message, request } => self.receive_matched(p, message, request),
            PostKind::Together { parent, of, bytes } => {
                let (own, rest) = data.split_at_checked(bytes).unwrap_or((data, &[]));
                *data = rest;
                self.call_together(p, parent, of, own)
            }
            PostKind::AtFile { .. } => {
                p.wait_to_act();
                Reply::NOTHING
            }
            PostKind::OnFile { communicator, bytes, .. } => {
                let (own, rest) = data.split_at_checked(bytes).unwrap_or((data, &[]));
                *data = rest;
                self.call_on_file(p, communicator, own)
            }
            PostKind::Duplicate { parent, request } => self.duplicate(p, parent, request),
            PostKind::Left(requests) => self.take_left(p, &requests),
            PostKind::Forget(request) => {
                self.given_up.extend(self.requests.remove(&request));
                Reply::NOTHING
            }
            PostKind::Cancel(request) => self.cancel(p, request),
            PostKind::Clock => {
                self.look_at_clock(p, looked);
                Reply::NOTHING
            }
            PostKind::Finalize => {
                self.finish(p);
                Reply::End
            }
            PostKind::Abort(code) => {
                let place = self.link.place_text(self.call.place);
                let why = format!("rank {} called MPI_Abort with code {code}{place}", self.id);
                self.fail(p, (FaultKind::Abort, why))
            }
            PostKind::Refused(why) => self.refuse(p, &why),
            PostKind::Note(kind, why) => {
                let note = (self.found_kind(p, &kind), self.with_places(&why));
                self.shared.notes.lock().entry(note).or_default().insert(self.id);
                Reply::NOTHING
            }
            PostKind::Finding(kind, why) => {
                let kind = self.found_kind(p, &kind);
                self.fail(p, (kind, format!("rank {} {}", self.id, self.with_places(&why))))
            }
            PostKind::Access(access) => {
                self.note_access(p, access);
                Reply::NOTHING
            }
            PostKind::AccessEnd(window, of, which) => {
                self.end_accesses(p, window, of, which);
                Reply::NOTHING
            }
            PostKind::Exited => {
                let end = self.shared.segment.slot(self.id).end();
                let (_, why) = RankEnd { signal: None, ..end }.fault(self.id);
                self.fail(p, (FaultKind::EarlyExit, why))
            }
        }
    }

    /// Lets time pass if the rank looks at the clock and did so before: a program that waits for a time must come to it. Where
    /// its looks take no time of their own, they are farther apart the longer it waits, by a thousandth of that.
    fn look_at_clock(&mut self, p: &mut Proc, again: bool) {
        if !again {
            self.polling_since = p.now();
            return;
        }
        let waited = p.now() - self.polling_since;
        let step = if self.shared.settings.speed == 0.0 { waited / 1000 } else { Time::ZERO };
        p.wait_until(p.now() + step.max(p.params().cycle));
    }

    /// Ends the run, since the rank calls what cannot be emulated.
    pub(crate) fn refuse(&self, p: &mut Proc, why: &str) -> ! {
        let why = format!("rank {} {why}", self.id);
        *self.shared.refused.lock() = Some(why.clone());
        p.fail_with(why);
    }

    /// Ends the run, since a fault has been found.
    pub(crate) fn fail(&self, p: &mut Proc, fault: (FaultKind, String)) -> ! {
        self.shared.fail(p, fault);
    }

    /// Notes whether a call depends on the order of messages: it takes a message of anyone, looks, or reaches for memory that
    /// others may reach for before.
    fn note_choice(&mut self, kind: &PostKind) {
        let is_open = |receive: &Receive| receive.from.is_none() || receive.tag.is_none();
        let (looks, takes_any) = match kind {
            PostKind::Call(
                MpiCallKind::Recv { receive, .. } | MpiCallKind::SendRecv { receive: Some(receive), .. },
            ) => (false, is_open(receive)),
            PostKind::Call(MpiCallKind::Start(calls)) => {
                let starts_open = |call: &MpiCallKind| match call {
                    MpiCallKind::Recv { receive, .. } => is_open(receive),
                    _ => false,
                };
                (false, calls.iter().any(starts_open))
            }
            PostKind::Probe { receive, is_wait, .. } => (true, *is_wait && is_open(receive)),
            PostKind::Wait { form: WaitForm::Wait | WaitForm::Waitall, .. } => (false, false),
            PostKind::Wait { .. } | PostKind::GetStatus(_) | PostKind::Clock => (true, false),
            PostKind::AtFile { depends, .. } => (false, *depends),
            // Who has a lock first, and which atomic access comes first, is up to the order.
            PostKind::Call(MpiCallKind::OneSided(OneSided::Lock { is_exclusive, .. })) => {
                (false, *is_exclusive)
            }
            PostKind::Access(access) => (false, access.kind == AccessKind::Accumulate),
            _ => (false, false),
        };
        self.has_chosen |= takes_any;
        if looks || takes_any {
            self.shared.looks.store(true, Ordering::Relaxed);
        }
    }

    /// Lets time pass at a look in vain.
    pub(crate) fn lengthen_look(&mut self, p: &mut Proc) {
        let longest = self.shared.settings.checks.map_or(Time::ZERO, |checks| checks.longest_look);
        if longest == Time::ZERO {
            return;
        }
        let takes = self.look_times.entry(self.call.place).or_default().lengthen(longest, p.params().cycle);
        if takes > Time::ZERO {
            p.wait_until(p.now() + takes);
        }
    }

    /// Notes what a look of the present call has found, and whether the program goes on after one in vain: that depends on the order.
    fn end_looks(&mut self, reply: &Reply) {
        if let Called::Named("MPI_Wtime") = self.call.what {
            return;
        }
        let (place, in_vain) = (self.call.place, is_in_vain(self.call.what, reply));
        let before = std::mem::replace(&mut self.looked_in_vain, in_vain.then_some(place));
        self.has_chosen |= before.is_some_and(|before| before != place);
        if !in_vain && let Some(times) = self.look_times.get_mut(&place) {
            times.end();
        }
    }

    /// Returns the kind of a fault that the rank has found at itself.
    fn found_kind(&self, p: &mut Proc, name: &str) -> FaultKind {
        let unknown =
            || p.fail_with(format!("rank {} finds a fault of the kind {name}, which is none", self.id));
        FaultKind::named(name).unwrap_or_else(unknown)
    }

    /// Returns what the rank has found at itself. Where it says `{3}` is its place of this number.
    pub(crate) fn with_places(&self, why: &str) -> String {
        let mut parts = why.split('{');
        let mut text = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let place = part.split_once('}').and_then(|(number, rest)| Some((number.parse().ok()?, rest)));
            match place {
                Some((number, rest)) => {
                    text.extend([self.link.place_text(number).as_str(), rest]);
                }
                None => text.extend(["{", part]),
            }
        }
        text
    }

    /// Returns the rank's call at present.
    pub(crate) fn last_call(&self) -> LastCall {
        LastCall { what: self.call.what, address: self.link.address(self.call.place), ..LastCall::default() }
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
                wants.extend(self.awaited);
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

    /// Returns whether the rank waits for the receiver of a message that an MPI may buffer.
    fn is_sending(&self) -> bool {
        let is_unbuffered = self.shared.settings.checks.is_some_and(|checks| checks.is_unbuffered);
        let is_send = |pending: &Pending| matches!(pending, Pending::Send(..) | Pending::Both(_));
        is_unbuffered
            && match self.call.what {
                Called::Send(mode, _, false) => mode == SendMode::Standard,
                Called::Exchange(..) => self.awaits_send,
                Called::Wait(WaitForm::Waitany | WaitForm::Waitsome) => self.requests.values().any(is_send),
                Called::Wait(_) => self.awaits_send,
                _ => false,
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

    /// Returns the rank in a communicator of a rank of the world, in the remote group if there is one.
    pub(crate) fn rank_in(&mut self, communicator: u32, world: usize) -> u64 {
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

    fn call(&mut self, p: &mut Proc, kind: MpiCallKind, data: &mut &[u8]) -> Reply {
        match kind {
            MpiCallKind::Send { mode, message, request } => self.send(p, mode, message, request, data),
            MpiCallKind::Recv { receive, request: Some(request) } => {
                let pending = self.post_receive(p, &receive);
                self.requests.insert(request, pending);
                Reply::NOTHING
            }
            MpiCallKind::Recv { receive, request: None } => {
                let got = self.receive(p, &receive);
                Reply::Message(self.rank_in(receive.communicator, got.from), got.parcel)
            }
            MpiCallKind::SendRecv { message, receive, request } => {
                self.exchange(p, message, receive.as_ref(), request, data)
            }
            MpiCallKind::Start(kinds) => {
                kinds.into_iter().for_each(|kind| _ = self.call(p, kind, data));
                Reply::NOTHING
            }
            MpiCallKind::StartCollective { made, collective } => {
                self.persistent = Some(made);
                let reply = self.call(p, *collective, data);
                self.persistent = None;
                reply
            }
            MpiCallKind::Collective { kind, communicator, root, sent, received, request } => {
                self.collective(p, (kind, communicator, root), (sent, received), request, data)
            }
            MpiCallKind::OneSided(what) => self.one_sided(p, what),
            _ => p.fail_with(format!("rank {} posts what is no call", self.id)),
        }
    }

    /// Ends the rank: what it gave up, or never waited for, must be over.
    fn finish(&mut self, p: &mut Proc) {
        self.finish_gets(p, None);
        let mut left: Vec<_> = self.requests.drain().collect();
        left.sort_unstable_by_key(|(number, _)| *number);
        let given_up = std::mem::take(&mut self.given_up);
        for pending in given_up.into_iter().chain(left.into_iter().map(|(_, pending)| pending)) {
            self.finish_given_up(p, pending);
        }
        if self.shared.settings.checks.is_some() {
            self.look_for_left(p);
        }
    }

    /// Ends the run if the rank has a lock at its end, or messages that it has not received.
    fn look_for_left(&mut self, p: &mut Proc) {
        if let Some(lock) = self.describe_locks().first() {
            self.fail(p, (FaultKind::CallOrdering, format!("{lock} before MPI_Finalize")));
        }
        if let Some(left) = self.describe_left() {
            self.fail(p, (FaultKind::CallOrdering, left));
        }
    }
}
