//! A few messages are late, and all others arrive at once.
//!
//! Most failures need few messages to be late: then it is these that must be hit, and not the order of all. Of n messages a
//! given one is hit by a run with a probability of 1 in n, and two given ones of 1 in n(n-1)/2. So says PCT of threads whose
//! priorities change at a few places (Burckhardt et al., "A Randomized Scheduler with Probabilistic Guarantees of Finding
//! Bugs", ASPLOS 2010).

use std::collections::HashSet;

use fastrand::Rng;

use crate::machine::Order;
use crate::message::MessageId;
use crate::rules::choice::Rule;
use crate::time::Time;

/// At most so many messages are late.
pub(super) const MOST: usize = 2;

/// So many of these messages are under way for L, and all others arrive at once.
pub(super) fn late_few(messages: &[MessageId], few: usize, seed: u64) -> Order {
    late_only(draw(messages, few, &mut Rng::with_seed(seed)))
}

/// So many of these messages, or all if there are no more.
pub(super) fn draw(messages: &[MessageId], few: usize, dice: &mut Rng) -> HashSet<MessageId> {
    let mut drawn = HashSet::new();
    while drawn.len() < few.min(messages.len()) {
        drawn.insert(messages[dice.usize(..messages.len())]);
    }
    drawn
}

/// These messages are under way for L, and all others arrive at once.
pub(super) fn late_only(late: HashSet<MessageId>) -> Order {
    let late = move |message, _, _, most| Some(if late.contains(&message) { most } else { Time::ZERO });
    Order::ruled(Rule::new(late))
}

/// A lower bound of the probability that so many runs draw so many given messages of n.
pub(super) fn probability(n: usize, few: usize, runs: usize) -> f64 {
    let ways = (0..few).map(|i| (n - i) as f64 / (i + 1) as f64).product::<f64>();
    if n < few { 0.0 } else { 1.0 - (1.0 - 1.0 / ways.max(1.0)).powf(runs as f64) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_likely_is_found() {
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
