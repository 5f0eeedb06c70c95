//! Latencies and ties are drawn, or only ties.

use loggp_model::params::{Latency, Ties};
use loggp_trace::Order;

/// Returns an order in which latencies from 0 to L and ties are drawn.
pub(super) fn random(seed: u64) -> Order {
    Order { latency: Latency::Random { seed }, ties: Ties::Random { seed }, ..Order::default() }
}

/// Returns an order in which latencies are exact and ties are drawn.
pub(super) fn ties(seed: u64) -> Order {
    Order { ties: Ties::Random { seed }, ..Order::default() }
}
