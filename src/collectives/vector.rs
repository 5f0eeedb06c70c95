//! Vectors, combined element by element: the global combine and the global vector scan of the transportation
//! paper (Shankar, Alsabti and Ranka, "The Transportation Primitive", section 4.2).
//!
//! The paper's machine does them in time proportional to the length m of the vectors, whatever P is. So do
//! these, for long vectors: the vectors are cut into P parts, processor j gets part j of all, combines them,
//! and sends what comes of it to those who need it. Every processor sends and receives about 2m elements.
//! Short vectors go as a whole the way that single values go, in ceil(log2 P) steps.

use std::panic::Location;

use super::all_to_all::{all_to_all, all_to_all_time};
use super::call::{check_root, place};
use super::costs::{MessageCost, words_of};
use super::gather::gather_by;
use super::levels::plan;
use super::reduce::{all_reduce_by, reduce_by};
use super::scan::scan_by;
use crate::error::{Cause, raise};
use crate::message::Payload;
use crate::proc::Proc;

/// Combines the vectors of all processors element by element, in the order of the processors' numbers, and
/// gives the result to the root.
///
/// `op` must be associative, and need not be commutative. Every application is charged as a unit of the work
/// "combine", which costs c. All vectors must have the same length m.
///
/// **Time**: that of [`reduce`](super::reduce()) with k words for a whole vector and mc for c, or in parts:
/// [`all_to_all()`]'s, and [`gather`](super::gather())'s, both with k words for m/P elements, and between
/// them max((P-1)(m/P)c, g - L - 2o). The parts' is exact if the two are and P divides m. It goes in parts
/// where 2((P-2) max((k-1)G + g, 2o) + L + 2o + (k-1)G) + (P-1)(m/P)c, with k for m/P elements, is less than
/// ceil(log2 P) (L + 2o + (k-1)G + mc), with k for m.
///
/// ```
/// use loggp::{Machine, Params, US, collectives};
///
/// let params = Params::builder(3).L(6 * US).o(2 * US).g(4 * US).build()?;
/// let run = Machine::new(params).run(|p| {
///     let id = p.id() as u64;
///     collectives::reduce_vector(p, 0, vec![id, 10, id * id], |a, b| a + b)
/// })?;
/// assert_eq!(run.results[0], Some(vec![3, 30, 5]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[track_caller]
pub fn reduce_vector<T: Payload + Clone>(
    p: &mut Proc,
    root: usize,
    vector: Vec<T>,
    op: impl FnMut(T, T) -> T,
) -> Option<Vec<T>> {
    check_root(p, root);
    let (m, op) = (vector.len(), by_elements(p.id(), op));
    if !in_parts::<T>(p, m) {
        let k = words_of::<T>(p, m);
        return reduce_by(p, root, vector, k, m as u64, &mut { op });
    }
    let part = combine_part(p, vector, op);
    let k = words_of::<T>(p, m.div_ceil(place(p).1));
    gather_by(p, root, part, k).map(|parts| parts.concat())
}

/// Combines the vectors of all processors element by element, in the order of the processors' numbers, and
/// gives the result to all: the transportation paper's global combine.
///
/// `op`, its cost c and the length m are as in [`reduce_vector`].
///
/// **Time**: that of [`all_reduce`](super::all_reduce) with k words for a whole vector and mc for c, or in
/// parts: twice [`all_to_all()`]'s with k words for m/P elements, and between the two
/// max((P-1)(m/P)c, g - L - 2o). The parts' is exact if `all_to_all`'s is and P divides m. Which one, is
/// decided as in [`reduce_vector`].
///
/// ```
/// use loggp::{Machine, Params, US, collectives};
///
/// let params = Params::builder(3).L(6 * US).o(2 * US).g(4 * US).build()?;
/// let run = Machine::new(params).run(|p| {
///     collectives::all_reduce_vector(p, vec![p.id() as u64; 100], |a, b| a + b)
/// })?;
/// assert_eq!(run.results, vec![vec![3; 100]; 3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[track_caller]
pub fn all_reduce_vector<T: Payload + Clone>(
    p: &mut Proc,
    vector: Vec<T>,
    op: impl FnMut(T, T) -> T,
) -> Vec<T> {
    let (m, op) = (vector.len(), by_elements(p.id(), op));
    if !in_parts::<T>(p, m) {
        return all_reduce_by(p, vector, m as u64, op);
    }
    let part = combine_part(p, vector, op);
    let parts = vec![part; place(p).1];
    all_to_all(p, parts).concat()
}

