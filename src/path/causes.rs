//! What held a message back: the one that left the room or the port that it waited for.

use std::cell::OnceCell;

use crate::params::Ports;
use crate::time::Time;
use crate::trace::{ActivityKind, Message};

use super::events::Events;

/// What ended a wait for room or for a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// A message arrived, and was in transit no more.
    LeftRoom(usize),
    /// A message had come in, and its receiver's port was free.
    CameIn(usize),
    /// A message had gone out, and its sender's port was free.
    WentOut(usize),
}

/// Messages by the moments at which they leave something.
pub(super) struct Causes<'e, 'a> {
    /// The events.
    events: &'e Events<'a>,
    /// The messages by sender and arrival.
    from: OnceCell<Vec<usize>>,
    /// The messages by receiver and arrival.
    to: OnceCell<Vec<usize>>,
    /// The messages by sender and the moment at which their last word has gone out.
    gone: OnceCell<Vec<usize>>,
    /// The messages by sender and entry.
    entered: OnceCell<Vec<usize>>,
    /// The places of receptions, by processor and start.
    receptions: OnceCell<Vec<usize>>,
}

impl<'e, 'a> Causes<'e, 'a> {
    /// The messages of these events.
    pub(super) fn of(events: &'e Events<'a>) -> Causes<'e, 'a> {
        let (from, to, gone, entered, receptions) = Default::default();
        Causes { events, from, to, gone, entered, receptions }
    }

    /// What let a message enter after a stall.
    pub(super) fn of_stall(&self, message: usize) -> Option<Cause> {
        let sent = self.events.message(message);
        let admitted = self.events.after(self.events.sent(message)?)?;
        self.room(message, sent.id.from, sent.to, self.events.event(admitted).end)
    }

    /// What let a message enter after a wait for the port, which may end with a wait for room.
    pub(super) fn of_port(&self, message: usize) -> Option<Cause> {
        let sent = self.events.message(message);
        let port = self.port(message, sent.id.from, false, sent.enter);
        port.or_else(|| self.room(message, sent.id.from, sent.to, sent.enter))
    }

    /// What kept a message from coming out as soon as its latency was over.
    pub(super) fn of_entrance(&self, message: usize) -> Option<Cause> {
        let sent = self.events.message(message);
        self.port(message, sent.to, true, sent.first)
    }

    /// The message that left room at one of two ends.
    fn room(&self, held: usize, from: usize, to: usize, at: Time) -> Option<Cause> {
        let in_transit = |other: &usize| {
            let message = self.events.message(*other);
            *other != held && message.enter < at && self.asked(*other) <= self.asked(held)
        };
        let mut left = self.arrived(&self.from, from, at, |m| m.id.from).filter(in_transit);
        let mut came = self.arrived(&self.to, to, at, |m| m.to).filter(in_transit);
        left.next().or_else(|| came.next()).map(Cause::LeftRoom)
    }

    /// The message that left a processor's port: the one that sends, or the one that receives, which may be the same.
    fn port(&self, held: usize, id: usize, receives: bool, at: Time) -> Option<Cause> {
        let single = self.events.trace.ports == Ports::Single;
        let long = |other: &usize| self.stream(*other) > Time::ZERO;
        if receives || single {
            let mut came = self.arrived(&self.to, id, at, |m| m.to).filter(long);
            if let Some(other) = came.find(|other| *other != held) {
                return Some(Cause::CameIn(other));
            }
        }
        if !receives || single {
            let mut went = self.gone_at(id, at).filter(long);
            return went.find(|other| *other != held || receives).map(Cause::WentOut);
        }
        None
    }

    /// The message of a processor after which the gap runs from a moment on, before this one.
    pub(super) fn gone(&self, message: usize, id: usize, at: Time) -> Option<usize> {
        self.gone_at(id, at).find(|other| *other != message && self.asked(*other) <= self.asked(message))
    }

    /// The message to the same processor that entered at a moment, and behind which this one had to wait to be sent.
    pub(super) fn behind(&self, message: usize, at: Time) -> Option<usize> {
        let Message { id, to, .. } = *self.events.message(message);
        let key = |message: usize| (self.events.message(message).id.from, self.events.message(message).enter);
        let sorted = self.entered.get_or_init(|| self.sorted(key));
        let start = sorted.partition_point(|other| key(*other) < (id.from, at));
        let mut then = sorted[start..].iter().copied().take_while(|other| key(*other) == (id.from, at));
        then.find(|other| *other != message && self.events.message(*other).to == to)
    }

    /// The reception that a processor began at a moment.
    pub(super) fn reception(&self, id: usize, at: Time) -> Option<usize> {
        let key = |place: &usize| (self.events.event(*place).id, self.events.event(*place).start);
        let sorted = self.receptions.get_or_init(|| {
            let is_one = |place: &usize| matches!(self.events.event(*place).what, ActivityKind::Receive(_));
            let mut sorted: Vec<usize> = (0..self.events.len()).filter(is_one).collect();
            sorted.sort_by_key(key);
            sorted
        });
        let place = *sorted.get(sorted.partition_point(|place| key(place) < (id, at)))?;
        (key(&place) == (id, at)).then_some(place)
    }

    /// The message that went the same way before, and that this one did not overtake.
    pub(super) fn of_order(&self, message: usize) -> Option<usize> {
        let later = self.events.message(message);
        let is_earlier = |other: &usize| {
            let earlier = self.events.message(*other);
            earlier.to == later.to && (earlier.enter, *other) < (later.enter, message)
        };
        self.arrived(&self.from, later.id.from, later.arrival, |m| m.id.from).find(is_earlier)
    }

    /// The messages of a processor of which the last word has gone out at a moment.
    fn gone_at(&self, id: usize, at: Time) -> impl Iterator<Item = usize> {
        let key = |message: usize| (self.events.message(message).id.from, self.out(message));
        let sorted = self.gone.get_or_init(|| self.sorted(key));
        let start = sorted.partition_point(|message| key(*message) < (id, at));
        sorted[start..].iter().copied().take_while(move |message| key(*message) == (id, at))
    }

    /// The messages that arrive at a moment, and have an end at a processor.
    fn arrived<'s>(
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

    /// All messages, by some key.
    fn sorted(&self, key: impl Fn(usize) -> (usize, Time)) -> Vec<usize> {
        let mut sorted: Vec<usize> = (0..self.events.messages()).collect();
        sorted.sort_by_key(|message| key(*message));
        sorted
    }

    /// How long a message's last word comes after its first.
    fn stream(&self, message: usize) -> Time {
        let message = self.events.message(message);
        message.arrival - message.first
    }

    /// When the last word of a message has gone out.
    pub(super) fn out(&self, message: usize) -> Time {
        self.events.message(message).enter + self.stream(message).max(Time::ZERO)
    }

    /// When a message asked for its way, which is when its overhead was over.
    fn asked(&self, message: usize) -> Option<Time> {
        self.events.sent(message).map(|send| self.events.event(send).end)
    }
}
