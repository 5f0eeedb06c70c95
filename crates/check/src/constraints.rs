//! The constraints that the rules of the machine put on the calls and messages of a prefix: when calls begin,
//! when messages are ready, enter and arrive, and when receptions start.

use std::collections::{HashMap, HashSet};

use super::history::History;
use super::prefix::{CallEffect, Prefix, ReceiveDeadline, SettledReceive, SettledSend};
use super::times::TimeConstraints;
use loggp_model::time::{PS, Time};

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
    pub deadlines: HashMap<usize, Vec<(usize, Time)>>,
    /// `true` for exchanges that receive before they send; `None` if that is open.
    pub receives_first: HashMap<usize, Option<bool>>,
}

/// The order of an exchange's send and reception, compared to the recorded run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExchangeOrder {
    AsRecorded,
    Reversed,
}

/// Returns the times of which the latest is the deadline of a receive that begins at `start`.
fn give_up_times(
    start: (usize, Time),
    receive: &SettledReceive,
    send_gap: Option<(usize, Time)>,
) -> Vec<(usize, Time)> {
    match receive.deadline {
        Some(ReceiveDeadline::After(time)) => vec![(start.0, start.1 + time)],
        Some(ReceiveDeadline::GapOver(overhead)) => {
            let gap = send_gap.map(|(enter, by)| (enter, by - overhead));
            [Some(start), gap].into_iter().flatten().collect()
        }
        None => Vec::new(),
    }
}

