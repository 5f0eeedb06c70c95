//! Audits the reasons of waits.
//!
//! A message asks for its way when it is ready, or when it would arrive if a negative G_l makes that earlier.
//! The message that asks first is served first; of several at the same moment, the one whose sender comes
//! first in place. A message may wait only for what was promised to messages served before it: its own end of
//! the network or its receiver's is full, or a port is taken. So this module goes through the messages in the
//! order in which they are served, and compares each with the promises made before, according to the trace.
//! It finds messages that enter too late. A message that enters too early takes the place of another, which
//! `messages.rs` finds.

use std::collections::{HashMap, HashSet};

use loggp_model::time::Time;

use super::auditor::{AuditRule, Auditor, broken};
use super::flight::{Flight, NetworkResource, SendTimes};
use super::promises::{PromisedResource, PromisedResources};
use crate::{ActivityKind, Message, Trace};

/// The resources that a message needs; a resource at which nothing is ever promised is `None`.
struct Route<'a> {
    flight: &'a Flight<'a>,
    ends: [Option<&'a PromisedResource>; 2],
    egress: Option<&'a PromisedResource>,
    ingress: Option<&'a PromisedResource>,
    /// `true` if a processor with a single port sends itself a long message: the port must send the whole
    /// message before it receives the first word.
    is_to_itself: bool,
}

impl Auditor<'_> {
    /// Compares each message's waits with what was promised to messages that asked before it. Runs in which
    /// the host let acts happen out of order are left out, since the order of asking is unknown.
    pub(super) fn audit_waits(&mut self) {
        if self.trace.out_of_order > 0 {
            return;
        }
        let mut served: Vec<Flight> = self.order.iter().map(|index| self.flights[*index]).collect();
        served.sort_by_key(service_time);
        let occupancies = served.iter().flat_map(|flight| flight.occupancies());
        let mut promised = PromisedResources::new(occupancies, |resource| self.promised_capacity(resource));
        let free = free_barriers(self.trace);
        let levels = self.trace.levels.iter().map(|level| level.params.o);
        let least_o = levels.fold(self.trace.params.o, Time::min);
        let left = times_left(&served);
        for at_once in served.chunk_by(|a, b| service_time(a) == service_time(b)) {
            // If the trace does not determine the order of these messages, each may have been served before
            // all others, or after them.
            // One that found no room at its turn, the least o before it was ready, may be admitted only when it is.
            let has_stalled = |flight: &Flight| {
                let admitted = flight.admitted();
                let is_left =
                    |end| left.get(&end).is_some_and(|times| has_within(times, admitted - least_o, admitted));
                flight.lasts_until_received()
                    && (admitted > flight.ready() || flight.ends().into_iter().any(is_left))
            };
            let chained = at_once.iter().any(has_stalled) || can_be_chained(at_once, &free, least_o);
            for group in at_once.chunks(if chained { at_once.len() } else { 1 }) {
                let least =
                    |flight: &Flight| self.route(flight, &promised).earliest_admission(stall_start(flight));
                let least: Vec<Time> = group.iter().map(least).collect();
                let promise = |promised: &mut PromisedResources| {
                    let occupancies = group.iter().flat_map(|flight| flight.occupancies());
                    occupancies.for_each(|stay| promised.promise(stay));
                };
                if chained {
                    promise(&mut promised);
                }
                for (flight, least) in group.iter().zip(least) {
                    self.audit_wait(&self.route(flight, &promised), least);
                }
                if !chained {
                    promise(&mut promised);
                }
            }
        }
    }

    /// Returns the most messages to which a resource can be promised at once. Where a message is in transit until it
    /// is received, its end is unknown when it enters, and `rooms.rs` audits the stalls.
    fn promised_capacity(&self, resource: NetworkResource) -> usize {
        match !resource.is_port() && self.trace.capacity.lasts_until_received() {
            true => usize::MAX,
            false => self.capacity(resource),
        }
    }

    /// Returns the route of a message.
    fn route<'a>(&self, flight: &'a Flight, promised: &'a PromisedResources) -> Route<'a> {
        let ports = flight.ports;
        let [egress, ingress] = ports.map(|port| promised.at(port).filter(|_| flight.stream > Time::ZERO));
        let [from, to] = flight.ends();
        let ends = [promised.at(from).filter(|_| !flight.is_read), promised.at(to)];
        Route {
            flight,
            ends,
            egress,
            ingress,
            is_to_itself: flight.stream > Time::ZERO && ports[0] == ports[1],
        }
    }

    /// Compares a message's waits with its route. `least` is the earliest moment at which its stall can have
    /// ended.
    fn audit_wait(&mut self, route: &Route, least: Time) {
        let Flight { message, stream, sent, not_before, .. } = *route.flight;
        let &Message { id, to, enter, first, arrival, .. } = message;
        let (out, keeps_order) = (route.earliest_first_word(enter), not_before.is_some());
        let ahead = not_before.map_or(arrival, |moment| moment + stream);
        broken!(self, "{id} to {to}",
            not_before.is_some_and(|moment| first < moment) => AuditRule::Order,
                "is there at {arrival}, and one before it at {ahead}";
            first > out && (stream > Time::ZERO || keeps_order) => AuditRule::Latency,
                "enters at {enter} and arrives from {first} on, and there was room at {out}";
        );
        let Some(SendTimes { ready, admitted, entered, .. }) = sent else { return };
        let most = route.earliest_admission(least);
        // Nobody waits until a memory's answer is admitted, so the trace does not say when that was.
        let admitted = if route.flight.memory.is_some() { most } else { admitted };
        let early = admitted < least && least <= entered;
        let soonest = route.earliest_entry(most);
        broken!(self, "{id} to {to}",
            admitted > most => AuditRule::Stall, "stalls from {ready} to {admitted}, and there was room at {most}";
            early => AuditRule::Stall, "stalls from {ready} to {admitted}, and there was no room before {least}";
            admitted <= most && !early && entered > soonest => AuditRule::Wait,
                "waits for a port until {entered}, and could enter at {soonest}";
        );
    }
}

