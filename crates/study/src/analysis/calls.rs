//! Costs by call of a played program: what it computed before each call, what the call itself cost, and what of both
//! is on the critical path.

use std::collections::HashMap;
use std::rc::Rc;

use loggp::Time;
use loggp::path::{Events, Hop, HopKind, Path};
use loggp::trace::ActivityKind;
use loggp_trace::path::partition_index;

use super::accounts::Accounts;
use super::groups::{CostGroup, GroupActivity, MessageNames};

/// The begin of the name of work that a program did before a call.
pub const BEFORE: &str = "before ";
/// The begin of the name of work that is part of a call, as that of combining values.
pub const IN: &str = "in ";

/// The cost of a call, wherever it was made, with the computing before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallCost {
    pub call: Rc<str>,
    /// Cost at all processors together.
    pub accounts: Accounts,
    /// Time on the critical path: of the computing, of the overheads at both ends, and of the messages under way.
    pub path: Time,
}

/// Returns the call of a kind of work.
fn call_of_work(kind: &str) -> &str {
    kind.strip_prefix(BEFORE).or(kind.strip_prefix(IN)).unwrap_or(kind)
}

/// Returns the time of each call on the critical path. A message under way belongs to the call that sent the
/// message.
pub(super) fn times_on_path(events: &Events, path: &Path, names: &MessageNames) -> HashMap<Rc<str>, Time> {
    let mut times: HashMap<Rc<str>, Time> = HashMap::new();
    for hop in &path.hops {
        let call = match (hop.message, hop.kind) {
            (Some(message), HopKind::ReceiveOverhead) => names.received[message].clone(),
            (Some(message), _) => names.sent[message].clone(),
            (None, _) => work_of(events, hop).map(|kind| call_of_work(kind).into()),
        };
        if let Some(call) = call {
            *times.entry(call).or_default() += hop.length();
        }
    }
    times
}

/// Returns the kind of work of a hop, if it is one.
fn work_of<'e>(events: &'e Events, hop: &Hop) -> Option<&'e str> {
    let track = events.track(hop.id, None)?;
    let first = partition_index(track.indices.clone(), |index| events.event(index).end < hop.end);
    (first..track.indices.end)
        .map(|index| events.event(index))
        .take_while(|event| event.end == hop.end)
        .find_map(|event| match event.kind {
            ActivityKind::Work(kind) => Some(&**kind),
            _ => None,
        })
}

/// Returns the costs by call, the highest first, from those by group.
pub(super) fn costs(groups: &[CostGroup], mut on_path: HashMap<Rc<str>, Time>) -> Vec<CallCost> {
    let mut costs: HashMap<Rc<str>, Accounts> = HashMap::new();
    for CostGroup { activity, accounts, .. } in groups {
        let call = match activity {
            GroupActivity::Send(Some(call), _) | GroupActivity::Receive(Some(call), _) => Rc::clone(call),
            GroupActivity::Work(kind) => call_of_work(kind).into(),
            _ => continue,
        };
        *costs.entry(call).or_default() += *accounts;
    }
    let cost = |(call, accounts): (Rc<str>, Accounts)| {
        let path = on_path.remove(&call).unwrap_or_default();
        CallCost { call, accounts, path }
    };
    let mut costs: Vec<CallCost> = costs.into_iter().map(cost).collect();
    costs.sort_by(|a, b| b.accounts.total().cmp(&a.accounts.total()).then_with(|| a.call.cmp(&b.call)));
    costs
}
