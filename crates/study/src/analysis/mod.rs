//! The use of time in a recorded run: LogGPS's breakdown (section 4.4), the costs by group, and the critical
//! path.

pub mod accounts;
mod calls;
mod exact;
mod groups;
mod overlap;
mod parameter_sweep;
mod pieces;
mod rendezvous;
mod search;
mod sensitivity;
mod tolerance;
mod what_if;

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use loggp::Time;
use loggp::audit::audit;
use loggp::params::LeveledParams;
use loggp::path::{Events, Hop, HopKind, Path};
use loggp::trace::{ActivityKind, Trace};
use loggp_programs::Refusal;

use accounts::{Account, Accounts};
use groups::CallGroups;
use pieces::TimePiece;
use rendezvous::MessageRoles;

pub use calls::{BEFORE, CallCost, IN};
pub use groups::{CostGroup, GroupActivity, LengthClass, MessageNames};
pub use loggp::path::{Formula, FormulaBuilder};
pub use overlap::Overlap;
pub use parameter_sweep::{ParameterSweep, RunPath, replay_with};
pub use search::{FailedReplay, ReplayPoint};
pub use sensitivity::{Sensitivity, add_replays, add_runs};
pub use tolerance::{CurveChecks, CurvePiece, CurveRequest, LatencyUse, RunCurve, latency_uses};
pub use what_if::WhatIf;

/// The analysis of a trace.
#[derive(Clone, Debug)]
pub struct Analysis {
    /// The machine's parameters, and those of its levels.
    pub machine: LeveledParams,
    /// Time at which the last processor finished.
    pub time: Time,
    /// Number of messages, requests and replies included.
    pub messages: usize,
    /// Number of messages that waited for their receiver.
    pub synchronous: usize,
    /// Accounts of each processor that did anything, by its number.
    pub processors: Vec<(usize, Accounts)>,
    /// Accounts of all processors together.
    pub total: Accounts,
    /// Costs by group.
    pub groups: Vec<CostGroup>,
    /// Costs by call, if the calls of a played program are known.
    pub calls: Vec<CallCost>,
    /// Critical path.
    pub path: Vec<PathStep>,
    /// Formula of the critical path.
    pub formula: Formula,
    /// Waits of its requests.
    pub overlap: Overlap,
    /// Effects of the parameters.
    pub sensitivities: Vec<Sensitivity>,
}

/// A hop of the critical path, and its message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathStep {
    pub hop: Hop,
    /// Sender, receiver and length in words of its message.
    pub message: Option<(usize, usize, usize)>,
}

/// The part of a processor in the critical path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathShare {
    pub id: usize,
    /// Number of its hops.
    pub hops: usize,
    /// The time that it computes in them.
    pub work: Time,
    /// The length of all of them.
    pub time: Time,
}

impl Analysis {
    /// Returns the parts of the processors in the critical path, the longest first. Messages under way are no processor's.
    pub fn path_shares(&self) -> Vec<PathShare> {
        let is_under_way =
            |hop: &Hop| matches!(hop.kind, HopKind::Latency | HopKind::Stream | HopKind::Barrier);
        let mut shares = BTreeMap::new();
        for hop in self.path.iter().map(|step| &step.hop).filter(|hop| !is_under_way(hop)) {
            let none = PathShare { id: hop.id, hops: 0, work: Time::ZERO, time: Time::ZERO };
            let share = shares.entry(hop.id).or_insert(none);
            share.hops += 1;
            share.time += hop.length();
            if hop.kind == HopKind::Work {
                share.work += hop.length();
            }
        }
        let mut shares: Vec<PathShare> = shares.into_values().collect();
        shares.sort_by_key(|share| Reverse(share.time));
        shares
    }
}

/// A wait of a rendezvous, for the other end or for messages under way (LogGPS, section 3.1).
pub struct AgreementWait {
    /// Processor that waits.
    pub id: usize,
    pub start: Time,
    pub end: Time,
    /// [`Account::SenderSync`] if the other end is late, [`Account::Handshake`] if messages are under way.
    pub account: Account,
}

