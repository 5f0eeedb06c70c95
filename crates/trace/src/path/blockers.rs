//! Finds the message that held another back: the one that left the room or the port for which the other
//! waited.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use loggp_model::log::IndexedEvent;
use loggp_model::params::Ports;
use loggp_model::time::Time;

use super::index::{EventIndex, partition_index};
use super::message_kind::MessageKind;
use crate::Message;

/// The message whose progress ended another's wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Blocker {
    /// A message that arrived, and so was no longer in transit.
    InTransit(usize),
    /// A message that had come in, so that its receiver's port was free.
    AtIngress(usize),
    /// A message that had gone out, so that its sender's port was free.
    AtEgress(usize),
}

/// The messages of each processor, sorted by the moments at which they leave something.
pub(super) struct Blockers<'e, Index> {
    events: &'e Index,
    /// Messages by receiver.
    to: OnceCell<HashMap<usize, Vec<usize>>>,
    /// Memories' answers, by the processor whose memory it is.
    answers: OnceCell<HashMap<usize, Vec<usize>>>,
    /// Lists by processor.
    sorted: RefCell<HashMap<(MessageOrder, usize), Indices>>,
    /// Indices of receptions by processor.
    receptions: RefCell<HashMap<usize, Indices>>,
}

/// Indices of messages or events.
type Indices = Rc<[usize]>;

/// The order of a list of one processor's messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum MessageOrder {
    /// Those that it sent, by arrival.
    FromByArrival,
    /// The answers of its memory, by arrival.
    AnswersByArrival,
    /// Those to it, by arrival.
    ToByArrival,
    /// Those that it sent and the answers of its memory, by the time at which their last word has gone out.
    Gone,
    /// Those that it sent, by entry.
    Entered,
    /// Those that it put into memories, by the time at which it knows that they are there.
    Acknowledged,
}

