//! Plays schedules event by event, without stacks and without data.
//!
//! Under the [papers' rules](papers) a rank is a processor of the machine, and the engine drives the same
//! parts as the machine itself: a rank's [`Rank`](crate::rules::rank::Rank), the [`Network`], and the
//! protocol of long messages. So a schedule whose operations wait for each other in a row takes exactly as
//! long as the same program on the virtual clock. [`LogGOPSim`'s rules](loggopsim) differ;
//! `docs/reference/replay.md` describes them.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use loggp_model::error::{Cause, RunError};
use loggp_model::params::{Latency, Level, LeveledParams, Noise, Params, ParamsError, Ports};
use loggp_model::rules::network::{MOST_WORDS, Network};
use loggp_model::text::names;
use loggp_model::time::Time;
use loggp_model::transport::{Protocol, Transport};
use loggp_trace::Trace;

use super::kept::order::KeptOrder;
use super::lists::ListPool;
use super::memory::check_bytes;
use super::operations::{OperationKind, PackedOperation};
use super::outcome::PlayReport;
use super::papers::{PapersPlay, Played};
use super::sort::{sort_by_rank, sort_by_rank_and_key};
use super::storage::Schedule;
use super::watch::{Beginning, Watcher};
use super::{loggopsim, papers};

names!(CostModel: "papers" Papers "loggopsim" LogGOPSim);

/// The rules by which a schedule is played.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum CostModel {
    /// The papers' rules, which this machine follows.
    #[default]
    Papers,
    /// LogGOPSim's rules: no capacity and no ports, g at both ends, and a message is received when it
    /// arrives, whether or not a receive is posted.
    LogGOPSim,
}

/// A player of schedules on a machine. The latency is exactly L, and of ranks that act at the same time the
/// lower number goes first.
#[derive(Clone, Debug)]
#[must_use = "a setting gives back the player that has it"]
pub struct Player {
    machine: LeveledParams,
    transport: Transport,
    noise: Option<Noise>,
    rules: CostModel,
    is_traced: bool,
    has_moments: bool,
    receives_first: bool,
    stop: Option<Arc<AtomicBool>>,
}

impl Player {
    /// Creates a player for a machine with these parameters, and with levels or without, with the papers' rules
    /// and single ports. The number of processors is the schedule's number of ranks; P is ignored. LogGOPSim's
    /// rules have no levels.
    pub fn new(machine: impl Into<LeveledParams>) -> Player {
        Player {
            machine: machine.into(),
            transport: Transport::default(),
            noise: None,
            rules: CostModel::default(),
            is_traced: false,
            has_moments: false,
            receives_first: false,
            stop: None,
        }
    }

    /// Sets the parameters of the machine and of its levels.
    pub fn machine(self, machine: LeveledParams) -> Player {
        Player { machine, ..self }
    }

    /// Sets whether long messages to and from a rank share a port.
    pub fn ports(self, ports: Ports) -> Player {
        Player { transport: Transport { ports, ..self.transport }, ..self }
    }

    /// Sets who moves messages of more than S words (LogGPS).
    pub fn rendezvous(self, protocol: Protocol) -> Player {
        Player { transport: Transport { rendezvous: protocol, ..self.transport }, ..self }
    }

    /// Gives the ranks' processors noise: it lengthens computations and the overhead of messages.
    pub fn noise(self, noise: impl Into<Option<Noise>>) -> Player {
        Player { noise: noise.into(), ..self }
    }

    /// Sets the rules.
    pub fn rules(self, rules: CostModel) -> Player {
        Player { rules, ..self }
    }

    /// Sets whether a reception goes before a send that could begin at the same moment, as in an
    /// exchange. By default the one goes first that became ready first.
    pub fn receive_first(self, receives_first: bool) -> Player {
        Player { receives_first, ..self }
    }

    /// Sets whether the report has a trace. Under LogGOPSim's rules this is an error, because a trace follows
    /// the papers' rules.
    pub fn trace(self, trace: bool) -> Player {
        Player { is_traced: trace, ..self }
    }

