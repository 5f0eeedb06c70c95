//! A schedule that is played and looked into: of a program that an annex reads, from a file in GOAL, or of a pattern.

use std::path::{Path, PathBuf};

use clap::Args;
use loggp::params::{LeveledParams, Model};
use loggp::schedule::{PlayReport, Player};
use loggp::trace::{Caption, Trace};
use loggp::{Cause, Latency, Noise, Ports, RunError, Ties};
use loggp_goal::patterns::is_pattern;
use loggp_schedule::program::ProgramSchedule;
use loggp_study::analysis::{MessageNames, WhatIf};

use super::schedule_input::{ScheduleInput, SourceOptions};
use crate::annex::{self, InputOptions};
use crate::ask::choice::MachineChoice;
use crate::ask::levels::LevelOptions;
use crate::ask::options::{
    ChoiceOptions, NoiseOption, PORTS, RendezvousOption, one_of, parse_noise, parse_seed,
};
use crate::ask::rank_machine::machine_for;
use crate::ask::trace_input::is_schedule;
use crate::error::CliError;
use crate::host::source::is_there;
use crate::tell::call_names::{CallNames, WorkNames};
use crate::tell::formula::replay_error;
use crate::tell::heading::{choice_heading, noise_text, parameters, wire_text};

/// The options of a schedule that is played.
#[derive(Args)]
#[command(next_help_heading = "Machine")]
pub(crate) struct PlayOptions {
    #[command(flatten)]
    pub source: SourceOptions,
    #[command(flatten)]
    pub choice: ChoiceOptions,
    #[command(flatten)]
    pub levels: LevelOptions,
    /// Ports of a schedule's ranks for long messages: one for both directions, or one for each [default: as the
    /// machine's file says, or single]
    #[arg(long, value_parser = one_of::<Ports>(PORTS))]
    pub ports: Option<Ports>,
    #[command(flatten)]
    pub rendezvous: RendezvousOption,
    /// The noise of a schedule's processors: every 10 ms the operating system takes 25 us, or what a file in LogGOPSim's form
    /// says
    #[arg(long, value_name = "10ms:25us,...|FILE", value_parser = parse_noise)]
    pub noise: Option<NoiseOption>,
    /// Draws for each rank where its noise begins [default: 1]
    #[arg(long, value_name = "N", value_parser = parse_seed, allow_negative_numbers = true, requires = "noise")]
    pub seed: Option<u64>,
    #[command(flatten)]
    pub inputs: InputOptions,
}

/// A schedule, and what plays it.
pub(crate) struct ScheduleRun {
    pub name: String,
    pub program: ProgramSchedule,
    pub choice: MachineChoice,
    pub player: Player,
    pub ports: Ports,
    pub noise: Option<Noise>,
    /// The settings between processors that are not the default.
    pub wires: String,
}

/// Returns whether an input is a schedule, and no trace of a run.
pub(crate) fn is_schedule_input(input: &str) -> bool {
    let path = Path::new(input);
    if is_there(path) { annex::input_of(path).is_some() || is_schedule(path) } else { is_pattern(input) }
}

impl PlayOptions {
    /// Reads a schedule and prepares its play. A program whose ranks have a file each has `others` too.
    pub(crate) fn read(&self, input: &str, others: &[PathBuf]) -> Result<ScheduleRun, CliError> {
        let ScheduleInput { name, program } =
            self.source.read(input, others, &self.inputs, self.levels.P())?;
        let choice = machine_for(&self.choice, &self.levels, program.schedule.ranks())?;
        let noise = self.noise.as_ref().map(|noise| noise.read(self.seed.unwrap_or(1))).transpose()?;
        let ports = self.ports.or(choice.ports).unwrap_or_default();
        let rendezvous = self.rendezvous.rendezvous.or(choice.rendezvous).unwrap_or_default();
        let wires = wire_text(Latency::Exact, Ties::Number, ports)
            + rendezvous.setting()
            + &noise_text(noise.as_ref());
        let player = Player::new(choice.params).machine(choice.machine()).ports(ports);
        let player = player.rendezvous(rendezvous).noise(noise.clone());
        Ok(ScheduleRun { name, program, choice, player, ports, noise, wires })
    }

    /// Refuses `--cycle` where nothing counts cycles: no times are given but those of the machine.
    pub(crate) fn refuse_idle_cycle(&self) -> Result<(), CliError> {
        let has_times = self.choice.params.is_some() || !self.levels.level.is_empty();
        match self.choice.cycle.is_some() && !has_times {
            false => Ok(()),
            true => Err(CliError::request(
                "--cycle changes nothing here: the machine's times have units, and a schedule counts no cycles; leave it out",
            )),
        }
    }

