//! Latencies and ties are drawn, or only ties.

use crate::machine::Order;
use crate::params::{Latency, Ties};

/// Returns an order in which latencies from 0 to L and ties are drawn.
pub(super) fn random(seed: u64) -> Order {
    Order::random(Latency::Random { seed }, Ties::Random { seed })
}

/// Returns an order in which latencies are exact and ties are drawn.
pub(super) fn ties(seed: u64) -> Order {
    Order::random(Latency::Exact, Ties::Random { seed })
}
