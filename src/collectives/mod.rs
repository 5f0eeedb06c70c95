//! Operations in which every processor takes part, made of messages.
//!
//! | operation | what it does | time, for values of a word |
//! |---|---|---|
//! | [`barrier()`] | nobody leaves before all have come | (R-1) max(L + 2o, g) + L + 2o |
//! | [`broadcast()`] | one processor's value to all | the optimal tree's: D = L + 2o, d = max(g, o) |
//! | [`broadcast_vector`] | a vector of one processor to all | down the tree, or in pieces along a chain: [`Course`] |
//! | [`reduce()`] | those of all, combined, to one | backwards: D = L + 2o + c, d = max(g, o + c) |
//! | [`all_reduce`] | the same, to all | (R-1) max(L + 2o + c, g) + L + 2o + c, if P = 2^R |
//! | [`all_max`] | the largest of all, its place, and what came with it, to all | `all_reduce`'s |
//! | [`scan()`] | to x the values of 0 to x, combined | (R-1) max(L + 2o + c, g) + L + 2o + c |
//! | [`exclusive_scan`] | to x the values of 0 to x - 1, combined | the same, and c more in R - 2 steps |
//! | [`gather()`] | the values of all to one | L + 2o + (P-2) max(g, o), or a binomial tree's |
//! | [`scatter()`] | a value of one processor to each | L + 2o + (P-2) max(g, o), or a binomial tree's |
//! | [`all_gather()`] | the values of all to all | (R-1) max(L + 2o, g) + L + 2o + (P-1-R)G, or `all_to_all`'s |
//! | [`all_gather_vector`] | the vectors of all to all | `all_gather`'s, or word by word (n(P-1) - 1) max(g, 2o) + L + 2o |
//! | [`all_to_all()`] | a value from each to each | (P-2)g + L + 2o |
//! | [`reduce_scatter()`] | a value from each to each, combined | `all_to_all`'s, and (P-1)c |
//! | [`reduce_vector`] | vectors by elements, to one | as `reduce`, or `all_to_all` and `gather` of parts |
//! | [`all_reduce_vector`] | the same, to all | as `all_reduce`, or two `all_to_all` of parts |
//! | [`scan_vector`] | to x the vectors of 0 to x, combined | as `scan`, or two `all_to_all` of parts |
//!
//! R is ceil(log2 P), and c is what it costs to combine two values, a unit of the work "combine".
//! Each says its time as a formula, and when that is exact. The formulas are for LogP and LogGP; on a LogGPS
//! machine the operations work, and the formulas hold with its overheads where no message waits for its
//! receiver. Where work is measured, combining costs what it takes.
//!
//! Rows and columns of a grid, or any [`Group`](crate::Group), call them as `collectives::reduce(&mut p.within(&row), ..)`:
//! P is the number of members then, and they are counted by rank.
//!
//! Every processor calls them, in the same order. Their messages have tags that no program can name, with the
//! number of the call in them; so they take no other messages, and two calls in a row do not mix, in
//! whichever order messages arrive. If processors call different ones, the run ends with an error.
//!
//! They are programs like all others: a message costs what it costs, and nothing is free. A processor returns
//! as soon as its part is done.

mod all_gather;
mod all_to_all;
mod barrier;
mod broadcast;
mod chain;
mod exchange;
mod gather;
mod reduce;
mod reduce_scatter;
mod scan;
mod scatter;
mod tree;
mod vector;
mod within;

pub use all_gather::{all_gather, all_gather_vector};
pub use all_to_all::all_to_all;
pub use barrier::barrier;
pub use broadcast::broadcast;
pub use chain::{Course, broadcast_chain, broadcast_vector};
pub use exchange::Shift;
pub use gather::gather;
pub use reduce::{Maximum, all_max, all_reduce, reduce};
pub use reduce_scatter::reduce_scatter;
pub use scan::{exclusive_scan, scan};
pub use scatter::scatter;
pub use vector::{all_reduce_vector, reduce_vector, scan_vector};
pub use within::Within;

use crate::message::{Collective, Payload, RawTag, Tag};
use crate::params::Params;
use crate::proc::{Acting, Proc};
use crate::time::Time;

/// One call of a collective, on one processor.
struct Call {
    /// What is called.
    kind: Collective,
    /// How many collectives were called before.
    number: u32,
    /// Who calls it, if not all.
    group: Option<Acting>,
    /// The processor's rank among those who call it: its number, if all do.
    id: usize,
    /// How many call it.
    P: usize,
}

