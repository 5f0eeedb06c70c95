//! The part of a run that is settled if some of its takes are: calls whose lengths follow from the machine's
//! rules, and the messages that they send.
//!
//! A call is settled if every call that happens before it is settled. So each processor's settled calls are a
//! prefix of its calls.

use std::collections::HashMap;

use loggp_model::message::MessageId;
use loggp_model::time::Time;
use loggp_trace::{CallKind, Until, send_after_gap};

use crate::calls::previous_call;
use crate::history::{History, Pair, Take, Takers};

/// The settled part of a run.
pub(super) struct Prefix {
    /// The settled calls of each processor, and the call after them if one of its takes is settled.
    pub calls: Vec<Vec<SettledCall>>,
    /// The messages that these calls send.
    pub messages: Vec<SettledMessage>,
    /// For the index of a message in the trace, the message's index in `messages`.
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
    /// The call's index in the trace.
    pub index: usize,
    pub effect: CallEffect,
    /// `true` if the call's end is settled and another call comes next.
    pub has_next: bool,
}

/// The effect of a call.
#[derive(Debug)]
pub(super) enum CallEffect {
    /// The call lasts this long.
    Fixed(Time),
    /// The call lasts until this moment, if it is still to come.
    Until(Time),
    Send(SettledSend),
    /// The call receives a message, or gives up.
    Receive(SettledReceive),
    /// The call looks for a message, leaves the message in the inbox and lasts this long.
    Look {
        got: Option<usize>,
        others: Vec<(usize, Time)>,
        lasts: Time,
    },
    Exchange(SettledSend, SettledReceive),
    /// The call is over `lasts` after its beginning and `late` after a message's arrival.
    Join {
        message: usize,
        lasts: Time,
        late: Time,
    },
    /// The processor's barrier of this number, over this long after all processors have come to it.
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
    /// The length of the call if it gets nothing.
    pub vain_length: Time,
    /// The other messages that the receive wants, and how much later than its own they must arrive.
    pub others: Vec<(usize, Time)>,
}

/// The time at which a receive gives up.
#[derive(Clone, Copy, Debug)]
pub(super) enum ReceiveDeadline {
    /// This long after the call began.
    After(Time),
    /// The time at which a send of this overhead would not wait for the gap.
    GapOver(Time),
}

/// A message that settled calls send.
#[derive(Debug)]
pub(super) struct SettledMessage {
    pub id: MessageId,
    /// The call that sends the message.
    pub call: usize,
    /// Time from the start of that call to the message's entry, if no rule gives that.
    pub entry_delay: Option<Time>,
    /// Time from the message's first word to its last.
    pub stream: Time,
    pub max_latency: Time,
    /// The end at which the message needs room: its receiver, and the number of processors at its level.
    pub room: (usize, usize),
    /// The most messages in transit at that end.
    pub capacity: usize,
    /// The settled call that removes the message from its inbox, if there is one.
    pub taken_by: Option<usize>,
}

impl Prefix {
    /// Returns whether there are long messages.
    pub(super) fn has_long_messages(&self) -> bool {
        self.messages.iter().any(|message| message.stream > Time::ZERO)
    }

    /// Settles the part of a run that follows if these takes get these messages.
    pub(super) fn new(history: &History, settled: &[Pair], bounded: bool, least_delay: Time) -> Prefix {
        let (trace, got) = (history.trace, settled.iter().copied().collect());
        let open = first_open_calls(history, &got);
        let is_settled = |call: usize| {
            history.calls.counts_before(call).iter().zip(&open).all(|(before, open)| before <= open)
        };
        let mut prefix = Prefix {
            calls: (0..trace.params.P).map(|_| Vec::new()).collect(),
            messages: Vec::new(),
            index_of: HashMap::new(),
            is_exact: true,
            least_delay,
        };
        for (index, message) in trace.messages.iter().enumerate() {
            let origin = history.origins.get(&message.id);
            if let Some(origin) = origin.filter(|origin| origin.after.is_none_or(is_settled)) {
                prefix.add_message(history, index, origin.call, bounded);
            }
        }
        for (take, got) in settled {
            if let Some(message) = got.and_then(|got| prefix.index_of.get(&got))
                && !history.takes[*take].leaves_message
            {
                prefix.messages[*message].taken_by = Some(history.takes[*take].call);
            }
        }
        let reader = CallReader::new(history, settled, &got);
        let (mut is_over, mut has_requests, mut barriers) = (false, false, 0);
        for (call, recorded) in trace.calls.iter().enumerate() {
            if previous_call(trace, call).is_none() {
                (is_over, has_requests, barriers) = (false, false, 0);
            }
            if is_over {
                continue;
            }
            is_over = !is_settled(call);
            has_requests |= matches!(recorded.kind, CallKind::Isend { .. } | CallKind::Irecv { .. });
            barriers += usize::from(recorded.kind == CallKind::Barrier);
            let has_next = !is_over && trace.calls.get(call + 1).is_some_and(|next| next.id == recorded.id);
            let effect = reader.effect(&mut prefix, call, !is_over, has_requests, barriers);
            let settled = effect.map(|effect| SettledCall { index: call, effect, has_next });
            prefix.calls[recorded.id].extend(settled);
        }
        prefix
    }

