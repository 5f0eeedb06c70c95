//! Scatter: processor 0 has k items for every processor, and each gets its own. The algorithms, their messages and their
//! times are in [`loggp_predict::scatter`].

use loggp::{Proc, RunError, Tag, Work};
use loggp_predict::scatter::{
    ABOUT, BINOMIAL, FIXED, LONG, OPTIMAL, SHORT, SIZE, SPLIT, Scatter, ScatterTree, ScatterVariant,
};
pub use loggp_predict::scatter::{Detour, best_splits};

use crate::option::{CustomKind, OptionalKind};
use crate::program::PredictedCase;
use crate::steps::{StepData, perform};
use crate::{Algorithm, Case, Emulation, Opt, Outcome, Plan, PlanResult, Program};

/// One-to-all personalized communication.
pub static SCATTER: Program = Program {
    name: "scatter",
    about: ABOUT,
    algorithms: &[
        Algorithm::described(OPTIMAL, |case| plan(case, ScatterVariant::Optimal)),
        Algorithm::described(BINOMIAL, |case| plan(case, ScatterVariant::Binomial)),
        Algorithm::described(LONG, |case| plan(case, ScatterVariant::Long)),
        Algorithm::described(SHORT, |case| plan(case, ScatterVariant::Short)),
        Algorithm::described(FIXED, |case| plan(case, ScatterVariant::Fixed { alpha: case.get(&ALPHA) })),
        Algorithm::described(SPLIT, |case| plan(case, ScatterVariant::Split { detour: case.get(&DETOUR) })),
    ],
    size: SIZE,
    options: &[&ALPHA, &DETOUR],
    work: Work::Charged,
};

/// The option for the splitting ratio.
pub static ALPHA: Opt<f64> = Opt::new(
    "alpha",
    "RATIO",
    "the splitting ratio of `fixed`; halves are the best in LogGP's figure 12",
    0.5,
    &CustomKind { read: parse_ratio, write: f64::to_string },
)
.for_algorithms(&["fixed"])
.with_choices(|_, _| (1..20).map(|part| (f64::from(part) / 20.0).to_string()).collect());

/// The option for the detour of figure 10.
pub static DETOUR: Opt<Option<Detour>> = Opt::new(
    "detour",
    "N:BY:TO",
    "items that `split` sends by way of another processor, as 2:5:3 in LogGP's figure 10; by default a search finds some",
    None,
    &OptionalKind(&CustomKind { read: parse_detour, write: |Detour { items, carrier, to }| format!("{items}:{carrier}:{to}") }),
)
.for_algorithms(&["split"]);

fn parse_ratio(text: &str) -> Result<f64, String> {
    let ratio = text.parse().ok().filter(|alpha| 0.0 < *alpha && *alpha < 1.0);
    ratio.ok_or_else(|| "give a ratio between 0 and 1".into())
}

fn parse_detour(text: &str) -> Result<Detour, String> {
    let numbers: Option<Vec<usize>> = text.split(':').map(|number| number.parse().ok()).collect();
    match numbers.as_deref() {
        Some(&[items, carrier, to]) => Ok(Detour { items, carrier, to }),
        _ => refuse!("give a number of items, by way of whom, and to whom, as in 2:5:3"),
    }
}

fn plan(case: &Case, variant: ScatterVariant) -> PlanResult<'_> {
    PredictedCase::plan(case, Scatter::new(case.setting(), variant))
}

impl Plan for PredictedCase<'_, Scatter<'_>> {
    fn run(&self, emulation: &Emulation) -> Result<Outcome, RunError> {
        let PredictedCase { case, predicted } = self;
        let machine = case.machine(emulation);
        let set = case.size * case.params.word.get();
        let mut items = vec![0; case.params.P * set];
        fastrand::Rng::with_seed(case.seed).fill(&mut items);
        let run = if predicted.variant() == ScatterVariant::Short {
            machine.measure_across(|p| {
                let id = p.id();
                let mine = if id == 0 { items[..set].to_vec() } else { Vec::new() };
                perform(p, predicted.short_steps(id), SingleItems { items: &items, set, mine }).mine
            })
        } else {
            let tree = predicted.tree();
            machine.measure_across(|p| scatter(p, &tree, &items))
        };
        let (run, results) = run?.take_results();
        Ok(Outcome::new(run, verify(&results, &items, set)))
    }
}

