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

use super::network::{Exit, Network, Passage};
use super::operation::{Operation, Own, Piece, Stage, Step};
use super::pace::{Outgoing, Pace};
use super::reception::{Awaits, Purpose, Reception, Requested};
use super::stats::Stats;
use crate::error::Doing;
use crate::message::matching::Receive;
use crate::message::parcel::Parcel;
use crate::message::{Envelope, MessageId, Outside, RawTag, Receiver, Seen, Want};
use crate::time::Time;
use crate::trace::{Activity, ActivityKind, CallKind, Log, Message, Parts, Progress, Transfer};

/// A processor as the rules see it. What every message touches comes first.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Engine {
    /// Whether requests are under way: then time may pass only while they go on too.
    pub engaged: bool,
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
    requests: Option<Box<Requests>>,
}

/// The requests of a processor.
#[derive(Debug, Default)]
struct Requests {
    /// How many requests were called for.
    begun: u32,
    /// The time until which the requests have done everything.
    at: Time,
    /// The requests that were not waited for, by number.
    operations: BTreeMap<u32, Box<Operation>>,
    /// The turns of the requests' messages.
    turns: BinaryHeap<Reverse<Turn>>,
    /// The requests' receives that wait for messages; `None` while the processor's clock has them.
    receives: Option<Box<Requested>>,
    /// For each receiver the sends whose message has not entered yet, in the order of their calls.
    behind: HashMap<u32, VecDeque<u32>>,
}

/// The turn of a message: when it asks the network for its way. Of messages with the same time, the one to which the
/// processor turned first goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Turn {
    pub time: Time,
    /// The message's number.
    number: u32,
    /// The request that sends it, or [`CALL`].
    who: u32,
    /// Whether other processors can see the turn: then all earlier turns must have been taken before it.
    pub is_seen: bool,
}

/// Stands for the processor's current call where a request's number could stand.
const CALL: u32 = u32::MAX;

/// What an engine does next.
#[derive(Debug)]
pub(crate) struct Next<'e> {
    /// It receives a message, if one comes before the turn, or before the deadline if there is no turn.
    pub reception: Option<Reception<'e>>,
    /// It sends a message at this turn.
    pub turn: Option<Turn>,
}

