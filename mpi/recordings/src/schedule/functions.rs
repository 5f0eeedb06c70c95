//! The functions of MPI, as reports name and group them.

use loggp_schedule::program::CallGroup;
use rustc_hash::FxHashMap;

use crate::call::{CollectiveKind, MpiCallKind, SendMode, WaitForm};

/// Sends, receives, waits, tests and probes.
pub const POINT_TO_POINT: CallGroup = CallGroup { number: 0, name: "point to point" };
/// Calls that make communicators.
pub const NEW_COMMUNICATOR: CallGroup = CallGroup { number: 1000, name: "new communicators" };
pub const ONE_SIDED: CallGroup = CallGroup { number: 1001, name: "one-sided" };

/// Returns the group of a kind of collective, whose name is MPI's own, in small letters and without `MPI_`.
pub fn collective_group(kind: CollectiveKind) -> CallGroup {
    CallGroup { number: 1 + kind as u16, name: kind.name() }
}

/// Returns the group of a call.
pub(super) fn group(kind: &MpiCallKind) -> CallGroup {
    match kind {
        MpiCallKind::Collective { kind, .. } => collective_group(*kind),
        MpiCallKind::NewCommunicator { .. } => NEW_COMMUNICATOR,
        MpiCallKind::OneSided(_) => ONE_SIDED,
        MpiCallKind::Start(kinds) => kinds.first().map_or(POINT_TO_POINT, group),
        MpiCallKind::StartCollective { collective, .. } => group(collective),
        _ => POINT_TO_POINT,
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
}

impl CalledFunction {
    pub(super) fn of(kind: &MpiCallKind) -> CalledFunction {
        match kind {
            MpiCallKind::Send { mode, request, .. } => {
                CalledFunction::Send { mode: *mode, is_immediate: request.is_some() }
            }
            MpiCallKind::Recv { request, .. } => CalledFunction::Recv { is_immediate: request.is_some() },
            MpiCallKind::SendRecv { request, .. } => {
                CalledFunction::Sendrecv { is_immediate: request.is_some() }
            }
            MpiCallKind::Start(_) | MpiCallKind::StartCollective { .. } => CalledFunction::Start,
            MpiCallKind::Complete { form, .. } => CalledFunction::Wait(*form),
            MpiCallKind::Look { .. } => CalledFunction::Look,
            MpiCallKind::Probe { is_wait: true, .. } => CalledFunction::Probe,
            MpiCallKind::Probe { .. } => CalledFunction::Iprobe,
            MpiCallKind::Collective { kind, request, .. } => {
                CalledFunction::Collective { kind: *kind, is_immediate: request.is_some() }
            }
            MpiCallKind::NewCommunicator { .. } => CalledFunction::NewCommunicator,
            MpiCallKind::Forget(_) => CalledFunction::Forget,
            MpiCallKind::OneSided(what) => CalledFunction::OneSided(what.name()),
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
        };
        let name = if is_immediate { format!("i{name}") } else { name.into() };
        let (first, rest) = name.split_at(1);
        format!("MPI_{}{rest}", first.to_uppercase())
    }
}

/// The names of functions, each made once.
#[derive(Debug, Default)]
pub(super) struct FunctionNames(FxHashMap<CalledFunction, &'static str>);

impl FunctionNames {
    /// Returns the name of a function.
    pub(super) fn name(&mut self, function: CalledFunction) -> &'static str {
        // A command reads few programs, and MPI has few functions, so the leak is bounded.
        self.0.entry(function).or_insert_with(|| function.name().leak())
    }
}
