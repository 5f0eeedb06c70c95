//! Audits stalls where a message is in transit until it is received.
//!
//! A message that finds no room stalls until there is some at both of its ends, and room goes to the message
//! that asked first of those that can take it. So at every moment of a stall one of the two ends is full; and a
//! message to the same receiver that asked later is admitted in that time only while the sender's end is full.

use std::collections::{BTreeMap, HashMap, HashSet};

use loggp_model::message::MessageId;
use loggp_model::time::Time;

use super::auditor::{AuditRule, Auditor, broken};
use super::flight::{Flight, NetworkResource, SendTimes};
use crate::Message;

/// The stretches of time in which an end of the network has room, in their order.
type FreeStretches = Vec<(Time, Time)>;

/// The order in which messages ask for room: the time, the sender's place then, and the message.
type AskOrder = (Time, usize, MessageId);

impl Auditor<'_> {
    /// Compares each stall with the room at the ends of the network. Runs in which the host let acts happen out of
    /// order are left out, since the order of asking is unknown.
    pub(super) fn audit_rooms(&mut self) {
        if self.trace.out_of_order > 0 {
            return;
        }
        let free = self.free_stretches();
        let mut to_one: BTreeMap<(usize, usize), Vec<Flight>> = BTreeMap::new();
        let mut stalled_until = HashSet::new();
        for flight in self.flights.clone() {
            let Message { id, to, .. } = *flight.message;
            let Some(SendTimes { ready, admitted, .. }) = flight.sent else { continue };
            let ends = [NetworkResource::From(flight.level, id.from), NetworkResource::To(flight.level, to)];
            let room = earliest_room(flight.asked_at(), ends.map(|end| free.get(&end)));
            broken!(self, "{id} to {to}",
                admitted > room => AuditRule::Stall, "stalls from {ready} to {admitted}, and there was room at {room}";
            );
            to_one.entry((flight.level, to)).or_default().push(flight);
            if admitted > ready {
                stalled_until.insert((id.from, admitted));
            }
        }
        for flights in to_one.values_mut() {
            self.audit_order_of_admission(flights, &free, &stalled_until);
        }
    }

    /// Audits that of the messages to one receiver none is admitted before one that asked earlier and could have
    /// been.
    fn audit_order_of_admission(
        &mut self,
        flights: &mut [Flight],
        free: &HashMap<NetworkResource, FreeStretches>,
        stalled_until: &HashSet<(usize, Time)>,
    ) {
        let asked =
            |flight: &Flight| -> AskOrder { (flight.asked_at(), flight.message.place, flight.message.id) };
        flights.sort_by_key(asked);
        let mut earlier: BTreeMap<(Time, MessageId), Flight> = BTreeMap::new();
        for flight in flights {
            let (id, admitted) = (flight.message.id, flight.admitted());
            let last = MessageId { from: usize::MAX, number: usize::MAX };
            for ((_, waiting), other) in earlier.range((admitted, last)..) {
                // Acts that take no time may follow each other at one moment in any order of places, and so
                // may those of a sender whose message before has stalled until then.
                let takes_time = other.params.o.min(flight.params.o) > Time::ZERO;
                let has_waited = stalled_until.contains(&(waiting.from, other.asked_at()));
                let is_before = other.asked_at() < flight.asked_at() || takes_time && !has_waited;
                let end = free.get(&NetworkResource::From(other.level, waiting.from));
                // At a moment at which messages come and go, the end may have been full at first.
                let has_room = is_before && end.is_none_or(|end| is_free_around(end, admitted));
                broken!(self, "{id}",
                    has_room => AuditRule::Stall, "is admitted at {admitted}, and {waiting} asked first";
                );
            }
            earlier.insert((admitted, id), *flight);
        }
    }

    /// Returns when the ends of the network have room, without those that always have.
    fn free_stretches(&self) -> HashMap<NetworkResource, FreeStretches> {
        let mut changes: BTreeMap<NetworkResource, Vec<(Time, bool)>> = BTreeMap::new();
        for (resource, start, end) in self.flights.iter().flat_map(Flight::occupancies) {
            if !resource.is_port() && self.capacity(resource) < usize::MAX {
                changes.entry(resource).or_default().extend([(start, true), (end, false)]);
            }
        }
        let stretches = |(resource, mut changes): (NetworkResource, Vec<(Time, bool)>)| {
            changes.sort_unstable(); // at the same time a message leaves before another comes
            let (mut count, mut free_from, mut free) = (0, Some(Time::from_ps(i64::MIN)), Vec::new());
            for (time, comes) in changes {
                count = if comes { count + 1 } else { count - 1 };
                match (count >= self.capacity(resource), free_from) {
                    (true, Some(from)) => {
                        free.extend((from < time).then_some((from, time)));
                        free_from = None;
                    }
                    (false, None) => free_from = Some(time),
                    _ => {}
                }
            }
            free.extend(free_from.map(|from| (from, Time::MAX)));
            (resource, free)
        };
        changes.into_iter().map(stretches).collect()
    }
}

/// Returns the earliest moment, not before `from`, at which two ends have room at once; an end that always has
/// is `None`.
fn earliest_room(from: Time, ends: [Option<&FreeStretches>; 2]) -> Time {
    let mut moment = from;
    loop {
        let before = moment;
        for free in ends.into_iter().flatten() {
            let next = free.partition_point(|(_, end)| *end <= moment);
            moment = free.get(next).map_or(Time::MAX, |(start, _)| moment.max(*start));
        }
        if moment == before {
            return moment;
        }
    }
}

/// Returns whether an end has room at a moment, and just before that.
fn is_free_around(free: &FreeStretches, moment: Time) -> bool {
    let next = free.partition_point(|(_, end)| *end <= moment);
    free.get(next).is_some_and(|(start, _)| *start < moment)
}
