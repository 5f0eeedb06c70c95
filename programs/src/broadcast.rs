//! Broadcast: processor 0 has a datum, and every processor gets it.
//!
//! A broadcast is a tree. Every processor receives the datum once, from its parent, and then sends it to its
//! children in order. If it can begin to send at time t, it sends the i-th at t + id, and that child can
//! begin at t + id + D (Karp, Sahay, Santos and Schauser, "Optimal Broadcast and Summation in the LogP
//! Model", definition 3.4). For a datum of k words, D = L + 2o + (k-1)G and d = max((k-1)G + g, o).

use loggp::schedule::{Schedule, ScheduleError};
use loggp::{Params, Time, Work};
#[cfg(feature = "machine")]
use loggp::{RunError, Tag, collectives};

use crate::math::trees;
use crate::math::trees::Children;
use crate::steps::{self, Step};
#[cfg(feature = "machine")]
use crate::steps::{StepData, perform};
use crate::{Algorithm, Case, ClosedForm, FormKind, Plan, PlanResult, Program, Refusal, Size};
#[cfg(feature = "machine")]
use crate::{Emulation, Outcome};

/// One-to-all broadcast of one datum.
pub static BROADCAST: Program = Program {
    name: "broadcast",
    about: "one processor's datum reaches all (LogP, section 3.3; Karp et al., section 3)",
    algorithms: &[
        Algorithm {
            name: "optimal",
            about: "every processor that has the datum sends it on, as early and as often as possible",
            formula: ClosedForm::Paper(
                "Karp et al., theorem 3.2",
                "the least t with sum over j of C(floor((t-jD)/d) + j, j) >= P",
            ),
            plan: |case| Broadcast::plan(case, trees::optimal, trees::B),
        },
        Algorithm {
            name: "binomial",
            about: "a processor that answers for n processors hands floor(n/2) of them to one that gets the datum",
            formula: ClosedForm::Ours("t(n) = max(D + t(floor(n/2)), d + t(ceil(n/2)))"),
            plan: |case| Broadcast::plan(case, |P, _, _| trees::binomial(P), trees::binomial_time),
        },
        Algorithm {
            name: "binary",
            about: "processor i sends to processors 2i+1 and 2i+2",
            formula: ClosedForm::Ours(
                "the greatest floor(log2 n) D + (ones(n) - 1) d of n = 1..P, with the ones in binary n",
            ),
            plan: |case| Broadcast::plan(case, |P, _, _| trees::binary(P), trees::binary_time),
        },
        Algorithm {
            name: "flat",
            about: "processor 0 sends to all others, one after the other",
            formula: ClosedForm::Ours("(P-2)d + D"),
            plan: |case| Broadcast::plan(case, |P, _, _| trees::flat(P), trees::flat_time),
        },
        Algorithm {
            name: "levels",
            about: "the optimal tree between the machine's nodes, and then another within each",
            formula: ClosedForm::Ours(
                "the sum of the optimal tree's times over the levels, each with its parameters and its number of groups",
            ),
            plan: |case| Ok(Box::new(LevelBroadcast { case: Broadcast::check_case(case)? })),
        },
    ],
    size: Size { meaning: "words of the datum", default: 1 },
    options: &[],
    work: Work::Charged,
};

/// A broadcast along a tree.
struct Broadcast<'a> {
    case: &'a Case,
    /// Returns the tree of P processors for D and d.
    tree: fn(usize, Time, Time) -> Children,
    /// Returns the time at which the last of P processors has the datum, for D and d.
    time: fn(usize, Time, Time) -> Time,
}

impl<'a> Broadcast<'a> {
    fn plan(
        case: &'a Case,
        tree: fn(usize, Time, Time) -> Children,
        time: fn(usize, Time, Time) -> Time,
    ) -> PlanResult<'a> {
        Ok(Box::new(Broadcast { case: Broadcast::check_case(case)?, tree, time }))
    }

    /// Refuses a case that this computer has no room for.
    fn check_case(case: &Case) -> Result<&Case, Refusal> {
        case.check_room(case.params.P.saturating_mul(case.params.word.get()))?;
        Ok(case)
    }

    /// Returns each processor's children.
    fn children(&self) -> Children {
        let Case { params, size, .. } = self.case;
        let stream = params.stream(*size);
        let D = params.send_overhead(*size) + stream + params.L + params.recv_overhead(*size);
        let d = params.send_overhead(*size).max(stream + params.g);
        (self.tree)(params.P, D, d)
    }
}

