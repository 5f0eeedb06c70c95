//! Machines with levels: messages within a socket, within a node and between nodes have different costs.

use serde::{Deserialize, Serialize};

use super::params::{Params, ParamsError};
use super::settings::Ports;
use super::table::MOST_LEVELS;

/// A level within a machine, such as a node or a socket: the costs of messages between processors of one
/// group.
///
/// The groups of a level follow one another: with P = 16, processors 0 to 15 are the first, 16 to 31 the
/// second. A message costs what the innermost level says that has its sender and receiver in one group, or
/// else what the machine's own parameters say. Where the groups of the outermost level are as large as the
/// machine or larger, as on a part of a node, all its processors are in one.
///
/// ```
/// use loggp::{Level, Machine, Params, Tag, Time, US};
///
/// // Two nodes of two processors. Within a node all is ten times as fast.
/// let network = Params::builder(4).L(60 * US).o(20 * US).g(40 * US).build()?;
/// let node = Params::builder(2).L(6 * US).o(2 * US).g(4 * US).build()?;
/// let machine = Machine::new(network).levels([Level::new(node)]);
/// let run = machine.run(|p| {
///     const WORD: Tag<u64> = Tag::new(0);
///     match p.id() {
///         0 => [1, 2].map(|to| p.send(to, WORD, 7)).len() as u64,
///         1 | 2 => p.recv(WORD),
///         _ => 0,
///     }
/// })?;
/// // Processor 1 has the word after 2o + L of the node, processor 2 after those of the network, sent 2 us
/// // later.
/// assert_eq!((run.processors[1].finish, run.processors[2].finish), (10 * US, 102 * US));
/// # Ok::<(), loggp::RunError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Level {
    /// Costs of messages within a group; P is the number of processors of a group.
    #[serde(flatten)]
    pub params: Params,
    /// Number of long messages that a processor's interface handles at once within its group.
    pub ports: Ports,
    /// True if a group has one port to the outside, such as a network card that the processors of a node
    /// share. Else each processor has its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub one_port: bool,
}

impl Level {
    /// Creates a level with these costs and groups of P processors. Ports are single, and each processor has
    /// its own port to the outside.
    pub fn new(params: Params) -> Level {
        Level { params, ports: Ports::default(), one_port: false }
    }

    /// Sets the number of long messages that a processor's interface handles at once within its group.
    pub fn ports(self, ports: Ports) -> Level {
        Level { ports, ..self }
    }

    /// Sets whether the processors of a group share one port to the outside.
    pub fn one_port(self, one_port: bool) -> Level {
        Level { one_port, ..self }
    }

    /// Refuses levels that a machine with these parameters cannot have.
    #[doc(hidden)]
    pub fn check(outer: &Params, levels: &[Level]) -> Result<(), ParamsError> {
        let refuse = |sentence: String| Err(ParamsError::new(sentence));
        if levels.len() > MOST_LEVELS {
            let n = levels.len();
            return refuse(format!("{n} levels within the machine are too many; give at most {MOST_LEVELS}"));
        }
        let mut around = None;
        for Level { params, .. } in levels {
            params.check()?;
            let P = params.P;
            // A level may have all processors of the machine, and must be smaller than the level around it.
            let divides = |all: usize| P >= all || all.is_multiple_of(P);
            let is_within = around.is_none_or(|around: usize| P < around && around.is_multiple_of(P));
            if !is_within || !divides(outer.P) {
                let all = if is_within { outer.P } else { around.unwrap_or(outer.P) };
                return refuse(format!(
                    "groups of {P} do not divide {all} processors; give the level another P"
                ));
            }
            if (params.word, params.cycle) != (outer.word, outer.cycle) {
                return refuse("levels differ in word or cycle; give all the same".into());
            }
            if params.is_loggp() != outer.is_loggp() {
                return refuse(
                    "some levels are LogGPS's and some are not; give all or none of them S".into(),
                );
            }
            around = Some(P);
        }
        Ok(())
    }
}

/// Returns the parameters of the innermost level that has two processors in one group, and so all between them.
pub fn innermost_params<'p>(outer: &'p Params, levels: &'p [Level], x: usize, y: usize) -> &'p Params {
    level_params(outer, levels, innermost_level(levels, x, y))
}

/// Returns the parameters of a level by its number, from 1 for the outermost; the machine's own for 0.
#[inline]
pub fn level_params<'p>(outer: &'p Params, levels: &'p [Level], level: usize) -> &'p Params {
    level.checked_sub(1).map_or(outer, |within| &levels[within].params)
}

/// Returns the number of the innermost level that has both processors in one group, from 1 for the outermost;
/// 0 if there is none.
#[inline]
pub fn innermost_level(levels: &[Level], x: usize, y: usize) -> usize {
    let has_both = |level: &Level| x / level.params.P == y / level.params.P;
    levels.iter().rposition(has_both).map_or(0, |within| within + 1)
}

/// One value for each level.
#[derive(Clone, Debug, Default)]
pub struct PerLevel<T> {
    /// The value of the machine itself, for messages between groups.
    pub outer: T,
    /// The sizes of the groups and the values of the levels within, from the innermost to the outermost.
    inner: Box<[(usize, T)]>,
}

impl<T> PerLevel<T> {
    /// Makes a value for each level within from its number, which counts from 1, and the level.
    pub(crate) fn new(outer: T, levels: &[Level], mut of: impl FnMut(usize, &Level) -> T) -> PerLevel<T> {
        let inner = (1..).zip(levels).map(|(number, level)| (level.params.P, of(number, level)));
        let mut inner: Box<[(usize, T)]> = inner.collect();
        inner.reverse();
        PerLevel { outer, inner }
    }

    /// Returns the value of the innermost level that has both processors in one group. Most machines have no
    /// levels.
    #[inline]
    pub(crate) fn between(&self, x: usize, y: usize) -> &T {
        if self.inner.is_empty() { &self.outer } else { self.innermost(x, y) }
    }

    #[inline(never)]
    fn innermost(&self, x: usize, y: usize) -> &T {
        let found = self.inner.iter().find(|(size, _)| x / size == y / size);
        found.map_or(&self.outer, |(_, it)| it)
    }

    /// Iterates over the values, from the innermost to the machine's own.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.inner.iter().map(|(_, it)| it).chain([&self.outer])
    }

    /// Converts each value.
    pub(crate) fn map<U>(&self, of: impl Fn(&T) -> U) -> PerLevel<U> {
        PerLevel {
            outer: of(&self.outer),
            inner: self.inner.iter().map(|(size, it)| (*size, of(it))).collect(),
        }
    }
}
