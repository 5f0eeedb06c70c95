//! Whether every message goes its own way, and no place on it holds too many.

use std::collections::HashMap;

use super::auditor::{Auditor, Rule, broken};
use super::flight::{Flight, Place, Sent};
use crate::message::MessageId;
use crate::params::Latency;
use crate::time::Time;
use crate::trace::{ActivityKind, Message};

impl Auditor<'_> {
    /// Messages have the names that they should have, each one its own.
    pub(super) fn name_messages(&mut self) {
        let mut before: Option<MessageId> = None;
        for place in 0..self.flights.len() {
            let Message { id, to, .. } = *self.flights[place].message;
            let (P, again) = (self.trace.params.P, before == Some(id));
            let of_same = before.filter(|before| before.from == id.from);
            let next = of_same.map_or(0, |before| before.number.saturating_add(1));
            let crash = self.trace.faults.crashed.get(&id.from).copied();
            broken!(self, "{id}",
                again => Rule::Names, "was sent twice";
                crash.is_some_and(|crash| id.number >= crash) => Rule::Names,
                    "is sent after its sender crashed";
                !again && crash.is_none() && id.number != next => Rule::Names,
                    "follows when number {next} is next";
                id.from.max(to) >= P => Rule::Names, "goes to {to}, and there are {P} processors";
            );
            before = Some(id);
        }
        self.flights.dedup_by_key(|flight| flight.message.id);
        let names = self.flights.iter().map(|flight| flight.message.id);
        self.places = names.enumerate().map(|(place, id)| (id, place)).collect();
    }

    /// In which order messages are served, and what comes of that for each: who asks first goes first, and at the same
    /// moment the one whose place is before the other's. So the messages of one processor enter in the order in which
    /// they ask: a request's may do so after one to which the processor turned later.
    pub(super) fn order_messages(&mut self) {
        let mut order: Vec<usize> = (0..self.flights.len()).collect();
        order.sort_unstable_by_key(|place| {
            let flight = &self.flights[*place];
            (flight.ask(), flight.message.place, flight.message.id)
        });
        // From which of its messages on a sender lets none overtake an earlier one: the first that goes by a request.
        let mut in_order: HashMap<usize, usize> = HashMap::new();
        for progress in &self.trace.progress {
            if let ActivityKind::Send(id) = progress.what {
                let first = in_order.entry(id.from).or_insert(id.number);
                *first = id.number.min(*first);
            }
        }
        let of_all = self.trace.params.gps().map(|_| &0);
        if self.trace.calls.is_empty() {
            in_order.extend(self.in_order_throughout(&order).map(|from| (from, 0)));
        }
        let mut gaps: HashMap<usize, Time> = HashMap::new();
        let mut ahead: HashMap<(usize, usize), Time> = HashMap::new();
        for place in &order {
            let flight = &mut self.flights[*place];
            let Message { id, to, enter, arrival, .. } = *flight.message;
            let gap_over = enter + flight.spread.max(Time::ZERO) + flight.params.g;
            flight.gap_over = gaps.insert(id.from, gap_over);
            if let Some(from) = of_all.or(in_order.get(&id.from)) {
                let ahead = ahead.entry((id.from, to)).or_default();
                flight.not_before = (id.number >= *from).then_some(*ahead - flight.spread);
                *ahead = arrival.max(*ahead);
            }
        }
        self.order = order;
    }

    /// The senders none of whose messages overtakes another. A schedule's trace does not say which ranks send by requests; but
    /// who sends by them is among these, and to the others of these it makes no difference.
    fn in_order_throughout(&self, order: &[usize]) -> impl Iterator<Item = usize> + use<> {
        let mut ahead: HashMap<(usize, usize), Time> = HashMap::new();
        let mut keeps_order: HashMap<usize, bool> = HashMap::new();
        for place in order {
            let Message { id, to, arrival, .. } = *self.flights[*place].message;
            let ahead = ahead.entry((id.from, to)).or_insert(arrival);
            *keeps_order.entry(id.from).or_insert(true) &= arrival >= *ahead;
            *ahead = arrival.max(*ahead);
        }
        keeps_order.into_iter().filter_map(|(from, keeps_order)| keeps_order.then_some(from))
    }

    /// Every message's own way, and the distance to the one before.
    pub(super) fn follow_messages(&mut self) {
        let out_of_order = self.trace.out_of_order > 0;
        let all_come = !self.trace.faults.may_leave_messages();
        for id in self.trace.faults.lost.iter().chain(self.trace.faults.twice.keys()) {
            let to = self.find(*id).map(|place| self.flights[place].message.to);
            broken!(self, "{id}",
                to.is_none_or(|to| to == id.from) => Rule::Reception,
                    "was lost or came twice, and went to no other processor";
            );
        }
        for place in 0..self.flights.len() {
            let flight = self.flights[place];
            let Flight { message, spread, received, .. } = flight;
            let L = flight.params.L;
            let shortest = if self.trace.latency == Latency::Exact { L } else { Time::ZERO };
            let &Message { id, to, latency, enter, first, arrival, .. } = message;
            let soonest = enter + latency;
            // One that waits for the port, or for one before it, may come out later; then `judge_waits` looks why.
            let late = first > soonest && spread <= Time::ZERO && flight.not_before.is_none();
            // The gap comes before the overhead's end, and not after it as the stall does.
            let (ready, over) = (flight.ready(), flight.gap_over.unwrap_or(flight.ready()));
            broken!(self, "{id}",
                ready < over => Rule::Gap, "is ready at {ready}, and the gap before it ends at {over}";
                latency < shortest || latency > L || first < soonest || late => Rule::Latency,
                    "enters at {enter} and comes out at {first}, {latency} being drawn, and L = {L}";
                arrival != first + spread => Rule::Stream,
                    "comes out from {first} to {arrival}, and that takes {spread}";
                all_come && received == 0 => Rule::Reception, "to {to}, there at {arrival}, is never received";
            );
            let Some(Sent { begun, admitted, entered, .. }) = flight.sent else {
                if self.trace.faults.crashed.contains_key(&id.from) {
                    continue; // a request sent it, and its sender crashed before it waited for that
                }
                self.report(Rule::Overhead, format!("{id} enters at {enter}, and nobody sent it"));
                continue;
            };
            // If nobody knows who asked first, there must at least be something to wait for.
            let stalls = admitted > ready && self.capacities[flight.level].is_none();
            let waits = entered > admitted && spread <= Time::ZERO;
            broken!(self, "{id}",
                arrival < begun => Rule::Causality, "arrives at {arrival}, and its send began at {begun}";
                stalls && out_of_order => Rule::Stall, "stalls until {admitted}, without a capacity";
                waits && out_of_order => Rule::Wait, "waits for a port until {entered}, and needs none";
            );
        }
    }

    /// How many messages a place holds at once.
    pub(super) fn capacity(&self, place: Place) -> usize {
        if let Place::Port(..) = place { 1 } else { self.capacities[place.level()].unwrap_or(usize::MAX) }
    }

    /// No place holds more messages at once than it can. Returns the most in transit from a processor, and to one.
    pub(super) fn count_messages(&mut self) -> [usize; 2] {
        let mut changes = Vec::new();
        for flight in &self.flights {
            for (place, start, end) in flight.stays() {
                let id = flight.message.id;
                changes.extend([(place, start, true, id), (place, end, false, id)]);
            }
        }
        changes.sort_unstable(); // at the same time a message leaves before another comes
        let (mut from, mut to) = (0, 0);
        for at_one in changes.chunk_by(|a, b| a.0 == b.0) {
            let place = at_one[0].0;
            let capacity = self.capacity(place);
            let (rule, most) = match place {
                Place::From(..) => (Rule::Capacity, &mut from),
                Place::To(..) => (Rule::Capacity, &mut to),
                Place::Port(..) => (Rule::Port, &mut 0),
            };
            let mut now = 0;
            for &(_, time, comes, id) in at_one {
                if !comes {
                    now -= 1;
                    continue;
                }
                now += 1;
                *most = now.max(*most);
                broken!(self, "{id}",
                    now == capacity.saturating_add(1) => rule, "is {place} from {time}, one above {capacity}";
                );
            }
        }
        [from, to]
    }
}
