//! One processor's engine: all its rules of sending, receiving and waiting, without a stack and without a clock.
//!
//! An engine is posted [operations](Operation), says what comes [next](Engine::next), takes [turns](Engine::turn) in the
//! network and messages that [come](Engine::comes), and says what is done. The waiting is up to its driver, such as
//! [`Proc`](crate::Proc) for programs. A blocking call is *post and drive until done*; a request is *post, and drive later*.
//! Together with `network.rs` the engine is the machine:
//!
//! - **send**: the processor [turns to](Pace::turns_to) a message, which waits for its turn and [enters](Engine::turn); rules 1
//!   to 3 are the network's;
//! - **receive**: [`Engine::next`] says from when on a message can be received. Rule 4 is [`Pace::receives`];
//! - **compute** and **wait**: [`Engine::works`], [`Engine::waits_until`];
//! - **request** (LogGPS, section 3.2): an operation with a local time of [its own](Own), which the processor
//!   [joins](Engine::joins) when it waits for the request;
//! - **order** (MPI): messages to the same processor enter in the order of their calls, and a message goes to the receive
//!   that was posted first.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap, VecDeque};
use std::panic::Location;

use super::network::{Egress, Network, Passage};
use super::operation::{ActiveOperation, RequestState, RequestActivity, OperationStage, OperationStep};
use super::pace::{OutgoingMessage, Pace};
use super::reception::{WaitReason, Purpose, Reception, PostedReceives};
use super::stats::Stats;
use crate::error::ProcStatus;
use crate::message::matching::PostedReceive;
use crate::message::parcel::Parcel;
use crate::message::{Envelope, MessageId, Header, RawTag, Receiver, ArrivedHeader, RecvFilter};
use crate::time::Time;
use crate::trace::{Activity, ActivityKind, CallKind, Log, Message, CallMessages, Progress, Transfer};

/// A processor as the rules see it. What every message touches comes first.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Engine {
    /// Whether requests are under way: then time may pass only while they go on too.
    pub has_requests: bool,
    /// Whether a send that has begun could enter only after the end of time.
    pub is_at_the_end_of_time: bool,
    /// Whether the run is traced, so that there is a log.
    is_traced: bool,
    /// The local time and the gaps.
    pace: Pace,
    /// Where the time goes. What few messages touch of it comes last.
    stats: Stats,
    /// What the processor did, if the run is traced.
    log: Option<Box<Log>>,
    /// The requests, once there was one.
    requests: Option<Box<RequestTable>>,
}

/// The requests of a processor.
#[derive(Debug, Default)]
struct RequestTable {
    /// How many requests were called for.
    next_number: u32,
    /// The time until which the requests have done everything.
    caught_up_to: Time,
    /// The requests that were not waited for, by number.
    operations: BTreeMap<u32, Box<ActiveOperation>>,
    /// The turns of the requests' messages.
    turns: BinaryHeap<Reverse<Turn>>,
    /// The requests' receives that wait for messages; `None` while the processor's clock has them.
    receives: Option<Box<PostedReceives>>,
    /// For each receiver the sends whose message has not entered yet, in the order of their calls.
    send_queues: HashMap<u32, VecDeque<u32>>,
}

/// The turn of a message: when it asks the network for its way. Of messages with the same time, the one to which the
/// processor turned first goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Turn {
    pub time: Time,
    /// The message's number.
    number: u32,
    /// The request that sends it, or [`CALL`].
    owner: u32,
    /// Whether other processors can see the turn: then all earlier turns must have been taken before it.
    pub is_visible: bool,
}

/// Stands for the processor's current call where a request's number could stand.
const CALL: u32 = u32::MAX;

/// What an engine does next.
#[derive(Debug)]
pub(crate) struct NextEvent<'e> {
    /// It receives a message, if one comes before the turn, or before the deadline if there is no turn.
    pub reception: Option<Reception<'e>>,
    /// It sends a message at this turn.
    pub turn: Option<Turn>,
}

impl Engine {
    /// A processor at time 0.
    pub(crate) fn new(id: usize, network: &Network, trace: bool) -> Engine {
        Engine {
            has_requests: false,
            is_at_the_end_of_time: false,
            is_traced: trace,
            pace: Pace::new(id, network),
            stats: Stats::default(),
            log: trace.then(Box::default),
            requests: None,
        }
    }

