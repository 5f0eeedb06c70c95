//! Finds the messages that need the same room at an end of the network, or the same port.

use super::history::History;
use super::prefix::{Prefix, SettledMessage};
use loggp_model::params::Ports;
use loggp_model::time::Time;

/// A conflict of a message with another one over a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Conflict {
    pub other: usize,
    pub resource: SharedResource,
}

/// A resource that two messages need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SharedResource {
    /// Room at the receiver.
    To,
    /// Room at the sender.
    From,
    /// The port through which this message goes out and the other comes in.
    Out,
    /// The port through which this message comes in and the other goes out.
    In,
    /// The port through which both come in.
    BothIn,
}

impl SharedResource {
    /// Returns the same resource as the other message sees it.
    pub(super) fn mirrored(self) -> SharedResource {
        match self {
            SharedResource::Out => SharedResource::In,
            SharedResource::In => SharedResource::Out,
            same => same,
        }
    }

    /// Returns whether a message that waits for the resource enters late, and does not only arrive late.
    pub(super) fn is_before_entry(self) -> bool {
        matches!(self, SharedResource::To | SharedResource::From | SharedResource::Out)
    }

    pub(super) fn is_room(self) -> bool {
        matches!(self, SharedResource::To | SharedResource::From)
    }
}

/// Returns the conflicts for which a message may have to wait, or none if the rules do not give the lengths
/// of all calls.
pub(super) fn conflicts(history: &History, prefix: &Prefix, message: usize) -> Vec<Conflict> {
    let (flights, mut all) = (&prefix.messages, Vec::new());
    let flight = &flights[message];
    if flight.entry_delay.is_some() || !prefix.is_exact {
        return all;
    }
    // Without long messages, those of the same processor are never in conflict: its gaps leave room.
    let is_long = prefix.has_long_messages();
    let (single, needs_room) = (history.trace.ports == Ports::Single, flight.capacity < usize::MAX);
    // A message that was taken before the other is sent is not in its way.
    let is_over = |one: &SettledMessage, other: &SettledMessage| {
        one.taken_by.is_some_and(|taken| taken != other.call && history.calls.is_after(other.call, taken))
    };
    for (other, its) in flights.iter().enumerate() {
        let is_elsewhere = its.room.1 != flight.room.1;
        if other == message || is_elsewhere || is_over(flight, its) || is_over(its, flight) {
            continue;
        }
        let own = its.id.from == flight.id.from;
        let is_earlier = !own || its.id.number < flight.id.number;
        let same_receiver = its.room == flight.room && is_earlier;
        let port = flight.stream > Time::ZERO && its.stream > Time::ZERO;
        let needs = [
            (SharedResource::To, needs_room && same_receiver && (!own || flight.capacity > 1 || is_long)),
            (SharedResource::From, needs_room && is_long && own && is_earlier),
            (SharedResource::Out, port && single && its.room.0 == flight.id.from),
            (SharedResource::In, port && single && its.id.from == flight.room.0),
            (SharedResource::BothIn, port && same_receiver),
        ];
        let needs = needs.into_iter().filter(|(_, needs)| *needs);
        all.extend(needs.map(|(resource, _)| Conflict { other, resource }));
    }
    all
}
