//! The broadcast of a vector: in pieces along a chain, or as a whole down a tree.
//!
//! The chain is the "increasing ring" of dense linear algebra: every processor passes each piece on to the
//! next as soon as it has it. The root is done when it has sent the vector once, and the next processor has
//! it first, so the work of these two overlaps with the rest of the broadcast.

use loggp_model::message::{Collective, Payload};
use loggp_predict::collectives::BroadcastPlan;

use super::broadcast::broadcast_in;
use super::call::{BegunCollective, VectorPiece, rank_and_size};
use super::levels::planning_params;
use crate::proc::Proc;

/// Gives the root's vector to every processor. The root gives `Some`, the others `None`, and all know the
/// number of its `elements`.
///
/// **Time**: that of [`BroadcastPlan::best`], in pieces along a chain or as a whole down the tree of
/// [`broadcast`](super::broadcast()).
///
/// ```
/// use loggp::collectives::{self, BroadcastPlan};
/// use loggp::{Machine, Params, US};
///
/// let params = Params::builder(5).L(6 * US).o(2 * US).g(4 * US).build()?;
/// let run = Machine::new(params).run(|p| {
///     collectives::broadcast_vector(p, 2, 100, (p.id() == 2).then(|| vec![1.5; 100]))
/// })?;
/// assert_eq!(run.results, vec![vec![1.5; 100]; 5]);
/// assert_eq!(run.time, BroadcastPlan::best::<f64>(&params, 5, 100).time);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[track_caller]
pub fn broadcast_vector<T: Payload + Clone>(
    p: &mut Proc,
    root: usize,
    elements: usize,
    vector: Option<Vec<T>>,
) -> Vec<T> {
    let plan = BroadcastPlan::best::<T>(planning_params(p), rank_and_size(p).1, elements);
    broadcast_along(p, plan, root, elements, vector)
}

/// Gives the root's vector to every processor as [`broadcast_vector`] does, but always along the chain: root,
/// root + 1, and so on. Processors return in the order of the chain, the root first.
///
/// **Time**: that of [`BroadcastPlan::chain`].
///
/// ```
/// use loggp::{Machine, Params, US, collectives};
///
/// // The last processor has the second number 4 us after the first; the root is done at 6 us.
/// let params = Params::builder(3).L(6 * US).o(2 * US).g(4 * US).build()?;
/// let run = Machine::new(params).run(|p| {
///     let numbers = collectives::broadcast_chain(p, 0, 2, (p.id() == 0).then(|| vec![7_u64, 8]));
///     (numbers, p.now())
/// })?;
/// assert!(run.results.iter().all(|(numbers, _)| *numbers == [7, 8]));
/// assert_eq!((run.results[0].1, run.results[2].1), (6 * US, 24 * US));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[track_caller]
pub fn broadcast_chain<T: Payload + Clone>(
    p: &mut Proc,
    root: usize,
    elements: usize,
    vector: Option<Vec<T>>,
) -> Vec<T> {
    let plan = BroadcastPlan::chain::<T>(planning_params(p), rank_and_size(p).1, elements);
    broadcast_along(p, plan, root, elements, vector)
}

/// Broadcasts a vector as planned.
#[track_caller]
fn broadcast_along<T: Payload + Clone>(
    p: &mut Proc,
    plan: BroadcastPlan,
    root: usize,
    elements: usize,
    vector: Option<Vec<T>>,
) -> Vec<T> {
    let call = BegunCollective::begin_with_root(p, Collective::Broadcast, root);
    let given = vector.as_ref().map_or(elements, Vec::len);
    if given != elements {
        p.fail_misused(format!(
            "gave a vector of {given} elements to a broadcast of {elements}; give as many"
        ));
    }
    let Some(piece) = plan.piece else { return broadcast_in(p, &call, root, vector) };
    let (id, P) = (call.id, call.P);
    let next = (id + 1) % P;
    if let Some(vector) = call.root_value(p, root, vector, "value") {
        if P > 1 {
            for (number, elements) in vector.chunks(piece).enumerate() {
                call.send(p, next, 0, VectorPiece { number, elements: elements.to_vec() });
            }
        }
        return vector;
    }
    let mut pieces: Vec<VectorPiece<T>> = Vec::new();
    for _ in 0..elements.div_ceil(piece) {
        let piece: VectorPiece<T> = call.recv(p, (id + P - 1) % P, 0);
        if next != root {
            call.send(p, next, 0, piece.clone());
        }
        pieces.push(piece);
    }
    // Pieces may have overtaken each other.
    pieces.sort_unstable_by_key(|piece| piece.number);
    let mut pieces = pieces.into_iter().map(|piece| piece.elements);
    let mut vector = pieces.next().unwrap_or_default();
    vector.reserve_exact(elements - vector.len());
    pieces.for_each(|piece| vector.extend(piece));
    vector
}
