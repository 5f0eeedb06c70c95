//! A strategy in which one processor is far away: all messages from it, or all to it, are late, and all others arrive at once.

use loggp_model::params::Ties;
use loggp_model::rules::choice::LatencyRule;
use loggp_model::time::Time;
use loggp_trace::Order;

/// Returns the number of such orders.
pub(super) fn count(P: usize) -> usize {
    2 * P
}

/// Returns the order with this number: first each sender's, then each receiver's.
pub(super) fn one_end(P: usize, number: usize, ties: Ties) -> Order {
    let (id, sends) = (number % P, (number / P).is_multiple_of(2));
    let rule = LatencyRule::new(move |message, to, _, most| {
        let is_late = if sends { message.from == id } else { to == id };
        Some(if is_late { most } else { Time::ZERO })
    });
    Order { ties, ..Order::from_rule(rule) }
}
