//! Which messages wait for room.
//!
//! At most C = ceil(L/g) messages are in transit to a processor, and who asks first is served first. What a processor sends needs no
//! thought: its own gaps leave room. So a message enters when it is ready and no more than C - 1 of those that asked before it
//! are under way. Of two messages to a processor the first either asked later than the second, or is
//! there when the second enters, or *stays* under way then, as at most C - 1 do. A message that is under way for no time at all
//! needs no room and waits for none.
//!
//! A solution in which all this is open says too little: messages may enter earlier or later than they do on the machine. So the
//! machine is asked: what would happen under these latencies. The first message that enters at another time leaves two or three
//! ways, which are tried one after the other.

use std::collections::HashMap;

use super::known::{Known, Way};
use super::prefix::{Limit, What};
use super::times::{Solved, Times};
use crate::time::{PS, Time};

/// The search for a solution that the machine comes to.
pub(super) struct Room<'k, 'p> {
    known: &'k Known<'p>,
    /// For each message the others to the same processor for which it may have to wait.
    others: Vec<Vec<usize>>,
}

/// What of that is settled.
#[derive(Clone, Debug, Default)]
struct Ways {
    /// Of a message and another one.
    pairs: HashMap<(usize, usize), Pair>,
    /// Whether a message is under way for no time.
    instant: HashMap<usize, bool>,
}

/// Of a message and another one that needs the same room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pair {
    /// The other one asks later.
    Before,
    /// The other one asks before, and is there when this one enters.
    After,
    /// The other one asks before, and is under way when this one enters.
    Beside,
}

/// So much is tried at most.
const TRIES: usize = 5000;

impl<'k, 'p> Room<'k, 'p> {
    pub(super) fn of(known: &'k Known<'p>) -> Room<'k, 'p> {
        let flights = &known.prefix.flights;
        let others = |(place, flight): (usize, &super::prefix::Flight)| {
            if flight.capacity == usize::MAX || flight.way.is_some() || !known.prefix.is_plain {
                return Vec::new();
            }
            let shares = |other: &usize| {
                let own = flights[*other].id.from == flight.id.from;
                *other != place
                    && flights[*other].room == flight.room
                    && (!own || (flight.capacity > 1 && flights[*other].id.number < flight.id.number))
            };
            (0..flights.len()).filter(shares).collect()
        };
        Room { known, others: flights.iter().enumerate().map(others).collect() }
    }

    /// Times that the machine comes to.
    pub(super) fn solved(&self) -> Solved {
        let mut open = vec![Ways::default()];
        let mut tries = TRIES;
        while let Some(ways) = open.pop() {
            let Some(left) = tries.checked_sub(1) else { return Solved::Unknown };
            tries = left;
            let times = match self.times(&ways).solved(&mut tries) {
                Solved::Never => continue,
                Solved::Unknown => return Solved::Unknown,
                Solved::Times(times) => times,
            };
            let Some((message, enter)) = self.differs(&times) else { return Solved::Times(times) };
            open.extend(self.branches(&ways, &times, message, enter));
        }
        Solved::Never
    }

    /// What is known if so much is settled.
    fn times(&self, ways: &Ways) -> Times {
        let mut times = self.known.times.clone();
        for (message, others) in self.others.iter().enumerate() {
            let Way { ready, enter, arrival } = self.known.ways[message];
            if ready == enter {
                continue;
            }
            let stream = self.known.prefix.flights[message].stream;
            times.is_after(enter, (ready, Time::ZERO));
            let mut most = vec![(ready, Time::ZERO)];
            match ways.instant.get(&message) {
                Some(true) => times.is_within(arrival, vec![(ready, stream)]),
                Some(false) => times.is_after(arrival, (enter, stream + PS)),
                None => (),
            }
            for other in others {
                let its = self.known.ways[*other];
                match ways.pairs.get(&(message, *other)) {
                    Some(Pair::Before) => times.is_after(its.ready, (ready, self.tie(message, *other))),
                    Some(pair) => {
                        times.is_after(ready, (its.ready, self.tie(*other, message)));
                        if *pair == Pair::After {
                            times.is_after(enter, (its.arrival, Time::ZERO));
                            most.push((its.arrival, Time::ZERO));
                        }
                    }
                    None => most.push((its.arrival, Time::ZERO)),
                }
            }
            let of = |pair: Pair| {
                others.iter().filter(move |other| ways.pairs.get(&(message, **other)) == Some(&pair))
            };
            for stays in of(Pair::Beside) {
                for gone in of(Pair::After) {
                    let gone = (self.known.ways[*gone].arrival, Time::ZERO);
                    times.is_after(self.known.ways[*stays].arrival, gone);
                }
            }
            if ways.instant.get(&message) == Some(&true) {
                most.truncate(1);
            }
            // It waits no longer than all others are under way, one after the other: else two could wait for each other.
            let flights = &self.known.prefix.flights;
            let of_all = others.iter().map(|other| flights[*other].longest + flights[*other].stream).sum();
            times.is_within(enter, vec![(ready, of_all)]);
            times.is_within(enter, most);
        }
        times
    }

