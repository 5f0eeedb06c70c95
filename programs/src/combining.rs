//! Broadcast with combining: the values of all processors are combined, and every processor has the result at
//! the time at which an optimal reduction gives it to one (Karp et al., section 5.2).
//!
//! All processors send what they have again and again, one message each u = max(g, 2o), which has room for a
//! send and a reception. A message is received d = ceil((L + 2o)/u) sends later. With f_t = 1 for t < d and
//! f_t = f_(t-1) + f_(t-d) (definition 3.6), processor i has the values of the f_t processors i - f_t + 1 to
//! i after t steps. The paper assumes P = f_T.
//!
//! **Any P.** A processor keeps the received values apart from its own value, and sends them with or without
//! its own. Let w_t be the number of other processors' values that it has. In step t it receives w_(t-d) +
//! b_t more, where b_t is 1 if the sender's own value is among them, and else 0. So w_T is the sum of f_(T-t)
//! over the t with b_t = 1. Every number below f_T is such a sum, since no f_n is more than one above the sum
//! of those before it (fact 3.1), and w_T must be P - 1. With P = f_T all b_t are 1, and this is the paper's
//! algorithm.
//!
//! The operator must be commutative: processors combine in different orders. As in the paper, combining takes
//! no time.

use loggp::{Params, Payload, Proc, RunError, Tag, Time, Work};

use crate::math::trees;
use crate::math::word::Word;
use crate::{
    Algorithm, Case, ClosedForm, Emulation, FormKind, Outcome, Plan, PlanResult, Predict, Program, Size,
};

/// All-to-all broadcast of the combination of all values.
pub static COMBINING: Program = Program {
    name: "combining",
    about: "all processors get the combination of all their values (Karp et al., section 5.2)",
    algorithms: &[Algorithm {
        name: "optimal",
        about: "all send what they have to processors ever further away; for any P, at the time of a reduction",
        formula: ClosedForm::Paper(
            "Karp et al., section 5.2",
            "(T - d) u + L + 2o, u = max(g, 2o), d = ceil((L+2o)/u), with the least f_T >= P; up to 2o more where \
                 receptions overlap sends",
        ),
        plan: Combining::plan,
    }],
    size: Size { meaning: "operands of each processor, which it combines by itself", default: 1 },
    options: &[],
    work: Work::Charged, // combining takes no time
};

/// The sum of some operands, and the largest operand.
type CombinedValue = Word<(u64, u64)>;

/// The plan of a case.
struct Combining<'a>(&'a Case);

impl Combining<'_> {
    fn plan(case: &Case) -> PlanResult<'_> {
        case.setting().check_eager()?;
        case.setting().check_room(case.params.P.saturating_mul(size_of::<u64>()))?;
        Ok(Box::new(Combining(case)))
    }
}

impl Predict for Combining<'_> {
    /// This is the time of a reduction on a machine whose L + 2o is d whole steps (theorem 3.2), less the
    /// difference between those and this machine's L + 2o.
    fn form(&self) -> Option<(FormKind, Time)> {
        let Params { L, o, g, P, .. } = self.0.params;
        let (D, u) = (L + 2 * o, g.max(2 * o));
        let (time, is_exact) = match (P, u) {
            (1, _) => (Time::ZERO, true),
            (_, Time::ZERO) => (D, true),
            _ => {
                let whole = (D.as_ps() + u.as_ps() - 1) / u.as_ps();
                let whole = whole.max(1) * u;
                // A reception that would overlap the send of its step waits for its end.
                (trees::B(P, whole, u) - whole + D, D - (whole - u) >= 2 * o)
            }
        };
        let kind = if is_exact { FormKind::Exact } else { FormKind::LowerBound };
        Some((kind, time))
    }
}

impl Plan for Combining<'_> {
    fn run(&self, emulation: &Emulation) -> Result<Outcome, RunError> {
        let case = self.0;
        let schedule = CombiningSchedule::new(&case.params);
        let mut rng = fastrand::Rng::with_seed(case.seed);
        let operands: Vec<u64> = (0..case.params.P * case.size).map(|_| rng.u64(..)).collect();
        let run = case.machine(emulation).measure_across(|p| {
            let own = operands[p.id() * case.size..][..case.size].iter().map(|x| Word((*x, *x)));
            let own = own.reduce(|a, b| sum_and_max(a, &b)).expect("a size of 0 was refused");
            combine(p, &schedule, own, sum_and_max)
        })?;
        let (run, results) = run.take_results();
        Ok(Outcome::new(run, verify(&results, &operands)))
    }
}

/// Combines two values. The sum shows a value that is combined twice.
fn sum_and_max(a: CombinedValue, b: &CombinedValue) -> CombinedValue {
    Word((a.0.0.wrapping_add(b.0.0), a.0.1.max(b.0.1)))
}

/// The messages of every step, which are the same for all processors.
#[derive(Debug)]
pub struct CombiningSchedule {
    /// Time from one send to the next.
    step: Time,
    /// Number of steps from a send to the reception; the value may be sent on then.
    d: usize,
    /// The message of each step from the d-th on, if the step has one.
    messages: Vec<Option<CombiningMessage>>,
}

