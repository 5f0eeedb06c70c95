//! What of a run is settled if some of its takes are: calls whose lengths follow from the machine's rules, and messages.
//!
//! A call is settled if it follows nothing that is not. Of each processor these are the first ones.

use std::collections::HashMap;

use super::history::{History, Take};
use crate::message::MessageId;
use crate::params::{Params, params_of};
use crate::time::Time;
use crate::trace::{CallKind, Until, send_after_gap};

/// What of a run is settled.
pub(super) struct Prefix {
    /// The settled calls of each processor, and the one after them if one of its takes is settled.
    pub items: Vec<Vec<Item>>,
    /// The messages that these send.
    pub flights: Vec<Flight>,
    /// The place of each among them, by its place among the trace's messages.
    pub place_of: HashMap<usize, usize>,
    /// Whether the rules say how long all calls take: none waits for a request or a reply, and no long message for ports of levels.
    pub is_plain: bool,
    /// How much later than a moment a message comes that is not there at that moment.
    pub behind: Time,
}

/// A call.
#[derive(Debug)]
pub(super) struct Item {
    /// Its place in the trace.
    pub call: usize,
    pub what: What,
    /// Whether it is settled when it is over, and another one follows.
    pub goes_on: bool,
}

/// What a call does.
#[derive(Debug)]
pub(super) enum What {
    /// Something that lasts so long.
    Lasts(Time),
    /// It sends a message.
    Sends(Sending),
    /// It receives, or looks whether it can.
    Receives(Receiving),
    /// It looks for a message and leaves it there, for so long.
    Looks { got: Option<usize>, others: Vec<(usize, Time)>, lasts: Time },
    /// It sends a message and receives one.
    Both(Sending, Receiving),
    /// It is over so long after its beginning and after a message has come.
    Joins { flight: usize, lasts: Time, late: Time },
    /// It is the processor's barrier of that number, and is over so long after all have come to it.
    Barrier(usize, Time),
}

/// The end of a message that sends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sending {
    pub flight: usize,
    pub overhead: Time,
    /// The gap after the message's last word.
    pub gap: Time,
}

/// A receive.
#[derive(Debug)]
pub(super) struct Receiving {
    pub got: Option<usize>,
    pub overhead: Time,
    pub gap: Time,
    pub until: Option<Limit>,
    /// How long it lasts in vain.
    pub in_vain: Time,
    /// The other messages that it wants, and how much later than the one that it gets they must come.
    pub others: Vec<(usize, Time)>,
}

/// When a receive gives up.
#[derive(Clone, Copy, Debug)]
pub(super) enum Limit {
    /// So long after it began.
    After(Time),
    /// When a send that costs so much would not wait for the gap.
    GapOver(Time),
}

/// A message.
#[derive(Debug)]
pub(super) struct Flight {
    /// Its place among the trace's messages.
    pub message: usize,
    pub id: MessageId,
    /// The call that sends it.
    pub call: usize,
    /// When it enters after that began, if no rule says it.
    pub way: Option<Time>,
    /// How long after the first word the last one follows.
    pub stream: Time,
    /// For how long it can be under way.
    pub longest: Time,
    /// Where it needs room: its receiver, at its level.
    pub room: (usize, usize),
    /// How many may be in transit there.
    pub capacity: usize,
    /// The call that takes it, if that is settled.
    pub taken: Option<usize>,
}

impl Prefix {
    /// Whether there are long messages.
    pub(super) fn is_long(&self) -> bool {
        self.flights.iter().any(|flight| flight.stream > Time::ZERO)
    }

