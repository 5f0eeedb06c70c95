//! Parameters from text, and from the numbers in a trace.

use super::builder::ParamsBuilder;
use super::params::{LongMessages, Params, ParamsError};
use super::table::{MachineSet, Parameter, ValueKind};
use crate::text::escaped;
use crate::time::Time;

impl Params {
    /// Returns the same machine with another value of a parameter, in picoseconds if it is a time.
    ///
    /// ```
    /// use loggp::{Params, US};
    /// let params = Params::builder(8).L(6 * US).build()?;
    /// assert_eq!(params.with("L", 5_000_000)?, Params { L: 5 * US, ..params });
    /// # Ok::<(), loggp::ParamsError>(())
    /// ```
    pub fn with(&self, name: &str, value: i64) -> Result<Params, ParamsError> {
        let unit = if Parameter::by_name(name).is_some_and(Parameter::is_time) { "ps" } else { "" };
        ParamsBuilder::from(*self).set(&format!("{name}={value}{unit}"))?.build()
    }
}

impl ParamsBuilder {
    /// Sets parameters from text: `L=6us,o=2us,g=4us,G=0.03us`. A bare number counts cycles.
    ///
    /// ```
    /// use loggp::{Params, US};
    /// let params = Params::builder(8).set("L=6, o=2us, g=4000ns")?.build()?;
    /// assert_eq!((params.L, params.g), (6 * US, 4 * US));
    ///
    /// let refused = Params::builder(8).set("L=6parsec").unwrap_err();
    /// assert_eq!(refused.to_string(), "L = 6parsec: there is no unit parsec; use s, ms, us, ns, ps or cycles");
    /// # Ok::<(), loggp::ParamsError>(())
    /// ```
    pub fn set(mut self, text: &str) -> Result<ParamsBuilder, ParamsError> {
        let mut seen = Vec::new();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let Some((name, value)) = part.split_once('=') else {
                let part = escaped(part);
                return Err(ParamsError::new(format!("{part} is not a parameter; write it as L=6us")));
            };
            let (name, value) = (name.trim(), value.trim());
            if seen.contains(&name) {
                return Err(ParamsError::new(format!("{name} is given twice; give it once")));
            }
            seen.push(name);
            let parameter = Parameter::by_name(name).ok_or_else(|| {
                ParamsError::new(format!(
                    "{} is not a parameter; there are {}",
                    escaped(name),
                    Parameter::names()
                ))
            })?;
            self = self.set_one(parameter, value)?;
        }
        Ok(self)
    }

    /// Sets a parameter, or the cycle, from text.
    pub(super) fn set_one(
        mut self,
        parameter: &Parameter,
        value: &str,
    ) -> Result<ParamsBuilder, ParamsError> {
        let name = parameter.name;
        let why_not = match (parameter.machines, self.params.long) {
            (MachineSet::LogGP, LongMessages::LogGPS(_)) => {
                Some("belongs to LogGP, and this is a LogGPS machine; give G_s and G_l")
            }
            (MachineSet::LogGPS | MachineSet::ExplicitLogGPS, LongMessages::LogGP { .. }) => {
                Some("belongs to LogGPS, and this machine has LogGP's G; give one of the two")
            }
            _ => None,
        };
        if let Some(why) = why_not {
            return Err(ParamsError::new(format!("{name} {why}")));
        }
        match &parameter.kind {
            ValueKind::Times(at) => {
                let time = Time::parse(value, self.params.cycle);
                *at(&mut self) =
                    time.map_err(|why| ParamsError::new(format!("{name} = {}: {why}", escaped(value))))?;
            }
            // No limit is the largest value.
            ValueKind::Counts(range, at) if parameter.can_be_unlimited() && value == "none" => {
                *at(&mut self) = *range.end();
            }
            ValueKind::Counts(_, at) => {
                *at(&mut self) = value.parse().map_err(|_| {
                    let or = if parameter.can_be_unlimited() { ", or none for no limit" } else { "" };
                    let why = "is not a number; give a whole one, without a unit";
                    ParamsError::new(format!("{name} = {} {why}{or}", escaped(value)))
                })?;
            }
        }
        Ok(self.close(name))
    }

    /// Sets a parameter, or the cycle, to a number that [`Parameter::number`] gave.
    pub(crate) fn set_number(mut self, parameter: &Parameter, number: i64) -> ParamsBuilder {
        match &parameter.kind {
            ValueKind::Times(at) => *at(&mut self) = Time::from_ps(number),
            // A count below 0 becomes one that the check refuses.
            ValueKind::Counts(_, at) => *at(&mut self) = usize::try_from(number).unwrap_or(usize::MAX),
        }
        self.close(parameter.name)
    }
}