    /// How much later than a message another one must be ready that is served after it.
    fn tie(&self, first: usize, second: usize) -> Time {
        let flights = &self.known.prefix.flights;
        if flights[first].id.from < flights[second].id.from { Time::ZERO } else { PS }
    }

    /// The first message that enters at another time on the machine, and that time.
    fn differs(&self, times: &[Time]) -> Option<(usize, Time)> {
        if self.others.iter().all(Vec::is_empty) {
            return None;
        }
        let enters = Machine::of(self.known, times).enters();
        enters.into_iter().find(|(message, enter)| times[self.known.ways[*message].enter] != *enter)
    }

    /// The ways of a message that enters at another time on the machine.
    fn branches(&self, ways: &Ways, times: &[Time], message: usize, enter: Time) -> Vec<Ways> {
        let [mine, capacity] = [message, self.known.prefix.flights[message].capacity];
        let found = times[self.known.ways[mine].enter];
        let mut all = Vec::new();
        if !ways.instant.contains_key(&message) {
            let mut instant = ways.clone();
            instant.instant.insert(message, true);
            all.push(instant);
        }
        let is_open = |other: &&usize| !ways.pairs.contains_key(&(message, **other));
        let arrival = |other: usize| times[self.known.ways[other].arrival];
        let entered = |other: usize| times[self.known.ways[other].enter];
        let matters = |other: &&usize| match enter > found {
            true => entered(**other) <= found && found < arrival(**other),
            false => arrival(**other) > enter,
        };
        let others = self.others[message].iter().filter(is_open);
        let Some(other) = others.filter(matters).max_by_key(|other| arrival(**other)) else { return all };
        let is_beside = |pair: &&Pair| **pair == Pair::Beside;
        let pairs = self.others[message].iter().filter_map(|other| ways.pairs.get(&(message, *other)));
        let stays = pairs.filter(is_beside).count() + 1 < capacity;
        for pair in [Some(Pair::Beside).filter(|_| stays), Some(Pair::Before), Some(Pair::After)] {
            let Some(pair) = pair else { continue };
            let mut branch = ways.clone();
            branch.instant.insert(message, false);
            branch.pairs.insert((message, *other), pair);
            match pair {
                Pair::Before => (),
                _ if self.others[*other].contains(&message) => {
                    branch.pairs.insert((*other, message), Pair::Before);
                }
                _ => (),
            }
            all.push(branch);
        }
        all
    }
}

/// The machine under given latencies, as far as calls are settled.
struct Machine<'k, 'p> {
    known: &'k Known<'p>,
    latencies: Vec<Time>,
    processors: Vec<Processor>,
    arrivals: Vec<Option<Time>>,
    /// When the messages to each processor that have entered arrive.
    under_way: HashMap<(usize, usize), Vec<Time>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Processor {
    now: Time,
    /// How many calls are over.
    done: usize,
    sends_from: Option<Time>,
    receives_from: Option<Time>,
}

impl<'k, 'p> Machine<'k, 'p> {
    fn of(known: &'k Known<'p>, times: &[Time]) -> Machine<'k, 'p> {
        let flights = known.prefix.flights.iter().zip(&known.ways);
        let latencies = flights.map(|(flight, way)| {
            (times[way.arrival] - times[way.enter] - flight.stream).clamp(Time::ZERO, flight.longest)
        });
        Machine {
            known,
            latencies: latencies.collect(),
            processors: vec![Processor::default(); known.prefix.items.len()],
            arrivals: vec![None; known.ways.len()],
            under_way: HashMap::new(),
        }
    }

