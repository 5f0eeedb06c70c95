//! What the rules of the machine say of when the calls of a prefix begin, when messages are ready, enter and arrive, and when
//! receptions start.

use std::collections::HashMap;

use super::history::History;
use super::prefix::{Limit, Prefix, Receiving, Sending, What};
use super::times::Times;
use crate::time::{PS, Time};

/// Where the unknowns are of a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    pub ready: usize,
    pub enter: usize,
    pub arrival: usize,
}

/// The unknowns of a prefix, and what is known of them.
pub(super) struct Known<'p> {
    pub prefix: &'p Prefix,
    pub times: Times,
    pub ways: Vec<Way>,
    /// When looks give up: at the latest of these.
    pub limits: HashMap<usize, Vec<(usize, Time)>>,
    /// Whether an exchange receives before it sends; nothing if that is open.
    pub receives_first: HashMap<usize, Option<bool>>,
}

/// Whether an exchange goes as in the run: it receives first if that did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    Same,
    Other,
}

/// When a receive gives up that begins at a time: at the latest of these.
fn limits(start: (usize, Time), receiving: &Receiving, sends: Option<(usize, Time)>) -> Vec<(usize, Time)> {
    match receiving.until {
        Some(Limit::After(time)) => vec![(start.0, start.1 + time)],
        Some(Limit::GapOver(overhead)) => {
            let gap = sends.map(|(enter, by)| (enter, by - overhead));
            [Some(start), gap].into_iter().flatten().collect()
        }
        None => Vec::new(),
    }
}

