//! Operations in which every processor takes part, made of messages.
//!
//! | operation | what it does | steps, or time |
//! |---|---|---|
//! | [`barrier`] | nobody leaves before all have come | ceil(log2 P) |
//! | [`broadcast`] | one processor's value to all | the optimal tree's |
//! | [`reduce`] | the values of all, combined, to one | the optimal tree's, backwards |
//! | [`all_reduce`] | the same, to all | log2 P, or 2 more |
//! | [`scan`], [`exclusive_scan`] | to each what those up to it, or before it, have, combined | ceil(log2 P) |
//! | [`gather`] | the values of all to one | (P-2)g + L + 2o, or log2 P |
//! | [`all_to_all`] | a value from each to each | (P-2)g + L + 2o |
//! | [`reduce_vector`], [`all_reduce_vector`], [`scan_vector`] | vectors, element by element | as above, or 2mG |
//!
//! Each says its time as a formula, and when that is exact. The formulas are for LogP and LogGP; on a LogGPS
//! machine the operations work, and the formulas hold with its overheads where no message waits for its
//! receiver. Where work is measured, combining costs what it takes.
//!
//! Every processor calls them, in the same order. Their messages have tags that no program can name, with the
//! number of the call in them; so they take no other messages, and two calls in a row do not mix, in
//! whichever order messages arrive. If processors call different ones, the run ends with an error.
//!
//! They are programs like all others: a message costs what it costs, and nothing is free. Only [`barrier`] waits
//! for everybody. From the others a processor may return as soon as its part is done.

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

use crate::error::{Cause, raise};
use crate::message::{Collective, Payload, Tag};
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
    fn tag(self, step: usize) -> Tag {
        Tag::collective(self.kind, self.number, step)
    }

    fn send<T: Payload>(self, p: &mut Proc, to: usize, step: usize, value: T) {
        p.send_about(to, self.tag(step), value);
    }

    fn recv<T: Payload>(self, p: &mut Proc, from: usize, step: usize) -> T {
        p.recv_about(Some(from), self.tag(step)).1
    }

    fn recv_any<T: Payload>(self, p: &mut Proc, step: usize) -> (usize, T) {
        p.recv_about(None, self.tag(step))
    }

    /// Sends, and receives of the same step what comes while the gap runs.
    fn send_receiving<T: Payload>(
        self,
        p: &mut Proc,
        to: usize,
        step: usize,
        value: T,
        on: impl FnMut(&mut Proc, usize, T),
    ) {
        p.send_receiving_about(to, self.tag(step), value, self.tag(step), on);
    }

    /// Sends a value to a processor and receives its. Where a send may wait for its receiver (LogGPS), the lower
    /// one sends first, or both would wait.
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
fn misused(p: &Proc, why: impl Into<String>) -> ! {
    raise(Cause::Misused { id: p.id(), why: why.into() })
}

/// Combines, as so many units of work.
fn combine<R>(p: &mut Proc, units: u64, op: impl FnOnce() -> R) -> R {
    p.work("combine", units, op)
}

/// The length of a message of n values, as far as their type tells: a word each, if they differ.
fn words_of<T: Payload>(p: &Proc, n: usize) -> usize {
    T::SIZE.map_or(n, |size| p.params().words(n * size))
}
