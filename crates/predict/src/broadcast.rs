//! Broadcast: processor 0 has a datum, and every processor gets it.
//!
//! A broadcast is a tree. Every processor receives the datum once, from its parent, and then sends it to its
//! children in order. If it can begin to send at time t, it sends the i-th at t + id, and that child can
//! begin at t + id + D (Karp, Sahay, Santos and Schauser, "Optimal Broadcast and Summation in the LogP
//! Model", definition 3.4). For a datum of k words, D = L + 2o + (k-1)G and d = max((k-1)G + g, o).

use loggp_model::params::Params;
use loggp_model::time::Time;
use loggp_schedule::{Schedule, ScheduleError};

use crate::plan::boxed;
use crate::steps::{self, Step};
use crate::trees::{self, Children};
use crate::{ClosedForm, Description, FormKind, Predict, Refusal, Setting, Size, StepProgram};

/// Purpose and source of the program.
pub const ABOUT: &str = "one processor's datum reaches all (LogP, section 3.3; Karp et al., section 3)";
/// Meaning and default of its size.
pub const SIZE: Size = Size { meaning: "words of the datum", default: 1 };

/// The program.
pub static BROADCAST: StepProgram = StepProgram {
    about: ABOUT,
    size: SIZE,
    algorithms: &[
        (OPTIMAL, |s| boxed(Broadcast::optimal(s))),
        (BINOMIAL, |s| boxed(Broadcast::binomial(s))),
        (BINARY, |s| boxed(Broadcast::binary(s))),
        (FLAT, |s| boxed(Broadcast::flat(s))),
    ],
};

/// The algorithm `optimal`.
pub const OPTIMAL: Description = Description {
    name: "optimal",
    about: "every processor that has the datum sends it on, as early and as often as possible",
    formula: ClosedForm::Paper(
        "Karp et al., theorem 3.2",
        "the least t with sum over j of C(floor((t-jD)/d) + j, j) >= P",
    ),
};

/// The algorithm `binomial`.
pub const BINOMIAL: Description = Description {
    name: "binomial",
    about: "a processor that answers for n processors hands floor(n/2) of them to one that gets the datum",
    formula: ClosedForm::Ours("t(n) = max(D + t(floor(n/2)), d + t(ceil(n/2)))"),
};

/// The algorithm `binary`.
pub const BINARY: Description = Description {
    name: "binary",
    about: "processor i sends to processors 2i+1 and 2i+2",
    formula: ClosedForm::Ours(
        "the greatest floor(log2 n) D + (ones(n) - 1) d of n = 1..P, with the ones in binary n",
    ),
};

/// The algorithm `flat`.
pub const FLAT: Description = Description {
    name: "flat",
    about: "processor 0 sends to all others, one after the other",
    formula: ClosedForm::Ours("(P-2)d + D"),
};

/// The algorithm `levels`.
pub const LEVELS: Description = Description {
    name: "levels",
    about: "the optimal tree between the machine's nodes, and then another within each",
    formula: ClosedForm::Ours(
        "the sum of the optimal tree's times over the levels, each with its parameters and its number of groups",
    ),
};

/// A broadcast along a tree.
pub struct Broadcast<'a> {
    setting: Setting<'a>,
    /// Returns the tree of P processors for D and d.
    tree: fn(usize, Time, Time) -> Children,
    /// Returns the time at which the last of P processors has the datum, for D and d.
    time: fn(usize, Time, Time) -> Time,
}

