//! All-gather: every processor gets the values of all.

use loggp_model::message::{Collective, Payload};
use loggp_model::params::LongMessages;
use loggp_predict::collectives::{all_to_all_time, elements_per_word, time_of_steps};
use loggp_schedule::rounds::bruck;

use super::all_to_all::all_to_all_in;
use super::call::{BegunCollective, VectorPiece, rank_and_size, words_of};
use super::levels::{level_steps, planning_params};
use crate::proc::Proc;

/// Gives the values of all processors to all, in the order of their numbers.
///
/// Either every processor sends its value to every other, as in [`all_to_all()`](super::all_to_all()), or it
/// takes R = ceil(log2 P) steps: in step i every processor sends the 2^i values that it has, or as many as
/// are missing, to the processor 2^i before it, and receives as many. The formulas below decide for values of
/// k words, where k is the length of the type's values ([`Payload::SIZE`]), or 1 if they differ.
///
/// **Time**, for P > 1: in steps (R-1) max(L + 2o, g) + L + 2o + ((P-1)k - R)G. Exact for every P if all call
/// at once, no earlier gap is running, and no port has to carry two messages at once: no message is longer
/// than L, or the ports are dual. Otherwise the time of `all_to_all`, which is chosen where (P-2)
/// max((k-1)G + g, 2o) + L + 2o + (k-1)G is less.
///
/// ```
/// use loggp::{Machine, Params, US, collectives};
///
/// let params = Params::builder(6).L(8 * US).o(2 * US).g(4 * US).build()?;
/// let run = Machine::new(params).run(|p| {
///     collectives::all_gather(p, 10 * p.id())
/// })?;
/// assert_eq!(run.results[4], [0, 10, 20, 30, 40, 50]);
/// assert_eq!(run.time, (4 * 4 + 8 + 2 * 2) * US);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[track_caller]
pub fn all_gather<T: Payload + Clone>(p: &mut Proc, value: T) -> Vec<T> {
    let steps = level_steps(p);
    if steps.is_empty() {
        let k = words_of::<T>(p, 1);
        return all_gather_words(p, value, k);
    }
    let mut values = vec![value];
    for step in &steps {
        let k = words_of::<T>(p, values.len());
        values = all_gather_words(&mut p.within(&step.group), values, k).into_iter().flatten().collect();
    }
    // They are ordered by the last step's digit, then by the digit of the step before, and so on.
    let index = |id: usize| {
        steps.iter().rev().fold(0, |index, step| index * step.group.members().len() + step.rank(id))
    };
    let mut values: Vec<Option<T>> = values.into_iter().map(Some).collect();
    (0..p.P()).map(|id| values[index(id)].take().expect("each has an index of its own")).collect()
}

/// Gathers values of about `k` words.
#[track_caller]
fn all_gather_words<T: Payload + Clone>(p: &mut Proc, value: T, k: usize) -> Vec<T> {
    let call = BegunCollective::begin(p, Collective::AllGather);
    let (id, P) = (call.id, call.P);
    // (R-1) max(L + 2o, g) + L + 2o + ((P-1)k - R)G.
    let in_steps =
        time_of_steps(planning_params(p), bruck(P, id).map(|round| k.saturating_mul(round.values)));
    if all_to_all_time(planning_params(p), P, k) < in_steps {
        return all_to_all_in(p, &call, vec![value; P]);
    }
    // The values of this processor and of the processors after this one.
    let mut values = vec![value];
    for (step, round) in bruck(P, id).enumerate() {
        let mine = values[..round.values].to_vec();
        let theirs = call.send_recv(p, round.to, mine, round.from, step);
        values.extend(theirs);
    }
    values.rotate_right(id);
    values
}

/// Gives the vectors of all processors to all, in the order of their numbers. Every processor knows the
/// number of `elements` of each.
///
/// Long vectors are sent as by [`all_gather`]. A LogP machine has no long messages: there every word is a
/// message, and the processors send theirs as in the optimal all-to-all broadcast (Karp et al., section 5.1),
/// first to the next processor and last to the one before.
///
/// **Time**: that of `all_gather` for the words of the longest vector, as a bound; word by word L + 2o +
/// (n(P-1) - 1) max(g, 2o), for vectors of n words. That is exact for equal vectors, if all call at once, no
/// earlier gap is running, and no reception delays a send, as with o = 0.
///
/// ```
/// use loggp::{Machine, Params, US, collectives};
///
/// let params = Params::builder(3).L(8 * US).o(US).g(4 * US).build()?;
/// let run = Machine::new(params).run(|p| {
///     collectives::all_gather_vector(p, &[2, 2, 2], vec![p.id(); 2])
/// })?;
/// assert_eq!(run.results[1], [[0, 0], [1, 1], [2, 2]]);
/// assert_eq!(run.time, (8 + 2 + 3 * 4) * US);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[track_caller]
pub fn all_gather_vector<T: Payload + Clone>(
    p: &mut Proc,
    elements: &[usize],
    vector: Vec<T>,
) -> Vec<Vec<T>> {
    let (id, P) = rank_and_size(p);
    if elements.len() != P || elements[id] != vector.len() {
        let (given, told) = (vector.len(), elements.get(id).copied().unwrap_or(0));
        p.fail_misused(format!(
            "gave {given} elements to an all-gather of {P} vectors, where {told} were announced"
        ));
    }
    let longest = elements.iter().max().copied().unwrap_or(0);
    let k = words_of::<T>(p, longest);
    if planning_params(p).long != LongMessages::LogP || k == 1 {
        return all_gather_words(p, vector, k);
    }
    let call = BegunCollective::begin(p, Collective::AllGather);
    let piece = elements_per_word::<T>(planning_params(p));
    let others = (0..P).filter(|from| *from != id);
    let expected = others.fold(0_usize, |sum, from| sum.saturating_add(elements[from].div_ceil(piece)));
    let mut received: Vec<(usize, VectorPiece<T>)> = Vec::new();
    let tag = call.tag::<VectorPiece<T>>(0);
    for (number, elements) in vector.chunks(piece).enumerate() {
        for distance in 1..P {
            let (to, value) = ((id + distance) % P, VectorPiece { number, elements: elements.to_vec() });
            p.send_receiving(call.processor(to), tag, value, tag.with_sender(), |_, (from, piece)| {
                received.push((call.rank(from), piece))
            });
        }
    }
    while received.len() < expected {
        received.push(call.recv_any(p, 0));
    }
    received.sort_unstable_by_key(|(from, piece)| (*from, piece.number));
    let mut vectors: Vec<Vec<T>> = elements.iter().map(|_| Vec::new()).collect();
    vectors[id] = vector;
    received.into_iter().for_each(|(from, piece)| vectors[from].extend(piece.elements));
    vectors
}
