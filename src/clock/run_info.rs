//! The kinds of clocks, and the facts about a run that each of them needs.

use std::sync::Arc;

use loggp_model::message::TagNames;
use loggp_model::params::{PerLevel, ReceptionCost};
use loggp_model::rules::choice::Places;
use loggp_model::time::Time;
use loggp_trace::Faults;

use super::watchdog::Patience;

/// The clock that a machine runs on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClockKind {
    /// Time jumps to the next event: a run is exact, repeatable and fast.
    #[default]
    Virtual,
    /// Time passes, and processors really wait. They are threads or coroutines: see
    /// [`Carrier`](crate::Carrier).
    Wall,
}

/// The stack of each processor.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StackSettings {
    /// Its size in bytes.
    pub size: usize,
    /// Whether it may be without a guard page, where the host has too few.
    pub may_be_unguarded: bool,
}

/// The facts about a run that a clock needs before it starts.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunInfo {
    pub P: usize,
    pub stack: StackSettings,
    pub patience: Patience,
    pub places: Places,
    /// The least time from a message's turn to its arrival.
    pub lookahead: Time,
    /// True if a signal can bring about an act in the same instant: the machine's own barrier costs nothing, or a
    /// reception may admit another message to the network.
    pub signals_are_acts: bool,
    /// True if each message between two processors arrives at its turn, and none is lost or comes twice.
    pub is_instant_pair: bool,
    /// True if a message can be so long that it waits for its receiver.
    pub has_rendezvous: bool,
    pub cost: PerLevel<ReceptionCost>,
    /// Number of receiving sides of the network.
    pub ingress_count: usize,
    pub tag_names: Arc<TagNames>,
    pub faults: Arc<Faults>,
    pub end: RunEnd,
}

/// The outcome of a run on a clock.
#[derive(Debug)]
pub(crate) struct RunOutcome<T> {
    /// The result of each processor.
    pub results: Vec<T>,
    /// The largest number of messages that were in transit to each processor at once, until the end of the run: what
    /// is put into a memory comes after its processor's end, too.
    pub most_to: Vec<usize>,
}

/// The end of a run, if it is not that of all programs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunEnd {
    /// The time from which on nothing happens any more. Only the virtual clock on one core knows one.
    pub at: Time,
    /// Whether messages may be left that nobody received, and requests that nobody waited for.
    pub may_leave_messages: bool,
}

impl Default for RunEnd {
    fn default() -> RunEnd {
        RunEnd { at: Time::MAX, may_leave_messages: false }
    }
}
