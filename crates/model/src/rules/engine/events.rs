//! The halves of steps. Where there are requests, an operation starts the first half of its next step, waits for
//! an event beside the others, and does the second half when the event comes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::send::room_filter;
use super::{Clock, Engine};
use crate::message::matching::PostedReceive;
use crate::message::parcel::Parcel;
use crate::message::{ArrivedHeader, ArrivedMessage, Header, RawTag, RecvFilter};
use crate::rules::message_wait::{MessageWait, Purpose};
use crate::rules::operation::{ActiveOperation, CALL, OperationStage, OperationStep};
use crate::rules::rank::OutgoingMessage;
use crate::time::Time;
use crate::transport::DataRead;

/// The turn of a message, at which the network serves it or, where it is in transit until it is received, its
/// reception starts. Of a processor's turns with the same time, receptions come first, and then the message with the
/// lowest number: the one that it prepared first. A message that it reads has the number that its sender gave it; of
/// two with the same number, a request's comes before the call's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Turn {
    pub time: Time,
    /// True if the processor sends the message.
    pub is_send: bool,
    /// The message's number.
    pub number: u32,
    /// The request that sends it, or [`CALL`]; of a message that it receives, the sender.
    pub owner: u32,
    /// True if other processors can see the turn, so that all earlier turns must have come.
    pub is_visible: bool,
}

impl Turn {
    fn new(owner: u32, outgoing: &OutgoingMessage) -> Turn {
        let OutgoingMessage { turn: time, number, is_visible, .. } = *outgoing;
        Turn { time, is_send: true, number, owner, is_visible }
    }
}

impl<'n> Engine<'n> {
    /// Handles all events of requests until the processor's local time, before its next call. Requests that are
    /// ahead of local time do not go on without the call, since the next message may be the call's.
    #[inline]
    pub fn catch_up(&mut self, clock: &mut dyn Clock) {
        let now = self.rank.now;
        if self.has_requests && self.requests().caught_up_to <= now {
            while self.handle_event(clock, &mut ActiveOperation::done(), now) {}
            let requests = self.requests();
            requests.caught_up_to = requests.caught_up_to.max(now);
        }
    }

    /// Handles the next event of a call, as [`handle_event`](Engine::handle_event) does. Then requests catch up,
    /// before the call takes its next step.
    pub(super) fn handle_event_of_call(
        &mut self,
        clock: &mut dyn Clock,
        call: &mut ActiveOperation,
        until: Time,
    ) -> bool {
        if !self.handle_event(clock, call, until) {
            return false;
        }
        self.catch_up(clock);
        let is_next = match call.stage {
            OperationStage::AwaitLocalTime => true,
            // Requests that caught up may have sent all that the call's message is queued behind.
            OperationStage::Queued => self.is_next_send(call),
            _ => false,
        };
        if is_next {
            self.advance(clock, call);
        }
        true
    }

    /// Returns whether the message of a queued call is the next one to its receiver.
    #[cold]
    fn is_next_send(&mut self, call: &ActiveOperation) -> bool {
        let queue = self.requests().send_queues.get(&call.peer);
        queue.is_some_and(|queue| queue.front() == Some(&CALL))
    }

    /// Waits for the next event of the call or a request until a time, and handles the event: a message has
    /// arrived, or it is the turn of one. Returns whether there was an event.
    pub fn handle_event(&mut self, clock: &mut dyn Clock, call: &mut ActiveOperation, until: Time) -> bool {
        let (wait, turn) = self.next_event(call, until);
        if let Some(mut wait) = wait {
            let (mut message, deadline) = (None, wait.deadline);
            clock.receive(&mut wait, &mut message);
            let owner = self.end_wait(message.as_ref().map_or(deadline, |message| message.arrival));
            if let Some(message) = message {
                self.handle_message(clock, owner, message, call);
                return true;
            }
        }
        if let Some(turn) = turn {
            self.handle_turn(clock, call, turn);
        }
        turn.is_some()
    }

    /// Notes that a wait has ended at a time. Returns the owner of the receive that got the message, if it is a
    /// request's.
    fn end_wait(&mut self, at: Time) -> u32 {
        let requests = self.requests();
        requests.caught_up_to = requests.caught_up_to.max(at);
        let Some(receives) = &mut requests.receives else { return CALL };
        let Some(chosen) = receives.chosen.take() else { return CALL };
        receives.queue.remove(chosen);
        chosen.order.1
    }

    /// Handles the arrival of a message for the call or a request.
    fn handle_message(
        &mut self,
        clock: &mut dyn Clock,
        owner: u32,
        message: ArrivedMessage,
        call: &mut ActiveOperation,
    ) {
        if message.message.header.tag.is_room() {
            let admitted = self.with_operation(owner, call, |engine, operation| {
                engine.send_admitted(clock, operation, message.arrival)
            });
            return self.deliver(clock, admitted, call);
        }
        self.with_operation(owner, call, |engine, operation| {
            engine.finish_receive(clock, operation, message)
        });
    }

