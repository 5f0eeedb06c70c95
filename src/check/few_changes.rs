//! Processors go first or last, and few of them change: PCT, the scheduler of few priorities (Burckhardt et al., "A
//! Randomized Scheduler with Probabilistic Guarantees of Finding Bugs", ASPLOS 2010), for messages instead of threads.
//!
//! What a processor that goes last sends is under way for L, and what one that goes first sends arrives at once. Few changes
//! are drawn among the messages: from such a message on its sender goes last if it went first, and first if it went last. So
//! many messages are late together, and few numbers say which: all but one of a broadcast, say, or one phase of a protocol.
//!
//! Of k messages c given ones are drawn by a run with a probability of 1 in k(k-1)...(k-c+1)/c!, which is no less than
//! PCT's 1/k^c; and with one given processor of n that goes last from the beginning, in every second run, of 1/n of
//! that. PCT's depth d is c + 1.

use std::collections::BTreeSet;

use fastrand::Rng;

use super::late_few::draw;
use crate::machine::Order;
use crate::message::MessageId;
use crate::rules::choice::Rule;
use crate::time::Time;

/// At most so many changes.
pub(super) const MOST: usize = 3;

/// How many changes the run with this number has.
pub(super) fn changes(number: usize) -> usize {
    1 + number / 2 % MOST
}

/// Whether all processors go first at the beginning of that run.
pub(super) fn all_go_first(number: usize) -> bool {
    number.is_multiple_of(2)
}

/// The order with this number: so many of these messages are changes, and one of `P` processors may go last from the
/// beginning.
pub(super) fn few_changes(messages: &[MessageId], P: usize, number: usize, seed: u64) -> Order {
    let mut dice = Rng::with_seed(seed);
    let changes = draw(messages, changes(number), &mut dice).into_iter().collect();
    let last = (!all_go_first(number)).then(|| dice.usize(..P));
    let rule = Rule::new(move |message, _, _, most| {
        Some(if is_late(&changes, last, message) { most } else { Time::ZERO })
    });
    Order::ruled(rule)
}

/// Whether a message's sender goes last when it sends it.
fn is_late(changes: &BTreeSet<MessageId>, last: Option<usize>, message: MessageId) -> bool {
    let first = MessageId { number: 0, ..message };
    let turns = changes.range(first..=message).count();
    (last == Some(message.from)) != (turns % 2 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sender_is_late_from_one_change_to_the_next() {
        let message = |from, number| MessageId { from, number };
        let changes = BTreeSet::from([message(1, 2), message(1, 4), message(2, 0)]);
        let late = |last: Option<usize>, from: usize| -> Vec<usize> {
            (0..6).filter(|number| is_late(&changes, last, message(from, *number))).collect()
        };
        assert_eq!((late(None, 0), late(None, 1)), (vec![], vec![2, 3]));
        assert_eq!((late(None, 2), late(Some(2), 2)), (vec![0, 1, 2, 3, 4, 5], vec![]));
        assert_eq!((late(Some(0), 0), late(Some(1), 1)), (vec![0, 1, 2, 3, 4, 5], vec![0, 1, 4, 5]));
    }
}