    #[inline]
    pub(crate) fn id(&self) -> usize {
        self.pace.egress.processor()
    }

    /// The processor's local time.
    #[inline]
    pub(crate) fn now(&self) -> Time {
        self.pace.now
    }

    /// The number that the processor's next message will have.
    #[inline]
    pub(crate) fn next_number(&self) -> u32 {
        self.pace.egress.next_number()
    }

    /// When the gap after the last send is over.
    pub(crate) fn send_gap_end(&self) -> Time {
        self.pace.egress.send_gap_end()
    }

    /// The moment from which on a send of k words to a processor need not wait for that gap.
    #[inline]
    pub(crate) fn next_send(&self, network: &Network, to: usize, k: usize) -> Time {
        self.pace.next_send(network, to, k)
    }

    // Operations.

    /// A call begins. Its message enters after earlier sends to the same processor.
    #[inline]
    pub(crate) fn start(&mut self, network: &Network, call: &mut ActiveOperation) {
        if !(self.has_requests && self.queue_send(CALL, call)) {
            self.advance(network, CALL, call);
        }
    }

    /// The processor and its requests have reached the time at which the call has taken its message.
    pub(crate) fn resume(&mut self, network: &Network, call: &mut ActiveOperation) {
        if let OperationStage::AwaitLocalTime = call.stage {
            self.advance(network, CALL, call);
        }
    }

    /// The processor calls for a request, and goes on after o (LogGPS, equations 6 and 10). Returns the request's number.
    pub(crate) fn post(
        &mut self,
        network: &Network,
        mut operation: ActiveOperation,
        at: &'static Location<'static>,
    ) -> u32 {
        let (now, sends) = (self.pace.now, matches!(operation.next_step(), OperationStep::Send(..)));
        let over = network.busy_until(self.id(), now, network.params().o);
        let requests = self.requests.get_or_insert_default();
        let number = requests.next_number;
        requests.next_number += 1;
        requests.caught_up_to = now;
        self.has_requests = true;
        self.pace.now = over;
        *if sends { &mut self.stats.send } else { &mut self.stats.recv } += over - now;
        if self.is_traced {
            self.log_activity(now, ActivityKind::Post(number));
        }
        operation.request = Some(Box::new(RequestState { now, activities: Vec::new(), is_send: sends, called_at: now, location: at }));
        if sends {
            self.pace.egress.keep_order();
        }
        if !(sends && self.queue_send(number, &operation)) {
            self.advance(network, number, &mut operation);
        }
        self.requests().operations.insert(number, Box::new(operation));
        number
    }

    /// Queues an operation for its receiver, if it is a send. Returns whether other sends are before it.
    fn queue_send(&mut self, owner: u32, operation: &ActiveOperation) -> bool {
        let OperationStep::Send(..) = operation.next_step() else { return false };
        let queue = self.requests().send_queues.entry(operation.peer).or_default();
        queue.push_back(owner);
        queue.len() > 1
    }

    fn requests(&mut self) -> &mut RequestTable {
        self.requests.get_or_insert_default()
    }

    /// An operation begins its next step.
    #[inline]
    fn advance(&mut self, network: &Network, owner: u32, operation: &mut ActiveOperation) {
        operation.stage = match operation.next_step() {
            OperationStep::Send(tag, words) => {
                let (to, words) = (operation.peer as usize, words as usize);
                let mut outgoing =
                    self.with_local_time(operation, |engine, _| engine.pace.prepare_send(network, to, words));
                if outgoing.is_after_end_of_time() {
                    self.is_at_the_end_of_time = true;
                    return;
                }
                if self.has_requests {
                    let at = self.requests().caught_up_to;
                    self.pace.defer(network, &mut outgoing, at);
                    self.queue_turn(owner, &outgoing);
                }
                OperationStage::AwaitTurn(outgoing, tag)
            }
            OperationStep::Receive(filter) => {
                if owner != CALL {
                    let receives = self.requests().receives.get_or_insert_default();
                    receives.receives.post(PostedReceive { place: (Time::ZERO, owner), filter: filter });
                }
                OperationStage::AwaitMessage(filter)
            }
            OperationStep::Done => OperationStage::Done,
        };
    }