impl Engine {
    /// A processor at time 0.
    pub(crate) fn new(id: usize, network: &Network, trace: bool) -> Engine {
        Engine {
            engaged: false,
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
        self.pace.exit.id()
    }

    /// The processor's local time.
    #[inline]
    pub(crate) fn now(&self) -> Time {
        self.pace.now
    }

    /// The number that the processor's next message will have.
    #[inline]
    pub(crate) fn next_number(&self) -> u32 {
        self.pace.exit.requests()
    }

    /// When the gap after the last send is over.
    pub(crate) fn gap_over(&self) -> Time {
        self.pace.exit.gap_over()
    }

    /// The moment from which on a send of k words to a processor need not wait for that gap.
    #[inline]
    pub(crate) fn next_send(&self, network: &Network, to: usize, k: usize) -> Time {
        self.pace.next_send(network, to, k)
    }

    // Operations.

    /// A call begins. Its message enters after earlier sends to the same processor.
    #[inline]
    pub(crate) fn begins(&mut self, network: &Network, call: &mut Operation) {
        if !(self.engaged && self.queues(CALL, call)) {
            self.goes_on(network, CALL, call);
        }
    }

    /// The processor and its requests have reached the time at which the call has taken its message.
    pub(crate) fn proceeds(&mut self, network: &Network, call: &mut Operation) {
        if let Stage::LocalTime = call.stage {
            self.goes_on(network, CALL, call);
        }
    }

    /// The processor calls for a request, and goes on after o (LogGPS, equations 6 and 10). Returns the request's number.
    pub(crate) fn posts(
        &mut self,
        network: &Network,
        mut operation: Operation,
        at: &'static Location<'static>,
    ) -> u32 {
        let (now, sends) = (self.pace.now, matches!(operation.next(), Step::Send(..)));
        let over = network.busy_until(self.id(), now, network.params().o);
        let requests = self.requests.get_or_insert_default();
        let number = requests.begun;
        requests.begun += 1;
        requests.at = now;
        self.engaged = true;
        self.pace.now = over;
        *if sends { &mut self.stats.send } else { &mut self.stats.recv } += over - now;
        if self.is_traced {
            self.passes(now, ActivityKind::Post(number));
        }
        operation.own = Some(Box::new(Own { now, pieces: Vec::new(), sends, called: now, at }));
        if sends {
            self.pace.exit.keep_order();
        }
        if !(sends && self.queues(number, &operation)) {
            self.goes_on(network, number, &mut operation);
        }
        self.requests().operations.insert(number, Box::new(operation));
        number
    }

    /// Queues an operation for its receiver, if it is a send. Returns whether other sends are before it.
    fn queues(&mut self, who: u32, operation: &Operation) -> bool {
        let Step::Send(..) = operation.next() else { return false };
        let queue = self.requests().behind.entry(operation.peer).or_default();
        queue.push_back(who);
        queue.len() > 1
    }

    fn requests(&mut self) -> &mut Requests {
        self.requests.get_or_insert_default()
    }

    /// An operation begins its next step.
    #[inline]
    fn goes_on(&mut self, network: &Network, who: u32, operation: &mut Operation) {
        operation.stage = match operation.next() {
            Step::Send(tag, words) => {
                let (to, words) = (operation.peer as usize, words as usize);
                let mut outgoing =
                    self.in_time_of(operation, |engine, _| engine.pace.turns_to(network, to, words));
                if outgoing.never_comes() {
                    self.is_at_the_end_of_time = true;
                    return;
                }
                if self.engaged {
                    let at = self.requests().at;
                    self.pace.puts_off(network, &mut outgoing, at);
                    self.awaits_turn(who, &outgoing);
                }
                Stage::Turn(outgoing, tag)
            }
            Step::Take(want) => {
                if who != CALL {
                    let receives = self.requests().receives.get_or_insert_default();
                    receives.posted.post(Receive { place: (Time::ZERO, who), want });
                }
                Stage::Message(want)
            }
            Step::Done => Stage::Done,
        };
    }

    /// Notes the turn of a request's message. The turn of the call's message is in the call's stage.
    fn awaits_turn(&mut self, who: u32, outgoing: &Outgoing) {
        if who != CALL {
            self.requests().turns.push(Reverse(Turn::of(who, outgoing)));
        }
    }

    /// What the call and all requests do next, until a time.
    #[inline]
    pub(crate) fn next<'e>(&'e mut self, network: &Network, call: &'e Operation, until: Time) -> Next<'e> {
        let turn = match &call.stage {
            Stage::Turn(outgoing, _) => Some(Turn::of(CALL, outgoing)),
            _ => None,
        };
        let mut want = match call.stage {
            Stage::Message(want) => want,
            _ => Want::NOTHING,
        };
        let alone = self.reception(want, until);
        if !self.engaged {
            let awaits = call.awaits(network, self.id());
            return Next {
                reception: (want != Want::NOTHING).then_some(Reception { awaits, ..alone }),
                turn,
            };
        }
        if alone.ready > until {
            want = Want::NOTHING; // the gap is not over in time
        }
        let awaits = call.awaits(network, self.id());
        let requests = self.requests();
        let first = requests.turns.peek().map(|Reverse(first)| *first);
        let turn = [turn, first].into_iter().flatten().min().filter(|turn| turn.time <= until);
        let deadline = turn.map_or(until, |turn| turn.time).max(requests.at);
        let ready = requests.at;
        let posted = requests.receives.as_ref().is_some_and(|receives| !receives.posted.is_empty());
        let receives = posted.then_some(&mut requests.receives);
        let reception = (want != Want::NOTHING || posted).then(|| {
            let gives_up = turn.is_none_or(|turn| turn.time == until);
            let purpose = if gives_up { Purpose::FetchInTime } else { Purpose::Fetch };
            Reception { want, ready, deadline, purpose, requests: receives, awaits }
        });
        Next { reception, turn }
    }

    /// The wait for messages is over. If a message has come, it goes to the call or request that wants it. Returns whether
    /// one has come.
    #[inline]
    pub(crate) fn comes(
        &mut self,
        network: &Network,
        call: &mut Operation,
        deadline: Time,
        message: Option<Envelope>,
    ) -> bool {
        let mut chosen = None;
        if self.engaged {
            let requests = self.requests();
            chosen = requests.receives.as_mut().and_then(|receives| receives.chosen.take());
            let at = message.as_ref().map_or(deadline, |message| message.arrival);
            requests.at = requests.at.max(at);
        }
        let Some(message) = message else { return false };
        match chosen {
            None => self.takes(network, CALL, call, message),
            Some(receive) => {
                let (_, number) = receive.place;
                if let Some(receives) = &mut self.requests().receives {
                    receives.posted.remove(receive);
                }
                self.with(number, call, |engine, request| engine.takes(network, number, request, message));
            }
        }
        true
    }

    /// An operation has got its message.
    #[inline]
    fn takes(&mut self, network: &Network, who: u32, operation: &mut Operation, message: Envelope) {
        let seen = message.seen();
        let Outside { from, number, tag, .. } = seen.1;
        if !tag.is_signal() {
            self.in_time_of(operation, |engine, pieces| engine.receives(network, seen, pieces));
        }
        operation.has_taken(from, number, tag);
        operation.got = Some(message);
        if who == CALL && self.engaged {
            operation.stage = Stage::LocalTime;
        } else {
            self.goes_on(network, who, operation);
        }
    }

    /// A turn has come. Its message enters, as the network serves it, and is returned, or it is put off, because other
    /// messages of the processor have entered since the turn was set.
    #[inline]
    pub(crate) fn turn(
        &mut self,
        network: &Network,
        serve: Serve,
        call: &mut Operation,
        turn: Turn,
    ) -> Option<(Seen, Parcel)> {
        if !self.engaged {
            return self.sends(network, serve, CALL, call, turn);
        }
        let requests = self.requests();
        requests.at = requests.at.max(turn.time);
        if turn.who != CALL {
            requests.turns.pop();
        }
        let (seen, parcel) = self.with(turn.who, call, |engine, operation| {
            engine.sends(network, serve, turn.who, operation, turn)
        })?;
        if seen.1.tag.is_first() {
            let behind = &mut self.requests().behind;
            let queue = behind.entry(seen.1.to.id()).or_default();
            queue.pop_front();
            match queue.front().copied() {
                Some(who) => {
                    self.with(who, call, |engine, operation| engine.goes_on(network, who, operation))
                }
                None => _ = behind.remove(&seen.1.to.id()),
            }
        }
        Some((seen, parcel))
    }

    /// The turn of an operation's message has come.
    #[inline]
    fn sends(
        &mut self,
        network: &Network,
        serve: Serve,
        who: u32,
        operation: &mut Operation,
        turn: Turn,
    ) -> Option<(Seen, Parcel)> {
        let Stage::Turn(mut outgoing, tag) = operation.stage else { return None };
        if self.engaged && self.pace.puts_off(network, &mut outgoing, turn.time) {
            operation.stage = Stage::Turn(outgoing, tag);
            self.awaits_turn(who, &outgoing);
            return None;
        }
        let parcel = if operation.sends_data() { operation.parcel.take() } else { None };
        let parcel = parcel.unwrap_or_else(|| Parcel::new(()));
        let seen = self.in_time_of(operation, |engine, pieces| {
            let passage = serve(engine.exit(), &outgoing);
            engine.enters(network, &outgoing, &passage, tag, pieces)
        });
        operation.has_sent(outgoing.number);
        self.goes_on(network, who, operation);
        Some((seen, parcel))
    }

    // Messages.

    /// Turns to a message, which then waits for its turn.
    #[inline]
    pub(crate) fn turns_to(&mut self, network: &Network, to: usize, words: usize) -> Outgoing {
        self.pace.turns_to(network, to, words)
    }

    /// The reception of a message that a call wants, for a processor without requests.
    #[inline]
    pub(crate) fn reception(&self, want: Want, until: Time) -> Reception<'static> {
        let ready = if want.tag.is_signal() { self.pace.now } else { self.pace.next_receive() };
        let (purpose, awaits) = (Purpose::Take, Awaits::Message);
        Reception { want, ready, deadline: until, purpose, requests: None, awaits }
    }

