//! The studies that a request asks for, but for their algorithm and for what is swept.

use loggp::{ClockKind, Latency, Noise, Order, Params, ParamsBuilder, Ports, Ties, Time, Work};
use loggp_programs::{Algorithm, Case, Emulation, Program, ProgramOption, Refusal, Value};
use loggp_study::Study;

use super::audit;
use super::choice::{self, Begun, Choice};
use super::failure::Failure;
use super::levels::{Draft, Sizes};
use super::name;
use super::options::Options;
use super::own::OfProgram;

/// A program, and everything that decides how it runs.
pub struct Setting<'a> {
    /// The program.
    pub program: &'static Program,
    /// What the machine is called, if it was named.
    pub name: Option<&'static str>,
    /// The machine, as far as the options say what it is.
    pub machine: ParamsBuilder,
    /// How latencies and ties are drawn.
    settled: (Latency, Ties),
    /// How many processors the recorded run has whose order is repeated.
    repeated: Option<usize>,
    /// The noise of the processors.
    noise: Option<Noise>,
    /// The ports that its file says it has.
    ports: Option<Ports>,
    /// The levels that its file has.
    levels: Vec<Draft>,
    /// The clock and what belongs to it.
    emulation: Emulation,
    /// The values of the program's own options that were given.
    given: &'a [Value],
    /// All the rest.
    pub options: &'a Options,
}

impl<'a> Setting<'a> {
    /// A program as the options want it, on this clock unless they say which.
    pub fn of<T>(
        of: &'a OfProgram<T>,
        options: &'a Options,
        clock: ClockKind,
    ) -> Result<Setting<'a>, Failure> {
        let program = of.program;
        let mut emulation = options.machine.emulation(clock)?;
        if let Some(link) = options.on.link()? {
            emulation = Emulation { clock: ClockKind::Wall, over: Some(link), ..emulation };
        }
        let begun = choice::begin(&options.machine.choice, P(options, &emulation)?)?;
        let Begun { name, builder: machine, ports, levels } = begun;
        let mut repeated = None;
        let mut settled = (options.machine.latency, options.machine.ties);
        if let Some(path) = &options.repeat_from {
            let trace = audit::read(path)?;
            repeated = Some(trace.params.P);
            settled = (trace.latency, trace.ties);
            emulation.order = Some(Order::of(&trace));
        }
        let noise = options.noise.as_ref().map(|noise| noise.read(options.seed)).transpose()?;
        Ok(Setting {
            program,
            settled,
            repeated,
            noise,
            name,
            machine,
            ports,
            levels,
            emulation,
            given: &of.given,
            options,
        })
    }

    /// The machine.
    pub fn choice(&self) -> Result<Choice, Failure> {
        let Setting { name, machine, options, .. } = self;
        let begun = Begun { name: *name, builder: machine.clone(), ports: None, levels: Vec::new() };
        Choice::begun(begun, &options.machine.choice)
    }

    /// The algorithms with these names; all without a name.
    pub fn algorithms(&self, names: &[String]) -> Result<Vec<&'static Algorithm>, Failure> {
        match names {
            [] => Ok(self.program.algorithms.iter().collect()),
            names => names.iter().map(|name| name::algorithm(self.program, name)).collect(),
        }
    }

    /// Refuses an option of the program's own that none of these algorithms has a use for.
    pub fn check_use(&self, algorithms: &[&Algorithm]) -> Result<(), Failure> {
        self.given.iter().try_for_each(|value| used(value.option(), algorithms).map_err(Failure::Request))
    }

    /// The study of an algorithm on a machine with these parameters.
    pub fn study(&self, algorithm: &'static Algorithm, params: Params) -> Result<Study, Refusal> {
        let Options { machine, barrier: cost, work, size, seed, repeat, seeds, .. } = self.options;
        let barrier = cost.as_deref().map(|text| barrier(text, params.cycle)).transpose()?;
        let case = Case {
            program: self.program,
            algorithm,
            levels: self.options.levels.of(&self.levels, &params)?,
            params,
            ports: machine.ports.or(self.ports).unwrap_or_default(),
            latency: self.settled.0,
            ties: self.settled.1,
            noise: self.noise.clone(),
            work: work.unwrap_or(if self.emulation.over.is_some() {
                Work::Measured
            } else {
                self.program.work
            }),
            computing: None,
            barrier,
            size: size.unwrap_or(self.program.size.default),
            seed: *seed,
            options: self.program.defaults(),
        };
        let case = self.given.iter().cloned().fold(case, Case::set);
        if let Some(seeds) = seeds
            && case.drawn().is_empty()
        {
            return Err(format!(
                "--seeds {seeds}: no latencies, ties or noise are drawn; give --latency random:1, --ties random:1 or --noise too"
            )
            .into());
        }
        if let Some(P) = self.repeated.filter(|P| *P != case.params.P) {
            return Err(format!(
                "--repeat-from: the run in it has {P} processors, and this one has {}; give the options of that run",
                case.params.P
            )
            .into());
        }
        let (repeat, wall_too) = (seeds.unwrap_or(*repeat), self.options.also.is_some());
        let emulation = self.emulation.clone();
        Ok(Study { repeat, seeds: seeds.is_some(), wall_too, ..Study { emulation, ..Study::of(case) } })
    }
}

/// How many processors were asked for: as many as there are processes, unless told.
fn P(options: &Options, emulation: &Emulation) -> Result<Option<usize>, Failure> {
    let there = emulation.over.as_ref().map(|link| link.p());
    let told = choice::gives(&options.machine.choice, "P");
    let of_levels = options.levels.levels.as_ref().map(Sizes::P);
    Ok(options.machine.one_P()?.or(of_levels.or(there).filter(|_| !told)))
}

/// Whether one of these algorithms has a use for an option; or a sentence that says which would.
pub fn used(option: &dyn ProgramOption, algorithms: &[&Algorithm]) -> Result<(), String> {
    let of = option.algorithms();
    match of.is_empty() || algorithms.iter().any(|algorithm| of.contains(&algorithm.name)) {
        true => Ok(()),
        false => {
            let (kind, one) = if of.len() == 1 { ("algorithm", "that") } else { ("algorithms", "one") };
            let (name, of) = (option.name(), of.join(", "));
            Err(format!("--{name} is for the {kind} {of}; name {one}, or leave --{name} out"))
        }
    }
}

/// Reads the cost of a barrier.
fn barrier(text: &str, cycle: Time) -> Result<Time, String> {
    let cost = Time::parse(text, cycle).map_err(|why| format!("--barrier: {why}"))?;
    if cost >= Time::ZERO { Ok(cost) } else { Err("--barrier: a barrier takes no less than 0".into()) }
}
