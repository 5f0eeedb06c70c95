//! Broadcast with combining: the values of all processors are combined, and every processor has the result
//! when an optimal reduction would give it to one (Karp et al., section 5.2).
//!
//! All processors send what they have, again and again, a message each u = max(g, 2o): u has room for a send
//! and a reception. A message is received d = ceil((L + 2o)/u) sends later. With f_t = 1 for t < d and
//! f_t = f_(t-1) + f_(t-d) (definition 3.6), processor i has the values of the f_t processors i - f_t + 1 to i
//! after t steps. The paper has P = f_T.
//!
//! **Any P.** A processor keeps what it received apart from its own value, and sends it with or without. Let
//! w_t be how many others' values it has; in step t it receives w_(t-d) + b_t more, where b_t says whether
//! the sender's own is among them. So w_T is the sum of f_(T-t) over the t with b_t = 1. Every number
//! below f_T is such a sum, since no f_n is more than one above the sum of those before it (fact 3.1), and
//! P - 1 is the one that is wanted. With P = f_T all b_t are 1, and this is the paper's algorithm.
//!
//! The operator must be commutative: processors combine in different orders. As in the paper, combining takes
//! no time.

use loggp::{Params, Payload, Proc, RunError, Tag, Time, Work};

use crate::math::trees;
use crate::math::word::Word;
use crate::{Algorithm, Case, Emulation, Outcome, Plan, Planned, Program, Size};

/// All-to-all broadcast of the combination of all values.
pub static COMBINING: Program = Program {
    name: "combining",
    about: "all processors get the combination of all their values (Karp et al., section 5.2)",
    algorithms: &[Algorithm {
        name: "optimal",
        about: "all send what they have to processors ever further away; for any P, at the time of a reduction",
        formula: "(T - d) u + L + 2o, u = max(g, 2o), d = ceil((L+2o)/u), with the least f_T >= P (Karp et al., \
                  section 5.2); up to 2o more where receptions overlap sends",
        plan: Combining::plan,
    }],
    size: Size { meaning: "operands of each processor, which it combines by itself", default: 1 },
    options: &[],
    work: Work::Charged, // combining takes no time
};

/// A processor's operands, all combined: their sum, and the largest.
type Value = Word<(u64, u64)>;

/// A case that was read.
struct Combining<'a>(&'a Case);

impl Combining<'_> {
    fn plan(case: &Case) -> Planned<'_> {
        case.check_eager()?;
        case.check_room(case.params.P.saturating_mul(size_of::<u64>()))?;
        Ok(Box::new(Combining(case)))
    }
}

impl Plan for Combining<'_> {
    /// A reduction on the machine whose L + 2o is d whole steps (theorem 3.2) less what that is more than
    /// this machine's.
    fn formula(&self) -> Option<Time> {
        let Params { L, o, g, P, .. } = self.0.params;
        if !self.0.params.is_loggp() {
            return None;
        }
        let (D, u) = (L + 2 * o, g.max(2 * o));
        Some(match (P, u) {
            (1, _) => Time::ZERO,
            (_, Time::ZERO) => D,
            _ => {
                let whole = (D.as_ps() + u.as_ps() - 1) / u.as_ps();
                let whole = whole.max(1) * u;
                trees::B(P, whole, u) - whole + D
            }
        })
    }

    fn run(&self, emulation: &Emulation) -> Result<Outcome, RunError> {
        let case = self.0;
        let hops = Hops::new(&case.params);
        let mut rng = fastrand::Rng::with_seed(case.seed);
        let operands: Vec<u64> = (0..case.params.P * case.size).map(|_| rng.u64(..)).collect();
        let run = case.machine(emulation).run_across(|p| {
            let own = operands[p.id() * case.size..][..case.size].iter().map(|x| Word((*x, *x)));
            let own = own.reduce(|a, b| both(a, &b)).expect("a size of 0 was refused");
            combine(p, &hops, own, both)
        })?;
        let (run, results) = run.take_results();
        Ok(Outcome::new(run, verify(&results, &operands)))
    }
}

/// The operator: two at once, one for which it matters that nothing is combined twice.
fn both(a: Value, b: &Value) -> Value {
    Word((a.0.0.wrapping_add(b.0.0), a.0.1.max(b.0.1)))
}

