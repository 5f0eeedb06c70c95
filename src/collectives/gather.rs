//! Gather: one processor gets the values of all.

use loggp_model::message::{Collective, Payload};
use loggp_predict::collectives::{MessageCost, gather_tree_time};
use loggp_schedule::rounds::BinomialPlace;

use super::call::{BegunCollective, words_of};
use super::levels::planning_params;
use crate::proc::Proc;

/// Gives the values of all processors to the root, in the order of their numbers.
///
/// Either every processor sends its value to the root, or, where long messages pay off, values go up a
/// binomial tree: in step i processors send the 2^i values that they have to the processor that is 2^i nearer
/// to the root. The formulas below decide for values of k words, where k is the length of the type's values
/// ([`Payload::SIZE`]), or 1 if they differ.
///
/// **Time**: L + 2o + (k-1)G + (P-2) max((k-1)G + g, o) without the tree. Exact for k = 1 if all call at once
/// and no earlier gap is running, and a bound for longer values. With the tree and P = 2^R: L + 2o + (k-1)G,
/// plus max(L + 2o + (2^i k - 1)G, g) for each i from 1 to R-1. Exact if all call at once, no earlier gap is
/// running, and the first step takes any time at all. For other P, with R = ceil(log2 P), it is a bound where
/// nothing stalls.
///
/// ```
/// use loggp::{Machine, Params, US, collectives};
///
/// let params = Params::builder(4).L(6 * US).o(2 * US).g(4 * US).build()?;
/// let run = Machine::new(params).run(|p| {
///     collectives::gather(p, 1, 10 * p.id())
/// })?;
/// assert_eq!(run.results, [None, Some(vec![0, 10, 20, 30]), None, None]);
/// assert_eq!(run.time, (10 + 2 * 4) * US);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[track_caller]
pub fn gather<T: Payload>(p: &mut Proc, root: usize, value: T) -> Option<Vec<T>> {
    let k = words_of::<T>(p, 1);
    gather_words(p, root, value, k)
}

/// Gathers values of about `k` words.
#[track_caller]
pub(super) fn gather_words<T: Payload>(p: &mut Proc, root: usize, value: T, k: usize) -> Option<Vec<T>> {
    let call = BegunCollective::begin_with_root(p, Collective::Gather, root);
    let cost = MessageCost::new(planning_params(p), k);
    if call.P == 1 {
        Some(vec![value])
    } else if cost.row_time(call.P, cost.recv) <= gather_tree_time(planning_params(p), call.P, k) {
        gather_flat(p, &call, root, value)
    } else {
        gather_tree(p, &call, root, value)
    }
}

/// Gathers without a tree: every processor sends to the root, which receives in the order of arrival.
#[track_caller]
fn gather_flat<T: Payload>(p: &mut Proc, call: &BegunCollective, root: usize, value: T) -> Option<Vec<T>> {
    if call.id != root {
        call.send(p, root, 0, value);
        return None;
    }
    let mut values: Vec<Option<T>> = (0..call.P).map(|_| None).collect();
    values[root] = Some(value);
    for _ in 1..call.P {
        let (from, value) = call.recv_any(p, 0);
        values[from] = Some(value);
    }
    values.into_iter().collect()
}

/// Gathers along the binomial tree, in which places count from the root. `values` are those of this processor
/// and of the next ones.
#[track_caller]
fn gather_tree<T: Payload>(p: &mut Proc, call: &BegunCollective, root: usize, value: T) -> Option<Vec<T>> {
    let P = call.P;
    let tree = BinomialPlace { P, place: (call.id + P - root) % P };
    let mut values = vec![value];
    for child in tree.children() {
        let more: Vec<T> = call.recv(p, (root + child) % P, child.trailing_zeros() as usize);
        values.extend(more);
    }
    if let Some(parent) = tree.parent() {
        call.send(p, (root + parent) % P, tree.place.trailing_zeros() as usize, values);
        return None;
    }
    values.rotate_right(root);
    Some(values)
}
