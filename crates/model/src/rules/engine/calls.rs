//! Blocking calls, and looks that find nothing.

use super::{Clock, Engine, StepClock, fail_program};
use crate::error::Cause;
use crate::message::parcel::Parcel;
use crate::message::{ArrivedMessage, NamedTag, RecvFilter};
use crate::rules::message_wait::Purpose;
use crate::rules::operation::{ActiveOperation, OperationStage, OperationStep};
use crate::time::Time;

impl Engine<'_> {
    /// Sends a message, and goes on when it enters.
    #[inline(always)]
    pub fn send(
        &mut self,
        clock: &mut dyn StepClock,
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

    /// Receives a message, if its reception can start by `until`, and goes on at the reception's end.
    #[inline(always)]
    pub fn receive(
        &mut self,
        clock: &mut dyn StepClock,
        filter: RecvFilter,
        name: Option<&'static str>,
        until: Time,
        got: &mut Option<ArrivedMessage>,
    ) {
        if !(self.has_requests || self.has_rooms) {
            clock.receive_next(self, filter, until, got);
            if got.as_ref().is_none_or(|message| !message.message.header.tag.is_announce()) {
                return;
            }
        }
        self.receive_in_steps(clock, filter, name, until, got);
    }

    /// Receives a message as [`receive`](Engine::receive) does, unless one of the requests with these numbers is done
    /// first, and nothing of the message has come by then. Returns the index of that request.
    pub fn receive_unless_done(
        &mut self,
        clock: &mut dyn Clock,
        (filter, name): (RecvFilter, Option<&'static str>),
        requests: &[u32],
        got: &mut Option<ArrivedMessage>,
    ) -> Option<usize> {
        let mut call = ActiveOperation::receive(filter).with_name(name);
        self.start(clock, &mut call);
        while !call.is_done() {
            let first = self.first_known(requests).filter(|_| call.received.is_none());
            let until = first.map_or(Time::MAX, |(done, _)| done);
            if !self.handle_event_of_call(clock, &mut call, until)
                && let Some((_, index)) = first
            {
                return Some(index);
            }
        }
        let tag = call.tag;
        *got = call.into_message();
        if let Some(got) = got {
            got.message.header.tag = tag; // as in any receive
        }
        None
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
        let protocol = self.network.rendezvous(self.id(), to, words);
        ActiveOperation::send(to as u32, tag, words as u32, protocol, Some(parcel)).with_name(name)
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
        got: &mut Option<ArrivedMessage>,
    ) {
        let mut call = ActiveOperation::receive(filter).with_name(name);
        if let Some(announcement) = got.take() {
            call.take(announcement);
        }
        self.start_and_finish(clock, &mut call, until);
        let tag = call.tag;
        *got = call.into_message();
        if let Some(got) = got {
            got.message.header.tag = tag; // the data after a grant do not repeat the tag
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
        if self.has_requests && !self.queue_send(call) {
            self.advance(clock, call);
        }
    }

    /// Drives a call until `is_enough`, or until a time if it has received no message by then: step by step
    /// without requests, else event by event.
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
            let goes_on = match self.has_requests {
                true => self.handle_event_of_call(clock, call, deadline),
                false => self.do_step(clock, call, deadline),
            };
            if !goes_on {
                return;
            }
        }
    }

    /// Does the next step of a call, on a processor without requests. Returns false if the call has none or gives
    /// up at `until`.
    fn do_step(&mut self, clock: &mut dyn Clock, call: &mut ActiveOperation, until: Time) -> bool {
        match call.next_step() {
            OperationStep::Send(tag, words) if tag.is_one_sided() => {
                self.one_sided_step(clock, call, (tag, words));
            }
            OperationStep::Send(tag, words) => {
                let (to, parcel) = (call.peer as usize, call.next_parcel());
                let number = self.send_step(clock, to, tag, words as usize, parcel);
                if call.keeps_number() {
                    self.rank.egress.keep_number();
                }
                call.on_sent(number);
            }
            OperationStep::Read(read) => {
                let outgoing = self.prepare_read(clock, read);
                clock.wait_for_turn(outgoing.turn, outgoing.is_visible);
                let arrived = self.enter_read(clock, &outgoing, read, None);
                clock.deliver(arrived, call.next_parcel());
                call.on_sent(outgoing.number);
            }
            OperationStep::Receive(filter) if filter != RecvFilter::NOTHING => {
                let is_act = self.has_rooms && !filter.tag.is_signal();
                let purpose = if is_act { Purpose::TakeOrGiveUp } else { Purpose::Receive };
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

    /// Waits at the clock until the processor's local time.
    pub fn wait_for_local_time(&mut self, clock: &mut dyn Clock) {
        if self.rank.now == Time::MAX {
            fail_program(clock, Cause::EndOfTime { id: self.id() });
        }
        self.catch_up(clock);
        clock.wait_until(self.rank.now);
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
                fail_program(clock, Cause::PollingDeadlock { id: self.id() });
            }
        }
    }
}
