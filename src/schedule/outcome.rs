//! The result of playing a schedule: a report, or an error.

use super::mail::recv_filter;
use super::progress::ScheduleProgress;
use super::storage::OperationKind;
use crate::error::{Cause, ProcStatus, ProcessorState, RunError, WantedMessage};
use crate::message::RawTag;
use crate::time::Time;
use crate::trace::Trace;

/// The result of playing a schedule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlayReport {
    /// The time at which the last rank was done.
    pub time: Time,
    /// The time at which each rank was done.
    pub finishes: Vec<Time>,
    /// The number of messages, including the requests and replies before long ones.
    pub messages: u64,
    /// The number of stalls: times that a send had to wait because the network had no room.
    pub stalls: u64,
    /// The length of all stalls together.
    pub stall_time: Time,
    /// The number of events: computations, sends and receptions. By LogGOPSim's rules, by which a message is
    /// received whether or not a receive is posted, posted receives count too.
    pub events: u64,
    /// The activities and messages of the ranks, if the player was set to [trace](super::Player::trace);
    /// without calls, since a schedule has none.
    pub trace: Option<Trace>,
}

/// Returns the error of a play in which nothing more can happen although operations remain.
pub(super) fn deadlock_error(
    progress: &ScheduleProgress,
    now: impl Fn(usize) -> Time,
    sending: impl Fn(usize, u32) -> Option<ProcStatus>,
) -> RunError {
    let schedule = progress.schedule;
    let mut waiting = 0;
    let mut state = |id: usize| {
        let mut operations = schedule.range(id);
        let mut ready = operations.clone().filter(|operation| progress.is_ready(*operation));
        let doing = match operations.find(|operation| !progress.is_done(*operation)) {
            None => ProcStatus::Finished,
            Some(first) => {
                waiting += 1;
                ready.clone().find_map(|operation| sending(id, operation)).unwrap_or_else(|| {
                    let receive = ready.find(|operation| {
                        progress.operation(id as u32, *operation).kind == OperationKind::Recv
                    });
                    let want = recv_filter(&progress.operation(id as u32, receive.unwrap_or(first)));
                    ProcStatus::WaitingFor(WantedMessage { filter: want, name: None })
                })
            }
        };
        ProcessorState { id, at: now(id), status: doing }
    };
    let processors: Vec<ProcessorState> = (0..schedule.ranks()).map(&mut state).collect();
    RunError { cause: Cause::Deadlock { waiting, of: processors.len() }, processors }
}

/// Returns the error for messages that were not received, given as arrival, receiver, sender and tag; `None`
/// if there are none.
pub(super) fn not_received_error(
    messages: impl Iterator<Item = (Time, usize, u32, RawTag)>,
) -> Option<RunError> {
    let mut count = 0;
    let (arrival, to, from, tag) = messages.inspect(|_| count += 1).min()?;
    let about = tag.without_request().to_string();
    Some(Cause::NotReceived { count, from: from as usize, to, about, arrival }.into())
}