    /// Refuses the options that a trace has no use for; `may_have_params` if its parameters can be changed.
    pub(crate) fn refuse_for_trace(&self, input: &str, may_have_params: bool) -> Result<(), CliError> {
        let PlayOptions {
            source: SourceOptions { P, size, unit },
            choice,
            levels,
            ports,
            rendezvous,
            noise,
            inputs,
            ..
        } = self;
        let given = [
            ("-P", P.is_some()),
            ("--size", size.is_some()),
            ("--unit", unit.is_some()),
            ("--machine", !choice.machines.is_empty()),
            ("--params", choice.params.is_some() && !may_have_params),
            ("--cycle", choice.cycle.is_some()),
            ("--levels", levels.levels.is_some()),
            ("--level", !levels.level.is_empty()),
            ("--ports", ports.is_some()),
            ("--rendezvous", rendezvous.rendezvous.is_some()),
            ("--noise", noise.is_some()),
        ];
        match given.into_iter().find(|(_, is_given)| *is_given) {
            Some((option, _)) => Err(not_for_trace(option, input, may_have_params)),
            None => inputs.refuse_for(input),
        }
    }
}

/// Converts the error of a play.
pub(crate) fn play_error(error: RunError) -> CliError {
    match error.cause {
        Cause::Params(why) => CliError::request(why),
        Cause::Host(why) => CliError::Request(why),
        _ => CliError::run(error),
    }
}

/// Returns the refusal of an option for a trace.
pub(crate) fn not_for_trace(option: &str, input: &str, may_have_params: bool) -> CliError {
    let change = if may_have_params { "--params" } else { "--what-if" };
    CliError::Request(format!(
        "{option} is for a schedule, and {input} is a trace, which has its own; leave it out, or change its machine with {change}"
    ))
}

impl ScheduleRun {
    /// Plays and traces it on a machine with these parameters.
    pub(crate) fn play(&self, machine: LeveledParams) -> Result<PlayReport, RunError> {
        self.player.clone().machine(machine).trace(true).run(&self.program.schedule)
    }

    /// Plays it, and returns its trace with a caption, and what its messages are called. Of a recorded program the kinds of
    /// work say before which call it was done.
    pub(crate) fn captioned(&self, machine: LeveledParams) -> Result<(Trace, MessageNames), RunError> {
        let (program, player) = (&self.program, self.player.clone().machine(machine).trace(true));
        let mut works = WorkNames::new(program);
        let report = match program.is_recorded() {
            true => player.run_watched(&program.schedule, &mut |beginning| works.begin(beginning))?,
            false => player.run(&program.schedule)?,
        };
        let mut trace = report.trace.expect("it is traced");
        works.write(&mut trace);
        let LeveledParams { params, levels, .. } = trace.machine();
        let about = self.heading(&MachineChoice { params, levels, ..self.choice.clone() }, "");
        trace.caption = Some(self.caption(about));
        let names = CallNames::new(program).of_messages(&trace, &report.operations);
        Ok((trace, names))
    }

    /// Plays it under a change, and returns its trace with a caption, and what its messages are called.
    pub(crate) fn play_what_if(&self, what_if: &WhatIf) -> Result<(Trace, MessageNames), CliError> {
        let WhatIf { name, machine, fragments, model } = what_if;
        let of_program = [("fragments", fragments.is_some()), ("model", *model != Model::default())];
        if let Some((what, _)) = of_program.into_iter().find(|(_, is_given)| *is_given) {
            return Err(CliError::Request(format!(
                "--what-if {name}: {what} is for the trace of a program's run, and {} is a schedule; leave it out",
                self.name
            )));
        }
        self.captioned(machine.clone()).map_err(|error| replay_error(name, &error))
    }

    /// Returns the caption of a play that is described so.
    pub(crate) fn caption(&self, about: String) -> Caption {
        Caption { title: self.name.clone(), about, unit: self.choice.unit.name.into(), formula: None }
    }

    /// Returns the description of a machine; `how` comes after the settings.
    pub(crate) fn heading(&self, machine: &MachineChoice, how: &str) -> String {
        let parameters = parameters(&machine.params, &machine.unit).join(", ");
        choice_heading(machine, &parameters, &format!("virtual clock{}{how}", self.wires))
    }
}
