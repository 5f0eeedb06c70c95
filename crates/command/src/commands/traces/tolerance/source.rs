//! The run whose tolerance is asked for: a schedule that is played, or a recorded run that is made again.

use std::path::Path;

use loggp::params::LeveledParams;
use loggp::path::{Events, Path as CriticalPath};
use loggp::schedule::{KeptOrder, Player, Schedule};
use loggp::trace::Trace;
use loggp::{RunError, Time};
use loggp_document::printable_line;
use loggp_schedule::program::ProgramSchedule;
use loggp_study::analysis::{
    CurveRequest, FailedReplay, LatencyUse, RunCurve, RunPath, check_trace, latency_uses, message_tags,
    replay_with,
};
use loggp_study::rows::tolerance::{PARTS, RunOrder, ToleranceRow};

use super::{RankOrder, ToleranceCommand, report};
use crate::ask::output::{TRACE_EXTENSIONS, extension};
use crate::ask::trace_input::read_trace;
use crate::commands::schedules::schedule_run::{ScheduleRun, not_for_trace, play_error};
use crate::error::CliError;
use crate::host::source::beginning;
use crate::number::Unit;
use crate::tell::call_names::{CallNames, joined_name};
use crate::tell::formula::replay_error;
use crate::tell::heading::{cycle_text, level_lines, parameters, recorded_text};

/// The run, and the machine on which it is made.
#[expect(clippy::large_enum_variant)] // there is one of them
pub(super) enum RunSource {
    Schedule { run: ScheduleRun, kept: Result<KeptSchedule, FreeOrder> },
    Trace { name: String, trace: Trace, machine: LeveledParams },
}

/// Why each rank of a schedule does first what can begin first.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FreeOrder {
    /// The command line asks for this order.
    Asked,
    /// There is no other: ranks wait for a moment, or have noise.
    Only,
    /// In the order of the machine itself, each act after the one before it, the schedule takes another time.
    OtherTime,
}

/// The order in which each rank of a schedule acted on the machine itself.
pub(super) struct KeptSchedule {
    order: KeptOrder,
    /// For each message, the numbers in their ranks of the operations that sent and received it in the
    /// schedule itself.
    operations: Vec<[u32; 2]>,
}

impl KeptSchedule {
    /// Plays a schedule, and keeps its order, unless a schedule in this order takes another time, as where a rank
    /// does something else while its long message waits for the receiver.
    fn find(
        schedule: &Schedule,
        player: &Player,
        machine: LeveledParams,
    ) -> Result<Result<KeptSchedule, FreeOrder>, CliError> {
        let (report, order) = player.clone().trace(false).run_keeping_order(schedule).map_err(play_error)?;
        let Some(order) = order else { return Ok(Err(FreeOrder::Only)) };
        let again = order.run(machine);
        let is_same = again.is_ok_and(|again| again.finishes() == report.finishes);
        Ok(match is_same {
            true => Ok(KeptSchedule { order, operations: report.operations }),
            false => Err(FreeOrder::OtherTime),
        })
    }
}

impl RunSource {
    /// Reads the input of the command, and plays it once if it is a schedule.
    pub(super) fn read(command: &ToleranceCommand) -> Result<RunSource, CliError> {
        let path = Path::new(&command.input);
        let is_trace = |begin: Vec<u8>| begin.starts_with(b"{") || begin.starts_with(b"loggp");
        match TRACE_EXTENSIONS.contains(&&*extension(path)) || beginning(path).is_ok_and(is_trace) {
            true => RunSource::read_trace(command, path),
            false => RunSource::read_schedule(command),
        }
    }

    fn read_schedule(command: &ToleranceCommand) -> Result<RunSource, CliError> {
        let run = command.play.read(&command.input, &[])?;
        let (schedule, player) = (&run.program.schedule, &run.player);
        let kept = match command.order.unwrap_or_default() {
            RankOrder::Kept => KeptSchedule::find(schedule, player, run.choice.machine())?,
            RankOrder::Free => player.run(schedule).map(|_| Err(FreeOrder::Asked)).map_err(play_error)?,
        };
        Ok(RunSource::Schedule { run, kept })
    }

