//! Messages to a processor's memory, for which its processor does nothing.

use super::{Clock, Engine};
use crate::message::parcel::Parcel;
use crate::message::{Header, RawTag};
use crate::rules::operation::ActiveOperation;
use crate::rules::rank::OutgoingMessage;
use crate::time::Time;

impl Engine<'_> {
    /// Creates a message to a processor's memory, which answers with `back` words if it is a request. Returns `None`
    /// where a message is in transit until its receiver takes it: no receiver takes this one.
    pub fn new_one_sided(&self, to: usize, words: usize, back: Option<usize>) -> Option<ActiveOperation> {
        let back = back.map(|words| words as u32);
        (!self.has_rooms).then(|| ActiveOperation::one_sided(to as u32, words as u32, back))
    }

    /// Waits until the processor knows that all that it has put into one memory, or into all, is there.
    pub fn flush(&mut self, to: Option<usize>) {
        let last = self.requests().acknowledged.last(to);
        self.wait_until(last);
    }

    /// Does the step that sends a message to a memory, on a processor without requests.
    #[cold]
    pub(super) fn one_sided_step(
        &mut self,
        clock: &mut dyn Clock,
        call: &mut ActiveOperation,
        (tag, words): (RawTag, u32),
    ) {
        let outgoing = self.prepare_one_sided(clock, tag, call.peer as usize, words as usize);
        clock.wait_for_turn(outgoing.turn, outgoing.is_visible);
        let (arrival, _) = self.enter(clock, (&outgoing, outgoing.departure.ready), tag, None);
        self.reach_memory(clock, &outgoing, arrival, &mut call.next_parcel());
        call.on_sent(outgoing.number);
    }

    /// Prepares a message to a memory, as [`prepare`](Engine::prepare) does one to a processor.
    pub(super) fn prepare_one_sided(
        &mut self,
        clock: &mut dyn Clock,
        tag: RawTag,
        to: usize,
        words: usize,
    ) -> OutgoingMessage {
        let outgoing = self.rank.prepare_one_sided(self.network, to, words, tag == RawTag::GET);
        self.check_end_of_time(clock, &outgoing);
        outgoing
    }

    /// Notes when the processor knows that what it puts is in the memory, or sends it the memory's answer: both are
    /// known when the message has entered.
    #[cold]
    pub(super) fn reach_memory(
        &mut self,
        clock: &mut dyn Clock,
        outgoing: &OutgoingMessage,
        arrival: Time,
        parcel: &mut Parcel,
    ) {
        let (network, id, memory) = (self.network, self.id(), outgoing.to);
        let Some(words) = parcel.open::<u64>() else {
            self.requests().acknowledged.add(network, (id, memory), arrival);
            return;
        };
        let answer = outgoing.answer(network, &mut self.rank.egress, words as usize, arrival);
        let passage = clock.serve(network, &mut network.memory(memory), &answer);
        self.stats.out_of_order += u64::from(passage.out_of_order);
        if let Some(log) = &mut self.log {
            log.add_message(answer.record(network, (id, id), &passage), true);
        }
        let header = Header::of_answer(memory, id, answer.number, answer.words);
        clock.deliver((passage.arrival, header), Parcel::new(()));
    }
}