    /// The sending side of the processor.
    #[inline]
    pub(crate) fn exit(&mut self) -> &mut Exit {
        &mut self.pace.exit
    }

    /// A message enters at its turn, as the network has served it. Local time goes on when the message has entered. Returns
    /// what its receiver sees of it.
    #[inline(always)]
    pub(crate) fn enters(
        &mut self,
        network: &Network,
        message: &Outgoing,
        passage: &Passage,
        tag: RawTag,
        pieces: &mut Pieces,
    ) -> Seen {
        let Outgoing { to, words, number, .. } = *message;
        let id = MessageId { from: self.id(), number: number as usize };
        let mut overhead = network.send_overhead(id.from, to, words);
        if let Some(noise) = network.noise() {
            overhead = passage.ready - noise.begin(id.from, passage.ready, overhead, self.pace.now);
        }
        self.stats.sent += 1;
        self.stats.words_sent += words as u64;
        if passage.out_of_order {
            self.stats.out_of_order += 1;
        }
        self.waits(pieces, passage.ready - overhead, ActivityKind::Gap);
        self.spends(pieces, overhead, ActivityKind::Send(id));
        let stall = passage.admitted - passage.ready;
        if stall > Time::ZERO {
            self.stats.stalls += 1;
            self.stats.longest_stall = self.stats.longest_stall.max(stall);
            self.waits(pieces, passage.admitted, ActivityKind::Stall);
        }
        self.waits(pieces, passage.enter, ActivityKind::Port);
        if self.is_traced {
            self.has_entered(network, message, passage, tag, pieces.is_none());
        }
        let is_instant = passage.arrival == message.request.ask && network.is_timely(id.from, to);
        let to = Receiver::new(to as u32, is_instant);
        let outside = Outside { from: id.from as u32, to, number, words: words as u32, tag };
        (passage.arrival, outside)
    }

