//! A ring all-gather: every processor has a block of numbers, and gets the blocks of all. In each of P-1
//! steps a processor sends the block that it received last to the next processor.
//!
//! `cargo test` compares the model with the formula, and verifies every result, on both clocks. `cargo run`
//! prints formula, model and measurement, draws a run into `ring.html`, which a browser opens, and writes its
//! trace into `ring.json`. `loggp analyze ring.json` shows where its time went, `loggp audit ring.json`
//! checks it against the rules of the machine, and `loggp timeline ring.json -o ring.svg` draws it for a
//! paper.

#![allow(non_snake_case)] // L, G and P are the papers' names

use std::error::Error;
use std::fs::File;

use loggp::{Params, RunError, Tag, Time, US, Work};
use loggp_programs::{
    Algorithm, Case, ClosedForm, Emulation, FormKind, Outcome, Plan, Predict, Program, Size,
};
use loggp_study::Study;

/// The program: its name, its algorithms and the meaning of its size. Another algorithm is another entry.
static ALL_GATHER: Program = Program {
    name: "all-gather",
    about: "every processor gets the blocks of all",
    algorithms: &[Algorithm {
        name: "ring",
        about: "each processor sends the block that it got last to the next one",
        formula: ClosedForm::Ours(
            "(P-2) max(hop, g + (k-1)G) + hop, with hop = L + 2o + (k-1)G and k words in a block",
        ), // of a paper's form, `ClosedForm::Paper` has the place
        plan: |case| Ok(Box::new(Ring(case))), // an impossible case is refused here: Err("one sentence".into())
    }],
    size: Size { meaning: "numbers in a block", default: 1 },
    options: &[],
    work: Work::Charged, // it computes nothing, so the model is exact
};

/// The algorithm, for one case: a size, a machine and a seed.
struct Ring<'a>(&'a Case);

/// The tag of the messages, which has their type.
const BLOCK: Tag<Vec<u64>> = Tag::named(0, "block");

impl Predict for Ring<'_> {
    /// Returns the time by the formula, which depends on the case, and not on the run; and that it is exact.
    fn form(&self) -> Option<(FormKind, Time)> {
        let params @ Params { L, o, g, P, .. } = self.0.params;
        let stream = params.stream(params.words(8 * self.0.size)); // (k-1)G
        let hop = L + 2 * o + stream;
        // There is no formula for a block that streams for longer than L, since a port that still sends does
        // not receive; and none for one processor, which does nothing. On LogGPS machines there is none unless
        // `known_parameters` says that it counts with their parameters.
        let has_formula = P > 1 && stream <= L;
        let time = || (P as i64 - 2) * hop.max(g + stream) + hop;
        has_formula.then(|| (FormKind::Exact, time()))
    }
}

impl Plan for Ring<'_> {
    /// Runs the program on every processor, and verifies the result.
    fn run(&self, emulation: &Emulation) -> Result<Outcome, RunError> {
        let (n, seed) = (self.0.size, self.0.seed);
        let block = |id: usize| (0..n).map(|i| seed ^ (id * n + i) as u64).collect();
        let blocks: Vec<Vec<u64>> = (0..self.0.params.P).map(block).collect();

        let run = self.0.machine(emulation).measure(|p| {
            let (id, P) = (p.id(), p.P());
            let mut all = vec![Vec::new(); P];
            all[id] = blocks[id].clone();
            for step in 0..P - 1 {
                let (last, new) = ((id + P - step) % P, (id + P - step - 1) % P);
                // A tag for every step, since a message can overtake the one before it.
                all[new] = p.send_recv((id + 1) % P, (id + P - 1) % P, BLOCK.step(step), all[last].clone());
            }
            all
        })?;

        let (run, results) = run.take_results();
        let wrong = results.iter().position(|all| *all != blocks);
        let verified = wrong.map_or(Ok(()), |id| Err(format!("processor {id} has not got all blocks")));
        Ok(Outcome::new(run, verified))
    }
}

/// Returns a case of the ring on P processors of a machine of your own. `loggp::preset("cm5")` is one of the
/// papers'.
fn case(P: usize, size: usize) -> Result<Case, Box<dyn Error>> {
    let params = Params::builder(P).L(6 * US).o(2 * US).g(4 * US).G(US / 2).build()?;
    Ok(Case { size, ..Case::new(&ALL_GATHER, "ring", params) })
}

fn main() -> Result<(), Box<dyn Error>> {
    for P in [2, 4, 8, 16] {
        let answers = Study::new(case(P, 4)?).measured().run()?;
        if let Some(wrong) = answers.wrong {
            return Err(wrong.into());
        }
        let prediction = answers.prediction;
        let measured = prediction.measured.map(|times| times.median);
        let [formula, model, measured] = [prediction.formula, prediction.model, measured]
            .map(|time| time.map_or("none".into(), |time| time.to_string()));
        // The time of a late run tells something about this computer, and nothing about the machine.
        let timeliness =
            if answers.outcome.run.host.is_some_and(|host| host.on_time) { "held" } else { "late" };
        println!("P = {P:2}: formula {formula}, model {model}, measured {measured} ({timeliness})");
    }

    let run = case(4, 4)?.plan()?.run(&Emulation::with_trace())?.run;
    run.timeline()
        .ok_or("the run was not traced")?
        .title("A ring all-gather")
        .write(File::create("ring.html")?)?;
    run.trace.ok_or("the run was not traced")?.write(File::create("ring.json")?)?;
    println!("ring.html shows the run on 4 processors in a browser, and ring.json is its trace");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use loggp::Latency;

    /// The model and the formula agree to the picosecond: for short and long blocks, on few and many
    /// processors.
    #[test]
    fn model_equals_formula() {
        for (P, size) in [(2, 1), (3, 4), (8, 1), (8, 13), (16, 7)] {
            let answers = Study::new(case(P, size).unwrap()).run().unwrap();
            assert_eq!(answers.wrong, None);
            assert!(answers.prediction.formula.is_some());
            assert_eq!(answers.prediction.model, answers.prediction.formula, "P = {P}, size {size}");
        }
    }

    /// The run on the wall clock is the same. No test can know in advance how late this computer is.
    #[test]
    fn both_clocks_make_the_same_run() {
        let answers = Study::new(case(4, 4).unwrap()).measured().run().unwrap();
        assert_eq!(answers.wrong, None);
        assert_eq!(answers.outcome.run.model, answers.prediction.model);
        assert!(answers.outcome.run.host.is_some(), "it was measured");
    }

    /// A program must be right for all latencies from 0 to L.
    #[test]
    fn result_is_right_under_other_orders_of_messages() {
        for seed in 0..100 {
            let random = Case { latency: Latency::Random { seed }, ..case(5, 2).unwrap() };
            assert_eq!(Study::new(random).run().unwrap().wrong, None, "seed {seed}");
        }
    }
}
