//! Finds out which messages wait for room and which for ports.
//!
//! At most C = ceil(L/g) messages are in transit to a processor and from it, and no two long messages pass a
//! port at the same time; the one that asks first is served first. So of two messages that need the same
//! resource, the first either asks later than the second, or finds it gone, or is *beside* it. Beside for
//! room means that at most C - 1 others are in transit; beside for a port, that the second passes the port
//! after the first. A message that is under way for no time needs no room and waits for none. Without long
//! messages, those of the same processor are never in conflict: its gaps leave room.
//!
//! A solution in which all of this is open says too little: messages may enter and arrive earlier or later
//! than they do on the machine. So the machine is run under the solution's latencies. The first message that
//! enters or arrives at another time leaves two or three possibilities, which are tried one after the other.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::conflicts::{Conflict, SharedResource, conflicts};
use super::constraints::{MessageVars, PrefixConstraints};
use super::deadline::{Deadline, SearchBudget};
use super::history::History;
use super::prefix::SettledMessage;
use super::prefix_machine::PrefixMachine;
use super::times::{SolveResult, TimeConstraints};
use loggp_model::params::{Latency, Precedence, Surcharge, Ties};
use loggp_model::rules::choice::Choice;
use loggp_model::rules::network::{Entry, Network, Passage};
use loggp_model::time::{PS, Time};

/// The search for a solution that the machine realizes.
pub(super) struct TimingSolver<'k, 'p> {
    constraints: &'k PrefixConstraints<'p>,
    network: Network,
    /// The ties by which the lower number goes first.
    by_number: Choice,
    /// The conflicts of each message.
    conflicts: Vec<Vec<Conflict>>,
    /// `true` if there are long messages, so that messages wait not only for room at the receiver.
    has_long_messages: bool,
    /// `true` if a message waits for nothing but its conflicts.
    is_complete: bool,
    /// The longest time for which messages may wait for others that are not settled.
    unsettled_wait: Time,
    /// `true` if a processor's act can depend on another's act at the same moment.
    has_instant_messages: bool,
    deadline: Deadline,
}

/// Times that the machine realizes, and which processors go first where it is not those of lower number.
#[derive(Debug)]
pub(super) struct Solution {
    pub times: Vec<Time>,
    pub precedence: Precedence,
}

/// Pairs of processors of which the first goes before the second, each with two of their messages.
type OrderedPairs = BTreeMap<(usize, usize), (usize, usize)>;

/// The assumptions of a branch of the search.
#[derive(Clone, Debug, Default)]
struct Assumptions {
    /// The order of a message and one of its conflicts.
    pairs: BTreeMap<(usize, usize), PairOrder>,
    /// Messages of which the second is ready later than the first and not at the same moment.
    later: BTreeSet<(usize, usize)>,
    instant: HashMap<usize, bool>,
}

/// The order of a message and another one that needs the same resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PairOrder {
    /// The other message asks later.
    Before,
    /// The other message asks before, and is gone when this one comes.
    After,
    /// The other message asks before, and is under way when this one enters, or passes the port after this
    /// one.
    Beside,
}

/// The most tries. With many conflicts there are fewer, since each takes longer.
const MAX_TRIES: usize = 5000;
/// The most tries times conflicts.
const MAX_WORK: usize = 1_000_000;

