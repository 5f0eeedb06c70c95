//! Collectives of all processors, level by level, on a machine with levels.
//!
//! In the mixed radix of the group sizes, the digits of a processor's number are its node, its socket in the
//! node, and its place in the socket. There is a step for each digit: a collective of the processors that
//! differ only in this digit. So between nodes each processor communicates with those at its place in the
//! other nodes, and no value crosses the network twice.

use loggp_model::params::{Params, innermost_params};

use crate::proc::{Group, GroupMembership, Proc};

/// One level's step of a collective.
pub(super) struct LevelStep {
    /// The processors that differ only in the step's digit, this one included.
    pub group: Group,
    /// Number of processors to a value of the digit.
    unit: usize,
    id: usize,
}

impl LevelStep {
    /// Returns the rank of any processor in its group of this step, which is the step's digit.
    pub(super) fn rank(&self, processor: usize) -> usize {
        processor / self.unit % self.group.members().len()
    }

    /// Returns whether a processor's value passes through this processor's group: both have the same place in
    /// the groups within.
    pub(super) fn is_on_path_of(&self, processor: usize) -> bool {
        processor % self.unit == self.id % self.unit
    }
}

/// Returns the steps from the outermost level to the innermost. On a machine without levels and within a
/// group there are none, and the callers do all in one step.
pub(super) fn level_steps(p: &Proc) -> Vec<LevelStep> {
    if p.setup.levels.is_empty() || p.membership.is_some() {
        return Vec::new();
    }
    let sizes = || p.setup.levels.iter().map(|level| level.params.P);
    let around = [p.P()].into_iter().chain(sizes());
    let step = |(size, unit): (usize, usize)| {
        let id = p.id();
        let first = id / size * size + id % unit;
        let end = p.P().min(first / size * size + size);
        LevelStep { group: Group::new((first..end).step_by(unit)), unit, id }
    };
    around.zip(sizes().chain([1])).map(step).collect()
}

/// Returns the parameters for the callers' plans: those of the innermost level that has all of them in one
/// group.
pub(super) fn planning_params<'a>(p: &Proc<'a>) -> &'a Params {
    let Some(GroupMembership { group, .. }) = p.membership.as_ref().filter(|_| !p.setup.levels.is_empty())
    else {
        return p.params();
    };
    group
        .number_range()
        .map_or(p.params(), |(first, last)| innermost_params(p.params(), &p.setup.levels, first, last))
}
