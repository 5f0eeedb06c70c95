//! Broadcast: processor 0 has a datum, and soon every processor has it.
//!
//! A broadcast is a tree. Every processor receives the datum once, from its parent, and then sends it to its
//! children in order. If it can begin to send at time t, it sends the i-th at t + id, and that child can
//! begin at t + id + D (Karp, Sahay, Santos and Schauser, "Optimal Broadcast and Summation in the LogP
//! Model", definition 3.4). A datum of k words makes D = L + 2o + (k-1)G and d = max((k-1)G + g, o).

use loggp::{Params, Proc, RunError, Tag, Time, Work};

use crate::math::trees;
use crate::math::trees::Children;
use crate::{Algorithm, Case, Emulation, Outcome, Plan, Planned, Program, Size};

/// One-to-all broadcast of one datum.
pub static BROADCAST: Program = Program {
    name: "broadcast",
    about: "one processor's datum reaches all (LogP, section 3.3; Karp et al., section 3)",
    algorithms: &[
        Algorithm {
            name: "optimal",
            about: "every processor that has the datum sends it on, as early and as often as possible",
            formula: "the least t with sum over j of C(floor((t-jD)/d) + j, j) >= P (Karp et al., theorem 3.2)",
            plan: |case| Broadcast::plan(case, trees::optimal, trees::B),
        },
        Algorithm {
            name: "binomial",
            about: "a processor that answers for n processors hands floor(n/2) of them to one that gets the datum",
            formula: "t(n) = max(D + t(floor(n/2)), d + t(ceil(n/2)))",
            plan: |case| Broadcast::plan(case, |P, _, _| trees::binomial(P), trees::binomial_time),
        },
        Algorithm {
            name: "binary",
            about: "processor i sends to processors 2i+1 and 2i+2",
            formula: "the greatest floor(log2 n) D + (ones(n) - 1) d of n = 1..P, with the ones in binary n",
            plan: |case| Broadcast::plan(case, |P, _, _| trees::binary(P), trees::binary_time),
        },
        Algorithm {
            name: "flat",
            about: "processor 0 sends to all others, one after the other",
            formula: "(P-2)d + D",
            plan: |case| Broadcast::plan(case, |P, _, _| trees::flat(P), trees::flat_time),
        },
    ],
    size: Size { meaning: "words of the datum", default: 1 },
    options: &[],
    work: Work::Charged,
};

/// The only tag.
const DATUM: Tag<Vec<u8>> = Tag::named(0, "datum");

/// A broadcast along a tree.
struct Broadcast<'a> {
    case: &'a Case,
    /// The tree of P processors, by D and d.
    tree: fn(usize, Time, Time) -> Children,
    /// When the last of P processors has the datum, by D and d.
    time: fn(usize, Time, Time) -> Time,
}

impl<'a> Broadcast<'a> {
    fn plan(
        case: &'a Case,
        tree: fn(usize, Time, Time) -> Children,
        time: fn(usize, Time, Time) -> Time,
    ) -> Planned<'a> {
        case.check_room(case.params.P.saturating_mul(case.params.word.get()))?;
        Ok(Box::new(Broadcast { case, tree, time }))
    }
}

impl Plan for Broadcast<'_> {
    fn formula(&self) -> Option<Time> {
        let Params { L, o, g, P, .. } = self.case.params;
        let G = self.case.params.G()?;
        if P == 1 {
            return Some(Time::ZERO);
        }
        let stream = (self.case.size as i64 - 1) * G;
        let (D, d) = (L + 2 * o + stream, o.max(stream + g));
        Some((self.time)(P, D, d))
    }

    fn run(&self, emulation: &Emulation) -> Result<Outcome, RunError> {
        let Case { params, size, seed, .. } = self.case;
        let stream = params.stream(*size);
        let D = params.send_overhead(*size) + stream + params.L + params.recv_overhead(*size);
        let d = params.send_overhead(*size).max(stream + params.g);
        let children = (self.tree)(params.P, D, d);
        let mut datum = vec![0; size * params.word.get()];
        fastrand::Rng::with_seed(*seed).fill(&mut datum);
        let run = self.case.machine(emulation).run_across(|p| broadcast(p, &children, &datum))?;
        let (run, results) = run.take_results();
        Ok(Outcome::new(run, verify(&results, &datum)))
    }
}

/// What each processor does. Only processor 0 looks at the source's datum.
fn broadcast(p: &mut Proc, children: &[Vec<usize>], source: &[u8]) -> Vec<u8> {
    let datum = if p.id() == 0 { source.to_vec() } else { p.recv(DATUM).1 };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_datum_is_noticed() {
        assert_eq!(verify(&[vec![1, 2], vec![1, 2]], &[1, 2]), Ok(()));
        for wrong in [vec![1, 3], vec![1], vec![]] {
            let refusal = verify(&[vec![1, 2], wrong], &[1, 2]).unwrap_err();
            assert!(refusal.starts_with("processor 1 has another datum"), "{refusal}");
        }
    }
}