    /// The processor receives a message. Local time goes on when the reception is over.
    #[inline(always)]
    pub(crate) fn receives(&mut self, network: &Network, (arrival, outside): Seen, pieces: &mut Pieces) {
        let Outside { words, tag, .. } = outside;
        let id = outside.id();
        self.stats.received += 1;
        self.stats.words_received += u64::from(words);
        if self.is_traced
            && pieces.is_none()
            && let Some(log) = &mut self.log
        {
            log.parts.takes(tag, id);
        }
        let start = self.pace.receives(network, id.from, arrival);
        self.waits(pieces, arrival, ActivityKind::Idle);
        self.waits(pieces, start, ActivityKind::Gap);
        let overhead = network.recv_overhead(id.from, self.id(), words as usize);
        let over = network.busy_until(self.id(), start, overhead);
        self.spends(pieces, over - start, ActivityKind::Receive(id));
    }

    /// Notes a message that has entered, for the trace.
    #[cold]
    fn has_entered(
        &mut self,
        network: &Network,
        message: &Outgoing,
        passage: &Passage,
        tag: RawTag,
        is_calls: bool,
    ) {
        let Outgoing { turn, request, to, words, number, .. } = *message;
        let id = MessageId { from: self.id(), number: number as usize };
        if let Some(log) = &mut self.log {
            let Passage { enter, first, arrival, .. } = *passage;
            let (latency, place) = (request.latency, network.place(turn, id.from));
            if is_calls {
                log.parts.sends(tag, id);
            }
            log.messages.push(Message { id, to, words, latency, place, enter, first, arrival });
        }
    }

    /// Lends the operation of a request or of the call to a closure.
    fn with<R>(
        &mut self,
        who: u32,
        call: &mut Operation,
        does: impl FnOnce(&mut Engine, &mut Operation) -> R,
    ) -> R {
        let Some(mut request) = self.requests().operations.remove(&who) else { return does(self, call) };
        let done = does(self, &mut request);
        self.requests().operations.insert(who, request);
        done
    }

    // Requests.

    /// When a request is done, if that is known already.
    pub(crate) fn done(&self, request: u32) -> Option<Time> {
        let operation = self.requests.as_ref()?.operations.get(&request)?;
        operation.own.as_ref().filter(|_| operation.is_done()).map(|own| own.now)
    }

    /// Whether the requests may have something to do until the processor's local time. During a call they may be ahead of it,
    /// and then what else comes at that moment may be the call's.
    pub(crate) fn may_lag(&self) -> bool {
        self.engaged && self.requests.as_ref().is_some_and(|requests| requests.at <= self.pace.now)
    }