    /// Notes the turn of a request's message. The turn of the call's message is in the call's stage.
    fn queue_turn(&mut self, owner: u32, outgoing: &OutgoingMessage) {
        if owner != CALL {
            self.requests().turns.push(Reverse(Turn::new(owner, outgoing)));
        }
    }

    /// What the call and all requests do next, until a time.
    #[inline]
    pub(crate) fn next_event<'e>(&'e mut self, network: &Network, call: &'e ActiveOperation, until: Time) -> NextEvent<'e> {
        let turn = match &call.stage {
            OperationStage::AwaitTurn(outgoing, _) => Some(Turn::new(CALL, outgoing)),
            _ => None,
        };
        let mut filter = match call.stage {
            OperationStage::AwaitMessage(filter) => filter,
            _ => RecvFilter::NOTHING,
        };
        let alone = self.reception(filter, until);
        if !self.has_requests {
            let awaits = call.wait_reason(network, self.id());
            return NextEvent {
                reception: (filter != RecvFilter::NOTHING).then_some(Reception { wait_reason: awaits, ..alone }),
                turn,
            };
        }
        if alone.ready > until {
            filter = RecvFilter::NOTHING; // the gap is not over in time
        }
        let awaits = call.wait_reason(network, self.id());
        let requests = self.requests();
        let first = requests.turns.peek().map(|Reverse(first)| *first);
        let turn = [turn, first].into_iter().flatten().min().filter(|turn| turn.time <= until);
        let deadline = turn.map_or(until, |turn| turn.time).max(requests.caught_up_to);
        let ready = requests.caught_up_to;
        let posted = requests.receives.as_ref().is_some_and(|receives| !receives.receives.is_empty());
        let receives = posted.then_some(&mut requests.receives);
        let reception = (filter != RecvFilter::NOTHING || posted).then(|| {
            let gives_up = turn.is_none_or(|turn| turn.time == until);
            let purpose = if gives_up { Purpose::TakeEarlyOrGiveUp } else { Purpose::TakeEarly };
            Reception { filter: filter, ready, deadline, purpose, posted_receives: receives, wait_reason: awaits }
        });
        NextEvent { reception, turn }
    }

    /// The wait for messages is over. If a message has come, it goes to the call or request that wants it. Returns whether
    /// one has come.
    #[inline]
    pub(crate) fn on_message(
        &mut self,
        network: &Network,
        call: &mut ActiveOperation,
        deadline: Time,
        message: Option<Envelope>,
    ) -> bool {
        let mut chosen = None;
        if self.has_requests {
            let requests = self.requests();
            chosen = requests.receives.as_mut().and_then(|receives| receives.chosen.take());
            let at = message.as_ref().map_or(deadline, |message| message.arrival);
            requests.caught_up_to = requests.caught_up_to.max(at);
        }
        let Some(message) = message else { return false };
        match chosen {
            None => self.finish_receive(network, CALL, call, message),
            Some(receive) => {
                let (_, number) = receive.place;
                if let Some(receives) = &mut self.requests().receives {
                    receives.receives.remove(receive);
                }
                self.with_operation(number, call, |engine, request| engine.finish_receive(network, number, request, message));
            }
        }
        true
    }

    /// An operation has got its message.
    #[inline]
    fn finish_receive(&mut self, network: &Network, owner: u32, operation: &mut ActiveOperation, message: Envelope) {
        let seen = message.arrived_header();
        let Header { from, number, tag, .. } = seen.1;
        if !tag.is_signal() {
            self.with_local_time(operation, |engine, activities| engine.account_reception(network, seen, activities));
        }
        operation.on_received(from, number, tag);
        operation.received = Some(message);
        if owner == CALL && self.has_requests {
            operation.stage = OperationStage::AwaitLocalTime;
        } else {
            self.advance(network, owner, operation);
        }
    }