    /// Sets whether the report has the moments of all operations, which is so only under the papers' rules.
    pub fn moments(self, moments: bool) -> Player {
        Player { has_moments: moments, ..self }
    }

    /// Sets a flag that ends a play with an error at its next act, once it is true.
    pub fn stop_if(self, stop: Arc<AtomicBool>) -> Player {
        Player { stop: Some(stop), ..self }
    }

    /// Plays a schedule. As on the machine, a deadlock, messages that are not received, and the end of time
    /// are errors.
    pub fn run(&self, schedule: &Schedule) -> Result<PlayReport, RunError> {
        match self.rules {
            CostModel::Papers => Ok(self.play_by_papers(schedule, |play| play.with_memories())?.report),
            CostModel::LogGOPSim => self.run_by_loggopsim(schedule),
        }
    }

    /// Plays a schedule by the papers' rules, whatever the rules are, and calls `watch` with each operation that
    /// begins.
    pub fn run_watched(
        &self,
        schedule: &Schedule,
        watch: &mut dyn FnMut(Beginning),
    ) -> Result<PlayReport, RunError> {
        let played =
            self.play_by_papers(schedule, |play| play.with_memories().watched_by(Watcher(Some(watch))));
        Ok(played?.report)
    }

    /// Plays a schedule by the papers' rules, whatever the rules are, and keeps the order in which each rank acts;
    /// `None` if there are acts that no kept order has: noise lengthens them, or a rank waits for a moment.
    pub fn run_keeping_order(
        &self,
        schedule: &Schedule,
    ) -> Result<(PlayReport, Option<KeptOrder>), RunError> {
        let Played { report, done, .. } =
            self.play_by_papers(schedule, |play| play.with_memories().keeping_order())?;
        let done = done.filter(|_| self.noise.is_none());
        let keep = |done| KeptOrder::from_acts(done, schedule.ranks(), self.transport);
        Ok((report, done.and_then(keep)))
    }

    /// Plays a schedule of GOAL by the papers' rules, whatever the rules are. A page has no room for others.
    pub fn run_by_papers(&self, schedule: &Schedule) -> Result<PlayReport, RunError> {
        Ok(self.play_by_papers(schedule, |play| play)?.report)
    }