impl<'e, Index: EventIndex> Blockers<'e, Index> {
    /// Creates the lists of these events.
    pub(super) fn new(events: &'e Index) -> Blockers<'e, Index> {
        let (to, answers, sorted, receptions) = Default::default();
        Blockers { events, to, answers, sorted, receptions }
    }

    /// Returns the message that ended another's stall.
    pub(super) fn of_stall(&self, message: usize) -> Option<Blocker> {
        let sent = self.events.indexed_message(message);
        let admitted = self.events.event_after(self.events.sent_at(message)?)?;
        self.in_transit(message, sent.to, self.events.indexed_event(admitted).end)
    }

    /// Returns the message that ended another's wait for the port through which it leaves, which may end with a
    /// wait for room.
    pub(super) fn of_port(&self, message: usize) -> Option<Blocker> {
        let sent = self.events.indexed_message(message);
        let port = self.in_port(message, self.events.origin(message), false, sent.enter);
        port.or_else(|| self.in_transit(message, sent.to, sent.enter))
    }

    /// Returns the message that kept another from coming out as soon as its latency was over.
    pub(super) fn of_ingress(&self, message: usize) -> Option<Blocker> {
        let sent = self.events.indexed_message(message);
        self.in_port(message, sent.to, true, sent.first)
    }

    /// Returns the put of a processor that it knows at a moment to be there.
    pub(super) fn acknowledged(&self, id: usize, at: Time) -> Option<usize> {
        self.messages_at(MessageOrder::Acknowledged, id, at).next()
    }

    /// Returns the message that left room at one of two ends.
    fn in_transit(&self, held: usize, to: usize, at: Time) -> Option<Blocker> {
        let (from, level) = (self.events.origin(held), self.events.level_of(held));
        let in_transit = |other: &usize| {
            let is_on_level = self.events.level_of(*other) == level;
            let is_there = is_on_level && *other != held && self.events.indexed_message(*other).enter < at;
            is_there && self.ready_time(*other) <= self.ready_time(held)
        };
        // A memory is a sender of its own.
        let sender = match self.events.is_answer(held) {
            true => MessageOrder::AnswersByArrival,
            false => MessageOrder::FromByArrival,
        };
        // Data that are read take room at their receiver alone.
        let are_sent = |other: &usize| !self.events.is_read(*other) && !self.events.is_read(held);
        let mut left = self.messages_at(sender, from, at).filter(are_sent).filter(in_transit);
        let mut came = self.messages_at(MessageOrder::ToByArrival, to, at).filter(in_transit);
        left.next().or_else(|| came.next()).map(Blocker::InTransit)
    }

    /// Returns the message that left a processor's port for sending or for receiving, which may be the same
    /// port.
    fn in_port(&self, held: usize, id: usize, receives: bool, at: Time) -> Option<Blocker> {
        let level = self.events.level_of(held);
        let single = self.events.ports_at(level) == Ports::Single;
        let is_long =
            |other: &usize| self.stream(*other) > Time::ZERO && self.events.level_of(*other) == level;
        let through = |order: MessageOrder| {
            let sharers = self.events.port_sharers(level, id);
            sharers.flat_map(move |id| self.messages_at(order, id, at)).filter(is_long)
        };
        if receives || single {
            let other = through(MessageOrder::ToByArrival).find(|other| *other != held);
            if let Some(other) = other {
                return Some(Blocker::AtIngress(other));
            }
        }
        if !receives || single {
            return through(MessageOrder::Gone)
                .find(|other| *other != held || receives)
                .map(Blocker::AtEgress);
        }
        None
    }

    /// Returns the message of a processor after which the gap runs until a moment, before this message.
    pub(super) fn before_gap(&self, message: usize, id: usize, end: Time) -> Option<usize> {
        let is_before = |other: &usize| {
            let is_other =
                *other != message && !self.events.is_read(*other) && !self.events.is_answer(*other);
            is_other && self.ready_time(*other) <= self.ready_time(message)
        };
        let of_level = |level: usize| {
            let mut gone = self.messages_at(MessageOrder::Gone, id, end - self.events.params_at(level).g);
            gone.find(|other| self.events.level_of(*other) == level && is_before(other))
        };
        // Where several fit, the gap is that after the last of them.
        (0..=self.events.levels().len()).filter_map(of_level).max_by_key(|other| self.ready_time(*other))
    }

    /// Returns the message to the same processor that entered at a moment, and behind which this one had to
    /// wait.
    pub(super) fn ahead(&self, message: usize, at: Time) -> Option<usize> {
        let Message { id, to, .. } = self.events.indexed_message(message);
        let mut then = self.messages_at(MessageOrder::Entered, id.from, at);
        then.find(|other| *other != message && self.events.indexed_message(*other).to == to)
    }

    /// Returns the reception after which the gap runs until another one begins, and its own beginning.
    pub(super) fn reception_before_gap(&self, index: usize) -> Option<(usize, Time)> {
        let IndexedEvent { id, start: end, .. } = self.events.indexed_event(index);
        let start = |index: usize| self.events.indexed_event(index).start;
        let g_after = |index: usize| {
            let message = self.events.message_at(index);
            self.events.params_at(message.map_or(0, |message| self.events.level_of(message))).g
        };
        if let Some(before) = self.events.reception_before(index) {
            return before
                .map(|before| (before, start(before)))
                .filter(|(before, begun)| *begun + g_after(*before) == end);
        }
        let mut all = self.receptions.borrow_mut();
        let indices = all.entry(id).or_insert_with(|| self.events.receptions(id).into());
        let of_level = |level: usize| {
            let g = self.events.params_at(level).g;
            let begun = end - g;
            let first = indices.partition_point(|index| start(*index) < begun);
            let then = indices[first..].iter().take_while(|index| start(**index) == begun);
            let found = then.copied().find(|other| *other != index && g_after(*other) == g);
            found.filter(|_| g > Time::ZERO).map(|index| (index, begun))
        };
        (0..=self.events.levels().len()).filter_map(of_level).max_by_key(|(_, begun)| *begun)
    }

    /// Returns the earlier message on the same way that this one did not overtake.
    pub(super) fn predecessor(&self, message: usize) -> Option<usize> {
        let later = self.events.indexed_message(message);
        let is_earlier = |other: &usize| {
            let earlier = self.events.indexed_message(*other);
            earlier.to == later.to && (earlier.enter, *other) < (later.enter, message)
        };
        self.messages_at(MessageOrder::FromByArrival, later.id.from, later.arrival).find(is_earlier)
    }

    /// Returns the messages of a processor that leave something at a moment.
    fn messages_at(&self, order: MessageOrder, id: usize, at: Time) -> impl Iterator<Item = usize> {
        // Each enters after the one before it has gone out.
        let is_by_number =
            self.events.is_sent_in_order() && matches!(order, MessageOrder::Gone | MessageOrder::Entered);
        let sorted = (!is_by_number).then(|| self.sorted_messages(order, id));
        let own = if is_by_number { self.events.messages_from(id) } else { 0..0 };
        let count = sorted.as_ref().map_or(own.len(), |sorted| sorted.len());
        let message_at = move |index: usize| match &sorted {
            Some(sorted) => sorted[index],
            None => own.start + index,
        };
        let moment = |index: usize| self.moment(order, message_at(index));
        let start = partition_index(0..count, |index| moment(index) < at);
        let then = (start..count).take_while(|index| moment(*index) == at).count();
        (start..start + then).map(message_at)
    }

    /// Returns the messages of a processor in an order.
    fn sorted_messages(&self, order: MessageOrder, id: usize) -> Indices {
        let mut all = self.sorted.borrow_mut();
        let sorted = all.entry((order, id)).or_insert_with(|| {
            let has_answers = self.events.has_answers();
            let is_sent = |message: &usize| !has_answers || !self.events.is_answer(*message);
            let sent = self.events.messages_from(id).filter(is_sent);
            let mut messages: Vec<usize> = match order {
                MessageOrder::ToByArrival => self.messages_to(id).into(),
                MessageOrder::AnswersByArrival => self.answers_of(id).into(),
                MessageOrder::Gone if has_answers => {
                    sent.chain(self.answers_of(id).iter().copied()).collect()
                }
                MessageOrder::Acknowledged => {
                    sent.filter(|message| self.events.kind_of(*message) == MessageKind::Put).collect()
                }
                _ => sent.collect(),
            };
            messages.sort_by_key(|message| self.moment(order, *message));
            messages.into()
        });
        Rc::clone(sorted)
    }

    /// Returns the moment by which a message is sorted.
    fn moment(&self, order: MessageOrder, message: usize) -> Time {
        let [enter, first, arrival] = self.events.message_times(message);
        match order {
            MessageOrder::FromByArrival | MessageOrder::AnswersByArrival | MessageOrder::ToByArrival => {
                arrival
            }
            MessageOrder::Gone => enter + (arrival - first).max(Time::ZERO),
            MessageOrder::Entered => enter,
            MessageOrder::Acknowledged => arrival + self.events.params_at(self.events.level_of(message)).L,
        }
    }

    /// Returns the messages to a processor.
    fn messages_to(&self, id: usize) -> &[usize] {
        let all = self.to.get_or_init(|| {
            let mut to = HashMap::<usize, Vec<usize>>::new();
            for message in 0..self.events.number_of_messages() {
                to.entry(self.events.indexed_message(message).to).or_default().push(message);
            }
            to
        });
        all.get(&id).map_or(&[], Vec::as_slice)
    }

    /// Returns the answers of a processor's memory.
    fn answers_of(&self, id: usize) -> &[usize] {
        let all = self.answers.get_or_init(|| {
            let mut answers = HashMap::<usize, Vec<usize>>::new();
            for message in (0..self.events.number_of_messages()).filter(|at| self.events.is_answer(*at)) {
                answers.entry(self.events.origin(message)).or_default().push(message);
            }
            answers
        });
        all.get(&id).map_or(&[], Vec::as_slice)
    }

    /// Returns the time from a message's first word to its last.
    fn stream(&self, message: usize) -> Time {
        let [_, first, arrival] = self.events.message_times(message);
        arrival - first
    }

    /// Returns the time at which a message's last word has gone out.
    pub(super) fn last_word_out(&self, message: usize) -> Time {
        self.moment(MessageOrder::Gone, message)
    }

    /// Returns the time at which a message was ready, the end of its overhead; of an answer that of its request,
    /// with which it asks for its way.
    fn ready_time(&self, message: usize) -> Option<Time> {
        let asked = if self.events.is_answer(message) { message.checked_sub(1)? } else { message };
        self.events.sent_at(asked).map(|send| self.events.indexed_event(send).end)
    }
}
