//! What a clock does for a processor.

use std::sync::Arc;

use crate::error::Cause;
use crate::message::parcel::Parcel;
use crate::message::{Envelope, Names, RawTag, Seen, Want};
use crate::params::{ByLevel, ReceptionCost};
use crate::rules::choice::Places;
use crate::rules::engine::Engine;
use crate::rules::network::{Exit, Network, Passage};
use crate::rules::pace::Outgoing;
use crate::rules::reception::Reception;
use crate::time::Time;
use crate::trace::Faults;

/// Which clock a machine runs on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClockKind {
    /// Time jumps to the next thing that happens: exact, repeatable and fast.
    #[default]
    Virtual,
    /// Time passes: processors really wait. Threads or coroutines [carry](crate::Carrier) them.
    Wall,
}

/// What a clock must know of the machine before the run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Foreknown {
    /// The places of processors that act at the same time.
    pub places: Places,
    /// The least time from a message's turn to its arrival.
    pub lookahead: Time,
    /// What receptions cost.
    pub cost: ByLevel<ReceptionCost>,
    /// How many receiving sides the network has.
    pub entrances: usize,
    /// What tags are called.
    pub names: Arc<Names>,
    /// What goes wrong.
    pub faults: Arc<Faults>,
}

/// Passes on to the clock in a field what a clock around it leaves as it is.
macro_rules! pass_on {
    ($clock:ident) => {
        fn most_to(&self, network: &$crate::rules::network::Network) -> usize {
            self.$clock.most_to(network)
        }

        fn not_before(&mut self, t: $crate::time::Time) {
            self.$clock.not_before(t);
        }

        fn computes_from(&mut self, t: $crate::time::Time) {
            self.$clock.computes_from(t);
        }

        fn has_computed(&mut self) {
            self.$clock.has_computed();
        }

        fn looks_in_vain(&mut self) -> bool {
            self.$clock.looks_in_vain()
        }

        fn fail(&mut self, cause: $crate::error::Cause) {
            self.$clock.fail(cause);
        }

        fn end(&mut self, at: $crate::time::Time, well: bool) {
            self.$clock.end(at, well);
        }
    };
}

pub(crate) use pass_on;

/// A processor's view of its clock. The clock answers two questions: may the processor act yet, and what does it do
/// until then. What an act costs is the business of the [network](crate::rules::network).
pub(crate) trait Clock {
    /// Told where in memory lies what each of the processor's calls touches first, it may fetch that before the processor goes on.
    fn calls_touch(&mut self, _address: usize) {}

    /// Returns at the local time `t`. The processor then does only what no other processor can see.
    fn wait_until(&mut self, t: Time);

    /// Returns at `t`, when all earlier acts have been done: now the processor may do what others can see.
    fn act_at(&mut self, t: Time);

    /// Waits for a message's turn in the network, which others may see.
    #[inline]
    fn waits_for(&mut self, turn: Time, is_seen: bool) {
        match is_seen {
            true => self.act_at(turn),
            false => self.wait_until(turn),
        }
    }

    /// Gives a message its way, at its turn.
    fn serve(&mut self, network: &Network, exit: &mut Exit, message: &Outgoing) -> Passage;

    /// The most messages that were in transit to the processor at once.
    fn most_to(&self, network: &Network) -> usize;

    /// Puts a message into its receiver's inbox, at once. The receiver takes it no earlier than it arrives.
    fn deliver(&mut self, seen: Seen, parcel: Parcel);

    /// Puts the message with the smallest arrival that a receive wants into `got`, which is empty, and comes back when its
    /// reception is over. It comes back at the deadline with nothing, if no reception could start by then.
    fn receive(&mut self, reception: &mut Reception, got: &mut Option<Envelope>);

    /// Promises that the processor will not act before `t`, whatever its program does until its next call.
    fn not_before(&mut self, _t: Time) {}

    /// On a real machine, whose time passes by itself: how much has passed.
    fn time(&mut self) -> Option<Time> {
        None
    }

    /// Takes back what has passed, as it was no part of the program.
    fn prepares(&mut self, _time: Time) {}

    /// The program runs from its local time `t` on, and its work is measured.
    fn computes_from(&mut self, _t: Time) {}

    /// The program has come to its next call.
    fn has_computed(&mut self) {}

    /// Told that the processor has looked for messages in vain very often, says whether nobody is left who could send one:
    /// all others have finished, wait for messages or look in vain too, and no message is under way.
    fn looks_in_vain(&mut self) -> bool;

    /// The run has failed because of a call of this processor.
    fn fail(&mut self, cause: Cause);

    /// The processor's program has ended at its local time `at`; `well` if it returned.
    fn end(&mut self, at: Time, well: bool);

    // The two calls of a processor without requests. They are written once, here, and compiled for each clock with its own
    // answers inside: a message of the virtual clock takes a tenth less time than if each answer were a call.

    /// Sends a message, and comes back when it has entered. Returns whether it ever does.
    fn sends(
        &mut self,
        network: &Network,
        engine: &mut Engine,
        to: usize,
        words: usize,
        tag: RawTag,
        parcel: Parcel,
    ) -> bool {
        let message = engine.turns_to(network, to, words);
        if message.never_comes() {
            return false;
        }
        self.waits_for(message.turn, message.is_seen);
        let passage = self.serve(network, engine.exit(), &message);
        let seen = engine.enters(network, &message, &passage, tag, &mut None);
        self.deliver(seen, parcel);
        true
    }

    /// Takes a message, if one comes in time, and comes back when its reception is over.
    fn takes(
        &mut self,
        network: &Network,
        engine: &mut Engine,
        want: Want,
        until: Time,
        got: &mut Option<Envelope>,
    ) {
        self.receive(&mut engine.reception(want, until), got);
        if let Some(got) = got {
            engine.receives(network, got.seen(), &mut None);
        }
    }
}