    /// A turn has come. Its message enters, as the network serves it, and is returned, or it is put off, because other
    /// messages of the processor have entered since the turn was set.
    #[inline]
    pub(crate) fn on_turn(
        &mut self,
        network: &Network,
        serve: ServeFn,
        call: &mut ActiveOperation,
        turn: Turn,
    ) -> Option<(ArrivedHeader, Parcel)> {
        if !self.has_requests {
            return self.send_at_turn(network, serve, CALL, call, turn);
        }
        let requests = self.requests();
        requests.caught_up_to = requests.caught_up_to.max(turn.time);
        if turn.owner != CALL {
            requests.turns.pop();
        }
        let (seen, parcel) = self.with_operation(turn.owner, call, |engine, operation| {
            engine.send_at_turn(network, serve, turn.owner, operation, turn)
        })?;
        if seen.1.tag.is_start_of_send() {
            let behind = &mut self.requests().send_queues;
            let queue = behind.entry(seen.1.to.id()).or_default();
            queue.pop_front();
            match queue.front().copied() {
                Some(owner) => {
                    self.with_operation(owner, call, |engine, operation| engine.advance(network, owner, operation))
                }
                None => _ = behind.remove(&seen.1.to.id()),
            }
        }
        Some((seen, parcel))
    }

    /// The turn of an operation's message has come.
    #[inline]
    fn send_at_turn(
        &mut self,
        network: &Network,
        serve: ServeFn,
        owner: u32,
        operation: &mut ActiveOperation,
        turn: Turn,
    ) -> Option<(ArrivedHeader, Parcel)> {
        let OperationStage::AwaitTurn(mut outgoing, tag) = operation.stage else { return None };
        if self.has_requests && self.pace.defer(network, &mut outgoing, turn.time) {
            operation.stage = OperationStage::AwaitTurn(outgoing, tag);
            self.queue_turn(owner, &outgoing);
            return None;
        }
        let parcel = if operation.sends_data() { operation.parcel.take() } else { None };
        let parcel = parcel.unwrap_or_else(|| Parcel::new(()));
        let seen = self.with_local_time(operation, |engine, activities| {
            let passage = serve(engine.egress(), &outgoing);
            engine.account_entry(network, &outgoing, &passage, tag, activities)
        });
        operation.on_sent(outgoing.number);
        self.advance(network, owner, operation);
        Some((seen, parcel))
    }

    // Messages.

    /// Turns to a message, which then waits for its turn.
    #[inline]
    pub(crate) fn prepare_send(&mut self, network: &Network, to: usize, words: usize) -> OutgoingMessage {
        self.pace.prepare_send(network, to, words)
    }

