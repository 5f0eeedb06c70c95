//! Which call each operation of a schedule belongs to.

use crate::call::CollectiveKind;

/// A kind of call, as reports group them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CallGroup {
    /// Sends, receives, waits, tests and probes.
    PointToPoint,
    Collective(CollectiveKind),
    /// Calls that make communicators.
    NewCommunicator,
    /// What comes after the last call.
    End,
}

impl CallGroup {
    /// Returns the name of the group: MPI's own for a kind of collective, in small letters and without `MPI_`.
    pub fn name(self) -> &'static str {
        match self {
            CallGroup::PointToPoint => "point to point",
            CallGroup::Collective(kind) => kind.name(),
            CallGroup::NewCommunicator => "new communicators",
            CallGroup::End => "end",
        }
    }
}

/// A call, and the operations that it became.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallSpan {
    /// The first operation of the call, by its number in the rank. Those up to the next call's are its own; a wait has
    /// none.
    pub first: u32,
    /// Number of the place from which it was called, in [`ProgramSchedule::places`](super::ProgramSchedule).
    pub place: u32,
    pub thread: u16,
    pub group: CallGroup,
    /// True if its first operation is the computing of its thread before the call.
    pub has_calc: bool,
}

/// What a rank did, beside its operations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RankIndex {
    /// The calls in the order of their operations; empty if they were not asked for.
    pub spans: Vec<CallSpan>,
    /// The recorded time from the end of `MPI_Init` to the beginning of `MPI_Finalize`, in ns.
    pub recorded_ns: i64,
    /// The recorded time inside calls, in ns, by group, in the order of groups.
    pub inside_ns: Vec<(CallGroup, i64)>,
    /// The recorded time of computing, in ns, of all threads.
    pub computing_ns: i64,
}

impl RankIndex {
    /// Returns the number of the call to which an operation belongs, or `None` if there is none.
    pub fn call_of(&self, operation: u32) -> Option<usize> {
        self.spans.partition_point(|span| span.first <= operation).checked_sub(1)
    }
}
