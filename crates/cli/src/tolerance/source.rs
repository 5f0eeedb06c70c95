//! The run whose tolerance is asked for: a schedule that is played, or a recorded run that is made again.

use std::path::Path;

use loggp::path::Events;
use loggp::schedule::{Operation, PlayReport, Player, Schedule};
use loggp::trace::Trace;
use loggp::{Latency, Params, ParamsBuilder, RunError, Ties, Time};
use loggp_mpi_trace::schedule::ProgramSchedule;
use loggp_study::analysis::{
    LatencyUse, RunCurve, check_trace, latency_uses, message_tags, replay_with, schedule_in_order,
};

use super::super::audit;
use super::super::choice::MachineChoice;
use super::super::error::CliError;
use super::super::formula::replay_error;
use super::super::heading::{choice_heading, noise_text, recorded_text, wire_text};
use super::super::number::{Unit, count};
use super::super::output::{TRACE_EXTENSIONS, extension};
use super::super::replay::{machine_for, play_error};
use super::super::schedule_input::{InputOptions, ScheduleInput};
use super::{RankOrder, ToleranceCommand};

/// The run, and the machine on which it is made.
pub enum RunSource {
    Schedule {
        name: String,
        program: ProgramSchedule,
        choice: MachineChoice,
        player: Player,
        wires: String,
        kept: Option<KeptOrder>,
    },
    Trace {
        name: String,
        trace: Trace,
        params: Params,
    },
}

/// A schedule with the order in which each rank acted on the machine itself.
pub struct KeptOrder {
    schedule: Schedule,
    /// For each message, the numbers in their ranks of the operations that sent and received it in the
    /// schedule itself.
    operations: Vec<[u32; 2]>,
}

impl KeptOrder {
    /// Plays a schedule, and keeps its order; `None` if a schedule in this order takes another time, as where
    /// a rank does something else while its long message waits for the receiver.
    fn find(schedule: &Schedule, player: &Player, params: Params) -> Result<Option<KeptOrder>, CliError> {
        let mut report = player.clone().trace(true).run(schedule).map_err(play_error)?;
        let trace = report.trace.take().expect("it is traced");
        let in_order = schedule_in_order(&trace).map_err(CliError::run)?;
        drop(trace);
        let Some(in_order) = in_order else { return Ok(None) };
        let again = player.clone().params(without_rendezvous(params)).run(&in_order);
        let is_same = again.is_ok_and(|again| again.finishes == report.finishes);
        Ok(is_same.then_some(KeptOrder { schedule: in_order, operations: report.operations }))
    }
}

/// Returns the parameters with which no message waits for its receiver. In a kept order requests and replies
/// are messages like others.
fn without_rendezvous(params: Params) -> Params {
    let unlimited = ParamsBuilder::from(params).set("S=none").and_then(ParamsBuilder::build);
    if params.is_synchronous(usize::MAX) { unlimited.unwrap_or(params) } else { params }
}

/// Returns the name of an operation of a schedule, by its rank and its number there.
pub type OperationName<'a> = &'a dyn Fn(usize, u32) -> Option<String>;

/// From this number of ranks on messages are told apart by tag and length alone.
const MANY: usize = 64;

impl RunSource {
    /// Reads the input of the command, and plays it once if it is a schedule.
    pub fn read(command: &ToleranceCommand) -> Result<RunSource, CliError> {
        let path = Path::new(&command.input);
        match TRACE_EXTENSIONS.contains(&&*extension(path)) {
            true => RunSource::read_trace(command, path),
            false => RunSource::read_schedule(command),
        }
    }

    fn read_schedule(command: &ToleranceCommand) -> Result<RunSource, CliError> {
        let ToleranceCommand { input, source, choice, ports, noise, seed, order, mpi, .. } = command;
        let ScheduleInput { name, program } = source.read(input, &[], mpi)?;
        let choice = machine_for(choice, &program.schedule)?;
        let noise = noise.as_ref().map(|noise| noise.read(seed.unwrap_or(1))).transpose()?;
        let ports = ports.unwrap_or_default();
        let wires = wire_text(Latency::Exact, Ties::Number, ports) + &noise_text(noise.as_ref());
        let player = Player::new(choice.params).ports(ports).noise(noise);
        let kept = match order.unwrap_or_default() {
            RankOrder::Kept => KeptOrder::find(&program.schedule, &player, choice.params)?,
            RankOrder::Free => player.run(&program.schedule).map(|_| None).map_err(play_error)?,
        };
        Ok(RunSource::Schedule { name, program, choice, player, wires, kept })
    }

    fn read_trace(command: &ToleranceCommand, path: &Path) -> Result<RunSource, CliError> {
        let ToleranceCommand { input, source, choice, ports, noise, .. } = command;
        let InputOptions { P, size, unit } = source;
        for (option, given) in [
            ("-P", P.is_some()),
            ("--size", size.is_some()),
            ("--unit", unit.is_some()),
            ("--machine", choice.machine.is_some()),
            ("--cycle", choice.cycle.is_some()),
            ("--ports", ports.is_some()),
            ("--noise", noise.is_some()),
            ("--order", command.order.is_some()),
        ] {
            if given {
                return Err(CliError::Request(format!(
                    "{option} is for a schedule, and {input} is a trace, which has its own; leave it out, or change its machine \
                     with --params"
                )));
            }
        }
        let trace = audit::read_trace(path)?;
        let refuse = |why: &dyn std::fmt::Display| CliError::Request(format!("{input}: {why}"));
        check_trace(&trace).map_err(|why| refuse(&why))?;
        if trace.calls.is_empty() {
            return Err(refuse(
                &"it has no calls, so its run cannot be made again; give the schedule itself",
            ));
        }
        let changes = choice.params.as_deref().unwrap_or_default();
        let set = ParamsBuilder::from(trace.params).set(changes).and_then(ParamsBuilder::build);
        let params = set.map_err(|why| CliError::Request(format!("--params {changes}: {why}")))?;
        if params.P != trace.params.P {
            return Err(CliError::request(
                "the trace says how many processors there are; leave P out of --params",
            ));
        }
        Ok(RunSource::Trace { name: input.clone(), trace, params })
    }

