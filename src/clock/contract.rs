//! The interface between a processor and its clock.

use std::sync::Arc;

use crate::error::Cause;
use crate::message::parcel::Parcel;
use crate::message::{ArrivedHeader, Envelope, RawTag, RecvFilter, TagNames};
use crate::params::{PerLevel, ReceptionCost};
use crate::rules::choice::Places;
use crate::rules::engine::Engine;
use crate::rules::message_wait::MessageWait;
use crate::rules::network::{Egress, Network, Passage};
use crate::rules::pace::OutgoingMessage;
use crate::time::Time;
use crate::trace::Faults;

/// The clock that a machine runs on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClockKind {
    /// Time jumps to the next event: a run is exact, repeatable and fast.
    #[default]
    Virtual,
    /// Time passes, and processors really wait. They are threads or coroutines: see
    /// [`Carrier`](crate::Carrier).
    Wall,
}

/// The facts about a run that a clock needs before the run starts.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunInfo {
    pub places: Places,
    /// The least time from a message's turn to its arrival.
    pub lookahead: Time,
    pub cost: PerLevel<ReceptionCost>,
    /// Number of receiving sides of the network.
    pub ingress_count: usize,
    pub tag_names: Arc<TagNames>,
    pub faults: Arc<Faults>,
}

/// Forwards the methods that a wrapping clock leaves unchanged to the clock in the field `$clock`.
macro_rules! forward_unchanged {
    ($clock:ident) => {
        fn most_in_transit(&self, network: &$crate::rules::network::Network) -> usize {
            self.$clock.most_in_transit(network)
        }

        fn promise_no_act_before(&mut self, t: $crate::time::Time) {
            self.$clock.promise_no_act_before(t);
        }

        fn start_computing_at(&mut self, t: $crate::time::Time) {
            self.$clock.start_computing_at(t);
        }

        fn stop_computing(&mut self) {
            self.$clock.stop_computing();
        }

        fn report_vain_looks(&mut self) -> bool {
            self.$clock.report_vain_looks()
        }

        fn fail(&mut self, cause: $crate::error::Cause) {
            self.$clock.fail(cause);
        }

        fn end(&mut self, at: $crate::time::Time, well: bool) {
            self.$clock.end(at, well);
        }
    };
}

pub(crate) use forward_unchanged;

/// A processor's view of its clock.
///
/// The clock decides when the processor may act, and what happens until then. The
/// [network](crate::rules::network) decides what an act costs. So the local time may be ahead of the clock: a
/// send goes on at its turn, and its local time is already that of the entry.
pub(crate) trait Clock {
    /// Sets the address of the memory that each of the processor's calls touches first. The clock may
    /// prefetch it before it resumes the processor.
    fn set_prefetch_address(&mut self, _address: usize) {}

    /// Waits until the local time `t`. The processor may then do only what no other processor can see.
    fn wait_until(&mut self, t: Time);

    /// Waits until the local time `t` has come and all earlier acts have been done. The processor may then
    /// act: other processors can see what it does.
    fn wait_to_act(&mut self, t: Time);

    /// Waits for a message's turn in the network. `is_visible` tells whether other processors can see the
    /// turn.
    #[inline]
    fn wait_for_turn(&mut self, turn: Time, is_visible: bool) {
        match is_visible {
            true => self.wait_to_act(turn),
            false => self.wait_until(turn),
        }
    }

    /// Serves a message in the network at its turn, and returns the passage that is reserved for it.
    fn serve(&mut self, network: &Network, egress: &mut Egress, message: &OutgoingMessage) -> Passage;

    /// Returns the largest number of messages that were in transit to the processor at once.
    fn most_in_transit(&self, network: &Network) -> usize;

    /// Puts a message into its receiver's inbox at once. The receiver does not take it before its arrival.
    fn deliver(&mut self, arrived: ArrivedHeader, parcel: Parcel);

    /// Puts the earliest message that `wait` asks for into `got`, which must be empty, and returns when the
    /// processor goes on, as [`Purpose`](crate::rules::message_wait::Purpose) says. Returns at the deadline
    /// and leaves `got` empty if the processor can take no message by then.
    fn receive(&mut self, wait: &mut MessageWait, got: &mut Option<Envelope>);

    /// Promises that the processor does not act before `t`, whatever its program does until its next call.
    fn promise_no_act_before(&mut self, _t: Time) {}

    /// Returns the time that has passed on a real machine, or `None` on an emulated one.
    fn real_time(&mut self) -> Option<Time> {
        None
    }

    /// Excludes `time`, which was spent on preparation, from the time that has passed.
    fn prepare(&mut self, _time: Time) {}

    /// Tells the clock that the program computes from the local time `t` on, and that its work is measured.
    fn start_computing_at(&mut self, _t: Time) {}

    /// Tells the clock that the program has reached its next call.
    fn stop_computing(&mut self) {}

    /// Tells the clock that the processor has looked for messages in vain very often. Returns whether no
    /// processor is left that could send one: all others have finished, wait for messages or look in vain
    /// too, and no message is under way.
    fn report_vain_looks(&mut self) -> bool;

    /// Fails the run because of a call of this processor.
    fn fail(&mut self, cause: Cause);

    /// Tells the clock that the program has ended at its local time `at`. `well` tells whether it returned.
    fn end(&mut self, at: Time, well: bool);

    // The two calls of a processor without requests are here, so that they are compiled for each clock with
    // its methods inlined: a message on the virtual clock takes a tenth less time than with a dynamic call
    // for each method.

    /// Sends a message: local time goes to its entry. Returns false if it never enters.
    fn send_without_requests(
        &mut self,
        network: &Network,
        engine: &mut Engine,
        to: usize,
        words: usize,
        tag: RawTag,
        parcel: Parcel,
    ) -> bool {
        let message = engine.prepare_send(network, to, words);
        if message.is_after_end_of_time() {
            return false;
        }
        self.wait_for_turn(message.turn, message.is_visible);
        let passage = self.serve(network, engine.egress(), &message);
        let arrived = engine.spend_send(network, &message, &passage, tag, &mut None);
        self.deliver(arrived, parcel);
        true
    }

    /// Receives a message, if its reception can start by `until`: local time goes to the reception's end.
    fn receive_without_requests(
        &mut self,
        network: &Network,
        engine: &mut Engine,
        filter: RecvFilter,
        until: Time,
        got: &mut Option<Envelope>,
    ) {
        self.receive(&mut engine.message_wait(filter, until), got);
        if let Some(got) = got {
            engine.spend_reception(network, got.arrived_header(), &mut None);
        }
    }
}
