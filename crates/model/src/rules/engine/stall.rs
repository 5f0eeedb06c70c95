//! A processor that receives while its own message finds no room in the network.

use std::panic::Location;

use super::send::room_filter;
use super::{Clock, Engine};
use crate::error::ProcStatus;
use crate::log::ActivityKind;
use crate::message::{ArrivedMessage, MessageId, RecvFilter};
use crate::rules::operation::{ActiveOperation, CALL, OperationStage, RequestState};
use crate::rules::rank::{OutgoingMessage, send_activities};
use crate::time::Time;
use crate::transport::{Departure, Passage};

/// The first message that is stalled while its processor receives, in place of a request's number; the next ones
/// have the numbers below.
const STALLED: u32 = CALL - 1;

/// A message that is stalled while its processor receives.
pub struct StalledSend {
    /// The number of its operation, in place of a request's.
    number: u32,
    to: usize,
    message: MessageId,
}

impl Engine<'_> {
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
        let now = self.rank.now;
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
        let now = self.rank.now;
        let requests = self.requests();
        let number = STALLED - requests.stalled;
        requests.stalled += 1;
        send.request = Some(RequestState::new(number, now, true, Location::caller()));
        requests.operations.insert(number, Box::new(send));
        self.post_receive(number, room_filter(outgoing.number));
        Some(StalledSend { number, to: outgoing.to, message: outgoing.id(self.id()) })
    }

    /// Spends the time of a send until its overhead is over.
    fn spend_overhead(&mut self, outgoing: &OutgoingMessage) {
        let Departure { ready, overhead, .. } = outgoing.departure;
        let called = std::mem::replace(&mut self.rank.now, ready);
        let begin = self.begin_of_overhead(overhead, ready, called);
        self.stats.gap += begin - called;
        self.stats.send += ready - begin;
        let passage = Passage { ready, admitted: ready, enter: ready, ..Passage::default() };
        if let Some(log) = &mut self.log {
            let id = self.rank.egress.processor();
            log.add_activities(send_activities(id, outgoing.id(id), (called, begin), &passage));
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
        got: &mut Option<ArrivedMessage>,
    ) {
        let mut call = ActiveOperation::receive(filter).with_name(name);
        self.start(clock, &mut call);
        self.requests().receives.get_or_insert_default().status = Some(ProcStatus::WaitingForRoom { to });
        while !(call.is_done() || call.received.is_none() && self.completion_time(number).is_some()) {
            self.handle_event_of_call(clock, &mut call, Time::MAX);
        }
        self.requests().receives.get_or_insert_default().status = None;
        *got = call.into_message();
    }

    /// Goes on after a stall in which the processor could receive, once its message has entered.
    pub fn end_stall(&mut self, StalledSend { number, message, .. }: StalledSend) {
        let requests = self.requests();
        let Some(send) = requests.operations.remove(&number) else { return };
        self.has_requests = !self.requests().operations.is_empty();
        if let Some(state) = send.request {
            self.spend_until(state.now, ActivityKind::Stall);
        }
        if let Some(log) = &mut self.log {
            log.call_messages.add(true, send.tag, message);
        }
    }
}
