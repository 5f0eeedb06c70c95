//! A few messages are late, and all others arrive at once.
//!
//! Most failures need only few messages to be late, so drawing these is likelier to find them than drawing
//! the order of all messages. Of n messages, a run draws a particular one with a probability of 1 in n, and a
//! particular pair with 1 in n(n-1)/2. PCT argues the same for threads whose priorities change at a few
//! places (Burckhardt et al., "A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs", ASPLOS
//! 2010).

use std::collections::HashSet;

use fastrand::Rng;
use loggp_model::message::MessageId;
use loggp_model::rules::choice::LatencyRule;
use loggp_model::time::Time;
use loggp_trace::Order;

/// The most late messages in a run.
pub(super) const MAX_LATE: usize = 2;

/// Draws an order in which `few` of these messages are under way for L, and all others arrive at once.
pub(super) fn late_few(messages: &[MessageId], few: usize, seed: u64) -> Order {
    late_only(draw(messages, few, &mut Rng::with_seed(seed)))
}

/// Draws `few` of these messages, or all if there are no more.
pub(super) fn draw(messages: &[MessageId], few: usize, dice: &mut Rng) -> HashSet<MessageId> {
    let mut drawn = HashSet::new();
    while drawn.len() < few.min(messages.len()) {
        drawn.insert(messages[dice.usize(..messages.len())]);
    }
    drawn
}

/// Returns the order in which these messages are under way for L, and all others arrive at once.
pub(super) fn late_only(late: HashSet<MessageId>) -> Order {
    let late = move |message, _, _, most| Some(if late.contains(&message) { most } else { Time::ZERO });
    Order::from_rule(LatencyRule::new(late))
}

/// Returns a lower bound of the probability that one of `runs` runs draws `few` particular messages of `n`.
pub(super) fn probability(n: usize, few: usize, runs: usize) -> f64 {
    let ways = (0..few).map(|i| (n - i) as f64 / (i + 1) as f64).product::<f64>();
    if n < few { 0.0 } else { 1.0 - (1.0 - 1.0 / ways.max(1.0)).powf(runs as f64) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probability_bound_is_exact_for_small_cases() {
        let expected = [
            ((1, 1, 1), 1.0),
            ((1, 2, 9), 0.0),
            ((4, 1, 1), 0.25),
            ((4, 2, 1), 1.0 / 6.0),
            ((10, 2, 100), 1.0 - (44.0_f64 / 45.0).powi(100)),
        ];
        for ((n, few, runs), expected) in expected {
            assert!((probability(n, few, runs) - expected).abs() < 1e-12, "{few} of {n} in {runs} runs");
        }
    }
}
