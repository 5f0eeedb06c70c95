//! The engine of one processor: its rules of sending, receiving and waiting, without a stack and without a
//! clock.
//!
//! Its driver, such as [`Proc`](crate::Proc) for programs, [starts](Engine::start) a call or
//! [posts](Engine::post) a request, asks for the [next event](Engine::next_event), waits for that, and tells
//! the engine: a message has arrived ([`Engine::on_message`]), or the turn of a message has come
//! ([`Engine::on_turn`]). A blocking call is *start, and drive until done*; a request is *post, and drive
//! later*. A processor without requests takes a shorter way through the same rules, `send_without_requests`
//! and `receive_without_requests` in `clock/contract.rs`. Engine and `network.rs` are the machine:
//!
//! - **send**: [`Pace::prepare_send`] makes a message, which waits for its turn; rules 1 to 3 are the
//!   network's; [`Engine::spend_send`] moves local time to the entry;
//! - **receive**: [`Engine::message_wait`] says from when on a message can be received; rule 4, with the
//!   receive gap, is [`Pace::start_reception`]; [`Engine::spend_reception`] moves local time to its end;
//! - **compute** and **wait**: [`Engine::work`], [`Engine::wait_until`];
//! - **request** (LogGPS, section 3.2): an operation with a [local time of its own](RequestState), which
//!   [`Engine::join`] waits for;
//! - **order** (MPI): messages to the same processor enter in the order of their calls, and a message goes to
//!   the receive that was posted first.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap, VecDeque};
use std::panic::Location;

use super::message_wait::{MessageWait, PostedReceives, Purpose, WaitReason};
use super::network::{Egress, Network, Passage};
use super::operation::{ActiveOperation, OperationStage, OperationStep, RequestActivity, RequestState};
use super::pace::{OutgoingMessage, Pace};
use super::stats::Stats;
use crate::error::ProcStatus;
use crate::message::matching::PostedReceive;
use crate::message::parcel::Parcel;
use crate::message::{ArrivedHeader, Envelope, Header, MessageId, RawTag, Receiver, RecvFilter};
use crate::time::Time;
use crate::trace::{Activity, ActivityKind, CallKind, CallMessages, Log, Message, Progress, Transfer};

/// A processor as the rules see it.
// The fields that every message touches come first.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Engine {
    /// True if requests are under way: then they must advance while time passes.
    pub has_requests: bool,
    /// True if a send that has started could enter only after the end of time.
    pub is_at_the_end_of_time: bool,
    is_traced: bool,
    pace: Pace,
    stats: Stats,
    /// The log, if the run is traced.
    log: Option<Box<Log>>,
    /// The requests, once there was one.
    requests: Option<Box<RequestTable>>,
}

/// The requests of a processor.
#[derive(Debug, Default)]
struct RequestTable {
    next_number: u32,
    /// The requests have done everything until this time.
    caught_up_to: Time,
    /// The requests that were not waited for, by number.
    operations: BTreeMap<u32, Box<ActiveOperation>>,
    /// The turns of the requests' messages.
    turns: BinaryHeap<Reverse<Turn>>,
    /// The requests' receives that wait for messages; `None` while the processor's clock has them.
    receives: Option<Box<PostedReceives>>,
    /// The sends whose first message has not been served yet, by receiver, in the order of their calls.
    send_queues: HashMap<u32, VecDeque<u32>>,
}

/// The turn of a message, at which the network serves it. Of a processor's messages with the same time, the
/// one that it prepared first comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Turn {
    pub time: Time,
    /// The message's number.
    number: u32,
    /// The request that sends it, or [`CALL`].
    owner: u32,
    /// True if other processors can see the turn: then all earlier turns must come before it.
    pub is_visible: bool,
}

/// The processor's current call, in place of a request's number.
const CALL: u32 = u32::MAX;

/// The next event of an engine, for which its driver has to wait.
#[derive(Debug)]
pub(crate) struct NextEvent<'e> {
    /// The wait for a message, which comes first: it ends at the turn, or at the call's deadline if there is
    /// no turn.
    pub wait: Option<MessageWait<'e>>,
    /// The turn of a message, if none arrives before it.
    pub turn: Option<Turn>,
}

impl Engine {
    /// Creates the engine of a processor at time 0.
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

    /// Returns the processor's local time.
    #[inline]
    pub(crate) fn now(&self) -> Time {
        self.pace.now
    }

