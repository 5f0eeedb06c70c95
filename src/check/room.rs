//! Which messages wait for room, and which for ports.
//!
//! At most C = ceil(L/g) messages are in transit to a processor and from it, and no two long messages pass a port at the same
//! time; who asks first is served first. So of two messages that need the same the first either asked later than the
//! second, or is gone when the second comes, or is *beside* it: as room, at most C - 1 others are; and a port it passes after the
//! second. A message that is under way for no time at all needs no room and waits for none. What a processor sends needs no thought
//! where there are no long messages: its own gaps leave room.
//!
//! A solution in which all this is open says too little: messages may enter and arrive earlier or later than they do on the
//! machine. So the machine is asked: what would happen under these latencies. The first message that enters or arrives at another time
//! leaves two or three ways, which are tried one after the other.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::conflicts::{At, Conflict, conflicts};
use super::history::History;
use super::known::{Known, Way};
use super::machine::Machine;
use super::prefix::Flight;
use super::times::{Solved, Times};
use crate::params::{Latency, Precedence, Surcharge, Ties};
use crate::rules::choice::Drawn;
use crate::rules::network::{Ask, Network, Passage};
use crate::time::{PS, Time};

/// The search for a solution that the machine comes to.
pub(super) struct Room<'k, 'p> {
    known: &'k Known<'p>,
    network: Network,
    /// Lets the lower number go first.
    by_number: Drawn,
    /// For each message what it may have to wait for.
    conflicts: Vec<Vec<Conflict>>,
    /// Whether there are long messages, so that more waits than what asks for room at its receiver.
    is_long: bool,
    /// Whether it knows all that may have to wait.
    is_whole: bool,
    /// How long messages may wait for others that are not settled.
    waits_for_others: Time,
    /// Whether one processor can do something at a moment only because of what another does at it.
    has_instants: bool,
}

/// Times that the machine comes to, and who goes first where the lower number would not do.
#[derive(Debug)]
pub(super) struct Solution {
    pub times: Vec<Time>,
    pub precedence: Precedence,
}

/// Who goes before whom, and of which two messages.
type Before = BTreeMap<(usize, usize), (usize, usize)>;

/// What of that is settled.
#[derive(Clone, Debug, Default)]
struct Ways {
    /// Of a message and one of its conflicts.
    pairs: BTreeMap<(usize, usize), Pair>,
    /// Messages of which the second is ready later than the first, and not at the same moment.
    later: BTreeSet<(usize, usize)>,
    /// Whether a message is under way for no time.
    instant: HashMap<usize, bool>,
}

/// Of a message and another one that needs the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pair {
    /// The other one asks later.
    Before,
    /// The other one asks before, and is gone when this one comes.
    After,
    /// The other one asks before, and is under way when this one enters, or passes the port after this one.
    Beside,
}

/// So much is tried at most, and less where more may have to wait, since each try takes longer then.
const TRIES: usize = 5000;
/// So many tries, times what may have to wait, are no more than that.
const WORK: usize = 1_000_000;

impl<'k, 'p> Room<'k, 'p> {
    pub(super) fn of(history: &History, known: &'k Known<'p>) -> Room<'k, 'p> {
        let (trace, flights, is_long) = (history.trace, &known.prefix.flights, known.prefix.is_long());
        let has_capacity = || flights.iter().any(|flight| flight.capacity < usize::MAX);
        let waits = is_long || trace.params.gps().is_some() || has_capacity();
        let by_number = Drawn::new(&trace.params, Latency::Exact, Ties::Number);
        Room {
            known,
            network: Network::settled_by(
                trace.params,
                trace.ports,
                &trace.levels,
                Arc::new(by_number.clone()),
                Surcharge::default(),
            ),
            by_number,
            conflicts: (0..flights.len()).map(|message| conflicts(history, known.prefix, message)).collect(),
            is_long,
            is_whole: known.prefix.is_plain || !waits,
            waits_for_others: Time::ZERO,
            has_instants: history.has_instants(),
        }
    }

