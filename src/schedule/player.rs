//! Replays: schedules played by events, without stacks and without data.
//!
//! Under the [papers' rules](papers) a rank is a processor of the machine, and the engine drives what the machine itself is
//! made of: a rank's [`Pace`](crate::rules::node::Pace), the [`Network`], and the protocol of long messages. So a schedule whose
//! operations wait for each other in a row takes what the same program takes on the virtual clock, to the picosecond.
//! [`LogGOPSim`'s rules](loggopsim) are others, told in `docs/replay.md`.

use super::{Kind, Packed, Schedule};
use crate::error::{Cause, Doing, ProcessorState, RunError, WantedMessage};
use crate::message::RawTag;
use crate::params::Latency;
use crate::params::Ports;
use crate::params::{Params, ParamsError};
use crate::rules::network::Network;
use crate::text::names;
use crate::time::Time;

use super::desk::wanted;
use super::progress::Progress;
use super::{loggopsim, papers};

names!(Rules: "papers" Papers "loggopsim" LogGOPSim);

/// Whose rules a schedule is played by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rules {
    /// The papers', as this machine has them.
    #[default]
    Papers,
    /// LogGOPSim's: no capacity and no ports, g at both ends, and a message is received when it arrives, whether or not a
    /// receive waits for it.
    LogGOPSim,
}

/// Plays schedules on a machine. The latency is exactly L, and of those that act at the same time the lower number goes
/// first.
#[derive(Clone, Copy, Debug)]
#[must_use = "a setting gives back the player that has it"]
pub struct Player {
    /// What everything costs.
    params: Params,
    /// Whether long messages to and from a rank share a port.
    ports: Ports,
    /// Whose rules.
    rules: Rules,
}

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
}

impl Player {
    /// On a machine with these parameters, by the papers' rules and with single ports. There are as many processors as the
    /// schedule has ranks, whatever P is.
    pub fn new(params: Params) -> Player {
        Player { params, ports: Ports::default(), rules: Rules::default() }
    }

    /// Sets whether long messages to and from a rank share a port.
    pub fn ports(self, ports: Ports) -> Player {
        Player { ports, ..self }
    }

    /// Sets whose rules hold.
    pub fn rules(self, rules: Rules) -> Player {
        Player { rules, ..self }
    }

    /// Plays a schedule. What cannot end is an error, as it is on the machine: a deadlock, messages that nobody receives, and
    /// the end of time.
    pub fn run(&self, schedule: &Schedule) -> Result<Played, RunError> {
        let params = Params { P: schedule.ranks(), ..self.params };
        params.check()?;
        match self.rules {
            Rules::Papers => {
                check_lengths(schedule, &params)?;
                let network = Network::new(params, self.ports, Latency::Exact);
                papers::Play::new(schedule, &network).run()
            }
            Rules::LogGOPSim => {
                let costs = loggopsim::Costs::of(&params)?;
                loggopsim::Play::new(schedule, costs).run()
            }
        }
    }
}

/// Refuses a message that cannot be.
fn check_lengths(schedule: &Schedule, params: &Params) -> Result<(), RunError> {
    let longest = params.longest().unwrap_or(usize::MAX).min(u32::MAX as usize);
    let words = |operation: &Packed| params.words(usize::try_from(operation.size).unwrap_or(usize::MAX));
    let is_too_long = |operation: &&Packed| operation.kind == Kind::Send && words(operation) > longest;
    let Some(place) = schedule.all().iter().position(|operation| is_too_long(&operation)) else {
        return Ok(());
    };
    let id = (0..schedule.ranks()).find(|rank| schedule.range(*rank).contains(&place)).unwrap_or_default();
    Err(Cause::TooLong { id, words: words(&schedule.all()[place]), longest }.into())
}

/// The error of a replay in which nothing more happens and not all is done: what each rank was doing.
pub(super) fn stuck(
    progress: &Progress,
    now: impl Fn(usize) -> Time,
    sending: impl Fn(u32) -> Option<Doing>,
) -> RunError {
    let schedule = progress.schedule;
    let mut waiting = 0;
    let mut state = |id: usize| {
        let mut operations = schedule.range(id).map(|operation| operation as u32);
        let doing = if operations.clone().all(|operation| progress.is_done(operation)) {
            Doing::Finished
        } else {
            waiting += 1;
            let mut ready = operations.clone().filter(|operation| progress.is_ready(*operation));
            let sends = ready.clone().find_map(&sending);
            let receive = ready.find(|operation| progress.operation(*operation).kind == Kind::Recv);
            let receive = receive.or_else(|| operations.find(|operation| !progress.is_done(*operation)));
            sends.unwrap_or_else(|| {
                Doing::WaitingFor(WantedMessage {
                    want: wanted(progress.operation(receive.unwrap_or_default())),
                    name: None,
                })
            })
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

/// What only other machines can be.
pub(super) fn refuse<T>(sentence: String) -> Result<T, ParamsError> {
    Err(ParamsError::new(sentence))
}
