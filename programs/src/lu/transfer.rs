//! Numbers that two processors exchange: in a message where the machine has long ones, and else word by word.

use loggp::{LongMessages, Params, Payload, Proc, Tag};

/// Numbers on their way, by elimination step.
const VALUES: Tag<Numbered> = Tag::named(1, "values");

/// Some of the numbers. Those behind may overtake those before.
#[derive(Payload)]
struct Numbered {
    /// How many messages come before.
    #[payload(free)]
    number: usize,
    /// The numbers; a message counts for these.
    values: Vec<f64>,
}

/// How many numbers a message has, if there are so many.
pub fn per_message(params: &Params, values: usize) -> usize {
    match params.long {
        LongMessages::LogP => (params.word.get() / size_of::<f64>()).max(1),
        _ => values.max(1),
    }
}

/// Sends numbers to one processor, and gets so many from another. `step` is another for every exchange,
/// and for everyone from whom something may come.
pub fn shift(
    p: &mut Proc,
    step: usize,
    to: usize,
    values: Vec<f64>,
    from: usize,
    expected: usize,
) -> Vec<f64> {
    let tag = VALUES.step(step);
    let [sends, receptions] =
        [values.len(), expected].map(|values| values.div_ceil(per_message(p.params(), values)));
    if p.params().long != LongMessages::LogP && sends == 1 && receptions == 1 {
        return p.send_recv(to, Numbered { number: 0, values }, from, tag).values;
    }
    let mut came = Vec::with_capacity(receptions);
    for (number, values) in values.chunks(per_message(p.params(), values.len())).enumerate() {
        let values = Numbered { number, values: values.to_vec() };
        p.send_receiving(to, tag, values, tag, |_, _, values| came.push(values));
    }
    while came.len() < receptions {
        came.push(p.recv_from(from, tag));
    }
    came.sort_unstable_by_key(|values: &Numbered| values.number);
    came.into_iter().flat_map(|values| values.values).collect()
}