    /// Notes that the requests have done everything until the processor's local time.
    pub(crate) fn has_caught_up(&mut self) {
        let now = self.pace.now;
        if self.engaged {
            self.requests().at = now.max(self.requests().at);
        }
    }

    /// Whether something happens without a message: a gap ends that keeps the processor from receiving, or a request goes on.
    pub(crate) fn expects(&self) -> bool {
        let goes_on = |request: &Operation| match (&request.stage, &request.own) {
            (Stage::Done, Some(own)) => own.now > self.pace.now,
            (Stage::Message(_), _) => false,
            _ => true,
        };
        let requests = self.requests.iter().flat_map(|requests| requests.operations.values());
        self.pace.must_wait_to_receive() || requests.into_iter().any(|request| goes_on(request))
    }

    /// From now on errors say that the processor waits for a request, or for any of several.
    pub(crate) fn waits_for(&mut self, those: &[u32]) {
        let requests = self.requests();
        let doing = match those {
            [request] => requests.operations.get(request).map_or_else(String::new, |it| format!("its {it}")),
            _ => format!("any of its {} requests", those.len()),
        };
        requests.receives.get_or_insert_default().awaited = Some(Doing::WaitingForRequest(doing));
    }

    /// How many requests were not waited for, and the first one in words.
    pub(crate) fn not_waited(&self) -> Option<(usize, String)> {
        let operations = &self.requests.as_ref()?.operations;
        operations.first_key_value().map(|(_, first)| (operations.len(), first.to_string()))
    }

    /// The processor waits for a request that is done, for o at least (LogGPS, equation 11). The time of the wait counts for
    /// what the request did meanwhile. Returns the request.
    pub(crate) fn joins(&mut self, network: &Network, number: u32) -> Option<Operation> {
        let requests = self.requests();
        let mut request = requests.operations.remove(&number)?;
        if let Some(receives) = &mut requests.receives {
            receives.awaited = None;
        }
        self.engaged = !requests.operations.is_empty();
        let Own { now: done, pieces, sends, .. } = *request.own.take()?;
        let called = self.pace.now;
        let least = network.busy_until(self.id(), called, network.params().o);
        for piece in &pieces {
            let waited = piece.end - piece.start.max(called);
            if waited > Time::ZERO {
                *account(&mut self.stats, &piece.what) += waited;
            }
        }
        let overhead = (least - called.max(done)).max(Time::ZERO);
        *if sends { &mut self.stats.send } else { &mut self.stats.recv } += overhead;
        self.pace.now = least.max(done);
        let (id, end) = (self.id(), self.pace.now);
        if let Some(log) = &mut self.log {
            log.activities.push(Activity { id, start: called, end, what: ActivityKind::Wait(number) });
            let transfer = transfer(&pieces, sends);
            log.called(id, end, transfer.map(|transfer| CallKind::Wait { request: number, sends, transfer }));
            let progress =
                |Piece { start, end, what, .. }| Progress { id, request: number, start, end, what };
            log.progress.extend(pieces.into_iter().map(progress));
        }
        Some(*request)
    }

    // Time.

    /// The processor looked for a message in vain until the deadline. If that has passed, it goes on after a cycle, so that
    /// looking moves time forward.
    pub(crate) fn looked_in_vain(&mut self, network: &Network, deadline: Time) {
        let until = if deadline > self.pace.now { deadline } else { self.pace.now + network.params().cycle };
        self.waits_until(until);
    }

    /// Computes for so long. Work without a cost is not traced.
    #[inline]
    pub(crate) fn works(
        &mut self,
        network: &Network,
        kind: impl Into<Cow<'static, str>> + Clone,
        cost: Time,
    ) {
        let start = self.pace.now;
        self.pace.now = start.max(network.busy_until(self.id(), start, cost));
        self.stats.work += self.pace.now - start;
        if self.is_traced && self.pace.now > start {
            self.has_worked(start, kind.into());
        }
    }

    /// Notes what was computed, for the trace.
    #[cold]
    fn has_worked(&mut self, start: Time, kind: Cow<'static, str>) {
        let (id, end) = (self.id(), self.pace.now);
        if let Some(log) = &mut self.log {
            log.activities.push(Activity { id, start, end, what: ActivityKind::Work(kind.clone()) });
            log.called(id, end, Some(CallKind::Work(kind)));
        }
    }