    /// Times that the machine comes to; or perhaps does, where it takes too long to find out.
    pub(super) fn solved(mut self) -> Solved<Solution> {
        let mut is_sure = self.is_whole;
        let (mut open, mut tries, mut first) = (vec![Ways::default()], self.tries(), None);
        while let Some(ways) = open.pop()
            && let Some(left) = tries.checked_sub(1)
        {
            tries = left;
            let times = match self.times(&ways).solved(&mut tries) {
                Solved::Never => continue,
                Solved::Unknown => {
                    is_sure = false;
                    continue;
                }
                Solved::Times(times) => times,
            };
            let precedence = match self.precedence(&ways, &times) {
                Ok(precedence) => precedence,
                Err(circle) => {
                    is_sure &= !self.has_instants;
                    open.extend(circle.into_iter().map(|pair| {
                        let mut branch = ways.clone();
                        branch.later.insert(pair);
                        branch
                    }));
                    continue;
                }
            };
            let Some((message, passage)) = self.differs(&times, &precedence) else {
                return Solved::Times(Solution { times, precedence });
            };
            let branches = self.branches(&ways, &times, message, passage);
            is_sure &= !branches.is_empty() || !self.is_long;
            open.extend(branches);
            first = first.or(Some(times));
        }
        is_sure &= tries > 0;
        if is_sure {
            return Solved::Never;
        }
        // Perhaps none need wait.
        self.conflicts.iter_mut().for_each(Vec::clear);
        let without = self.times(&Ways::default()).solved(&mut self.tries());
        match (without, first) {
            (Solved::Times(times), _) | (_, Some(times)) => {
                Solved::Times(Solution { times, precedence: Precedence::new() })
            }
            _ => Solved::Unknown,
        }
    }

    /// Whether there may be times if messages wait for others that are not settled, for room or a port.
    pub(super) fn solved_with_others(mut self, history: &History) -> bool {
        let has_capacity = || self.known.prefix.flights.iter().any(|flight| flight.capacity < usize::MAX);
        if !self.is_long && !has_capacity() {
            return false;
        }
        self.waits_for_others = history.boundless;
        self.conflicts.iter_mut().for_each(Vec::clear);
        !matches!(self.times(&Ways::default()).solved(&mut self.tries()), Solved::Never)
    }

    /// How much is tried.
    fn tries(&self) -> usize {
        let conflicts: usize = self.conflicts.iter().map(Vec::len).sum();
        (WORK / (1 + conflicts)).clamp(TRIES / 50, TRIES)
    }

    /// What is known if so much is settled.
    fn times(&self, ways: &Ways) -> Times {
        let mut times = self.known.times.clone();
        let flights = &self.known.prefix.flights;
        for (first, second) in &ways.later {
            times.is_after(self.known.ways[*second].ready, (self.known.ways[*first].ready, PS));
        }
        for (message, conflicts) in self.conflicts.iter().enumerate() {
            let (Way { ready, enter, arrival }, flight) = (self.known.ways[message], &flights[message]);
            let under_way = flight.stream + flight.longest;
            let wait = self.waits_for_others;
            let for_port = if flight.stream > Time::ZERO { wait } else { Time::ZERO };
            let (mut enters, mut arrives) = (vec![(ready, wait)], vec![(enter, under_way + for_port)]);
            match ways.instant.get(&message) {
                Some(true) => times.is_within(arrival, vec![(ready, flight.stream)]),
                Some(false) => times.is_after(arrival, (enter, flight.stream + PS)),
                None => (),
            }
            let pair_of = |number: usize| ways.pairs.get(&(message, number)).copied();
            for (number, conflict) in conflicts.iter().enumerate() {
                let (its, pair) = (self.known.ways[conflict.other], pair_of(number));
                match pair {
                    Some(Pair::Before) => {
                        times.is_after(its.ready, (ready, self.tie(message, conflict.other)));
                    }
                    Some(_) => times.is_after(ready, (its.ready, self.tie(conflict.other, message))),
                    None => (),
                }
                // When this one comes no earlier than the other is gone, and the other way round.
                let [behind, ahead] = self.apart(message, *conflict);
                match pair {
                    Some(Pair::After) => times.is_after(behind.0, behind.1),
                    Some(Pair::Beside) if !conflict.at.is_room() => times.is_after(ahead.0, ahead.1),
                    _ => (),
                }
                if matches!(pair, None | Some(Pair::After)) {
                    let most = if conflict.at.is_before() { &mut enters } else { &mut arrives };
                    most.push(behind.1);
                }
                if pair == Some(Pair::After) && !conflict.at.is_room() {
                    // It does not fit in before.
                    let others = conflicts.iter().enumerate().filter(|(other, its)| {
                        *other != number
                            && its.at.is_before() == conflict.at.is_before()
                            && matches!(pair_of(*other), None | Some(Pair::After))
                    });
                    let begins = others.map(|(_, other)| self.apart(message, *other)[0].1);
                    let first =
                        if conflict.at.is_before() { (ready, Time::ZERO) } else { (enter, under_way) };
                    let by = ahead.1.1 - PS;
                    let within = [first].into_iter().chain(begins).map(|(what, at)| (what, at + by));
                    times.is_within(ahead.0, within.collect());
                }
            }
            let of = |at: At, pair: Pair| {
                let all = conflicts.iter().enumerate();
                let those =
                    all.filter(move |(number, conflict)| conflict.at == at && pair_of(*number) == Some(pair));
                those.map(|(_, conflict)| self.known.ways[conflict.other].arrival)
            };
            for at in [At::To, At::From] {
                for stays in of(at, Pair::Beside) {
                    of(at, Pair::After).for_each(|gone| times.is_after(stays, (gone, Time::ZERO)));
                }
            }
            if ways.instant.get(&message) == Some(&true) {
                enters.truncate(1);
            }
            if ready != enter {
                times.is_after(enter, (ready, Time::ZERO));
                // It waits no longer than all others are under way, one after the other: else two could wait for each other.
                let lasts = |flight: &Flight| flight.longest + 2 * flight.stream;
                let of_all: Time = match self.is_long {
                    true => flights.iter().map(lasts).sum(),
                    false => conflicts.iter().map(|conflict| lasts(&flights[conflict.other])).sum(),
                };
                times.is_within(enter, vec![(ready, of_all + wait)]);
                times.is_within(enter, enters);
                if arrives.len() > 1 {
                    times.is_within(arrival, vec![(enter, under_way + of_all)]);
                }
            }
            times.is_within(arrival, arrives);
        }
        times
    }

