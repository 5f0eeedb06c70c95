//! Who runs when.

mod agenda;
pub(crate) mod jumping;
mod prefetch;

use crate::message::{Envelope, Want};
use crate::time::Time;

/// Which clock a machine runs on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClockKind {
    /// Time jumps to the next thing that happens: exact, repeatable and fast.
    #[default]
    Virtual,
}

/// A processor's view of its clock, which answers two questions: may it act yet, and what does it do until
/// then. What an act costs is not its business but the [network](crate::network)'s.
pub(crate) trait Clock {
    /// Returns when the processor may act at `t`: all that others do before `t` has been done.
    fn wait_until(&mut self, t: Time);

    /// Puts a message into the inbox of `to`, now, though it may not be there before its arrival.
    fn deliver(&mut self, to: usize, envelope: Envelope);

    /// Returns the wanted message with the smallest arrival, when its reception is over, which starts once
    /// the processor is `ready`; or nothing, at `deadline`, if the reception would start later than that.
    fn receive(&mut self, want: Want, ready: Time, deadline: Time) -> Option<Envelope>;

    /// The processor's program has ended, well or not, at its local time `at`.
    fn end(&mut self, at: Time, well: bool);
}
