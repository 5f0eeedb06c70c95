//! Numbers that two processors exchange: in one message where the machine has long ones, else word by word.

use loggp::params::LongMessages;
use loggp::{Params, Payload, Proc, Tag};

/// Tag of numbers, by elimination step.
const VALUES: Tag<NumberedValues> = Tag::named(1, "values");

/// Some of the numbers, with the index of their message, as messages may overtake each other.
#[derive(Payload)]
struct NumberedValues {
    /// Number of earlier messages.
    #[payload(free)]
    number: usize,
    /// The numbers, for which alone the message counts.
    values: Vec<f64>,
}

/// Returns how many of `values` numbers a message has.
pub(super) fn values_per_message(params: &Params, values: usize) -> usize {
    match params.long {
        LongMessages::LogP => (params.word.get() / size_of::<f64>()).max(1),
        _ => values.max(1),
    }
}

/// Sends numbers to one processor, and receives `expected` numbers from another. `step` must differ between
/// exchanges, and between all processors from which numbers may arrive.
pub(super) fn shift(
    p: &mut Proc,
    step: usize,
    to: usize,
    values: Vec<f64>,
    from: usize,
    expected: usize,
) -> Vec<f64> {
    let tag = VALUES.step(step);
    let [sends, receptions] =
        [values.len(), expected].map(|values| values.div_ceil(values_per_message(p.params(), values)));
    if p.params().long != LongMessages::LogP && sends == 1 && receptions == 1 {
        return p.send_recv(to, from, tag, NumberedValues { number: 0, values }).values;
    }
    let mut received = Vec::with_capacity(receptions);
    for (number, values) in values.chunks(values_per_message(p.params(), values.len())).enumerate() {
        let values = NumberedValues { number, values: values.to_vec() };
        p.send_receiving(to, tag, values, tag, |_, values| received.push(values));
    }
    while received.len() < receptions {
        received.push(p.recv(tag.from(from)));
    }
    received.sort_unstable_by_key(|values: &NumberedValues| values.number);
    received.into_iter().flat_map(|values| values.values).collect()
}
