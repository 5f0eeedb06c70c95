//! All-gather: every processor gets the values of all.

use super::all_to_all::all_to_all_by;
use super::{Call, distances, way, words_of};
use crate::message::{Collective, Payload};
use crate::params::Params;
use crate::proc::Proc;
use crate::time::Time;

/// Gives the values of all processors to all, in the order of their numbers.
///
/// Either every processor sends its value to every other, as in [`all_to_all()`](super::all_to_all()), or in
/// R = ceil(log2 P) steps: in step i it sends the 2^i values that it has, or as many as are missing, to the one that is 2^i
/// before it, and receives as many. It takes what the formulas prefer for values of k words, where k is that of the type
/// ([`Payload::SIZE`]), and 1 if its values differ.
///
/// **Time**, for P > 1: in steps (R-1) max(L + 2o, g) + L + 2o + ((P-1)k - R)G. Exact for every P if all come at once,
/// no gap from before is running, and no port has to carry two messages at once: no message is longer than L, or the
/// ports are dual. Else that of `all_to_all`; it goes so where (P-2) max((k-1)G + g, 2o) + L + 2o + (k-1)G is less.
///
/// ```
/// use loggp::{Machine, Params, US, collectives};
///
/// let params = Params::new(6).L(8 * US).o(2 * US).g(4 * US).build()?;
/// let run = Machine::new(params).run(|p| {
///     collectives::all_gather(p, 10 * p.id())
/// })?;
/// assert_eq!(run.results[4], [0, 10, 20, 30, 40, 50]);
/// assert_eq!(run.time, (4 * 4 + 8 + 2 * 2) * US);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[track_caller]
pub fn all_gather<T: Payload + Clone>(p: &mut Proc, value: T) -> Vec<T> {
    let call = Call::begin(p, Collective::AllGather);
    let (id, P, k) = (call.id, call.P, words_of::<T>(p, 1));
    if direct_time(p.params(), P, k) < steps_time(p.params(), P, k) {
        return all_to_all_by(p, &call, vec![value; P]);
    }
    // The values of this processor and of those after it.
    let mut values = vec![value];
    for (step, distance) in distances(P).enumerate() {
        let mine = values[..distance.min(P - distance)].to_vec();
        let theirs = call.send_recv(p, (id + P - distance) % P, mine, (id + distance) % P, step);
        values.extend(theirs);
    }
    values.rotate_right(id);
    values
}

/// (P-2) max((k-1)G + g, 2o) + L + 2o + (k-1)G.
fn direct_time(params: &Params, P: usize, k: usize) -> Time {
    let busy = params.send_overhead(k) + params.recv_overhead(k);
    way(params, k) + (P as i64 - 2) * (params.stream(k) + params.g).max(busy)
}

/// (R-1) max(L + 2o, g) + L + 2o + ((P-1)k - R)G.
fn steps_time(params: &Params, P: usize, k: usize) -> Time {
    let step = |distance: usize| {
        let k = k * distance.min(P - distance);
        let is_last = 2 * distance >= P;
        way(params, k).max(if is_last { Time::ZERO } else { params.stream(k) + params.g })
    };
    distances(P).map(step).sum()
}
