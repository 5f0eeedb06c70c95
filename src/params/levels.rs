//! Machines with levels: processors of one socket, of one node and of the network between nodes, each at a price of its own.

use super::params::{Params, ParamsError};
use super::settings::Ports;

/// A level within a machine, such as a node or a socket: what messages cost between processors of one group.
///
/// The groups of a level follow one another: with P = 16 processors 0 to 15 are the first, 16 to 31 the second. A message goes
/// by the innermost level that has both its ends in one group, or else by the machine's own parameters.
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
///         1 | 2 => p.recv(WORD).1,
///         _ => 0,
///     }
/// })?;
/// // Processor 1 has the word after 2o + L of the node, processor 2 after those of the network, sent 2 us later.
/// assert_eq!((run.processors[1].finish, run.processors[2].finish), (10 * US, 102 * US));
/// # Ok::<(), loggp::RunError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// What messages within a group cost; P is the number of processors of a group.
    pub params: Params,
    /// How many long messages a processor's interface handles at once within its group.
    pub ports: Ports,
    /// Whether a group has one port to the outside, such as a network card that the processors of a node share. Else each of
    /// them has its own.
    pub one_port: bool,
}

impl Level {
    /// A level at which messages cost what these parameters say, and a group has as many processors as P says. Ports are
    /// single, and each processor has its own to the outside.
    pub fn new(params: Params) -> Level {
        Level { params, ports: Ports::default(), one_port: false }
    }

    /// Sets how many long messages a processor's interface handles at once within its group.
    pub fn ports(self, ports: Ports) -> Level {
        Level { ports, ..self }
    }

    /// Sets whether the processors of a group share a port to the outside.
    pub fn one_port(self, one_port: bool) -> Level {
        Level { one_port, ..self }
    }

    /// Refuses levels that a machine with these parameters cannot have.
    pub(crate) fn check(outer: &Params, levels: &[Level]) -> Result<(), ParamsError> {
        /// The network, the node and the socket.
        const MOST: usize = 2;
        let refuse = |sentence: String| Err(ParamsError::new(sentence));
        if levels.len() > MOST {
            let n = levels.len();
            return refuse(format!("{n} levels within the machine are too many; give at most {MOST}"));
        }
        let mut around = outer;
        for Level { params, .. } in levels {
            params.check()?;
            let (P, all) = (params.P, around.P);
            if P >= all || !all.is_multiple_of(P) {
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
            around = params;
        }
        Ok(())
    }
}

/// The machine's parameters as they are for the innermost group that has all of some processors, from the first to the last.
pub(crate) fn params_of<'p>(outer: &'p Params, levels: &'p [Level], first: usize, last: usize) -> &'p Params {
    let has_both = |level: &&Level| first / level.params.P == last / level.params.P;
    levels.iter().rev().find(has_both).map_or(outer, |level| &level.params)
}

/// Something that each level has its own of.
#[derive(Clone, Debug, Default)]
pub(crate) struct ByLevel<T> {
    /// The machine's own, for messages between groups.
    pub outer: T,
    /// Those of the levels within and the sizes of their groups, from the innermost to the outermost.
    inner: Box<[(usize, T)]>,
}

impl<T> ByLevel<T> {
    /// What is made for each level, the machine's own first, which has number 0.
    pub(crate) fn new(outer: T, levels: &[Level], mut of: impl FnMut(usize, &Level) -> T) -> ByLevel<T> {
        let inner = (1..).zip(levels).map(|(number, level)| (level.params.P, of(number, level)));
        let mut inner: Box<[(usize, T)]> = inner.collect();
        inner.reverse();
        ByLevel { outer, inner }
    }

    /// What two processors have in common. Most machines have one level.
    #[inline]
    pub(crate) fn between(&self, x: usize, y: usize) -> &T {
        if self.inner.is_empty() { &self.outer } else { self.innermost(x, y) }
    }

    #[inline(never)]
    fn innermost(&self, x: usize, y: usize) -> &T {
        let found = self.inner.iter().find(|(size, _)| x / size == y / size);
        found.map_or(&self.outer, |(_, it)| it)
    }

    /// All of them.
    pub(crate) fn all(&self) -> impl Iterator<Item = &T> {
        self.inner.iter().map(|(_, it)| it).chain([&self.outer])
    }

    /// The same, with something else for each.
    pub(crate) fn map<U>(&self, of: impl Fn(&T) -> U) -> ByLevel<U> {
        ByLevel {
            outer: of(&self.outer),
            inner: self.inner.iter().map(|(size, it)| (*size, of(it))).collect(),
        }
    }
}
