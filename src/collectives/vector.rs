//! Vectors, combined element by element: the global combine and the global vector scan of the transportation
//! paper (Shankar, Alsabti and Ranka, "The Transportation Primitive", section 4.2).
//!
//! On the paper's machine they take time proportional to the length m of the vectors, whatever P is. So do
//! these, for long vectors: the vectors are cut into P parts, processor j gets part j of all, combines them,
//! and sends the result to the processors that need it. Every processor sends and receives about 2m elements.
//! Short vectors are combined as a whole, as single values are, in ceil(log2 P) steps.

use std::panic::Location;

use loggp_model::error::{Cause, raise};
use loggp_model::message::Payload;
use loggp_predict::collectives::{MessageCost, all_to_all_time};

use super::all_to_all::all_to_all;
use super::call::{check_root, rank_and_size, words_of};
use super::gather::gather_words;
use super::levels::planning_params;
use super::reduce::{all_reduce_units, reduce_units};
use super::scan::scan_units;
use crate::proc::Proc;

/// Combines the vectors of all processors element by element, in the order of the processors' numbers, and
/// gives the result to the root.
///
/// `op` must be associative, and need not be commutative. Every application is charged as a unit of the work
/// "combine", which costs c. All vectors must have the same length m.
///
/// **Time**: that of [`reduce`](super::reduce()) with k words for a whole vector and mc for c; or in parts
/// those of [`all_to_all()`] and [`gather`](super::gather()), both with k words for m/P elements, and between
/// them max((P-1)(m/P)c, g - L - 2o). In parts it is exact if these two are and P divides m. Parts are chosen
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
    let (m, op) = (vector.len(), elementwise(p.id(), op));
    if !should_split::<T>(p, m) {
        let k = words_of::<T>(p, m);
        return reduce_units(p, root, vector, k, m as u64, &mut { op });
    }
    let part = combine_part(p, vector, op);
    let k = words_of::<T>(p, m.div_ceil(rank_and_size(p).1));
    gather_words(p, root, part, k).map(|parts| parts.concat())
}

/// Combines the vectors of all processors element by element, in the order of the processors' numbers, and
/// gives the result to all: the transportation paper's global combine.
///
/// `op`, its cost c and the length m are as in [`reduce_vector`].
///
/// **Time**: that of [`all_reduce`](super::all_reduce) with k words for a whole vector and mc for c; or in
/// parts twice that of [`all_to_all()`] with k words for m/P elements, and between the two max((P-1)(m/P)c,
/// g - L - 2o). In parts it is exact if that of `all_to_all` is and P divides m. Parts are chosen as in
/// [`reduce_vector`].
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
    let (m, op) = (vector.len(), elementwise(p.id(), op));
    if !should_split::<T>(p, m) {
        return all_reduce_units(p, vector, m as u64, op);
    }
    let part = combine_part(p, vector, op);
    let parts = vec![part; rank_and_size(p).1];
    all_to_all(p, parts).concat()
}

/// Combines the vectors of processors 0 to x element by element, in this order, and gives the result to x,
/// for every x: the transportation paper's global vector scan.
///
/// `op`, its cost c and the length m are as in [`reduce_vector`].
///
/// **Time**: that of [`scan`](super::scan()) with k words for a whole vector and mc for c, or in parts that
/// of [`all_reduce_vector`].
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
    let (m, mut op) = (vector.len(), elementwise(p.id(), op));
    if !should_split::<T>(p, m) {
        return scan_units(p, vector, m as u64, op);
    }
    let theirs = exchange_parts(p, vector);
    let scanned = p.work("combine", applications(&theirs), || {
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

/// Returns whether vectors of m elements should go in parts, by the formulas, with the same result on all
/// processors.
fn should_split<T: Payload>(p: &Proc, m: usize) -> bool {
    let (params, (_, P)) = (planning_params(p), rank_and_size(p));
    let part = m.div_ceil(P);
    let (k, k_part) = (words_of::<T>(p, m), words_of::<T>(p, part));
    let steps = i64::from(P.next_power_of_two().ilog2());
    let in_parts =
        2 * all_to_all_time(params, P, k_part) + p.charged_cost("combine", ((P - 1) * part) as u64);
    P > 1 && in_parts < steps * (MessageCost::new(params, k).transit + p.charged_cost("combine", m as u64))
}

/// Combines this processor's part of the vectors of all.
#[track_caller]
fn combine_part<T: Payload + Clone>(
    p: &mut Proc,
    vector: Vec<T>,
    op: impl FnMut(Vec<T>, Vec<T>) -> Vec<T>,
) -> Vec<T> {
    let parts = exchange_parts(p, vector);
    p.work("combine", applications(&parts), || parts.into_iter().reduce(op).unwrap_or_default())
}

/// Gives part j of the vector to processor j, for every j, and returns this processor's part of every vector.
#[track_caller]
fn exchange_parts<T: Payload>(p: &mut Proc, vector: Vec<T>) -> Vec<Vec<T>> {
    let (m, (_, P)) = (vector.len(), rank_and_size(p));
    let mut rest = vector.into_iter();
    let parts = (0..P).map(|j| rest.by_ref().take((j + 1) * m / P - j * m / P).collect()).collect();
    all_to_all(p, parts)
}

/// Returns the number of applications that combine all parts.
fn applications<T>(parts: &[Vec<T>]) -> u64 {
    parts.iter().skip(1).map(|part| part.len() as u64).sum()
}

/// Returns a function that combines two vectors element by element, on processor `id`.
#[track_caller]
fn elementwise<T>(id: usize, mut op: impl FnMut(T, T) -> T) -> impl FnMut(Vec<T>, Vec<T>) -> Vec<T> {
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
