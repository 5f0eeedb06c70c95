//! Finds out which messages wait for room and which for ports.
//!
//! At most C = ceil(L/g) messages are in transit to a processor and from it, and no two long messages pass a
//! port at the same time; the message that asks first is served first. So of two messages that need the same
//! resource, the first either asks later than the second, or finds the second gone, or is *beside* the
//! second. Beside for room means that at most C - 1 others are in transit; beside for a port, that the second
//! passes the port after the first. A message that is under way for no time needs no room and waits for none.
//! Without long messages, messages of the same processor are never in conflict: its gaps leave room.
//!
//! To try all orders of all pairs from the start would take too long, and most pairs never meet. So all pairs
//! are open at first. A solution says too little then: messages may enter and arrive earlier or later than
//! they do on the machine. So the machine is run under the solution's latencies. The first message that
//! enters or arrives at another time leaves two or three possibilities for one pair, which are tried one
//! after the other.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use loggp_model::params::{Latency, Precedence, Surcharge, Ties};
use loggp_model::rules::choice::Choice;
use loggp_model::rules::network::Network;
use loggp_model::time::{PS, Time};
use loggp_model::transport::{Departure, Passage};

use super::conflicts::{Conflict, SharedResource, conflicts};
use super::constraints::{MessageVars, PrefixConstraints};
use super::difference::first_difference;
use super::prefix::{Prefix, SettledMessage};
use super::times::{SolveResult, Term, TimeConstraints};
use crate::deadline::{Deadline, SearchBudget};
use crate::history::History;

/// The search for a solution that the machine realizes.
pub(super) struct TimingSolver<'k, 'p> {
    constraints: &'k PrefixConstraints<'p>,
    network: Network,
    /// The ties by which the lower number goes first.
    by_number: Choice,
    /// The conflicts of each message. A conflict's *number* is its index among those of its message.
    conflicts: Vec<Vec<Conflict>>,
    /// `true` if there are long messages, so that messages wait not only for room at the receiver.
    has_long_messages: bool,
    /// `true` if a message waits for nothing but its conflicts.
    is_complete: bool,
    /// The longest time for which messages may wait for others that are not settled.
    unsettled_wait: Time,
    /// `true` if what a processor does can depend on what another does at the same moment.
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
    /// The order of a message and another one, by the message and the number of its conflict with the other.
    pairs: BTreeMap<(usize, usize), PairOrder>,
    /// Messages of which the second is ready later than the first and not at the same moment.
    later: BTreeSet<(usize, usize)>,
    /// `true` for messages that are under way for no time, `false` for those that are under way for some.
    instant: HashMap<usize, bool>,
}

impl Assumptions {
    /// Returns the order of a message and its conflict of this number, or `None` if the order is open.
    fn pair(&self, message: usize, number: usize) -> Option<PairOrder> {
        self.pairs.get(&(message, number)).copied()
    }
}