    /// What is settled if these takes get these messages.
    pub(super) fn of(
        history: &History,
        settled: &[(usize, Option<usize>)],
        bounded: bool,
        behind: Time,
    ) -> Prefix {
        let trace = history.trace;
        let P = trace.params.P;
        let got: HashMap<usize, Option<usize>> = settled.iter().copied().collect();
        // The first call of each processor that shows what is not settled.
        let mut open = vec![u32::MAX; P];
        for (place, take) in history.takes.iter().enumerate() {
            if got.get(&place) != Some(&take.got) {
                open[take.id] = open[take.id].min(history.calls.number(take.call) as u32);
            }
        }
        let is_settled = |call: usize| {
            history.calls.followed(call).iter().zip(&open).all(|(followed, open)| followed <= open)
        };
        let mut prefix = Prefix {
            items: (0..P).map(|_| Vec::new()).collect(),
            flights: Vec::new(),
            place_of: HashMap::new(),
            is_plain: trace.params.gps().is_none(),
            behind,
        };
        for (place, message) in trace.messages.iter().enumerate() {
            let Some(origin) = history.origins.get(&message.id) else { continue };
            if !origin.follows.is_none_or(is_settled) {
                continue;
            }
            let params = between(history, message.id.from, message.to);
            let stream = if bounded { params.stream(message.words) } else { Time::ZERO };
            let capacity = params.capacity().filter(|_| bounded).unwrap_or(usize::MAX);
            // A processor's own gaps leave room for what it sends, unless the machine has another capacity than ceil(L/g).
            let leaves_room = capacity == usize::MAX || params.L <= capacity as i64 * params.g;
            let to_itself = message.id.from == message.to && stream > Time::ZERO;
            prefix.is_plain &= leaves_room && !to_itself && (stream == Time::ZERO || trace.levels.is_empty());
            prefix.place_of.insert(place, prefix.flights.len());
            prefix.flights.push(Flight {
                message: place,
                id: message.id,
                call: origin.call,
                way: Some(message.first - message.latency - trace.calls[origin.call].start),
                stream,
                longest: if bounded { params.L } else { history.boundless },
                room: (message.to, params.P),
                capacity,
                taken: None,
            });
        }
        for (place, got) in &got {
            let take = &history.takes[*place];
            if let Some(flight) = got.and_then(|got| prefix.place_of.get(&got)).filter(|_| !take.leaves) {
                prefix.flights[*flight].taken = Some(take.call);
            }
        }
        let mut takes: HashMap<usize, usize> = HashMap::new();
        for (place, take) in history.takes.iter().enumerate() {
            if take.posted == take.call && got.contains_key(&place) {
                takes.insert(take.call, place);
            }
        }
        let joined = history.takes.iter().enumerate().filter(|(_, take)| !take.leaves);
        let joined = joined.filter_map(|(place, take)| Some((take.call, (*got.get(&place)?)?)));
        let joined: HashMap<usize, usize> = joined.collect();
        let reader = Reader { history, settled, got: &got, takes, joined };
        let (mut barriers, mut has_requests, mut is_over) = (vec![0; P], vec![false; P], vec![false; P]);
        for (call, what) in trace.calls.iter().enumerate() {
            let id = what.id;
            if is_over[id] {
                continue;
            }
            let settled = is_settled(call);
            is_over[id] = !settled;
            has_requests[id] |= matches!(what.what, CallKind::Isend { .. } | CallKind::Irecv { .. });
            if has_requests[id] {
                prefix.is_plain = false;
            }
            let goes_on = settled && trace.calls.get(call + 1).is_some_and(|next| next.id == id);
            let what = reader.item(&mut prefix, call, settled, has_requests[id], &mut barriers[id]);
            prefix.items[id].extend(what.map(|what| Item { call, what, goes_on }));
        }
        prefix
    }
}

/// The parameters between two processors.
fn between<'h>(history: &History<'h>, one: usize, other: usize) -> &'h Params {
    params_of(&history.trace.params, &history.trace.levels, one.min(other), one.max(other))
}

/// Reads what calls do.
struct Reader<'a, 'h> {
    history: &'a History<'h>,
    settled: &'a [(usize, Option<usize>)],
    got: &'a HashMap<usize, Option<usize>>,
    /// The settled take of each call.
    takes: HashMap<usize, usize>,
    /// The message that each call took out of the inbox.
    joined: HashMap<usize, usize>,
}

impl Reader<'_, '_> {
    /// What a call does; nothing if it is not settled and no take of it is.
    fn item(
        &self,
        prefix: &mut Prefix,
        call: usize,
        is_settled: bool,
        has_requests: bool,
        barriers: &mut usize,
    ) -> Option<What> {
        let (history, id) = (self.history, self.history.trace.calls[call].id);
        let recorded = &history.trace.calls[call];
        let lasts = recorded.end - recorded.start;
        let sends = |prefix: &mut Prefix, flight: usize| {
            prefix.flights[flight].way = None;
            let message = history.message(prefix.flights[flight].message);
            let gap = between(history, id, message.to).g;
            let overhead = history.overhead(true, message.id).unwrap_or_default();
            Sending { flight, overhead, gap }
        };
        let asks = |what: &CallKind| {
            [what.sent(), what.got()].into_iter().flatten().any(|transfer| transfer.rendezvous.is_some())
        };
        let flight =
            |prefix: &Prefix, message: &MessageId| prefix.place_of.get(&history.place(message)?).copied();
        if has_requests || asks(&recorded.what) {
            prefix.is_plain = false;
            return is_settled.then(|| self.joins(prefix, call));
        }
        match &recorded.what {
            CallKind::Send { sent, .. } if is_settled => {
                let flight = flight(prefix, &sent.message)?;
                Some(What::Sends(sends(prefix, flight)))
            }
            CallKind::Barrier => {
                *barriers += 1;
                Some(What::Barrier(*barriers - 1, recorded.end - history.last_came[*barriers - 1]))
            }
            CallKind::Receive { .. } => {
                let place = *self.takes.get(&call)?;
                Some(What::Receives(self.receiving(prefix, place, call)))
            }
            CallKind::SendRecv(both) if is_settled => {
                let place = *self.takes.get(&call)?;
                let flight = flight(prefix, &both.sent.message)?;
                Some(What::Both(sends(prefix, flight), self.receiving(prefix, place, call)))
            }
            CallKind::SendRecv(_) => {
                // What it sends does not wait for what it gets, if that does not come in the gap.
                prefix.is_plain = false;
                None
            }
            CallKind::Probe { .. } => {
                let place = *self.takes.get(&call)?;
                let take = &history.takes[place];
                let got = self.got[&place];
                let others = self.others(prefix, take, got);
                let got = got.map(|got| prefix.place_of[&got]);
                Some(What::Looks { got, others, lasts })
            }
            _ => is_settled.then_some(What::Lasts(lasts)),
        }
    }