impl Call {
    fn begin(p: &mut Proc, kind: Collective) -> Call {
        let number = p.begin_collective();
        let (id, P) = place(p);
        Call { kind, number, group: p.acting().cloned(), id, P }
    }

    /// The tag of this call's messages in a step.
    fn tag<T>(&self, step: usize) -> Tag<T> {
        let group = self.group.as_ref().map_or(0, |acting| acting.number);
        Tag::of(RawTag::collective(self.kind, group, self.number, step), None)
    }

    /// The processor with a rank.
    fn processor(&self, rank: usize) -> usize {
        self.group.as_ref().map_or(rank, |acting| acting.group.members()[rank])
    }

    /// The rank of a processor that has sent a message of this call.
    fn rank(&self, processor: usize) -> usize {
        self.group.as_ref().and_then(|acting| acting.group.rank(processor)).unwrap_or(processor)
    }

    #[track_caller]
    fn send<T: Payload>(&self, p: &mut Proc, to: usize, step: usize, value: T) {
        p.send(self.processor(to), self.tag(step), value);
    }

    #[track_caller]
    fn recv<T: Payload>(&self, p: &mut Proc, from: usize, step: usize) -> T {
        p.recv_from(self.processor(from), self.tag(step))
    }

    #[track_caller]
    fn recv_any<T: Payload>(&self, p: &mut Proc, step: usize) -> (usize, T) {
        let (from, value) = p.recv(self.tag(step));
        (self.rank(from), value)
    }

    /// Exchanges values with a processor. Where they may have to wait for their receivers (LogGPS), neither waits for the
    /// other to receive; else the message goes first, even if the other one is there.
    #[track_caller]
    fn swap<T: Payload>(&self, p: &mut Proc, other: usize, value: T, step: usize) -> T {
        if p.params().is_synchronous(longest::<T>(p)) {
            return self.send_recv(p, other, value, other, step);
        }
        self.send(p, other, step, value);
        self.recv(p, other, step)
    }

    /// Sends a value to one processor and receives one from another.
    #[track_caller]
    fn send_recv<T: Payload>(&self, p: &mut Proc, to: usize, value: T, from: usize, step: usize) -> T {
        p.send_recv(self.processor(to), value, self.processor(from), self.tag(step))
    }
}

/// The processor's rank among those with whom it acts, and how many these are.
fn place(p: &Proc) -> (usize, usize) {
    match p.acting() {
        None => (p.id(), p.p()),
        Some(Acting { group, rank, .. }) => (*rank, group.members().len()),
    }
}

/// Refuses a root that is not there.
#[track_caller]
fn check_root(p: &mut Proc, root: usize) {
    match p.acting() {
        None => p.check(root, 0),
        Some(Acting { group, .. }) if root >= group.members().len() => {
            let last = group.members().len() - 1;
            let why = format!("named rank {root} in {group}, and there are 0 to {last}");
            p.misused(why)
        }
        Some(_) => (),
    }
}

/// The length in words of the longest message with a value, as far as the type tells: by that all know alike whether one
/// may have to wait for its receiver (LogGPS).
fn longest<T: Payload>(p: &Proc) -> usize {
    T::SIZE.map_or(usize::MAX, |size| p.params().words(size))
}

/// Combines, as so many units of work.
fn combine<R>(p: &mut Proc, units: u64, op: impl FnOnce() -> R) -> R {
    p.work("combine", units, op)
}

/// The length of a message of n values, as far as their type tells: a word each, if they differ.
fn words_of<T: Payload>(p: &Proc, n: usize) -> usize {
    T::SIZE.map_or(n, |size| p.params().words(n * size))
}

/// How many elements fit into a word, and at least one: what is sent where there are no long messages.
fn elements_of_a_word<T: Payload>(params: &Params) -> usize {
    (params.word.get() / T::SIZE.unwrap_or(1).max(1)).max(1)
}

/// Some elements of a vector.
#[derive(Clone)]
struct Piece<T> {
    /// How many pieces of the vector come before it: pieces may overtake each other.
    number: usize,
    /// The elements; a message counts for these.
    elements: Vec<T>,
}

impl<T: Payload> Payload for Piece<T> {
    fn bytes(&self) -> usize {
        self.elements.bytes()
    }
}

/// 1, 2, 4 ... below P.
fn distances(P: usize) -> impl Iterator<Item = usize> {
    (0..P.next_power_of_two().ilog2()).map(|step| 1 << step)
}

/// How long a message of k words is under way: L + 2o + (k-1)G.
fn way(params: &Params, k: usize) -> Time {
    params.send_overhead(k) + params.L + params.stream(k) + params.recv_overhead(k)
}
