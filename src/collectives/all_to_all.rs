//! All-to-all: every processor has a value for every other.

use super::call::Call;
use super::costs::{MessageCost, longest};
use super::exchange::Shift;
use crate::message::{Collective, Payload};
use crate::params::Params;
use crate::proc::Proc;
use crate::time::Time;

/// Gives `values[y]` to processor y, for every y, and returns what every processor had for this one.
///
/// Staggered (LogP, section 4.1.2; Karp et al., section 5.1): processor x sends to x + 1, x + 2, ... modulo
/// P, and receives while the gaps run. So a message goes and a message comes every g. Its own value takes no
/// message. It is an [exchange](Proc::exchange).
///
/// **Time**, for values of k words, with d = (k-1)G + g: (P-2)d + L + 2o + (k-1)G. Exact if all come at once,
/// no gap from before is running, and receptions fit between the sends: 2o + (L + (k-1)G) mod d <= d. For
/// k > 1 the ports must be dual too, or streams miss each other: (k-1)G <= L mod d <= d - (k-1)G.
///
/// ```
/// use loggp::{Machine, Params, US, collectives};
///
/// let params = Params::builder(4).L(8 * US).o(2 * US).g(4 * US).build()?;
/// let run = Machine::new(params).run(|p| {
///     let values = (0..4).map(|to| 10 * p.id() + to).collect();
///     collectives::all_to_all(p, values)
/// })?;
/// assert_eq!(run.results[3], [3, 13, 23, 33]);
/// assert_eq!(run.time, (2 * 4 + 8 + 2 * 2) * US);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[track_caller]
pub fn all_to_all<T: Payload>(p: &mut Proc, values: Vec<T>) -> Vec<T> {
    let call = Call::begin(p, Collective::AllToAll);
    all_to_all_by(p, &call, values)
}

/// Exchanges values in a call of any kind.
#[track_caller]
pub(super) fn all_to_all_by<T: Payload>(p: &mut Proc, call: &Call, values: Vec<T>) -> Vec<T> {
    let (id, P) = (call.id, call.P);
    call.check_count(p, &values, "of");
    let mut out: Vec<Option<T>> = values.into_iter().map(Some).collect();
    let mut come: Vec<Option<T>> = (0..P).map(|_| None).collect();
    come[id] = out[id].take();
    let steps = (1..P).filter_map(|i| {
        let (to, from) = ((id + i) % P, (id + P - i) % P);
        Some(Shift { to: call.processor(to), value: out[to].take()?, from: call.processor(from) })
    });
    p.exchange(call.tag(0), longest::<T>(p), steps, |from, value| come[call.rank(from)] = Some(value));
    come.into_iter().flatten().collect()
}

/// How long it takes for values of k words: (P-2) max((k-1)G + g, 2o) + L + 2o + (k-1)G.
pub(super) fn all_to_all_time(params: &Params, P: usize, k: usize) -> Time {
    let cost = MessageCost::of(params, k);
    cost.in_a_row(P, cost.send + cost.recv)
}