    /// Waits for a turn, at which the network serves a message or the reception of one starts.
    fn handle_turn(&mut self, clock: &mut dyn Clock, call: &mut ActiveOperation, turn: Turn) {
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
            return self.free_room(clock, turn.time, turn.owner);
        }
        let sent = self.with_operation(turn.owner, call, |engine, operation| {
            engine.send_at_turn(clock, operation, turn.time)
        });
        self.deliver(clock, sent, call);
    }

    /// Returns the next event of the call and all requests, until a time: the wait for a message, which ends
    /// at the turn or at the call's deadline, and the turn of a message, if none arrives earlier.
    #[inline]
    fn next_event<'e>(
        &'e mut self,
        call: &ActiveOperation,
        until: Time,
    ) -> (Option<MessageWait<'e>>, Option<Turn>) {
        let (turn, mut filter) = match &call.stage {
            OperationStage::AwaitTurn(outgoing, _) => (Some(Turn::new(CALL, outgoing)), RecvFilter::NOTHING),
            OperationStage::AwaitMessage(filter) => (None, *filter),
            OperationStage::AwaitRoom(outgoing, _) => (None, room_filter(outgoing.number)),
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
            let purpose = if gives_up { Purpose::TakeOrGiveUp } else { Purpose::Take };
            MessageWait { filter, earliest, deadline, purpose, posted_receives: receives, wait_reason }
        });
        (wait, turn)
    }

    /// Starts the next step of an operation.
    #[inline]
    pub(super) fn advance(&mut self, clock: &mut dyn Clock, operation: &mut ActiveOperation) {
        operation.stage = match operation.next_step() {
            OperationStep::Send(tag, words) => {
                let (to, words) = (operation.peer as usize, words as usize);
                let mut outgoing = self.with_local_time(operation, |engine, _| match tag.is_one_sided() {
                    true => engine.prepare_one_sided(clock, tag, to, words),
                    false => engine.prepare(clock, to, words),
                });
                let at = self.requests().caught_up_to;
                self.rank.defer(self.network, &mut outgoing, at);
                if operation.keeps_number() {
                    self.rank.egress.keep_number();
                }
                self.queue_turn(operation, &outgoing);
                OperationStage::AwaitTurn(outgoing, tag)
            }
            OperationStep::Read(read) => {
                let outgoing = self.with_local_time(operation, |engine, _| engine.prepare_read(clock, read));
                self.queue_turn(operation, &outgoing);
                OperationStage::AwaitTurn(outgoing, read.tag())
            }
            OperationStep::Receive(filter) => {
                self.post_receive(operation.number(), filter);
                OperationStage::AwaitMessage(filter)
            }
            OperationStep::Done => OperationStage::Done,
        };
    }

    /// Queues an operation behind earlier sends to its receiver, if it is a send. Returns whether there are
    /// any, so that it must not start yet.
    pub(super) fn queue_send(&mut self, operation: &ActiveOperation) -> bool {
        let OperationStep::Send(..) = operation.next_step() else { return false };
        let queue = self.requests().send_queues.entry(operation.peer).or_default();
        queue.push_back(operation.number());
        queue.len() > 1
    }

    /// Queues the turn of a request's message. The turn of the call's message is in the call's stage.
    fn queue_turn(&mut self, operation: &ActiveOperation, outgoing: &OutgoingMessage) {
        if operation.number() != CALL {
            self.requests().turns.push(Reverse(Turn::new(operation.number(), outgoing)));
        }
    }

    /// Posts the receive of a request's message. The filter of the call's message is in the call's stage.
    pub(super) fn post_receive(&mut self, owner: u32, filter: RecvFilter) {
        if owner != CALL {
            let receives = self.requests().receives.get_or_insert_default();
            // The numbers of requests are in the order of posting.
            receives.awaits_room |= filter.tag.is_room();
            receives.queue.post(PostedReceive { order: (Time::ZERO, owner), filter });
        }
    }

    /// Sends the message of an operation at its turn, and returns it to be delivered at once. Returns `None`
    /// if the message is deferred, because others of the processor were served since the turn was set.
    fn send_at_turn(
        &mut self,
        clock: &mut dyn Clock,
        operation: &mut ActiveOperation,
        turn: Time,
    ) -> Option<(ArrivedHeader, Parcel)> {
        let OperationStage::AwaitTurn(mut outgoing, tag) = operation.stage else { return None };
        if let OperationStep::Read(read) = operation.next_step() {
            return Some(self.finish_read(clock, operation, &outgoing, read));
        }
        if self.rank.defer(self.network, &mut outgoing, turn) {
            operation.stage = OperationStage::AwaitTurn(outgoing, tag);
            self.queue_turn(operation, &outgoing);
            return None;
        }
        if self.has_rooms && !self.ask_for_room(&outgoing, turn) {
            operation.stage = OperationStage::AwaitRoom(outgoing, tag);
            self.post_receive(operation.number(), room_filter(outgoing.number));
            self.requests().is_stalled = true;
            return None;
        }
        Some(self.finish_send(clock, operation, (outgoing, outgoing.departure.ready, tag)))
    }

    /// Sends the message of an operation that has waited for room until a moment. The processor has sent no other
    /// meanwhile.
    fn send_admitted(
        &mut self,
        clock: &mut dyn Clock,
        operation: &mut ActiveOperation,
        at: Time,
    ) -> Option<(ArrivedHeader, Parcel)> {
        let OperationStage::AwaitRoom(mut outgoing, tag) = operation.stage else { return None };
        let ready = outgoing.departure.ready;
        outgoing.departure.defer_to(at);
        let requests = self.requests();
        requests.is_stalled = false;
        requests.receives.get_or_insert_default().awaits_room = false;
        Some(self.finish_send(clock, operation, (outgoing, ready, tag)))
    }

    /// Lets the message of an operation enter, and starts the operation's next step. Returns the message.
    fn finish_send(
        &mut self,
        clock: &mut dyn Clock,
        operation: &mut ActiveOperation,
        (outgoing, ready, tag): (OutgoingMessage, Time, RawTag),
    ) -> (ArrivedHeader, Parcel) {
        let arrived = self.with_local_time(operation, |engine, activities| {
            engine.enter(clock, (&outgoing, ready), tag, activities)
        });
        let mut parcel = operation.next_parcel();
        if tag.is_one_sided() {
            self.reach_memory(clock, &outgoing, arrived.0, &mut parcel);
        }
        operation.on_sent(outgoing.number);
        self.advance(clock, operation);
        (arrived, parcel)
    }

    /// Lets the data that an operation reads enter, as [`finish_send`](Engine::finish_send) does its message.
    fn finish_read(
        &mut self,
        clock: &mut dyn Clock,
        operation: &mut ActiveOperation,
        outgoing: &OutgoingMessage,
        read: DataRead,
    ) -> (ArrivedHeader, Parcel) {
        let arrived = self.with_local_time(operation, |engine, activities| {
            engine.enter_read(clock, outgoing, read, activities)
        });
        let parcel = operation.next_parcel();
        operation.on_sent(outgoing.number);
        self.advance(clock, operation);
        (arrived, parcel)
    }

    /// Delivers the message that an operation has sent, if any, and starts the send that is queued behind.
    pub(super) fn deliver(
        &mut self,
        clock: &mut dyn Clock,
        sent: Option<(ArrivedHeader, Parcel)>,
        call: &mut ActiveOperation,
    ) {
        let Some((arrived, parcel)) = sent else { return };
        if arrived.1.tag.is_start_of_send() {
            self.start_queued_send(clock, arrived.1.to.id(), call);
        }
        if !arrived.1.tag.is_one_sided() {
            clock.deliver(arrived, parcel);
        }
    }

    /// Starts the send to a processor that is queued behind the one that was served, if any.
    fn start_queued_send(&mut self, clock: &mut dyn Clock, to: u32, call: &mut ActiveOperation) {
        let queues = &mut self.requests().send_queues;
        let queue = queues.entry(to).or_default();
        queue.pop_front();
        match queue.front().copied() {
            Some(owner) => {
                self.with_operation(owner, call, |engine, operation| engine.advance(clock, operation))
            }
            None => _ = queues.remove(&to),
        }
    }

    /// Receives a message for an operation.
    #[inline]
    fn finish_receive(
        &mut self,
        clock: &mut dyn Clock,
        operation: &mut ActiveOperation,
        got: ArrivedMessage,
    ) {
        let arrived = got.arrived_header();
        let Header { from, number, tag, .. } = arrived.1;
        let time =
            self.with_local_time(operation, |engine, activities| engine.spend_reception(arrived, activities));
        if self.has_rooms && !tag.is_signal() {
            let turn = Turn { time, is_send: false, number, owner: from, is_visible: true };
            self.requests().receptions.push(Reverse(turn));
        }
        operation.take(got);
        if operation.number() == CALL {
            operation.stage = OperationStage::AwaitLocalTime;
        } else {
            self.advance(clock, operation);
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
}

/// Returns the first turn of a queue.
pub(super) fn first(turns: &BinaryHeap<Reverse<Turn>>) -> Option<Turn> {
    turns.peek().map(|Reverse(first)| *first)
}
