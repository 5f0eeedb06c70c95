//! How the play of a schedule ends: with its times, or with an error.

use super::mail::wanted;
use super::progress::Progress;
use super::stored::Kind;
use crate::error::{Cause, Doing, ProcessorState, RunError, WantedMessage};
use crate::message::RawTag;
use crate::time::Time;
use crate::trace::Trace;

/// How a schedule went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Played {
    /// When the last rank was done.
    pub time: Time,
    /// When each rank was done.
    pub finishes: Vec<Time>,
    /// How many messages there were, those that only ask to send a long one included.
    pub messages: u64,
    /// How often a rank stalled, because the network had no room.
    pub stalls: u64,
    /// How long ranks stalled, all together.
    pub stalled: Time,
    /// How many events there were: computations, sends and receptions; by LogGOPSim's rules, where a message comes whether
    /// or not a receive was posted, the receives too.
    pub events: u64,
    /// What ranks did, if the player was told to [trace](super::Player::trace): without calls, as a schedule has none.
    pub trace: Option<Trace>,
}

/// The error of a replay in which nothing more happens and not all is done: what each rank was doing.
pub(super) fn stuck(
    progress: &Progress,
    now: impl Fn(usize) -> Time,
    sending: impl Fn(usize, u32) -> Option<Doing>,
) -> RunError {
    let schedule = progress.schedule;
    let mut waiting = 0;
    let mut state = |id: usize| {
        let mut operations = schedule.range(id);
        let mut ready = operations.clone().filter(|operation| progress.is_ready(*operation));
        let doing = match operations.find(|operation| !progress.is_done(*operation)) {
            None => Doing::Finished,
            Some(first) => {
                waiting += 1;
                ready.clone().find_map(|operation| sending(id, operation)).unwrap_or_else(|| {
                    let receive =
                        ready.find(|operation| progress.operation(id as u32, *operation).kind == Kind::Recv);
                    let want = wanted(&progress.operation(id as u32, receive.unwrap_or(first)));
                    Doing::WaitingFor(WantedMessage { want, name: None })
                })
            }
        };
        ProcessorState { id, at: now(id), doing }
    };
    let processors: Vec<ProcessorState> = (0..schedule.ranks()).map(&mut state).collect();
    RunError { cause: Cause::Deadlock { waiting, of: processors.len() }, processors }
}

/// The error of messages that nobody received: by arrival, receiver, sender and tag.
pub(super) fn not_received(messages: impl Iterator<Item = (Time, usize, u32, RawTag)>) -> Option<RunError> {
    let mut count = 0;
    let (arrival, to, from, tag) = messages.inspect(|_| count += 1).min()?;
    let about = tag.requested().to_string();
    Some(Cause::NotReceived { count, from: from as usize, to, about, arrival }.into())
}
