//! Finds the message that held another back: the one that left the room or the port for which the other
//! waited.

use std::cell::OnceCell;

use super::events::Events;
use crate::params::Ports;
use crate::time::Time;
use crate::trace::{ActivityKind, Message};

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

/// The messages, sorted by the moments at which they leave something.
pub(super) struct Blockers<'e, 'a> {
    events: &'e Events<'a>,
    /// Messages by sender and arrival.
    from: OnceCell<Vec<usize>>,
    /// Messages by receiver and arrival.
    to: OnceCell<Vec<usize>>,
    /// Messages by sender and the time at which their last word has gone out.
    gone: OnceCell<Vec<usize>>,
    /// Messages by sender and entry.
    entered: OnceCell<Vec<usize>>,
    /// Indices of receptions, by processor and start.
    receptions: OnceCell<Vec<usize>>,
}

impl<'e, 'a> Blockers<'e, 'a> {
    /// Creates the index of these events.
    pub(super) fn new(events: &'e Events<'a>) -> Blockers<'e, 'a> {
        let (from, to, gone, entered, receptions) = Default::default();
        Blockers { events, from, to, gone, entered, receptions }
    }

    /// Returns the message that ended another's stall.
    pub(super) fn of_stall(&self, message: usize) -> Option<Blocker> {
        let sent = self.events.message(message);
        let admitted = self.events.next(self.events.send_event(message)?)?;
        self.in_transit(message, sent.id.from, sent.to, self.events.event(admitted).end)
    }

    /// Returns the message that ended another's wait for the sender's port, which may end with a wait for
    /// room.
    pub(super) fn of_port(&self, message: usize) -> Option<Blocker> {
        let sent = self.events.message(message);
        let port = self.in_port(message, sent.id.from, false, sent.enter);
        port.or_else(|| self.in_transit(message, sent.id.from, sent.to, sent.enter))
    }

    /// Returns the message that kept another from coming out as soon as its latency was over.
    pub(super) fn of_ingress(&self, message: usize) -> Option<Blocker> {
        let sent = self.events.message(message);
        self.in_port(message, sent.to, true, sent.first)
    }

    /// Returns the message that left room at one of two ends.
    fn in_transit(&self, held: usize, from: usize, to: usize, at: Time) -> Option<Blocker> {
        let in_transit = |other: &usize| {
            let message = self.events.message(*other);
            *other != held && message.enter < at && self.ready_time(*other) <= self.ready_time(held)
        };
        let mut left = self.arrivals_at(&self.from, from, at, |m| m.id.from).filter(in_transit);
        let mut came = self.arrivals_at(&self.to, to, at, |m| m.to).filter(in_transit);
        left.next().or_else(|| came.next()).map(Blocker::InTransit)
    }

    /// Returns the message that left a processor's port for sending or for receiving, which may be the same
    /// port.
    fn in_port(&self, held: usize, id: usize, receives: bool, at: Time) -> Option<Blocker> {
        let single = self.events.trace.ports == Ports::Single;
        let long = |other: &usize| self.stream(*other) > Time::ZERO;
        if receives || single {
            let mut came = self.arrivals_at(&self.to, id, at, |m| m.to).filter(long);
            if let Some(other) = came.find(|other| *other != held) {
                return Some(Blocker::AtIngress(other));
            }
        }
        if !receives || single {
            let mut went = self.gone_out_at(id, at).filter(long);
            return went.find(|other| *other != held || receives).map(Blocker::AtEgress);
        }
        None
    }

    /// Returns the message of a processor after which the gap runs from a moment on, before this message.
    pub(super) fn before_gap(&self, message: usize, id: usize, at: Time) -> Option<usize> {
        self.gone_out_at(id, at)
            .find(|other| *other != message && self.ready_time(*other) <= self.ready_time(message))
    }

    /// Returns the message to the same processor that entered at a moment, and behind which this one had to
    /// wait.
    pub(super) fn ahead(&self, message: usize, at: Time) -> Option<usize> {
        let Message { id, to, .. } = *self.events.message(message);
        let key = |message: usize| (self.events.message(message).id.from, self.events.message(message).enter);
        let sorted = self.entered.get_or_init(|| self.sorted(key));
        let start = sorted.partition_point(|other| key(*other) < (id.from, at));
        let mut then = sorted[start..].iter().copied().take_while(|other| key(*other) == (id.from, at));
        then.find(|other| *other != message && self.events.message(*other).to == to)
    }

    /// Returns the reception that a processor began at a moment.
    pub(super) fn reception(&self, id: usize, at: Time) -> Option<usize> {
        let key = |place: &usize| (self.events.event(*place).id, self.events.event(*place).start);
        let sorted = self.receptions.get_or_init(|| {
            let is_one = |place: &usize| matches!(self.events.event(*place).kind, ActivityKind::Receive(_));
            let mut sorted: Vec<usize> = (0..self.events.len()).filter(is_one).collect();
            sorted.sort_by_key(key);
            sorted
        });
        let place = *sorted.get(sorted.partition_point(|place| key(place) < (id, at)))?;
        (key(&place) == (id, at)).then_some(place)
    }

    /// Returns the earlier message on the same way that this one did not overtake.
    pub(super) fn predecessor(&self, message: usize) -> Option<usize> {
        let later = self.events.message(message);
        let is_earlier = |other: &usize| {
            let earlier = self.events.message(*other);
            earlier.to == later.to && (earlier.enter, *other) < (later.enter, message)
        };
        self.arrivals_at(&self.from, later.id.from, later.arrival, |m| m.id.from).find(is_earlier)
    }

    /// Returns the messages of a processor whose last word has gone out at a moment.
    fn gone_out_at(&self, id: usize, at: Time) -> impl Iterator<Item = usize> {
        let key = |message: usize| (self.events.message(message).id.from, self.last_word_out(message));
        let sorted = self.gone.get_or_init(|| self.sorted(key));
        let start = sorted.partition_point(|message| key(*message) < (id, at));
        sorted[start..].iter().copied().take_while(move |message| key(*message) == (id, at))
    }

    /// Returns the messages that arrive at a moment and have an end at a processor.
    fn arrivals_at<'s>(
        &'s self,
        sorted: &'s OnceCell<Vec<usize>>,
        id: usize,
        at: Time,
        end: impl Fn(&Message) -> usize + Copy + 's,
    ) -> impl Iterator<Item = usize> + 's {
        let key = move |m: usize| (end(self.events.message(m)), self.events.message(m).arrival);
        let sorted = sorted.get_or_init(|| self.sorted(key));
        let start = sorted.partition_point(|m| key(*m) < (id, at));
        sorted[start..].iter().copied().take_while(move |m| key(*m) == (id, at))
    }

    /// Returns all messages, sorted by a key.
    fn sorted(&self, key: impl Fn(usize) -> (usize, Time)) -> Vec<usize> {
        let mut sorted: Vec<usize> = (0..self.events.message_count()).collect();
        sorted.sort_by_key(|message| key(*message));
        sorted
    }

    /// Returns the time from a message's first word to its last.
    fn stream(&self, message: usize) -> Time {
        let message = self.events.message(message);
        message.arrival - message.first
    }

    /// Returns the time at which a message's last word has gone out.
    pub(super) fn last_word_out(&self, message: usize) -> Time {
        self.events.message(message).enter + self.stream(message).max(Time::ZERO)
    }

    /// Returns the time at which a message was ready, the end of its overhead.
    fn ready_time(&self, message: usize) -> Option<Time> {
        self.events.send_event(message).map(|send| self.events.event(send).end)
    }
}
