//! The error of a program that cannot go on: why, and for each rank which call of which place it was in.

use std::fmt::Write as _;

use loggp::{Cause, ProcStatus, RunError, Time};
use loggp_mpi_trace::call::{
    CollectiveKind, Envelope, MpiCallKind, OneSided, Place, Receive, SendMode, WaitForm,
};
use loggp_mpi_trace::recording::post::PostKind;
use loggp_mpi_trace::recording::{places, post::Address};
use parking_lot::Mutex;
use rustc_hash::FxHashMap;

use crate::fault::{Fault, FaultKind, mark, without_marks};
use crate::parcel::Sent;

/// A call that a rank is in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CurrentCall {
    pub what: Called,
    pub place: u32,
}

/// Which function it is, and what matters of its arguments.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Called {
    /// None so far.
    #[default]
    Nothing,
    Send(SendMode, Envelope, bool),
    Receive(Receive, bool),
    Exchange(Option<Envelope>, Option<Receive>),
    Start,
    Collective(CollectiveKind, u32, bool),
    Wait(WaitForm),
    Probe(Receive, bool),
    Making,
    Named(&'static str),
}

impl Called {
    /// Returns what a rank posts.
    pub(crate) fn of(kind: &PostKind) -> Called {
        match kind {
            PostKind::Call(MpiCallKind::Send { mode, message, request }) => {
                Called::Send(*mode, *message, request.is_some())
            }
            PostKind::Call(MpiCallKind::Recv { receive, request }) => {
                Called::Receive(*receive, request.is_some())
            }
            PostKind::Call(MpiCallKind::SendRecv { message, receive, .. }) => {
                Called::Exchange(*message, *receive)
            }
            PostKind::Call(MpiCallKind::Collective { kind, communicator, request, .. }) => {
                Called::Collective(*kind, *communicator, request.is_some())
            }
            PostKind::Call(MpiCallKind::OneSided(what)) => Called::Named(name_of(what)),
            PostKind::Call(_) => Called::Start,
            PostKind::Wait { form, .. } => Called::Wait(*form),
            PostKind::Probe { receive, is_wait, .. } => Called::Probe(*receive, *is_wait),
            PostKind::Together { .. } => Called::Making,
            PostKind::OnFile { name, .. } | PostKind::AtFile { name, .. } => Called::Named(known_name(name)),
            PostKind::Duplicate { .. } => Called::Named("MPI_Comm_idup"),
            PostKind::GetStatus(_) => Called::Named("MPI_Request_get_status"),
            PostKind::ReceiveMatched { .. } => Called::Named("MPI_Mrecv"),
            PostKind::Forget(_) | PostKind::Left(_) => Called::Named("MPI_Request_free"),
            PostKind::Cancel(_) => Called::Named("MPI_Cancel"),
            PostKind::Clock => Called::Named("MPI_Wtime"),
            PostKind::Finalize => Called::Named("MPI_Finalize"),
            PostKind::Abort(_) => Called::Named("MPI_Abort"),
            PostKind::Refused(_)
            | PostKind::Finding(..)
            | PostKind::Note(..)
            | PostKind::Access(_)
            | PostKind::AccessEnd(..)
            | PostKind::Exited => Called::Nothing,
        }
    }

