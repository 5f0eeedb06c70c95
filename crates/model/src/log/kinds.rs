//! The numbers of the kinds of activities, which pages and columns have.

use super::record::ActivityKind;

/// The names of the kinds, by their numbers.
pub const KIND_NAMES: [&str; 10] =
    ["work", "send", "receive", "gap", "stall", "port", "idle", "barrier", "post", "wait"];

/// Returns the number of an activity's kind.
pub fn kind_number(kind: &ActivityKind) -> usize {
    match kind {
        ActivityKind::Work(_) => number::WORK,
        ActivityKind::Send(_) => number::SEND,
        ActivityKind::Receive(_) => number::RECEIVE,
        ActivityKind::Gap => number::GAP,
        ActivityKind::Stall => number::STALL,
        ActivityKind::Port => number::PORT,
        ActivityKind::Idle => number::IDLE,
        ActivityKind::Barrier => number::BARRIER,
        ActivityKind::Post(_) => number::POST,
        ActivityKind::Wait(_) => number::WAIT,
    }
}

/// The numbers.
pub mod number {
    pub const WORK: usize = 0;
    pub const SEND: usize = 1;
    pub const RECEIVE: usize = 2;
    pub const GAP: usize = 3;
    pub const STALL: usize = 4;
    pub const PORT: usize = 5;
    pub const IDLE: usize = 6;
    pub const BARRIER: usize = 7;
    pub const POST: usize = 8;
    pub const WAIT: usize = 9;
}
