//! Where the time of a recorded run went: LogGPS's breakdown (section 4.4), what cost the most, and the critical path.

pub mod accounts;
mod along;
mod formula;
mod groups;
mod overlap;
mod pieces;
mod rendezvous;
mod sensitivity;
mod what_if;

use loggp::path::{Events, Hop, Path};
use loggp::{ActivityKind, Params, Time, Trace, audit};

use accounts::{Account, Accounts};
use groups::Groups;
use loggp_programs::Refusal;
use pieces::Piece;
use rendezvous::Roles;

pub use along::{Along, At, NotMade};
pub use formula::{Formula, Terms};
pub use groups::{Class, Group, What};
pub use overlap::Overlap;
pub use sensitivity::{Sensitivity, replay};
pub use what_if::WhatIf;

/// What a trace says of the time of its run.
#[derive(Clone, Debug)]
pub struct Analysis {
    /// The machine's parameters.
    pub params: Params,
    /// When the last processor finished.
    pub time: Time,
    /// How many messages there were, requests and replies included.
    pub messages: usize,
    /// How many of them waited for their receiver.
    pub synchronous: usize,
    /// The time of each processor that did anything, by its number.
    pub processors: Vec<(usize, Accounts)>,
    /// The time of all processors together.
    pub total: Accounts,
    /// What cost the most.
    pub groups: Vec<Group>,
    /// The critical path.
    pub path: Vec<Step>,
    /// The same as a formula of the machine.
    pub formula: Formula,
    /// What its requests waited for.
    pub overlap: Overlap,
    /// What the parameters do to it.
    pub sensitivities: Vec<Sensitivity>,
}

/// A hop of the critical path, and the message that it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The hop.
    pub hop: Hop,
    /// The message's sender, its receiver and its length in words.
    pub message: Option<(usize, usize, usize)>,
}

/// A wait until a message may be sent or is there, of which its ends must agree (LogGPS, section 3.1).
pub struct Wait {
    /// Who waits.
    pub id: usize,
    /// From when.
    pub start: Time,
    /// Until when.
    pub end: Time,
    /// Whether the other end is late, or the messages are under way.
    pub account: Account,
}

/// Tells all such waits of a run, by processor.
pub fn waits_for_agreement(trace: &Trace, on: &mut dyn FnMut(Wait)) {
    if !trace.params.is_synchronous(usize::MAX) {
        return;
    }
    let events = Events::of(trace);
    let roles = Roles::of(&events);
    for track in events.processors() {
        pieces::take_apart(&events, &roles, track, &mut |Piece { start, end, account, event, .. }| {
            let is_wait = *event.what == ActivityKind::Idle && start < end;
            if is_wait && matches!(account, Account::SenderSync | Account::Handshake) {
                on(Wait { id: track.id, start, end, account });
            }
        });
    }
}

impl Analysis {
    /// Analyzes a trace, if it keeps the rules of the machine.
    pub fn of(trace: &Trace) -> Result<Analysis, Refusal> {
        if !trace.levels.is_empty() {
            return Err(
                "its machine has levels, and an analysis knows one; run it on a machine of one level".into(),
            );
        }
        match audit(trace).violations.first() {
            Some(violation) => Err(format!("it breaks the rules of the machine: {violation}").into()),
            None => Ok(Analysis::of_run(trace)),
        }
    }

    /// Analyzes the trace of a run that the machine has just made, and that keeps its rules. Those of the models with which
    /// LogGPS is compared no auditor knows.
    pub fn of_run(trace: &Trace) -> Analysis {
        let events = Events::of(trace);
        let roles = Roles::of(&events);
        let (mut groups, mut total) = (Groups::of(&events, &roles), Accounts::default());
        let mut processors = Vec::new();
        for track in events.processors() {
            let mut accounts = Accounts::default();
            pieces::take_apart(&events, &roles, track, &mut |piece| {
                accounts[piece.account] += piece.time();
                groups.add(&piece);
            });
            accounts[Account::End] = events.finish - accounts.total();
            total += accounts;
            processors.push((track.id, accounts));
        }
        let silent = trace.params.P.saturating_sub(processors.len());
        total[Account::End] += silent as i64 * events.finish;
        let path = Path::through(&events);
        let formula = Terms::of(&trace.params).formula(&path.hops);
        let sensitivities = sensitivity::sensitivities(&formula, &trace.params);
        let step = |hop: Hop| {
            let message = hop.message.map(|message| events.message(message));
            Step { hop, message: message.map(|message| (message.id.from, message.to, message.words)) }
        };
        Analysis {
            params: trace.params,
            time: events.finish,
            messages: events.messages(),
            synchronous: (0..events.messages()).filter(|message| roles.is_announced(*message)).count(),
            processors,
            total,
            groups: groups.finish(),
            path: path.hops.into_iter().map(step).collect(),
            formula,
            overlap: Overlap::of(&events, &roles),
            sensitivities,
        }
    }
}