impl<'a> Broadcast<'a> {
    /// Returns the broadcast along the optimal tree.
    pub fn optimal(setting: Setting<'a>) -> Result<Broadcast<'a>, Refusal> {
        Broadcast::new(setting, trees::optimal, trees::B)
    }

    /// Returns the broadcast along the binomial tree.
    pub fn binomial(setting: Setting<'a>) -> Result<Broadcast<'a>, Refusal> {
        Broadcast::new(setting, |P, _, _| trees::binomial(P), trees::binomial_time)
    }

    /// Returns the broadcast along the binary tree.
    pub fn binary(setting: Setting<'a>) -> Result<Broadcast<'a>, Refusal> {
        Broadcast::new(setting, |P, _, _| trees::binary(P), trees::binary_time)
    }

    /// Returns the broadcast in which processor 0 sends to all.
    pub fn flat(setting: Setting<'a>) -> Result<Broadcast<'a>, Refusal> {
        Broadcast::new(setting, |P, _, _| trees::flat(P), trees::flat_time)
    }

    fn new(
        setting: Setting<'a>,
        tree: fn(usize, Time, Time) -> Children,
        time: fn(usize, Time, Time) -> Time,
    ) -> Result<Broadcast<'a>, Refusal> {
        check_room(setting)?;
        Ok(Broadcast { setting, tree, time })
    }

    /// Returns each processor's children.
    pub fn children(&self) -> Children {
        let Setting { params, size, .. } = self.setting;
        let stream = params.stream(size);
        let D = params.send_overhead(size) + stream + params.L + params.recv_overhead(size);
        let d = params.send_overhead(size).max(stream + params.g);
        (self.tree)(params.P, D, d)
    }
}

/// Returns what a processor with these children does: all but processor 0 get the datum, and then all send it.
pub fn steps(id: usize, children: &[usize], bytes: usize) -> impl Iterator<Item = Step> {
    let receive = (id > 0).then_some(Step::Receive { from: None, number: None });
    receive.into_iter().chain(children.iter().map(move |&to| Step::Send { to, bytes, number: None }))
}

/// Returns D, the time from when a processor has the datum until its first child has it, and d, the time from
/// one child to the next.
fn distances(params: &Params, words: usize) -> Option<(Time, Time)> {
    let Params { L, o, g, .. } = *params;
    let stream = (words as i64 - 1) * params.G()?;
    Some((L + 2 * o + stream, o.max(stream + g)))
}

impl Predict for Broadcast<'_> {
    fn form(&self) -> Option<(FormKind, Time)> {
        let (D, d) = distances(self.setting.params, self.setting.size)?;
        let P = self.setting.params.P;
        let time = if P == 1 { Time::ZERO } else { (self.time)(P, D, d) };
        Some((FormKind::Exact, time))
    }

    fn schedule(&self) -> Option<Result<Schedule, ScheduleError>> {
        let Setting { params, levels, size, .. } = self.setting;
        let (children, bytes) = (self.children(), size * params.word.get());
        levels.is_empty().then(|| steps::schedule(params, |id| steps(id, &children[id], bytes)))
    }
}

/// Refuses what this computer has no room for.
fn check_room(setting: Setting) -> Result<(), Refusal> {
    setting.check_room(setting.params.P.saturating_mul(setting.params.word.get()))
}

/// The library's broadcast level by level.
pub struct LevelBroadcast<'a> {
    setting: Setting<'a>,
}

impl<'a> LevelBroadcast<'a> {
    /// Returns the broadcast on the levels of the machine.
    pub fn new(setting: Setting<'a>) -> Result<LevelBroadcast<'a>, Refusal> {
        check_room(setting)?;
        Ok(LevelBroadcast { setting })
    }
}

impl Predict for LevelBroadcast<'_> {
    fn knows_levels(&self) -> bool {
        true
    }

    /// This is exact where no level but the innermost has a g above its L + o. Then who sends last on a level can
    /// begin the next level before who receives last. Elsewhere the gap may delay it.
    fn form(&self) -> Option<(FormKind, Time)> {
        let Setting { params, levels, size, .. } = self.setting;
        let levels: Vec<&Params> =
            [params].into_iter().chain(levels.iter().map(|level| &level.params)).collect();
        // A level may have more processors than the machine.
        let groups = |index: usize| {
            let within = levels.get(index + 1).map_or(1, |within| within.P);
            levels[index].P.min(params.P).div_ceil(within)
        };
        let time = |(index, params): (usize, &&Params)| {
            let (D, d) = distances(params, size)?;
            Some(if groups(index) == 1 { Time::ZERO } else { trees::B(groups(index), D, d) })
        };
        let time = levels.iter().enumerate().map(time).sum::<Option<Time>>()?;
        let is_exact = levels.iter().rev().skip(1).all(|params| params.g <= params.L + params.o);
        let kind = if is_exact { FormKind::Exact } else { FormKind::LowerBound };
        Some((kind, time))
    }
}
