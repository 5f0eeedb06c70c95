//! Which messages need the same: room at an end, or a port.

use super::history::History;
use super::prefix::{Flight, Prefix};
use crate::params::Ports;
use crate::time::Time;

/// A message that needs what another one needs too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Conflict {
    pub other: usize,
    pub at: At,
}

/// What both need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum At {
    /// Room at the receiver.
    To,
    /// Room at the sender.
    From,
    /// The port through which this one goes out and the other comes in.
    Out,
    /// The port through which this one comes in and the other goes out.
    In,
    /// The port through which both come in.
    BothIn,
}

impl At {
    /// What it is for the other one.
    pub(super) fn mirrored(self) -> At {
        match self {
            At::Out => At::In,
            At::In => At::Out,
            same => same,
        }
    }

    /// Whether a message enters late that waits for it, and does not only arrive late.
    pub(super) fn is_before(self) -> bool {
        matches!(self, At::To | At::From | At::Out)
    }

    pub(super) fn is_room(self) -> bool {
        matches!(self, At::To | At::From)
    }
}

/// What a message may have to wait for; nothing if the rules do not say how long calls take.
pub(super) fn conflicts(history: &History, prefix: &Prefix, message: usize) -> Vec<Conflict> {
    let (flights, mut all) = (&prefix.flights, Vec::new());
    let flight = &flights[message];
    if flight.way.is_some() || !prefix.is_plain {
        return all;
    }
    // What a processor sends needs no thought where there are no long messages: its own gaps leave room.
    let is_long = prefix.is_long();
    let (single, needs_room) = (history.trace.ports == Ports::Single, flight.capacity < usize::MAX);
    // What was taken before the other is sent, is in nobody's way.
    let is_over = |one: &Flight, other: &Flight| {
        one.taken.is_some_and(|taken| taken != other.call && history.calls.follows(other.call, taken))
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
            (At::To, needs_room && same_receiver && (!own || flight.capacity > 1 || is_long)),
            (At::From, needs_room && is_long && own && is_earlier),
            (At::Out, port && single && its.room.0 == flight.id.from),
            (At::In, port && single && its.id.from == flight.room.0),
            (At::BothIn, port && same_receiver),
        ];
        let needs = needs.into_iter().filter(|(_, needs)| *needs);
        all.extend(needs.map(|(at, _)| Conflict { other, at }));
    }
    all
}