    /// Waits until a moment, unless that has passed.
    pub(crate) fn waits_until(&mut self, t: Time) {
        self.waits(&mut None, t, ActivityKind::Idle);
    }

    /// Waits in the machine's own barrier until the barrier is over.
    pub(crate) fn waits_in_barrier(&mut self, over: Time) {
        self.spends(&mut None, over - self.pace.now, ActivityKind::Barrier);
    }

    /// Runs a closure in the local time of an operation: its own if it is a request, else the processor's.
    #[inline(always)]
    fn in_time_of<R>(
        &mut self,
        operation: &mut Operation,
        does: impl FnOnce(&mut Engine, &mut Pieces) -> R,
    ) -> R {
        let Some(own) = &mut operation.own else { return does(self, &mut None) };
        std::mem::swap(&mut self.pace.now, &mut own.now);
        let done = does(self, &mut Some(&mut own.pieces));
        std::mem::swap(&mut self.pace.now, &mut own.now);
        done
    }

    /// Lets time pass until a moment, unless that has passed.
    #[inline(always)]
    fn waits(&mut self, pieces: &mut Pieces, until: Time, what: ActivityKind) {
        if until > self.pace.now {
            self.spends(pieces, until - self.pace.now, what);
        }
    }

    /// Lets time pass, and notes what for even if it is no time at all: a send that costs nothing is a send.
    #[inline(always)]
    fn spends(&mut self, pieces: &mut Pieces, time: Time, what: ActivityKind) {
        let start = self.pace.now;
        self.pace.now += time;
        match pieces {
            None => *account(&mut self.stats, &what) += time,
            Some(pieces) => return pieces.push(Piece { start, end: self.pace.now, what }),
        }
        if self.is_traced {
            self.passes(start, what);
        }
    }

    /// Notes what the processor did since `start`, for the trace.
    #[cold]
    fn passes(&mut self, start: Time, what: ActivityKind) {
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
    pub(crate) fn called(&mut self, what: impl FnOnce(&Parts) -> Option<CallKind>) {
        if self.is_traced {
            self.notes(what);
        }
    }

    /// Notes where in the program the last call is, which may take one of several messages.
    #[cold]
    pub(crate) fn called_at(&mut self, at: &'static Location<'static>) {
        if let Some(log) = &mut self.log {
            log.was_at(at);
        }
    }

    /// Notes the call that is over now, for the trace.
    #[cold]
    fn notes(&mut self, what: impl FnOnce(&Parts) -> Option<CallKind>) {
        let (id, now) = (self.id(), self.now());
        if let Some(log) = &mut self.log {
            let what = what(&log.parts);
            log.called(id, now, what);
        }
    }

    /// The program has returned: where its time went, and what it did if the run is traced. `most_to` is how many messages
    /// were in transit to it at once, at most.
    pub(crate) fn finishes(mut self, most_to: usize) -> (Stats, Option<Box<Log>>) {
        self.stats.finish = self.pace.now;
        self.stats.most_to = most_to;
        self.stats.most_from = self.pace.exit.most_in_transit();
        if let Some(log) = &mut self.log {
            // Messages of requests may enter in another order than the one in which they got their numbers.
            log.messages.sort_unstable_by_key(|message| message.id.number);
        }
        (self.stats, self.log)
    }
}

impl Turn {
    fn of(who: u32, outgoing: &Outgoing) -> Turn {
        Turn { time: outgoing.turn, number: outgoing.number, who, is_seen: outgoing.is_seen }
    }
}

/// Gives a message its way through the network, at its turn.
pub(crate) type Serve<'a> = &'a mut dyn FnMut(&mut Exit, &Outgoing) -> Passage;

/// Where the pieces of a request are noted, for when its processor waits for it; `None` for a call.
type Pieces<'a> = Option<&'a mut Vec<Piece>>;

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
fn transfer(pieces: &[Piece], sends: bool) -> Option<Transfer> {
    let ids = |sends: bool| {
        pieces.iter().filter_map(move |piece| match piece.what {
            ActivityKind::Send(id) if sends => Some(id),
            ActivityKind::Receive(id) if !sends => Some(id),
            _ => None,
        })
    };
    let first = ids(sends).next()?;
    Some(Transfer::of(ids(sends).next_back()?, Some(first).zip(ids(!sends).next())))
}
