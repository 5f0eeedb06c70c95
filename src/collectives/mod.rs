//! Operations in which every processor takes part, made of messages.
//!
//! | operation | what it does | time, for values of a word |
//! |---|---|---|
//! | [`barrier()`] | nobody leaves before all have come | (R-1) max(L + 2o, g) + L + 2o |
//! | [`broadcast()`] | one processor's value to all | the optimal tree's: D = L + 2o, d = max(g, o) |
//! | [`reduce()`] | those of all, combined, to one | backwards: D = L + 2o + c, d = max(g, o + c) |
//! | [`all_reduce`] | the same, to all | (R-1) max(L + 2o + c, g) + L + 2o + c, if P = 2^R |
//! | [`scan()`] | to x the values of 0 to x, combined | (R-1) max(L + 2o + c, g) + L + 2o + c |
//! | [`exclusive_scan`] | to x the values of 0 to x - 1, combined | the same, and c more in R - 2 steps |
//! | [`gather()`] | the values of all to one | L + 2o + (P-2) max(g, o), or a binomial tree's |
//! | [`all_to_all()`] | a value from each to each | (P-2)g + L + 2o |
//! | [`reduce_vector`] | vectors by elements, to one | as `reduce`, or `all_to_all` and `gather` of parts |
//! | [`all_reduce_vector`] | the same, to all | as `all_reduce`, or two `all_to_all` of parts |
//! | [`scan_vector`] | to x the vectors of 0 to x, combined | as `scan`, or two `all_to_all` of parts |
//!
//! R is ceil(log2 P), and c is what it costs to combine two values, a unit of the work "combine".
//! Each says its time as a formula, and when that is exact. The formulas are for LogP and LogGP; on a LogGPS
//! machine the operations work, and the formulas hold with its overheads where no message waits for its
//! receiver. Where work is measured, combining costs what it takes.
//!
//! Every processor calls them, in the same order. Their messages have tags that no program can name, with the
//! number of the call in them; so they take no other messages, and two calls in a row do not mix, in
//! whichever order messages arrive. If processors call different ones, the run ends with an error.
//!
//! They are programs like all others: a message costs what it costs, and nothing is free. A processor returns
//! as soon as its part is done.

mod all_to_all;
mod barrier;
mod broadcast;
mod gather;
mod reduce;
mod scan;
mod tree;
mod vector;

pub use all_to_all::all_to_all;
pub use barrier::barrier;
pub use broadcast::broadcast;
pub use gather::gather;
pub use reduce::{all_reduce, reduce};
pub use scan::{exclusive_scan, scan};
pub use vector::{all_reduce_vector, reduce_vector, scan_vector};

use std::panic::Location;

use crate::error::Cause;
use crate::message::{Collective, Payload, RawTag, Tag};
use crate::proc::Proc;

/// One call of a collective, on one processor.
#[derive(Clone, Copy)]
struct Call {
    /// What is called.
    kind: Collective,
    /// How many collectives were called before.
    number: u32,
}

impl Call {
    fn begin(p: &mut Proc, kind: Collective) -> Call {
        Call { kind, number: p.begin_collective() }
    }

    /// The tag of this call's messages in a step.
    fn tag<T>(self, step: usize) -> Tag<T> {
        Tag::of(RawTag::collective(self.kind, self.number, step), None)
    }

    #[track_caller]
    fn send<T: Payload>(self, p: &mut Proc, to: usize, step: usize, value: T) {
        p.send(to, self.tag(step), value);
    }

    #[track_caller]
    fn recv<T: Payload>(self, p: &mut Proc, from: usize, step: usize) -> T {
        p.recv_from(from, self.tag(step))
    }

    #[track_caller]
    fn recv_any<T: Payload>(self, p: &mut Proc, step: usize) -> (usize, T) {
        p.recv(self.tag(step))
    }

    /// Sends, and receives of the same step what comes while the gap runs.
    #[track_caller]
    fn send_receiving<T: Payload>(
        self,
        p: &mut Proc,
        to: usize,
        step: usize,
        value: T,
        on: impl FnMut(&mut Proc, usize, T),
    ) {
        p.send_receiving(to, self.tag(step), value, self.tag(step), on);
    }

    /// Sends a value to a processor and receives its. Where a send may wait for its receiver (LogGPS), the
    /// lower one sends first, or both would wait.
    #[track_caller]
    fn exchange<T: Payload>(self, p: &mut Proc, other: usize, step: usize, value: T) -> T {
        if p.params().is_loggp() || p.id() < other {
            self.send(p, other, step, value);
            self.recv(p, other, step)
        } else {
            let theirs = self.recv(p, other, step);
            self.send(p, other, step, value);
            theirs
        }
    }
}

/// Ends the run, because a processor gave what a collective cannot take.
#[track_caller]
fn misused(p: &mut Proc, why: impl Into<String>) -> ! {
    p.fail(Cause::Misused { id: p.id(), why: why.into(), at: Location::caller() })
}

/// Combines, as so many units of work.
fn combine<R>(p: &mut Proc, units: u64, op: impl FnOnce() -> R) -> R {
    p.work("combine", units, op)
}

/// The length of a message of n values, as far as their type tells: a word each, if they differ.
fn words_of<T: Payload>(p: &Proc, n: usize) -> usize {
    T::SIZE.map_or(n, |size| p.params().words(n * size))
}
