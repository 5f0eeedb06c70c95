//! How long messages are and how long they take, from which the collectives' formulas are made.

use crate::message::Payload;
use crate::params::Params;
use crate::proc::Proc;
use crate::time::Time;

/// What a message of k words costs.
pub(super) struct MessageCost {
    /// How long its sender is busy: o.
    pub send: Time,
    /// How long its receiver is busy: o.
    pub recv: Time,
    /// How long its last word follows the first: (k-1)G.
    pub stream: Time,
    /// From its beginning to that of the next one: (k-1)G + g.
    pub gap: Time,
    /// How long it is under way: L + 2o + (k-1)G.
    pub way: Time,
}

impl MessageCost {
    pub(super) fn of(params: &Params, k: usize) -> MessageCost {
        let (send, recv, stream) = (params.send_overhead(k), params.recv_overhead(k), params.stream(k));
        MessageCost { send, recv, stream, gap: stream + params.g, way: send + params.L + stream + recv }
    }

    /// How long P - 1 of them take that one processor sends or receives, if each keeps it busy for so long:
    /// L + 2o + (k-1)G + (P-2) max((k-1)G + g, busy).
    pub(super) fn in_a_row(&self, P: usize, busy: Time) -> Time {
        self.way + (P as i64 - 2) * self.gap.max(busy)
    }
}

/// How long it takes if a processor sends so many words in each step, and goes on when what came in the step is received
/// and the gap over. Nobody waits for the last gap.
pub(super) fn time_of_steps(params: &Params, steps: impl DoubleEndedIterator<Item = usize>) -> Time {
    let costs = steps.map(|k| MessageCost::of(params, k)).rev();
    costs.enumerate().map(|(i, cost)| if i == 0 { cost.way } else { cost.way.max(cost.gap) }).sum()
}

/// The length in words of the longest message with a value, as far as the type tells: by that all know alike whether one
/// may have to wait for its receiver (LogGPS).
pub(super) fn longest<T: Payload>(p: &Proc) -> usize {
    T::SIZE.map_or(usize::MAX, |size| p.params().words(size))
}

/// The length of a message of n values, as far as their type tells: a word each, if they differ.
pub(super) fn words_of<T: Payload>(p: &Proc, n: usize) -> usize {
    T::SIZE.map_or(n, |size| p.params().words(n * size))
}

/// How many elements fit into a word, and at least one: what is sent where there are no long messages.
pub(super) fn elements_of_a_word<T: Payload>(params: &Params) -> usize {
    (params.word.get() / T::SIZE.unwrap_or(1).max(1)).max(1)
}

/// 1, 2, 4 ... below P.
pub(super) fn distances(P: usize) -> impl DoubleEndedIterator<Item = usize> {
    (0..P.next_power_of_two().ilog2()).map(|step| 1 << step)
}
