//! The part of a run that is settled if some of its takes are: calls whose lengths follow from the machine's
//! rules, and the messages that they send.
//!
//! A call is settled if every call that happens before it is settled. So each processor's settled calls are a
//! prefix of its calls.

use std::collections::HashMap;

use super::history::{History, Take};
use loggp_model::log::send_after_gap;
use loggp_model::message::MessageId;
use loggp_model::time::Time;
use loggp_trace::{CallKind, Until};

/// The settled part of a run.
pub(super) struct Prefix {
    /// The settled calls of each processor, and the call after them if one of its takes is settled.
    pub calls: Vec<Vec<SettledCall>>,
    /// The messages that these calls send.
    pub messages: Vec<SettledMessage>,
    /// For the index of a message in the trace, its index among these.
    pub index_of: HashMap<usize, usize>,
    /// `true` if the rules give the lengths of all calls: none waits for a request or a reply, no long
    /// message waits for ports of levels, and none arrives before it is ready to enter (a negative G_l).
    pub is_exact: bool,
    /// A message that has not arrived at time t arrives at t + `least_delay` at the earliest.
    pub least_delay: Time,
}

/// A call of a prefix.
#[derive(Debug)]
pub(super) struct SettledCall {
    /// Its index in the trace.
    pub index: usize,
    pub effect: CallEffect,
    /// `true` if its end is settled and another call comes next.
    pub has_next: bool,
}

/// The effect of a call.
#[derive(Debug)]
pub(super) enum CallEffect {
    /// It lasts this long.
    Fixed(Time),
    /// It sends a message.
    Send(SettledSend),
    /// It receives a message, or gives up.
    Receive(SettledReceive),
    /// It looks for a message, leaves it there and lasts this long.
    Look {
        got: Option<usize>,
        others: Vec<(usize, Time)>,
        lasts: Time,
    },
    Exchange(SettledSend, SettledReceive),
    /// It is over `lasts` after its beginning and `late` after a message's arrival.
    Join {
        message: usize,
        lasts: Time,
        late: Time,
    },
    /// It is the processor's barrier of this number, and is over this long after all have come to it.
    Barrier(usize, Time),
}

/// The send of a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct SettledSend {
    pub message: usize,
    pub overhead: Time,
    /// The gap after the message's last word.
    pub gap: Time,
}

/// A receive of a message.
#[derive(Debug)]
pub(super) struct SettledReceive {
    pub got: Option<usize>,
    pub overhead: Time,
    pub gap: Time,
    pub deadline: Option<ReceiveDeadline>,
    /// Its length if it gets nothing.
    pub vain_length: Time,
    /// The other messages that it wants, and how much later than its own they must arrive.
    pub others: Vec<(usize, Time)>,
}

/// The time at which a receive gives up.
#[derive(Clone, Copy, Debug)]
pub(super) enum ReceiveDeadline {
    /// This long after it began.
    After(Time),
    /// The time at which a send of this overhead would not wait for the gap.
    GapOver(Time),
}

/// A message that settled calls send.
#[derive(Debug)]
pub(super) struct SettledMessage {
    /// Its index among the trace's messages.
    pub message: usize,
    pub id: MessageId,
    pub call: usize,
    /// Time from the start of its call to its entry, if no rule gives that.
    pub entry_delay: Option<Time>,
    /// Its length in words.
    pub words: usize,
    /// Time from its first word to its last.
    pub stream: Time,
    pub max_latency: Time,
    /// The end at which it needs room: its receiver, and the number of processors at its level.
    pub room: (usize, usize),
    /// The most messages in transit there.
    pub capacity: usize,
    /// The settled call that takes it, if there is one.
    pub taken_by: Option<usize>,
}

impl Prefix {
    /// Returns whether there are long messages.
    pub(super) fn has_long_messages(&self) -> bool {
        self.messages.iter().any(|flight| flight.stream > Time::ZERO)
    }