impl<'k, 'p> TimingSolver<'k, 'p> {
    pub(super) fn new(
        history: &History,
        constraints: &'k PrefixConstraints<'p>,
        deadline: Deadline,
    ) -> TimingSolver<'k, 'p> {
        let (trace, flights, has_long_messages) =
            (history.trace, &constraints.prefix.messages, constraints.prefix.has_long_messages());
        let has_capacity = || flights.iter().any(|flight| flight.capacity < usize::MAX);
        let waits = has_long_messages || trace.params.gps().is_some() || has_capacity();
        let by_number = Choice::new(&trace.params, Latency::Exact, Ties::Number);
        TimingSolver {
            constraints,
            network: Network::with_choice(
                trace.params,
                trace.ports,
                &trace.levels,
                Arc::new(by_number.clone()),
                Surcharge::default(),
            ),
            by_number,
            conflicts: (0..flights.len())
                .map(|message| conflicts(history, constraints.prefix, message))
                .collect(),
            has_long_messages,
            is_complete: constraints.prefix.is_exact || !waits,
            unsettled_wait: Time::ZERO,
            has_instant_messages: history.has_instant_messages(),
            deadline,
        }
    }

    /// Finds times that the machine realizes. Perhaps it does not realize them, if finding out takes too
    /// long.
    pub(super) fn solve(mut self) -> SolveResult<Solution> {
        let mut is_sure = self.is_complete;
        let (mut open, mut budget, mut first) = (vec![Assumptions::default()], self.budget(), None);
        while let Some(assumptions) = open.pop()
            && budget.take()
        {
            let times = match self.constraints_under(&assumptions).solve(&mut budget) {
                SolveResult::Infeasible => continue,
                SolveResult::Unknown => {
                    is_sure = false;
                    continue;
                }
                SolveResult::Times(times) => times,
            };
            let precedence = match self.precedence(&assumptions, &times) {
                Ok(precedence) => precedence,
                Err(circle) => {
                    is_sure &= !self.has_instant_messages;
                    open.extend(circle.into_iter().map(|pair| {
                        let mut branch = assumptions.clone();
                        branch.later.insert(pair);
                        branch
                    }));
                    continue;
                }
            };
            let Some((message, passage)) = self.first_difference(&times, &precedence) else {
                return SolveResult::Times(Solution { times, precedence });
            };
            let branches = self.branches(&assumptions, &times, message, passage);
            is_sure &= !branches.is_empty() || !self.has_long_messages;
            open.extend(branches);
            first = first.or(Some(times));
        }
        is_sure &= budget.tries > 0;
        if is_sure {
            return SolveResult::Infeasible;
        }
        // Perhaps no message has to wait.
        self.conflicts.iter_mut().for_each(Vec::clear);
        let without = self.constraints_under(&Assumptions::default()).solve(&mut self.budget());
        match (without, first) {
            (SolveResult::Times(times), _) | (_, Some(times)) => {
                SolveResult::Times(Solution { times, precedence: Precedence::new() })
            }
            _ => SolveResult::Unknown,
        }
    }

    /// Returns whether there may be times if messages wait, for room or a port, for others that are not
    /// settled.
    pub(super) fn can_be_solved_with_waits(mut self, history: &History) -> bool {
        let has_capacity =
            || self.constraints.prefix.messages.iter().any(|flight| flight.capacity < usize::MAX);
        if !self.has_long_messages && !has_capacity() {
            return false;
        }
        self.unsettled_wait = history.unbounded_latency;
        self.conflicts.iter_mut().for_each(Vec::clear);
        !matches!(
            self.constraints_under(&Assumptions::default()).solve(&mut self.budget()),
            SolveResult::Infeasible
        )
    }

    /// Returns the tries of a search.
    fn budget(&self) -> SearchBudget {
        let conflicts: usize = self.conflicts.iter().map(Vec::len).sum();
        let tries = (MAX_WORK / (1 + conflicts)).clamp(MAX_TRIES / 50, MAX_TRIES);
        SearchBudget { tries, deadline: self.deadline }
    }