/// Combines the vectors of processors 0 to x element by element, in this order, and gives the result to x,
/// for every x: the transportation paper's global vector scan.
///
/// `op`, its cost c and the length m are as in [`reduce_vector`].
///
/// **Time**: that of [`scan`](super::scan()) with k words for a whole vector and mc for c, or in parts the
/// same as [`all_reduce_vector`].
///
/// ```
/// use loggp::{Machine, Params, US, collectives};
///
/// let params = Params::builder(3).L(6 * US).o(2 * US).g(4 * US).build()?;
/// let run = Machine::new(params).run(|p| {
///     collectives::scan_vector(p, vec![p.id() as u64; 100], |a, b| a + b)
/// })?;
/// assert_eq!(run.results, [vec![0; 100], vec![1; 100], vec![3; 100]]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[track_caller]
pub fn scan_vector<T: Payload + Clone>(p: &mut Proc, vector: Vec<T>, op: impl FnMut(T, T) -> T) -> Vec<T> {
    let (m, mut op) = (vector.len(), by_elements(p.id(), op));
    if !in_parts::<T>(p, m) {
        return scan_by(p, vector, m as u64, op);
    }
    let theirs = exchange_parts(p, vector);
    let scanned = p.work("combine", units(&theirs), || {
        let mut sums: Vec<Vec<T>> = Vec::with_capacity(theirs.len());
        for part in theirs {
            sums.push(match sums.last() {
                None => part,
                Some(sum) => op(sum.clone(), part),
            });
        }
        sums
    });
    all_to_all(p, scanned).concat()
}

/// Whether vectors of m elements should go in parts. The formulas say so, and those of all processors alike.
fn in_parts<T: Payload>(p: &Proc, m: usize) -> bool {
    let (params, (_, P)) = (plan(p), place(p));
    let part = m.div_ceil(P);
    let (k, k_part) = (words_of::<T>(p, m), words_of::<T>(p, part));
    let steps = i64::from(P.next_power_of_two().ilog2());
    let in_parts = 2 * all_to_all_time(params, P, k_part) + p.charge("combine", ((P - 1) * part) as u64);
    P > 1 && in_parts < steps * (MessageCost::of(params, k).way + p.charge("combine", m as u64))
}

/// The processor's part of the vectors of all, combined.
#[track_caller]
fn combine_part<T: Payload + Clone>(
    p: &mut Proc,
    vector: Vec<T>,
    op: impl FnMut(Vec<T>, Vec<T>) -> Vec<T>,
) -> Vec<T> {
    let parts = exchange_parts(p, vector);
    p.work("combine", units(&parts), || parts.into_iter().reduce(op).unwrap_or_default())
}

/// Gives part j of the vector to processor j, for every j, and returns this processor's part of everyone's.
#[track_caller]
fn exchange_parts<T: Payload>(p: &mut Proc, vector: Vec<T>) -> Vec<Vec<T>> {
    let (m, (_, P)) = (vector.len(), place(p));
    let mut rest = vector.into_iter();
    let parts = (0..P).map(|j| rest.by_ref().take((j + 1) * m / P - j * m / P).collect()).collect();
    all_to_all(p, parts)
}

/// How many applications combine all parts.
fn units<T>(parts: &[Vec<T>]) -> u64 {
    parts.iter().skip(1).map(|part| part.len() as u64).sum()
}

/// Combines two vectors element by element, on processor `id`.
#[track_caller]
fn by_elements<T>(id: usize, mut op: impl FnMut(T, T) -> T) -> impl FnMut(Vec<T>, Vec<T>) -> Vec<T> {
    let at = Location::caller();
    move |a, b| {
        if a.len() != b.len() {
            let lengths = format!("{} and {} elements", a.len(), b.len());
            let why =
                format!("was to combine vectors of {lengths}; give vectors of the same length everywhere");
            raise(Cause::Misused { id, why, at });
        }
        a.into_iter().zip(b).map(|(a, b)| op(a, b)).collect()
    }
}