    /// Returns the call as text, such as `MPI_Recv from 3 with tag 7`.
    fn text(self) -> String {
        let to = |message: Envelope| {
            format!(" of {} bytes to {} with tag {}", message.bytes, message.peer, message.tag)
        };
        let from = |receive: Receive| {
            let from = receive.from.map_or("any".into(), |from| from.to_string());
            let tag = receive.tag.map_or("any tag".into(), |tag| format!("tag {tag}"));
            format!(" from {from} with {tag}")
        };
        let immediate = |is_immediate: bool| if is_immediate { "I" } else { "" };
        match self {
            Called::Nothing => String::new(),
            Called::Send(mode, message, is_immediate) => {
                let letter = match mode {
                    SendMode::Standard => "",
                    SendMode::Buffered => "b",
                    SendMode::Synchronous => "s",
                    SendMode::Ready => "r",
                };
                let name = capital(&format!("{}{letter}send", immediate(is_immediate)));
                format!("MPI_{name}{}", to(message))
            }
            Called::Receive(receive, is_immediate) => {
                format!("MPI_{}{}", capital(&format!("{}recv", immediate(is_immediate))), from(receive))
            }
            Called::Exchange(message, receive) => {
                let (sent, received) = (message.map(to), receive.map(from));
                format!("MPI_Sendrecv{}{}", sent.unwrap_or_default(), received.unwrap_or_default())
            }
            Called::Start => "MPI_Start".into(),
            Called::Collective(kind, communicator, is_immediate) => {
                let name = capital(&format!("{}{}", immediate(is_immediate), kind.name()));
                let on = if communicator == 0 {
                    String::new()
                } else {
                    format!(" on communicator {communicator}")
                };
                format!("MPI_{name}{on}")
            }
            Called::Wait(form) => format!("MPI_{}", capital(form.name())),
            Called::Probe(receive, true) => format!("MPI_Probe{}", from(receive)),
            Called::Probe(receive, false) => format!("MPI_Iprobe{}", from(receive)),
            Called::Making => "a call that makes a communicator".into(),
            Called::Named(name) => name.into(),
        }
    }
}

/// Returns the name of a one-sided call.
fn name_of(what: &OneSided) -> &'static str {
    match what {
        OneSided::Put { .. } | OneSided::Get { .. } | OneSided::InOrder => "a one-sided call",
        OneSided::Flush { .. } => "MPI_Win_flush",
        OneSided::Lock { to: Some(_), .. } => "MPI_Win_lock",
        OneSided::Lock { to: None, .. } => "MPI_Win_lock_all",
        OneSided::Unlock { to: Some(_), .. } => "MPI_Win_unlock",
        OneSided::Unlock { to: None, .. } => "MPI_Win_unlock_all",
        OneSided::Fence { .. } => "MPI_Win_fence",
    }
}

/// Returns a function's name that a rank has said. There are no more than MPI has functions.
fn known_name(name: &str) -> &'static str {
    static NAMES: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());
    let mut names = NAMES.lock();
    let known = names.iter().find(|known| **known == name).copied();
    known.unwrap_or_else(|| {
        names.push(String::leak(name.into()));
        names[names.len() - 1]
    })
}

/// Returns the text with a capital letter at its begin.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// A message that a rank waits for: its sender, its tag and its scope.
pub(crate) type Wanted = (Option<u32>, Option<i32>, u32);

/// The last call of a rank, and where that is in the program.
#[derive(Clone, Debug, Default)]
pub(crate) struct LastCall {
    pub what: Called,
    pub address: Address,
    /// The messages that it waits for.
    pub wants: Vec<Wanted>,
    /// True if it waits for the receiver of a message that an MPI may buffer.
    pub sends: bool,
    /// True if the rank has received from anyone, or any tag.
    pub has_chosen: bool,
    /// Sentences on the locks of windows that the rank has.
    pub locks: Vec<String>,
}

/// The calls of all ranks at the end, and the messages that nobody has taken: for each rank, by their senders.
pub(crate) struct LastCalls {
    pub of_ranks: Vec<Option<LastCall>>,
    pub sent: Vec<FxHashMap<usize, Sent>>,
    /// The collectives that not all of their communicator have called.
    pub unfinished: Vec<Unfinished>,
    /// A sentence on a wait for what had not been started.
    pub idle_wait: Option<String>,
}

/// A collective that not all of its communicator have called.
#[derive(Debug)]
pub(crate) struct Unfinished {
    pub communicator: u32,
    pub kind: CollectiveKind,
    /// Where the first one has called it.
    pub place: Address,
}