    /// Returns the constraints under some assumptions.
    fn constraints_under(&self, assumptions: &Assumptions) -> TimeConstraints {
        let mut times = self.constraints.times.clone();
        let flights = &self.constraints.prefix.messages;
        for (first, second) in &assumptions.later {
            times.require_after(
                self.constraints.vars[*second].ready,
                (self.constraints.vars[*first].ready, PS),
            );
        }
        for (message, conflicts) in self.conflicts.iter().enumerate() {
            let (MessageVars { ready, enter, arrival }, flight) =
                (self.constraints.vars[message], &flights[message]);
            let under_way = flight.stream + flight.max_latency;
            let wait = self.unsettled_wait;
            let for_port = if flight.stream > Time::ZERO { wait } else { Time::ZERO };
            let (mut enters, mut arrives) = (vec![(ready, wait)], vec![(enter, under_way + for_port)]);
            match assumptions.instant.get(&message) {
                Some(true) => times.require_within(arrival, vec![(ready, flight.stream)]),
                Some(false) => times.require_after(arrival, (enter, flight.stream + PS)),
                None => (),
            }
            let pair_of = |number: usize| assumptions.pairs.get(&(message, number)).copied();
            for (number, conflict) in conflicts.iter().enumerate() {
                let (its, pair) = (self.constraints.vars[conflict.other], pair_of(number));
                match pair {
                    Some(PairOrder::Before) => {
                        times.require_after(its.ready, (ready, self.tie_margin(message, conflict.other)));
                    }
                    Some(_) => {
                        times.require_after(ready, (its.ready, self.tie_margin(conflict.other, message)))
                    }
                    None => (),
                }
                // The constraint that this one comes no earlier than the other is gone, and the reverse.
                let [behind, ahead] = self.separations(message, *conflict);
                match pair {
                    Some(PairOrder::After) => times.require_after(behind.0, behind.1),
                    Some(PairOrder::Beside) if !conflict.resource.is_room() => {
                        times.require_after(ahead.0, ahead.1)
                    }
                    _ => (),
                }
                if matches!(pair, None | Some(PairOrder::After)) {
                    let most = if conflict.resource.is_before_entry() { &mut enters } else { &mut arrives };
                    most.push(behind.1);
                }
                if pair == Some(PairOrder::After) && !conflict.resource.is_room() {
                    // It does not fit in before the other.
                    let others = conflicts.iter().enumerate().filter(|(other, its)| {
                        *other != number
                            && its.resource.is_before_entry() == conflict.resource.is_before_entry()
                            && matches!(pair_of(*other), None | Some(PairOrder::After))
                    });
                    let begins = others.map(|(_, other)| self.separations(message, *other)[0].1);
                    let first = if conflict.resource.is_before_entry() {
                        (ready, Time::ZERO)
                    } else {
                        (enter, under_way)
                    };
                    let by = ahead.1.1 - PS;
                    let within = [first].into_iter().chain(begins).map(|(what, at)| (what, at + by));
                    times.require_within(ahead.0, within.collect());
                }
            }
            let of = |resource: SharedResource, pair: PairOrder| {
                let all = conflicts.iter().enumerate();
                let those = all.filter(move |(number, conflict)| {
                    conflict.resource == resource && pair_of(*number) == Some(pair)
                });
                those.map(|(_, conflict)| self.constraints.vars[conflict.other].arrival)
            };
            for resource in [SharedResource::To, SharedResource::From] {
                for stays in of(resource, PairOrder::Beside) {
                    of(resource, PairOrder::After)
                        .for_each(|gone| times.require_after(stays, (gone, Time::ZERO)));
                }
            }
            if assumptions.instant.get(&message) == Some(&true) {
                enters.truncate(1);
            }
            if ready != enter {
                times.require_after(enter, (ready, Time::ZERO));
                // It waits no longer than all others are under way one after the other, so that no two
                // messages wait for each other.
                let lasts = |flight: &SettledMessage| flight.max_latency + 2 * flight.stream;
                let of_all: Time = match self.has_long_messages {
                    true => flights.iter().map(lasts).sum(),
                    false => conflicts.iter().map(|conflict| lasts(&flights[conflict.other])).sum(),
                };
                times.require_within(enter, vec![(ready, of_all + wait)]);
                times.require_within(enter, enters);
                if arrives.len() > 1 {
                    times.require_within(arrival, vec![(enter, under_way + of_all)]);
                }
            }
            times.require_within(arrival, arrives);
        }
        times
    }

