//! Summation: n operands are added up, and processor 0 gets the sum. The operands may lie anywhere at the
//! start.
//!
//! The optimal algorithm is a broadcast run backwards (LogP, section 3.3 and figure 4; Karp et al., section
//! 4). All processors add all the time, and send their sum as late as its receiver can still use it. A
//! processor whose sum is to be ready at T can add a received sum in the last o + 1 cycles. That sum was sent
//! at T - (L + 2o + 1), and the one before it g earlier. So S(T), the most operands that can be summed by T,
//! is a sum over the P smallest labels t of the broadcast tree with D = L + 2o + 1 and d = max(g, o + 1): a
//! processor sends at T - t, and contributes T - t additions less the o that its message costs its receiver
//! (lemma 4.2).

pub mod schedule;

use loggp::schedule::{Schedule, ScheduleError};
use loggp::{Params, Time, Work};
#[cfg(feature = "machine")]
use loggp::{Payload, Proc, RunError, Tag};

use crate::math::trees;
use crate::math::trees::{choose, reachable};
use crate::math::word::Word;
use crate::option::{Cycles, OptionalKind};
use crate::steps;
#[cfg(feature = "machine")]
use crate::steps::{StepData, perform};
use crate::{Algorithm, Case, ClosedForm, FormKind, Opt, Plan, PlanResult, Program, Size, TimeSpan};
#[cfg(feature = "machine")]
use crate::{Emulation, Metric, Outcome};
use schedule::{StepTimes, SummationRole};

/// All-to-one reduction of any number of operands.
pub static SUMMATION: Program = Program {
    name: "summation",
    about: "one processor gets the sum of n operands (LogP, section 3.3; Karp et al., section 4)",
    algorithms: &[
        Algorithm {
            name: "optimal",
            about: "every processor adds all the time, and sends its sum as late as it is of use",
            formula: ClosedForm::Paper(
                "Karp et al., lemma 4.2",
                "the least T with S(T) >= n, where L, o and g are whole cycles: S(T) = o + 1 + the sum of \
                 T - o - t over the labels t <= T - o of the P first",
            ),
            plan: |case| Summation::plan(case, SummationVariant::Optimal),
        },
        Algorithm {
            name: "binomial",
            about: "every processor adds up its n/P operands, then halves send their sums to halves",
            formula: ClosedForm::Ours(
                "t(P), with t(1) = its operands - 1 and \
                 t(m) = max(L+2o+1 + t(floor(m/2)), max(g, o+1) + t(ceil(m/2)))",
            ),
            plan: |case| Summation::plan(case, SummationVariant::Binomial),
        },
    ],
    size: Size { meaning: "operands, unless --time says how many", default: SIZE },
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

/// Default number of operands.
const SIZE: usize = 1000;

/// The distribution of the operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SummationVariant {
    /// As in a broadcast run backwards: every processor adds all the time.
    Optimal,
    /// Evenly; halves of the processors send their sums to the other halves.
    Binomial,
}

/// The plan of a case.
struct Summation<'a> {
    case: &'a Case,
    variant: SummationVariant,
    /// Time in which the most possible operands are summed, if it was given.
    time: Option<Time>,
    /// Number of operands.
    operands: i128,
}

impl Summation<'_> {
    fn plan(case: &Case, variant: SummationVariant) -> PlanResult<'_> {
        /// More than 4 GiB of operands.
        const MOST: i128 = 1 << 28;
        let time = case.get(&TIME).map(|time| time.to_time(case.params.cycle));
        if time.is_some() && case.size != SIZE {
            refuse!("--time says how many operands there are; leave --size out");
        }
        let n = time.map_or(case.size as i128, |T| most_operands(case, variant, T));
        match time {
            _ if n == 0 => refuse!("a size of 0 leaves nothing to sum; give at least 1"),
            None if n > MOST => {
                refuse!("{n} operands are more than a host may have room for; give at most {MOST}")
            }
            Some(T) if n > MOST => refuse!(
                "{n} operands can be summed in {T}, more than a host may have room for; give a shorter time, \
                 for at most {MOST} operands"
            ),
            _ if n > (Time::MAX.as_ps() / case.params.cycle.as_ps()).into() => {
                refuse!("{n} additions of {} take longer than time lasts; give fewer", case.params.cycle)
            }
            _ => Ok(Box::new(Summation { case, variant, time, operands: n })),
        }
    }
}

