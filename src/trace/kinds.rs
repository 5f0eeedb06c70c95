//! The numbers of the kinds of activities, which pages and columns have.

use super::record::ActivityKind;

/// The names of the kinds, by their numbers.
pub const KIND_NAMES: [&str; 10] =
    ["work", "send", "receive", "gap", "stall", "port", "idle", "barrier", "post", "wait"];

/// Returns the number of an activity's kind.
pub fn kind_number(kind: &ActivityKind) -> usize {
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