    /// Returns the constraint that a message waits for its conflict, and the reverse one. Each is a variable,
    /// and the variable and time that bound it from below.
    fn separations(
        &self,
        message: usize,
        Conflict { other, resource }: Conflict,
    ) -> [(usize, (usize, Time)); 2] {
        let (mine, its) = (self.constraints.vars[message], self.constraints.vars[other]);
        let [stream, its_stream] =
            [message, other].map(|message| self.constraints.prefix.messages[message].stream);
        let [behind, ahead] = match resource {
            SharedResource::To | SharedResource::From => {
                [(mine.enter, its.arrival, Time::ZERO), (its.enter, mine.arrival, Time::ZERO)]
            }
            SharedResource::Out => {
                [(mine.enter, its.arrival, Time::ZERO), (its.arrival, mine.enter, stream + its_stream)]
            }
            SharedResource::In => {
                [(mine.arrival, its.enter, its_stream + stream), (its.enter, mine.arrival, Time::ZERO)]
            }
            SharedResource::BothIn => {
                [(mine.arrival, its.arrival, stream), (its.arrival, mine.arrival, its_stream)]
            }
        };
        [behind, ahead].map(|(later, earlier, by)| (later, (earlier, by)))
    }

    /// Returns how much later than a message another must be ready that is served after it. Of two processors
    /// any may go first at the same moment; one processor's messages go in their order.
    fn tie_margin(&self, first: usize, second: usize) -> Time {
        let [first, second] = [first, second].map(|message| self.constraints.prefix.messages[message].id);
        if first.from != second.from || first.number < second.number { Time::ZERO } else { PS }
    }

