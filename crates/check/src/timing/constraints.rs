//! The constraints that the rules of the machine put on the calls and messages of a prefix: when calls begin,
//! when messages are ready, enter and arrive, and when receptions start.

use std::collections::HashMap;

use loggp_model::time::{PS, Time};

use super::prefix::{
    CallEffect, Prefix, ReceiveDeadline, SettledCall, SettledMessage, SettledReceive, SettledSend,
};
use super::times::{Term, TimeConstraints};
use crate::calls::previous_call;
use crate::history::{History, Pair, Takers};

/// The variables of a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct MessageVars {
    pub ready: usize,
    pub enter: usize,
    pub arrival: usize,
}

/// The variables of a prefix, and the constraints on them. The variable of each call's beginning has the
/// call's index.
pub(super) struct PrefixConstraints<'p> {
    pub prefix: &'p Prefix,
    pub times: TimeConstraints,
    pub vars: Vec<MessageVars>,
    /// For each receive or look with a deadline, the times of which the latest is that deadline.
    pub deadlines: HashMap<usize, Vec<Term>>,
    /// `true` for exchanges that receive before they send; `None` if that is open.
    pub receives_first: HashMap<usize, Option<bool>>,
    /// For each barrier the calls of it: the call, whether another call comes next, and how long after the
    /// last processor's coming the barrier is over.
    barriers: Vec<Vec<(usize, bool, Time)>>,
}

/// The ends of a processor's gaps after its last send and after its last reception.
#[derive(Clone, Copy, Default)]
struct Gaps {
    send: Option<Term>,
    receive: Option<Term>,
}

/// The order of an exchange's send and reception, compared to the recorded run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExchangeOrder {
    AsRecorded,
    Reversed,
}

/// Returns the times of which the latest is the deadline of a receive that begins at `start`.
fn give_up_times(start: Term, receive: &SettledReceive, gaps: &Gaps) -> Vec<Term> {
    match receive.deadline {
        Some(ReceiveDeadline::After(time)) => vec![(start.0, start.1 + time)],
        Some(ReceiveDeadline::GapOver(overhead)) => {
            let gap = gaps.send.map(|(enter, by)| (enter, by - overhead));
            [Some(start), gap].into_iter().flatten().collect()
        }
        None => Vec::new(),
    }
}

