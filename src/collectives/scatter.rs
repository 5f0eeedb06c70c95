//! Scatter: one processor has a value for each.

use super::call::Call;
use super::costs::{MessageCost, distances, time_of_steps, words_of};
use super::levels::plan;
use crate::message::{Collective, Payload};
use crate::params::Params;
use crate::proc::Proc;
use crate::time::Time;

/// Gives `values[y]` of the root to processor y, for every y. The root gives `Some`, the others `None`.
///
/// Either the root sends everyone its value, or, where that is worth it, values go down a binomial tree: a processor that
/// has many sends a half of them on, and half of the rest, and so on. It takes what the formulas prefer for values of k
/// words, where k is that of the type ([`Payload::SIZE`]), and 1 if its values differ.
///
/// **Time**, with R = ceil(log2 P): without the tree L + 2o + (k-1)G + (P-2) max((k-1)G + g, o), and exact. With the
/// tree (R-1) max(L + 2o, g) + L + 2o + ((P-1)k - R)G (LogGP, lemma 2): exact for P = 2^R, and else a bound where nothing
/// stalls. Both if no gap from before is running; whenever the others come, it counts from the root's call.
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
    let call = Call::begin_at(p, Collective::Scatter, root);
    let (P, k) = (call.P, words_of::<T>(p, 1));
    let cost = MessageCost::of(plan(p), k);
    let is_flat = cost.in_a_row(P, cost.send) <= tree_time(plan(p), P, k);
    let Some(mut values) = call.given(p, root, values, "values") else {
        return if is_flat { call.recv(p, root, 0) } else { node(p, &call, root) };
    };
    call.check_count(p, &values, "to");
    values.rotate_left(root); // counted from the root
    if !is_flat {
        return hand_on(p, &call, values);
    }
    let mut values = values.into_iter();
    let own = values.next().expect("there is a processor");
    for (place, value) in (1..).zip(values) {
        call.send(p, (root + place) % P, 0, value);
    }
    own
}

/// (R-1) max(L + 2o, g) + L + 2o + ((P-1)k - R)G.
fn tree_time(params: &Params, P: usize, k: usize) -> Time {
    // The last messages are full, and what is missing to a power of two is so in the first.
    time_of_steps(params, distances(P).rev().map(|distance| k * distance.min(P - distance)))
}

/// A processor below the root in the tree: it receives what is for it and for those below it.
#[track_caller]
fn node<T: Payload>(p: &mut Proc, call: &Call, root: usize) -> T {
    let place = (call.id + call.P - root) % call.P;
    let parent = place & (place - 1);
    let values = call.recv(p, (root + parent) % call.P, place.trailing_zeros() as usize);
    hand_on(p, call, values)
}

/// Sends on all values but the first one, which is its own: those of the processors from itself on.
#[track_caller]
fn hand_on<T: Payload>(p: &mut Proc, call: &Call, mut values: Vec<T>) -> T {
    while values.len() > 1 {
        let distance = values.len().next_power_of_two() / 2;
        let to = (call.id + distance) % call.P;
        let theirs = values.split_off(distance);
        call.send(p, to, distance.trailing_zeros() as usize, theirs);
    }
    values.pop().expect("it has its own value")
}