    /// What is no earlier than what by how much, if a message waits for its conflict; and if it is the other way round.
    fn apart(&self, message: usize, Conflict { other, at }: Conflict) -> [(usize, (usize, Time)); 2] {
        let (mine, its) = (self.known.ways[message], self.known.ways[other]);
        let [stream, its_stream] = [message, other].map(|message| self.known.prefix.flights[message].stream);
        let [behind, ahead] = match at {
            At::To | At::From => {
                [(mine.enter, its.arrival, Time::ZERO), (its.enter, mine.arrival, Time::ZERO)]
            }
            At::Out => {
                [(mine.enter, its.arrival, Time::ZERO), (its.arrival, mine.enter, stream + its_stream)]
            }
            At::In => [(mine.arrival, its.enter, its_stream + stream), (its.enter, mine.arrival, Time::ZERO)],
            At::BothIn => [(mine.arrival, its.arrival, stream), (its.arrival, mine.arrival, its_stream)],
        };
        [behind, ahead].map(|(later, earlier, by)| (later, (earlier, by)))
    }

    /// How much later than a message another one must be ready that is served after it. Who goes first of two processors at the
    /// same moment is open; each one's own messages go in their order.
    fn tie(&self, first: usize, second: usize) -> Time {
        let [first, second] = [first, second].map(|message| self.known.prefix.flights[message].id);
        if first.from != second.from || first.number < second.number { Time::ZERO } else { PS }
    }

    /// Who must go first so that all pairs are served as they are settled; or pairs of which one cannot be ready at the same
    /// moment, since each would have to be served before the next one.
    fn precedence(&self, ways: &Ways, times: &[Time]) -> Result<Precedence, Vec<(usize, usize)>> {
        let flights = &self.known.prefix.flights;
        let ready = |message: usize| times[self.known.ways[message].ready];
        // At each moment, who goes before whom, because of which messages.
        let mut pairs: BTreeMap<Time, Before> = BTreeMap::new();
        for ((message, number), pair) in &ways.pairs {
            let other = self.conflicts[*message][*number].other;
            let (first, second) = if *pair == Pair::Before { (*message, other) } else { (other, *message) };
            let who = (flights[first].id.from, flights[second].id.from);
            if ready(first) == ready(second) && who.0 != who.1 {
                pairs.entry(ready(first)).or_default().insert(who, (first, second));
            }
        }
        let mut precedence = Precedence::new();
        for (time, pairs) in pairs {
            if pairs.keys().all(|(first, second)| first < second) {
                continue;
            }
            let all = (0..flights.len()).filter(|message| ready(*message) == time);
            let mut left: BTreeSet<usize> = all.map(|message| flights[message].id.from).collect();
            let mut first = Vec::new();
            while !left.is_empty() {
                let is_free =
                    |id: &&usize| !pairs.keys().any(|(before, it)| it == *id && left.contains(before));
                match left.iter().find(is_free).copied() {
                    Some(id) => {
                        left.remove(&id);
                        first.push(id);
                    }
                    None => {
                        let is_left =
                            |(who, _): &(&(usize, usize), _)| left.contains(&who.0) && left.contains(&who.1);
                        return Err(pairs.iter().filter(is_left).map(|(_, pair)| *pair).collect());
                    }
                }
            }
            // Its turn comes before it asks.
            let turn = self.network.turn(&Ask::when_ready(time, Time::ZERO, Time::ZERO));
            precedence.insert(turn, first);
        }
        Ok(precedence)
    }

