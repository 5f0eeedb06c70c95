//! The choice of a machine: a paper's, one from a file, one described by `--params`, or one with changes.

use std::path::Path;

use loggp::params::{LeveledParams, Parameter};
use loggp::{Level, Params, Ports, Protocol, preset};

use super::machine_file::{self, PartialMachine};
use super::options::ChoiceOptions;
use crate::error::CliError;
use crate::number::Unit;

/// The machine of LogGP's scatter experiment (LogGP, section 4.10).
const DEFAULT_MACHINE: &str = "cs2-elan";
/// The number of processors of LogP's broadcast (LogP, figure 3).
pub const DEFAULT_P: usize = 8;

/// A machine that was chosen.
#[derive(Clone)]
pub struct MachineChoice {
    /// Name of the machine, or of the one that was changed, if it has one.
    pub name: Option<&'static str>,
    pub params: Params,
    /// The levels within it.
    pub levels: Vec<Level>,
    /// The ports that its file gives.
    pub ports: Option<Ports>,
    /// The protocol of long messages that its file gives.
    pub rendezvous: Option<Protocol>,
    /// Unit in which the parameters were given.
    pub unit: Unit,
    /// The names of the parameters that nobody gave, and that are 0; or `machine`, if nobody named one.
    pub assumed: Vec<&'static str>,
}

impl ChoiceOptions {
    /// Returns the options for each of the machines that are named.
    pub fn of_each_machine(&self) -> Vec<ChoiceOptions> {
        let each: Vec<_> =
            self.names().map(|name| ChoiceOptions { machines: vec![name.into()], ..self.clone() }).collect();
        if each.is_empty() { vec![self.clone()] } else { each }
    }

    /// Returns the names of all machines: `--machine` may be given several times, each time with several names.
    fn names(&self) -> impl Iterator<Item = &str> {
        self.machines.iter().flat_map(|names| machine_names(names))
    }
}

/// Returns the names in the value of `--machine`. A file's name may have commas.
fn machine_names(names: &str) -> impl Iterator<Item = &str> {
    let is_one = Path::new(names).exists();
    names.split(move |c| c == ',' && !is_one).map(str::trim)
}

impl MachineChoice {
    /// Returns the machine that the options ask for, with `P` processors if given. Refuses a machine with
    /// levels.
    pub fn from_options(options: &ChoiceOptions, P: Option<usize>) -> Result<MachineChoice, CliError> {
        let machine = partial_machine(options, P)?;
        if !machine.levels.is_empty() {
            let sentence = "this machine has levels, which run, compare and sweep know; leave them out here";
            return Err(CliError::request(sentence));
        }
        machine.complete(options)
    }

    /// Returns the parameters of the machine and of its levels.
    pub fn machine(&self) -> LeveledParams {
        LeveledParams::new(self.params, self.levels.iter().copied())
    }
}

impl PartialMachine {
    /// Completes the machine, without its levels. Fails if a parameter is open.
    pub fn complete(self, options: &ChoiceOptions) -> Result<MachineChoice, CliError> {
        let PartialMachine { name, builder, ports, rendezvous, assumed, .. } = self;
        let open = builder.open_names().join(" and ");
        let params = builder.build().map_err(|why| match options.names().next() {
            Some(machine) if !open.is_empty() && preset(machine).is_err() => {
                let first = open.split(" and ").next().unwrap_or_default();
                let sentence =
                    format!("--machine {machine} leaves {open} open; give a value, as in {first}=4us");
                CliError::Request(sentence)
            }
            Some(machine) if !open.is_empty() => CliError::Request(format!("--machine {machine}: {why}")),
            _ => CliError::request(why),
        })?;
        let (levels, unit) = (Vec::new(), unit(options, &params));
        Ok(MachineChoice { name, params, levels, ports, rendezvous, unit, assumed })
    }
}

/// Reads the machine that the options describe, which may leave parameters open.
///
/// `--params` overrides the machine's values, and `P` overrides both. The cycle is set first, because bare
/// numbers in `--params` count cycles; the machine's own times are already read and don't change with it.
pub fn partial_machine(options: &ChoiceOptions, P: Option<usize>) -> Result<PartialMachine, CliError> {
    let given: Vec<&str> = options.names().collect();
    if given.len() > 1 {
        let machines = given.join(",");
        let sentence =
            format!("--machine {machines}: run, compare and sweep take several machines; give one here");
        return Err(CliError::Request(sentence));
    }
    let given = given.first().copied();
    let named = given.or(options.params.is_none().then_some(DEFAULT_MACHINE));
    let described = |name, builder| PartialMachine {
        name,
        builder,
        ports: None,
        rendezvous: None,
        levels: Vec::new(),
        assumed: Vec::new(),
    };
    let mut machine = match named {
        None => described(None, Params::builder(DEFAULT_P)),
        Some(named) => match preset(named) {
            Ok(preset) => described(Some(preset.name), preset.builder()),
            Err(_) if machine_file::is_file_name(named) => machine_file::read(named, DEFAULT_P)?,
            Err(why) => return Err(CliError::request(why)),
        },
    };
    if let Some(cycle) = options.cycle {
        machine.builder = machine.builder.cycle(cycle);
    }
    if let Some(text) = &options.params {
        let set = machine.builder.set(text);
        machine.builder = set.map_err(CliError::request)?;
    }
    machine.assumed = match (given, named) {
        (Some(_), _) => Vec::new(),
        (None, Some(_)) => vec!["machine"],
        (None, None) => {
            ["L", "o", "g"].into_iter().filter(|name| !is_parameter_given(options, name)).collect()
        }
    };
    if machine.assumed.len() == 3 {
        let sentence = "none of L, o and g is given; give them, or a --machine that has them";
        return Err(CliError::request(sentence));
    }
    if let Some(P) = P {
        machine.builder = machine.builder.P(P);
    }
    Ok(machine)
}

/// Returns the unit of the first time in `--params`, or else the unit that the papers use for the model.
pub fn unit(options: &ChoiceOptions, params: &Params) -> Unit {
    let is_time = |name: &str| Parameter::by_name(name).is_some_and(Parameter::is_time);
    match values(options).find(|(name, _)| is_time(name)) {
        Some((_, value)) => Unit::from_text(value, params.cycle),
        None => Unit::default_for(params),
    }
}

/// Returns whether `--params` gives this parameter.
pub fn is_parameter_given(options: &ChoiceOptions, parameter: &str) -> bool {
    values(options).any(|(name, _)| name == parameter)
}

/// Returns the well-formed pairs of name and value in `--params`.
fn values(options: &ChoiceOptions) -> impl Iterator<Item = (&str, &str)> {
    let parts = options.params.as_deref().unwrap_or_default().split(',');
    parts.filter_map(|part| part.split_once('=')).map(|(name, value)| (name.trim(), value.trim()))
}