    fn play_by_papers<'w>(
        &self,
        schedule: &Schedule,
        prepare: impl for<'a> FnOnce(PapersPlay<'a, 'w>) -> PapersPlay<'a, 'w>,
    ) -> Result<Played, RunError> {
        let params = self.checked_params(schedule)?;
        let levels = &self.machine.levels;
        Level::check(&params, levels)?;
        let all = [&params].into_iter().chain(levels.iter().map(|level| &level.params));
        self.transport.check(all, false)?;
        let network =
            Network::new(params, levels, self.transport, Latency::Exact).with_noise(self.noise.clone());
        check_lengths(schedule, &network)?;
        let play = PapersPlay::new(schedule, &network, self.is_traced, self.stop());
        let play = play.with_moments(self.has_moments).receiving_first(self.receives_first);
        let mut played = prepare(play).run()?;
        let report = &mut played.report;
        report.trace = played.log.take().map(|log| self.to_trace(params, log));
        if let Some(trace) = &mut report.trace {
            trace.reaches_memories =
                report.operations.iter().any(|[_, received]| *received == PlayReport::NOT_RECEIVED);
        }
        Ok(played)
    }

    /// Returns the parameters of the machine for a schedule, if this computer has room for it.
    fn checked_params(&self, schedule: &Schedule) -> Result<Params, RunError> {
        let params = Params { P: schedule.ranks(), ..self.machine.params };
        params.check()?;
        self.check_memory(schedule)?;
        Ok(params)
    }

    fn run_by_loggopsim(&self, schedule: &Schedule) -> Result<PlayReport, RunError> {
        let params = self.checked_params(schedule)?;
        let refuse = |sentence: &str| Err(Cause::Params(ParamsError::new(sentence)).into());
        if self.is_traced {
            return refuse(
                "a trace is one of a machine by the papers' rules; play it by these, or without a trace",
            );
        }
        if let Some(what) = schedule.beyond_goal() {
            return refuse(&format!("a rank {what}, which LogGOPSim has not; play it by the papers' rules"));
        }
        if self.transport.rendezvous.is_read() {
            return refuse(
                "its receivers pull long messages, which LogGOPSim does not know; play it by the papers' rules, or let \
                 messages be pushed",
            );
        }
        if !self.machine.levels.is_empty() {
            return refuse(
                "its machine has levels, which LogGOPSim has not; play it by the papers' rules, or leave them out",
            );
        }
        let costs = loggopsim::LogGOPSimCosts::from_params(&params)?;
        loggopsim::LogGOPSimPlay::new(schedule, costs, self.noise.as_ref(), self.stop()).run()
    }

    /// Returns the flag that ends a play, once it is true.
    fn stop(&self) -> &AtomicBool {
        static NEVER: AtomicBool = AtomicBool::new(false);
        self.stop.as_deref().unwrap_or(&NEVER)
    }

    /// Returns the trace of a play, sorted as that of a run.
    fn to_trace(&self, params: Params, mut log: papers::PlayLog) -> Trace {
        sort_by_rank(&mut log.activities, params.P, |activity| activity.id);
        sort_by_rank_and_key(&mut log.messages, params.P, |message| message.id.from, |message| message.id);
        let trace = Trace {
            levels: self.machine.levels.clone(),
            noise: self.noise.clone(),
            activities: log.activities,
            messages: log.messages,
            ..Trace::empty(params)
        };
        trace.with_transport(self.transport)
    }

    /// Returns an error if the least memory that the play takes is more than this computer has.
    fn check_memory(&self, schedule: &Schedule) -> Result<(), RunError> {
        const FEW: usize = 1 << 20;
        if schedule.len() <= FEW {
            return Ok(());
        }
        let operation = match self.rules {
            CostModel::Papers => papers::BYTES,
            CostModel::LogGOPSim => loggopsim::BYTES,
        };
        let bytes = schedule.len() as u64 * operation
            + schedule.initially_ready as u64 * ListPool::<(Time, u32)>::BYTES;
        let purpose = || {
            let (operations, ranks) = (schedule.len(), schedule.ranks());
            format!("to play {operations} operations of {ranks} ranks")
        };
        check_bytes(bytes, purpose).map_err(|cause| match cause {
            Cause::Host(why) => Cause::Host(format!("{why}; give fewer ranks or operations")).into(),
            other => other.into(),
        })
    }
}

/// Returns an error for the first message that is longer than the machine allows.
fn check_lengths(schedule: &Schedule, network: &Network) -> Result<(), RunError> {
    let words = |bytes: u64| network.params().words(usize::try_from(bytes).unwrap_or(usize::MAX));
    let least = network.least_longest();
    if !schedule.operations.iter().any(|operation| words(operation.bytes()) > least) {
        return Ok(());
    }
    let of = |id: usize| schedule.range(id).map(move |operation| (id, schedule.operation(id, operation)));
    let too_long = |(id, operation): (usize, PackedOperation)| {
        let peer = operation.peer as usize;
        let lengths = match operation.kind {
            OperationKind::Send(bytes) => vec![(bytes, network.longest(id, peer))],
            OperationKind::Put(bytes) => vec![(bytes, network.longest_one_sided(id, peer))],
            OperationKind::Get(back) => {
                vec![(operation.tag.into(), network.longest_one_sided(id, peer)), (back, MOST_WORDS)]
            }
            _ => vec![],
        };
        let lengths = lengths.into_iter().map(|(bytes, longest)| (words(bytes), longest));
        let too_long = lengths.into_iter().find(|(words, longest)| words > longest);
        too_long.map(|(words, longest)| Cause::TooLong { id, words, longest })
    };
    let cause = (0..schedule.ranks()).flat_map(of).find_map(too_long);
    cause.map_or(Ok(()), |cause| Err(cause.into()))
}
