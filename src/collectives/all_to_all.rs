//! All-to-all: every processor has a value for every other.

use loggp_model::message::{Collective, Payload};
use loggp_schedule::rounds::staggered;

use super::call::{BegunCollective, max_words};
use super::exchange::Shift;
use crate::proc::Proc;

/// Gives `values[y]` to processor y, for every y, and returns the values for this processor, by sender.
///
/// Staggered (LogP, section 4.1.2; Karp et al., section 5.1): processor x sends to x + 1, x + 2, ... modulo
/// P, and receives while the gaps run, so that it sends and receives a message every g. Its own value takes
/// no message. It is an [exchange](Proc::exchange).
///
/// **Time**, for values of k words, with d = (k-1)G + g: (P-2)d + L + 2o + (k-1)G. Exact if all call at once,
/// no earlier gap is running, and receptions fit between the sends: 2o + (L + (k-1)G) mod d <= d. For k > 1,
/// also either the ports must be dual or streams must not overlap: (k-1)G <= L mod d <= d - (k-1)G.
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
    let call = BegunCollective::begin(p, Collective::AllToAll);
    all_to_all_in(p, &call, values)
}

/// Exchanges values within a call of any kind.
#[track_caller]
pub(super) fn all_to_all_in<T: Payload>(p: &mut Proc, call: &BegunCollective, values: Vec<T>) -> Vec<T> {
    let (id, P) = (call.id, call.P);
    call.check_count(p, &values, "of");
    let mut out: Vec<Option<T>> = values.into_iter().map(Some).collect();
    let mut received: Vec<Option<T>> = (0..P).map(|_| None).collect();
    received[id] = out[id].take();
    let steps = staggered(P, id).filter_map(|round| {
        let [to, from] = [round.to, round.from].map(|rank| call.processor(rank));
        Some(Shift { to, value: out[round.to].take()?, from })
    });
    p.exchange(call.tag(0), max_words::<T>(p), steps, |from, value| received[call.rank(from)] = Some(value));
    received.into_iter().flatten().collect()
}