    fn read_trace(command: &ToleranceCommand, path: &Path) -> Result<RunSource, CliError> {
        let ToleranceCommand { input, play, .. } = command;
        play.refuse_for_trace(input, true)?;
        if command.order.is_some() {
            return Err(not_for_trace("--order", input, true));
        }
        let trace = read_trace(path)?;
        let refuse = |why: &dyn std::fmt::Display| CliError::Request(format!("{input}: {why}"));
        check_trace(&trace).map_err(|why| refuse(&why))?;
        if trace.calls.is_empty() {
            return Err(refuse(
                &"it has no calls, so its run cannot be made again; give the schedule itself",
            ));
        }
        let changes = play.choice.params.as_deref().unwrap_or_default();
        let set = trace.machine().set(changes);
        let machine = set.map_err(|why| CliError::Request(format!("--params {changes}: {why}")))?;
        if machine.params.P != trace.params.P {
            return Err(CliError::request(
                "the trace says how many processors there are; leave P out of --params",
            ));
        }
        Ok(RunSource::Trace { name: input.clone(), trace, machine })
    }

    /// Returns the name of the input.
    fn name(&self) -> &str {
        match self {
            RunSource::Schedule { run, .. } => &run.name,
            RunSource::Trace { name, .. } => name,
        }
    }

    /// Returns the recorded program, if it is one.
    pub(super) fn program(&self) -> Option<&ProgramSchedule> {
        match self {
            RunSource::Schedule { run, .. } => Some(&run.program).filter(|program| program.is_recorded()),
            RunSource::Trace { .. } => None,
        }
    }