impl<'p> PrefixConstraints<'p> {
    /// Collects the constraints of a prefix. `orders` has the order of each exchange, or `None` if it is
    /// open.
    pub(super) fn new(
        history: &History,
        prefix: &'p Prefix,
        orders: &[Option<ExchangeOrder>],
    ) -> PrefixConstraints<'p> {
        let mut orders = orders.iter().copied();
        let calls = &history.trace.calls;
        let mut times = TimeConstraints::with_variables(calls.len());
        let vars = prefix.messages.iter().map(|message| {
            let (enter, arrival) = (times.add_variable(), times.add_variable());
            let ready = if message.entry_delay.is_none() { times.add_variable() } else { enter };
            times.require_after(arrival, (enter, message.stream));
            if let Some(entry_delay) = message.entry_delay {
                times.require_latest(enter, vec![(message.call, entry_delay)]);
            }
            MessageVars { ready, enter, arrival }
        });
        let vars = vars.collect();
        for (place, call) in calls.iter().enumerate() {
            if place == 0 || calls[place - 1].id != call.id {
                times.require_zero(place);
            }
        }
        let mut constraints = PrefixConstraints {
            prefix,
            times,
            vars,
            deadlines: HashMap::new(),
            receives_first: HashMap::new(),
        };
        let mut barriers: Vec<Vec<(usize, bool, Time)>> = Vec::new();
        for settled_calls in &prefix.calls {
            // The ends of the gaps after the last send and after the last reception.
            let (mut send_gap, mut receive_gap) = (None, None);
            for settled_call in settled_calls {
                let start = (settled_call.index, Time::ZERO);
                let over = match &settled_call.effect {
                    CallEffect::Fixed(lasts) => vec![(settled_call.index, *lasts)],
                    CallEffect::Send(send) => {
                        constraints.add_send(start, send, &mut send_gap);
                        vec![(constraints.vars[send.message].enter, Time::ZERO)]
                    }
                    CallEffect::Receive(receive) => {
                        constraints
                            .deadlines
                            .insert(settled_call.index, give_up_times(start, receive, send_gap));
                        constraints.add_receive(start, receive, send_gap, &mut receive_gap)
                    }
                    CallEffect::Look { got, others, lasts } => {
                        match got {
                            Some(got) => {
                                let arrival = constraints.vars[*got].arrival;
                                constraints.times.require_after(settled_call.index, (arrival, Time::ZERO));
                                constraints.add_others((arrival, Time::ZERO), others);
                            }
                            None => constraints.add_others((settled_call.index, prefix.least_delay), others),
                        }
                        vec![(settled_call.index, *lasts)]
                    }
                    CallEffect::Exchange(send, receive) => {
                        let recorded = history.is_receive_first(settled_call.index);
                        let order = orders.next().expect("there is one for each");
                        constraints.add_exchange(
                            start,
                            (send, receive),
                            &mut send_gap,
                            &mut receive_gap,
                            order.map(|order| recorded == (order == ExchangeOrder::AsRecorded)),
                        )
                    }
                    CallEffect::Join { message, lasts, late } => {
                        vec![(settled_call.index, *lasts), (constraints.vars[*message].arrival, *late)]
                    }
                    CallEffect::Barrier(number, over) => {
                        barriers.resize(barriers.len().max(number + 1), Vec::new());
                        barriers[*number].push((settled_call.index, settled_call.has_next, *over));
                        continue;
                    }
                };
                if settled_call.has_next {
                    constraints.times.require_latest(settled_call.index + 1, over);
                }
            }
        }
        for all in barriers {
            for (call, _, over) in all.iter().filter(|(_, has_next, _)| *has_next) {
                constraints
                    .times
                    .require_latest(call + 1, all.iter().map(|(other, ..)| (*other, *over)).collect());
            }
        }
        constraints
    }

    /// Returns whether the order of some exchange is open.
    pub(super) fn has_open_exchange(&self) -> bool {
        self.receives_first.values().any(Option::is_none)
    }

    /// Adds a send: its message is ready when the overhead and the gap are over.
    fn add_send(&mut self, start: (usize, Time), send: &SettledSend, send_gap: &mut Option<(usize, Time)>) {
        let MessageVars { ready, enter, .. } = self.vars[send.message];
        let over = [Some((start.0, start.1 + send.overhead)), *send_gap];
        self.times.require_latest(ready, over.into_iter().flatten().collect());
        *send_gap = Some((enter, self.prefix.messages[send.message].stream + send.gap));
    }

    /// Requires that other messages arrive no earlier than a time.
    fn add_others(&mut self, (what, by): (usize, Time), others: &[(usize, Time)]) {
        for (other, later) in others {
            self.times.require_after(self.vars[*other].arrival, (what, by + *later));
        }
    }

    /// Adds a receive: the reception starts when its message has arrived and the gap is over, before the
    /// deadline. Returns the times of which the latest is its end.
    fn add_receive(
        &mut self,
        start: (usize, Time),
        receive: &SettledReceive,
        send_gap: Option<(usize, Time)>,
        receive_gap: &mut Option<(usize, Time)>,
    ) -> Vec<(usize, Time)> {
        let SettledReceive { got, overhead, gap, vain_length, others, .. } = receive;
        let deadline = give_up_times(start, receive, send_gap);
        let Some(got) = got else {
            let over = vec![(start.0, start.1 + *vain_length)];
            let Some((gap, by)) = *receive_gap else {
                deadline
                    .iter()
                    .for_each(|(what, by)| self.add_others((*what, *by + self.prefix.least_delay), others));
                return over;
            };
            if !deadline.is_empty() && !others.is_empty() {
                let limit = self.times.add_variable();
                self.times.require_latest(limit, deadline);
                for (other, later) in others {
                    let arrival = self.vars[*other].arrival;
                    self.times.require_within(
                        limit,
                        vec![(arrival, -self.prefix.least_delay - *later), (gap, by - PS)],
                    );
                }
            }
            return over;
        };
        let (begun, arrival) = (self.times.add_variable(), self.vars[*got].arrival);
        let of = [Some(start), Some((arrival, Time::ZERO)), *receive_gap];
        self.times.require_latest(begun, of.into_iter().flatten().collect());
        if !deadline.is_empty() {
            self.times.require_within(begun, deadline);
        }
        self.add_others((arrival, Time::ZERO), others);
        *receive_gap = Some((begun, *gap));
        vec![(begun, *overhead)]
    }

    /// Adds an exchange: it receives first if the message arrives while the gap before the send runs. Returns
    /// the times of which the latest is its end.
    fn add_exchange(
        &mut self,
        start: (usize, Time),
        (send, receive): (&SettledSend, &SettledReceive),
        send_gap: &mut Option<(usize, Time)>,
        receive_gap: &mut Option<(usize, Time)>,
        receives_first: Option<bool>,
    ) -> Vec<(usize, Time)> {
        let enter = (self.vars[send.message].enter, Time::ZERO);
        let receives_first = receives_first.or(send_gap.is_none().then_some(false));
        self.receives_first.insert(start.0, receives_first);
        if receives_first.is_none() {
            return self.add_open_exchange(start, (send, receive), send_gap, receive_gap);
        }
        if receives_first == Some(true) {
            let Some((gap, by)) = *send_gap else {
                self.times.require_after(start.0, (start.0, PS)); // impossible, since there is no gap
                return vec![start];
            };
            let over = self.add_receive(start, receive, *send_gap, receive_gap);
            let begun = over[0].0;
            self.times.require_within(begun, vec![(gap, by - send.overhead)]);
            let received = self.times.add_variable();
            self.times.require_latest(received, over);
            self.add_send((received, Time::ZERO), send, send_gap);
            return vec![enter];
        }
        let gap = *send_gap;
        let before = *receive_gap;
        self.add_send(start, send, send_gap);
        let over = self.add_receive(enter, receive, *send_gap, receive_gap);
        if let (Some((gap, by)), Some(got)) = (gap, receive.got) {
            let limit = self.times.add_variable();
            let gap_over = (gap, by - send.overhead);
            self.times.require_latest(limit, vec![start, gap_over]);
            let later = [
                Some(start),
                Some((self.vars[got].arrival, -self.prefix.least_delay)),
                before.map(|(what, by)| (what, by - PS)),
            ];
            self.times.require_within(limit, later.into_iter().flatten().collect());
        }
        over
    }

    /// Adds an exchange of open order, with the constraints that hold either way.
    fn add_open_exchange(
        &mut self,
        start: (usize, Time),
        (send, receive): (&SettledSend, &SettledReceive),
        send_gap: &mut Option<(usize, Time)>,
        receive_gap: &mut Option<(usize, Time)>,
    ) -> Vec<(usize, Time)> {
        let MessageVars { ready, enter, .. } = self.vars[send.message];
        let enter_at = (enter, Time::ZERO);
        let begun = self.times.add_variable();
        let came = receive.got.map(|got| (self.vars[got].arrival, Time::ZERO));
        let earliest: Vec<_> = [Some(start), came, *receive_gap].into_iter().flatten().collect();
        earliest.iter().for_each(|other| self.times.require_after(begun, *other));
        if let Some(came) = came {
            self.add_others(came, &receive.others);
            self.times.require_within(begun, [earliest, vec![enter_at]].concat());
        }
        let over = (begun, receive.overhead);
        let sends_from = [Some((start.0, start.1 + send.overhead)), *send_gap];
        let sends_from: Vec<_> = sends_from.into_iter().flatten().collect();
        sends_from.iter().for_each(|other| self.times.require_after(ready, *other));
        let received = (begun, receive.overhead + send.overhead);
        self.times.require_within(ready, [sends_from, vec![received]].concat());
        *send_gap = Some((enter, self.prefix.messages[send.message].stream + send.gap));
        *receive_gap = Some((begun, receive.gap));
        vec![enter_at, over]
    }

    /// Adds the takes of requests.
    pub(super) fn add_requests(&mut self, history: &History, settled: &[(usize, Option<usize>)]) {
        let (calls, removals) = (&history.trace.calls, history.removals(settled));
        let reads = |effect: &CallEffect| {
            matches!(effect, CallEffect::Receive(_) | CallEffect::Look { .. } | CallEffect::Exchange(..))
        };
        let read = self.prefix.calls.iter().flatten().filter(|call| reads(&call.effect));
        let read: HashSet<usize> = read.map(|call| call.index).collect();
        let is_unread = |(place, _): &&(usize, _)| !read.contains(&history.takes[*place].call);
        for (place, got) in settled.iter().filter(is_unread).copied() {
            let take = &history.takes[place];
            let until = take.deadline.or(take.empty_after.filter(|_| got.is_none()));
            let look = until.map(|until| until - calls[take.call].start);
            self.deadlines.extend(look.map(|look| (take.call, vec![(take.call, look)])));
            let arrival = |message: usize| {
                self.prefix.index_of.get(&message).map(|message| self.vars[*message].arrival)
            };
            let is_gone = |message: usize| removals.get(&message).is_some_and(|other| other.is_before(take));
            let mut after = Vec::new();
            let came = got.and_then(arrival);
            if let (Some(came), Some(look)) = (came, look) {
                after.push((take.call, (came, -look)));
            }
            for other in history.candidates(take).filter(|other| got != Some(*other)) {
                let Some(comes) = arrival(other) else { continue };
                let later = match (got, came) {
                    (Some(got), Some(came)) => {
                        // A request is done no sooner than it was called for.
                        let called = history
                            .taker(got)
                            .filter(|_| take.is_wait_for_first())
                            .map(|taker| taker.posted + 1);
                        if let Some(called) = called.filter(|called| *called <= take.call && !is_gone(other))
                        {
                            after.push((comes, (called, Time::ZERO)));
                        }
                        let is_first = history.message(got).id < history.message(other).id;
                        (came, if is_first { Time::ZERO } else { self.prefix.least_delay })
                    }
                    _ => (take.call, look.unwrap_or_default() + self.prefix.least_delay),
                };
                if !is_gone(other) {
                    after.push((comes, later));
                }
            }
            after.into_iter().for_each(|(what, than)| self.times.require_after(what, than));
        }
    }
}
