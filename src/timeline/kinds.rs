//! The numbers that a page has for the kinds of activities, in the order in which `page/kinds.js` lists them.

use crate::path::Events;
use crate::trace::ActivityKind;

/// How many kinds there are.
pub(super) const KINDS: usize = 12;
/// What a page tells apart beyond a trace's own kinds: the overhead of a request or a reply before a long message, and the
/// time that detours take.
pub(super) const RENDEZVOUS: usize = 10;
pub(super) const NOISE: usize = 11;

/// The number of an activity's kind.
pub(super) fn kind_of(what: &ActivityKind) -> usize {
    match what {
        ActivityKind::Work(_) => 0,
        ActivityKind::Send(_) => 1,
        ActivityKind::Receive(_) => 2,
        ActivityKind::Gap => 3,
        ActivityKind::Stall => 4,
        ActivityKind::Port => 5,
        ActivityKind::Idle => 6,
        ActivityKind::Barrier => 7,
        ActivityKind::Post(_) => 8,
        ActivityKind::Wait(_) => 9,
    }
}

/// The number of the kind as which an event is shown. Requests and replies alone have no words.
pub(super) fn shown(events: &Events, place: usize) -> usize {
    let what = events.event(place).what;
    match (what, events.subject(place)) {
        (ActivityKind::Send(_) | ActivityKind::Receive(_), Some(message))
            if events.message(message).words == 0 =>
        {
            RENDEZVOUS
        }
        _ => kind_of(what),
    }
}

/// Whether detours lengthen an activity.
pub(super) fn is_busy(what: &ActivityKind) -> bool {
    use ActivityKind::{Post, Receive, Send, Work};
    matches!(what, Work(_) | Send(_) | Receive(_) | Post(_))
}