impl<'p> Known<'p> {
    /// What the calls say, and of exchanges how each goes, if that is settled.
    pub(super) fn of(history: &History, prefix: &'p Prefix, turns: &[Option<Turn>]) -> Known<'p> {
        let mut turns = turns.iter().copied();
        let calls = &history.trace.calls;
        let mut times = Times::of(calls.len());
        let ways = prefix.flights.iter().map(|flight| {
            let (enter, arrival) = (times.adds(), times.adds());
            let ready = if flight.way.is_none() { times.adds() } else { enter };
            times.is_after(arrival, (enter, flight.stream));
            if let Some(way) = flight.way {
                times.is_latest(enter, vec![(flight.call, way)]);
            }
            Way { ready, enter, arrival }
        });
        let ways = ways.collect();
        for (place, call) in calls.iter().enumerate() {
            if place == 0 || calls[place - 1].id != call.id {
                times.is_first(place);
            }
        }
        let mut known = Known { prefix, times, ways, limits: HashMap::new(), receives_first: HashMap::new() };
        let mut barriers: Vec<Vec<(usize, bool, Time)>> = Vec::new();
        for items in &prefix.items {
            // When the gaps after the last send and after the last reception are over.
            let (mut sends, mut receives) = (None, None);
            for item in items {
                let start = (item.call, Time::ZERO);
                let over = match &item.what {
                    What::Lasts(lasts) => vec![(item.call, *lasts)],
                    What::Sends(sending) => {
                        known.adds_sending(start, sending, &mut sends);
                        vec![(known.ways[sending.flight].enter, Time::ZERO)]
                    }
                    What::Receives(receiving) => {
                        known.limits.insert(item.call, limits(start, receiving, sends));
                        known.adds_receiving(start, receiving, sends, &mut receives)
                    }
                    What::Looks { got, others, lasts } => {
                        match got {
                            Some(got) => {
                                let arrival = known.ways[*got].arrival;
                                known.times.is_after(item.call, (arrival, Time::ZERO));
                                known.adds_others((arrival, Time::ZERO), others);
                            }
                            None => known.adds_others((item.call, prefix.behind), others),
                        }
                        vec![(item.call, *lasts)]
                    }
                    What::Both(sending, receiving) => {
                        let recorded = history.receives_before_it_sends(item.call);
                        let turn = turns.next().expect("there is one for each");
                        known.adds_both(
                            start,
                            (sending, receiving),
                            &mut sends,
                            &mut receives,
                            turn.map(|turn| recorded == (turn == Turn::Same)),
                        )
                    }
                    What::Joins { flight, lasts, late } => {
                        vec![(item.call, *lasts), (known.ways[*flight].arrival, *late)]
                    }
                    What::Barrier(number, over) => {
                        barriers.resize(barriers.len().max(number + 1), Vec::new());
                        barriers[*number].push((item.call, item.goes_on, *over));
                        continue;
                    }
                };
                if item.goes_on {
                    known.times.is_latest(item.call + 1, over);
                }
            }
        }
        for all in barriers {
            for (call, _, over) in all.iter().filter(|(_, goes_on, _)| *goes_on) {
                known.times.is_latest(call + 1, all.iter().map(|(other, ..)| (*other, *over)).collect());
            }
        }
        known
    }

    /// Whether it is open of some exchange what is first.
    pub(super) fn is_open(&self) -> bool {
        self.receives_first.values().any(Option::is_none)
    }

    /// A message is ready when its overhead and the gap are over.
    fn adds_sending(&mut self, start: (usize, Time), sending: &Sending, sends: &mut Option<(usize, Time)>) {
        let Way { ready, enter, .. } = self.ways[sending.flight];
        let over = [Some((start.0, start.1 + sending.overhead)), *sends];
        self.times.is_latest(ready, over.into_iter().flatten().collect());
        *sends = Some((enter, self.prefix.flights[sending.flight].stream + sending.gap));
    }

    /// Other messages come no earlier than this.
    fn adds_others(&mut self, (what, by): (usize, Time), others: &[(usize, Time)]) {
        for (other, later) in others {
            self.times.is_after(self.ways[*other].arrival, (what, by + *later));
        }
    }

    /// A reception starts when its message has come and the gap is over, in time. Returns when it is over.
    fn adds_receiving(
        &mut self,
        start: (usize, Time),
        receiving: &Receiving,
        sends: Option<(usize, Time)>,
        receives: &mut Option<(usize, Time)>,
    ) -> Vec<(usize, Time)> {
        let Receiving { got, overhead, gap, in_vain, others, .. } = receiving;
        let limits = limits(start, receiving, sends);
        let Some(got) = got else {
            let over = vec![(start.0, start.1 + *in_vain)];
            let Some((gap, by)) = *receives else {
                limits
                    .iter()
                    .for_each(|(what, by)| self.adds_others((*what, *by + self.prefix.behind), others));
                return over;
            };
            if !limits.is_empty() && !others.is_empty() {
                let limit = self.times.adds();
                self.times.is_latest(limit, limits);
                for (other, later) in others {
                    let arrival = self.ways[*other].arrival;
                    self.times
                        .is_within(limit, vec![(arrival, -self.prefix.behind - *later), (gap, by - PS)]);
                }
            }
            return over;
        };
        let (begun, arrival) = (self.times.adds(), self.ways[*got].arrival);
        let of = [Some(start), Some((arrival, Time::ZERO)), *receives];
        self.times.is_latest(begun, of.into_iter().flatten().collect());
        if !limits.is_empty() {
            self.times.is_within(begun, limits);
        }
        self.adds_others((arrival, Time::ZERO), others);
        *receives = Some((begun, *gap));
        vec![(begun, *overhead)]
    }

    /// A message is sent and another received: first, if it comes while the gap before the send runs.
    fn adds_both(
        &mut self,
        start: (usize, Time),
        (sending, receiving): (&Sending, &Receiving),
        sends: &mut Option<(usize, Time)>,
        receives: &mut Option<(usize, Time)>,
        receives_first: Option<bool>,
    ) -> Vec<(usize, Time)> {
        let enter = (self.ways[sending.flight].enter, Time::ZERO);
        let receives_first = receives_first.or(sends.is_none().then_some(false));
        self.receives_first.insert(start.0, receives_first);
        if receives_first.is_none() {
            return self.adds_either(start, (sending, receiving), sends, receives);
        }
        if receives_first == Some(true) {
            let Some((gap, by)) = *sends else {
                self.times.is_after(start.0, (start.0, PS)); // there is no gap, so that never happens
                return vec![start];
            };
            let over = self.adds_receiving(start, receiving, *sends, receives);
            let begun = over[0].0;
            self.times.is_within(begun, vec![(gap, by - sending.overhead)]);
            let received = self.times.adds();
            self.times.is_latest(received, over);
            self.adds_sending((received, Time::ZERO), sending, sends);
            return vec![enter];
        }
        let gap = *sends;
        let before = *receives;
        self.adds_sending(start, sending, sends);
        let over = self.adds_receiving(enter, receiving, *sends, receives);
        if let (Some((gap, by)), Some(got)) = (gap, receiving.got) {
            let limit = self.times.adds();
            let gap_over = (gap, by - sending.overhead);
            self.times.is_latest(limit, vec![start, gap_over]);
            let later = [
                Some(start),
                Some((self.ways[got].arrival, -self.prefix.behind)),
                before.map(|(what, by)| (what, by - PS)),
            ];
            self.times.is_within(limit, later.into_iter().flatten().collect());
        }
        over
    }

    /// The same, if it is open what is first: what holds either way.
    fn adds_either(
        &mut self,
        start: (usize, Time),
        (sending, receiving): (&Sending, &Receiving),
        sends: &mut Option<(usize, Time)>,
        receives: &mut Option<(usize, Time)>,
    ) -> Vec<(usize, Time)> {
        let Way { ready, enter, .. } = self.ways[sending.flight];
        let enter_at = (enter, Time::ZERO);
        let begun = self.times.adds();
        let came = receiving.got.map(|got| (self.ways[got].arrival, Time::ZERO));
        let earliest: Vec<_> = [Some(start), came, *receives].into_iter().flatten().collect();
        earliest.iter().for_each(|other| self.times.is_after(begun, *other));
        if let Some(came) = came {
            self.adds_others(came, &receiving.others);
            self.times.is_within(begun, [earliest, vec![enter_at]].concat());
        }
        let over = (begun, receiving.overhead);
        let sends_from = [Some((start.0, start.1 + sending.overhead)), *sends];
        let sends_from: Vec<_> = sends_from.into_iter().flatten().collect();
        sends_from.iter().for_each(|other| self.times.is_after(ready, *other));
        let received = (begun, receiving.overhead + sending.overhead);
        self.times.is_within(ready, [sends_from, vec![received]].concat());
        *sends = Some((enter, self.prefix.flights[sending.flight].stream + sending.gap));
        *receives = Some((begun, receiving.gap));
        vec![enter_at, over]
    }

    /// What is known of the takes of requests.
    pub(super) fn adds_requests(&mut self, history: &History, settled: &[(usize, Option<usize>)]) {
        let calls = &history.trace.calls;
        let is_read = |call: usize| {
            let mut items = self.prefix.items.iter().flatten();
            items.any(|item| {
                item.call == call
                    && matches!(item.what, What::Receives(_) | What::Looks { .. } | What::Both(..))
            })
        };
        let unread: Vec<_> =
            settled.iter().filter(|(place, _)| !is_read(history.takes[*place].call)).copied().collect();
        for (place, got) in unread {
            let take = &history.takes[place];
            let until = take.until.or(take.in_vain.filter(|_| got.is_none()));
            let look = until.map(|until| until - calls[take.call].start);
            self.limits.extend(look.map(|look| (take.call, vec![(take.call, look)])));
            let arrival =
                |message: usize| self.prefix.place_of.get(&message).map(|flight| self.ways[*flight].arrival);
            let is_gone = |message: usize| {
                let takes = |(other, got): &(usize, Option<usize>)| {
                    let other = &history.takes[*other];
                    !other.leaves && *got == Some(message) && other.is_before(take)
                };
                settled.iter().any(takes)
            };
            let mut after = Vec::new();
            let came = got.and_then(arrival);
            if let (Some(came), Some(look)) = (came, look) {
                after.push((take.call, (came, -look)));
            }
            for other in history.wanted(take).filter(|other| got != Some(*other)) {
                let Some(comes) = arrival(other) else { continue };
                let later = match (got, came) {
                    (Some(got), Some(came)) => {
                        // A request is done no sooner than when it was called for.
                        let called =
                            history.taker(got).filter(|_| take.waits()).map(|taker| taker.posted + 1);
                        if let Some(called) = called.filter(|called| *called <= take.call && !is_gone(other))
                        {
                            after.push((comes, (called, Time::ZERO)));
                        }
                        let is_first = history.message(got).id < history.message(other).id;
                        (came, if is_first { Time::ZERO } else { self.prefix.behind })
                    }
                    _ => (take.call, look.unwrap_or_default() + self.prefix.behind),
                };
                if !is_gone(other) {
                    after.push((comes, later));
                }
            }
            after.into_iter().for_each(|(what, than)| self.times.is_after(what, than));
        }
    }
}