    /// Returns the precedence by which all pairs are served as assumed. If there is none, the error has pairs
    /// of which one cannot be ready at the same moment, since each would have to be served before the next.
    fn precedence(
        &self,
        assumptions: &Assumptions,
        times: &[Time],
    ) -> Result<Precedence, Vec<(usize, usize)>> {
        let flights = &self.constraints.prefix.messages;
        let ready = |message: usize| times[self.constraints.vars[message].ready];
        // For each moment, the pairs of processors that must go in order.
        let mut pairs: BTreeMap<Time, OrderedPairs> = BTreeMap::new();
        for ((message, number), pair) in &assumptions.pairs {
            let other = self.conflicts[*message][*number].other;
            let (first, second) =
                if *pair == PairOrder::Before { (*message, other) } else { (other, *message) };
            let ids = (flights[first].id.from, flights[second].id.from);
            if ready(first) == ready(second) && ids.0 != ids.1 {
                pairs.entry(ready(first)).or_default().insert(ids, (first, second));
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
                            |(ids, _): &(&(usize, usize), _)| left.contains(&ids.0) && left.contains(&ids.1);
                        return Err(pairs.iter().filter(is_left).map(|(_, pair)| *pair).collect());
                    }
                }
            }
            // A processor's turn comes before it asks.
            let turn = self.network.turn_time(&Entry::when_ready(time, Time::ZERO, Time::ZERO));
            precedence.insert(turn, first);
        }
        Ok(precedence)
    }

    /// Returns the first message that enters or arrives at another time on the machine, and its passage
    /// there.
    fn first_difference(&self, times: &[Time], precedence: &Precedence) -> Option<(usize, Passage)> {
        if self.constraints.has_open_exchange() || self.conflicts.iter().all(Vec::is_empty) {
            return None;
        }
        let ties = self.by_number.clone().with_precedence(precedence);
        let passages = PrefixMachine::new(self.constraints, &self.network, ties, times).passages();
        passages.into_iter().find(|(message, passage)| {
            let vars = self.constraints.vars[*message];
            (times[vars.enter], times[vars.arrival]) != (passage.enter, passage.arrival)
        })
    }

    /// Returns the spans of time in which a message and its conflict need their common resource.
    fn spans(
        &self,
        times: &[Time],
        message: usize,
        Conflict { other, resource }: Conflict,
    ) -> [(Time, Time); 2] {
        let span = |message: usize, resource: SharedResource| {
            let MessageVars { enter, arrival, .. } = self.constraints.vars[message];
            let (enter, arrival, stream) =
                (times[enter], times[arrival], self.constraints.prefix.messages[message].stream);
            match resource {
                SharedResource::To | SharedResource::From => (enter, arrival),
                SharedResource::Out => (enter, enter + stream),
                SharedResource::In | SharedResource::BothIn => (arrival - stream, arrival),
            }
        };
        let mine = span(message, resource);
        let mine = if self.has_long_messages || !resource.is_room() { mine } else { (mine.0, mine.0 + PS) };
        [mine, span(other, resource.mirrored())]
    }

    /// Returns the possibilities for a message that enters or arrives at another time on the machine.
    fn branches(
        &self,
        assumptions: &Assumptions,
        times: &[Time],
        message: usize,
        passage: Passage,
    ) -> Vec<Assumptions> {
        let (flight, vars) = (&self.constraints.prefix.messages[message], self.constraints.vars[message]);
        let (enter, arrival) = (times[vars.enter], times[vars.arrival]);
        let mut all = Vec::new();
        let can_be_instant = flight.stream == Time::ZERO;
        if can_be_instant && !assumptions.instant.contains_key(&message) {
            let mut instant = assumptions.clone();
            instant.instant.insert(message, true);
            all.push(instant);
        }
        let conflicts = self.conflicts[message].iter().enumerate();
        let open = conflicts.filter(|(number, _)| !assumptions.pairs.contains_key(&(message, *number)));
        let open: Vec<(usize, Conflict)> = open.map(|(number, conflict)| (number, *conflict)).collect();
        let until = |conflict: Conflict| self.spans(times, message, conflict)[1].1;
        let matters = |(_, conflict): &&(usize, Conflict)| {
            let [mine, its] = self.spans(times, message, *conflict);
            let (is_late, from) = match enter == passage.enter {
                true => (passage.arrival > arrival, passage.arrival - flight.stream),
                false => (passage.enter > enter, passage.enter),
            };
            conflict.resource.is_before_entry() == (enter != passage.enter)
                && if is_late { its.0 < mine.1 && mine.0 < its.1 } else { its.1 > from }
        };
        let nearest = open.iter().filter(matters).max_by_key(|(_, conflict)| until(*conflict));
        let any =
            || open.iter().filter(|_| self.has_long_messages).max_by_key(|(_, conflict)| until(*conflict));
        let Some(&(number, Conflict { other, resource })) = nearest.or_else(any) else { return all };
        let beside = self.conflicts[message].iter().enumerate().filter(|(number, conflict)| {
            conflict.resource == resource
                && assumptions.pairs.get(&(message, *number)) == Some(&PairOrder::Beside)
        });
        let stays = !resource.is_room() || beside.count() + 1 < flight.capacity;
        for pair in
            [Some(PairOrder::Beside).filter(|_| stays), Some(PairOrder::Before), Some(PairOrder::After)]
        {
            let Some(pair) = pair else { continue };
            let mut branch = assumptions.clone();
            if can_be_instant {
                branch.instant.insert(message, false);
            }
            branch.pairs.insert((message, number), pair);
            let mirrored = Conflict { other: message, resource: resource.mirrored() };
            if pair != PairOrder::Before
                && let Some(number) = self.conflicts[other].iter().position(|conflict| *conflict == mirrored)
            {
                branch.pairs.insert((other, number), PairOrder::Before);
            }
            all.push(branch);
        }
        all
    }
}
