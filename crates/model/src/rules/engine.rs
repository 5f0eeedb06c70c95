//! The engine of one processor: its rules of sending, receiving and waiting, without a stack and without a
//! clock.
//!
//! [`Proc`](crate::Proc) [starts](Engine::start) a call or [posts](Engine::post) a request, and
//! [drives](Engine::drive) it on a [`Clock`]. A blocking call is *start, and drive until done*; a request is
//! *post, and drive later*. Both consist of steps, each of which sends or receives a message. Without requests a
//! call does one step after the other, and a short send is a single step. With requests a step has two halves,
//! and requests act between them. Engine and `network.rs` are the machine:
//!
//! - **send**: [`Rank::prepare_send`] makes a message, which waits for its turn; rules 1 to 3 are the
//!   network's; [`Engine::enter`] moves local time to the entry;
//! - **receive**: [`Engine::message_wait`] says from when on a message can be received; rule 4, with the
//!   receive gap, is [`Rank::receive`]; [`Engine::spend_reception`] moves local time to its end;
//! - **leave the network**: where a message is in transit until then, [`Engine::free_room`] admits others at the
//!   start of its reception, and a signal tells their senders;
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
use super::operation::{ActiveOperation, OperationStage, OperationStep, RequestState};
use super::rank::{OutgoingMessage, Rank, reception_activities, send_activities};
use super::stats::Stats;
use crate::error::{Cause, ProcStatus, raise};
use crate::log::{Activity, ActivityKind, CallKind, CallMessages, Log, Progress, Transfer};
use crate::message::matching::PostedReceive;
use crate::message::parcel::Parcel;
use crate::message::{ArrivedHeader, Envelope, Header, MessageId, NamedTag, RawTag, Receiver, RecvFilter};
use crate::time::Time;

/// A processor as the rules see it.
// The fields that every message touches come first.
#[derive(Debug)]
#[repr(C)]
pub struct Engine<'n> {
    /// True if requests are under way: then they must advance while time passes.
    pub has_requests: bool,
    /// True if its messages are in transit until they are received, and their number is limited.
    has_rooms: bool,
    pub is_traced: bool,
    /// Number of looks that found nothing since the processor last sent or received a message.
    pub vain_looks: u32,
    network: &'n Network,
    pub pace: Rank,
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
    /// The turns at which messages leave the network, where they are in transit until they are received.
    receptions: BinaryHeap<Reverse<Turn>>,
    /// True if a message waits for room: then the processor sends no other.
    is_stalled: bool,
    /// The number of messages so far that were stalled while the processor received.
    stalled: u32,
    /// The requests' receives that wait for messages; `None` while the processor's clock has them.
    receives: Option<Box<PostedReceives>>,
    /// The sends whose first message has not been served yet, by receiver, in the order of their calls.
    send_queues: HashMap<u32, VecDeque<u32>>,
}

/// The turn of a message, at which the network serves it or, where it is in transit until it is received, its
/// reception starts. Of a processor's turns with the same time, receptions come first, and then the message that
/// it prepared first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Turn {
    pub time: Time,
    /// True if the processor sends the message.
    is_send: bool,
    /// The message's number.
    number: u32,
    /// The request that sends it, or [`CALL`]; of a message that it receives, the sender.
    owner: u32,
    /// True if other processors can see the turn: then all earlier turns must come before it.
    pub is_visible: bool,
}

/// The processor's current call, in place of a request's number.
const CALL: u32 = u32::MAX;

/// The first message that is stalled while its processor receives, in place of a request's number; the next ones
/// have the numbers below.
const STALLED: u32 = CALL - 1;

/// The stack of a thread that carries processors, on which code runs that needs more stack than a processor
/// has, or that must know its stack, as interpreters do.
pub trait ThreadStack {
    /// Runs code there. A panic goes through to the caller.
    fn run(&self, code: &mut (dyn FnMut() + Send));
}

/// The stack on which the caller is, for processors that are threads.
struct OwnStack;

impl ThreadStack for OwnStack {
    fn run(&self, code: &mut (dyn FnMut() + Send)) {
        code();
    }
}

/// A processor's view of its clock.
///
/// The clock decides when the processor may act, and what happens until then. The
/// [network](super::network) decides what an act costs. So the local time may be ahead of the clock: a
/// send goes on at its turn, and its local time is already that of the entry.
pub trait Clock {
    /// Sets the address of the memory that each of the processor's calls touches first. The clock may
    /// prefetch it before it resumes the processor.
    fn set_prefetch_address(&mut self, _address: usize) {}

    /// Waits until the local time `t`. The processor may then do only what no other processor can see.
    fn wait_until(&mut self, t: Time);

    /// Waits until the local time `t` has come and all earlier acts have been done. The processor may then
    /// act: other processors can see what it does.
    fn wait_to_act(&mut self, t: Time);

    /// Waits for a message's turn in the network. `is_visible` tells whether other processors can see the
    /// turn.
    #[inline]
    fn wait_for_turn(&mut self, turn: Time, is_visible: bool) {
        match is_visible {
            true => self.wait_to_act(turn),
            false => self.wait_until(turn),
        }
    }

    /// Serves a message in the network at its turn, and returns the passage that is reserved for it.
    fn serve(&mut self, network: &Network, egress: &mut Egress, message: &OutgoingMessage) -> Passage;

    /// Returns the largest number of messages that were in transit to the processor at once.
    fn most_in_transit(&self, network: &Network) -> usize;

    /// Puts a message into its receiver's inbox at once. The receiver does not take it before its arrival.
    fn deliver(&mut self, arrived: ArrivedHeader, parcel: Parcel);

    /// Puts the earliest message that `wait` asks for into `got`, which must be empty, and returns when the
    /// processor goes on, as [`Purpose`] says. Returns at the deadline
    /// and leaves `got` empty if the processor can take no message by then.
    fn receive(&mut self, wait: &mut MessageWait, got: &mut Option<Envelope>);

    /// Promises that the processor does not act before `t`, whatever its program does until its next call.
    fn promise_no_act_before(&mut self, _t: Time) {}

