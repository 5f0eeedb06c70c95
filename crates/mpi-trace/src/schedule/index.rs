//! Which call each operation of a schedule belongs to.

use rustc_hash::FxHashMap;

use crate::call::{CallKind, CollectiveKind, SendMode, WaitForm};

/// A kind of call, as reports group them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CallGroup {
    /// Sends, receives, waits, tests and probes.
    PointToPoint,
    Collective(CollectiveKind),
    /// Calls that make communicators.
    NewCommunicator,
    OneSided,
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
            CallGroup::OneSided => "one-sided",
            CallGroup::End => "end",
        }
    }
}

/// The function of MPI that was called, as far as a recording tells them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CalledFunction {
    Send {
        mode: SendMode,
        is_immediate: bool,
    },
    Recv {
        is_immediate: bool,
    },
    Sendrecv {
        is_immediate: bool,
    },
    Start,
    Wait(WaitForm),
    /// Tests and probes that found nothing.
    Look,
    Probe,
    Iprobe,
    Collective {
        kind: CollectiveKind,
        is_immediate: bool,
    },
    NewCommunicator,
    /// A request is freed or given up.
    Forget,
    /// A one-sided call, by its name.
    OneSided(&'static str),
    /// None: it is the end of the rank.
    End,
}

impl CalledFunction {
    pub(super) fn of(kind: &CallKind) -> CalledFunction {
        match kind {
            CallKind::Send { mode, request, .. } => {
                CalledFunction::Send { mode: *mode, is_immediate: request.is_some() }
            }
            CallKind::Recv { request, .. } => CalledFunction::Recv { is_immediate: request.is_some() },
            CallKind::SendRecv { request, .. } => {
                CalledFunction::Sendrecv { is_immediate: request.is_some() }
            }
            CallKind::Start(_) => CalledFunction::Start,
            CallKind::Complete { form, .. } => CalledFunction::Wait(*form),
            CallKind::Look { .. } => CalledFunction::Look,
            CallKind::Probe { is_wait: true, .. } => CalledFunction::Probe,
            CallKind::Probe { .. } => CalledFunction::Iprobe,
            CallKind::Collective { kind, request, .. } => {
                CalledFunction::Collective { kind: *kind, is_immediate: request.is_some() }
            }
            CallKind::NewCommunicator { .. } => CalledFunction::NewCommunicator,
            CallKind::Forget(_) => CalledFunction::Forget,
            CallKind::OneSided(what) => CalledFunction::OneSided(what.name()),
        }
    }

    /// Returns its name, such as `MPI_Isend`.
    pub fn name(self) -> String {
        let in_mode = |mode| match mode {
            SendMode::Standard => "send",
            SendMode::Buffered => "bsend",
            SendMode::Synchronous => "ssend",
            SendMode::Ready => "rsend",
        };
        let (is_immediate, name) = match self {
            CalledFunction::Send { mode, is_immediate } => (is_immediate, in_mode(mode)),
            CalledFunction::Recv { is_immediate } => (is_immediate, "recv"),
            CalledFunction::Sendrecv { is_immediate } => (is_immediate, "sendrecv"),
            CalledFunction::Start => (false, "start"),
            CalledFunction::Wait(form) => (false, form.name()),
            CalledFunction::Look => return "tests that found nothing".into(),
            CalledFunction::Probe => (false, "probe"),
            CalledFunction::Iprobe => (false, "iprobe"),
            CalledFunction::Collective { kind, is_immediate } => (is_immediate, kind.name()),
            CalledFunction::NewCommunicator => return "a new communicator".into(),
            CalledFunction::Forget => (false, "request_free"),
            CalledFunction::OneSided(name) => (false, name),
            CalledFunction::End => return "the end".into(),
        };
        let name = if is_immediate { format!("i{name}") } else { name.into() };
        let (first, rest) = name.split_at(1);
        format!("MPI_{}{rest}", first.to_uppercase())
    }
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
    pub function: CalledFunction,
    /// True if its first operation is the computing of its thread before the call.
    pub has_calc: bool,
}

/// What a rank did, beside its operations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RankIndex {
    /// The calls in the order of their operations; empty if they were not asked for.
    pub spans: SpanList,
    /// The recorded time from the end of `MPI_Init` to the beginning of `MPI_Finalize`, in ns.
    pub recorded_ns: i64,
    /// The recorded time inside calls, in ns, by group, in the order of groups.
    pub inside_ns: Vec<(CallGroup, i64)>,
    /// The recorded time of computing, in ns: that in which at least one thread computed.
    pub computing_ns: i64,
}

/// The calls of a rank. A program calls from the same few places again and again, so a call takes eight bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpanList {
    /// The first operation of each call, and its kind's place in the list of kinds.
    spans: Vec<(u32, u32)>,
    kinds: Vec<SpanKind>,
}

/// The places of kinds of calls in the list of kinds, while it is written.
pub(super) type SpanNumbers = FxHashMap<SpanKind, u32>;

impl SpanList {
    /// Returns the number of calls.
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Returns whether there are no calls.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Adds a call.
    pub(super) fn push(&mut self, span: CallSpan, numbers: &mut SpanNumbers) {
        let kinds = &mut self.kinds;
        let number = *numbers.entry(span.kind).or_insert_with(|| {
            kinds.push(span.kind);
            kinds.len() as u32 - 1
        });
        self.spans.push((span.first, number));
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

    pub(super) fn shrink_to_fit(&mut self) {
        self.spans.shrink_to_fit();
    }
}
