//! Scans: every processor gets the combined values of the processors up to it.

use loggp_model::message::{Collective, Payload};
use loggp_schedule::rounds::distances;

use super::call::{BegunCollective, combine};
use crate::proc::Proc;

/// Combines the values of processors 0 to x, in this order, and gives the result to x, for every x.
///
/// `op` must be associative, and need not be commutative. Every application is charged as a unit of the work
/// "combine", which costs c. In step i processor x has combined its value with those of the 2^i - 1
/// processors before it, and sends the result to x + 2^i.
///
/// **Time**, for values of k words and R = ceil(log2 P) >= 1: (R-1) ((k-1)G + max(L + 2o + c, g)) + L + 2o +
/// (k-1)G + c. If all call at once, no earlier gap is running, k = 1 or the ports are dual, and nothing stalls,
/// it is exact for P = 2^R, and a bound for other P.
///
/// ```
/// use loggp::{Machine, Params, US, collectives};
///
/// let params = Params::builder(4).L(6 * US).o(2 * US).g(4 * US).build()?;
/// let run = Machine::new(params).run(|p| {
///     collectives::scan(p, p.id().to_string(), |a, b| a + &b)
/// })?;
/// assert_eq!(run.results, ["0", "01", "012", "0123"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[track_caller]
pub fn scan<T: Payload + Clone>(p: &mut Proc, value: T, op: impl FnMut(T, T) -> T) -> T {
    scan_units(p, value, 1, op)
}

/// Scans, where each `op` takes `units` units of work.
#[track_caller]
pub(super) fn scan_units<T: Payload + Clone>(
    p: &mut Proc,
    value: T,
    units: u64,
    mut op: impl FnMut(T, T) -> T,
) -> T {
    let call = BegunCollective::begin(p, Collective::Scan);
    let (id, P) = (call.id, call.P);
    let mut all = value;
    for (step, distance) in distances(P).enumerate() {
        if id + distance < P {
            call.send(p, id + distance, step, all.clone());
        }
        if id >= distance {
            let before = call.recv(p, id - distance, step);
            all = combine(p, units, (id - distance, before), (id, all), &mut op);
        }
    }
    all
}

/// Combines the values of processors 0 to x - 1, in this order, and gives the result to x, for every x.
/// Processor 0 gets `None`.
///
/// Works as [`scan()`], but combines the values of other processors apart from the processor's own, which
/// takes a second application of `op` in the steps between the first and the last.
///
/// **Time**, for values of k words and R = ceil(log2 P) >= 2: (k-1)G + max(L + 2o + c, g), then R - 2 times
/// (k-1)G + max(L + 2o + 2c, g), then L + 2o + (k-1)G + c. For P = 2 it is L + 2o + (k-1)G. Exact or a bound
/// where that of [`scan()`] is.
///
/// ```
/// use loggp::{Machine, Params, US, collectives};
///
/// let params = Params::builder(4).L(6 * US).o(2 * US).g(4 * US).build()?;
/// let run = Machine::new(params).run(|p| {
///     collectives::exclusive_scan(p, p.id() as u64 + 1, |a, b| a + b)
/// })?;
/// assert_eq!(run.results, [None, Some(1), Some(3), Some(6)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[track_caller]
pub fn exclusive_scan<T: Payload + Clone>(
    p: &mut Proc,
    value: T,
    mut op: impl FnMut(T, T) -> T,
) -> Option<T> {
    let call = BegunCollective::begin(p, Collective::ExclusiveScan);
    let (id, P) = (call.id, call.P);
    let (mut before, mut all): (Option<T>, T) = (None, value.clone());
    for (step, distance) in distances(P).enumerate() {
        if id + distance < P {
            call.send(p, id + distance, step, all.clone());
        }
        if id >= distance {
            let further = call.recv(p, id - distance, step);
            let known = match before {
                None => further,
                Some(near) => p.work("combine", 1, || op(further, near)),
            };
            if id + 2 * distance < P {
                all = p.work("combine", 1, || op(known.clone(), value.clone()));
            }
            before = Some(known);
        }
    }
    before
}