/// The order of a message and another one that needs the same resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PairOrder {
    /// The other message asks later.
    Before,
    /// The other message asks before, and is gone when this one comes.
    After,
    /// The other message asks before, and is under way when this one enters or passes the port after this
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
        let (trace, prefix) = (history.trace, constraints.prefix);
        let has_long_messages = prefix.has_long_messages();
        let waits = has_long_messages || trace.params.gps().is_some() || has_capacity(prefix);
        let by_number = Choice::new(&trace.params, Latency::Exact, Ties::Number);
        TimingSolver {
            constraints,
            network: Network::with_choice(
                trace.params,
                trace.ports.into(),
                &trace.levels,
                Arc::new(by_number.clone()),
                Surcharge::default(),
            ),
            by_number,
            conflicts: (0..prefix.messages.len())
                .map(|message| conflicts(history, prefix, message))
                .collect(),
            has_long_messages,
            is_complete: prefix.is_exact || !waits,
            unsettled_wait: Time::ZERO,
            has_instant_messages: history.has_instant_messages(),
            deadline,
        }
    }

    /// Finds times that the machine realizes, or perhaps does not if finding out takes too long. The search
    /// is depth-first.
    pub(super) fn solve(mut self) -> SolveResult<Solution> {
        let mut is_sure = self.is_complete;
        let (mut open, mut budget, mut first) = (vec![Assumptions::default()], self.budget(), None);
        while let Some(assumptions) = open.pop()
            && budget.take()
        {
            let times = match self.constraints_under(&assumptions).solve(&mut budget) {
                SolveResult::Impossible => continue,
                SolveResult::Unknown => {
                    is_sure = false;
                    continue;
                }
                SolveResult::Found(times) => times,
            };
            let precedence = match self.precedence(&assumptions, &times) {
                Ok(precedence) => precedence,
                Err(cycle) => {
                    is_sure &= !self.has_instant_messages;
                    open.extend(cycle.into_iter().map(|pair| {
                        let mut branch = assumptions.clone();
                        branch.later.insert(pair);
                        branch
                    }));
                    continue;
                }
            };
            let Some((message, passage)) = self.first_difference(&times, &precedence) else {
                return SolveResult::Found(Solution { times, precedence });
            };
            let branches = self.branches(&assumptions, &times, message, passage);
            is_sure &= !branches.is_empty() || !self.has_long_messages;
            open.extend(branches);
            first = first.or(Some(times));
        }
        is_sure &= budget.tries > 0;
        if is_sure {
            return SolveResult::Impossible;
        }
        // Perhaps no message has to wait.
        match (self.solve_without_conflicts(), first) {
            (SolveResult::Found(times), _) | (_, Some(times)) => {
                SolveResult::Found(Solution { times, precedence: Precedence::new() })
            }
            _ => SolveResult::Unknown,
        }
    }

    /// Returns whether there may be times if messages wait, for room or a port, for others that are not
    /// settled.
    pub(super) fn can_be_solved_with_waits(mut self, history: &History) -> bool {
        self.unsettled_wait = history.unbounded_latency;
        (self.has_long_messages || has_capacity(self.constraints.prefix))
            && !matches!(self.solve_without_conflicts(), SolveResult::Impossible)
    }

    /// Finds times for which no settled message waits for another one.
    fn solve_without_conflicts(&mut self) -> SolveResult {
        self.conflicts.iter_mut().for_each(Vec::clear);
        self.constraints_under(&Assumptions::default()).solve(&mut self.budget())
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
        for (first, second) in &assumptions.later {
            let [first, second] = [first, second].map(|message| self.constraints.vars[*message].ready);
            times.require_after(second, (first, PS));
        }
        for message in 0..self.conflicts.len() {
            self.add_passage(&mut times, assumptions, message);
        }
        times
    }

    /// Adds that a message enters when it is ready, and arrives when it was under way, but for what it may
    /// wait for.
    fn add_passage(&self, times: &mut TimeConstraints, assumptions: &Assumptions, message: usize) {
        let MessageVars { ready, enter, arrival } = self.constraints.vars[message];
        let (messages, conflicts) = (&self.constraints.prefix.messages, &self.conflicts[message]);
        let SettledMessage { stream, max_latency, .. } = messages[message];
        let is_instant = assumptions.instant.get(&message).copied();
        match is_instant {
            Some(true) => times.require_within(arrival, vec![(ready, stream)]),
            Some(false) => times.require_after(arrival, (enter, stream + PS)),
            None => (),
        }
        for number in 0..conflicts.len() {
            self.add_pair(times, assumptions, message, number);
        }
        self.add_departures(times, assumptions, message);
        let wait = self.unsettled_wait;
        let (under_way, for_port) =
            (stream + max_latency, if stream > Time::ZERO { wait } else { Time::ZERO });
        let waits = [(true, (ready, wait)), (false, (enter, under_way + for_port))];
        let [mut enters, arrives] = waits.map(|(is_before_entry, first)| {
            let behind = self.may_be_behind(assumptions, message, is_before_entry).map(|(_, term)| term);
            [first].into_iter().chain(behind).collect::<Vec<Term>>()
        });
        if is_instant == Some(true) {
            enters.truncate(1);
        }
        if ready != enter {
            times.require_after(enter, (ready, Time::ZERO));
            // The message waits no longer than all others are under way one after the other, so that no two
            // messages wait for each other.
            let lasts = |message: &SettledMessage| message.max_latency + 2 * message.stream;
            let of_all: Time = match self.has_long_messages {
                true => messages.iter().map(lasts).sum(),
                false => conflicts.iter().map(|conflict| lasts(&messages[conflict.other])).sum(),
            };
            times.require_within(enter, vec![(ready, of_all + wait)]);
            times.require_within(enter, enters);
            if arrives.len() > 1 {
                times.require_within(arrival, vec![(enter, under_way + of_all)]);
            }
        }
        times.require_within(arrival, arrives);
    }

    /// Adds the order of a message and one of its conflicts, if the order is assumed.
    fn add_pair(
        &self,
        times: &mut TimeConstraints,
        assumptions: &Assumptions,
        message: usize,
        number: usize,
    ) {
        let Some(pair) = assumptions.pair(message, number) else { return };
        let conflict = self.conflicts[message][number];
        let (first, second) =
            if pair == PairOrder::Before { (message, conflict.other) } else { (conflict.other, message) };
        let [first_ready, second_ready] = [first, second].map(|message| self.constraints.vars[message].ready);
        times.require_after(second_ready, (first_ready, self.tie_margin(first, second)));
        // The constraint that this message comes no earlier than the other is gone, and the reverse.
        let [behind, ahead] = self.separations(message, conflict);
        match pair {
            PairOrder::After => times.require_after(behind.0, behind.1),
            PairOrder::Beside if !conflict.resource.is_room() => times.require_after(ahead.0, ahead.1),
            _ => (),
        }
        if pair == PairOrder::After && !conflict.resource.is_room() {
            // The message does not fit in before the other.
            let is_before_entry = conflict.resource.is_before_entry();
            let MessageVars { ready, enter, .. } = self.constraints.vars[message];
            let SettledMessage { stream, max_latency, .. } = self.constraints.prefix.messages[message];
            let first = if is_before_entry { (ready, Time::ZERO) } else { (enter, stream + max_latency) };
            let others = self.may_be_behind(assumptions, message, is_before_entry);
            let others = others.filter(|(other, _)| *other != number).map(|(_, term)| term);
            let by = ahead.1.1 - PS;
            let within = [first].into_iter().chain(others).map(|(what, at)| (what, at + by));
            times.require_within(ahead.0, within.collect());
        }
    }

    /// Returns the conflicts that a message may have to wait for before it enters, or after, each with the
    /// term for which it then waits.
    fn may_be_behind(
        &self,
        assumptions: &Assumptions,
        message: usize,
        is_before_entry: bool,
    ) -> impl Iterator<Item = (usize, Term)> {
        let conflicts = self.conflicts[message].iter().enumerate().filter(move |(number, conflict)| {
            conflict.resource.is_before_entry() == is_before_entry
                && matches!(assumptions.pair(message, *number), None | Some(PairOrder::After))
        });
        conflicts.map(move |(number, conflict)| (number, self.separations(message, *conflict)[0].1))
    }

    /// Adds that the messages which are under way beside a message leave after those that are gone by then.
    fn add_departures(&self, times: &mut TimeConstraints, assumptions: &Assumptions, message: usize) {
        let arrivals = |resource: SharedResource, pair: PairOrder| {
            let conflicts = self.conflicts[message].iter().enumerate().filter(move |(number, conflict)| {
                conflict.resource == resource && assumptions.pair(message, *number) == Some(pair)
            });
            conflicts.map(|(_, conflict)| self.constraints.vars[conflict.other].arrival)
        };
        for resource in [SharedResource::To, SharedResource::From] {
            for stays in arrivals(resource, PairOrder::Beside) {
                arrivals(resource, PairOrder::After)
                    .for_each(|gone| times.require_after(stays, (gone, Time::ZERO)));
            }
        }
    }

    /// Returns the constraint that a message waits for its conflict, and the reverse one: each is a variable
    /// and its lower bound.
    fn separations(&self, message: usize, Conflict { other, resource }: Conflict) -> [(usize, Term); 2] {
        let [own, its] = [message, other].map(|message| self.constraints.vars[message]);
        let [own_stream, its_stream] =
            [message, other].map(|message| self.constraints.prefix.messages[message].stream);
        let both = own_stream + its_stream;
        match resource {
            SharedResource::To | SharedResource::From => {
                [(own.enter, (its.arrival, Time::ZERO)), (its.enter, (own.arrival, Time::ZERO))]
            }
            SharedResource::Out => [(own.enter, (its.arrival, Time::ZERO)), (its.arrival, (own.enter, both))],
            SharedResource::In => [(own.arrival, (its.enter, both)), (its.enter, (own.arrival, Time::ZERO))],
            SharedResource::BothIn => {
                [(own.arrival, (its.arrival, own_stream)), (its.arrival, (own.arrival, its_stream))]
            }
        }
    }

    /// Returns how much later than a message the next one to be served must be ready. Of two processors any
    /// may go first at the same moment; one processor's messages go in their order.
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
        let sender = |message: usize| self.constraints.prefix.messages[message].id.from;
        let ready = |message: usize| times[self.constraints.vars[message].ready];
        // For each moment, the pairs of processors that must go in order.
        let mut pairs: BTreeMap<Time, OrderedPairs> = BTreeMap::new();
        for ((message, number), pair) in &assumptions.pairs {
            let other = self.conflicts[*message][*number].other;
            let (first, second) =
                if *pair == PairOrder::Before { (*message, other) } else { (other, *message) };
            let ids = (sender(first), sender(second));
            if ready(first) == ready(second) && ids.0 != ids.1 {
                pairs.entry(ready(first)).or_default().insert(ids, (first, second));
            }
        }
        pairs.retain(|_, pairs| !pairs.keys().all(|(first, second)| first < second));
        let mut precedence = Precedence::new();
        for (time, pairs) in pairs {
            let asking = (0..self.conflicts.len()).filter(|message| ready(*message) == time).map(sender);
            // A processor's turn comes before it asks.
            let turn = self.network.turn_time(&Departure::when_ready(time, Time::ZERO, Time::ZERO));
            precedence.insert(turn, sorted_by_pairs(asking.collect(), &pairs)?);
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
        first_difference(self.constraints, &self.network, &ties, times)
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
            let stream = self.constraints.prefix.messages[message].stream;
            match resource {
                SharedResource::To | SharedResource::From => (times[enter], times[arrival]),
                SharedResource::Out => (times[enter], times[enter] + stream),
                SharedResource::In | SharedResource::BothIn => (times[arrival] - stream, times[arrival]),
            }
        };
        let own = span(message, resource);
        let own = if self.has_long_messages || !resource.is_room() { own } else { (own.0, own.0 + PS) };
        [own, span(other, resource.mirrored())]
    }

    /// Returns the open conflict that explains best why a message enters or arrives at another time on the
    /// machine: the one whose need for the resource ends last, of those that are in the way. With long
    /// messages any may be the reason.
    fn conflict_to_decide(
        &self,
        assumptions: &Assumptions,
        times: &[Time],
        message: usize,
        passage: Passage,
    ) -> Option<(usize, Conflict)> {
        let MessageVars { enter, arrival, .. } = self.constraints.vars[message];
        let enters_as_solved = times[enter] == passage.enter;
        let (is_late, from) = match enters_as_solved {
            true => {
                let begin = passage.arrival - self.constraints.prefix.messages[message].stream;
                (passage.arrival > times[arrival], begin)
            }
            false => (passage.enter > times[enter], passage.enter),
        };
        let matters = |conflict: Conflict| {
            let [own, its] = self.spans(times, message, conflict);
            conflict.resource.is_before_entry() != enters_as_solved
                && if is_late { its.0 < own.1 && own.0 < its.1 } else { its.1 > from }
        };
        let conflicts = self.conflicts[message].iter().copied().enumerate();
        conflicts
            .filter(|(number, _)| assumptions.pair(message, *number).is_none())
            .filter(|(_, conflict)| self.has_long_messages || matters(*conflict))
            .max_by_key(|(_, conflict)| (matters(*conflict), self.spans(times, message, *conflict)[1].1))
    }

    /// Returns the possibilities for a message that enters or arrives at another time on the machine.
    fn branches(
        &self,
        assumptions: &Assumptions,
        times: &[Time],
        message: usize,
        passage: Passage,
    ) -> Vec<Assumptions> {
        let SettledMessage { stream, capacity, .. } = self.constraints.prefix.messages[message];
        let can_be_instant = stream == Time::ZERO;
        let mut branches = Vec::new();
        if can_be_instant && !assumptions.instant.contains_key(&message) {
            let mut branch = assumptions.clone();
            branch.instant.insert(message, true);
            branches.push(branch);
        }
        let conflict = self.conflict_to_decide(assumptions, times, message, passage);
        let Some((number, Conflict { other, resource })) = conflict else { return branches };
        let is_beside = |(number, conflict): &(usize, &Conflict)| {
            conflict.resource == resource && assumptions.pair(message, *number) == Some(PairOrder::Beside)
        };
        let beside = self.conflicts[message].iter().enumerate().filter(is_beside).count();
        let has_room = !resource.is_room() || beside + 1 < capacity;
        let mirrored = Conflict { other: message, resource: resource.mirrored() };
        let mirrored = self.conflicts[other].iter().position(|conflict| *conflict == mirrored);
        let orders = [PairOrder::Beside, PairOrder::Before, PairOrder::After];
        for pair in orders.into_iter().filter(|pair| has_room || *pair != PairOrder::Beside) {
            let mut branch = assumptions.clone();
            if can_be_instant {
                branch.instant.insert(message, false);
            }
            branch.pairs.insert((message, number), pair);
            if let Some(number) = mirrored.filter(|_| pair != PairOrder::Before) {
                branch.pairs.insert((other, number), PairOrder::Before);
            }
            branches.push(branch);
        }
        branches
    }
}

/// Returns whether the capacity limits a message of a prefix.
fn has_capacity(prefix: &Prefix) -> bool {
    prefix.messages.iter().any(|message| message.capacity < usize::MAX)
}

/// Sorts processors so that the first of each pair goes before the second. In a cycle, the error has the
/// messages of the pairs of which neither processor can go next.
fn sorted_by_pairs(
    mut left: BTreeSet<usize>,
    pairs: &OrderedPairs,
) -> Result<Vec<usize>, Vec<(usize, usize)>> {
    let mut sorted = Vec::new();
    while !left.is_empty() {
        let is_free =
            |id: &&usize| !pairs.keys().any(|(first, second)| second == *id && left.contains(first));
        let Some(id) = left.iter().find(is_free).copied() else {
            let is_left = |(first, second): &(usize, usize)| left.contains(first) && left.contains(second);
            return Err(pairs.iter().filter(|(ids, _)| is_left(ids)).map(|(_, pair)| *pair).collect());
        };
        left.remove(&id);
        sorted.push(id);
    }
    Ok(sorted)
}
