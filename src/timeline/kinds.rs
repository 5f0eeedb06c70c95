//! The numbers that a page has for the kinds of activities, in the order in which `page/kinds.js` lists them.

use crate::trace::ActivityKind;

/// The number of kinds.
pub(super) const KINDS: usize = 12;
/// Kinds beyond those of a trace: the overhead of a request or a reply before a long message, and the time
/// that detours take.
pub(super) const RENDEZVOUS: usize = 10;
pub(super) const NOISE: usize = 11;

/// Returns the number of an activity's kind.
pub(super) fn kind_of(kind: &ActivityKind) -> usize {
    match kind {
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