/// Checks that every processor has its own set of items.
fn verify(results: &[Vec<u8>], items: &[u8], set: usize) -> Result<(), String> {
    let mut pairs = results.iter().zip(items.chunks(set));
    match pairs.position(|(result, set)| result != set) {
        None => Ok(()),
        Some(id) => Err(format!("processor {id} has other items than processor 0 had for it")),
    }
}

/// The items of a processor in the short-message algorithm.
struct SingleItems<'a> {
    /// The items of all processors, which only processor 0 reads.
    items: &'a [u8],
    /// Bytes of a processor's items.
    set: usize,
    mine: Vec<u8>,
}

impl StepData for SingleItems<'_> {
    type Value = Vec<u8>;
    const TAG: Tag<Vec<u8>> = Tag::named(1, "item");

    fn give(&mut self, to: usize, bytes: usize, number: Option<usize>) -> Vec<u8> {
        self.items[to * self.set + number.unwrap_or(0) * bytes..][..bytes].to_vec()
    }

    fn take(&mut self, _: usize, item: Vec<u8>) {
        self.mine.extend(item);
    }
}

/// The sets of items that a processor owns in any other algorithm.
struct ItemSets<'a> {
    id: usize,
    tree: &'a ScatterTree,
    mine: Vec<u8>,
    /// Items that it has received and not put to its own yet, by sender.
    parts: Vec<(usize, Vec<u8>)>,
}

impl ItemSets<'_> {
    /// Puts together what it has: what came down the tree, and then what carriers sent.
    fn merged(mut self) -> Vec<u8> {
        self.merge();
        self.mine
    }

    fn merge(&mut self) {
        let detours = &self.tree.detours;
        self.parts.sort_by_key(|(from, _)| detours.contains_key(&(*from, self.id)).then_some(*from));
        for (_, part) in self.parts.drain(..) {
            self.mine =
                if self.mine.is_empty() { part } else { [std::mem::take(&mut self.mine), part].concat() };
        }
    }
}

impl StepData for ItemSets<'_> {
    type Value = Vec<u8>;
    const TAG: Tag<Vec<u8>> = Tag::named(0, "items");

    fn give(&mut self, _: usize, bytes: usize, _: Option<usize>) -> Vec<u8> {
        self.merge();
        self.mine.split_off(self.mine.len() - bytes)
    }

    fn take(&mut self, from: usize, part: Vec<u8>) {
        self.parts.push((from, part));
    }
}

/// Runs any other algorithm on one processor, along the tree. Only processor 0 reads `items`.
fn scatter(p: &mut Proc, tree: &ScatterTree, items: &[u8]) -> Vec<u8> {
    let (id, word) = (p.id(), p.params().word.get());
    let mine = if id == 0 { tree.lay_out(items, word) } else { Vec::new() };
    perform(p, tree.steps(id, word), ItemSets { id, tree, mine, parts: Vec::new() }).merged()
}

#[cfg(test)]
mod tests {
    use loggp::{Machine, Params, US};

    use super::*;

    #[test]
    fn verification_notices_wrong_items() {
        let items = [1, 2, 3, 4, 5, 6];
        assert_eq!(verify(&[vec![1, 2], vec![3, 4], vec![5, 6]], &items, 2), Ok(()));
        for wrong in [vec![4, 3], vec![3], vec![3, 4, 5], vec![5, 6]] {
            let refusal = verify(&[vec![1, 2], wrong, vec![5, 6]], &items, 2).unwrap_err();
            assert!(refusal.starts_with("processor 1 has other items"), "{refusal}");
        }
    }

    /// All items arrive along trees with detours.
    #[test]
    fn items_arrive_by_way_of_carriers() {
        let mut rng = fastrand::Rng::with_seed(1);
        for _ in 0..50 {
            let (P, k) = (rng.usize(2..30), rng.usize(1..60));
            let mut any = |most| rng.i64(0..=most) * US;
            let params =
                Params::builder(P).L(any(40)).o(any(10)).g(any(20)).G(any(3)).word(1).build().unwrap();
            let case = Case { size: k, ..Case::new(&SCATTER, "split", params) };
            let split = ScatterVariant::Split { detour: None };
            let tree = Scatter::new(case.setting(), split).unwrap().tree();
            let items: Vec<u8> = (0..P * k).map(|_| rng.u8(..)).collect();
            let run = Machine::new(params).run(|p| scatter(p, &tree, &items)).unwrap();
            assert_eq!(run.results.concat(), items, "{params:?} {tree:?}");
        }
    }
}