    /// Adds a message of the trace that a call sends.
    fn add_message(&mut self, history: &History, index: usize, call: usize, bounded: bool) {
        let (trace, message) = (history.trace, history.message(index));
        let params = trace.params_between(message.id.from, message.to);
        let stream = if bounded { params.stream(message.words) } else { Time::ZERO };
        let capacity = params.capacity().filter(|_| bounded).unwrap_or(usize::MAX);
        // A processor's own gaps leave room for its messages, unless the capacity is below ceil(L/g).
        let leaves_room = capacity == usize::MAX || params.L <= capacity as i64 * params.g;
        let is_plain = stream > Time::ZERO && message.id.from != message.to && trace.levels.is_empty();
        self.is_exact &= leaves_room && (stream == Time::ZERO || is_plain);
        self.index_of.insert(index, self.messages.len());
        self.messages.push(SettledMessage {
            id: message.id,
            call,
            entry_delay: Some(message.first - message.latency - trace.calls[call].start),
            stream,
            max_latency: if bounded { params.L } else { history.unbounded_latency },
            room: (message.to, params.P),
            capacity,
            taken_by: None,
        });
    }

    /// Returns whether settled calls send all messages that these takes get.
    pub(super) fn sends_all(&self, settled: &[Pair]) -> bool {
        settled.iter().all(|(_, got)| got.is_none_or(|got| self.index_of.contains_key(&got)))
    }

    /// Returns how much later than a message another must arrive at least, for a take to get the first.
    pub(super) fn least_lag(&self, history: &History, got: usize, other: usize) -> Time {
        let is_first = history.message(got).id < history.message(other).id;
        if is_first { Time::ZERO } else { self.least_delay }
    }
}

/// Returns the number of each processor's first call of which a take is not settled as in the run.
fn first_open_calls(history: &History, got: &HashMap<usize, Option<usize>>) -> Vec<u32> {
    let mut open = vec![u32::MAX; history.trace.params.P];
    let differs = |(index, take): &(usize, &Take)| got.get(index) != Some(&take.got);
    for (_, take) in history.takes.iter().enumerate().filter(differs) {
        for call in [Some(take.call), take.granted].into_iter().flatten() {
            let id = history.trace.calls[call].id;
            open[id] = open[id].min(history.calls.number(call) as u32);
        }
    }
    open
}

/// Reads the effects of calls.
struct CallReader<'a, 'h> {
    history: &'a History<'h>,
    takers: Takers,
    got: &'a HashMap<usize, Option<usize>>,
    /// The settled take that each call posts and ends.
    takes: HashMap<usize, usize>,
    /// The message that each call removes from the inbox.
    taken: HashMap<usize, usize>,
}

impl<'a, 'h> CallReader<'a, 'h> {
    fn new(
        history: &'a History<'h>,
        settled: &[Pair],
        got: &'a HashMap<usize, Option<usize>>,
    ) -> CallReader<'a, 'h> {
        let takers = history.takers_among(settled.iter().copied());
        let taken = takers.iter().map(|(message, take)| (history.takes[*take].call, *message)).collect();
        let takes = history.takes.iter().enumerate();
        let takes = takes.filter(|(index, take)| take.posted == take.call && got.contains_key(index));
        let takes = takes.map(|(index, take)| (take.call, index)).collect();
        CallReader { history, takers, got, takes, taken }
    }

