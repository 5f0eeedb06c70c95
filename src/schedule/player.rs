//! Replays: schedules played by events, without stacks and without data.
//!
//! Under the [papers' rules](papers) a rank is a processor of the machine, and the engine drives what the machine itself is
//! made of: a rank's [`Pace`](crate::rules::pace::Pace), the [`Network`], and the protocol of long messages. So a schedule whose
//! operations wait for each other in a row takes what the same program takes on the virtual clock, to the picosecond.
//! [`LogGOPSim`'s rules](loggopsim) are others, told in `docs/reference/replay.md`.

use super::outcome::Played;
use super::queue::Links;
use super::record::Record;
use super::stored::{Kind, Packed, Schedule};
use super::{loggopsim, papers};
use crate::error::{Cause, RunError};
use crate::machine::limits::check_bytes;
use crate::params::{Latency, Noise, Params, ParamsError, Ports};
use crate::rules::network::Network;
use crate::text::names;

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
#[derive(Clone, Debug)]
#[must_use = "a setting gives back the player that has it"]
pub struct Player {
    /// What everything costs.
    params: Params,
    /// Whether long messages to and from a rank share a port.
    ports: Ports,
    /// The noise of the ranks' processors.
    noise: Option<Noise>,
    /// Whose rules.
    rules: Rules,
    /// Whether it is noted what ranks do.
    traced: bool,
}

impl Player {
    /// On a machine with these parameters, by the papers' rules and with single ports. There are as many processors as the
    /// schedule has ranks, whatever P is.
    pub fn new(params: Params) -> Player {
        Player { params, ports: Ports::default(), noise: None, rules: Rules::default(), traced: false }
    }

    /// Sets whether long messages to and from a rank share a port.
    pub fn ports(self, ports: Ports) -> Player {
        Player { ports, ..self }
    }

    /// Gives the ranks' processors noise: it lengthens computations and the overhead of messages.
    pub fn noise(self, noise: impl Into<Option<Noise>>) -> Player {
        Player { noise: noise.into(), ..self }
    }

    /// Sets whose rules hold.
    pub fn rules(self, rules: Rules) -> Player {
        Player { rules, ..self }
    }

    /// Sets whether it is noted what ranks do. LogGOPSim's rules are not those of a trace, and refuse.
    pub fn trace(self, trace: bool) -> Player {
        Player { traced: trace, ..self }
    }

    /// Plays a schedule. What cannot end is an error, as it is on the machine: a deadlock, messages that nobody receives, and
    /// the end of time.
    pub fn run(&self, schedule: &Schedule) -> Result<Played, RunError> {
        let params = Params { P: schedule.ranks(), ..self.params };
        params.check()?;
        self.check_room(schedule)?;
        match self.rules {
            Rules::Papers => {
                check_lengths(schedule, &params)?;
                let network = Network::new(params, self.ports, Latency::Exact).with_noise(self.noise.clone());
                let record = self.traced.then(|| Record::of(self.ports, self.noise.clone()));
                papers::Play::new(schedule, &network, record).run()
            }
            Rules::LogGOPSim if self.traced => {
                let sentence =
                    "a trace is one of a machine by the papers' rules; play it by these, or without a trace";
                Err(Cause::Params(ParamsError::new(sentence)).into())
            }
            Rules::LogGOPSim => {
                let costs = loggopsim::Costs::of(&params)?;
                loggopsim::Play::new(schedule, costs, self.noise.as_ref()).run()
            }
        }
    }

    /// Refuses a schedule that this computer's memory does not hold while it is played: what it takes at the least is known.
    fn check_room(&self, schedule: &Schedule) -> Result<(), RunError> {
        const FEW: usize = 1 << 20;
        if schedule.len() <= FEW {
            return Ok(());
        }
        let operation = match self.rules {
            Rules::Papers => papers::BYTES,
            Rules::LogGOPSim => loggopsim::BYTES,
        };
        let bytes = schedule.len() as u64 * operation + schedule.ready_at_once() as u64 * Links::BYTES;
        let said = || {
            let (operations, ranks) = (schedule.len(), schedule.ranks());
            format!("to play {operations} operations of {ranks} ranks")
        };
        check_bytes(bytes, said).map_err(|cause| match cause {
            Cause::Host(why) => Cause::Host(format!("{why}; give fewer ranks or operations")).into(),
            other => other.into(),
        })
    }
}

/// Refuses a message that cannot be.
fn check_lengths(schedule: &Schedule, params: &Params) -> Result<(), RunError> {
    let longest = params.longest().unwrap_or(usize::MAX).min(u32::MAX as usize);
    let words = |operation: &Packed| params.words(usize::try_from(operation.size).unwrap_or(usize::MAX));
    let is_too_long = |operation: &&Packed| operation.kind == Kind::Send && words(operation) > longest;
    if !schedule.operations.iter().any(|operation| is_too_long(&operation)) {
        return Ok(());
    }
    let of = |id: usize| schedule.range(id).map(move |operation| (id, schedule.operation(id, operation)));
    let first = (0..schedule.ranks()).flat_map(of).find(|(_, operation)| is_too_long(&operation));
    let cause = first.map(|(id, operation)| Cause::TooLong { id, words: words(&operation), longest });
    cause.map_or(Ok(()), |cause| Err(cause.into()))
}