    /// The reception of a message that a call wants, for a processor without requests.
    #[inline]
    pub(crate) fn reception(&self, filter: RecvFilter, until: Time) -> Reception<'static> {
        let ready = if filter.tag.is_signal() { self.pace.now } else { self.pace.next_reception() };
        let (purpose, awaits) = (Purpose::Receive, WaitReason::Message);
        Reception { filter: filter, ready, deadline: until, purpose, posted_receives: None, wait_reason: awaits }
    }

    /// The sending side of the processor.
    #[inline]
    pub(crate) fn egress(&mut self) -> &mut Egress {
        &mut self.pace.egress
    }

    /// A message enters at its turn, as the network has served it. Local time goes on when the message has entered. Returns
    /// what its receiver sees of it.
    #[inline(always)]
    pub(crate) fn account_entry(
        &mut self,
        network: &Network,
        message: &OutgoingMessage,
        passage: &Passage,
        tag: RawTag,
        activities: &mut ActivityLog,
    ) -> ArrivedHeader {
        let OutgoingMessage { to, words, number, .. } = *message;
        let id = MessageId { from: self.id(), number: number as usize };
        let mut overhead = network.send_overhead(id.from, to, words);
        if let Some(noise) = network.noise() {
            overhead = passage.ready - noise.earliest_start(id.from, passage.ready, overhead, self.pace.now);
        }
        self.stats.sent += 1;
        self.stats.words_sent += words as u64;
        if passage.out_of_order {
            self.stats.out_of_order += 1;
        }
        self.spend_until(activities, passage.ready - overhead, ActivityKind::Gap);
        self.spend(activities, overhead, ActivityKind::Send(id));
        let stall = passage.admitted - passage.ready;
        if stall > Time::ZERO {
            self.stats.stalls += 1;
            self.stats.longest_stall = self.stats.longest_stall.max(stall);
            self.spend_until(activities, passage.admitted, ActivityKind::Stall);
        }
        self.spend_until(activities, passage.enter, ActivityKind::Port);
        if self.is_traced {
            self.log_entry(network, message, passage, tag, activities.is_none());
        }
        let is_instant = passage.arrival == message.entry.asked_at && network.has_fixed_latency(id.from, to);
        let to = Receiver::new(to as u32, is_instant);
        let header = Header { from: id.from as u32, to, number, words: words as u32, tag };
        (passage.arrival, header)
    }

    /// The processor receives a message. Local time goes on when the reception is over.
    #[inline(always)]
    pub(crate) fn account_reception(&mut self, network: &Network, (arrival, header): ArrivedHeader, activities: &mut ActivityLog) {
        let Header { words, tag, .. } = header;
        let id = header.id();
        self.stats.received += 1;
        self.stats.words_received += u64::from(words);
        if self.is_traced
            && activities.is_none()
            && let Some(log) = &mut self.log
        {
            log.call_messages.add_received(tag, id);
        }
        let start = self.pace.start_reception(network, id.from, arrival);
        self.spend_until(activities, arrival, ActivityKind::Idle);
        self.spend_until(activities, start, ActivityKind::Gap);
        let overhead = network.recv_overhead(id.from, self.id(), words as usize);
        let over = network.busy_until(self.id(), start, overhead);
        self.spend(activities, over - start, ActivityKind::Receive(id));
    }

    /// Notes a message that has entered, for the trace.
    #[cold]
    fn log_entry(
        &mut self,
        network: &Network,
        message: &OutgoingMessage,
        passage: &Passage,
        tag: RawTag,
        is_calls: bool,
    ) {
        let OutgoingMessage { turn, entry: request, to, words, number, .. } = *message;
        let id = MessageId { from: self.id(), number: number as usize };
        if let Some(log) = &mut self.log {
            let Passage { enter, first, arrival, .. } = *passage;
            let (latency, place) = (request.latency, network.place(turn, id.from));
            if is_calls {
                log.call_messages.add_sent(tag, id);
            }
            log.messages.push(Message { id, to, words, latency, place, enter, first, arrival });
        }
    }

    /// Lends the operation of a request or of the call to a closure.
    fn with_operation<R>(
        &mut self,
        owner: u32,
        call: &mut ActiveOperation,
        does: impl FnOnce(&mut Engine, &mut ActiveOperation) -> R,
    ) -> R {
        let Some(mut request) = self.requests().operations.remove(&owner) else { return does(self, call) };
        let done = does(self, &mut request);
        self.requests().operations.insert(owner, request);
        done
    }

    // Requests.

    /// When a request is done, if that is known already.
    pub(crate) fn completion_time(&self, request: u32) -> Option<Time> {
        let operation = self.requests.as_ref()?.operations.get(&request)?;
        operation.request.as_ref().filter(|_| operation.is_done()).map(|own| own.now)
    }

    /// Whether the requests may have something to do until the processor's local time. During a call they may be ahead of it,
    /// and then what else comes at that moment may be the call's.
    pub(crate) fn has_lagging_requests(&self) -> bool {
        self.has_requests && self.requests.as_ref().is_some_and(|requests| requests.caught_up_to <= self.pace.now)
    }

    /// Notes that the requests have done everything until the processor's local time.
    pub(crate) fn mark_caught_up(&mut self) {
        let now = self.pace.now;
        if self.has_requests {
            self.requests().caught_up_to = now.max(self.requests().caught_up_to);
        }
    }

    /// Whether something happens without a message: a gap ends that keeps the processor from receiving, or a request goes on.
    pub(crate) fn has_pending_event(&self) -> bool {
        let is_active = |request: &ActiveOperation| match (&request.stage, &request.request) {
            (OperationStage::Done, Some(own)) => own.now > self.pace.now,
            (OperationStage::AwaitMessage(_), _) => false,
            _ => true,
        };
        let requests = self.requests.iter().flat_map(|requests| requests.operations.values());
        self.pace.is_in_receive_gap() || requests.into_iter().any(|request| is_active(request))
    }

    /// From now on errors say that the processor waits for a request, or for any of several.
    pub(crate) fn set_awaited(&mut self, those: &[u32]) {
        let requests = self.requests();
        let doing = match those {
            [request] => requests.operations.get(request).map_or_else(String::new, |it| format!("its {it}")),
            _ => format!("any of its {} requests", those.len()),
        };
        requests.receives.get_or_insert_default().status = Some(ProcStatus::WaitingForRequest(doing));
    }

    /// How many requests were not waited for, and the first one in words.
    pub(crate) fn unawaited_requests(&self) -> Option<(usize, String)> {
        let operations = &self.requests.as_ref()?.operations;
        operations.first_key_value().map(|(_, first)| (operations.len(), first.to_string()))
    }

    /// The processor waits for a request that is done, for o at least (LogGPS, equation 11). The time of the wait counts for
    /// what the request did meanwhile. Returns the request.
    pub(crate) fn join(&mut self, network: &Network, number: u32) -> Option<ActiveOperation> {
        let requests = self.requests();
        let mut request = requests.operations.remove(&number)?;
        if let Some(receives) = &mut requests.receives {
            receives.status = None;
        }
        self.has_requests = !requests.operations.is_empty();
        let RequestState { now: done, activities: activities, is_send: sends, .. } = *request.request.take()?;
        let called = self.pace.now;
        let least = network.busy_until(self.id(), called, network.params().o);
        for activity in &activities {
            let waited = activity.end - activity.start.max(called);
            if waited > Time::ZERO {
                *account(&mut self.stats, &activity.what) += waited;
            }
        }
        let overhead = (least - called.max(done)).max(Time::ZERO);
        *if sends { &mut self.stats.send } else { &mut self.stats.recv } += overhead;
        self.pace.now = least.max(done);
        let (id, end) = (self.id(), self.pace.now);
        if let Some(log) = &mut self.log {
            log.activities.push(Activity { id, start: called, end, what: ActivityKind::Wait(number) });
            let transfer = transfer(&activities, sends);
            log.end_call(id, end, transfer.map(|transfer| CallKind::Wait { request: number, is_send: sends, transfer }));
            let progress =
                |RequestActivity { start, end, what, .. }| Progress { id, request: number, start, end, what };
            log.progress.extend(activities.into_iter().map(progress));
        }
        Some(*request)
    }

    // Time.

    /// The processor looked for a message in vain until the deadline. If that has passed, it goes on after a cycle, so that
    /// looking moves time forward.
    pub(crate) fn wait_in_vain(&mut self, network: &Network, deadline: Time) {
        let until = if deadline > self.pace.now { deadline } else { self.pace.now + network.params().cycle };
        self.wait_until(until);
    }

    /// Computes for so long. Work without a cost is not traced.
    #[inline]
    pub(crate) fn work(
        &mut self,
        network: &Network,
        kind: impl Into<Cow<'static, str>> + Clone,
        cost: Time,
    ) {
        let start = self.pace.now;
        self.pace.now = start.max(network.busy_until(self.id(), start, cost));
        self.stats.work += self.pace.now - start;
        if self.is_traced && self.pace.now > start {
            self.log_work(start, kind.into());
        }
    }

    /// Notes what was computed, for the trace.
    #[cold]
    fn log_work(&mut self, start: Time, kind: Cow<'static, str>) {
        let (id, end) = (self.id(), self.pace.now);
        if let Some(log) = &mut self.log {
            log.activities.push(Activity { id, start, end, what: ActivityKind::Work(kind.clone()) });
            log.end_call(id, end, Some(CallKind::Work(kind)));
        }
    }

    /// Waits until a moment, unless that has passed.
    pub(crate) fn wait_until(&mut self, t: Time) {
        self.spend_until(&mut None, t, ActivityKind::Idle);
    }

    /// Waits in the machine's own barrier until the barrier is over.
    pub(crate) fn wait_in_barrier(&mut self, over: Time) {
        self.spend(&mut None, over - self.pace.now, ActivityKind::Barrier);
    }

    /// Runs a closure in the local time of an operation: its own if it is a request, else the processor's.
    #[inline(always)]
    fn with_local_time<R>(
        &mut self,
        operation: &mut ActiveOperation,
        does: impl FnOnce(&mut Engine, &mut ActivityLog) -> R,
    ) -> R {
        let Some(own) = &mut operation.request else { return does(self, &mut None) };
        std::mem::swap(&mut self.pace.now, &mut own.now);
        let done = does(self, &mut Some(&mut own.activities));
        std::mem::swap(&mut self.pace.now, &mut own.now);
        done
    }

    /// Lets time pass until a moment, unless that has passed.
    #[inline(always)]
    fn spend_until(&mut self, activities: &mut ActivityLog, until: Time, what: ActivityKind) {
        if until > self.pace.now {
            self.spend(activities, until - self.pace.now, what);
        }
    }

    /// Lets time pass, and notes what for even if it is no time at all: a send that costs nothing is a send.
    #[inline(always)]
    fn spend(&mut self, activities: &mut ActivityLog, time: Time, what: ActivityKind) {
        let start = self.pace.now;
        self.pace.now += time;
        match activities {
            None => *account(&mut self.stats, &what) += time,
            Some(activities) => return activities.push(RequestActivity { start, end: self.pace.now, what }),
        }
        if self.is_traced {
            self.log_activity(start, what);
        }
    }

    /// Notes what the processor did since `start`, for the trace.
    #[cold]
    fn log_activity(&mut self, start: Time, what: ActivityKind) {
        let (id, end) = (self.id(), self.pace.now);
        if let Some(log) = &mut self.log {
            log.activities.push(Activity { id, start, end, what });
        }
    }

    // What it did.

    #[inline]
    pub(crate) fn is_traced(&self) -> bool {
        self.is_traced
    }

    /// Notes the call that is over now, if the run is traced.
    #[inline]
    pub(crate) fn log_call(&mut self, what: impl FnOnce(&CallMessages) -> Option<CallKind>) {
        if self.is_traced {
            self.write_call(what);
        }
    }

    /// Notes where in the program the last call is, which may take one of several messages.
    #[cold]
    pub(crate) fn log_call_location(&mut self, at: &'static Location<'static>) {
        if let Some(log) = &mut self.log {
            log.note_location(at);
        }
    }

    /// Notes the call that is over now, for the trace.
    #[cold]
    fn write_call(&mut self, what: impl FnOnce(&CallMessages) -> Option<CallKind>) {
        let (id, now) = (self.id(), self.now());
        if let Some(log) = &mut self.log {
            let what = what(&log.call_messages);
            log.end_call(id, now, what);
        }
    }

    /// The program has returned: where its time went, and what it did if the run is traced. `most_to` is how many messages
    /// were in transit to it at once, at most.
    pub(crate) fn finish(mut self, most_to: usize) -> (Stats, Option<Box<Log>>) {
        self.stats.finish = self.pace.now;
        self.stats.most_to = most_to;
        self.stats.most_from = self.pace.egress.most_in_transit();
        if let Some(log) = &mut self.log {
            // Messages of requests may enter in another order than the one in which they got their numbers.
            log.messages.sort_unstable_by_key(|message| message.id.number);
        }
        (self.stats, self.log)
    }
}

