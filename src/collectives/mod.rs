//! Operations in which every processor takes part, made of messages.
//!
//! Every processor calls them, in the same order. Their messages have tags that no program can name, with the
//! number of the call in them; so they take no other messages, and two calls in a row do not mix, in
//! whichever order messages arrive. If processors call different ones, the run ends with an error.
//!
//! They are programs like all others: a message costs what it costs, and nothing is free.

mod barrier;

pub use barrier::barrier;

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
}
