//! Anything goes: latencies and ties are drawn, or only ties.

use crate::machine::Order;
use crate::params::{Latency, Ties};

/// Latencies are drawn from 0 to L, and so are ties.
pub(super) fn random(seed: u64) -> Order {
    Order::drawn(Latency::Random { seed }, Ties::Random { seed })
}

/// Latencies are exact, and ties are drawn.
pub(super) fn ties(seed: u64) -> Order {
    Order::drawn(Latency::Exact, Ties::Random { seed })
}