    /// Returns the name of the machine, if it has one.
    fn machine_name(&self) -> Option<&'static str> {
        match self {
            RunSource::Schedule { run, .. } => run.choice.name,
            RunSource::Trace { .. } => None,
        }
    }

    /// Returns the parameters of the machine and of its levels.
    pub(super) fn machine(&self) -> LeveledParams {
        match self {
            RunSource::Schedule { run, .. } => run.choice.machine(),
            RunSource::Trace { machine, .. } => machine.clone(),
        }
    }

    /// Returns the unit of times.
    pub(super) fn unit(&self) -> Unit {
        match self {
            RunSource::Schedule { run, .. } => run.choice.unit,
            RunSource::Trace { trace, .. } => Unit::of_trace(trace),
        }
    }

    /// Returns the heading of a report.
    pub(super) fn heading(&self) -> String {
        match self {
            RunSource::Schedule { run, kept } => {
                let order = if kept.is_ok() { ", kept order" } else { ", free order" };
                format!("{}\n{}", printable_line(&run.name), run.heading(&run.choice, order))
            }
            RunSource::Trace { name, trace, machine } => {
                let LeveledParams { params, levels, .. } = machine;
                let unit = self.unit();
                let parameters = parameters(params, &unit).join(", ")
                    + &cycle_text(params, unit)
                    + &level_lines(params.P, levels, &unit);
                format!(
                    "{}\n{parameters}\n{}, times in {}",
                    printable_line(name),
                    recorded_text(trace),
                    unit.name
                )
            }
        }
    }

    /// Finds how much more of a parameter of this machine the run tolerates.
    pub(super) fn row(
        &self,
        machine: &LeveledParams,
        request: &CurveRequest,
    ) -> Result<ToleranceRow<'_>, CliError> {
        let (parameter, is_whole) = (request.parameter, request.has_all_pieces);
        let fail = |FailedReplay { value, error }| replay_error(&value, &error);
        let curve = match self {
            RunSource::Schedule { kept: Ok(kept), .. } => {
                RunCurve::find_kept(machine.clone(), request, &kept.order)
            }
            _ => RunCurve::find(machine.clone(), request, &|machine| self.run(machine)),
        };
        let curve = curve.map_err(fail)?;
        let uses = match parameter.parameter.name {
            "L" if !request.parts.is_empty() => self.latency_uses(&curve)?,
            _ => Vec::new(),
        };
        let free_time =
            |part: u32| self.time_in_free_order(machine.with(parameter, curve.tolerated(part)?).ok()?);
        let free = if is_whole { PARTS.map(free_time) } else { [None; PARTS.len()] };
        let (input, machine_params) = (self.name(), machine.clone());
        let (machine, unseen) = (self.machine_name(), self.program().map(report::unseen_calls));
        let order = self.order();
        Ok(ToleranceRow { input, machine, machine_params, order, curve, is_whole, free, uses, unseen })
    }

    /// Returns the order in which each rank acts at all values.
    fn order(&self) -> RunOrder {
        match self {
            RunSource::Schedule { kept: Ok(_), .. } => RunOrder::Kept,
            RunSource::Schedule { .. } => RunOrder::Free,
            RunSource::Trace { .. } => RunOrder::Calls,
        }
    }

    /// Returns a sentence on why the order is free, if nobody asked for that.
    pub(super) fn order_note(&self) -> Option<&'static str> {
        match self {
            RunSource::Schedule { kept: Err(FreeOrder::Only), .. } => Some(
                "free order, in which nothing can be proven: there is no order to keep, because ranks wait for moments or \
                 have noise",
            ),
            RunSource::Schedule { kept: Err(FreeOrder::OtherTime), .. } => Some(
                "free order, in which nothing can be proven: one act after another in the order of the machine itself, the \
                 schedule takes another time, as where a rank does something else while its long message waits for the \
                 receiver",
            ),
            _ => None,
        }
    }

    /// Makes the run on a machine with these parameters, in a free order.
    fn run(&self, machine: LeveledParams) -> Result<RunPath<'_>, RunError> {
        match self {
            RunSource::Schedule { run, .. } => {
                Ok(RunPath::from_trace(&run.play(machine)?.trace.expect("it is traced")))
            }
            RunSource::Trace { trace, .. } => Ok(RunPath::from_trace(&replay_with(trace, machine)?)),
        }
    }

    /// Returns the usual limit of the runs for a parameter: so many that short ones take seconds together.
    pub(super) fn usual_runs(&self, is_proof_wanted: bool) -> usize {
        /// The operations of all runs together where few runs show all.
        const MANY: usize = 300_000_000;
        /// The operations of all runs together where ports and the capacity make pieces without number: half a second.
        const FEW: usize = 3_000_000;
        let RunSource::Schedule { run, kept: Ok(kept) } = self else { return 300 };
        let runs = |operations: usize| operations / run.program.schedule.len().max(1);
        match kept.order.has_contention(&self.machine()) && !is_proof_wanted {
            true => runs(FEW).clamp(60, 3000),
            false => runs(MANY).clamp(300, 3000),
        }
    }

    /// Returns how many runs may be made at once: as many as the host has cores, if they take little memory.
    pub(super) fn threads(&self) -> usize {
        /// Limit of the threads.
        const MOST: usize = 8;
        match self {
            RunSource::Schedule { kept: Ok(_), .. } => {
                std::thread::available_parallelism().map_or(1, |cores| cores.get().min(MOST))
            }
            _ => 1,
        }
    }

    /// Returns the time of a schedule whose ranks act in any order, if they keep theirs otherwise and it
    /// comes to an end.
    fn time_in_free_order(&self, machine: LeveledParams) -> Option<Time> {
        match self {
            RunSource::Schedule { run, kept: Ok(_) } => {
                Some(run.player.clone().machine(machine).run(&run.program.schedule).ok()?.time)
            }
            _ => None,
        }
    }

    /// Returns the latencies of a level on the critical path that holds right above the machine's own L of that
    /// level, by the kind of their message.
    fn latency_uses(&self, curve: &RunCurve) -> Result<Vec<LatencyUse<String>>, CliError> {
        let seen_at = curve.pieces.first().map_or(curve.value, |piece| piece.seen_at);
        let parameter = curve.parameter;
        let about = format!("{}={}", parameter.name(), Time::from_ps(seen_at));
        let failed = |error: RunError| replay_error(&about, &error);
        let machine = self.machine().with(parameter, seen_at).map_err(|why| failed(why.into()))?;
        let level = parameter.level;
        match self {
            RunSource::Schedule { run, kept: Ok(kept) } => {
                let again = kept.order.run(machine).map_err(failed)?;
                let ends = |message: usize| kept.order.ends(message);
                Ok(schedule_uses(run, &again.path(), level, &kept.operations, &ends))
            }
            RunSource::Schedule { run, kept: Err(_) } => {
                let report = run.play(machine).map_err(failed)?;
                let trace = report.trace.expect("it is traced");
                let events = Events::new(&trace);
                let ends = |message: usize| [events.message(message).id.from, events.message(message).to];
                let path = CriticalPath::from_events(&events);
                Ok(schedule_uses(run, &path, level, &report.operations, &ends))
            }
            RunSource::Trace { trace, .. } => {
                let again = replay_with(trace, machine).map_err(failed)?;
                let events = Events::new(&again);
                let tags = message_tags(&events);
                let kind = |message: usize| tags[message].as_deref().unwrap_or("a message").to_string();
                Ok(latency_uses(&CriticalPath::from_events(&events), level, kind))
            }
        }
    }
}

/// Returns the latencies on a schedule's critical path by their messages, of which the operations and the
/// ranks at their ends are given.
fn schedule_uses(
    run: &ScheduleRun,
    path: &CriticalPath,
    level: usize,
    operations: &[[u32; 2]],
    ends: &dyn Fn(usize) -> [usize; 2],
) -> Vec<LatencyUse<String>> {
    let mut names = CallNames::new(&run.program);
    latency_uses(path, level, |message| joined_name(&names.of_message(ends(message), operations[message])))
}
