//! Which machine was chosen: a paper's, one from a file, one of the user's own, or one of these with changes.

use loggp::{Parameter, Params, ParamsBuilder, Ports, preset};

use super::failure::Failure;
use super::levels::Draft;
use super::machine_file::{self, MachineFile};
use super::number::Unit;
use super::options::ChoiceOptions;

/// The machine of LogGP's scatter experiment, which runs unless another is asked for (LogGP, section 4.10).
const DEFAULT_MACHINE: &str = "cs2-elan";
/// As many processors as LogP's broadcast has (LogP, figure 3), for a machine of which nothing is said.
pub const DEFAULT_P: usize = 8;

/// A machine.
pub struct Choice {
    /// What the machine is called that it is, or began as, if it was named.
    pub name: Option<&'static str>,
    /// Its parameters.
    pub params: Params,
    /// The unit in which they were given.
    pub unit: Unit,
}

impl Choice {
    /// The machine that the options ask for, with so many processors.
    pub fn of(options: &ChoiceOptions, P: Option<usize>) -> Result<Choice, Failure> {
        let begun = begin(options, P)?;
        if !begun.levels.is_empty() {
            let sentence = "this machine has levels, which run, compare and sweep know; leave them out here";
            return Err(Failure::request(sentence));
        }
        Choice::begun(begun, options)
    }

    /// The machine that the options ask for, once it is known as far as they say.
    pub fn begun(begun: Begun, options: &ChoiceOptions) -> Result<Choice, Failure> {
        let Begun { name, builder, .. } = begun;
        let open = builder.open().join(" and ");
        let params = builder.build().map_err(|why| match &options.machine {
            Some(machine) if !open.is_empty() && preset(machine).is_err() => {
                let sentence =
                    format!("--machine {machine} leaves {open} open; give a value, as in --params L=6us");
                Failure::Request(sentence)
            }
            Some(machine) if !open.is_empty() => Failure::Request(format!("--machine {machine}: {why}")),
            _ => Failure::request(why),
        })?;
        Ok(Choice { name, params, unit: unit(options, &params) })
    }
}

/// A machine, as far as the options say what it is.
pub struct Begun {
    /// What it is called, if it was named.
    pub name: Option<&'static str>,
    /// Its parameters so far.
    pub builder: ParamsBuilder,
    /// The ports that its file says it has.
    pub ports: Option<Ports>,
    /// The levels that its file has.
    pub levels: Vec<Draft>,
}

/// The machine that the options ask for, as far as they say what it is.
///
/// What --params says goes over what the machine has, and -P over both. The cycle comes first, for bare
/// numbers count cycles; the machine's own numbers have been read before and stay as long as they are.
pub fn begin(options: &ChoiceOptions, P: Option<usize>) -> Result<Begun, Failure> {
    if P.is_some() && gives(options, "P") {
        return Err(Failure::request("P is given twice, by -P and in --params; give it once"));
    }
    let named = options.machine.as_deref().or(options.params.is_none().then_some(DEFAULT_MACHINE));
    let (name, mut builder, ports, levels) = match named {
        None => (None, Params::builder(DEFAULT_P), None, Vec::new()),
        Some(named) => match preset(named) {
            Ok(preset) => (Some(preset.name), preset.builder(), None, Vec::new()),
            Err(_) if machine_file::is_meant(named) => {
                let MachineFile { name, builder, ports, levels } = MachineFile::read(named, DEFAULT_P)?;
                (Some(name), builder, ports, levels)
            }
            Err(why) => return Err(Failure::request(why)),
        },
    };
    if let Some(cycle) = options.cycle {
        builder = builder.cycle(cycle);
    }
    if let Some(text) = &options.params {
        builder = builder.set(text).map_err(|why| Failure::Request(format!("--params: {why}")))?;
        if named.is_none() && !["L", "o", "g"].iter().any(|name| gives(options, name)) {
            let sentence = "--params has none of L, o and g; give them, or a --machine that has them";
            return Err(Failure::request(sentence));
        }
    }
    if let Some(P) = P {
        builder = builder.P(P);
    }
    Ok(Begun { name, builder, ports, levels })
}

/// The unit of the first time in --params; without one, the unit of the papers.
pub fn unit(options: &ChoiceOptions, params: &Params) -> Unit {
    let is_time = |name: &str| Parameter::named(name).is_some_and(Parameter::is_time);
    match values(options).find(|(name, _)| is_time(name)) {
        Some((_, value)) => Unit::of(value, params.cycle),
        None => Unit::usual(params),
    }
}

/// Whether --params gives the parameter with this name.
pub fn gives(options: &ChoiceOptions, parameter: &str) -> bool {
    values(options).any(|(name, _)| name == parameter)
}

/// The parameters in --params, with their values, where it is well formed.
fn values(options: &ChoiceOptions) -> impl Iterator<Item = (&str, &str)> {
    let parts = options.params.as_deref().unwrap_or_default().split(',');
    parts.filter_map(|part| part.split_once('=')).map(|(name, value)| (name.trim(), value.trim()))
}