    /// Returns the stack of the thread that carries the processor.
    fn thread_stack<'s>(&self) -> Box<dyn ThreadStack + 's>
    where
        Self: 's,
    {
        Box::new(OwnStack)
    }

    /// Returns the time that has passed on a real machine, or `None` on an emulated one.
    fn real_time(&mut self) -> Option<Time> {
        None
    }

    /// Returns whether the run has ended before its programs: those that are left are unwound.
    fn is_cut(&self) -> bool {
        false
    }

    /// Excludes `time`, which was spent on preparation, from the time that has passed.
    fn prepare(&mut self, _time: Time) {}

    /// Tells the clock that the program computes from the local time `t` on, and that its work is measured.
    fn start_computing_at(&mut self, _t: Time) {}

    /// Tells the clock that the program has reached its next call.
    fn stop_computing(&mut self) {}

    /// Tells the clock that the processor has looked for messages in vain very often. Returns whether no
    /// processor is left that could send one: all others have finished, wait for messages or look in vain
    /// too, and no message is under way.
    fn report_vain_looks(&mut self) -> bool;

    /// Fails the run because of a call of this processor.
    fn fail(&mut self, cause: Cause);

    /// Tells the clock that the program has ended at its local time `at`. `well` tells whether it returned.
    fn end(&mut self, at: Time, well: bool);

    /// Fails the run, and ends the processor's program: its stack is unwound, so drops run, and the panic
    /// hook stays silent, since the run has an error.
    #[cold]
    fn fail_program(&mut self, cause: Cause) -> ! {
        self.fail(cause.clone());
        raise(cause)
    }

    // The two steps of which all calls consist are here too, so that they are compiled for each clock with its
    // methods inlined: a message on the virtual clock takes a tenth less time than with a dynamic call for each.

    /// Calls [`Engine::send_step`].
    fn send(&mut self, engine: &mut Engine, to: usize, tag: RawTag, words: usize, parcel: Parcel) -> u32 {
        engine.send_step(self, to, tag, words, parcel)
    }

    /// Calls [`Engine::receive_step`].
    fn receive_next(
        &mut self,
        engine: &mut Engine,
        filter: RecvFilter,
        until: Time,
        got: &mut Option<Envelope>,
    ) {
        engine.receive_step(self, (filter, Purpose::Receive, WaitReason::Message), until, got);
    }
}