/// Returns what a processor with these children does: all but processor 0 get the datum, and then all send
/// the datum.
fn steps(id: usize, children: &[usize], bytes: usize) -> impl Iterator<Item = Step> {
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

impl Plan for Broadcast<'_> {
    fn form(&self) -> Option<(FormKind, Time)> {
        let (D, d) = distances(&self.case.params, self.case.size)?;
        let P = self.case.params.P;
        let time = if P == 1 { Time::ZERO } else { (self.time)(P, D, d) };
        Some((FormKind::Exact, time))
    }

    fn schedule(&self) -> Option<Result<Schedule, ScheduleError>> {
        let Case { params, levels, size, .. } = self.case;
        let (children, bytes) = (self.children(), size * params.word.get());
        levels.is_empty().then(|| steps::schedule(params, |id| steps(id, &children[id], bytes)))
    }

    #[cfg(feature = "machine")]
    fn run(&self, emulation: &Emulation) -> Result<Outcome, RunError> {
        let (children, datum) = (self.children(), datum(self.case));
        let run = self.case.machine(emulation).measure_across(|p| {
            let id = p.id();
            // Only processor 0 has the datum.
            let mine = Datum(if id == 0 { datum.clone() } else { Vec::new() });
            perform(p, steps(id, &children[id], datum.len()), mine).0
        })?;
        let (run, results) = run.take_results();
        Ok(Outcome::new(run, verify(&results, &datum)))
    }
}

/// The library's broadcast level by level.
struct LevelBroadcast<'a> {
    case: &'a Case,
}

impl Plan for LevelBroadcast<'_> {
    fn knows_levels(&self) -> bool {
        true
    }

    /// This is exact where no level but the innermost has a g above its L + o. Then who sends last on a level
    /// can begin the next level before who receives last. Elsewhere the gap may delay the next level.
    fn form(&self) -> Option<(FormKind, Time)> {
        let Case { params, levels, size, .. } = self.case;
        let levels: Vec<&Params> =
            [params].into_iter().chain(levels.iter().map(|level| &level.params)).collect();
        // A level may have more processors than the machine.
        let groups = |place: usize| {
            let within = levels.get(place + 1).map_or(1, |within| within.P);
            levels[place].P.min(params.P).div_ceil(within)
        };
        let time = |(place, params): (usize, &&Params)| {
            let (D, d) = distances(params, *size)?;
            Some(if groups(place) == 1 { Time::ZERO } else { trees::B(groups(place), D, d) })
        };
        let time = levels.iter().enumerate().map(time).sum::<Option<Time>>()?;
        let is_exact = levels.iter().rev().skip(1).all(|params| params.g <= params.L + params.o);
        let kind = if is_exact { FormKind::Exact } else { FormKind::LowerBound };
        Some((kind, time))
    }

    #[cfg(feature = "machine")]
    fn run(&self, emulation: &Emulation) -> Result<Outcome, RunError> {
        let datum = datum(self.case);
        let run = self.case.machine(emulation).measure_across(|p| {
            let mine = (p.id() == 0).then(|| datum.clone());
            collectives::broadcast(p, 0, mine)
        })?;
        let (run, results) = run.take_results();
        Ok(Outcome::new(run, verify(&results, &datum)))
    }
}

/// Makes the datum of processor 0.
fn datum(case: &Case) -> Vec<u8> {
    let mut datum = vec![0; case.size * case.params.word.get()];
    fastrand::Rng::with_seed(case.seed).fill(&mut datum);
    datum
}

/// The datum of a processor.
#[cfg(feature = "machine")]
struct Datum(Vec<u8>);

#[cfg(feature = "machine")]
impl StepData for Datum {
    type Value = Vec<u8>;
    const TAG: Tag<Vec<u8>> = Tag::named(0, "datum");

    fn give(&mut self, _: usize, _: usize, _: Option<usize>) -> Vec<u8> {
        self.0.clone()
    }

    fn take(&mut self, _: usize, datum: Vec<u8>) {
        self.0 = datum;
    }
}

/// Checks that every processor has the datum.
fn verify(results: &[Vec<u8>], datum: &[u8]) -> Result<(), String> {
    match results.iter().position(|result| result != datum) {
        None => Ok(()),
        Some(id) => Err(format!("processor {id} has another datum than processor 0 sent")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verification_notices_a_wrong_datum() {
        assert_eq!(verify(&[vec![1, 2], vec![1, 2]], &[1, 2]), Ok(()));
        for wrong in [vec![1, 3], vec![1], vec![]] {
            let refusal = verify(&[vec![1, 2], wrong], &[1, 2]).unwrap_err();
            assert!(refusal.starts_with("processor 1 has another datum"), "{refusal}");
        }
    }
}
