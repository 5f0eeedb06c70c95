//! Summation: n operands are added up, and processor 0 gets the sum. The operands may lie anywhere at the start. The
//! schedules and their times are in [`loggp_predict::summation`].

use loggp::{Payload, Proc, RunError, Tag, Work};
use loggp_predict::summation::schedule::SummationRole;
use loggp_predict::summation::{ABOUT, BINOMIAL, OPTIMAL, SIZE, Summation};
pub use loggp_predict::summation::{SummationVariant, schedule};

use crate::math::word::Word;
use crate::option::{Cycles, OptionalKind};
use crate::program::PredictedCase;
use crate::steps::{StepData, perform};
use crate::{Algorithm, Case, Emulation, Metric, Opt, Outcome, Plan, PlanResult, Program, TimeSpan};

/// All-to-one reduction of any number of operands.
pub static SUMMATION: Program = Program {
    name: "summation",
    about: ABOUT,
    algorithms: &[
        Algorithm::described(OPTIMAL, |case| plan(case, SummationVariant::Optimal)),
        Algorithm::described(BINOMIAL, |case| plan(case, SummationVariant::Binomial)),
    ],
    size: SIZE,
    options: &[&TIME],
    work: Work::Charged, // an addition takes a cycle
};

/// The option for a time in which the most possible operands are summed.
pub static TIME: Opt<Option<TimeSpan>> = Opt::new(
    "time",
    "TIME",
    "sums as many operands as can be summed in this time, and not --size",
    None,
    &OptionalKind(&Cycles),
)
.instead_of_size();

/// An operand: a whole number, whose sum is exact in every order, and a real one, whose sum is not.
type Operand = Word<(u64, f64)>;

fn plan(case: &Case, variant: SummationVariant) -> PlanResult<'_> {
    let time = case.get(&TIME).map(|time| time.to_time(case.params.cycle));
    PredictedCase::plan(case, Summation::new(case.setting(), variant, time))
}

impl Plan for PredictedCase<'_, Summation<'_>> {
    fn run(&self, emulation: &Emulation) -> Result<Outcome, RunError> {
        let roles = self.predicted.roles();
        let mut rng = fastrand::Rng::with_seed(self.case.seed);
        let operand = |_| Word((rng.u64(..), rng.f64() - 0.5));
        let operands: Vec<Operand> = (0..self.predicted.operands()).map(operand).collect();
        let add = |a: Operand, b: &Operand| Word((a.0.0.wrapping_add(b.0.0), a.0.1 + b.0.1));
        let run = self.case.machine(emulation).measure_across(|p| sum(p, &roles, &operands, add))?;
        let (run, results) = run.take_results();
        let verified = verify(&results, &operands, &sum_in_order(&roles, &operands, add));
        let metric = |name, value| Metric { name, unit: "", value };
        let metrics =
            vec![metric("operands", operands.len() as f64), metric("processors at work", roles.len() as f64)];
        Ok(Outcome { metrics, ..Outcome::new(run, verified) })
    }
}

/// Runs the summation on one processor. Processor 0 gets the sum of all operands, in their order.
pub fn sum<T: Payload + Clone>(
    p: &mut Proc,
    roles: &[SummationRole],
    operands: &[T],
    add: impl Fn(T, &T) -> T,
) -> Option<T> {
    let role = roles.get(p.id())?;
    let mut own = role.own.iter().cloned().flatten().map(|operand| &operands[operand]);
    let sum = own.next().expect("every part has an operand").clone();
    let sum = perform(p, role.steps(), PartialSum { sum, other: None, own, add }).sum;
    role.parent.is_none().then_some(sum)
}

/// The sum that a processor has so far.
struct PartialSum<T, I, A> {
    sum: T,
    /// A sum that it has received and not added yet.
    other: Option<T>,
    /// Its own operands that are not added yet.
    own: I,
    add: A,
}

impl<'a, T, I, A> StepData for PartialSum<T, I, A>
where
    T: Payload + Clone + 'a,
    I: Iterator<Item = &'a T>,
    A: Fn(T, &T) -> T,
{
    type Value = T;
    const TAG: Tag<T> = Tag::named(0, "sum");
    const WORK: &'static str = "add";

    fn give(&mut self, _: usize, _: usize, _: Option<usize>) -> T {
        self.sum.clone()
    }

    fn take(&mut self, _: usize, other: T) {
        self.other = Some(other);
    }

    fn work(&mut self, additions: u64) {
        self.sum = match self.other.take() {
            Some(other) => (self.add)(self.sum.clone(), &other),
            None => self.own.by_ref().take(additions as usize).fold(self.sum.clone(), &self.add),
        };
    }
}

/// Does the same additions without a machine. Real numbers round differently in another order.
fn sum_in_order<T: Clone>(roles: &[SummationRole], operands: &[T], add: impl Fn(T, &T) -> T) -> T {
    let mut sums: Vec<Option<T>> = vec![None; roles.len()];
    for (id, role) in roles.iter().enumerate().rev() {
        let mut sum: Option<T> = None;
        for (i, own) in role.own.iter().enumerate() {
            let child = i.checked_sub(1).and_then(|i| sums[role.children[i]].as_ref());
            for operand in child.into_iter().chain(&operands[own.clone()]) {
                sum = Some(sum.map_or(operand.clone(), |sum| add(sum, operand)));
            }
        }
        sums[id] = sum;
    }
    sums.swap_remove(0).expect("every part has an operand")
}

/// Checks the sum of processor 0: exactly for the whole numbers, and for the real ones in the schedule's
/// order.
fn verify(results: &[Option<Operand>], operands: &[Operand], in_order: &Operand) -> Result<(), String> {
    let whole = operands.iter().fold(0_u64, |sum, operand| sum.wrapping_add(operand.0.0));
    let real = in_order.0.1;
    match results[0] {
        None => Err("processor 0 has no sum".into()),
        Some(Word((sum, _))) if sum != whole => {
            Err(format!("processor 0 has {sum} as the sum of the whole numbers, which is {whole}"))
        }
        Some(Word((_, sum))) if sum.to_bits() != real.to_bits() => {
            Err(format!("processor 0 has {sum} as the sum of the real numbers, which is {real}"))
        }
        Some(_) => match results.iter().skip(1).position(Option::is_some) {
            Some(id) => Err(format!("processor {} has a sum too, which it should have sent", id + 1)),
            None => Ok(()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verification_notices_a_wrong_sum() {
        let operands = [Word((u64::MAX, 0.1)), Word((2, 0.2)), Word((3, 0.3))];
        let right = Word((4, 0.1 + 0.2 + 0.3));
        assert_eq!(verify(&[Some(right), None], &operands, &right), Ok(()));
        for (wrong, what) in [
            ([None, None], "processor 0 has no sum"),
            ([Some(Word((5, right.0.1))), None], "the sum of the whole numbers, which is 4"),
            ([Some(Word((4, 0.1 + (0.2 + 0.3)))), None], "the sum of the real numbers"),
            ([Some(right), Some(right)], "processor 1 has a sum too"),
        ] {
            let refusal = verify(&wrong, &operands, &right).unwrap_err();
            assert!(refusal.contains(what), "{refusal}");
        }
    }
}