    /// Returns the number of the processor's next message.
    #[inline]
    pub(crate) fn next_number(&self) -> u32 {
        self.pace.egress.next_number()
    }

    /// Returns the end of the send gap.
    pub(crate) fn send_gap_end(&self) -> Time {
        self.pace.egress.send_gap_end()
    }

    /// Returns the earliest time at which a send of k words need not wait for the send gap.
    #[inline]
    pub(crate) fn next_send(&self, network: &Network, to: usize, k: usize) -> Time {
        self.pace.next_send(network, to, k)
    }

    // Operations.

    /// Starts a call. A send is queued if earlier sends to the same processor have not been served yet.
    #[inline]
    pub(crate) fn start(&mut self, network: &Network, call: &mut ActiveOperation) {
        if !(self.has_requests && self.queue_send(CALL, call)) {
            self.advance(network, CALL, call);
        }
    }

    /// Resumes a call that has received a message, once the processor's requests have caught up with it.
    pub(crate) fn resume(&mut self, network: &Network, call: &mut ActiveOperation) {
        if let OperationStage::AwaitLocalTime = call.stage {
            self.advance(network, CALL, call);
        }
    }

    /// Posts a request, which takes o (LogGPS, equations 6 and 10). Returns the request's number.
    pub(crate) fn post(
        &mut self,
        network: &Network,
        mut operation: ActiveOperation,
        at: &'static Location<'static>,
    ) -> u32 {
        let (now, is_send) = (self.pace.now, matches!(operation.next_step(), OperationStep::Send(..)));
        let end = network.busy_until(self.id(), now, network.params().o);
        let requests = self.requests.get_or_insert_default();
        let number = requests.next_number;
        requests.next_number += 1;
        requests.caught_up_to = now;
        self.has_requests = true;
        self.pace.now = end;
        *if is_send { &mut self.stats.send } else { &mut self.stats.recv } += end - now;
        if self.is_traced {
            self.log_activity(now, ActivityKind::Post(number));
        }
        operation.request = Some(Box::new(RequestState {
            now,
            activities: Vec::new(),
            is_send,
            called_at: now,
            location: at,
        }));
        if is_send {
            self.pace.egress.keep_order();
        }
        if !(is_send && self.queue_send(number, &operation)) {
            self.advance(network, number, &mut operation);
        }
        self.requests().operations.insert(number, Box::new(operation));
        number
    }

    /// Queues an operation behind earlier sends to its receiver, if it is a send. Returns whether there are
    /// any, so that it must not start yet.
    fn queue_send(&mut self, owner: u32, operation: &ActiveOperation) -> bool {
        let OperationStep::Send(..) = operation.next_step() else { return false };
        let queue = self.requests().send_queues.entry(operation.peer).or_default();
        queue.push_back(owner);
        queue.len() > 1
    }

    fn requests(&mut self) -> &mut RequestTable {
        self.requests.get_or_insert_default()
    }