    /// Settles the part of a run that follows if these takes get these messages.
    pub(super) fn new(
        history: &History,
        settled: &[(usize, Option<usize>)],
        bounded: bool,
        least_delay: Time,
    ) -> Prefix {
        let trace = history.trace;
        let P = trace.params.P;
        let got: HashMap<usize, Option<usize>> = settled.iter().copied().collect();
        // The number of each processor's first call whose take is not settled.
        let mut open = vec![u32::MAX; P];
        for (place, take) in history.takes.iter().enumerate() {
            if got.get(&place) != Some(&take.got) {
                for call in [Some(take.call), take.granted].into_iter().flatten() {
                    let id = trace.calls[call].id;
                    open[id] = open[id].min(history.calls.number(call) as u32);
                }
            }
        }
        let is_settled = |call: usize| {
            history.calls.counts_before(call).iter().zip(&open).all(|(followed, open)| followed <= open)
        };
        let mut prefix = Prefix {
            calls: (0..P).map(|_| Vec::new()).collect(),
            messages: Vec::new(),
            index_of: HashMap::new(),
            is_exact: true,
            least_delay,
        };
        for (place, message) in trace.messages.iter().enumerate() {
            let Some(origin) = history.origins.get(&message.id) else { continue };
            if !origin.after.is_none_or(is_settled) {
                continue;
            }
            let params = history.trace.params_between(message.id.from, message.to);
            let stream = if bounded { params.stream(message.words) } else { Time::ZERO };
            let capacity = params.capacity().filter(|_| bounded).unwrap_or(usize::MAX);
            // A processor's own gaps leave room for its messages, unless the capacity is below ceil(L/g).
            let leaves_room = capacity == usize::MAX || params.L <= capacity as i64 * params.g;
            let is_plain = stream > Time::ZERO && message.id.from != message.to && trace.levels.is_empty();
            prefix.is_exact &= leaves_room && (stream == Time::ZERO || is_plain);
            prefix.index_of.insert(place, prefix.messages.len());
            prefix.messages.push(SettledMessage {
                message: place,
                id: message.id,
                call: origin.call,
                entry_delay: Some(message.first - message.latency - trace.calls[origin.call].start),
                words: message.words,
                stream,
                max_latency: if bounded { params.L } else { history.unbounded_latency },
                room: (message.to, params.P),
                capacity,
                taken_by: None,
            });
        }
        for (place, got) in &got {
            let take = &history.takes[*place];
            if let Some(flight) =
                got.and_then(|got| prefix.index_of.get(&got)).filter(|_| !take.leaves_message)
            {
                prefix.messages[*flight].taken_by = Some(take.call);
            }
        }
        let mut takes: HashMap<usize, usize> = HashMap::new();
        for (place, take) in history.takes.iter().enumerate() {
            if take.posted == take.call && got.contains_key(&place) {
                takes.insert(take.call, place);
            }
        }
        let taken = history.takes.iter().enumerate().filter(|(_, take)| !take.leaves_message);
        let taken = taken.filter_map(|(place, take)| Some((take.call, (*got.get(&place)?)?)));
        let taken: HashMap<usize, usize> = taken.collect();
        let removals = history.removals(settled);
        let reader = CallReader { history, removals, got: &got, takes, taken };
        let (mut barriers, mut has_requests, mut is_over) = (vec![0; P], vec![false; P], vec![false; P]);
        for (call, recorded) in trace.calls.iter().enumerate() {
            let id = recorded.id;
            if is_over[id] {
                continue;
            }
            let settled = is_settled(call);
            is_over[id] = !settled;
            has_requests[id] |= matches!(recorded.kind, CallKind::Isend { .. } | CallKind::Irecv { .. });
            if has_requests[id] {
                prefix.is_exact = false;
            }
            let has_next = settled && trace.calls.get(call + 1).is_some_and(|next| next.id == id);
            let effect = reader.effect(&mut prefix, call, settled, has_requests[id], &mut barriers[id]);
            prefix.calls[id].extend(effect.map(|effect| SettledCall { index: call, effect, has_next }));
        }
        prefix
    }
}

/// Reads the effects of calls.
struct CallReader<'a, 'h> {
    history: &'a History<'h>,
    /// For each message that is removed from its inbox, the take that does so.
    removals: HashMap<usize, &'a Take>,
    got: &'a HashMap<usize, Option<usize>>,
    takes: HashMap<usize, usize>,
    /// The message that each call removed from the inbox.
    taken: HashMap<usize, usize>,
}

