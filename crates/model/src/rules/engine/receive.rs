//! The step that receives a message.

use super::{ActivityLog, Clock, Engine};
use crate::message::parcel::Parcel;
use crate::message::{ArrivedHeader, ArrivedMessage, Header, MessageId, RawTag, Receiver, RecvFilter};
use crate::rules::message_wait::{MessageWait, Purpose, WaitReason};
use crate::rules::rank::reception_activities;
use crate::time::Time;

impl Engine<'_> {
    /// Does a step of a call that receives a message, on a processor without requests, if the reception can
    /// start by `until`. Where a reception frees room, that is an act at its start.
    #[inline(always)]
    pub(super) fn receive_step<C: Clock + ?Sized>(
        &mut self,
        clock: &mut C,
        (filter, purpose, reason): (RecvFilter, Purpose, WaitReason),
        until: Time,
        got: &mut Option<ArrivedMessage>,
    ) {
        clock.receive(&mut self.message_wait((filter, purpose, reason), until), got);
        let Some(message) = got else { return };
        let start = self.spend_reception(message.arrived_header(), None);
        if purpose != Purpose::Receive {
            clock.wait_to_act(start);
            self.free_room(clock, start, message.message.header.from);
        }
    }

    /// Creates the wait of a call for a message, from the end of the receive gap until a time. Where there
    /// are requests, [`next_event`](Engine::next_event) waits for their messages too.
    #[inline]
    pub(super) fn message_wait(
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
    pub(super) fn earliest_take(&self, filter: RecvFilter) -> Time {
        if filter.tag.is_signal() { self.rank.now } else { self.rank.next_reception() }
    }

    /// Spends the time of a receive until the end of the reception: the wait for the arrival, the receive gap
    /// (rule 4) and the overhead. Returns when the overhead starts. A signal takes no time.
    #[inline(always)]
    pub(super) fn spend_reception(
        &mut self,
        (arrival, header): ArrivedHeader,
        activities: ActivityLog,
    ) -> Time {
        let (words, from, called) = (header.words, header.from as usize, self.rank.now);
        self.vain_looks = 0;
        if header.tag.is_signal() {
            return called;
        }
        let (start, end) = self.rank.receive(self.network, (from, words as usize), arrival);
        self.stats.received += 1;
        self.stats.words_received += u64::from(words);
        if activities.is_none() {
            let ready = called.max(arrival);
            self.stats.idle += ready - called;
            self.stats.gap += start - ready;
            self.stats.recv += end - start;
        }
        if self.is_traced || activities.is_some() {
            self.log_reception(header, called, [arrival, start, end], activities);
        }
        start
    }

    /// Logs the activities of a reception.
    #[cold]
    fn log_reception(&mut self, header: Header, called: Time, ends: [Time; 3], activities: ActivityLog) {
        let (message, tag) = (header.id(), header.tag);
        let all = reception_activities(self.id(), message, called, ends);
        if let Some(to) = activities {
            to.extend(all);
        } else if let Some(log) = &mut self.log {
            log.call_messages.add(false, tag, message);
            log.add_activities(all);
        }
    }

    /// Frees the room of a message whose reception starts, and tells the senders of the messages that this
    /// admits, in the order in which they act.
    #[cold]
    pub(super) fn free_room<C: Clock + ?Sized>(&mut self, clock: &mut C, at: Time, from: u32) {
        let (id, next_number) = (self.id(), self.rank.egress.next_number());
        let mut admitted = self.network.free_room(from as usize, id, at);
        admitted.sort_unstable_by_key(|message| self.network.place(at, message.from));
        for MessageId { from: to, number } in admitted {
            let (to, tag) = (Receiver::new(to as u32, false), RawTag::room(number as u32));
            let header = Header { from: id as u32, to, number: next_number, words: 0, tag };
            clock.deliver((at, header), Parcel::new(()));
        }
    }
}
