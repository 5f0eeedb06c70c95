//! The result of playing a schedule: a report, or an error.

use loggp_model::error::{Cause, ProcStatus, ProcessorState, RunError, WantedMessage};
use loggp_model::message::RawTag;
use loggp_model::time::Time;
use loggp_model::transport::Passage;
use loggp_trace::Trace;

use super::progress::ScheduleProgress;

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
    /// For each message of the trace, the numbers in their ranks of the operations that sent and received it;
    /// [`NOT_RECEIVED`](PlayReport::NOT_RECEIVED) if it goes to a memory.
    pub operations: Vec<[u32; 2]>,
    /// When each operation began and was done, if the player was set to [say it](super::Player::moments): those of
    /// rank 0 first, each rank's in the order in which they were written. A receive begins when it is posted.
    pub moments: Option<Vec<(Time, Time)>>,
    /// Sentences about what is probably a mistake in the schedule: receives that name another length than their
    /// message has.
    pub warnings: Vec<String>,
}

impl PlayReport {
    /// Counts a message that has gone its way.
    #[inline]
    pub(super) fn count_message(&mut self, passage: &Passage) {
        let stall = passage.admitted - passage.ready;
        self.messages += 1;
        self.events += 1;
        self.stalls += u64::from(stall > Time::ZERO);
        self.stall_time += stall;
    }

    /// The number in place of the operation that receives a message, if none does.
    pub const NOT_RECEIVED: u32 = u32::MAX;
}

/// Returns the error of a play that was told to stop.
#[cold]
pub(super) fn stopped() -> RunError {
    Cause::Host("it was stopped".into()).into()
}

/// Ends a play in which nothing more can happen. Returns its report, or its error. `finishes` has the time of
/// each rank, `sending` returns the status of an operation if it is a send that waits for its receiver, and
/// `left` are the messages that were not received, as arrival, receiver, sender and tag.
pub(super) fn finish(
    mut report: PlayReport,
    progress: &ScheduleProgress,
    finishes: Vec<Time>,
    sending: impl Fn(usize, u32) -> Option<ProcStatus>,
    left: impl Iterator<Item = (Time, usize, u32, RawTag)>,
) -> Result<PlayReport, RunError> {
    if progress.remaining > 0 {
        return Err(deadlock_error(progress, &finishes, sending));
    }
    let mut count = 0;
    if let Some((arrival, to, from, tag)) = left.inspect(|_| count += 1).min() {
        let about = tag.without_announce().to_string();
        return Err(Cause::NotReceived { count, from: from as usize, to, about, arrival }.into());
    }
    if let Some(id) = finishes.iter().position(|finish| *finish == Time::MAX) {
        return Err(Cause::EndOfTime { id }.into());
    }
    report.warnings = progress.misnamed.iter().map(ToString::to_string).collect();
    report.time = finishes.iter().copied().max().unwrap_or_default();
    report.finishes = finishes;
    Ok(report)
}

/// Returns the error of a play in which nothing more can happen although operations remain.
fn deadlock_error(
    progress: &ScheduleProgress,
    now: &[Time],
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
                    let receive = ready.find(|operation| progress.is_receive(id as u32, *operation));
                    let want = progress.operation(id as u32, receive.unwrap_or(first)).filter();
                    ProcStatus::WaitingFor(WantedMessage { filter: want, name: None })
                })
            }
        };
        ProcessorState { id, at: now[id], status: doing, place: None }
    };
    let processors: Vec<ProcessorState> = (0..schedule.ranks()).map(&mut state).collect();
    RunError { cause: Cause::Deadlock { waiting, of: processors.len() }, processors }
}