impl LastCalls {
    /// Returns what is wrong where ranks wait for ever, or where messages are left.
    fn kind(&self) -> FaultKind {
        if self.idle_wait.is_some() {
            return FaultKind::RequestLifecycle;
        }
        if self.of_ranks.iter().flatten().any(|call| call.sends) {
            return FaultKind::ReliesOnBuffering;
        }
        let is_near = |(rank, call): (usize, &Option<LastCall>)| {
            let wants = call.iter().flat_map(|call| &call.wants);
            wants.into_iter().any(|want| self.sent.get(rank).is_some_and(|sent| is_nearly_there(sent, want)))
        };
        // Two that make one call of the program on different communicators wait for each other. Where these are two calls, each
        // rank may make both, in another order.
        let is_elsewhere = |one: &Unfinished| {
            let is_same = |other: &Unfinished| other.kind == one.kind && other.place == one.place;
            self.unfinished.iter().any(|other| other.communicator != one.communicator && is_same(other))
        };
        match self.of_ranks.iter().enumerate().any(is_near) || self.unfinished.iter().any(is_elsewhere) {
            true => FaultKind::ParameterMatching,
            false => FaultKind::CallOrdering,
        }
    }
}

/// Returns whether a message is there that differs from the wanted one in its tag or its communicator alone.
fn is_nearly_there(sent: &FxHashMap<usize, Sent>, (from, tag, scope): &Wanted) -> bool {
    let from_there = |sender: &usize| from.is_none_or(|from| from as usize == *sender);
    let mut messages =
        sent.iter().filter(|(sender, _)| from_there(sender)).flat_map(|(_, messages)| messages);
    messages.any(|message| {
        let same_tag = tag.is_none_or(|tag| tag as u32 == message.tag);
        let same_scope = message.scope == *scope;
        same_tag != same_scope
    })
}

impl LastCall {
    /// Returns the call and its [marked](mark) place, such as ` in MPI_Recv from 3 with tag 7 at main (ring.c:12)`.
    pub(crate) fn text(&self) -> String {
        let at = place_text(&self.address);
        match self.what {
            Called::Nothing => at,
            what => format!(" in {}{at}", what.text()),
        }
    }
}

/// Returns a [marked](mark) place, such as ` at main (ring.c:12)`, or nothing if it is not known.
pub(crate) fn place_text((module, address): &Address) -> String {
    if module.is_empty() {
        return String::new();
    }
    let unnamed = || format!("{}+{address:#x}", module.rsplit('/').next().unwrap_or_default());
    let place = places::find_in(module, *address);
    format!(" at {}", mark(&place.unwrap_or_else(|| Place { function: unnamed(), source: None })))
}

/// The most ranks that an error lists.
const LISTED: usize = 8;