impl<'p> PrefixConstraints<'p> {
    /// Collects the constraints of a prefix in which these takes get these messages. `orders` has the order of
    /// each exchange, or `None` if it is open.
    pub(super) fn new(
        history: &History,
        prefix: &'p Prefix,
        settled: &[Pair],
        orders: &[Option<ExchangeOrder>],
    ) -> PrefixConstraints<'p> {
        let calls = &history.trace.calls;
        let mut constraints = PrefixConstraints {
            prefix,
            times: TimeConstraints::with_variables(calls.len()),
            vars: Vec::new(),
            deadlines: HashMap::new(),
            receives_first: HashMap::new(),
            barriers: Vec::new(),
        };
        prefix.messages.iter().for_each(|message| constraints.add_message(message));
        let first = (0..calls.len()).filter(|call| previous_call(history.trace, *call).is_none());
        first.for_each(|call| constraints.times.require_zero(call));
        let mut orders = orders.iter().copied();
        for calls in &prefix.calls {
            let mut gaps = Gaps::default();
            for call in calls {
                let over = constraints.add_call(history, call, &mut gaps, &mut orders);
                if let Some(over) = over.filter(|_| call.has_next) {
                    constraints.times.require_latest(call.index + 1, over);
                }
            }
        }
        for calls in std::mem::take(&mut constraints.barriers) {
            for (call, _, over) in calls.iter().filter(|(_, has_next, _)| *has_next) {
                let all = calls.iter().map(|(other, ..)| (*other, *over)).collect();
                constraints.times.require_latest(call + 1, all);
            }
        }
        constraints.add_requests(history, settled);
        constraints
    }

    /// Adds the variables of a message.
    fn add_message(&mut self, message: &SettledMessage) {
        let times = &mut self.times;
        let (enter, arrival) = (times.add_variable(), times.add_variable());
        let ready = if message.entry_delay.is_none() { times.add_variable() } else { enter };
        times.require_after(arrival, (enter, message.stream));
        if let Some(entry_delay) = message.entry_delay {
            times.require_latest(enter, vec![(message.call, entry_delay)]);
        }
        self.vars.push(MessageVars { ready, enter, arrival });
    }

    /// Adds a call. Returns the times of which the latest is its end, or `None` for a barrier, which ends when
    /// all calls of it are known. `orders` has the orders of this exchange and those that come later.
    fn add_call(
        &mut self,
        history: &History,
        call: &SettledCall,
        gaps: &mut Gaps,
        orders: &mut impl Iterator<Item = Option<ExchangeOrder>>,
    ) -> Option<Vec<Term>> {
        let start = (call.index, Time::ZERO);
        Some(match &call.effect {
            CallEffect::Fixed(lasts) => vec![(call.index, *lasts)],
            CallEffect::Until(time) => {
                let first = call.index - history.calls.number(call.index); // at time 0
                vec![start, (first, *time)]
            }
            CallEffect::Send(send) => {
                self.add_send(start, send, gaps);
                vec![(self.vars[send.message].enter, Time::ZERO)]
            }
            CallEffect::Receive(receive) => {
                self.deadlines.insert(call.index, give_up_times(start, receive, gaps));
                self.add_receive(start, receive, gaps)
            }
            CallEffect::Look { got, others, lasts } => {
                match got {
                    Some(got) => {
                        let arrival = (self.vars[*got].arrival, Time::ZERO);
                        self.times.require_after(call.index, arrival);
                        self.add_others(arrival, others);
                    }
                    None => self.add_others((call.index, self.prefix.least_delay), others),
                }
                vec![(call.index, *lasts)]
            }
            CallEffect::Exchange(send, receive) => {
                let recorded = history.is_receive_first(call.index);
                let order = orders.next().expect("there is one for each");
                let receives_first = order.map(|order| recorded == (order == ExchangeOrder::AsRecorded));
                self.add_exchange(start, (send, receive), gaps, receives_first)
            }
            CallEffect::Join { message, lasts, late } => {
                vec![(call.index, *lasts), (self.vars[*message].arrival, *late)]
            }
            CallEffect::Barrier(number, over) => {
                self.barriers.resize(self.barriers.len().max(number + 1), Vec::new());
                self.barriers[*number].push((call.index, call.has_next, *over));
                return None;
            }
        })
    }

    /// Returns whether the order of some exchange is open.
    pub(super) fn has_open_exchange(&self) -> bool {
        self.receives_first.values().any(Option::is_none)
    }

    /// Adds a send: its message is ready when the overhead and the gap are over.
    fn add_send(&mut self, start: Term, send: &SettledSend, gaps: &mut Gaps) {
        let MessageVars { ready, enter, .. } = self.vars[send.message];
        let over = [Some((start.0, start.1 + send.overhead)), gaps.send];
        self.times.require_latest(ready, over.into_iter().flatten().collect());
        gaps.send = Some((enter, self.prefix.messages[send.message].stream + send.gap));
    }

    /// Requires that other messages arrive no earlier than a time.
    fn add_others(&mut self, (what, by): Term, others: &[(usize, Time)]) {
        for (other, lag) in others {
            self.times.require_after(self.vars[*other].arrival, (what, by + *lag));
        }
    }

    /// Adds a receive: the reception starts when its message has arrived and the gap is over, before the
    /// deadline. Returns the times of which the latest is the end of the receive.
    fn add_receive(&mut self, start: Term, receive: &SettledReceive, gaps: &mut Gaps) -> Vec<Term> {
        let deadline = give_up_times(start, receive, gaps);
        let Some(got) = receive.got else {
            self.add_vain_receive(receive, deadline, gaps.receive);
            return vec![(start.0, start.1 + receive.vain_length)];
        };
        let (begun, arrival) = (self.times.add_variable(), (self.vars[got].arrival, Time::ZERO));
        let of = [Some(start), Some(arrival), gaps.receive];
        self.times.require_latest(begun, of.into_iter().flatten().collect());
        if !deadline.is_empty() {
            self.times.require_within(begun, deadline);
        }
        self.add_others(arrival, &receive.others);
        gaps.receive = Some((begun, receive.gap));
        vec![(begun, receive.overhead)]
    }

    /// Adds that a receive gives up: the messages that it wants arrive after the deadline, or the gap is not
    /// over by then.
    fn add_vain_receive(&mut self, receive: &SettledReceive, deadline: Vec<Term>, gap: Option<Term>) {
        let (others, least_delay) = (&receive.others, self.prefix.least_delay);
        match gap {
            None => {
                deadline.iter().for_each(|(what, by)| self.add_others((*what, *by + least_delay), others))
            }
            Some((gap, by)) if !deadline.is_empty() && !others.is_empty() => {
                let limit = self.times.add_variable();
                self.times.require_latest(limit, deadline);
                for (other, lag) in others {
                    let arrival = (self.vars[*other].arrival, -least_delay - *lag);
                    self.times.require_within(limit, vec![arrival, (gap, by - PS)]);
                }
            }
            Some(_) => (),
        }
    }

    /// Adds an exchange: it receives first if the message arrives while the gap before the send runs. Returns
    /// the times of which the latest is the end of the exchange.
    fn add_exchange(
        &mut self,
        start: Term,
        (send, receive): (&SettledSend, &SettledReceive),
        gaps: &mut Gaps,
        receives_first: Option<bool>,
    ) -> Vec<Term> {
        let enter = (self.vars[send.message].enter, Time::ZERO);
        let receives_first = receives_first.or(gaps.send.is_none().then_some(false));
        self.receives_first.insert(start.0, receives_first);
        let before = *gaps;
        match (receives_first, before.send) {
            (None, _) => self.add_open_exchange(start, (send, receive), gaps),
            (Some(true), None) => {
                self.times.require_after(start.0, (start.0, PS)); // impossible, since there is no gap
                vec![start]
            }
            (Some(true), Some((gap, by))) => {
                let over = self.add_receive(start, receive, gaps);
                let begun = over[0].0;
                self.times.require_within(begun, vec![(gap, by - send.overhead)]);
                let received = self.times.add_variable();
                self.times.require_latest(received, over);
                self.add_send((received, Time::ZERO), send, gaps);
                vec![enter]
            }
            (Some(false), gap) => {
                self.add_send(start, send, gaps);
                let over = self.add_receive(enter, receive, gaps);
                if let (Some((gap, by)), Some(got)) = (gap, receive.got) {
                    let limit = self.times.add_variable();
                    self.times.require_latest(limit, vec![start, (gap, by - send.overhead)]);
                    let arrival = (self.vars[got].arrival, -self.prefix.least_delay);
                    let receive_gap = before.receive.map(|(what, by)| (what, by - PS));
                    let later = [Some(start), Some(arrival), receive_gap];
                    self.times.require_within(limit, later.into_iter().flatten().collect());
                }
                over
            }
        }
    }

    /// Adds an exchange of open order, with the constraints that hold either way.
    fn add_open_exchange(
        &mut self,
        start: Term,
        (send, receive): (&SettledSend, &SettledReceive),
        gaps: &mut Gaps,
    ) -> Vec<Term> {
        let MessageVars { ready, enter, .. } = self.vars[send.message];
        let enter_at = (enter, Time::ZERO);
        let begun = self.times.add_variable();
        let came = receive.got.map(|got| (self.vars[got].arrival, Time::ZERO));
        let earliest: Vec<_> = [Some(start), came, gaps.receive].into_iter().flatten().collect();
        earliest.iter().for_each(|other| self.times.require_after(begun, *other));
        if let Some(came) = came {
            self.add_others(came, &receive.others);
            self.times.require_within(begun, [earliest, vec![enter_at]].concat());
        }
        let sends_from = [Some((start.0, start.1 + send.overhead)), gaps.send];
        let sends_from: Vec<_> = sends_from.into_iter().flatten().collect();
        sends_from.iter().for_each(|other| self.times.require_after(ready, *other));
        let received = (begun, receive.overhead + send.overhead);
        self.times.require_within(ready, [sends_from, vec![received]].concat());
        gaps.send = Some((enter, self.prefix.messages[send.message].stream + send.gap));
        gaps.receive = Some((begun, receive.gap));
        vec![enter_at, (begun, receive.overhead)]
    }

    /// Adds the takes of requests, and all others whose calls no rule gives.
    fn add_requests(&mut self, history: &History, settled: &[Pair]) {
        let takers = history.takers_among(settled.iter().copied());
        let mut is_read = vec![false; history.trace.calls.len()];
        for call in self.prefix.calls.iter().flatten() {
            is_read[call.index] = matches!(
                call.effect,
                CallEffect::Receive(_) | CallEffect::Look { .. } | CallEffect::Exchange(..)
            );
        }
        for pair in settled.iter().filter(|(take, _)| !is_read[history.takes[*take].call]) {
            self.add_request(history, *pair, &takers);
        }
    }

    /// Adds the take of a request: its message arrives before the others that it wants, and before its
    /// deadline.
    fn add_request(&mut self, history: &History, (take, got): Pair, takers: &Takers) {
        let take = &history.takes[take];
        let until = take.deadline.or(take.empty_after.filter(|_| got.is_none()));
        let look = until.map(|until| until - history.trace.calls[take.call].start);
        self.deadlines.extend(look.map(|look| (take.call, vec![(take.call, look)])));
        let arrival =
            |message: usize| self.prefix.index_of.get(&message).map(|message| self.vars[*message].arrival);
        let came = got.and_then(arrival);
        let mut after = Vec::new();
        if let (Some(came), Some(look)) = (came, look) {
            after.push((take.call, (came, -look)));
        }
        let others = history.candidates(take).filter(|other| got != Some(*other));
        for (other, comes) in others.filter_map(|other| Some((other, arrival(other)?))) {
            if history.is_gone(other, take, takers) {
                continue;
            }
            let (Some(got), Some(came)) = (got, came) else {
                let lag = look.unwrap_or_default() + self.prefix.least_delay;
                after.push((comes, (take.call, lag)));
                continue;
            };
            // A request is done no sooner than it was called for.
            let taker = history.taker(got).filter(|_| take.is_wait_for_first());
            let called = taker.map(|taker| taker.posted + 1).filter(|called| *called <= take.call);
            after.extend(called.map(|called| (comes, (called, Time::ZERO))));
            after.push((comes, (came, self.prefix.least_lag(history, got, other))));
        }
        after.into_iter().for_each(|(what, than)| self.times.require_after(what, than));
    }
}
