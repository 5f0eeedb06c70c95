//! Broadcast: processor 0 has a datum, and every processor gets it. Its trees and their times are in
//! [`loggp_predict::broadcast`].

use loggp::{RunError, Tag, Work, collectives};
use loggp_predict::broadcast::{
    ABOUT, BINARY, BINOMIAL, Broadcast, FLAT, LEVELS, LevelBroadcast, OPTIMAL, SIZE, steps,
};

use crate::program::PredictedCase;
use crate::steps::{StepData, perform};
use crate::{Algorithm, Case, Emulation, Outcome, Plan, Program};

/// One-to-all broadcast of one datum.
pub static BROADCAST: Program = Program {
    name: "broadcast",
    about: ABOUT,
    algorithms: &[
        Algorithm::described(OPTIMAL, |case| PredictedCase::plan(case, Broadcast::optimal(case.setting()))),
        Algorithm::described(BINOMIAL, |case| PredictedCase::plan(case, Broadcast::binomial(case.setting()))),
        Algorithm::described(BINARY, |case| PredictedCase::plan(case, Broadcast::binary(case.setting()))),
        Algorithm::described(FLAT, |case| PredictedCase::plan(case, Broadcast::flat(case.setting()))),
        Algorithm::described(LEVELS, |case| PredictedCase::plan(case, LevelBroadcast::new(case.setting()))),
    ],
    size: SIZE,
    options: &[],
    work: Work::Charged,
};

impl Plan for PredictedCase<'_, Broadcast<'_>> {
    fn run(&self, emulation: &Emulation) -> Result<Outcome, RunError> {
        let (children, datum) = (self.predicted.children(), datum(self.case));
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

impl Plan for PredictedCase<'_, LevelBroadcast<'_>> {
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
struct Datum(Vec<u8>);

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
