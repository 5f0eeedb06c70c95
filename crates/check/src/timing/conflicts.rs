//! Finds the messages that need the same room at an end of the network, or the same port.

use loggp_model::params::Ports;
use loggp_model::time::Time;

use super::prefix::{Prefix, SettledMessage};
use crate::history::History;

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
    let mut all = Vec::new();
    let own = &prefix.messages[message];
    if own.entry_delay.is_some() || !prefix.is_exact {
        return all;
    }
    // Without long messages, messages of the same processor are never in conflict: its gaps leave room.
    let is_long = prefix.has_long_messages();
    let (single, needs_room) = (history.trace.ports == Ports::Single, own.capacity < usize::MAX);
    // A message that was taken before another is sent is not in its way.
    let is_over = |one: &SettledMessage, other: &SettledMessage| {
        one.taken_by
            .is_some_and(|taken| taken != other.call && history.calls.happens_before(taken, other.call))
    };
    for (index, other) in prefix.messages.iter().enumerate() {
        let is_elsewhere = other.room.1 != own.room.1;
        if index == message || is_elsewhere || is_over(own, other) || is_over(other, own) {
            continue;
        }
        let same_sender = other.id.from == own.id.from;
        let is_earlier = !same_sender || other.id.number < own.id.number;
        let same_receiver = other.room == own.room && is_earlier;
        let port = own.stream > Time::ZERO && other.stream > Time::ZERO;
        let shares_room = same_receiver && (!same_sender || own.capacity > 1 || is_long);
        let needs = [
            (SharedResource::To, needs_room && shares_room),
            (SharedResource::From, needs_room && is_long && same_sender && is_earlier),
            (SharedResource::Out, port && single && other.room.0 == own.id.from),
            (SharedResource::In, port && single && other.id.from == own.room.0),
            (SharedResource::BothIn, port && same_receiver),
        ];
        let needs = needs.into_iter().filter(|(_, needs)| *needs);
        all.extend(needs.map(|(resource, _)| Conflict { other: index, resource }));
    }
    all
}
