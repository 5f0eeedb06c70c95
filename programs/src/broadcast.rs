//! Broadcast: processor 0 has a datum, and soon every processor has it.
//!
//! A broadcast is a tree. Every processor receives the datum once, from its parent, and then sends it to its
//! children in order. If it can begin to send at time t, it sends the i-th at t + id, and that child can
//! begin at t + id + D (Karp, Sahay, Santos and Schauser, "Optimal Broadcast and Summation in the LogP
//! Model", definition 3.4). A datum of k words makes D = L + 2o + (k-1)G and d = max((k-1)G + g, o).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use loggp::{Params, Proc, RunError, Time, Work};

use crate::{Algorithm, Case, Emulation, Outcome, Plan, Planned, Program, Refusal, Size};

/// One-to-all broadcast of one datum.
pub static BROADCAST: Program = Program {
    name: "broadcast",
    about: "one processor's datum reaches all (LogP, section 3.3; Karp et al., section 3)",
    algorithms: &[
        Algorithm {
            name: "optimal",
            about: "every processor that has the datum sends it on, as early and as often as possible",
            formula: "the least t with sum over j of C(floor((t-jD)/d) + j, j) >= P (Karp et al., theorem 3.2)",
            plan: |case| Broadcast::plan(case, |case| optimal(&case.params, case.size), B),
        },
        Algorithm {
            name: "binomial",
            about: "a processor that answers for n processors hands floor(n/2) of them to one that gets the datum",
            formula: "t(n) = max(D + t(floor(n/2)), d + t(ceil(n/2)))",
            plan: |case| Broadcast::plan(case, |case| binomial(case.params.P), binomial_time),
        },
        Algorithm {
            name: "binary",
            about: "processor i sends to processors 2i+1 and 2i+2",
            formula: "the greatest floor(log2 n) D + (ones(n) - 1) d of n = 1..P, with the ones in binary n",
            plan: |case| Broadcast::plan(case, |case| binary(case.params.P), binary_time),
        },
        Algorithm {
            name: "flat",
            about: "processor 0 sends to all others, one after the other",
            formula: "(P-2)d + D",
            plan: |case| Broadcast::plan(case, |case| flat(case.params.P), flat_time),
        },
    ],
    size: Size { meaning: "words of the datum", default: 1 },
    options: &[],
    work: Work::Charged,
};

/// The only tag.
const DATUM: u32 = 0;

/// A broadcast along a tree.
struct Broadcast<'a> {
    case: &'a Case,
    /// The children of each processor, in order.
    children: fn(&Case) -> Vec<Vec<usize>>,
    /// When the last of P processors has the datum, by D and d.
    time: fn(usize, Time, Time) -> Time,
}

impl<'a> Broadcast<'a> {
    fn plan(
        case: &'a Case,
        children: fn(&Case) -> Vec<Vec<usize>>,
        time: fn(usize, Time, Time) -> Time,
    ) -> Planned<'a> {
        check_size(case)?;
        Ok(Box::new(Broadcast { case, children, time }))
    }
}

impl Plan for Broadcast<'_> {
    fn formula(&self) -> Option<Time> {
        let Params { L, o, g, G, P, .. } = self.case.params;
        if !self.case.params.is_loggp() {
            return None;
        }
        if P == 1 {
            return Some(Time::ZERO);
        }
        let stream = (self.case.size as i64 - 1) * G;
        let (D, d) = (L + 2 * o + stream, o.max(stream + g));
        Some((self.time)(P, D, d))
    }

    fn run(&self, emulation: &Emulation) -> Result<Outcome, RunError> {
        let Case { params, size, seed, .. } = self.case;
        let children = (self.children)(self.case);
        let mut datum = vec![0; size * params.word];
        fastrand::Rng::with_seed(*seed).fill(&mut datum);
        let run = self.case.machine(emulation).run(|p| broadcast(p, &children, &datum))?;
        let (run, results) = run.take_results();
        Ok(Outcome::new(run, verify(&results, &datum)))
    }
}

/// What each processor does. Only processor 0 looks at the source's datum.
fn broadcast(p: &mut Proc, children: &[Vec<usize>], source: &[u8]) -> Vec<u8> {
    let datum: Vec<u8> = if p.id() == 0 { source.to_vec() } else { p.recv(DATUM).1 };
    for &child in &children[p.id()] {
        p.send(child, DATUM, datum.clone());
    }
    datum
}

/// Every processor must have the datum.
fn verify(results: &[Vec<u8>], datum: &[u8]) -> Result<(), String> {
    match results.iter().position(|result| result != datum) {
        None => Ok(()),
        Some(id) => Err(format!("processor {id} has another datum than processor 0 sent")),
    }
}

/// The optimal tree: the P nodes with the smallest labels of the universal tree, in which a node with label
/// t has children with labels t + D, t + D + d, t + D + 2d ... (definition 3.5).
fn optimal(params: &Params, k: usize) -> Vec<Vec<usize>> {
    let stream = params.stream(k);
    let D = params.send_overhead(k) + stream + params.L + params.recv_overhead(k);
    let d = params.send_overhead(k).max(stream + params.g);
    let mut children = vec![Vec::new(); params.P];
    // The next child of every node that is in the tree: its label, and whose child it would be.
    let mut next = BinaryHeap::from([Reverse((D, 0))]);
    for child in 1..params.P {
        let Reverse((label, parent)) = next.pop().expect("every node always has a next child");
        children[parent].push(child);
        next.push(Reverse((label + d, parent)));
        next.push(Reverse((label + D, child)));
    }
    children
}

