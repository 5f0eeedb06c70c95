//! Level by level: how all processors of a machine with levels do something together.
//!
//! Written with the sizes of the groups for digits, a processor's number says in which node it is, in which socket there, and
//! which of the socket's processors it is. A step for each digit is a collective of those that differ in this digit alone: so
//! between nodes each processor talks to those that have its place in the other nodes, and no value crosses the network twice.

use crate::params::{Params, params_of};
use crate::proc::{Acting, Group, Proc};

/// One level's part of a collective.
pub(super) struct Step {
    /// This processor, and those that differ from it in the step's digit.
    pub group: Group,
    /// How many processors there are to a value of the digit.
    unit: usize,
    /// This processor.
    id: usize,
}

impl Step {
    /// The rank in such a group of any processor: the step's digit.
    pub(super) fn rank(&self, processor: usize) -> usize {
        processor / self.unit % self.group.members().len()
    }

    /// Whether a processor's value passes through this processor's group: they are in the same places of the groups within.
    pub(super) fn is_on_the_way_of(&self, processor: usize) -> bool {
        processor % self.unit == self.id % self.unit
    }
}

/// The steps from the outermost level to the innermost. On a machine of one level, and within a group, there are none: then
/// the callers do it in one step.
pub(super) fn steps(p: &Proc) -> Vec<Step> {
    if p.levels().is_empty() || p.acting().is_some() {
        return Vec::new();
    }
    let sizes = || p.levels().iter().map(|level| level.params.P);
    let around = [p.p()].into_iter().chain(sizes());
    let step = |(size, unit): (usize, usize)| {
        let id = p.id();
        let first = id / size * size + id % unit;
        Step { group: Group::new((first..first / size * size + size).step_by(unit)), unit, id }
    };
    around.zip(sizes().chain([1])).map(step).collect()
}

/// What the callers plan by: the parameters of the innermost level that has all of them in one group.
pub(super) fn plan<'a>(p: &Proc<'a>) -> &'a Params {
    let Some(Acting { group, .. }) = p.acting().filter(|_| !p.levels().is_empty()) else { return p.params() };
    group.span().map_or(p.params(), |(first, last)| params_of(p.params(), p.levels(), first, last))
}
