//! The broadcast of a vector: in pieces along a chain, or as a whole down a tree.
//!
//! The chain is the one that dense linear algebra uses ("increasing ring"): every processor passes each piece on to the
//! next one as soon as it has it. The root is done when it has sent the vector once, and the next one has it first; so
//! what these two do next overlaps with what the others still pass on.

use std::cmp::Reverse;

use super::broadcast::{broadcast_by, soonest};
use super::call::{Call, Piece, place};
use super::costs::{MessageCost, elements_of_a_word};
use super::levels::plan;
use crate::message::{Collective, Payload};
use crate::params::{LongMessages, Params};
use crate::proc::Proc;
use crate::time::Time;

/// How a vector travels from one processor to all others, and how long that takes.
///
/// ```
/// use loggp::collectives::Course;
/// use loggp::{Params, US};
///
/// // LogP has no long messages, so 100 numbers are 100 messages, one every max(g, 2o).
/// let params = Params::builder(8).L(6 * US).o(2 * US).g(4 * US).build()?;
/// let course = Course::chain::<u64>(&params, 8, 100);
/// assert_eq!((course.piece, course.time), (Some(1), 99 * (4 * US) + 7 * (10 * US)));
/// # Ok::<(), loggp::ParamsError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Course {
    /// The elements of a piece that the chain passes on; nothing, if the vector goes down a tree as a whole.
    pub piece: Option<usize>,
    /// The time until the last processor has the last element.
    pub time: Time,
}

impl Course {
    /// A chain of `P` processors that passes on a vector of so many elements, in the pieces that take least time.
    ///
    /// For q pieces of m words: (P-1) (L + 2o + (m-1)G) + (q-1) d, with d = max((m-1)G + g, 2o). Exact if all pieces have m
    /// words and the ports are dual or m is 1. With single ports a processor cannot pass on while it receives: d is
    /// 2(m-1)G, if that is more. A machine of LogP has no long messages, so a piece is one word there, or one element.
    pub fn chain<T: Payload>(params: &Params, P: usize, elements: usize) -> Course {
        let size = T::SIZE.unwrap_or(1).max(1);
        let word = elements_of_a_word::<T>(params);
        let course = |piece: usize| {
            let MessageCost { send, recv, stream, gap, way } =
                MessageCost::of(params, params.words(piece * size));
            let further = elements.div_ceil(piece) as i64 - 1;
            let time = match P {
                1 => Time::ZERO,
                2 => way + further * gap.max(send).max(recv),
                _ => (P as i64 - 1) * way + further * gap.max(send + recv).max(2 * stream),
            };
            Course { piece: Some(piece), time }
        };
        if params.long == LongMessages::LogP {
            return course(word);
        }
        let doubled = |piece: &usize| (*piece < elements).then_some(2 * piece);
        let pieces = std::iter::successors(Some(word), doubled);
        // Of pieces that take as long the longest: fewer messages are less for the host to do.
        let least = pieces.map(course).min_by_key(|course| (course.time, Reverse(course.piece)));
        least.expect("there is a piece of a word")
    }

    /// The chain, or the optimal tree for the whole vector where that takes less time.
    pub fn best<T: Payload>(params: &Params, P: usize, elements: usize) -> Course {
        let chain = Course::chain::<T>(params, P, elements);
        let k = params.words(elements * T::SIZE.unwrap_or(1));
        if P == 1 || params.long == LongMessages::LogP && k > 1 {
            return chain;
        }
        let time = soonest(params, P, k);
        if time < chain.time { Course { piece: None, time } } else { chain }
    }
}

/// Gives the root's vector to every processor. The root gives `Some`, the others `None`, and all know how many `elements`
/// it has.
///
/// **Time**: [`Course::best`]: in pieces along a chain, or as a whole down the tree of [`broadcast`](super::broadcast()).
///
/// ```
/// use loggp::collectives::{self, Course};
/// use loggp::{Machine, Params, US};
///
/// let params = Params::builder(5).L(6 * US).o(2 * US).g(4 * US).build()?;
/// let run = Machine::new(params).run(|p| {
///     collectives::broadcast_vector(p, 2, 100, (p.id() == 2).then(|| vec![1.5; 100]))
/// })?;
/// assert_eq!(run.results, vec![vec![1.5; 100]; 5]);
/// assert_eq!(run.time, Course::best::<f64>(&params, 5, 100).time);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[track_caller]
pub fn broadcast_vector<T: Payload + Clone>(
    p: &mut Proc,
    root: usize,
    elements: usize,
    vector: Option<Vec<T>>,
) -> Vec<T> {
    let course = Course::best::<T>(plan(p), place(p).1, elements);
    along(p, course, root, elements, vector)
}

/// The same, always along the chain: root, root + 1, and so on. Whoever comes first in it can go on first, and the root
/// before all others.
///
/// **Time**: [`Course::chain`].
///
/// ```
/// use loggp::{Machine, Params, US, collectives};
///
/// // The last one has the second number 4 us after the first; the root was done at 6 us.
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
    let course = Course::chain::<T>(plan(p), place(p).1, elements);
    along(p, course, root, elements, vector)
}

/// Sends a vector on its course.
#[track_caller]
fn along<T: Payload + Clone>(
    p: &mut Proc,
    course: Course,
    root: usize,
    elements: usize,
    vector: Option<Vec<T>>,
) -> Vec<T> {
    let call = Call::begin_at(p, Collective::Broadcast, root);
    let given = vector.as_ref().map_or(elements, Vec::len);
    if given != elements {
        p.misused(format!("gave a vector of {given} elements to a broadcast of {elements}; give as many"));
    }
    let Some(piece) = course.piece else { return broadcast_by(p, &call, root, vector) };
    let (id, P) = (call.id, call.P);
    let next = (id + 1) % P;
    if let Some(vector) = call.given(p, root, vector, "value") {
        if P > 1 {
            for (number, elements) in vector.chunks(piece).enumerate() {
                call.send(p, next, 0, Piece { number, elements: elements.to_vec() });
            }
        }
        return vector;
    }
    let mut pieces: Vec<Piece<T>> = Vec::with_capacity(elements.div_ceil(piece));
    for _ in 0..elements.div_ceil(piece) {
        let piece: Piece<T> = call.recv(p, (id + P - 1) % P, 0);
        if next != root {
            call.send(p, next, 0, piece.clone());
        }
        pieces.push(piece);
    }
    pieces.sort_unstable_by_key(|piece| piece.number); // they may have overtaken each other
    let mut pieces = pieces.into_iter().map(|piece| piece.elements);
    let mut vector = pieces.next().unwrap_or_default();
    vector.reserve_exact(elements - vector.len());
    pieces.for_each(|piece| vector.extend(piece));
    vector
}
