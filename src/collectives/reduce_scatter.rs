//! Reduce-scatter: every processor gets its part of the combined values of all.

use loggp_model::message::{Collective, Payload};

use super::all_to_all::all_to_all_in;
use super::call::BegunCollective;
use crate::proc::Proc;

/// Combines the `values[y]` of all processors, in the order of their numbers, and gives the result to
/// processor y, for every y.
///
/// `op` must be associative, and need not be commutative. Every application is charged as a unit of the work
/// "combine", which costs c. Values are sent as by [`all_to_all()`](super::all_to_all()), and every processor
/// combines those that it receives.
///
/// **Time**: that of `all_to_all`, plus (P-1)c; exact where that is.
///
/// ```
/// use loggp::{Machine, Params, US, collectives};
///
/// let params = Params::builder(4).L(8 * US).o(2 * US).g(4 * US).build()?;
/// let run = Machine::new(params).run(|p| {
///     let values = (0..4).map(|to| 10 * p.id() + to).collect();
///     collectives::reduce_scatter(p, values, |a, b| a + b)
/// })?;
/// assert_eq!(run.results, [60, 64, 68, 72]);
/// assert_eq!(run.time, (2 * 4 + 8 + 2 * 2 + 3) * US);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[track_caller]
pub fn reduce_scatter<T: Payload>(p: &mut Proc, values: Vec<T>, op: impl FnMut(T, T) -> T) -> T {
    let call = BegunCollective::begin(p, Collective::ReduceScatter);
    let parts = all_to_all_in(p, &call, values);
    p.work("combine", call.P as u64 - 1, || parts.into_iter().reduce(op)).expect("there is a processor")
}