    /// Which messages enter, one after the other, and when.
    fn enters(mut self) -> Vec<(usize, Time)> {
        let mut all = Vec::new();
        loop {
            while (0..self.processors.len()).any(|id| self.steps(id)) || self.passes() {}
            let ready = |(id, processor): (usize, &Processor)| {
                let item = self.known.prefix.items[id].get(processor.done)?;
                let What::Sends(sending) = &item.what else { return None };
                let ready =
                    (processor.now + sending.overhead).max(processor.sends_from.unwrap_or(Time::ZERO));
                Some((ready, id, *sending, item.goes_on))
            };
            let next = self.processors.iter().enumerate().filter_map(ready);
            let Some((ready, id, sending, goes_on)) = next.min_by_key(|(ready, id, ..)| (*ready, *id)) else {
                return all;
            };
            let flight = &self.known.prefix.flights[sending.flight];
            let latency = self.latencies[sending.flight];
            let mut enter = ready;
            if flight.capacity != usize::MAX && latency + flight.stream > Time::ZERO {
                let under_way = self.under_way.entry(flight.room).or_default();
                under_way.sort_unstable();
                if let Some(last) = under_way.len().checked_sub(flight.capacity) {
                    enter = enter.max(under_way[last]);
                }
                under_way.push(enter + flight.stream + latency);
            }
            self.arrivals[sending.flight] = Some(enter + flight.stream + latency);
            all.push((sending.flight, enter));
            let processor = &mut self.processors[id];
            processor.sends_from = Some(enter + flight.stream + sending.gap);
            processor.now = enter;
            processor.done = if goes_on { processor.done + 1 } else { usize::MAX };
        }
    }

    /// A processor makes a call that is no send, if it can.
    fn steps(&mut self, id: usize) -> bool {
        let Processor { now, done, sends_from, receives_from } = self.processors[id];
        let Some(item) = self.known.prefix.items[id].get(done) else { return false };
        let mut receives = receives_from;
        let over = match &item.what {
            What::Lasts(lasts) => now + *lasts,
            What::Looks { lasts, .. } => now + *lasts,
            What::Receives(receiving) => match receiving.got {
                Some(got) => {
                    let Some(arrival) = self.arrivals[got] else { return false };
                    let start = now.max(arrival).max(receives_from.unwrap_or(Time::ZERO));
                    receives = Some(start + receiving.gap);
                    start + receiving.overhead
                }
                None => match receiving.until {
                    Some(Limit::GapOver(_)) | None => now,
                    Some(Limit::After(_)) => now + receiving.in_vain,
                },
            },
            What::Sends(_) | What::Both(..) | What::Joins { .. } | What::Barrier(..) => return false,
        };
        let done = if item.goes_on { done + 1 } else { usize::MAX };
        self.processors[id] = Processor { now: over, done, sends_from, receives_from: receives };
        true
    }

    /// All pass a barrier, if they are in it.
    fn passes(&mut self) -> bool {
        let here = self.processors.iter().enumerate().filter_map(|(id, processor)| {
            let item = self.known.prefix.items[id].get(processor.done)?;
            let What::Barrier(number, over) = item.what else { return None };
            item.goes_on.then_some((number, id, processor.now, over))
        });
        let here: Vec<_> = here.collect();
        let Some(first) = here.iter().map(|(number, ..)| *number).min() else { return false };
        let all = self.known.prefix.items.iter().flatten();
        let waited =
            all.filter(|item| matches!(item.what, What::Barrier(number, _) if number == first)).count();
        let here: Vec<_> = here.into_iter().filter(|(number, ..)| *number == first).collect();
        let still = self.processors.iter().enumerate().filter(|(id, processor)| {
            let left = self.known.prefix.items[*id].get(processor.done..).unwrap_or_default();
            left.iter().any(|item| matches!(item.what, What::Barrier(number, _) if number == first))
        });
        if still.count() != here.len() || waited == 0 {
            return false;
        }
        let last = here.iter().map(|(_, _, now, _)| *now).max().unwrap_or_default();
        for (_, id, _, over) in here {
            let processor = &mut self.processors[id];
            (processor.now, processor.done) = (last + over, processor.done + 1);
        }
        true
    }
}