    /// Starts the next step of an operation, which is a request or, if `owner` is [`CALL`], the call.
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
                    // The numbers of requests are in the order of posting.
                    receives.queue.post(PostedReceive { place: (Time::ZERO, owner), filter });
                }
                OperationStage::AwaitMessage(filter)
            }
            OperationStep::Done => OperationStage::Done,
        };
    }

    /// Queues the turn of a request's message. The turn of the call's message is in the call's stage.
    fn queue_turn(&mut self, owner: u32, outgoing: &OutgoingMessage) {
        if owner != CALL {
            self.requests().turns.push(Reverse(Turn::new(owner, outgoing)));
        }
    }

    /// Returns the next event of the call and all requests, until a time.
    #[inline]
    pub(crate) fn next_event<'e>(
        &'e mut self,
        network: &Network,
        call: &'e ActiveOperation,
        until: Time,
    ) -> NextEvent<'e> {
        let turn = match &call.stage {
            OperationStage::AwaitTurn(outgoing, _) => Some(Turn::new(CALL, outgoing)),
            _ => None,
        };
        let mut filter = match call.stage {
            OperationStage::AwaitMessage(filter) => filter,
            _ => RecvFilter::NOTHING,
        };
        let call_wait = self.message_wait(filter, until);
        if !self.has_requests {
            let wait_reason = call.wait_reason(network, self.id());
            return NextEvent {
                wait: (filter != RecvFilter::NOTHING).then_some(MessageWait { wait_reason, ..call_wait }),
                turn,
            };
        }
        if call_wait.earliest > until {
            filter = RecvFilter::NOTHING; // the receive gap is not over in time
        }
        let wait_reason = call.wait_reason(network, self.id());
        let requests = self.requests();
        let first = requests.turns.peek().map(|Reverse(first)| *first);
        let turn = [turn, first].into_iter().flatten().min().filter(|turn| turn.time <= until);
        let deadline = turn.map_or(until, |turn| turn.time).max(requests.caught_up_to);
        // A message is taken on its arrival: the receive gap delays only its reception.
        let earliest = requests.caught_up_to;
        let posted = requests.receives.as_ref().is_some_and(|receives| !receives.queue.is_empty());
        let receives = posted.then_some(&mut requests.receives);
        let wait = (filter != RecvFilter::NOTHING || posted).then(|| {
            // Without an earlier turn, the wait ends at the call's own deadline.
            let gives_up = turn.is_none_or(|turn| turn.time == until);
            let purpose = if gives_up { Purpose::TakeOnArrivalOrGiveUp } else { Purpose::TakeOnArrival };
            MessageWait { filter, earliest, deadline, purpose, posted_receives: receives, wait_reason }
        });
        NextEvent { wait, turn }
    }

    /// Handles the end of a wait: a message goes to the call or request that receives it. Returns whether
    /// there is one.
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
                    receives.queue.remove(receive);
                }
                self.with_operation(number, call, |engine, request| {
                    engine.finish_receive(network, number, request, message)
                });
            }
        }
        true
    }

    /// Receives a message for an operation.
    #[inline]
    fn finish_receive(
        &mut self,
        network: &Network,
        owner: u32,
        operation: &mut ActiveOperation,
        message: Envelope,
    ) {
        let arrived = message.arrived_header();
        let Header { from, number, tag, .. } = arrived.1;
        if !tag.is_signal() {
            self.with_local_time(operation, |engine, activities| {
                engine.spend_reception(network, arrived, activities)
            });
        }
        operation.on_received(from, number, tag);
        operation.received = Some(message);
        if owner == CALL && self.has_requests {
            operation.stage = OperationStage::AwaitLocalTime;
        } else {
            self.advance(network, owner, operation);
        }
    }

    /// Handles a turn: the network serves its message, which is returned to be delivered at once. Returns
    /// `None` if the message is deferred, because others of the processor were served since the turn was set.
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
        let (arrived, parcel) = self.with_operation(turn.owner, call, |engine, operation| {
            engine.send_at_turn(network, serve, turn.owner, operation, turn)
        })?;
        if arrived.1.tag.is_start_of_send() {
            let queues = &mut self.requests().send_queues;
            let queue = queues.entry(arrived.1.to.id()).or_default();
            queue.pop_front();
            match queue.front().copied() {
                Some(owner) => self.with_operation(owner, call, |engine, operation| {
                    engine.advance(network, owner, operation)
                }),
                None => _ = queues.remove(&arrived.1.to.id()),
            }
        }
        Some((arrived, parcel))
    }

    /// Sends the message of an operation at its turn, or defers it.
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
        let parcel = if operation.is_data_next() { operation.parcel.take() } else { None };
        let parcel = parcel.unwrap_or_else(|| Parcel::new(()));
        let arrived = self.with_local_time(operation, |engine, activities| {
            let passage = serve(engine.egress(), &outgoing);
            engine.spend_send(network, &outgoing, &passage, tag, activities)
        });
        operation.on_sent(outgoing.number);
        self.advance(network, owner, operation);
        Some((arrived, parcel))
    }

    // Messages.

    /// Prepares a send that is called now. The message then waits for its turn.
    #[inline]
    pub(crate) fn prepare_send(&mut self, network: &Network, to: usize, words: usize) -> OutgoingMessage {
        self.pace.prepare_send(network, to, words)
    }

    /// Creates the wait of a call for a message, from the end of the receive gap until a time. Where there
    /// are requests, [`next_event`](Engine::next_event) waits for their messages too.
    #[inline]
    pub(crate) fn message_wait(&self, filter: RecvFilter, until: Time) -> MessageWait<'static> {
        let earliest = if filter.tag.is_signal() { self.pace.now } else { self.pace.next_reception() };
        let (purpose, wait_reason) = (Purpose::Receive, WaitReason::Message);
        MessageWait { filter, earliest, deadline: until, purpose, posted_receives: None, wait_reason }
    }

    /// Returns the sending side of the processor.
    #[inline]
    pub(crate) fn egress(&mut self) -> &mut Egress {
        &mut self.pace.egress
    }

    /// Spends the time of a send until the entry of its message, which the network has served: send gap,
    /// overhead, stall and port. Returns the header for its receiver.
    #[inline(always)]
    pub(crate) fn spend_send(
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
        // A message that takes no time on its way is hidden from a look at that very moment.
        let is_instant = passage.arrival == message.entry.asked_at && network.has_fixed_latency(id.from, to);
        let to = Receiver::new(to as u32, is_instant);
        let header = Header { from: id.from as u32, to, number, words: words as u32, tag };
        (passage.arrival, header)
    }

    /// Spends the time of a receive until the end of the reception: the wait for the arrival, the receive gap
    /// (rule 4) and the overhead.
    #[inline(always)]
    pub(crate) fn spend_reception(
        &mut self,
        network: &Network,
        (arrival, header): ArrivedHeader,
        activities: &mut ActivityLog,
    ) {
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
        let end = network.busy_until(self.id(), start, overhead);
        self.spend(activities, end - start, ActivityKind::Receive(id));
    }

    /// Logs a message that has entered.
    #[cold]
    fn log_entry(
        &mut self,
        network: &Network,
        message: &OutgoingMessage,
        passage: &Passage,
        tag: RawTag,
        is_calls: bool,
    ) {
        let OutgoingMessage { turn, entry, to, words, number, .. } = *message;
        let id = MessageId { from: self.id(), number: number as usize };
        if let Some(log) = &mut self.log {
            let Passage { enter, first, arrival, .. } = *passage;
            let (latency, place) = (entry.latency, network.place(turn, id.from));
            if is_calls {
                log.call_messages.add_sent(tag, id);
            }
            log.messages.push(Message { id, to, words, latency, place, enter, first, arrival });
        }
    }

    /// Runs a closure on the operation of a request or of the call.
    fn with_operation<R>(
        &mut self,
        owner: u32,
        call: &mut ActiveOperation,
        run: impl FnOnce(&mut Engine, &mut ActiveOperation) -> R,
    ) -> R {
        let Some(mut request) = self.requests().operations.remove(&owner) else { return run(self, call) };
        let done = run(self, &mut request);
        self.requests().operations.insert(owner, request);
        done
    }

    // Requests.

    /// Returns when a request is done, or `None` if that is not known yet.
    pub(crate) fn completion_time(&self, request: u32) -> Option<Time> {
        let operation = self.requests.as_ref()?.operations.get(&request)?;
        operation.request.as_ref().filter(|_| operation.is_done()).map(|state| state.now)
    }

    /// Returns whether the requests may have something to do until the processor's local time. If they are
    /// ahead of it, they must not go on without the call: the next message may be the call's.
    pub(crate) fn has_lagging_requests(&self) -> bool {
        self.has_requests
            && self.requests.as_ref().is_some_and(|requests| requests.caught_up_to <= self.pace.now)
    }

    /// Notes that the requests have done everything until the processor's local time.
    pub(crate) fn mark_caught_up(&mut self) {
        let now = self.pace.now;
        if self.has_requests {
            self.requests().caught_up_to = now.max(self.requests().caught_up_to);
        }
    }

    /// Returns whether something happens without a message: the receive gap ends, or a request advances.
    pub(crate) fn has_pending_event(&self) -> bool {
        let is_active = |request: &ActiveOperation| match (&request.stage, &request.request) {
            (OperationStage::Done, Some(state)) => state.now > self.pace.now,
            (OperationStage::AwaitMessage(_), _) => false,
            _ => true,
        };
        let requests = self.requests.iter().flat_map(|requests| requests.operations.values());
        self.pace.is_in_receive_gap() || requests.into_iter().any(|request| is_active(request))
    }

    /// Sets the processor's status for errors: it waits for a request, or for any of several.
    pub(crate) fn set_awaited(&mut self, numbers: &[u32]) {
        let requests = self.requests();
        let status = match numbers {
            [request] => requests.operations.get(request).map_or_else(String::new, |it| format!("its {it}")),
            _ => format!("any of its {} requests", numbers.len()),
        };
        requests.receives.get_or_insert_default().status = Some(ProcStatus::WaitingForRequest(status));
    }

    /// Returns the number of requests that were not waited for, and describes the first one. Returns `None`
    /// if there are none.
    pub(crate) fn unawaited_requests(&self) -> Option<(usize, String)> {
        let operations = &self.requests.as_ref()?.operations;
        operations.first_key_value().map(|(_, first)| (operations.len(), first.to_string()))
    }

    /// Waits for a request that is done, at least for o (LogGPS, equation 11). The time of the wait goes on
    /// the accounts of the request's activities in that time. Returns the request.
    pub(crate) fn join(&mut self, network: &Network, number: u32) -> Option<ActiveOperation> {
        let requests = self.requests();
        let mut request = requests.operations.remove(&number)?;
        if let Some(receives) = &mut requests.receives {
            receives.status = None;
        }
        self.has_requests = !requests.operations.is_empty();
        let RequestState { now: done, activities, is_send, .. } = *request.request.take()?;
        let called = self.pace.now;
        let least = network.busy_until(self.id(), called, network.params().o);
        for activity in &activities {
            let waited = activity.end - activity.start.max(called);
            if waited > Time::ZERO {
                *account(&mut self.stats, &activity.kind) += waited;
            }
        }
        let overhead = (least - called.max(done)).max(Time::ZERO);
        *if is_send { &mut self.stats.send } else { &mut self.stats.recv } += overhead;
        self.pace.now = least.max(done);
        let (id, end) = (self.id(), self.pace.now);
        if let Some(log) = &mut self.log {
            log.activities.push(Activity { id, start: called, end, kind: ActivityKind::Wait(number) });
            let transfer = transfer(&activities, is_send);
            log.end_call(
                id,
                end,
                transfer.map(|transfer| CallKind::Wait { request: number, is_send, transfer }),
            );
            let progress =
                |RequestActivity { start, end, kind, .. }| Progress { id, request: number, start, end, kind };
            log.progress.extend(activities.into_iter().map(progress));
        }
        Some(*request)
    }

    // Time.

    /// Waits until the deadline of a look that found nothing. If the deadline has passed, this takes a cycle,
    /// so that looking moves time forward.
    pub(crate) fn wait_in_vain(&mut self, network: &Network, deadline: Time) {
        let until = if deadline > self.pace.now { deadline } else { self.pace.now + network.params().cycle };
        self.wait_until(until);
    }

    /// Computes for the time `cost`. Work without a cost is not traced.
    #[inline]
    pub(crate) fn work(&mut self, network: &Network, kind: impl Into<Cow<'static, str>> + Clone, cost: Time) {
        let start = self.pace.now;
        self.pace.now = start.max(network.busy_until(self.id(), start, cost));
        self.stats.work += self.pace.now - start;
        if self.is_traced && self.pace.now > start {
            self.log_work(start, kind.into());
        }
    }

    #[cold]
    fn log_work(&mut self, start: Time, kind: Cow<'static, str>) {
        let (id, end) = (self.id(), self.pace.now);
        if let Some(log) = &mut self.log {
            log.activities.push(Activity { id, start, end, kind: ActivityKind::Work(kind.clone()) });
            log.end_call(id, end, Some(CallKind::Work(kind)));
        }
    }

    /// Waits until `t`, unless it has passed.
    pub(crate) fn wait_until(&mut self, t: Time) {
        self.spend_until(&mut None, t, ActivityKind::Idle);
    }

    /// Waits in the machine's own barrier until its end.
    pub(crate) fn wait_in_barrier(&mut self, end: Time) {
        self.spend(&mut None, end - self.pace.now, ActivityKind::Barrier);
    }

    /// Runs a closure in the local time of an operation: its own if it is a request, else the processor's.
    #[inline(always)]
    fn with_local_time<R>(
        &mut self,
        operation: &mut ActiveOperation,
        run: impl FnOnce(&mut Engine, &mut ActivityLog) -> R,
    ) -> R {
        let Some(state) = &mut operation.request else { return run(self, &mut None) };
        std::mem::swap(&mut self.pace.now, &mut state.now);
        let done = run(self, &mut Some(&mut state.activities));
        std::mem::swap(&mut self.pace.now, &mut state.now);
        done
    }

    /// Spends the time until a moment on an activity, unless the moment has passed.
    #[inline(always)]
    fn spend_until(&mut self, activities: &mut ActivityLog, until: Time, kind: ActivityKind) {
        if until > self.pace.now {
            self.spend(activities, until - self.pace.now, kind);
        }
    }

    /// Spends time on an activity. It is traced even if it takes no time: a send that costs nothing is a
    /// send.
    #[inline(always)]
    fn spend(&mut self, activities: &mut ActivityLog, time: Time, kind: ActivityKind) {
        let start = self.pace.now;
        self.pace.now += time;
        match activities {
            None => *account(&mut self.stats, &kind) += time,
            Some(activities) => return activities.push(RequestActivity { start, end: self.pace.now, kind }),
        }
        if self.is_traced {
            self.log_activity(start, kind);
        }
    }

    /// Logs an activity from `start` until now.
    #[cold]
    fn log_activity(&mut self, start: Time, kind: ActivityKind) {
        let (id, end) = (self.id(), self.pace.now);
        if let Some(log) = &mut self.log {
            log.activities.push(Activity { id, start, end, kind });
        }
    }

    // The trace.

    #[inline]
    pub(crate) fn is_traced(&self) -> bool {
        self.is_traced
    }

    /// Logs the call that ends now, if the run is traced.
    #[inline]
    pub(crate) fn log_call(&mut self, what: impl FnOnce(&CallMessages) -> Option<CallKind>) {
        if self.is_traced {
            self.write_call(what);
        }
    }

    /// Logs the location of the last call, which could have received one of several messages.
    #[cold]
    pub(crate) fn log_location(&mut self, at: &'static Location<'static>) {
        if let Some(log) = &mut self.log {
            log.note_location(at);
        }
    }

    #[cold]
    fn write_call(&mut self, what: impl FnOnce(&CallMessages) -> Option<CallKind>) {
        let (id, now) = (self.id(), self.now());
        if let Some(log) = &mut self.log {
            let what = what(&log.call_messages);
            log.end_call(id, now, what);
        }
    }

    /// Finishes the processor, whose program has returned. Returns its accounts, and its log if the run is
    /// traced. `most_to` is the largest number of messages that were in transit to it at once.
    pub(crate) fn finish(mut self, most_to: usize) -> (Stats, Option<Box<Log>>) {
        self.stats.finish = self.pace.now;
        self.stats.most_to = most_to;
        self.stats.most_from = self.pace.egress.most_in_transit();
        if let Some(log) = &mut self.log {
            // Messages of requests may enter in another order than that of their numbers.
            log.messages.sort_unstable_by_key(|message| message.id.number);
        }
        (self.stats, self.log)
    }
}