impl<'n> Engine<'n> {
    /// Creates the engine of a processor at time 0, which writes a log if there is one.
    pub fn new(id: usize, network: &'n Network, log: Option<Box<Log>>) -> Engine<'n> {
        Engine {
            has_requests: false,
            has_rooms: network.has_rooms(),
            is_traced: log.is_some(),
            vain_looks: 0,
            network,
            pace: Rank::new(id, network),
            stats: Stats::default(),
            log,
            requests: None,
        }
    }

    #[inline]
    pub fn id(&self) -> usize {
        self.pace.egress.processor()
    }

    // Calls.

    /// Sends a message, and goes on when it enters.
    #[inline(always)]
    pub fn send(
        &mut self,
        clock: &mut dyn Clock,
        to: usize,
        (tag, name): NamedTag,
        words: usize,
        parcel: Parcel,
    ) {
        if self.has_requests || self.network.is_synchronous(self.id(), to, words) {
            let mut call = self.new_send(to, (tag, name), words, parcel);
            return self.start_and_finish(clock, &mut call, Time::MAX);
        }
        clock.send(self, to, tag, words, parcel);
    }

    /// Does a step of a call that sends a message, on a processor without requests: prepares the message, waits
    /// for its turn, and lets it enter. Returns the message's number.
    #[inline(always)]
    fn send_step<C: Clock + ?Sized>(
        &mut self,
        clock: &mut C,
        to: usize,
        tag: RawTag,
        words: usize,
        parcel: Parcel,
    ) -> u32 {
        let mut outgoing = self.prepare(clock, to, words);
        let ready = outgoing.entry.ready;
        clock.wait_for_turn(outgoing.turn, outgoing.is_visible);
        if self.has_rooms && !self.ask_for_room(&outgoing, outgoing.turn) {
            self.wait_for_room(clock, &mut outgoing);
        }
        let arrived = self.enter(clock, (&outgoing, ready), tag, None);
        clock.deliver(arrived, parcel);
        outgoing.number
    }

    /// Prepares a message, which then waits for its turn. Ends the run if the message could enter only after the
    /// end of time.
    #[inline(always)]
    fn prepare<C: Clock + ?Sized>(&mut self, clock: &mut C, to: usize, words: usize) -> OutgoingMessage {
        let outgoing = self.pace.prepare_send(self.network, to, words);
        if outgoing.entry.asked_at == Time::MAX {
            clock.fail_program(Cause::EndOfTime { id: self.id() });
        }
        outgoing
    }

    /// Asks for room for a message at its turn. Returns whether there is room.
    fn ask_for_room(&self, outgoing: &OutgoingMessage, turn: Time) -> bool {
        self.network.ask_for_room(outgoing.id(self.id()), outgoing.to, turn)
    }

    /// Waits until there is room for a message of a call.
    #[cold]
    fn wait_for_room<C: Clock + ?Sized>(&mut self, clock: &mut C, outgoing: &mut OutgoingMessage) {
        let reason = WaitReason::Room { to: outgoing.to as u32 };
        let mut signal = None;
        let wait = (room_filter(outgoing), Purpose::TakeOnArrivalOrGiveUp, reason);
        clock.receive(&mut self.message_wait(wait, Time::MAX), &mut signal);
        if let Some(signal) = signal {
            outgoing.entry.defer_to(signal.arrival);
        }
    }

    /// Returns the length of the first message of a send: that of its announcement, if there is one.
    #[inline]
    pub fn first_message_words(&self, to: usize, words: usize) -> usize {
        if self.network.is_synchronous(self.id(), to, words) { 0 } else { words }
    }

    /// Returns the earliest time at which a send of k words need not wait for the gap after the last send.
    pub fn next_send(&self, to: usize, k: usize) -> Time {
        self.pace.next_send(self.network, to, k)
    }

    /// Creates a send that has not started.
    #[inline]
    pub fn new_send(
        &self,
        to: usize,
        (tag, name): NamedTag,
        words: usize,
        parcel: Parcel,
    ) -> ActiveOperation {
        let is_synchronous = self.network.is_synchronous(self.id(), to, words);
        ActiveOperation::send(to as u32, tag, words as u32, is_synchronous, Some(parcel)).with_name(name)
    }

    /// Receives a message, if its reception can start by `until`, and goes on at the reception's end.
    #[inline(always)]
    pub fn receive(
        &mut self,
        clock: &mut dyn Clock,
        filter: RecvFilter,
        name: Option<&'static str>,
        until: Time,
        got: &mut Option<Envelope>,
    ) {
        if !(self.has_requests || self.has_rooms) {
            clock.receive_next(self, filter, until, got);
            if got.as_ref().is_none_or(|message| !message.message.header.tag.is_announce()) {
                return;
            }
        }
        self.receive_in_steps(clock, filter, name, until, got);
    }

    /// Does a step of a call that receives a message, on a processor without requests, if the reception can
    /// start by `until`. Where a reception frees room, that is an act at its start.
    #[inline(always)]
    fn receive_step<C: Clock + ?Sized>(
        &mut self,
        clock: &mut C,
        (filter, purpose, reason): (RecvFilter, Purpose, WaitReason),
        until: Time,
        got: &mut Option<Envelope>,
    ) {
        clock.receive(&mut self.message_wait((filter, purpose, reason), until), got);
        let Some(message) = got else { return };
        let start = self.spend_reception(message.arrived_header(), None);
        if purpose != Purpose::Receive {
            clock.wait_to_act(start);
            self.free_room(clock, start, message.message.header.from);
        }
    }

    /// Receives a message where that may take more than one step, or where `got` announces the message, which has
    /// to be granted.
    #[cold]
    fn receive_in_steps(
        &mut self,
        clock: &mut dyn Clock,
        filter: RecvFilter,
        name: Option<&'static str>,
        until: Time,
        got: &mut Option<Envelope>,
    ) {
        let mut call = ActiveOperation::receive(filter).with_name(name);
        if let Some(announcement) = got.take() {
            call.take(announcement);
        }
        self.start_and_finish(clock, &mut call, until);
        let tag = call.tag;
        *got = call.into_message();
        if let Some(got) = got {
            got.message.header.tag = tag; // the data after a grant do not repeat it
        }
    }

    /// Starts a call and drives it until it is done, or until a time if it has received no message by then.
    #[cold]
    pub fn start_and_finish(&mut self, clock: &mut dyn Clock, call: &mut ActiveOperation, until: Time) {
        self.start(clock, call);
        self.drive(clock, call, until, ActiveOperation::is_done);
    }

    /// Starts a call, once requests have caught up. A send is queued if earlier sends to the same processor
    /// have not been served yet. Without requests there is nothing to start.
    #[inline]
    pub fn start(&mut self, clock: &mut dyn Clock, call: &mut ActiveOperation) {
        self.catch_up(clock);
        if self.has_requests && !self.queue_send(CALL, call) {
            self.advance(clock, CALL, call);
        }
    }

    /// Drives a call until `is_enough`, or until a time if it has received no message by then. Without requests
    /// it does one step after the other. Else steps have two halves, between which requests may act: after
    /// each event the requests catch up, before the call takes its next step.
    #[inline]
    pub fn drive(
        &mut self,
        clock: &mut dyn Clock,
        call: &mut ActiveOperation,
        until: Time,
        is_enough: fn(&ActiveOperation) -> bool,
    ) {
        while !is_enough(call) {
            let deadline = call.deadline(until);
            if !self.has_requests {
                if !self.do_step(clock, call, deadline) {
                    return;
                }
                continue;
            }
            if !self.handle_event(clock, call, deadline) {
                return;
            }
            self.catch_up(clock);
            if let OperationStage::AwaitLocalTime = call.stage {
                self.advance(clock, CALL, call);
            }
        }
    }

    /// Does the next step of a call, on a processor without requests. Returns whether it is done: a receive gives
    /// up at `until`.
    fn do_step(&mut self, clock: &mut dyn Clock, call: &mut ActiveOperation, until: Time) -> bool {
        match call.next_step() {
            OperationStep::Send(tag, words) => {
                let (to, parcel) = (call.peer as usize, call.next_parcel());
                let number = self.send_step(clock, to, tag, words as usize, parcel);
                call.on_sent(number);
            }
            OperationStep::Receive(filter) if filter != RecvFilter::NOTHING => {
                let is_act = self.has_rooms && !filter.tag.is_signal();
                let purpose = if is_act { Purpose::TakeOnArrivalOrGiveUp } else { Purpose::Receive };
                let (mut got, reason) = (None, call.wait_reason(self.network, self.id()));
                self.receive_step(clock, (filter, purpose, reason), until, &mut got);
                let Some(message) = got else { return false };
                call.take(message);
            }
            _ => return false,
        }
        if call.next_step() == OperationStep::Done {
            call.stage = OperationStage::Done;
        }
        true
    }

    /// Handles all events of requests until the processor's local time: its next call comes after them. If
    /// they are ahead of it, they must not go on without the call: the next message may be the call's.
    #[inline]
    pub fn catch_up(&mut self, clock: &mut dyn Clock) {
        let now = self.pace.now;
        if self.has_requests && self.requests().caught_up_to <= now {
            while self.handle_event(clock, &mut ActiveOperation::done(), now) {}
            let requests = self.requests();
            requests.caught_up_to = requests.caught_up_to.max(now);
        }
    }

    /// Waits for the next event of the call or a request until a time, and handles it: a message goes to the
    /// call or request that receives it, or the network serves one, whose turn it is. Returns whether there
    /// was an event.
    pub fn handle_event(&mut self, clock: &mut dyn Clock, call: &mut ActiveOperation, until: Time) -> bool {
        let (wait, turn) = self.next_event(call, until);
        if let Some(mut wait) = wait {
            let (mut message, deadline) = (None, wait.deadline);
            clock.receive(&mut wait, &mut message);
            let mut owner = CALL;
            let requests = self.requests();
            let at = message.as_ref().map_or(deadline, |message| message.arrival);
            requests.caught_up_to = requests.caught_up_to.max(at);
            if let Some(receives) = &mut requests.receives
                && let Some(chosen) = receives.chosen.take()
            {
                receives.queue.remove(chosen);
                owner = chosen.place.1;
            }
            if let Some(message) = message {
                if message.message.header.tag.is_room() {
                    let admitted = self.with_operation(owner, call, |engine, operation| {
                        engine.send_admitted(clock, owner, operation, message.arrival)
                    });
                    self.deliver(clock, admitted, call);
                } else {
                    self.with_operation(owner, call, |engine, operation| {
                        engine.finish_receive(clock, owner, operation, message)
                    });
                }
                return true;
            }
        }
        let Some(turn) = turn else { return false };
        let requests = self.requests();
        // A turn that has passed is that of a message behind one that was stalled.
        let at = requests.caught_up_to.max(turn.time);
        requests.caught_up_to = at;
        match turn {
            Turn { is_send: false, .. } => _ = requests.receptions.pop(),
            Turn { owner: CALL, .. } => (),
            _ => _ = requests.turns.pop(),
        }
        clock.wait_for_turn(at, turn.is_visible);
        if !turn.is_send {
            self.free_room(clock, turn.time, turn.owner);
            return true;
        }
        let sent = self.with_operation(turn.owner, call, |engine, operation| {
            engine.send_at_turn(clock, operation, turn)
        });
        self.deliver(clock, sent, call);
        true
    }

    /// Delivers a message that was sent, if there is one, and starts the send that waits behind it.
    fn deliver(
        &mut self,
        clock: &mut dyn Clock,
        sent: Option<(ArrivedHeader, Parcel)>,
        call: &mut ActiveOperation,
    ) {
        let Some((arrived, parcel)) = sent else { return };
        if arrived.1.tag.is_start_of_send() {
            self.start_queued_send(clock, arrived.1.to.id(), call);
        }
        clock.deliver(arrived, parcel);
    }

    /// Waits at the clock until the processor's local time.
    pub fn wait_for_local_time(&mut self, clock: &mut dyn Clock) {
        if self.pace.now == Time::MAX {
            clock.fail_program(Cause::EndOfTime { id: self.id() });
        }
        self.catch_up(clock);
        clock.wait_until(self.pace.now);
    }

    /// Counts a look that found nothing. Ends the run if the processor looks again and again, and no
    /// processor is left that could send a message.
    pub fn count_vain_look(&mut self, clock: &mut dyn Clock) {
        /// Number of looks in a row that find nothing before it is worth asking the clock.
        const MAX_VAIN_LOOKS: u32 = 1 << 20;
        self.vain_looks += 1;
        if self.vain_looks >= MAX_VAIN_LOOKS {
            self.vain_looks = 0;
            let has_nothing_pending = !std::thread::panicking() && !self.has_pending_event();
            if has_nothing_pending && clock.report_vain_looks() {
                clock.fail_program(Cause::PollingDeadlock { id: self.id() });
            }
        }
    }

    // Operations.

    /// Posts a request, which takes o (LogGPS, equations 6 and 10). Returns the request's number.
    pub fn post(
        &mut self,
        clock: &mut dyn Clock,
        mut operation: ActiveOperation,
        at: &'static Location<'static>,
    ) -> u32 {
        self.catch_up(clock);
        let (now, is_send) = (self.pace.now, matches!(operation.next_step(), OperationStep::Send(..)));
        let end = self.network.busy_until(self.id(), now, self.network.params().o);
        let requests = self.requests.get_or_insert_default();
        let number = requests.next_number;
        requests.next_number += 1;
        requests.caught_up_to = now;
        self.has_requests = true;
        self.pace.now = end;
        *if is_send { &mut self.stats.send } else { &mut self.stats.recv } += end - now;
        if self.is_traced {
            self.log_activity(ActivityKind::Post(number));
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
            self.advance(clock, number, &mut operation);
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
    fn advance(&mut self, clock: &mut dyn Clock, owner: u32, operation: &mut ActiveOperation) {
        operation.stage = match operation.next_step() {
            OperationStep::Send(tag, words) => {
                let (to, words) = (operation.peer as usize, words as usize);
                let mut outgoing =
                    self.with_local_time(operation, |engine, _| engine.prepare(clock, to, words));
                let at = self.requests().caught_up_to;
                self.pace.defer(self.network, &mut outgoing, at);
                self.queue_turn(owner, &outgoing);
                OperationStage::AwaitTurn(outgoing, tag)
            }
            OperationStep::Receive(filter) => {
                self.post_receive(owner, filter);
                OperationStage::AwaitMessage(filter)
            }
            OperationStep::Done => OperationStage::Done,
        };
    }

    /// Posts the receive of a request's message. That of the call's is in the call's stage.
    fn post_receive(&mut self, owner: u32, filter: RecvFilter) {
        if owner != CALL {
            let receives = self.requests().receives.get_or_insert_default();
            // The numbers of requests are in the order of posting.
            receives.awaits_room |= filter.tag.is_room();
            receives.queue.post(PostedReceive { place: (Time::ZERO, owner), filter });
        }
    }

    /// Queues the turn of a request's message. The turn of the call's message is in the call's stage.
    fn queue_turn(&mut self, owner: u32, outgoing: &OutgoingMessage) {
        if owner != CALL {
            self.requests().turns.push(Reverse(Turn::new(owner, outgoing)));
        }
    }

    /// Returns the next event of the call and all requests, until a time: the wait for a message, which ends
    /// at the turn or at the call's deadline, and the turn of a message, if none arrives before it.
    #[inline]
    fn next_event<'e>(
        &'e mut self,
        call: &ActiveOperation,
        until: Time,
    ) -> (Option<MessageWait<'e>>, Option<Turn>) {
        let (turn, mut filter) = match &call.stage {
            OperationStage::AwaitTurn(outgoing, _) => (Some(Turn::new(CALL, outgoing)), RecvFilter::NOTHING),
            OperationStage::AwaitMessage(filter) => (None, *filter),
            OperationStage::AwaitRoom(outgoing, _) => (None, room_filter(outgoing)),
            _ => (None, RecvFilter::NOTHING),
        };
        let wait_reason = call.wait_reason(self.network, self.id());
        if self.earliest_take(filter) > until {
            filter = RecvFilter::NOTHING; // the receive gap is not over in time
        }
        let requests = self.requests();
        let send = [turn, first(&requests.turns)].into_iter().filter(|_| !requests.is_stalled);
        let turn =
            send.chain([first(&requests.receptions)]).flatten().min().filter(|turn| turn.time <= until);
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
        (wait, turn)
    }

    /// Receives a message for an operation.
    #[inline]
    fn finish_receive(
        &mut self,
        clock: &mut dyn Clock,
        owner: u32,
        operation: &mut ActiveOperation,
        message: Envelope,
    ) {
        let arrived = message.arrived_header();
        let Header { from, number, tag, .. } = arrived.1;
        let time =
            self.with_local_time(operation, |engine, activities| engine.spend_reception(arrived, activities));
        if self.has_rooms && !tag.is_signal() {
            let turn = Turn { time, is_send: false, number, owner: from, is_visible: true };
            self.requests().receptions.push(Reverse(turn));
        }
        operation.take(message);
        if owner == CALL {
            operation.stage = OperationStage::AwaitLocalTime;
        } else {
            self.advance(clock, owner, operation);
        }
    }

    /// Starts the send that is queued behind the one that was served, if there is one.
    fn start_queued_send(&mut self, clock: &mut dyn Clock, to: u32, call: &mut ActiveOperation) {
        let queues = &mut self.requests().send_queues;
        let queue = queues.entry(to).or_default();
        queue.pop_front();
        match queue.front().copied() {
            Some(owner) => {
                self.with_operation(owner, call, |engine, operation| engine.advance(clock, owner, operation))
            }
            None => _ = queues.remove(&to),
        }
    }

    /// Sends the message of an operation at its turn, and returns it to be delivered at once. Returns `None`
    /// if the message is deferred, because others of the processor were served since the turn was set.
    fn send_at_turn(
        &mut self,
        clock: &mut dyn Clock,
        operation: &mut ActiveOperation,
        turn: Turn,
    ) -> Option<(ArrivedHeader, Parcel)> {
        let OperationStage::AwaitTurn(mut outgoing, tag) = operation.stage else { return None };
        if self.pace.defer(self.network, &mut outgoing, turn.time) {
            operation.stage = OperationStage::AwaitTurn(outgoing, tag);
            self.queue_turn(turn.owner, &outgoing);
            return None;
        }
        if self.has_rooms && !self.ask_for_room(&outgoing, turn.time) {
            operation.stage = OperationStage::AwaitRoom(outgoing, tag);
            self.post_receive(turn.owner, room_filter(&outgoing));
            self.requests().is_stalled = true;
            return None;
        }
        Some(self.finish_send(clock, turn.owner, operation, (outgoing, outgoing.entry.ready, tag)))
    }

    /// Sends the message of an operation that has waited for room until a moment. The processor has sent no other
    /// meanwhile.
    fn send_admitted(
        &mut self,
        clock: &mut dyn Clock,
        owner: u32,
        operation: &mut ActiveOperation,
        at: Time,
    ) -> Option<(ArrivedHeader, Parcel)> {
        let OperationStage::AwaitRoom(mut outgoing, tag) = operation.stage else { return None };
        let ready = outgoing.entry.ready;
        outgoing.entry.defer_to(at);
        let requests = self.requests();
        requests.is_stalled = false;
        requests.receives.get_or_insert_default().awaits_room = false;
        Some(self.finish_send(clock, owner, operation, (outgoing, ready, tag)))
    }

    /// Lets the message of an operation enter, and starts the operation's next step. Returns the message.
    fn finish_send(
        &mut self,
        clock: &mut dyn Clock,
        owner: u32,
        operation: &mut ActiveOperation,
        (outgoing, ready, tag): (OutgoingMessage, Time, RawTag),
    ) -> (ArrivedHeader, Parcel) {
        let arrived = self.with_local_time(operation, |engine, activities| {
            engine.enter(clock, (&outgoing, ready), tag, activities)
        });
        let parcel = operation.next_parcel();
        operation.on_sent(outgoing.number);
        self.advance(clock, owner, operation);
        (arrived, parcel)
    }

    /// Returns whether a processor that sends a message can receive others while it finds no room.
    pub fn may_receive_in_stall(&self, to: usize, words: usize) -> bool {
        let network = self.network;
        self.has_rooms
            && network.stream(self.id(), to, words) <= Time::ZERO
            && !network.is_synchronous(self.id(), to, words)
    }

    /// Starts a send of a message of one word, whose processor receives others while it finds no room. Returns
    /// what [`end_stall`](Engine::end_stall) ends, or `None` once the message has entered.
    pub fn start_stall(&mut self, clock: &mut dyn Clock, mut send: ActiveOperation) -> Option<StalledSend> {
        self.catch_up(clock);
        let now = self.pace.now;
        let requests = self.requests();
        requests.caught_up_to = requests.caught_up_to.max(now);
        self.has_requests = true;
        self.start(clock, &mut send);
        let has_asked =
            |send: &ActiveOperation| send.is_done() || matches!(send.stage, OperationStage::AwaitRoom(..));
        self.drive(clock, &mut send, Time::MAX, has_asked);
        let OperationStage::AwaitRoom(outgoing, _) = send.stage else {
            self.has_requests = !self.requests().operations.is_empty();
            return None;
        };
        self.spend_overhead(&outgoing);
        send.request = Some(Box::new(RequestState {
            now: self.pace.now,
            activities: Vec::new(),
            is_send: true,
            called_at: self.pace.now,
            location: Location::caller(),
        }));
        let requests = self.requests.get_or_insert_default();
        let number = STALLED - requests.stalled;
        requests.stalled += 1;
        requests.operations.insert(number, Box::new(send));
        self.post_receive(number, room_filter(&outgoing));
        Some(StalledSend { number, to: outgoing.to, message: outgoing.id(self.id()) })
    }

    /// Spends the time of a send until its overhead is over.
    fn spend_overhead(&mut self, outgoing: &OutgoingMessage) {
        let (OutgoingMessage { to, words, .. }, ready) = (*outgoing, outgoing.entry.ready);
        let called = std::mem::replace(&mut self.pace.now, ready);
        let begin = self.begin_of_overhead((to, words), ready, called);
        self.stats.gap += begin - called;
        self.stats.send += ready - begin;
        let passage = Passage { ready, admitted: ready, enter: ready, ..Passage::default() };
        if let Some(log) = &mut self.log {
            log.add_activities(send_activities(
                outgoing.id(self.pace.egress.processor()),
                (called, begin),
                &passage,
            ));
        }
    }

    /// Receives a message while one of the processor's own is stalled. Leaves `got` empty if that has entered
    /// first.
    pub fn receive_in_stall(
        &mut self,
        clock: &mut dyn Clock,
        &StalledSend { number, to, .. }: &StalledSend,
        filter: RecvFilter,
        name: Option<&'static str>,
        got: &mut Option<Envelope>,
    ) {
        let mut call = ActiveOperation::receive(filter).with_name(name);
        self.start(clock, &mut call);
        self.requests().receives.get_or_insert_default().status = Some(ProcStatus::WaitingForRoom { to });
        while !(call.is_done() || call.received.is_none() && self.completion_time(number).is_some()) {
            self.handle_event(clock, &mut call, Time::MAX);
            self.catch_up(clock);
            if let OperationStage::AwaitLocalTime = call.stage {
                self.advance(clock, CALL, &mut call);
            }
        }
        self.requests().receives.get_or_insert_default().status = None;
        *got = call.into_message();
    }

    /// Goes on after a stall in which the processor could receive, once its message has entered.
    pub fn end_stall(&mut self, StalledSend { number, message, .. }: StalledSend) {
        let requests = self.requests();
        let Some(send) = requests.operations.remove(&number) else { return };
        self.has_requests = !self.requests().operations.is_empty();
        let entered = send.request.map_or(Time::ZERO, |state| state.now);
        if entered > self.pace.now {
            self.stats.stall += entered - self.pace.now;
            self.pace.now = entered;
            if self.is_traced {
                self.log_activity(ActivityKind::Stall);
            }
        }
        if let Some(log) = &mut self.log {
            log.call_messages.add(true, send.tag, message);
        }
    }

    /// Frees the room of a message whose reception starts, and tells the senders of the messages that this
    /// admits, in the order in which they act.
    #[cold]
    fn free_room<C: Clock + ?Sized>(&mut self, clock: &mut C, at: Time, from: u32) {
        let (id, next_number) = (self.id(), self.pace.egress.next_number());
        let mut admitted = self.network.free_room(from as usize, id, at);
        admitted.sort_unstable_by_key(|message| self.network.place(at, message.from));
        for MessageId { from: to, number } in admitted {
            let (to, tag) = (Receiver::new(to as u32, false), RawTag::room(number as u32));
            let header = Header { from: id as u32, to, number: next_number, words: 0, tag };
            clock.deliver((at, header), Parcel::new(()));
        }
    }

    // Messages.

    /// Creates the wait of a call for a message, from the end of the receive gap until a time. Where there
    /// are requests, [`next_event`](Engine::next_event) waits for their messages too.
    #[inline]
    fn message_wait(
        &self,
        (filter, purpose, wait_reason): (RecvFilter, Purpose, WaitReason),
        until: Time,
    ) -> MessageWait<'static> {
        let earliest = self.earliest_take(filter);
        MessageWait { filter, earliest, deadline: until, purpose, posted_receives: None, wait_reason }
    }

    /// Returns the earliest time at which a call can take a message: a signal now, others when the receive gap
    /// is over.
    #[inline]
    fn earliest_take(&self, filter: RecvFilter) -> Time {
        if filter.tag.is_signal() { self.pace.now } else { self.pace.next_reception() }
    }

    /// Lets the network serve a message, whose turn it is and which has been `ready` since a time. Spends the
    /// time of its send until it enters: send gap, overhead, stall and port. Returns the header for its receiver.
    #[inline(always)]
    fn enter<C: Clock + ?Sized>(
        &mut self,
        clock: &mut C,
        (outgoing, ready): (&OutgoingMessage, Time),
        tag: RawTag,
        activities: ActivityLog,
    ) -> ArrivedHeader {
        let (network, id) = (self.network, self.id());
        let passage = Passage { ready, ..clock.serve(network, &mut self.pace.egress, outgoing) };
        let OutgoingMessage { to, words, number, .. } = *outgoing;
        let Passage { admitted, enter, arrival, .. } = passage;
        let called = std::mem::replace(&mut self.pace.now, enter);
        let begin = self.begin_of_overhead((to, words), ready, called);
        self.vain_looks = 0;
        self.stats.sent += 1;
        self.stats.words_sent += words as u64;
        if passage.out_of_order {
            self.stats.out_of_order += 1;
        }
        let stall = admitted - ready;
        if stall > Time::ZERO {
            self.stats.stalls += 1;
            self.stats.longest_stall = self.stats.longest_stall.max(stall);
        }
        if activities.is_none() {
            self.stats.gap += begin - called;
            self.stats.send += ready - begin;
            self.stats.stall += stall;
            self.stats.port += enter - admitted;
        }
        if self.is_traced || activities.is_some() {
            self.log_send(outgoing, (called, begin), &passage, tag, activities);
        }
        // A message that takes no time on its way is hidden from a look at that very moment.
        let is_instant = arrival == outgoing.entry.asked_at && network.has_fixed_latency(id, to);
        let to = Receiver::new(to as u32, is_instant);
        (arrival, Header { from: id as u32, to, number, words: words as u32, tag })
    }

    /// Returns when the overhead begins of a send that was called at one time and is ready at another.
    #[inline(always)]
    fn begin_of_overhead(&self, (to, words): (usize, usize), ready: Time, called: Time) -> Time {
        let overhead = self.network.send_overhead(self.id(), to, words);
        match self.network.noise() {
            None => ready - overhead,
            Some(noise) => noise.earliest_start(self.id(), ready, overhead, called),
        }
    }

    /// Logs a message that has entered, and the activities of its send.
    #[cold]
    fn log_send(
        &mut self,
        outgoing: &OutgoingMessage,
        (called, begin): (Time, Time),
        passage: &Passage,
        tag: RawTag,
        activities: ActivityLog,
    ) {
        let (id, message) = (self.id(), outgoing.id(self.id()));
        if let Some(log) = &mut self.log {
            log.add_message(outgoing.record(self.network, id, passage));
        }
        let all = send_activities(message, (called, begin), passage);
        if let Some(to) = activities {
            to.extend(all);
        } else if let Some(log) = &mut self.log {
            log.call_messages.add(true, tag, message);
            log.add_activities(all);
        }
    }

    /// Spends the time of a receive until the end of the reception: the wait for the arrival, the receive gap
    /// (rule 4) and the overhead. Returns when the overhead starts. A signal takes no time.
    #[inline(always)]
    fn spend_reception(&mut self, (arrival, header): ArrivedHeader, activities: ActivityLog) -> Time {
        let (words, from, called) = (header.words, header.from as usize, self.pace.now);
        self.vain_looks = 0;
        if header.tag.is_signal() {
            return called;
        }
        let (start, end) = self.pace.receive(self.network, (from, words as usize), arrival);
        self.stats.received += 1;
        self.stats.words_received += u64::from(words);
        if activities.is_none() {
            let ready = called.max(arrival);
            self.stats.idle += ready - called;
            self.stats.gap += start - ready;
            self.stats.recv += end - start;
        }
        if self.is_traced || activities.is_some() {
            self.log_reception(&header, called, [arrival, start, end], activities);
        }
        start
    }

    /// Logs the activities of a reception.
    #[cold]
    fn log_reception(&mut self, header: &Header, called: Time, ends: [Time; 3], activities: ActivityLog) {
        let (id, message) = (self.id(), header.id());
        let all = reception_activities(id, message, called, ends);
        if let Some(to) = activities {
            to.extend(all);
        } else if let Some(log) = &mut self.log {
            log.call_messages.add(false, header.tag, message);
            log.add_activities(all);
        }
    }

    /// Runs a closure on the operation of a request or of the call.
    fn with_operation<R>(
        &mut self,
        owner: u32,
        call: &mut ActiveOperation,
        run: impl FnOnce(&mut Engine<'n>, &mut ActiveOperation) -> R,
    ) -> R {
        let requests = self.requests.as_mut().filter(|_| owner != CALL);
        let Some(mut request) = requests.and_then(|requests| requests.operations.remove(&owner)) else {
            return run(self, call);
        };
        let done = run(self, &mut request);
        self.requests().operations.insert(owner, request);
        done
    }

    // Requests.

    /// Returns when a request is done, or `None` if that is not known yet.
    pub fn completion_time(&self, request: u32) -> Option<Time> {
        let operation = self.requests.as_ref()?.operations.get(&request)?;
        operation.request.as_ref().filter(|_| operation.is_done()).map(|state| state.now)
    }

    /// Returns whether something happens without a message: the receive gap ends, or a request advances.
    fn has_pending_event(&self) -> bool {
        let is_active = |request: &ActiveOperation| match (&request.stage, &request.request) {
            (OperationStage::Done, Some(state)) => state.now > self.pace.now,
            (OperationStage::AwaitMessage(_) | OperationStage::AwaitRoom(..), _) => false,
            _ => true,
        };
        let requests = self.requests.iter().flat_map(|requests| requests.operations.values());
        self.pace.is_in_receive_gap() || requests.into_iter().any(|request| is_active(request))
    }

    /// Sets the processor's status for errors: it waits for a request, or for any of several.
    pub fn set_awaited(&mut self, numbers: &[u32]) {
        let requests = self.requests();
        let status = match numbers {
            [request] => requests.operations.get(request).map_or_else(String::new, |it| format!("its {it}")),
            _ => format!("any of its {} requests", numbers.len()),
        };
        requests.receives.get_or_insert_default().status = Some(ProcStatus::WaitingForRequest(status));
    }

    /// Returns the number of requests that were not waited for, and describes the first one. Returns `None`
    /// if there are none.
    pub fn unawaited_requests(&self) -> Option<(usize, String)> {
        let operations = &self.requests.as_ref()?.operations;
        operations.first_key_value().map(|(_, first)| (operations.len(), first.to_string()))
    }

    /// Waits until a request is done, and at least for o (LogGPS, equation 11). The time of the wait goes on
    /// the accounts of the request's activities in that time. Returns the request, or `None` if it was waited
    /// for before.
    pub fn join(&mut self, clock: &mut dyn Clock, number: u32) -> Option<ActiveOperation> {
        self.catch_up(clock);
        if self.completion_time(number).is_none() {
            self.set_awaited(&[number]);
        }
        while self.completion_time(number).is_none() {
            self.handle_event(clock, &mut ActiveOperation::done(), Time::MAX);
        }
        self.leave_until(clock, number);
        self.vain_looks = 0;
        let requests = self.requests();
        let mut request = requests.operations.remove(&number)?;
        if let Some(receives) = &mut requests.receives {
            receives.status = None;
        }
        self.has_requests = !requests.operations.is_empty();
        let RequestState { now: done, activities, is_send, .. } = *request.request.take()?;
        let called = self.pace.now;
        let least = self.network.busy_until(self.id(), called, self.network.params().o);
        for activity in &activities {
            let waited = activity.end - activity.start.max(called);
            if waited > Time::ZERO {
                *account(&mut self.stats, &activity.kind) += waited;
            }
        }
        let overhead = (least - called.max(done)).max(Time::ZERO);
        *if is_send { &mut self.stats.send } else { &mut self.stats.recv } += overhead;
        self.pace.now = least.max(done);
        if self.is_traced {
            self.log_activity(ActivityKind::Wait(number));
            let transfer = transfer(&activities, is_send);
            self.write_call(|_| {
                transfer.map(|transfer| CallKind::Wait { request: number, is_send, transfer })
            });
        }
        if let Some(log) = &mut self.log {
            let progress =
                |Activity { id, start, end, kind }| Progress { id, request: number, start, end, kind };
            log.progress.extend(activities.into_iter().map(progress));
        }
        Some(*request)
    }

    /// Lets the messages that requests receive leave the network, until a request is done: after that nobody
    /// may remember them.
    fn leave_until(&mut self, clock: &mut dyn Clock, number: u32) {
        let done = self.completion_time(number);
        while let Some(turn) = first(&self.requests().receptions)
            && done.is_some_and(|done| turn.time <= done)
        {
            self.handle_event(clock, &mut ActiveOperation::done(), turn.time);
        }
    }

    // Time.

    /// Waits until the deadline of a look that found nothing. If the deadline has passed, this takes a cycle,
    /// so that looking moves time forward.
    pub fn wait_in_vain(&mut self, deadline: Time) {
        let (now, cycle) = (self.pace.now, self.network.params().cycle);
        self.wait_until(if deadline > now { deadline } else { now + cycle });
    }

    /// Computes for the time `cost`. Work without a cost is not traced.
    #[inline]
    pub fn work(&mut self, kind: impl Into<Cow<'static, str>> + Clone, cost: Time) {
        let start = self.pace.now;
        self.pace.now = start.max(self.network.busy_until(self.id(), start, cost));
        self.stats.work += self.pace.now - start;
        if self.is_traced && self.pace.now > start {
            self.log_work(kind.into());
        }
    }

    #[cold]
    fn log_work(&mut self, kind: Cow<'static, str>) {
        self.log_activity(ActivityKind::Work(kind.clone()));
        self.write_call(|_| Some(CallKind::Work(kind)));
    }

    /// Waits until `t`, unless it has passed.
    pub fn wait_until(&mut self, t: Time) {
        if t > self.pace.now {
            self.spend_until(t, ActivityKind::Idle);
        }
    }

    /// Waits in the machine's own barrier until its end.
    pub fn wait_in_barrier(&mut self, end: Time) {
        self.spend_until(end, ActivityKind::Barrier);
    }

    /// Runs a closure in the local time of an operation: its own if it is a request, else the processor's.
    #[inline(always)]
    fn with_local_time<R>(
        &mut self,
        operation: &mut ActiveOperation,
        run: impl FnOnce(&mut Engine<'n>, ActivityLog) -> R,
    ) -> R {
        let Some(state) = &mut operation.request else { return run(self, None) };
        std::mem::swap(&mut self.pace.now, &mut state.now);
        let done = run(self, Some(&mut state.activities));
        std::mem::swap(&mut self.pace.now, &mut state.now);
        done
    }

    /// Spends the time until a moment that has not passed on an activity.
    fn spend_until(&mut self, until: Time, kind: ActivityKind) {
        let start = std::mem::replace(&mut self.pace.now, until);
        self.stats.idle += until - start;
        if self.is_traced {
            self.log_activity(kind);
        }
    }

    /// Logs an activity until now.
    #[cold]
    fn log_activity(&mut self, kind: ActivityKind) {
        if let Some(log) = &mut self.log {
            log.add_activity(self.pace.now, kind);
        }
    }

    // The trace.

    /// Logs the call that ends now, if the run is traced.
    #[inline]
    pub fn log_call(&mut self, what: impl FnOnce(&CallMessages) -> Option<CallKind>) {
        if self.is_traced {
            self.write_call(what);
        }
    }

    /// Logs the location of the last call, which could have received one of several messages.
    #[inline]
    pub fn log_location(&mut self, at: &'static Location<'static>) {
        if let Some(log) = &mut self.log {
            log.note_location(at);
        }
    }

    #[cold]
    fn write_call(&mut self, what: impl FnOnce(&CallMessages) -> Option<CallKind>) {
        if let Some(log) = &mut self.log {
            let what = what(&log.call_messages);
            log.end_call(self.pace.now, what);
        }
    }

    /// Finishes the processor, whose program has returned. Returns its accounts, and its log if the run is
    /// traced. `most_to` is the largest number of messages that were in transit to it at once.
    pub fn finish(mut self, most_to: usize) -> (Stats, Option<Box<Log>>) {
        self.stats.finish = self.pace.now;
        self.stats.most_to = most_to;
        self.stats.most_from = self.pace.egress.most_in_transit();
        (self.stats, self.log)
    }
}

/// A message that is stalled while its processor receives.
pub struct StalledSend {
    /// The number of its operation, in place of a request's.
    number: u32,
    to: usize,
    message: MessageId,
}

/// Returns the first turn of a queue.
fn first(turns: &BinaryHeap<Reverse<Turn>>) -> Option<Turn> {
    turns.peek().map(|Reverse(first)| *first)
}

/// Returns the filter of the signal that admits a message to the network.
fn room_filter(outgoing: &OutgoingMessage) -> RecvFilter {
    RecvFilter { from: RecvFilter::ANY_SENDER, tag: RawTag::room(outgoing.number) }
}

impl Turn {
    fn new(owner: u32, outgoing: &OutgoingMessage) -> Turn {
        let OutgoingMessage { turn: time, number, is_visible, .. } = *outgoing;
        Turn { time, is_send: true, number, owner, is_visible }
    }
}

/// The activities of a request, which count when its processor waits for it; `None` for a call.
type ActivityLog<'a> = Option<&'a mut Vec<Activity>>;

/// Returns the account of [`Stats`] for an activity.
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

/// Returns the message of a request that is done: the last one that it sent or received, with the
/// announcement and the grant before it, if there were any.
fn transfer(activities: &[Activity], is_send: bool) -> Option<Transfer> {
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
