//! Which call each operation of a schedule belongs to.

/// A kind of call, as reports group them. Groups are listed by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallGroup {
    pub number: u16,
    pub name: &'static str,
}

impl CallGroup {
    /// What comes after the last call.
    pub const END: CallGroup = CallGroup { number: u16::MAX, name: "end" };
}

/// A call, and the operations that it became.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallSpan {
    /// The first operation of the call, by its number in the rank. Those up to the next call's are its own; a wait may
    /// have none.
    pub first: u32,
    pub kind: SpanKind,
}

/// Of which kind a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SpanKind {
    /// Number of the place from which it was called, in [`ProgramSchedule::places`](super::ProgramSchedule).
    pub place: u32,
    pub thread: u16,
    pub group: CallGroup,
    /// The name of the function that was called, such as `MPI_Isend`.
    pub function: &'static str,
    /// True if its first operation is the computing of its thread before the call.
    pub has_calc: bool,
}

/// What a rank did, beside its operations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RankIndex {
    /// The calls in the order of their operations; empty if they were not asked for.
    pub spans: SpanList,
    /// The recorded time of the rank, in ns.
    pub recorded_ns: i64,
    /// The recorded time inside calls, in ns, by group, in the order of groups.
    pub inside_ns: Vec<(CallGroup, i64)>,
    /// The recorded time of computing, in ns: that in which at least one thread computed.
    pub computing_ns: i64,
}

/// The calls of a rank. A program calls from the same few places again and again, so a call takes eight bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpanList {
    /// The first operation of each call, and its kind's index in the list of kinds.
    spans: Vec<(u32, u32)>,
    kinds: Vec<SpanKind>,
}

impl SpanList {
    /// Returns the number of calls.
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Returns whether there are no calls.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Adds a kind of calls, and returns its number.
    pub fn add_kind(&mut self, kind: SpanKind) -> u32 {
        self.kinds.push(kind);
        self.kinds.len() as u32 - 1
    }

    /// Adds a call of a kind, by the number of that. `first` is the call's first operation.
    pub fn push(&mut self, first: u32, kind: u32) {
        self.spans.push((first, kind));
    }

    /// Returns the call of a number.
    #[inline]
    pub fn get(&self, call: usize) -> Option<CallSpan> {
        let (first, kind) = *self.spans.get(call)?;
        Some(CallSpan { first, kind: self.kinds[kind as usize] })
    }

    /// Returns all calls in their order.
    pub fn iter(&self) -> impl Iterator<Item = CallSpan> + '_ {
        self.spans.iter().map(|(first, kind)| CallSpan { first: *first, kind: self.kinds[*kind as usize] })
    }

    /// Returns the number of threads that called.
    pub fn threads(&self) -> usize {
        self.kinds.iter().map(|kind| usize::from(kind.thread) + 1).max().unwrap_or_default()
    }

    /// Returns the number of the call to which an operation belongs, or `None` if there is none.
    pub fn call_of(&self, operation: u32) -> Option<usize> {
        self.spans.partition_point(|(first, _)| *first <= operation).checked_sub(1)
    }

    /// Gives back the memory that is not used.
    pub fn shrink_to_fit(&mut self) {
        self.spans.shrink_to_fit();
    }
}
