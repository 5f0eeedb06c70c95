//! All-to-all broadcast: every processor has k items, and every processor gets all of them. The steps and their time
//! are in [`loggp_predict::all_to_all_broadcast`].

use loggp::{RunError, Tag, Work};
use loggp_predict::all_to_all_broadcast::{ABOUT, AllToAllBroadcast, OPTIMAL, SIZE};

use crate::math::word::Word;
use crate::program::PredictedCase;
use crate::steps::{StepData, perform};
use crate::{Algorithm, Emulation, Outcome, Plan, Program};

/// All-to-all broadcast of every processor's items.
pub static ALL_TO_ALL_BROADCAST: Program = Program {
    name: "all-to-all-broadcast",
    about: ABOUT,
    algorithms: &[Algorithm::described(OPTIMAL, |case| {
        PredictedCase::plan(case, AllToAllBroadcast::new(case.setting()))
    })],
    size: SIZE,
    options: &[],
    work: Work::Charged,
};

/// An item with its number.
type Item = Word<(usize, u64)>;

impl Plan for PredictedCase<'_, AllToAllBroadcast<'_>> {
    fn run(&self, emulation: &Emulation) -> Result<Outcome, RunError> {
        let case = self.case;
        let (P, k) = (case.params.P, case.size);
        let rhythm = self.predicted.rhythm();
        let mut rng = fastrand::Rng::with_seed(case.seed);
        let items: Vec<Vec<u64>> = (0..P).map(|_| (0..k).map(|_| rng.u64(..)).collect()).collect();
        let run = case.machine(emulation).measure_across(|p| {
            let id = p.id();
            let mut all = vec![vec![0; k]; P];
            all[id].copy_from_slice(&items[id]);
            perform(p, rhythm.steps(id), Items { id, all, sent: 0 }).all
        })?;
        let (run, results) = run.take_results();
        Ok(Outcome::new(run, verify(&results, &items)))
    }
}

/// The items that a processor has.
struct Items {
    id: usize,
    /// The items of each processor.
    all: Vec<Vec<u64>>,
    /// The number of items that it has sent.
    sent: usize,
}

impl StepData for Items {
    type Value = Item;
    const TAG: Tag<Item> = Tag::named(0, "item");

    fn give(&mut self, _: usize, _: usize, _: Option<usize>) -> Item {
        let number = self.sent / (self.all.len() - 1);
        self.sent += 1;
        Word((number, self.all[self.id][number]))
    }

    fn take(&mut self, from: usize, Word((number, item)): Item) {
        self.all[from][number] = item;
    }
}

/// Checks that every processor has all items.
fn verify(results: &[Vec<Vec<u64>>], items: &[Vec<u64>]) -> Result<(), String> {
    for (id, result) in results.iter().enumerate() {
        if let Some(from) = (0..items.len()).find(|from| result.get(*from) != Some(&items[*from])) {
            return Err(format!("processor {id} has other items from processor {from} than that sent"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verification_notices_wrong_items() {
        let items = [vec![1, 2], vec![3, 4]];
        assert_eq!(verify(&[items.to_vec(), items.to_vec()], &items), Ok(()));
        for wrong in [vec![], vec![vec![1, 2]], vec![vec![1, 2], vec![3, 5]]] {
            let refusal = verify(&[items.to_vec(), wrong], &items).unwrap_err();
            assert!(refusal.starts_with("processor 1 has other items"), "{refusal}");
        }
    }
}