/// Describes the error of a run, whose ranks were in these calls, and which `found` has ended if a rank did. Returns the fault that
/// it is, or a sentence if it is none of the program.
pub(crate) fn describe(
    error: &RunError,
    calls: &LastCalls,
    found: Option<(FaultKind, String)>,
) -> Result<Fault, String> {
    let (found, said) = found.unzip();
    let mut text = match &error.cause {
        _ if said.is_some() => said.unwrap_or_default(),
        Cause::Deadlock { waiting, of } => {
            let verb = if *waiting == 1 { "waits" } else { "wait" };
            format!("deadlock: {waiting} of {of} ranks {verb} for what no other one does")
        }
        Cause::NotReceived { count, from, to, about, arrival } => {
            let (messages, others) = match count {
                1 => ("a message was", String::new()),
                _ => ("messages were", format!(", and {} more", count - 1)),
            };
            let about = in_words(about);
            let first = calls.sent.get(*to).and_then(|sent| sent.get(from)?.front());
            let sender = first.map(|first| LastCall { address: first.place.clone(), ..LastCall::default() });
            let place = sender.map_or(String::new(), |sender| sender.text());
            let place = if place.is_empty() { place } else { format!(", sent{place}") };
            format!(
                "{messages} never received: one from rank {from} to rank {to} {about}{place}, which arrived at {arrival}{others}"
            )
        }
        cause => cause.to_string(),
    };
    let is_of_orders = matches!(
        error.cause,
        Cause::Deadlock { .. } | Cause::PollingDeadlock { .. } | Cause::NotReceived { .. }
    );
    let kind = found.or_else(|| is_of_orders.then(|| calls.kind()));
    if is_of_orders && kind == Some(FaultKind::ReliesOnBuffering) {
        text = format!("MPI may hang here: {text}");
    }
    if let (true, Some(idle_wait)) = (is_of_orders, &calls.idle_wait) {
        text = format!("{idle_wait}; {text}");
    }
    let is_waiting = |status: &ProcStatus| !matches!(status, ProcStatus::Finished | ProcStatus::NotStarted);
    let states = error.processors.iter().filter(|state| is_waiting(&state.status));
    for state in states.clone().take(LISTED) {
        let call = calls.of_ranks.get(state.id).and_then(Option::as_ref);
        let has_left = kind.is_some_and(|kind| kind.is_end() && kind != FaultKind::Abort);
        let _ = write!(text, "\n  {}", line(state.id, state.at, &state.status, call, has_left));
    }
    let more = states.count().saturating_sub(LISTED);
    if more > 0 {
        let _ = write!(text, "\n  ... and {more} more");
    }
    let locks = calls.of_ranks.iter().flatten().flat_map(|call| &call.locks).filter(|_| is_of_orders);
    for lock in locks.clone().take(LISTED) {
        let _ = write!(text, "\n  {lock}");
    }
    // A rank that stops where another order was taken may stop because of the order, but for one that has not given back a lock.
    let has_chosen = calls.of_ranks.iter().flatten().any(|call| call.has_chosen);
    let of_order = |kind: FaultKind| kind != FaultKind::ReliesOnBuffering && (is_of_orders || kind.is_end());
    let may_be_race = has_chosen && locks.count() == 0 && kind.is_some_and(of_order);
    kind.map(|kind| Fault { may_be_race, ..Fault::new(kind, &text) }).ok_or_else(|| without_marks(&text))
}

/// Returns a line on a rank. One that computes may have left its last call.
fn line(rank: usize, at: Time, status: &ProcStatus, call: Option<&LastCall>, has_left: bool) -> String {
    let is_said = call.is_some_and(|call| matches!(call.what, Called::Receive(_, false) | Called::Probe(..)));
    let waits = match status {
        ProcStatus::Running => String::new(),
        ProcStatus::WaitingFor(_) if is_said => String::new(),
        status => format!(", {}", in_words(&status.to_string())),
    };
    let call = match call {
        Some(LastCall { what: Called::Nothing, .. }) if has_left => " before its first call".into(),
        Some(call) if has_left && matches!(status, ProcStatus::Running) => {
            call.text().replacen(" in ", " after ", 1)
        }
        call => call.map(LastCall::text).unwrap_or_default(),
    };
    format!("rank {rank} at {at}{call}{waits}")
}

/// Returns what the machine says of a message in the words of MPI: it knows scopes where a program has communicators, and
/// calls of this crate.
fn in_words(text: &str) -> String {
    let text = text.split(" (at ").next().unwrap_or(text).replace("processor", "rank");
    let Some((before, after)) = text.split_once(" of scope ") else { return text };
    let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
    let rest = &after[digits.len()..];
    match digits.parse::<u32>() {
        Ok(0) => format!("{before}{rest}"),
        Ok(scope) if scope % 2 == 0 => format!("{before} of communicator {}{rest}", scope / 2),
        _ => {
            let before = before.rsplit_once(" with ").map_or(before, |(before, _)| before);
            format!("{before} of a collective{rest}")
        }
    }
}
