//! What a clock is to the processor that it is for.

use crate::error::Cause;
use crate::message::Envelope;
use crate::params::ReceptionCost;
use crate::rules::choice::Places;
use crate::rules::reception::Reception;
use crate::time::Time;

/// Which clock a machine runs on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClockKind {
    /// Time jumps to the next thing that happens: exact, repeatable and fast.
    #[default]
    Virtual,
    /// Time passes: processors really wait, each as a thread or what else [carries](crate::Carrier) it.
    Wall,
}

/// What a machine lets one know before it runs: of the order of acts, and of receptions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Foreknown {
    /// Who has which place among those that act at the same time.
    pub places: Places,
    /// The least time from a request to the arrival of its message.
    pub lookahead: Time,
    /// Whether there are two processors, whose messages take no time and so arrive in the order in which they are sent.
    pub pair: bool,
    /// What a reception takes.
    pub cost: ReceptionCost,
}

/// A processor's view of its clock, which answers two questions: may it act yet, and what does it do until
/// then. What an act costs is not its business but the [network](crate::rules::network)'s.
pub(crate) trait Clock {
    /// Returns when the processor's local time `t` has come. What it does then nobody else can see.
    fn wait_until(&mut self, t: Time);

    /// Returns when the processor may do at `t` what others can see: all that comes before has been done.
    fn act_at(&mut self, t: Time);

    /// Puts a message into its receiver's inbox, now, though it may not be there before its arrival.
    fn deliver(&mut self, envelope: Envelope);

    /// Returns the message with the smallest arrival that a receive wants, when its reception is over; or nothing, at
    /// its deadline, if the reception would start later than that.
    fn receive(&mut self, reception: &mut Reception) -> Option<Envelope>;

    /// The processor will not act before `t`, whatever its program does until its next call.
    fn not_before(&mut self, _t: Time) {}

    /// Now the processor's program runs, from its local time `t` on, and takes as long as the host takes for it.
    fn computes_from(&mut self, _t: Time) {}

    /// The program has come to its next call.
    fn has_computed(&mut self) {}

    /// The processor has looked for messages in vain very often. Whether nobody is left who could send one: all others
    /// have finished, wait for messages, or look in vain too, and nothing is under way.
    fn looks_in_vain(&mut self) -> bool;

    /// The run has failed, because of a call that this processor made.
    fn fail(&mut self, cause: Cause);

    /// The processor's program has ended, well or not, at its local time `at`.
    fn end(&mut self, at: Time, well: bool);
}
