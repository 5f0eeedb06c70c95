//! All-to-all: every processor has a value for every other.

use super::{Call, misused};
use crate::message::{Collective, Payload};
use crate::proc::Proc;

/// Gives `values[y]` to processor y, for every y, and returns what every processor had for this one.
///
/// Staggered (LogP, section 4.1.2; Karp et al., section 5.1): processor x sends to x + 1, x + 2, ... modulo
/// P, and receives while the gaps run. So a message goes and a message comes every g. Its own value takes no
/// message. Where a send may have to wait for its receiver (LogGPS), processors meet in pairs instead.
///
/// **Time**, for values of k words, with d = (k-1)G + g: (P-2)d + L + 2o + (k-1)G. Exact if all come at once,
/// no gap from before is running, and receptions fit between the sends: 2o + (L + (k-1)G) mod d <= d. For
/// k > 1 the ports must be dual too, or streams miss each other: (k-1)G <= L mod d <= d - (k-1)G.
///
/// ```
/// use loggp::{Machine, Params, US, collectives};
///
/// let params = Params::new(4).L(8 * US).o(2 * US).g(4 * US).build()?;
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
    let (id, P) = (p.id(), p.p());
    if values.len() != P {
        let why =
            format!("gave {} values to an all-to-all of {P} processors; give one for each", values.len());
        misused(p, why);
    }
    let mut out: Vec<Option<T>> = values.into_iter().map(Some).collect();
    let mut come: Vec<Option<T>> = (0..P).map(|_| None).collect();
    come[id] = out[id].take();
    if p.params().is_loggp() {
        let mut missing = P - 1;
        for to in (1..P).map(|i| (id + i) % P) {
            let Some(value) = out[to].take() else { continue };
            call.send_receiving(p, to, 0, value, |_, from, value| {
                come[from] = Some(value);
                missing -= 1;
            });
        }
        for _ in 0..missing {
            let (from, value) = call.recv_any(p, 0);
            come[from] = Some(value);
        }
    } else {
        for other in (1..P.next_power_of_two()).map(|i| id ^ i).filter(|other| *other < P) {
            let Some(value) = out[other].take() else { continue };
            come[other] = Some(call.exchange(p, other, 0, value));
        }
    }
    come.into_iter().flatten().collect()
}