/// Who sends what in which step.
#[derive(Debug)]
pub struct Hops {
    /// The time from one send to the next.
    step: Time,
    /// How many steps after a send its message is received; it may be combined and sent on then.
    d: usize,
    /// The message of each step that has one, from the d-th on.
    messages: Vec<Option<Hop>>,
}

/// A message, received in step t and sent d steps before.
#[derive(Clone, Copy, Debug)]
struct Hop {
    /// How far it goes: w_(t-1) + b_t.
    distance: usize,
    /// Whether the sender's own value is in it: b_t.
    own: bool,
}

impl Hops {
    /// For a machine with these parameters.
    pub fn new(params: &Params) -> Hops {
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
        // f_0 to f_(T-d), from which the P - 1 others' values are made up.
        let T = if P == 1 { 0 } else { f.len() - 1 };
        let (mut missing, mut w, mut messages) = (P - 1, vec![0; d], Vec::new());
        for t in d..=T {
            let own = f[T - t] <= missing;
            missing -= if own { f[T - t] } else { 0 };
            let more = w[t - d] + usize::from(own);
            messages.push((more > 0).then(|| Hop { distance: w[t - 1] + usize::from(own), own }));
            w.push(w[t - 1] + more);
        }
        Hops { step, d, messages }
    }
}

/// What each processor does: it sends what it has, and combines that with what it receives.
pub fn combine<T: Payload + Clone>(p: &mut Proc, hops: &Hops, own: T, op: impl Fn(T, &T) -> T) -> T {
    let (id, P) = (p.id(), p.p());
    let mut others: Option<T> = None;
    // The message of step d + n, which is the n-th, has step n of this tag.
    let values: Tag<T> = Tag::named(0, "values");
    let receive = |p: &mut Proc, n: usize, others: &mut Option<T>| {
        if let Some(hop) = hops.messages[n] {
            let more = p.recv_from((id + P - hop.distance) % P, values.step(n));
            *others = Some(others.take().map_or(more.clone(), |others| op(others, &more)));
        }
    };
    for (n, hop) in hops.messages.iter().enumerate() {
        if let Some(received) = n.checked_sub(hops.d) {
            receive(p, received, &mut others);
        }
        let Some(hop) = hop else { continue };
        let due = n as i64 * hops.step;
        if due > p.next_send() {
            p.wait_until(due);
        }
        let value = match &others {
            Some(others) if hop.own => op(others.clone(), &own),
            Some(others) => others.clone(),
            None => own.clone(),
        };
        p.send((id + hop.distance) % P, values.step(n), value);
    }
    for n in hops.messages.len().saturating_sub(hops.d)..hops.messages.len() {
        receive(p, n, &mut others);
    }
    match &others {
        None => own,
        Some(others) => op(own, others),
    }
}

/// Every processor must have the sum of all operands, and the largest.
fn verify(results: &[Value], operands: &[u64]) -> Result<(), String> {
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
    fn a_wrong_combination_is_noticed() {
        let operands = [u64::MAX, 3, 2];
        assert_eq!(verify(&[Word((4, u64::MAX)); 2], &operands), Ok(()));
        for (wrong, what) in [((5, u64::MAX), "sum of all operands, which is 4"), ((4, 3), "largest operand")]
        {
            let refusal = verify(&[Word((4, u64::MAX)), Word(wrong)], &operands).unwrap_err();
            assert!(refusal.starts_with("processor 1 has") && refusal.contains(what), "{refusal}");
        }
    }

    /// Where P = f_T every message has its sender's own value, and goes f_(t-1) far.
    #[test]
    fn for_the_papers_numbers_of_processors_it_is_the_papers_algorithm() {
        for d in 1..10 {
            let mut f = vec![1; d];
            for T in d..d + 20 {
                f.push(f[T - 1] + f[T - d]);
                if f[T] > 5000 {
                    break;
                }
                let hops = Hops::new(&Params::builder(f[T]).L(d as i64 * US).g(US).build().unwrap());
                assert_eq!((hops.d, hops.messages.len()), (d.min(f[T]), T - d + 1));
                for (n, hop) in hops.messages.iter().enumerate() {
                    let hop = hop.unwrap();
                    assert!(hop.own && hop.distance == f[d + n - 1], "d = {d}, T = {T}: {hops:?}");
                }
            }
        }
    }
}