    /// A call whose length no rule says: it is as long as it was.
    fn joins(&self, prefix: &Prefix, call: usize) -> What {
        let recorded = &self.history.trace.calls[call];
        let lasts = recorded.end - recorded.start;
        match self.joined.get(&call).map(|message| (*message, prefix.place_of.get(message))) {
            Some((message, Some(&flight))) => {
                let start = recorded.start.max(self.history.message(message).arrival);
                let late = recorded.end - start;
                What::Joins { flight, lasts: late, late }
            }
            _ => What::Lasts(lasts),
        }
    }

    /// The receive of a take.
    fn receiving(&self, prefix: &Prefix, place: usize, call: usize) -> Receiving {
        let (history, take) = (self.history, &self.history.takes[place]);
        let recorded = &history.trace.calls[call];
        let got = self.got[&place];
        let from = got.map_or(take.id, |got| history.message(got).id.from);
        let (overhead, gap) = match got {
            Some(got) => {
                let message = history.message(got);
                let known = history.overhead(false, message.id);
                let params = between(history, from, take.id);
                (known.unwrap_or_else(|| params.recv_overhead(message.words)), params.g)
            }
            None => (Time::ZERO, Time::ZERO),
        };
        let cycle = history.trace.params.cycle;
        let (until, in_vain) = match &recorded.what {
            CallKind::Receive { until: Until::GapOver, .. } => {
                (Some(Limit::GapOver(self.next_overhead(call))), Time::ZERO)
            }
            CallKind::Receive { until: Until::Moment(time), .. } if *time > recorded.start => {
                let until = *time - recorded.start;
                (Some(Limit::After(until)), until)
            }
            CallKind::Receive { until: Until::Moment(_), .. } => (Some(Limit::After(Time::ZERO)), cycle),
            _ => (None, Time::ZERO),
        };
        let others = self.others(prefix, take, got);
        let got = got.and_then(|got| prefix.place_of.get(&got).copied());
        Receiving { got, overhead, gap, until, in_vain, others }
    }

    /// What the send costs before which a processor receives.
    fn next_overhead(&self, call: usize) -> Time {
        let calls = &self.history.trace.calls[call..];
        let own = calls.partition_point(|next| next.id == calls[0].id);
        let next = send_after_gap(&calls[..own]);
        let overhead = next.and_then(|(_, send)| {
            let sent = send.what.sent()?;
            let first = sent.rendezvous.as_ref().map_or(sent.message, |rendezvous| rendezvous.request);
            self.history.overhead(true, first)
        });
        overhead.unwrap_or_else(|| self.history.trace.params.send_overhead(1))
    }

    /// The other messages that a take wants and that are still there, and how much later they must come at least.
    fn others(&self, prefix: &Prefix, take: &Take, got: Option<usize>) -> Vec<(usize, Time)> {
        let history = self.history;
        let is_gone = |message: usize| {
            let takes = |(other, got): &(usize, Option<usize>)| {
                let other = &history.takes[*other];
                !other.leaves && *got == Some(message) && other.is_before(take)
            };
            self.settled.iter().any(takes)
        };
        let wanted = history.wanted(take).filter(|other| Some(*other) != got);
        let settled = wanted.filter_map(|other| Some((other, *prefix.place_of.get(&other)?)));
        let there = settled.filter(|(other, _)| !is_gone(*other));
        let later = |other| {
            let is_first = got.is_none_or(|got| history.message(got).id < history.message(other).id);
            if is_first { Time::ZERO } else { prefix.behind }
        };
        there.map(|(other, flight)| (flight, later(other))).collect()
    }
}
