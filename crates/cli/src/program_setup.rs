//! The setup of a program's studies, without the algorithm and the value of a swept quantity.

use loggp::{ClockKind, Latency, Noise, Order, Params, ParamsBuilder, Ports, Ties, Time, Work};
use loggp_programs::{Algorithm, Case, Emulation, OptionValue, Program, ProgramOption, Refusal};
use loggp_study::Study;

use super::audit;
use super::choice::{self, MachineChoice, PartialMachine};
use super::error::CliError;
use super::levels::{LevelDraft, LevelSizes};
use super::lookup;
use super::options::Options;
use super::program_args::ProgramArgs;

/// A program, and all the settings of its runs.
pub struct ProgramSetup<'a> {
    pub program: &'static Program,
    /// Name of the machine, if it has one.
    pub name: Option<&'static str>,
    /// The machine's parameters, some of which may be open.
    pub machine: ParamsBuilder,
    /// The rules of latencies and ties.
    latency_and_ties: (Latency, Ties),
    /// Number of processors of the recorded run whose order is repeated_P, if one is.
    repeated_P: Option<usize>,
    noise: Option<Noise>,
    /// The ports that the machine's file gives.
    ports: Option<Ports>,
    /// The levels that the machine's file gives.
    levels: Vec<LevelDraft>,
    /// The clock and its settings.
    emulation: Emulation,
    /// Values of the program's own options that are given.
    given: &'a [OptionValue],
    pub options: &'a Options,
}

impl<'a> ProgramSetup<'a> {
    /// Reads the options of a program, which runs on `clock` unless they name another.
    pub fn new<T>(
        args: &'a ProgramArgs<T>,
        options: &'a Options,
        clock: ClockKind,
    ) -> Result<ProgramSetup<'a>, CliError> {
        let program = args.program;
        let mut emulation = options.machine.emulation(clock)?;
        if let Some(link) = options.on.link()? {
            emulation = Emulation { clock: ClockKind::Wall, link: Some(link), ..emulation };
        }
        let partial = choice::partial_machine(&options.machine.choice, P(options, &emulation)?)?;
        let PartialMachine { name, builder: machine, ports, levels } = partial;
        let mut repeated_P = None;
        let mut latency_and_ties = (options.machine.latency, options.machine.ties);
        if let Some(path) = &options.repeat_from {
            let trace = audit::read_trace(path)?;
            repeated_P = Some(trace.params.P);
            latency_and_ties = (trace.latency, trace.ties);
            emulation.order = Some(Order::from_trace(&trace));
        }
        let noise = options.noise.as_ref().map(|noise| noise.read(options.seed)).transpose()?;
        Ok(ProgramSetup {
            program,
            latency_and_ties,
            repeated_P,
            noise,
            name,
            machine,
            ports,
            levels,
            emulation,
            given: &args.values,
            options,
        })
    }

    /// Returns the machine. Fails if it leaves a parameter open.
    pub fn machine_choice(&self) -> Result<MachineChoice, CliError> {
        let ProgramSetup { name, machine, options, .. } = self;
        let partial =
            PartialMachine { name: *name, builder: machine.clone(), ports: None, levels: Vec::new() };
        MachineChoice::from_partial(partial, &options.machine.choice)
    }

    /// Returns the algorithms with these names, or all if there are none.
    pub fn algorithms(&self, names: &[String]) -> Result<Vec<&'static Algorithm>, CliError> {
        match names {
            [] => Ok(self.program.algorithms.iter().collect()),
            names => names.iter().map(|name| lookup::find_algorithm(self.program, name)).collect(),
        }
    }

    /// Refuses a given option of the program's own that applies to none of these algorithms.
    pub fn check_given_options(&self, algorithms: &[&Algorithm]) -> Result<(), CliError> {
        self.given
            .iter()
            .try_for_each(|value| check_option(value.option(), algorithms).map_err(CliError::Request))
    }

    /// Returns the study of an algorithm on a machine with these parameters.
    pub fn study(&self, algorithm: &'static Algorithm, params: Params) -> Result<Study, Refusal> {
        let Options { machine, barrier: cost, work, size, seed, repeat, seeds, .. } = self.options;
        let barrier = cost.as_deref().map(|text| parse_barrier(text, params.cycle)).transpose()?;
        let case = Case {
            program: self.program,
            algorithm,
            levels: self.options.levels.build(&self.levels, &params)?,
            params,
            ports: machine.ports.or(self.ports).unwrap_or_default(),
            latency: self.latency_and_ties.0,
            ties: self.latency_and_ties.1,
            noise: self.noise.clone(),
            work: work.unwrap_or(if self.emulation.link.is_some() {
                Work::Measured
            } else {
                self.program.work
            }),
            compute_times: None,
            barrier,
            size: size.unwrap_or(self.program.size.default),
            seed: *seed,
            options: self.program.defaults(),
        };
        let case = self.given.iter().cloned().fold(case, Case::with_value);
        if let Some(seeds) = seeds
            && case.random_options().is_empty()
        {
            return Err(format!(
                "--seeds {seeds}: no latencies, ties or noise are drawn; give --latency random:1, --ties random:1 or --noise too"
            )
            .into());
        }
        if let Some(P) = self.repeated_P.filter(|P| *P != case.params.P) {
            return Err(format!(
                "--repeat-from: the run in it has {P} processors, and this one has {}; give the options of that run",
                case.params.P
            )
            .into());
        }
        let (repeat, wall_too) = (seeds.unwrap_or(*repeat), self.options.also.is_some());
        let emulation = self.emulation.clone();
        Ok(Study {
            repeat,
            distinct_seeds: seeds.is_some(),
            includes_wall_clock: wall_too,
            ..Study { emulation, ..Study::new(case) }
        })
    }
}

/// Returns the number of processors that the options ask for; on a real machine that of its processes by
/// default.
fn P(options: &Options, emulation: &Emulation) -> Result<Option<usize>, CliError> {
    let process_count = emulation.link.as_ref().map(|link| link.P());
    let is_P_given = choice::is_parameter_given(&options.machine.choice, "P");
    let of_levels = options.levels.levels.as_ref().map(LevelSizes::P);
    Ok(options.machine.one_P()?.or(of_levels.or(process_count).filter(|_| !is_P_given)))
}

/// Refuses an option that applies to none of these algorithms, with those that it applies to.
pub fn check_option(option: &dyn ProgramOption, algorithms: &[&Algorithm]) -> Result<(), String> {
    let names = option.info().algorithms;
    match names.is_empty() || algorithms.iter().any(|algorithm| names.contains(&algorithm.name)) {
        true => Ok(()),
        false => {
            let (kind, one) = if names.len() == 1 { ("algorithm", "that") } else { ("algorithms", "one") };
            let (name, names) = (option.name(), names.join(", "));
            Err(format!("--{name} is for the {kind} {names}; name {one}, or leave --{name} out"))
        }
    }
}

fn parse_barrier(text: &str, cycle: Time) -> Result<Time, String> {
    let cost = Time::parse(text, cycle).map_err(|why| format!("--barrier: {why}"))?;
    if cost >= Time::ZERO { Ok(cost) } else { Err("--barrier: a barrier takes no less than 0".into()) }
}