impl Turn {
    fn new(owner: u32, outgoing: &OutgoingMessage) -> Turn {
        Turn { time: outgoing.turn, number: outgoing.number, owner, is_visible: outgoing.is_visible }
    }
}

/// Serves a message in the network, at its turn.
pub(crate) type ServeFn<'a> = &'a mut dyn FnMut(&mut Egress, &OutgoingMessage) -> Passage;

/// The activities of a request, which count when its processor waits for it; `None` for a call.
type ActivityLog<'a> = Option<&'a mut Vec<RequestActivity>>;

/// Returns the account of [`Stats`] for an activity.
#[inline(always)]
fn account<'a>(stats: &'a mut Stats, kind: &ActivityKind) -> &'a mut Time {
    match kind {
        ActivityKind::Send(_) => &mut stats.send,
        ActivityKind::Receive(_) => &mut stats.recv,
        ActivityKind::Gap => &mut stats.gap,
        ActivityKind::Stall => &mut stats.stall,
        ActivityKind::Port => &mut stats.port,
        ActivityKind::Work(_) => &mut stats.work,
        _ => &mut stats.idle,
    }
}

/// Returns the message of a request that is done: the last one that it sent or received, with LogGPS's
/// request and reply before it, if there were any.
fn transfer(activities: &[RequestActivity], is_send: bool) -> Option<Transfer> {
    let ids = |is_send: bool| {
        activities.iter().filter_map(move |activity| match activity.kind {
            ActivityKind::Send(id) if is_send => Some(id),
            ActivityKind::Receive(id) if !is_send => Some(id),
            _ => None,
        })
    };
    let first = ids(is_send).next()?;
    Some(Transfer::new(ids(is_send).next_back()?, Some(first).zip(ids(!is_send).next())))
}
