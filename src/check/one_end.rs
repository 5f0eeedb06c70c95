//! One processor is far away: all that it sends, or all that is sent to it, is late, and all else arrives at once.

use crate::machine::Order;
use crate::params::Ties;
use crate::rules::choice::Rule;
use crate::time::Time;

/// How many such orders there are.
pub(super) fn count(P: usize) -> usize {
    2 * P
}

/// The order with this number: first each sender, then each receiver.
pub(super) fn one_end(P: usize, number: usize, ties: Ties) -> Order {
    let (id, sends) = (number % P, (number / P).is_multiple_of(2));
    let rule = Rule::new(move |message, to, _, most| {
        let is_late = if sends { message.from == id } else { to == id };
        Some(if is_late { most } else { Time::ZERO })
    });
    Order::ruled(rule).with_ties(ties)
}