impl Turn {
    fn new(owner: u32, outgoing: &OutgoingMessage) -> Turn {
        Turn { time: outgoing.turn, number: outgoing.number, owner: owner, is_visible: outgoing.is_visible }
    }
}

/// Gives a message its way through the network, at its turn.
pub(crate) type ServeFn<'a> = &'a mut dyn FnMut(&mut Egress, &OutgoingMessage) -> Passage;

/// Where the pieces of a request are noted, for when its processor waits for it; `None` for a call.
type ActivityLog<'a> = Option<&'a mut Vec<RequestActivity>>;

/// The account of [`Stats`] on which an activity's time goes.
#[inline(always)]
fn account<'a>(stats: &'a mut Stats, what: &ActivityKind) -> &'a mut Time {
    match what {
        ActivityKind::Send(_) => &mut stats.send,
        ActivityKind::Receive(_) => &mut stats.recv,
        ActivityKind::Gap => &mut stats.gap,
        ActivityKind::Stall => &mut stats.stall,
        ActivityKind::Port => &mut stats.port,
        ActivityKind::Work(_) => &mut stats.work,
        _ => &mut stats.idle,
    }
}

/// The message of a request that is done: the last one that it sent or received, and LogGPS's request and reply before
/// it, if there were any.
fn transfer(activities: &[RequestActivity], sends: bool) -> Option<Transfer> {
    let ids = |sends: bool| {
        activities.iter().filter_map(move |activity| match activity.what {
            ActivityKind::Send(id) if sends => Some(id),
            ActivityKind::Receive(id) if !sends => Some(id),
            _ => None,
        })
    };
    let first = ids(sends).next()?;
    Some(Transfer::new(ids(sends).next_back()?, Some(first).zip(ids(!sends).next())))
}
