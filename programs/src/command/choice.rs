//! Which machine was chosen: a paper's, one of the user's own, or a paper's with changes.

use loggp::{Parameter, Params, ParamsBuilder, Preset, preset};

use super::failure::Failure;
use super::number::Unit;
use super::options::MachineOptions;

/// The machine of LogGP's scatter experiment, which runs unless another is asked for (LogGP, section 4.10).
const DEFAULT_MACHINE: &str = "cs2-elan";
/// As many processors as LogP's broadcast has (LogP, figure 3), for a machine of which nothing is said.
const DEFAULT_P: usize = 8;

/// A machine.
pub struct Choice {
    /// The paper's machine that it is, or began as.
    pub preset: Option<&'static Preset>,
    /// Its parameters.
    pub params: Params,
    /// The unit in which they were given.
    pub unit: Unit,
}

impl Choice {
    /// The machine that the options ask for, with so many processors.
    pub fn of(options: &MachineOptions, P: Option<usize>) -> Result<Choice, Failure> {
        let (preset, builder) = begin(options, P)?;
        let open = !builder.open().is_empty();
        let params = builder.build().map_err(|why| match preset {
            Some(preset) if open => Failure::Request(format!("--machine {}: {why}", preset.name)),
            _ => Failure::request(why),
        })?;
        Ok(Choice { preset, params, unit: unit(options, &params) })
    }
}

/// The machine that the options ask for, as far as they say what it is.
///
/// What --params says goes over what the machine has, and -P over both. The cycle comes first, for bare
/// numbers count cycles; the machine's own numbers have been read before and stay as long as they are.
pub fn begin(
    options: &MachineOptions,
    P: Option<usize>,
) -> Result<(Option<&'static Preset>, ParamsBuilder), Failure> {
    if P.is_some() && gives(options, "P") {
        return Err(Failure::request("P is given twice, by -P and in --params; give it once"));
    }
    let name = options.machine.as_deref().or(options.params.is_none().then_some(DEFAULT_MACHINE));
    let preset = name.map(preset).transpose().map_err(Failure::request)?;
    let mut builder = preset.map_or_else(|| Params::new(DEFAULT_P), Preset::builder);
    if let Some(cycle) = options.cycle {
        builder = builder.cycle(cycle);
    }
    if let Some(text) = &options.params {
        builder = builder.set(text).map_err(|why| Failure::Request(format!("--params: {why}")))?;
    }
    if let Some(P) = P {
        builder = builder.P(P);
    }
    Ok((preset, builder))
}

/// The unit of the first time in --params; without one, the unit of the papers.
pub fn unit(options: &MachineOptions, params: &Params) -> Unit {
    let is_time = |name: &str| Parameter::named(name).is_some_and(Parameter::is_time);
    match values(options).find(|(name, _)| is_time(name)) {
        Some((_, value)) => Unit::of(value, params.cycle),
        None => Unit::usual(params),
    }
}

/// Whether --params gives the parameter with this name.
pub fn gives(options: &MachineOptions, parameter: &str) -> bool {
    values(options).any(|(name, _)| name == parameter)
}

/// The parameters in --params, with their values, where it is well formed.
fn values(options: &MachineOptions) -> impl Iterator<Item = (&str, &str)> {
    let parts = options.params.as_deref().unwrap_or_default().split(',');
    parts.filter_map(|part| part.split_once('=')).map(|(name, value)| (name.trim(), value.trim()))
}