    /// The first message that enters or arrives at another time on the machine, and its way there.
    fn differs(&self, times: &[Time], precedence: &Precedence) -> Option<(usize, Passage)> {
        if self.known.is_open() || self.conflicts.iter().all(Vec::is_empty) {
            return None;
        }
        let ties = self.by_number.clone().preceded_by(precedence);
        let passages = Machine::of(self.known, &self.network, ties, times).passages();
        passages.into_iter().find(|(message, passage)| {
            let way = self.known.ways[*message];
            (times[way.enter], times[way.arrival]) != (passage.enter, passage.arrival)
        })
    }

    /// From when to when a message needs what it has in common with another one, and the other one does.
    fn spans(&self, times: &[Time], message: usize, Conflict { other, at }: Conflict) -> [(Time, Time); 2] {
        let span = |message: usize, at: At| {
            let Way { enter, arrival, .. } = self.known.ways[message];
            let (enter, arrival, stream) =
                (times[enter], times[arrival], self.known.prefix.flights[message].stream);
            match at {
                At::To | At::From => (enter, arrival),
                At::Out => (enter, enter + stream),
                At::In | At::BothIn => (arrival - stream, arrival),
            }
        };
        let mine = span(message, at);
        let mine = if self.is_long || !at.is_room() { mine } else { (mine.0, mine.0 + PS) };
        [mine, span(other, at.mirrored())]
    }

    /// The ways of a message that enters or arrives at another time on the machine.
    fn branches(&self, ways: &Ways, times: &[Time], message: usize, passage: Passage) -> Vec<Ways> {
        let (flight, way) = (&self.known.prefix.flights[message], self.known.ways[message]);
        let (enter, arrival) = (times[way.enter], times[way.arrival]);
        let mut all = Vec::new();
        let can_be_instant = flight.stream == Time::ZERO;
        if can_be_instant && !ways.instant.contains_key(&message) {
            let mut instant = ways.clone();
            instant.instant.insert(message, true);
            all.push(instant);
        }
        let conflicts = self.conflicts[message].iter().enumerate();
        let open = conflicts.filter(|(number, _)| !ways.pairs.contains_key(&(message, *number)));
        let open: Vec<(usize, Conflict)> = open.map(|(number, conflict)| (number, *conflict)).collect();
        let until = |conflict: Conflict| self.spans(times, message, conflict)[1].1;
        let matters = |(_, conflict): &&(usize, Conflict)| {
            let [mine, its] = self.spans(times, message, *conflict);
            let (is_late, from) = match enter == passage.enter {
                true => (passage.arrival > arrival, passage.arrival - flight.stream),
                false => (passage.enter > enter, passage.enter),
            };
            conflict.at.is_before() == (enter != passage.enter)
                && if is_late { its.0 < mine.1 && mine.0 < its.1 } else { its.1 > from }
        };
        let nearest = open.iter().filter(matters).max_by_key(|(_, conflict)| until(*conflict));
        let any = || open.iter().filter(|_| self.is_long).max_by_key(|(_, conflict)| until(*conflict));
        let Some(&(number, Conflict { other, at })) = nearest.or_else(any) else { return all };
        let beside = self.conflicts[message].iter().enumerate().filter(|(number, conflict)| {
            conflict.at == at && ways.pairs.get(&(message, *number)) == Some(&Pair::Beside)
        });
        let stays = !at.is_room() || beside.count() + 1 < flight.capacity;
        for pair in [Some(Pair::Beside).filter(|_| stays), Some(Pair::Before), Some(Pair::After)] {
            let Some(pair) = pair else { continue };
            let mut branch = ways.clone();
            if can_be_instant {
                branch.instant.insert(message, false);
            }
            branch.pairs.insert((message, number), pair);
            let mirrored = Conflict { other: message, at: at.mirrored() };
            if pair != Pair::Before
                && let Some(number) = self.conflicts[other].iter().position(|conflict| *conflict == mirrored)
            {
                branch.pairs.insert((other, number), Pair::Before);
            }
            all.push(branch);
        }
        all
    }
}
