//! The sum of n numbers. Each of P processors has n/P of them, and processor 0 gets the sum.
//!
//! `cargo run -- compare my-sum P=8 L=6us o=2us g=4us` compares two algorithms, `cargo run -- help my-sum` says what else
//! can be asked, and `cargo test` compares the model with the formulas.

#![allow(non_snake_case)] // L, G and P are the papers' names

use loggp::{Params, Proc, RunError, Tag, Time, Work};
use loggp_command::annex::Annex;
use loggp_programs::{Algorithm, Case, ClosedForm, Emulation, FormKind, Outcome, Plan, PlanResult, Predict};
use loggp_programs::{Program, Size, refuse};

/// The program: its name, its algorithms from the best known, and the meaning of its size.
pub static SUM: Program = Program {
    name: "my-sum",
    about: "processor 0 gets the sum of n numbers",
    algorithms: &[
        Algorithm {
            name: "tree",
            about: "in each round half of the processors send their sums to the other half",
            formula: ClosedForm::Ours(
                "n/P + (log P - 1) max(g, hop) + hop, with hop = L + 2o + (k-1)G + 1 and k words in a sum",
            ),
            plan: |case| plan(case, tree, tree_time),
        },
        Algorithm {
            name: "flat",
            about: "every processor sends its sum to processor 0",
            formula: ClosedForm::Ours("n/P + (P-2) max(g, o + 1, (k-1)G) + L + 2o + (k-1)G + 1"),
            plan: |case| plan(case, flat, flat_time),
        },
    ],
    size: Size { meaning: "n, how many numbers there are in all", default: 1024 },
    options: &[],
    work: Work::Charged, // an addition takes a cycle
};

/// The tag of the messages, which has their type.
const PART: Tag<u64> = Tag::named(0, "sum of a part");

/// Adds up what the processors have: they are paired in rounds, at twice the distance in each.
fn tree(p: &mut Proc, mut sum: u64) -> u64 {
    let mut distance = 1;
    while distance < p.P() {
        if p.id() % (2 * distance) == distance {
            p.send(p.id() - distance, PART, sum);
            break;
        } else if p.id() + distance < p.P() {
            let part = p.recv(PART.from(p.id() + distance));
            sum = p.work("add", 1, || sum + part);
        }
        distance *= 2;
    }
    sum
}

/// Returns the time that the formula says, and whether the model takes as much or less.
fn tree_time(Params { L, o, g, P, cycle, .. }: Params, stream: Time) -> (FormKind, Time) {
    let hop = L + 2 * o + stream + cycle;
    let kind = if P.is_power_of_two() { FormKind::Exact } else { FormKind::UpperBound };
    (kind, (P.next_power_of_two().ilog2() as i64 - 1) * hop.max(g) + hop)
}

/// Adds up what the processors have, in the order in which it comes.
fn flat(p: &mut Proc, mut sum: u64) -> u64 {
    if p.id() > 0 {
        p.send(0, PART, sum);
    } else {
        for _ in 1..p.P() {
            let part = p.recv(PART);
            sum = p.work("add", 1, || sum + part);
        }
    }
    sum
}

/// Returns the time that the formula says. Where sums have several words, the model may take more, since messages also
/// wait for room in the network.
fn flat_time(Params { L, o, g, P, cycle, .. }: Params, stream: Time) -> (FormKind, Time) {
    let kind = if stream == Time::ZERO { FormKind::Exact } else { FormKind::LowerBound };
    (kind, (P as i64 - 2) * g.max(o + cycle).max(stream) + L + 2 * o + stream + cycle)
}

/// An algorithm for one case: a size, a machine and a seed.
struct Sum<'a> {
    case: &'a Case,
    add_up: fn(&mut Proc, u64) -> u64,
    time: fn(Params, Time) -> (FormKind, Time),
}

/// Plans the run of a case, or refuses it. A sweep leaves out what is refused, and says why.
fn plan<'a>(
    case: &'a Case,
    add_up: fn(&mut Proc, u64) -> u64,
    time: fn(Params, Time) -> (FormKind, Time),
) -> PlanResult<'a> {
    let (n, P) = (case.size, case.params.P);
    if n == 0 || n % P > 0 {
        refuse!("{n} numbers cannot be shared equally by P = {P}; give a multiple of P");
    }
    Ok(Box::new(Sum { case, add_up, time }))
}

impl Predict for Sum<'_> {
    /// Returns the time by the formula. It depends on the case alone, and not on the run.
    fn form(&self) -> Option<(FormKind, Time)> {
        let params @ Params { P, cycle, .. } = self.case.params;
        let own = (self.case.size / P) as i64 * cycle;
        if P == 1 {
            return Some((FormKind::Exact, own));
        }
        let stream = params.stream(params.words(8)); // (k-1)G: a sum has 8 bytes
        let (kind, time) = (self.time)(params, stream);
        Some((kind, own + time))
    }
}

impl Plan for Sum<'_> {
    /// Runs the algorithm on every processor, and verifies the result.
    fn run(&self, emulation: &Emulation) -> Result<Outcome, RunError> {
        let (n, mut rng) = (self.case.size, fastrand::Rng::with_seed(self.case.seed));
        let numbers: Vec<u64> = (0..n).map(|_| rng.u64(..1 << 32)).collect();
        let share = n / self.case.params.P;

        let run = self.case.machine(emulation).measure(|p| {
            let mine = &numbers[p.id() * share..][..share];
            let sum = p.work("add", share as u64, || mine.iter().sum());
            (self.add_up)(p, sum)
        })?;

        let (run, sums) = run.take_results();
        let (sum, right) = (sums[0], numbers.iter().sum::<u64>());
        let verified = if sum == right { Ok(()) } else { Err(format!("the sum is {sum}, and not {right}")) };
        Ok(Outcome::new(run, verified))
    }
}

/// What the command has beside its own.
static OWN: Annex = Annex { programs: &[&SUM], ..Annex::EMPTY };

fn main() -> std::process::ExitCode {
    loggp_command::main_with(&[OWN], std::env::args_os()).into()
}

#[cfg(test)]
mod tests {
    use loggp::{Latency, US};
    use loggp_study::Study;

    use super::*;

    /// Returns a case of each algorithm, with three numbers for each processor.
    fn cases(P: usize) -> impl Iterator<Item = Case> {
        let params = Params::builder(P).L(6 * US).o(2 * US).g(4 * US).build().unwrap();
        let case = move |algorithm: &Algorithm| Case::new(&SUM, algorithm.name, params);
        SUM.algorithms.iter().map(move |algorithm| Case { size: 3 * P, ..case(algorithm) })
    }

    #[test]
    fn model_takes_what_the_formulas_say() {
        for case in (1..=33).flat_map(cases) {
            let answers = Study::new(case.clone()).run().unwrap();
            assert_eq!(answers.wrong, None);
            let (model, form) = (answers.prediction.model.unwrap(), answers.prediction.form.unwrap());
            let agrees = match form.kind {
                FormKind::Exact => model == form.time,
                FormKind::UpperBound => model <= form.time,
                FormKind::LowerBound | FormKind::Estimate => false, // a sum is one word here
            };
            assert!(agrees, "{} on {}: {form:?}, model {model}", case.algorithm.name, case.params.P);
        }
    }

    /// A program must be right for all latencies from 0 to L.
    #[test]
    fn result_is_right_under_other_orders_of_messages() {
        for seed in 0..100 {
            for case in cases(5) {
                let random = Case { latency: Latency::Random { seed }, ..case };
                assert_eq!(Study::new(random).run().unwrap().wrong, None, "seed {seed}");
            }
        }
    }
}