impl CallReader<'_, '_> {
    /// Returns the effect of a call, or `None` if neither the call nor a take of it is settled.
    fn effect(
        &self,
        prefix: &mut Prefix,
        call: usize,
        is_settled: bool,
        has_requests: bool,
        barriers: &mut usize,
    ) -> Option<CallEffect> {
        let (history, id) = (self.history, self.history.trace.calls[call].id);
        let recorded = &history.trace.calls[call];
        let lasts = recorded.end - recorded.start;
        let sends = |prefix: &mut Prefix, flight: usize| {
            prefix.messages[flight].entry_delay = None;
            let message = history.message(prefix.messages[flight].message);
            let gap = history.trace.params_between(id, message.to).g;
            let overhead = history.overhead(true, message.id).unwrap_or_default();
            SettledSend { message: flight, overhead, gap }
        };
        let asks = |what: &CallKind| {
            [what.sent(), what.received()].into_iter().flatten().any(|transfer| transfer.rendezvous.is_some())
        };
        let flight =
            |prefix: &Prefix, message: &MessageId| prefix.index_of.get(&history.index_of(message)?).copied();
        if has_requests || asks(&recorded.kind) {
            prefix.is_exact = false;
            return is_settled.then(|| self.recorded_effect(prefix, call));
        }
        match &recorded.kind {
            CallKind::Send { sent, .. } if is_settled => {
                let flight = flight(prefix, &sent.message)?;
                Some(CallEffect::Send(sends(prefix, flight)))
            }
            CallKind::Barrier => {
                *barriers += 1;
                Some(CallEffect::Barrier(
                    *barriers - 1,
                    recorded.end - history.barrier_arrivals[*barriers - 1],
                ))
            }
            CallKind::Receive { .. } => {
                let place = *self.takes.get(&call)?;
                Some(CallEffect::Receive(self.receive(prefix, place, call)))
            }
            CallKind::SendRecv(both) if is_settled => {
                let place = *self.takes.get(&call)?;
                let flight = flight(prefix, &both.sent.message)?;
                Some(CallEffect::Exchange(sends(prefix, flight), self.receive(prefix, place, call)))
            }
            CallKind::SendRecv(_) => {
                // Its send does not wait for the message that it gets, unless that arrives in the gap.
                prefix.is_exact = false;
                None
            }
            CallKind::Probe { .. } => {
                let place = *self.takes.get(&call)?;
                let take = &history.takes[place];
                let got = self.got[&place];
                let others = self.others(prefix, take, got);
                let got = got.map(|got| prefix.index_of[&got]);
                Some(CallEffect::Look { got, others, lasts })
            }
            _ => is_settled.then_some(CallEffect::Fixed(lasts)),
        }
    }

    /// Returns the effect of a call whose length no rule gives: it is as long as it was.
    fn recorded_effect(&self, prefix: &Prefix, call: usize) -> CallEffect {
        let recorded = &self.history.trace.calls[call];
        let lasts = recorded.end - recorded.start;
        match self.taken.get(&call).map(|message| (*message, prefix.index_of.get(message))) {
            Some((message, Some(&flight))) => {
                let start = recorded.start.max(self.history.message(message).arrival);
                let late = recorded.end - start;
                CallEffect::Join { message: flight, lasts: late, late }
            }
            _ => CallEffect::Fixed(lasts),
        }
    }

    /// Returns the receive of a take.
    fn receive(&self, prefix: &Prefix, place: usize, call: usize) -> SettledReceive {
        let (history, take) = (self.history, &self.history.takes[place]);
        let recorded = &history.trace.calls[call];
        let got = self.got[&place];
        let from = got.map_or(take.id, |got| history.message(got).id.from);
        let (overhead, gap) = match got {
            Some(got) => {
                let message = history.message(got);
                let known = history.overhead(false, message.id);
                let params = history.trace.params_between(from, take.id);
                (known.unwrap_or_else(|| params.recv_overhead(message.words)), params.g)
            }
            None => (Time::ZERO, Time::ZERO),
        };
        let cycle = history.trace.params.cycle;
        let (until, vain_length) = match &recorded.kind {
            CallKind::Receive { until: Until::GapOver, .. } => {
                (Some(ReceiveDeadline::GapOver(self.next_overhead(call))), Time::ZERO)
            }
            CallKind::Receive { until: Until::Moment(time), .. } if *time > recorded.start => {
                let until = *time - recorded.start;
                (Some(ReceiveDeadline::After(until)), until)
            }
            CallKind::Receive { until: Until::Moment(_), .. } => {
                (Some(ReceiveDeadline::After(Time::ZERO)), cycle)
            }
            _ => (None, Time::ZERO),
        };
        let others = self.others(prefix, take, got);
        let got = got.and_then(|got| prefix.index_of.get(&got).copied());
        SettledReceive { got, overhead, gap, deadline: until, vain_length, others }
    }

    /// Returns the overhead of the send before which a processor receives.
    fn next_overhead(&self, call: usize) -> Time {
        let calls = &self.history.trace.calls[call..];
        let own = calls.partition_point(|next| next.id == calls[0].id);
        let next = send_after_gap(&calls[..own]);
        let overhead = next.and_then(|(_, send)| self.history.overhead(true, send.kind.sent()?.first()));
        overhead.unwrap_or_else(|| self.history.trace.params.send_overhead(1))
    }

    /// Returns the other messages that a take wants and that are still there, and how much later each must
    /// arrive at least.
    fn others(&self, prefix: &Prefix, take: &Take, got: Option<usize>) -> Vec<(usize, Time)> {
        let history = self.history;
        let is_gone = |message: usize| self.removals.get(&message).is_some_and(|other| other.is_before(take));
        let wanted = history.candidates(take).filter(|other| Some(*other) != got);
        let settled = wanted.filter_map(|other| Some((other, *prefix.index_of.get(&other)?)));
        let there = settled.filter(|(other, _)| !is_gone(*other));
        let later = |other| {
            let is_first = got.is_none_or(|got| history.message(got).id < history.message(other).id);
            if is_first { Time::ZERO } else { prefix.least_delay }
        };
        there.map(|(other, flight)| (flight, later(other))).collect()
    }
}
