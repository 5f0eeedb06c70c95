//! Audits the messages' ways through the network, and the number of messages at each resource.

use std::collections::HashMap;

use loggp_model::message::{MessageId, RawTag};
use loggp_model::params::Latency;
use loggp_model::time::Time;

use super::auditor::{AuditRule, Auditor, broken};
use super::flight::{Flight, NetworkResource, SendTimes};
use crate::{ActivityKind, Call, Message};

impl Auditor<'_> {
    /// Audits the messages' ids, and indexes the messages by them.
    pub(super) fn index_messages(&mut self) {
        let mut before: Option<MessageId> = None;
        for index in 0..self.flights.len() {
            let Message { id, to, .. } = *self.flights[index].message;
            let (P, again) = (self.trace.params.P, before == Some(id));
            let of_same = before.filter(|before| before.from == id.from);
            let next = of_same.map_or(0, |before| before.number.saturating_add(1));
            let crash = self.trace.faults.crashed.get(&id.from).copied();
            broken!(self, "{id}",
                again => AuditRule::Names, "was sent twice";
                crash.is_some_and(|crash| id.number >= crash) => AuditRule::Names,
                    "is sent after its sender crashed";
                !again && crash.is_none() && id.number != next => AuditRule::Names,
                    "follows when number {next} is next";
                id.from.max(to) >= P => AuditRule::Names, "goes to {to}, and there are {P} processors";
            );
            before = Some(id);
        }
        self.flights.dedup_by_key(|flight| flight.message.id);
        let names = self.flights.iter().map(|flight| flight.message.id);
        self.indices = names.enumerate().map(|(index, id)| (id, index)).collect();
    }

    /// Sorts the messages by the order in which they are served: the one that asks first goes first, and at
    /// the same moment the one whose place comes first. Then derives from that order the gap before each
    /// message, and the messages that it may not overtake. The messages of one processor enter in the order
    /// in which they ask, so a request's may enter after one that the processor began to send later.
    pub(super) fn order_messages(&mut self) {
        let mut order: Vec<usize> = (0..self.flights.len()).collect();
        order.sort_unstable_by_key(|index| {
            let flight = &self.flights[*index];
            let MessageId { from, number } = flight.message.id;
            (flight.asked_at(), flight.message.place, number, from)
        });
        // For each sender that has requests to send, its first message by one: from that on none overtakes
        // another.
        let mut in_order: HashMap<usize, usize> = HashMap::new();
        for progress in &self.trace.progress {
            if let ActivityKind::Send(id) = progress.kind {
                let first = in_order.entry(id.from).or_insert(id.number);
                *first = id.number.min(*first);
            }
        }
        let is_of_mpi =
            |call: &Call| call.kind.tag().is_some_and(|tag| RawTag::from_number(tag.number).is_scoped());
        let all_keep_order = self.trace.params.gps().is_some() || self.trace.calls.iter().any(is_of_mpi);
        let of_all = all_keep_order.then_some(&0);
        if self.trace.calls.is_empty() {
            in_order.extend(self.senders_in_order(&order).map(|from| (from, 0)));
        }
        let mut gaps: HashMap<usize, Time> = HashMap::new();
        let mut ahead: HashMap<(usize, usize), Time> = HashMap::new();
        for index in &order {
            let flight = &mut self.flights[*index];
            if flight.is_read || flight.memory.is_some() {
                continue; // no processor sends it
            }
            let Message { id, to, enter, arrival, .. } = *flight.message;
            let gap_over = enter + flight.stream.max(Time::ZERO) + flight.params.g;
            flight.gap_over = gaps.insert(id.from, gap_over);
            if let Some(from) = of_all.or(in_order.get(&id.from)) {
                let ahead = ahead.entry((id.from, to)).or_default();
                flight.not_before = (id.number >= *from).then_some(*ahead - flight.stream);
                *ahead = arrival.max(*ahead);
            }
        }
        self.order = order;
    }

    /// Returns the senders whose messages never overtake each other. The trace of a schedule does not have
    /// the ranks that send by requests; but they are among these senders, and for the others of these the
    /// rule makes no difference.
    fn senders_in_order(&self, order: &[usize]) -> impl Iterator<Item = usize> + use<> {
        let mut ahead: HashMap<(usize, usize), Time> = HashMap::new();
        let mut keeps_order: HashMap<usize, bool> = HashMap::new();
        for index in order {
            let Message { id, to, arrival, .. } = *self.flights[*index].message;
            let ahead = ahead.entry((id.from, to)).or_insert(arrival);
            *keeps_order.entry(id.from).or_insert(true) &= arrival >= *ahead;
            *ahead = arrival.max(*ahead);
        }
        keeps_order.into_iter().filter_map(|(from, keeps_order)| keeps_order.then_some(from))
    }

    /// Audits each message's way, and the gap to the one before.
    pub(super) fn audit_messages(&mut self) {
        let out_of_order = self.trace.out_of_order > 0;
        let all_come = !self.trace.faults.may_leave_messages();
        for id in self.trace.faults.lost.iter().chain(self.trace.faults.twice.keys()) {
            let to = self.index_of(*id).map(|index| self.flights[index].message.to);
            broken!(self, "{id}",
                to.is_none_or(|to| to == id.from) => AuditRule::Reception,
                    "was lost or came twice, and went to no other processor";
            );
        }
        for index in 0..self.flights.len() {
            let flight = self.flights[index];
            let Flight { message, stream, received, .. } = flight;
            let L = flight.params.L;
            let shortest = if self.trace.latency == Latency::Exact { L } else { Time::ZERO };
            let &Message { id, to, latency, enter, first, arrival, .. } = message;
            let soonest = enter + latency;
            // A message that waits for a port, or for one before it, may come out later; `audit_waits` audits
            // why.
            let late = first > soonest && stream <= Time::ZERO && flight.not_before.is_none();
            // A gap ends before the overhead does, while a stall comes after it.
            let (ready, over) = (flight.ready(), flight.gap_over.unwrap_or(flight.ready()));
            broken!(self, "{id}",
                ready < over => AuditRule::Gap, "is ready at {ready}, and the gap before it ends at {over}";
                latency < shortest || latency > L || first < soonest || late => AuditRule::Latency,
                    "enters at {enter} and arrives from {first} on, with a drawn latency of {latency}, and L = {L}";
                arrival != first + stream => AuditRule::Stream,
                    "arrives from {first} to {arrival}, which should take {stream}";
                flight.is_one_sided && received > 0 => AuditRule::Reception, "goes to a memory, and {to} receives it";
                all_come && received == 0 && !flight.is_one_sided => AuditRule::Reception, "to {to}, there at {arrival}, is never received";
            );
            let Some(SendTimes { begun, admitted, entered, .. }) = flight.sent else {
                if self.trace.may_have_stopped(id.from) {
                    continue; // a request sent it, and its sender crashed before it waited for that
                }
                self.report(AuditRule::Overhead, format!("{id} enters at {enter}, and nobody sent it"));
                continue;
            };
            // If the order of asking is unknown, there must at least be something to wait for.
            let stalls = admitted > ready && self.capacities[flight.level].is_none();
            let waits = entered > admitted && stream <= Time::ZERO;
            broken!(self, "{id}",
                arrival < begun => AuditRule::Causality, "arrives at {arrival}, and its send began at {begun}";
                stalls && out_of_order => AuditRule::Stall, "stalls until {admitted}, without a capacity";
                waits && out_of_order => AuditRule::Wait, "waits for a port until {entered}, and needs none";
            );
        }
    }

    /// Returns the most messages that a resource can hold at once.
    pub(super) fn capacity(&self, resource: NetworkResource) -> usize {
        if resource.is_port() { 1 } else { self.capacities[resource.level()].unwrap_or(usize::MAX) }
    }

    /// Audits the number of messages at each resource. Returns the most in transit from a processor, and to one.
    pub(super) fn audit_capacity(&mut self) -> [usize; 2] {
        let mut changes = Vec::new();
        for flight in &self.flights {
            for (resource, start, end) in flight.occupancies() {
                let id = flight.message.id;
                changes.extend([(resource, start, true, id), (resource, end, false, id)]);
            }
        }
        changes.sort_unstable(); // at the same time a message leaves before another comes
        let mut most_counted = [0; 2];
        for at_one in changes.chunk_by(|a, b| a.0 == b.0) {
            let resource = at_one[0].0;
            let capacity = self.capacity(resource);
            let rule = if resource.is_port() { AuditRule::Port } else { AuditRule::Capacity };
            let (mut most, mut now) = (0, 0);
            for &(_, time, comes, id) in at_one {
                if !comes {
                    now -= 1;
                    continue;
                }
                now += 1;
                most = now.max(most);
                broken!(self, "{id}",
                    now == capacity.saturating_add(1) => rule, "is {resource} from {time}, one above {capacity}";
                );
            }
            if let Some(end) = resource.counted() {
                most_counted[end] = most.max(most_counted[end]);
            }
        }
        most_counted
    }
}