/// The tree by halving: who answers for n processors gives floor(n/2) away, and goes on with the rest.
pub(crate) fn binomial(P: usize) -> Vec<Vec<usize>> {
    let mut children = vec![Vec::new(); P];
    let mut answers_for = vec![P; P];
    for id in 0..P {
        while answers_for[id] > 1 {
            let given = answers_for[id] / 2;
            answers_for[id] -= given;
            let child = id + answers_for[id];
            answers_for[child] = given;
            children[id].push(child);
        }
    }
    children
}

/// The binary tree in breadth-first order.
fn binary(P: usize) -> Vec<Vec<usize>> {
    (0..P).map(|id| (2 * id + 1..=2 * id + 2).filter(|child| *child < P).collect()).collect()
}

/// The tree with one parent.
fn flat(P: usize) -> Vec<Vec<usize>> {
    let mut children = vec![Vec::new(); P];
    children[0].extend(1..P);
    children
}

/// B(P): the least t by which the datum reaches P processors (definition 3.1). The flat tree bounds it.
pub(crate) fn B(P: usize, D: Time, d: Time) -> Time {
    let (mut early, mut enough) = (-1, flat_time(P, D, d).as_ps());
    while enough - early > 1 {
        let t = early + (enough - early) / 2;
        if reached(Time::from_ps(t), D, d, P) < P as u128 { early = t } else { enough = t }
    }
    Time::from_ps(enough)
}

/// p(t): how many processors a broadcast can reach by t, counted to P and not further.
///
/// Theorem 3.2 has it as f_t, for D a multiple of d = 1. Unnormalized: a node at depth j whose ancestors and
/// itself have i elder siblings all together has the label jD + id. There are C(i+j-1, j-1) ways to share i
/// among j, and summed over all i <= m they make C(m+j, j).
pub(crate) fn reached(t: Time, D: Time, d: Time, P: usize) -> u128 {
    let mut rest = t; // t - jD
    let mut reached = 0;
    for j in 0_u128.. {
        if rest < Time::ZERO || reached >= P as u128 {
            break;
        }
        reached += match d.as_ps() {
            0 if j > 0 => P as u128, // as many children as you like
            0 => 1,
            d => choose((rest.as_ps() / d) as u128 + j, j, P as u128),
        };
        rest -= D;
    }
    reached
}

/// C(n, j); or, if that is `most` or more, anything that is.
pub(crate) fn choose(n: u128, j: u128, most: u128) -> u128 {
    let mut ways = 1;
    // C(n, i) is at least 2^i as long as i <= n/2, so this does not take long.
    for i in 1..=j.min(n - j) {
        ways = ways * (n - i + 1) / i;
        if ways >= most {
            break;
        }
    }
    ways
}

/// Halving: the new source needs D more, and the old one d more unless it has nobody left.
pub(crate) fn binomial_time(P: usize, D: Time, d: Time) -> Time {
    match P {
        1 => Time::ZERO,
        2 => D,
        _ => (D + binomial_time(P / 2, D, d)).max(d + binomial_time(P.div_ceil(2), D, d)),
    }
}

/// Counted from 1, node n has the children 2n and 2n + 1, which come D and D + d later: its label is D for
/// every digit after its first, and d for every one among them.
fn binary_time(P: usize, D: Time, d: Time) -> Time {
    let label = |n: usize| i64::from(n.ilog2()) * D + i64::from(n.count_ones() - 1) * d;
    (1..=P).map(label).max().unwrap_or(Time::ZERO)
}

/// The last child of the only parent.
fn flat_time(P: usize, D: Time, d: Time) -> Time {
    (P as i64 - 2) * d + D
}

/// Refuses data of no words, and data that a host may not have room for: P times the size, in words.
pub(crate) fn check_size(case: &Case) -> Result<(), Refusal> {
    const MOST: u128 = 1 << 32;
    let Params { P, word, .. } = case.params;
    let bytes = P as u128 * case.size as u128 * word as u128;
    match case.size {
        0 => Err("a size of 0 leaves nothing to send; give at least 1".into()),
        _ if bytes > MOST => Err(format!(
            "the processors would hold {bytes} bytes of data, which is too much; give a size of at most {}",
            MOST / (P as u128 * word as u128)
        )
        .into()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loggp::US;

    #[test]
    fn a_wrong_datum_is_noticed() {
        assert_eq!(verify(&[vec![1, 2], vec![1, 2]], &[1, 2]), Ok(()));
        for wrong in [vec![1, 3], vec![1], vec![]] {
            let refusal = verify(&[vec![1, 2], wrong], &[1, 2]).unwrap_err();
            assert!(refusal.starts_with("processor 1 has another datum"), "{refusal}");
        }
    }

    #[test]
    fn the_closed_form_is_the_recurrence_of_theorem_3_2() {
        for D in 1..=12 {
            let mut f: Vec<u128> = Vec::new();
            for t in 0..60 {
                f.push(if t < D { 1 } else { f[t - 1] + f[t - D] });
                assert_eq!(reached(t as i64 * US, D as i64 * US, US, usize::MAX), f[t], "D = {D}, t = {t}");
            }
        }
    }

    #[test]
    fn choosing_stops_at_the_most() {
        assert_eq!(choose(6, 3, 1000), 20);
        assert_eq!(choose(5, 5, 1000), 1);
        assert!(choose(1 << 70, 1 << 69, 1000) >= 1000);
    }
}
