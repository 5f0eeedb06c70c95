//! The choice of a machine: a paper's, one from a file, one described by `--params`, or one with changes.

use loggp::params::Parameter;
use loggp::{Params, ParamsBuilder, Ports, preset};

use super::error::CliError;
use super::levels::LevelDraft;
use super::machine_file::{self, MachineFile};
use super::number::Unit;
use super::options::ChoiceOptions;

/// The machine of LogGP's scatter experiment (LogGP, section 4.10).
const DEFAULT_MACHINE: &str = "cs2-elan";
/// The number of processors of LogP's broadcast (LogP, figure 3).
pub const DEFAULT_P: usize = 8;

/// A machine that was chosen.
pub struct MachineChoice {
    /// Name of the machine, or of the one that was changed, if it has one.
    pub name: Option<&'static str>,
    pub params: Params,
    /// Unit in which the parameters were given.
    pub unit: Unit,
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
        MachineChoice::from_partial(machine, options)
    }

    /// Completes a machine that `partial_machine` read from the options.
    pub fn from_partial(machine: PartialMachine, options: &ChoiceOptions) -> Result<MachineChoice, CliError> {
        let PartialMachine { name, builder, .. } = machine;
        let open = builder.open_names().join(" and ");
        let params = builder.build().map_err(|why| match &options.machine {
            Some(machine) if !open.is_empty() && preset(machine).is_err() => {
                let sentence =
                    format!("--machine {machine} leaves {open} open; give a value, as in --params L=6us");
                CliError::Request(sentence)
            }
            Some(machine) if !open.is_empty() => CliError::Request(format!("--machine {machine}: {why}")),
            _ => CliError::request(why),
        })?;
        Ok(MachineChoice { name, params, unit: unit(options, &params) })
    }
}

/// A machine as far as the options describe it: parameters may still be open.
pub struct PartialMachine {
    /// Name of the machine, if it has one.
    pub name: Option<&'static str>,
    pub builder: ParamsBuilder,
    /// The ports that its file gives.
    pub ports: Option<Ports>,
    /// The levels that its file gives.
    pub levels: Vec<LevelDraft>,
}

/// Reads the machine that the options describe, which may leave parameters open.
///
/// `--params` overrides the machine's values, and `P` overrides both. The cycle is set first, because bare
/// numbers in `--params` count cycles; the machine's own times are already read and don't change with it.
pub fn partial_machine(options: &ChoiceOptions, P: Option<usize>) -> Result<PartialMachine, CliError> {
    if P.is_some() && is_parameter_given(options, "P") {
        return Err(CliError::request("P is given twice, by -P and in --params; give it once"));
    }
    let named = options.machine.as_deref().or(options.params.is_none().then_some(DEFAULT_MACHINE));
    let (name, mut builder, ports, levels) = match named {
        None => (None, Params::builder(DEFAULT_P), None, Vec::new()),
        Some(named) => match preset(named) {
            Ok(preset) => (Some(preset.name), preset.builder(), None, Vec::new()),
            Err(_) if machine_file::is_file_name(named) => {
                let MachineFile { name, builder, ports, levels } = MachineFile::read(named, DEFAULT_P)?;
                (Some(name), builder, ports, levels)
            }
            Err(why) => return Err(CliError::request(why)),
        },
    };
    if let Some(cycle) = options.cycle {
        builder = builder.cycle(cycle);
    }
    if let Some(text) = &options.params {
        builder = builder.set(text).map_err(|why| CliError::Request(format!("--params: {why}")))?;
        if named.is_none() && !["L", "o", "g"].iter().any(|name| is_parameter_given(options, name)) {
            let sentence = "--params has none of L, o and g; give them, or a --machine that has them";
            return Err(CliError::request(sentence));
        }
    }
    if let Some(P) = P {
        builder = builder.P(P);
    }
    Ok(PartialMachine { name, builder, ports, levels })
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