impl Plan for Summation<'_> {
    fn form(&self) -> Option<(FormKind, Time)> {
        let params = &self.case.params;
        let time = match self.variant {
            SummationVariant::Optimal => {
                let whole = |time: Time| time.as_ps() % params.cycle.as_ps() == 0;
                let n = || self.time.map_or(self.operands, |T| S(T, params));
                [params.L, params.o, params.g].into_iter().all(whole).then(|| optimal_time(n(), params))?
            }
            SummationVariant::Binomial => binomial_time(self.operands, params.P, &StepTimes::new(params)),
        };
        Some((FormKind::Exact, time))
    }

    fn schedule(&self) -> Option<Result<Schedule, ScheduleError>> {
        let Case { params, levels, .. } = self.case;
        let roles = schedule(self.case, self.variant, self.operands as usize);
        let steps = |id: usize| roles.get(id).into_iter().flat_map(SummationRole::steps);
        levels.is_empty().then(|| steps::schedule(params, steps))
    }

    #[cfg(feature = "machine")]
    fn run(&self, emulation: &Emulation) -> Result<Outcome, RunError> {
        let roles = schedule(self.case, self.variant, self.operands as usize);
        let mut rng = fastrand::Rng::with_seed(self.case.seed);
        let operand = |_| Word((rng.u64(..), rng.f64() - 0.5));
        let operands: Vec<Operand> = (0..self.operands).map(operand).collect();
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

/// Returns each processor's role in a summation of n operands. Processors beyond the end of the list have
/// nothing to do.
pub fn schedule(case: &Case, variant: SummationVariant, n: usize) -> Vec<SummationRole> {
    let P = case.params.P;
    match variant {
        SummationVariant::Optimal => schedule::optimal(StepTimes::new(&case.params), P, n),
        SummationVariant::Binomial => schedule::binomial(P, n),
    }
}

/// Runs the summation on one processor. Processor 0 gets the sum of all operands, in their order.
#[cfg(feature = "machine")]
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
#[cfg(feature = "machine")]
struct PartialSum<T, I, A> {
    sum: T,
    /// A sum that it has received and not added yet.
    other: Option<T>,
    /// Its own operands that are not added yet.
    own: I,
    add: A,
}

#[cfg(feature = "machine")]
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

/// Returns the most operands that can be summed in time T.
fn most_operands(case: &Case, variant: SummationVariant, T: Time) -> i128 {
    let (P, steps) = (case.params.P, StepTimes::new(&case.params));
    if variant == SummationVariant::Optimal {
        return schedule::most_operands(steps, P, T);
    }
    let (mut enough, mut too_many) = (1, P as i128 * i128::from(T.as_ps() / steps.cycle.as_ps() + 1) + 1);
    while too_many - enough > 1 {
        let n = enough + (too_many - enough) / 2;
        if binomial_time(n, P, &steps) <= T { enough = n } else { too_many = n }
    }
    enough
}

/// Returns the least T with S(T) >= n.
fn optimal_time(n: i128, params: &Params) -> Time {
    let (mut early, mut enough) = (-1, n as i64 - 1); // cycles; one processor needs n - 1
    while enough - early > 1 {
        let T = early + (enough - early) / 2;
        if S(T * params.cycle, params) < n { early = T } else { enough = T }
    }
    enough * params.cycle
}

/// Returns S(T), the most operands that can be summed by T (Karp et al., theorem 4.1), where L, o and g are
/// whole cycles.
///
/// By lemma 4.2 it is the sum of S_i - o over all P processors, plus o + 1, with S_i = T - t_i for the label
/// t_i. A processor with S_i < o would cost more than it contributes, so it is left out (LogP, section 3.3).
/// At depth j of the tree there are C(i+j-1, j-1) labels jD + id, and for all i <= m
///
/// - the sum of C(i+j-1, j-1) is C(m+j, j),
/// - the sum of i C(i+j-1, j-1) is j C(m+j, j+1).
fn S(T: Time, params: &Params) -> i128 {
    let Params { L, o, g, P, cycle, .. } = *params;
    let (D, d) = (L + 2 * o + cycle, g.max(o + cycle));
    let worth = T - o; // a processor with label t contributes this less t
    // The last label that counts. Others after the P-th processor may have the same one.
    let last = worth.min(if P == 1 { Time::ZERO } else { trees::B(P, D, d) });
    let surplus = reachable(last, D, d, 2 * P).saturating_sub(P as u128);

    let ps = |time: Time| i128::from(time.as_ps());
    let mut sum = ps(worth); // the root's contribution, even if it is negative
    for j in 1.. {
        let rest = last - j * D;
        if rest < Time::ZERO {
            break;
        }
        let (j, m) = (j as u128, (rest.as_ps() / d.as_ps()) as u128);
        let count = choose(m + j, j, u128::MAX) as i128;
        let elder = if m == 0 { 0 } else { j as i128 * choose(m + j, j + 1, u128::MAX) as i128 };
        sum += count * (ps(worth) - j as i128 * ps(D)) - elder * ps(d);
    }
    sum -= surplus as i128 * ps(worth - last);
    (sum + ps(o + cycle)) / ps(cycle)
}

/// Returns the time of the tree by halving for n operands on P processors. Those with the highest numbers
/// have one operand more.
fn binomial_time(n: i128, P: usize, steps: &StepTimes) -> Time {
    let P = P.min(usize::try_from(n).unwrap_or(usize::MAX)).max(1);
    halving_time(P, (n % P as i128) as usize, (n / P as i128) as i64 - 1, steps)
}

/// Returns the time at which a group of m processors has its sum. `more` of them have `additions` + 1
/// additions of their own, and the others have `additions`.
fn halving_time(m: usize, more: usize, additions: i64, steps: &StepTimes) -> Time {
    let alike = |additions| additions * steps.cycle + trees::binomial_time(m, steps.D, steps.d);
    match more {
        0 => alike(additions),
        _ if more == m => alike(additions + 1),
        _ => {
            // The half that is sent away has the higher numbers.
            let (kept, sent) = (m - m / 2, m / 2);
            let (of_kept, of_sent) = (more.saturating_sub(sent), more.min(sent));
            let sent = steps.D + halving_time(sent, of_sent, additions, steps);
            if kept == 1 { sent } else { sent.max(steps.d + halving_time(kept, of_kept, additions, steps)) }
        }
    }
}

#[cfg(test)]
mod tests {
    use loggp::US;

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

    /// Compares the closed form with the labels themselves: n = sum of S_i - o(P-1) + 1 (lemma 4.2).
    #[test]
    fn closed_form_is_lemma_4_2() {
        let mut rng = fastrand::Rng::with_seed(1);
        for _ in 0..2000 {
            let mut cycles = |most| rng.i64(0..=most) * US;
            let (L, o, g) = (cycles(20), cycles(6), cycles(12));
            let params = Params::builder(rng.usize(1..40)).L(L).o(o).g(g).build().unwrap();
            let mut labels = vec![Time::ZERO];
            let mut next = vec![L + 2 * o + US];
            while labels.len() < params.P {
                let child = (0..next.len()).min_by_key(|id| next[*id]).unwrap();
                labels.push(next[child]);
                next.push(next[child] + L + 2 * o + US);
                next[child] += g.max(o + US);
            }
            for T in 0..60 {
                let S_less_o = labels[1..].iter().map(|t| (T * US - *t - o).max(Time::ZERO));
                let n = (T * US + S_less_o.sum::<Time>() + US).as_ps() / US.as_ps();
                assert_eq!(S(T * US, &params), n.into(), "{params:?}, T = {T}");
            }
        }
    }
}
