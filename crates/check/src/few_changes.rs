//! Processors have high or low priority, and few processors change theirs: PCT, the scheduler of few
//! priorities (Burckhardt et al., "A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs",
//! ASPLOS 2010), for messages instead of threads.
//!
//! A message of a processor of low priority is under way for L, and one of a processor of high priority
//! arrives at once. Few changes are drawn among the messages: each switches its sender's priority from that
//! message on. So a few numbers describe many late messages: all but one of a broadcast, say, or one phase of
//! a protocol.
//!
//! With k messages, a run draws c particular changes with a probability of 1 in k(k-1)...(k-c+1)/c!, which is
//! no less than PCT's 1/k^c. In every second run one of n processors starts with low priority, and a
//! particular one does with 1/n of that probability. PCT's depth d is c + 1.

use std::collections::BTreeSet;

use fastrand::Rng;
use loggp_model::message::MessageId;
use loggp_model::rules::choice::LatencyRule;
use loggp_model::time::Time;
use loggp_trace::Order;

use super::late_few::draw;

/// The most changes in a run.
pub(super) const MAX_CHANGES: usize = 3;

/// Returns the number of changes in a run.
pub(super) fn change_count(number: usize) -> usize {
    1 + number / 2 % MAX_CHANGES
}

/// Returns whether all processors start with high priority in a run.
pub(super) fn is_all_high(number: usize) -> bool {
    number.is_multiple_of(2)
}

/// Draws an order: `messages` are those that can be changes, and one of `P` processors may start with low
/// priority.
pub(super) fn few_changes(messages: &[MessageId], P: usize, number: usize, seed: u64) -> Order {
    let mut dice = Rng::with_seed(seed);
    let changes = draw(messages, change_count(number), &mut dice).into_iter().collect();
    let low_priority = (!is_all_high(number)).then(|| dice.usize(..P));
    let rule = LatencyRule::new(move |message, _, _, most| {
        Some(if is_late(&changes, low_priority, message) { most } else { Time::ZERO })
    });
    Order::from_rule(rule)
}

/// Returns whether a message's sender has low priority when it sends the message.
fn is_late(changes: &BTreeSet<MessageId>, low_priority: Option<usize>, message: MessageId) -> bool {
    let first = MessageId { number: 0, ..message };
    let changed = changes.range(first..=message).count();
    (low_priority == Some(message.from)) != (changed % 2 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sender_is_late_from_one_change_to_the_next() {
        let message = |from, number| MessageId { from, number };
        let changes = BTreeSet::from([message(1, 2), message(1, 4), message(2, 0)]);
        let late = |low_priority: Option<usize>, from: usize| -> Vec<usize> {
            (0..6).filter(|number| is_late(&changes, low_priority, message(from, *number))).collect()
        };
        assert_eq!((late(None, 0), late(None, 1)), (vec![], vec![2, 3]));
        assert_eq!((late(None, 2), late(Some(2), 2)), (vec![0, 1, 2, 3, 4, 5], vec![]));
        assert_eq!((late(Some(0), 0), late(Some(1), 1)), (vec![0, 1, 2, 3, 4, 5], vec![0, 1, 4, 5]));
    }
}
