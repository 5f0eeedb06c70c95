//! Which machine was chosen: a paper's, one of the user's own, or a paper's with changes.

use loggp::{Parameter, Params, Preset, Time, preset};

use super::failure::Failure;
use super::number::Unit;
use super::options::Options;

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
    /// The machine that the options ask for.
    pub fn of(options: &Options) -> Result<Choice, Failure> {
        Choice::with(options, None)
    }

    /// The same, with another value for a parameter.
    pub fn with(options: &Options, parameter: Option<(&str, &str)>) -> Result<Choice, Failure> {
        Choice::build(
            options.machine.as_deref(),
            options.params.as_deref(),
            options.cycle,
            options.P,
            parameter,
        )
    }

    /// The machine with this name and these parameters, as far as they are given.
    ///
    /// What --params says goes over what the machine has, and -P over both. The cycle comes first, for bare
    /// numbers count cycles; the machine's own numbers have been read before and stay as long as they are.
    pub fn named(
        machine: Option<&str>,
        params: Option<&str>,
        cycle: Option<Time>,
        P: Option<usize>,
    ) -> Result<Choice, Failure> {
        Choice::build(machine, params, cycle, P, None)
    }

    /// The machine, with a further parameter that goes over all the rest.
    fn build(
        machine: Option<&str>,
        params: Option<&str>,
        cycle: Option<Time>,
        P: Option<usize>,
        further: Option<(&str, &str)>,
    ) -> Result<Choice, Failure> {
        if P.is_some() && params.is_some_and(gives_P) {
            return Err(Failure::request("P is given twice, by -P and in --params; give it once"));
        }
        let machine = machine.or(params.is_none().then_some(DEFAULT_MACHINE));
        let preset = machine.map(preset).transpose().map_err(Failure::request)?;

        let mut builder = preset.map_or_else(|| Params::new(DEFAULT_P), Preset::builder);
        if let Some(cycle) = cycle {
            builder = builder.cycle(cycle);
        }
        if let Some(text) = params {
            builder = builder.set(text).map_err(|why| Failure::Request(format!("--params: {why}")))?;
        }
        if let Some(P) = P {
            builder = builder.P(P);
        }
        if let Some((name, value)) = further {
            builder = builder.set(&format!("{name}={value}")).map_err(Failure::request)?;
        }
        let open = !builder.open().is_empty();
        let built = builder.build().map_err(|why| match preset {
            Some(preset) if open => Failure::Request(format!("--machine {}: {why}", preset.name)),
            _ => Failure::request(why),
        })?;
        let unit = params.and_then(|text| unit(text, built.cycle)).unwrap_or(match built.is_loggp() {
            true => Unit::US,
            false => Unit::NS,
        });
        Ok(Choice { preset, params: built, unit })
    }
}

/// The parameters in a text, with their values, where it is well formed.
fn values(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.split(',').filter_map(|part| part.split_once('=')).map(|(name, value)| (name.trim(), value.trim()))
}

/// Whether a text gives the number of processors.
pub fn gives_P(text: &str) -> bool {
    gives(text, "P")
}

/// Whether a text gives the parameter with this name.
pub fn gives(text: &str, parameter: &str) -> bool {
    values(text).any(|(name, _)| name == parameter)
}

/// The unit of the first time in a text.
fn unit(text: &str, cycle: Time) -> Option<Unit> {
    let is_time = |name: &str| Parameter::named(name).is_some_and(Parameter::is_time);
    values(text).find(|(name, _)| is_time(name)).map(|(_, value)| Unit::of(value, cycle))
}