/// Passes all such waits of a run to `on`, by processor.
pub fn for_each_agreement_wait(trace: &Trace, on: &mut dyn FnMut(AgreementWait)) {
    if !trace.machine().all().any(|params| params.is_synchronous(usize::MAX)) {
        return;
    }
    let events = Events::new(trace);
    let roles = MessageRoles::from_events(&events);
    for track in events.processors() {
        pieces::for_each_piece(
            &events,
            &roles,
            track,
            &mut |TimePiece { start, end, account, event, .. }| {
                let is_wait = *event.kind == ActivityKind::Idle && start < end;
                if is_wait && matches!(account, Account::SenderSync | Account::Handshake) {
                    on(AgreementWait { id: track.id, start, end, account });
                }
            },
        );
    }
}

/// Returns an error if a trace cannot be analyzed: it breaks the rules of the machine.
pub fn check_trace(trace: &Trace) -> Result<(), Refusal> {
    if let Some(ends) = trace.capacity.unfollowed() {
        let why = format!(
            "its stalls end with {ends}, which an analysis does not follow; give a trace of a run in which a message is in transit until it arrives"
        );
        return Err(why.into());
    }
    match audit(trace).violations.first() {
        Some(violation) => Err(format!("it breaks the rules of the machine: {violation}").into()),
        None => Ok(()),
    }
}

/// Returns for each message of a run how its tag is described, if the trace has the call of its send. A
/// request and a reply have the tag of their message.
pub fn message_tags(events: &Events) -> Vec<Option<Rc<str>>> {
    let tags = groups::tag_texts(events);
    let roles = MessageRoles::from_events(events);
    (0..tags.len()).map(|message| tags[roles.data(message)].clone()).collect()
}

impl Analysis {
    /// Analyzes a trace, if it keeps the rules of the machine.
    pub fn from_trace(trace: &Trace) -> Result<Analysis, Refusal> {
        check_trace(trace)?;
        Ok(Analysis::from_run(trace))
    }

    /// Analyzes the trace of a run that the machine has just made, without an audit: the auditor does not
    /// know the models with which LogGPS is compared.
    pub fn from_run(trace: &Trace) -> Analysis {
        let events = Events::new(trace);
        let sent = groups::tag_texts(&events);
        let names = MessageNames { received: sent.clone(), sent, are_calls: false };
        Analysis::from_events(&events, names)
    }

    /// Analyzes the trace of a played schedule, whose messages have these names.
    pub fn from_play(trace: &Trace, names: MessageNames) -> Analysis {
        Analysis::from_events(&Events::new(trace), names)
    }

    fn from_events(events: &Events, names: MessageNames) -> Analysis {
        let trace = events.trace;
        let roles = MessageRoles::from_events(events);
        let (mut groups, mut total) = (CallGroups::new(events, &roles, names), Accounts::default());
        let mut processors = Vec::new();
        for track in events.processors() {
            let mut accounts = Accounts::default();
            pieces::for_each_piece(events, &roles, track, &mut |piece| {
                accounts[piece.account] += piece.time();
                groups.add(&piece);
            });
            accounts[Account::End] = events.finish - accounts.total();
            total += accounts;
            processors.push((track.id, accounts));
        }
        let silent = trace.params.P.saturating_sub(processors.len());
        total[Account::End] += silent as i64 * events.finish;
        let path = Path::from_events(events);
        let machine = trace.machine();
        let formula = FormulaBuilder::new(&machine).formula(&path.hops);
        let sensitivities = sensitivity::sensitivities(&formula, &machine);
        let names = groups.names();
        let on_path =
            if names.are_calls { calls::times_on_path(events, &path, names) } else { HashMap::new() };
        let are_calls = names.are_calls;
        let groups = groups.finish();
        let calls = if are_calls { calls::costs(&groups, on_path) } else { Vec::new() };
        let step = |hop: Hop| {
            let message = hop.message.map(|message| events.message(message));
            PathStep { hop, message: message.map(|message| (message.id.from, message.to, message.words)) }
        };
        Analysis {
            machine,
            time: events.finish,
            messages: events.message_count(),
            synchronous: (0..events.message_count()).filter(|message| roles.is_announced(*message)).count(),
            processors,
            total,
            groups,
            calls,
            path: path.hops.into_iter().map(step).collect(),
            formula,
            overlap: Overlap::from_events(events, &roles),
            sensitivities,
        }
    }
}
