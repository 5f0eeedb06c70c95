//! The step that sends a message.

use super::{ActivityLog, Clock, Engine, fail_program};
use crate::error::Cause;
use crate::message::parcel::Parcel;
use crate::message::{ArrivedHeader, Header, RawTag, Receiver, RecvFilter};
use crate::rules::message_wait::{Purpose, WaitReason};
use crate::rules::rank::{OutgoingMessage, send_activities};
use crate::time::Time;
use crate::transport::{DataRead, Passage};

impl Engine<'_> {
    /// Does a step of a call that sends a message, on a processor without requests: prepares the message, waits
    /// for its turn, and lets it enter. Returns the message's number.
    #[inline(always)]
    pub(super) fn send_step<C: Clock + ?Sized>(
        &mut self,
        clock: &mut C,
        to: usize,
        tag: RawTag,
        words: usize,
        parcel: Parcel,
    ) -> u32 {
        let mut outgoing = self.prepare(clock, to, words);
        let ready = outgoing.departure.ready;
        clock.wait_for_turn(outgoing.turn, outgoing.is_visible);
        if self.has_rooms && !self.ask_for_room(&outgoing, outgoing.turn) {
            let admitted = self.wait_for_room(clock, outgoing.to, outgoing.number);
            admitted.into_iter().for_each(|at| outgoing.departure.defer_to(at));
        }
        let arrived = self.enter(clock, (&outgoing, ready), tag, None);
        clock.deliver(arrived, parcel);
        outgoing.number
    }

    /// Prepares a message, which then waits for its turn.
    #[inline(always)]
    pub(super) fn prepare<C: Clock + ?Sized>(
        &mut self,
        clock: &mut C,
        to: usize,
        words: usize,
    ) -> OutgoingMessage {
        let outgoing = self.rank.prepare_send(self.network, to, words);
        self.check_end_of_time(clock, &outgoing);
        outgoing
    }

    /// Prepares a read of a message from its sender's memory, as [`prepare`](Engine::prepare) does a message.
    pub(super) fn prepare_read(&mut self, clock: &mut dyn Clock, read: DataRead) -> OutgoingMessage {
        let outgoing = self.rank.prepare_read(self.network, read);
        self.check_end_of_time(clock, &outgoing);
        outgoing
    }

    /// Ends the run if a message could enter only after the end of time.
    #[inline(always)]
    pub(super) fn check_end_of_time<C: Clock + ?Sized>(&self, clock: &mut C, outgoing: &OutgoingMessage) {
        if outgoing.departure.asked_at == Time::MAX {
            fail_program(clock, Cause::EndOfTime { id: self.id() });
        }
    }

    /// Asks for room for a message at its turn. Returns whether there is room.
    #[inline]
    pub(super) fn ask_for_room(&self, outgoing: &OutgoingMessage, turn: Time) -> bool {
        self.network.ask_for_room(outgoing.id(self.id()), outgoing.to, turn)
    }

    /// Waits until there is room for a message of a call, which has a number. Returns when there is.
    // It gets only what it needs of the message: then one that finds room need not lie in memory.
    #[cold]
    fn wait_for_room<C: Clock + ?Sized>(&mut self, clock: &mut C, to: usize, number: u32) -> Option<Time> {
        let reason = WaitReason::Room { to: to as u32 };
        let mut signal = None;
        let wait = (room_filter(number), Purpose::TakeOrGiveUp, reason);
        clock.receive(&mut self.message_wait(wait, Time::MAX), &mut signal);
        signal.map(|signal| signal.arrival)
    }

    /// Lets the network serve a message, whose turn it is and which has been `ready` since a time. Spends the
    /// time of its send until it enters: send gap, overhead, stall and port. Returns the header for its receiver.
    #[inline(always)]
    pub(super) fn enter<C: Clock + ?Sized>(
        &mut self,
        clock: &mut C,
        (outgoing, ready): (&OutgoingMessage, Time),
        tag: RawTag,
        activities: ActivityLog,
    ) -> ArrivedHeader {
        let (network, id) = (self.network, self.id());
        let passage = Passage { ready, ..clock.serve(network, &mut self.rank.egress, outgoing) };
        let OutgoingMessage { to, words, number, departure, .. } = *outgoing;
        let Passage { enter, arrival, .. } = passage;
        let called = std::mem::replace(&mut self.rank.now, enter);
        let begin = self.begin_of_overhead(departure.overhead, ready, called);
        self.account(outgoing, id, (called, begin), &passage, tag, activities);
        // A message that takes no time on its way is hidden from a look at that very moment.
        let is_instant = arrival == departure.asked_at && network.has_fixed_latency(id, to);
        let to = Receiver::new(to as u32, is_instant);
        (arrival, Header { from: id as u32, to, number, words: words as u32, tag })
    }

    /// Lets the network serve a read, whose turn it is: the data leave through the interface of their sender, whose
    /// processor takes no part. Returns the header for this processor.
    pub(super) fn enter_read(
        &mut self,
        clock: &mut dyn Clock,
        outgoing: &OutgoingMessage,
        read: DataRead,
        activities: ActivityLog,
    ) -> ArrivedHeader {
        let (network, from, tag) = (self.network, read.message.from, read.tag());
        let passage = clock.serve(network, &mut network.new_egress(from), outgoing);
        let called = std::mem::replace(&mut self.rank.now, passage.enter);
        self.account(outgoing, from, (called, called), &passage, tag, activities);
        let to = Receiver::new(outgoing.to as u32, false);
        (passage.arrival, Header { from: from as u32, to, number: outgoing.number, words: read.words, tag })
    }

    /// Counts and logs a message from a processor, whose overhead began after its call, and which has entered.
    #[inline(always)]
    fn account(
        &mut self,
        outgoing: &OutgoingMessage,
        from: usize,
        (called, begin): (Time, Time),
        passage: &Passage,
        tag: RawTag,
        activities: ActivityLog,
    ) {
        let Passage { ready, admitted, enter, .. } = *passage;
        self.vain_looks = 0;
        self.stats.sent += 1;
        self.stats.words_sent += outgoing.words as u64;
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
            self.log_send((*outgoing, from), (called, begin), *passage, tag, activities);
        }
    }

    /// Returns when the overhead begins of a send that was called at one time and is ready at another.
    #[inline(always)]
    pub(super) fn begin_of_overhead(&self, overhead: Time, ready: Time, called: Time) -> Time {
        match self.network.noise() {
            None => ready - overhead,
            Some(noise) => noise.earliest_start(self.id(), ready, overhead, called),
        }
    }

    /// Logs a message that has entered, and the activities of its send.
    #[cold]
    fn log_send(
        &mut self,
        (outgoing, from): (OutgoingMessage, usize),
        (called, begin): (Time, Time),
        passage: Passage,
        tag: RawTag,
        activities: ActivityLog,
    ) {
        let (id, message) = (self.id(), outgoing.id(from));
        if let Some(log) = &mut self.log {
            log.add_message(outgoing.record(self.network, (from, id), &passage), from == id);
        }
        let all = send_activities(id, message, (called, begin), &passage);
        if let Some(to) = activities {
            to.extend(all);
        } else if let Some(log) = &mut self.log {
            log.call_messages.add(true, tag, message);
            log.add_activities(all);
        }
    }
}

/// Returns the filter of the signal that admits the message of a number to the network.
pub(super) fn room_filter(number: u32) -> RecvFilter {
    RecvFilter { from: RecvFilter::ANY_SENDER, tag: RawTag::room(number) }
}
