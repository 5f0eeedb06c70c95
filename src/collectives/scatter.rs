//! Scatter: one processor has a value for each.

use loggp_model::message::{Collective, Payload};
use loggp_predict::collectives::{MessageCost, scatter_tree_time};
use loggp_schedule::rounds::BinomialPlace;

use super::call::{BegunCollective, words_of};
use super::levels::planning_params;
use crate::proc::Proc;

/// Gives `values[y]` of the root to processor y, for every y. The root gives `Some`, the others `None`.
///
/// Either the root sends each processor its value, or, where that pays off, values go down a binomial tree: a
/// processor that has several sends half of them on, then half of the rest, and so on. The formulas below
/// decide for values of k words, where k is the length of the type's values ([`Payload::SIZE`]), or 1 if they
/// differ.
///
/// **Time**, with R = ceil(log2 P): without the tree L + 2o + (k-1)G + (P-2) max((k-1)G + g, o), and exact.
/// With the tree (R-1) max(L + 2o, g) + L + 2o + ((P-1)k - R)G (LogGP, lemma 2): exact for P = 2^R, and
/// otherwise a bound where nothing stalls. Both hold if no earlier gap is running, and count from the root's
/// call, whenever the others call.
///
/// ```
/// use loggp::{Machine, Params, US, collectives};
///
/// let params = Params::builder(4).L(6 * US).o(2 * US).g(4 * US).build()?;
/// let run = Machine::new(params).run(|p| {
///     collectives::scatter(p, 1, (p.id() == 1).then(|| vec![10, 11, 12, 13]))
/// })?;
/// assert_eq!(run.results, [10, 11, 12, 13]);
/// assert_eq!(run.time, (10 + 2 * 4) * US);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[track_caller]
pub fn scatter<T: Payload>(p: &mut Proc, root: usize, values: Option<Vec<T>>) -> T {
    let call = BegunCollective::begin_with_root(p, Collective::Scatter, root);
    let (P, k) = (call.P, words_of::<T>(p, 1));
    let cost = MessageCost::new(planning_params(p), k);
    let is_flat = cost.row_time(P, cost.send) <= scatter_tree_time(planning_params(p), P, k);
    let tree = BinomialPlace { P, place: (call.id + P - root) % P };
    let Some(mut values) = call.root_value(p, root, values, "values") else {
        return match tree.parent() {
            Some(parent) if !is_flat => {
                let values = call.recv(p, (root + parent) % P, tree.place.trailing_zeros() as usize);
                forward(p, &call, root, tree, values)
            }
            _ => call.recv(p, root, 0),
        };
    };
    call.check_count(p, &values, "to");
    // Places count from the root.
    values.rotate_left(root);
    if !is_flat {
        return forward(p, &call, root, tree, values);
    }
    let mut values = values.into_iter();
    let own = values.next().expect("there is a processor");
    for (place, value) in (1..).zip(values) {
        call.send(p, (root + place) % P, 0, value);
    }
    own
}

/// Forwards the values for the places below this one, and returns the first one, which is the processor's own.
#[track_caller]
fn forward<T: Payload>(
    p: &mut Proc,
    call: &BegunCollective,
    root: usize,
    tree: BinomialPlace,
    mut values: Vec<T>,
) -> T {
    for child in tree.children().rev() {
        let theirs = values.split_off(child - tree.place);
        call.send(p, (root + child) % call.P, child.trailing_zeros() as usize, theirs);
    }
    values.pop().expect("it has its own value")
}
