//! The parameters of a machine together with those of its levels, as one set of which each can be changed.

use super::builder::ParamsBuilder;
use super::levels::{Level, innermost_params, level_params};
use super::params::{Params, ParamsError};
use super::table::Parameter;
use crate::text::escaped;

/// The parameters of a machine and of the levels within it.
///
/// A parameter of the machine itself has its name in the papers, and that of a level the level's number behind
/// it: `L_1` is the latency of the outermost level within the machine, and `L_2` that of the one within it.
///
/// ```
/// use loggp::params::{LevelParameter, LeveledParams};
/// use loggp::{Level, Params, US};
///
/// let network = Params::builder(4).L(60 * US).build()?;
/// let node = Level::new(Params::builder(2).L(6 * US).build()?);
/// let machine = LeveledParams::new(network, [node]);
/// assert_eq!(machine.between(0, 1).L, 6 * US);
///
/// let L = LevelParameter::by_name("L_1").unwrap();
/// assert_eq!((L.level, L.number(&machine)), (1, Some(6_000_000)));
/// let slower = machine.set("L=70us, L_1=7us")?;
/// assert_eq!((slower.params.L, slower.between(0, 1).L), (70 * US, 7 * US));
/// # Ok::<(), loggp::ParamsError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeveledParams {
    /// The machine's own: the costs of messages between the groups of the outermost level.
    pub params: Params,
    /// The levels within the machine, from the outermost to the innermost.
    pub levels: Vec<Level>,
}

/// A parameter of a machine itself, or of a level within it: its name and meaning, without a value.
#[derive(Clone, Copy, Debug)]
pub struct LevelParameter {
    /// The parameter.
    pub parameter: &'static Parameter,
    /// The number of the level, from 1 for the outermost; 0 for the machine itself.
    pub level: usize,
}

impl From<Params> for LeveledParams {
    /// Returns the parameters of a machine without levels.
    fn from(params: Params) -> LeveledParams {
        LeveledParams { params, levels: Vec::new() }
    }
}

impl LeveledParams {
    /// Creates the parameters of a machine with these levels, from the outermost to the innermost.
    pub fn new(params: Params, levels: impl IntoIterator<Item = Level>) -> LeveledParams {
        LeveledParams { params, levels: levels.into_iter().collect() }
    }

    /// Refuses parameters and levels that no machine can have.
    pub fn check(&self) -> Result<(), ParamsError> {
        self.params.check()?;
        Level::check(&self.params, &self.levels)
    }

    /// Returns the parameters of a level, or the machine's own for 0.
    ///
    /// # Panics
    ///
    /// If the machine has no such level.
    pub fn at(&self, level: usize) -> &Params {
        level_params(&self.params, &self.levels, level)
    }

    /// Iterates over the machine's own parameters, and those of each level.
    pub fn all(&self) -> impl Iterator<Item = &Params> {
        [&self.params].into_iter().chain(self.levels.iter().map(|level| &level.params))
    }

    /// Returns the parameters of messages between two processors: those of the innermost level that has both
    /// in one group, or else the machine's own.
    pub fn between(&self, x: usize, y: usize) -> &Params {
        innermost_params(&self.params, &self.levels, x, y)
    }

    /// Iterates over the parameters that this machine and its levels have.
    pub fn parameters(&self) -> impl Iterator<Item = LevelParameter> + '_ {
        let of =
            |level: usize| Parameter::ALL.iter().map(move |parameter| LevelParameter { parameter, level });
        (0..=self.levels.len()).flat_map(of).filter(|parameter| parameter.number(self).is_some())
    }

    /// Returns the same machine with another value of a parameter, in picoseconds if it is a time.
    pub fn with(&self, parameter: LevelParameter, value: i64) -> Result<LeveledParams, ParamsError> {
        let LevelParameter { parameter: Parameter { name, .. }, level } = parameter;
        let mut changed = self.clone();
        let params = changed.at_mut(level).ok_or_else(|| self.lacks(parameter.name()))?;
        *params = params.with(name, value)?;
        Ok(changed)
    }

    /// Returns the same machine with other values of parameters, from text: `L=6us,o_1=200ns`.
    pub fn set(&self, text: &str) -> Result<LeveledParams, ParamsError> {
        let mut texts = vec![String::new(); 1 + self.levels.len()];
        for part in text.split(',') {
            let name = part.split_once('=').map_or(part, |(name, _)| name).trim();
            match LevelParameter::by_name(name).filter(|parameter| parameter.level > 0) {
                Some(LevelParameter { parameter, level }) => {
                    let own = texts.get_mut(level).ok_or_else(|| self.lacks(name))?;
                    let value = part.split_once('=').map_or("", |(_, value)| value);
                    *own += &format!("{}={value},", parameter.name);
                }
                None => texts[0] += &format!("{part},"),
            }
        }
        let mut changed = self.clone();
        for (level, text) in texts.iter().enumerate() {
            if let Some(params) = changed.at_mut(level) {
                let set = ParamsBuilder::from(*params).set(text).and_then(ParamsBuilder::build);
                *params = set.map_err(|why| of_level(level, why))?;
            }
        }
        Ok(changed)
    }

    fn at_mut(&mut self, level: usize) -> Option<&mut Params> {
        match level.checked_sub(1) {
            None => Some(&mut self.params),
            Some(within) => self.levels.get_mut(within).map(|level| &mut level.params),
        }
    }

    /// Returns the refusal of a parameter of a level that is not there.
    fn lacks(&self, name: &str) -> ParamsError {
        let there = match self.levels.len() {
            0 => "has no levels".into(),
            1 => "has one level".into(),
            n => format!("has {n} levels"),
        };
        ParamsError::new(format!("{} is of a level, and the machine {there} within it", escaped(name)))
    }
}

/// Says which level a refusal is about.
fn of_level(level: usize, why: ParamsError) -> ParamsError {
    if level == 0 { why } else { ParamsError::new(format!("level {level}: {why}")) }
}

impl From<&'static Parameter> for LevelParameter {
    /// Returns the parameter of the machine itself.
    fn from(parameter: &'static Parameter) -> LevelParameter {
        LevelParameter { parameter, level: 0 }
    }
}

impl LevelParameter {
    /// Returns the parameter with this name, such as `L` or `L_1`, or `None`.
    pub fn by_name(name: &str) -> Option<LevelParameter> {
        let at =
            |level: usize| Parameter::ALL.iter().map(move |parameter| LevelParameter { parameter, level });
        (0..=super::table::MOST_LEVELS).flat_map(at).find(|one| one.name() == name)
    }

    /// Returns its name.
    pub fn name(&self) -> &'static str {
        self.parameter.name_at(self.level)
    }

    /// Returns whether its values are times; if not, they are counts.
    pub fn is_time(&self) -> bool {
        self.parameter.is_time()
    }

    /// Returns its value on a machine, in picoseconds or as a count, or `None` if that machine does not have it.
    pub fn number(&self, machine: &LeveledParams) -> Option<i64> {
        (self.level <= machine.levels.len()).then(|| self.parameter.number(machine.at(self.level)))?
    }
}