    /// Returns the effect of a call, or `None` if neither the call nor a take of it is settled. `barriers` is
    /// the number of its processor's barriers up to the call.
    fn effect(
        &self,
        prefix: &mut Prefix,
        call: usize,
        is_settled: bool,
        has_requests: bool,
        barriers: usize,
    ) -> Option<CallEffect> {
        let recorded = &self.history.trace.calls[call];
        let kind = &recorded.kind;
        let mut transfers = [kind.sent(), kind.received()].into_iter().flatten();
        if has_requests || transfers.any(|transfer| transfer.rendezvous.is_some()) {
            prefix.is_exact = false;
            return is_settled.then(|| self.recorded_effect(prefix, call));
        }
        match kind {
            CallKind::Send { sent, .. } if is_settled => {
                Some(CallEffect::Send(self.send(prefix, sent.message)?))
            }
            CallKind::Barrier => {
                let number = barriers - 1;
                Some(CallEffect::Barrier(number, recorded.end - self.history.barrier_arrivals[number]))
            }
            CallKind::Receive { .. } => {
                Some(CallEffect::Receive(self.receive(prefix, *self.takes.get(&call)?)))
            }
            CallKind::SendRecv(both) if is_settled => {
                let take = *self.takes.get(&call)?;
                let send = self.send(prefix, both.sent.message)?;
                Some(CallEffect::Exchange(send, self.receive(prefix, take)))
            }
            CallKind::SendRecv(_) => {
                // The send does not wait for the message that the call gets, unless that arrives in the gap.
                prefix.is_exact = false;
                None
            }
            CallKind::Probe { .. } => {
                let take = *self.takes.get(&call)?;
                let got = self.got[&take];
                let others = self.others(prefix, &self.history.takes[take], got);
                let got = got.map(|got| prefix.index_of[&got]);
                Some(CallEffect::Look { got, others, lasts: recorded.end - recorded.start })
            }
            // Who has asked for the time knows how long to wait.
            CallKind::WaitUntil(time) if !self.history.asks_time => {
                is_settled.then_some(CallEffect::Until(*time))
            }
            _ => is_settled.then_some(CallEffect::Fixed(recorded.end - recorded.start)),
        }
    }

    /// Returns the send of a message, or `None` if the message is not settled.
    fn send(&self, prefix: &mut Prefix, sent: MessageId) -> Option<SettledSend> {
        let index = self.history.index_of(&sent)?;
        let message = *prefix.index_of.get(&index)?;
        prefix.messages[message].entry_delay = None;
        let gap = self.history.trace.params_between(sent.from, self.history.message(index).to).g;
        let overhead = self.history.overhead(true, sent).unwrap_or_default();
        Some(SettledSend { message, overhead, gap })
    }

    /// Returns the effect of a call whose length no rule gives: the call is as long as in the run.
    fn recorded_effect(&self, prefix: &Prefix, call: usize) -> CallEffect {
        let recorded = &self.history.trace.calls[call];
        let lasts = recorded.end - recorded.start;
        match self.taken.get(&call).map(|taken| (*taken, prefix.index_of.get(taken))) {
            Some((taken, Some(&message))) => {
                let late = recorded.end - recorded.start.max(self.history.message(taken).arrival);
                CallEffect::Join { message, lasts: late, late }
            }
            _ => CallEffect::Fixed(lasts),
        }
    }

    /// Returns the receive of a take.
    fn receive(&self, prefix: &Prefix, take: usize) -> SettledReceive {
        let (history, got, take) = (self.history, self.got[&take], &self.history.takes[take]);
        let recorded = &history.trace.calls[take.call];
        let (overhead, gap) = match got {
            Some(got) => {
                let message = history.message(got);
                let known = history.overhead(false, message.id);
                let params = history.trace.params_between(message.id.from, take.id);
                (known.unwrap_or_else(|| params.recv_overhead(message.words)), params.g)
            }
            None => (Time::ZERO, Time::ZERO),
        };
        let (deadline, vain_length) = match &recorded.kind {
            CallKind::Receive { until: Until::GapOver, .. } => {
                (Some(ReceiveDeadline::GapOver(self.next_overhead(take.call))), Time::ZERO)
            }
            CallKind::Receive { until: Until::Moment(time), .. } if *time > recorded.start => {
                let until = *time - recorded.start;
                (Some(ReceiveDeadline::After(until)), until)
            }
            CallKind::Receive { until: Until::Moment(_), .. } => {
                (Some(ReceiveDeadline::After(Time::ZERO)), history.trace.params.cycle)
            }
            _ => (None, Time::ZERO),
        };
        let others = self.others(prefix, take, got);
        let got = got.and_then(|got| prefix.index_of.get(&got).copied());
        SettledReceive { got, overhead, gap, deadline, vain_length, others }
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
        let wanted = self.history.candidates(take).filter(|other| Some(*other) != got);
        let settled = wanted.filter_map(|other| Some((other, *prefix.index_of.get(&other)?)));
        let there = settled.filter(|(other, _)| !self.history.is_gone(*other, take, &self.takers));
        let lag = |other| got.map_or(Time::ZERO, |got| prefix.least_lag(self.history, got, other));
        there.map(|(other, message)| (message, lag(other))).collect()
    }
}
