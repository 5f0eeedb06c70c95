//! The lengths and times of messages, from which the collectives' formulas are made.

use loggp_model::message::Payload;
use loggp_model::params::Params;
use loggp_model::time::{Time, factor};

/// The times of a message of k words.
pub struct MessageCost {
    /// Send overhead: o.
    pub send: Time,
    /// Receive overhead: o.
    pub recv: Time,
    /// From its first word to its last: (k-1)G.
    pub stream: Time,
    /// From its start to that of the next message: (k-1)G + g.
    pub gap: Time,
    /// From its start to the end of its reception: L + 2o + (k-1)G.
    pub transit: Time,
}

impl MessageCost {
    pub fn new(params: &Params, k: usize) -> MessageCost {
        let (send, recv, stream) = (params.send_overhead(k), params.recv_overhead(k), params.stream(k));
        MessageCost { send, recv, stream, gap: stream + params.g, transit: send + params.L + stream + recv }
    }

    /// Returns the time of P - 1 messages that one processor sends or receives in a row, if each keeps it
    /// busy for `busy`: L + 2o + (k-1)G + (P-2) max((k-1)G + g, busy).
    pub fn row_time(&self, P: usize, busy: Time) -> Time {
        self.transit + factor(P.saturating_sub(2)) * self.gap.max(busy)
    }
}

/// Returns the time of steps in which a processor sends a message of as many words as `steps` says, and
/// continues when the step's message is received and the gap is over. The last gap is not waited for.
pub fn time_of_steps(params: &Params, steps: impl DoubleEndedIterator<Item = usize>) -> Time {
    let costs = steps.map(|k| MessageCost::new(params, k)).rev();
    costs.enumerate().map(|(i, cost)| if i == 0 { cost.transit } else { cost.transit.max(cost.gap) }).sum()
}

/// Returns the number of elements in a word, at least one: the content of a message where there are no long
/// messages.
pub fn elements_per_word<T: Payload>(params: &Params) -> usize {
    (params.word.get() / T::SIZE.unwrap_or(1).max(1)).max(1)
}