/// A message that is received in step t and sent d steps before.
#[derive(Clone, Copy, Debug)]
struct CombiningMessage {
    /// Distance to the receiver: w_(t-1) + b_t.
    distance: usize,
    /// True if it includes the sender's own value: b_t.
    has_own: bool,
}

impl CombiningSchedule {
    /// Computes the schedule for a machine with these parameters.
    pub fn new(params: &Params) -> CombiningSchedule {
        let (P, D) =
            (params.P, params.send_overhead(1) + params.stream(1) + params.L + params.recv_overhead(1));
        let step = params.g.max(params.send_overhead(1) + params.recv_overhead(1));
        // P steps are enough for all to send to all.
        let d = match step.as_ps() {
            0 => P,
            u => ((D.as_ps() + u - 1) / u).clamp(1, P as i64) as usize,
        };
        let mut f: Vec<usize> = vec![1; d];
        while *f.last().expect("d is at least 1") < P {
            f.push(f[f.len() - 1] + f[f.len() - d]);
        }
        // P - 1 is a sum of some of f_0 to f_(T-d).
        let T = if P == 1 { 0 } else { f.len() - 1 };
        let (mut missing, mut w, mut messages) = (P - 1, vec![0; d], Vec::new());
        for t in d..=T {
            let own = f[T - t] <= missing;
            missing -= if own { f[T - t] } else { 0 };
            let more = w[t - d] + usize::from(own);
            messages.push(
                (more > 0).then(|| CombiningMessage { distance: w[t - 1] + usize::from(own), has_own: own }),
            );
            w.push(w[t - 1] + more);
        }
        CombiningSchedule { step, d, messages }
    }
}

/// Runs the algorithm on one processor: it sends its values, and combines them with those that it receives.
pub fn combine<T: Payload + Clone>(
    p: &mut Proc,
    schedule: &CombiningSchedule,
    own: T,
    op: impl Fn(T, &T) -> T,
) -> T {
    let (id, P) = (p.id(), p.P());
    let mut others: Option<T> = None;
    // The n-th message, that of step d + n, has step n of this tag.
    let values: Tag<T> = Tag::named(0, "values");
    let receive = |p: &mut Proc, n: usize, others: &mut Option<T>| {
        if let Some(message) = schedule.messages[n] {
            let more = p.recv(values.step(n).from((id + P - message.distance) % P));
            *others = Some(others.take().map_or(more.clone(), |others| op(others, &more)));
        }
    };
    for (n, message) in schedule.messages.iter().enumerate() {
        if let Some(received) = n.checked_sub(schedule.d) {
            receive(p, received, &mut others);
        }
        let Some(message) = message else { continue };
        let due = n as i64 * schedule.step;
        // A send follows, at the same time with or without a wait that is over before the gap is.
        if due > p.local_next_send() {
            p.wait_until(due);
        }
        let value = match &others {
            Some(others) if message.has_own => op(others.clone(), &own),
            Some(others) => others.clone(),
            None => own.clone(),
        };
        p.send((id + message.distance) % P, values.step(n), value);
    }
    for n in schedule.messages.len().saturating_sub(schedule.d)..schedule.messages.len() {
        receive(p, n, &mut others);
    }
    match &others {
        None => own,
        Some(others) => op(own, others),
    }
}

/// Checks that every processor has the sum of all operands, and the largest.
fn verify(results: &[CombinedValue], operands: &[u64]) -> Result<(), String> {
    let sum = operands.iter().fold(0_u64, |sum, operand| sum.wrapping_add(*operand));
    let largest = operands.iter().copied().max().unwrap_or(0);
    for (id, Word((its_sum, its_largest))) in results.iter().enumerate() {
        if *its_sum != sum {
            return Err(format!("processor {id} has {its_sum} as the sum of all operands, which is {sum}"));
        }
        if *its_largest != largest {
            return Err(format!(
                "processor {id} has {its_largest} as the largest operand, which is {largest}"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use loggp::US;

    #[test]
    fn verification_notices_a_wrong_combination() {
        let operands = [u64::MAX, 3, 2];
        assert_eq!(verify(&[Word((4, u64::MAX)); 2], &operands), Ok(()));
        for (wrong, what) in [((5, u64::MAX), "sum of all operands, which is 4"), ((4, 3), "largest operand")]
        {
            let refusal = verify(&[Word((4, u64::MAX)), Word(wrong)], &operands).unwrap_err();
            assert!(refusal.starts_with("processor 1 has") && refusal.contains(what), "{refusal}");
        }
    }

    /// With P = f_T every message includes its sender's own value, and its distance is f_(t-1).
    #[test]
    fn schedule_is_the_papers_for_its_numbers_of_processors() {
        for d in 1..10 {
            let mut f = vec![1; d];
            for T in d..d + 20 {
                f.push(f[T - 1] + f[T - d]);
                if f[T] > 5000 {
                    break;
                }
                let schedule =
                    CombiningSchedule::new(&Params::builder(f[T]).L(d as i64 * US).g(US).build().unwrap());
                assert_eq!((schedule.d, schedule.messages.len()), (d.min(f[T]), T - d + 1));
                for (n, message) in schedule.messages.iter().enumerate() {
                    let message = message.unwrap();
                    assert!(
                        message.has_own && message.distance == f[d + n - 1],
                        "d = {d}, T = {T}: {schedule:?}"
                    );
                }
            }
        }
    }
}
