//! The times of collectives by the parameters, from which every processor plans its part of one.

mod costs;
mod tree;
mod vector;

use loggp_model::params::Params;
use loggp_model::time::Time;
use loggp_schedule::rounds::{bruck, distances};

pub use costs::{MessageCost, elements_per_word, time_of_steps};
pub use tree::{Tree, TreePlace};
pub use vector::BroadcastPlan;

/// Returns the time of a broadcast of a value of k words.
pub fn broadcast_time(params: &Params, P: usize, k: usize) -> Time {
    broadcast_tree(params, P, k).time_to_reach(P)
}

/// Returns the optimal trees for P processors and a value of k words.
pub fn broadcast_tree(params: &Params, P: usize, k: usize) -> Tree {
    let cost = MessageCost::new(params, k);
    Tree::new(P, cost.transit, cost.gap.max(cost.send))
}

/// Returns the time of an all-to-all of values of k words: (P-2) max((k-1)G + g, 2o) + L + 2o + (k-1)G.
pub fn all_to_all_time(params: &Params, P: usize, k: usize) -> Time {
    let cost = MessageCost::new(params, k);
    cost.row_time(P, cost.send + cost.recv)
}

/// Returns the time of a gather with the binomial tree: L + 2o + (k-1)G, and so on with doubled k.
pub fn gather_tree_time(params: &Params, P: usize, k: usize) -> Time {
    let way = |k: usize| MessageCost::new(params, k).transit;
    way(k) + distances(P).skip(1).map(|distance| way(k.saturating_mul(distance)).max(params.g)).sum()
}

/// Returns the time of a scatter with the binomial tree: max(L + 2o, g) + L + 2o + ((P-1)k - R)G.
pub fn scatter_tree_time(params: &Params, P: usize, k: usize) -> Time {
    // If P is not a power of two, the first message is shorter; the others are full.
    time_of_steps(params, bruck(P, 0).rev().map(|round| k.saturating_mul(round.values)))
}