/// Returns, for each end of the network, when the messages that were received left it, in the order of time.
fn times_left(flights: &[Flight]) -> HashMap<NetworkResource, Vec<Time>> {
    let mut left: HashMap<NetworkResource, Vec<Time>> = HashMap::new();
    for flight in flights.iter().filter(|flight| flight.lasts_until_received()) {
        flight.ends().into_iter().for_each(|end| left.entry(end).or_default().push(flight.transit().1));
    }
    left.values_mut().for_each(|times| times.sort_unstable());
    left
}

/// Returns whether one of these sorted times is from `least` to `most`.
fn has_within(times: &[Time], least: Time, most: Time) -> bool {
    times.get(times.partition_point(|time| *time < least)).is_some_and(|time| *time <= most)
}

/// Returns the ends of barriers that cost nothing. A processor that leaves such a barrier may act after other
/// processors of the same moment, whatever their numbers.
fn free_barriers(trace: &Trace) -> HashSet<Time> {
    let free = trace.barrier == Some(Time::ZERO);
    let barriers = trace.activities.iter().filter(|activity| free && activity.kind == ActivityKind::Barrier);
    barriers.map(|activity| activity.end).collect()
}

/// Returns the time at which the network serves a message: when it asks, or when it is admitted where it is in
/// transit until it is received.
fn service_time(flight: &Flight) -> Time {
    if flight.lasts_until_received() { flight.admitted() } else { flight.asked_at() }
}

/// Returns the start of the stall that is compared with what was promised.
fn stall_start(flight: &Flight) -> Time {
    if flight.lasts_until_received() { flight.admitted() } else { flight.ready() }
}

/// Returns whether some of the messages that ask at one moment may have caused others of them: then the
/// caused ones are served later, whatever the numbers of their senders. A processor that leaves a barrier and
/// sends asks o later.
fn can_be_chained(at_once: &[Flight], free: &HashSet<Time>, least_o: Time) -> bool {
    let Some(first) = at_once.first() else { return false };
    let no_time = |flight: &Flight| {
        let Message { id, to, arrival, .. } = *flight.message;
        arrival <= flight.asked_at() && id.from != to
    };
    // A processor decides the order of its messages the least o before they ask. What it begins no earlier may follow on
    // another one, and the number of a message that it reads does not say which came first.
    let mut acts: HashMap<_, (usize, bool, bool)> = HashMap::new();
    for flight in at_once {
        let (count, reads, is_late) = acts.entry(flight.message.place).or_default();
        let begun = flight.sent.filter(|_| flight.memory.is_none()).map(|sent| sent.begun);
        *count += 1;
        *reads |= flight.is_read;
        *is_late |= begun.is_some_and(|begun| begun + least_o >= flight.asked_at());
    }
    let reads_beside = acts.values().any(|(count, reads, is_late)| *count > 1 && *reads && *is_late);
    let several = at_once.iter().any(|flight| flight.message.id.from != first.message.id.from);
    let leaves = free.contains(&first.asked_at())
        || at_once.iter().any(|flight| free.contains(&(first.asked_at() - flight.params.o)));
    // A trace does not say which of two messages of one number, from several senders, a processor reads first.
    let key = |flight: &Flight| (flight.is_read, flight.message.place, flight.message.id.number);
    let are_alike = at_once.windows(2).any(|two| two[0].is_read && key(&two[0]) == key(&two[1]));
    reads_beside || several && (leaves || are_alike || at_once.iter().any(no_time))
}

impl Route<'_> {
    /// Returns the time at which the first word comes out of the network if the message enters at `enter`.
    fn earliest_first_word(&self, enter: Time) -> Time {
        let Flight { message, stream, not_before, .. } = *self.flight;
        let latency = if self.is_to_itself { message.latency.max(stream) } else { message.latency };
        let soonest = not_before.map_or(enter + latency, |moment| moment.max(enter + latency));
        self.ingress.map_or(soonest, |port| port.earliest_fit(soonest, stream))
    }

    /// Returns the earliest moment, not before `from`, at which both ends of the network have room for the
    /// message.
    fn earliest_admission(&self, from: Time) -> Time {
        let ends = || self.ends.iter().flatten();
        let Flight { message, stream, .. } = *self.flight;
        let beyond = self.flight.beyond_arrival();
        let shortest = message.latency + stream + beyond; // nothing or less if it is never in transit
        let mut enter = from;
        loop {
            let fit = ends().fold(enter, |enter, end| end.earliest_fit(enter, shortest));
            if fit > enter {
                enter = fit;
                continue;
            }
            let leave = self.earliest_first_word(enter) + stream + beyond;
            if leave <= enter + shortest {
                return enter;
            }
            // The receiver's port keeps the message in transit for longer than `shortest`. Entering later
            // would not make it arrive earlier; so it cannot enter before the last full moment of this
            // transit is over.
            match ends().filter_map(|end| end.full_until(enter, leave)).max() {
                Some(over) => enter = over,
                None => return enter,
            }
        }
    }

    /// Returns the earliest moment at which the message can enter, if both ends have room at `admitted` and
    /// not before.
    fn earliest_entry(&self, admitted: Time) -> Time {
        let mut enter = admitted;
        loop {
            let port = self.egress.map_or(enter, |port| port.earliest_fit(enter, self.flight.stream));
            if port == enter {
                return enter;
            }
            enter = self.earliest_admission(port);
        }
    }
}