    /// Returns the name of the input.
    pub fn name(&self) -> &str {
        match self {
            RunSource::Schedule { name, .. } | RunSource::Trace { name, .. } => name,
        }
    }

    /// Returns the name of the machine, if it has one.
    pub fn machine(&self) -> Option<&'static str> {
        match self {
            RunSource::Schedule { choice, .. } => choice.name,
            RunSource::Trace { .. } => None,
        }
    }

    /// Returns the machine's parameters.
    pub fn params(&self) -> Params {
        match self {
            RunSource::Schedule { choice, .. } => choice.params,
            RunSource::Trace { params, .. } => *params,
        }
    }

    /// Returns the unit of times.
    pub fn unit(&self) -> Unit {
        match self {
            RunSource::Schedule { choice, .. } => choice.unit,
            RunSource::Trace { params, .. } => Unit::default_for(params),
        }
    }

    /// Returns the heading of a report.
    pub fn heading(&self, parameters: &str) -> String {
        match self {
            RunSource::Schedule { name, choice, wires, kept, .. } => {
                let order = if kept.is_some() { ", kept order" } else { ", free order" };
                let how = format!("virtual clock{wires}{order}");
                format!("{name}\n{}", choice_heading(choice, parameters, &how))
            }
            RunSource::Trace { name, trace, params } => {
                let unit = Unit::default_for(params).name;
                format!("{name}\n{parameters}\n{}, times in {unit}", recorded_text(trace))
            }
        }
    }

    /// Makes and traces the run on a machine with these parameters.
    pub fn run(&self, params: Params) -> Result<Trace, RunError> {
        match self {
            RunSource::Schedule { program, player, kept, .. } => {
                let report = play(&program.schedule, player, kept.as_ref(), params)?;
                Ok(report.trace.expect("it is traced"))
            }
            RunSource::Trace { trace, .. } => replay_with(trace, params),
        }
    }

    /// Returns the time of a schedule whose ranks act in any order, if they keep theirs otherwise and it
    /// comes to an end.
    pub fn time_in_free_order(&self, params: Params) -> Option<Time> {
        match self {
            RunSource::Schedule { program, player, kept: Some(_), .. } => {
                Some(player.clone().params(params).run(&program.schedule).ok()?.time)
            }
            _ => None,
        }
    }

    /// Returns the latencies on the critical path that holds right above the machine's own L, by the kind of
    /// their message.
    pub fn latency_uses(&self, curve: &RunCurve) -> Result<Vec<LatencyUse<String>>, CliError> {
        let seen_at = curve.pieces.first().map_or(curve.value, |piece| piece.seen_at);
        let params = Params { L: Time::from_ps(seen_at), ..self.params() };
        let failed = |error: RunError| replay_error(&format!("L={}", params.L), &error);
        match self {
            RunSource::Schedule { program, player, kept, .. } => {
                let report = play(&program.schedule, player, kept.as_ref(), params).map_err(failed)?;
                let trace = report.trace.expect("it is traced");
                let events = Events::new(&trace);
                let operations = kept.as_ref().map_or(&report.operations, |kept| &kept.operations);
                let kind = |message: usize| {
                    let ends = operations[message];
                    transfer_name(&program.schedule, &events, message, ends, &|rank, operation| {
                        program.call_name(rank, operation)
                    })
                };
                Ok(latency_uses(&events, kind))
            }
            RunSource::Trace { trace, .. } => {
                let again = replay_with(trace, params).map_err(failed)?;
                let events = Events::new(&again);
                let tags = message_tags(&events);
                let kind = |message: usize| tags[message].as_deref().unwrap_or("a message").to_string();
                Ok(latency_uses(&events, kind))
            }
        }
    }
}

/// Plays and traces a schedule, in its kept order if it has one.
fn play(
    schedule: &Schedule,
    player: &Player,
    kept: Option<&KeptOrder>,
    params: Params,
) -> Result<PlayReport, RunError> {
    match kept {
        Some(kept) => player.clone().params(without_rendezvous(params)).trace(true).run(&kept.schedule),
        None => player.clone().params(params).trace(true).run(schedule),
    }
}

/// Returns what a message of a schedule is called: by the names of the operations that sent and received it,
/// if they have any, or else by its ends, tag and length.
fn transfer_name(
    schedule: &Schedule,
    events: &Events,
    message: usize,
    [sent, received]: [u32; 2],
    name: OperationName,
) -> String {
    let (from, to) = (events.message(message).id.from, events.message(message).to);
    match (name(from, sent), name(to, received)) {
        (Some(one), Some(other)) if one == other => return one,
        (Some(one), Some(other)) => return format!("{one}, received by {other}"),
        (Some(one), None) | (None, Some(one)) => return one,
        (None, None) => (),
    }
    // The reply before a long message is sent by its receive.
    let placed =
        [schedule.operation_at(from, sent), schedule.operation_at(to, received)].into_iter().flatten();
    let of_send = placed.map(|placed| placed.operation).find_map(|operation| match operation {
        Operation::Send { bytes, tag, .. } => Some(format!("tag {tag}, {}", count(bytes as usize, "byte"))),
        _ => None,
    });
    let about = of_send.unwrap_or_default();
    if schedule.ranks() < MANY { format!("{from} to {to}, {about}") } else { about }
}
