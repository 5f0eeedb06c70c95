//! What an engine asks of its clock.

use super::Engine;
use crate::error::{Cause, raise};
use crate::message::parcel::Parcel;
use crate::message::{ArrivedHeader, ArrivedMessage, RawTag, RecvFilter};
use crate::rules::message_wait::{MessageWait, Purpose, WaitReason};
use crate::rules::network::Network;
use crate::rules::rank::OutgoingMessage;
use crate::time::Time;
use crate::transport::{Egress, Passage};

/// A processor's view of its clock.
///
/// The clock decides when the processor may act, and what happens until then. The
/// [network](crate::rules::network) decides what an act costs. After a send, local time is the entry time although
/// the clock has only reached the earlier turn.
pub trait Clock {
    /// Waits until the local time `t`. The processor may then do only what no other processor can see.
    fn wait_until(&mut self, t: Time);

    /// Waits until the local time `t` has come and all earlier acts have been done. The processor may then
    /// act: other processors can see what it does.
    fn wait_to_act(&mut self, t: Time);

    /// Waits for a message's turn in the network. `is_visible` tells whether other processors can see the
    /// turn.
    fn wait_for_turn(&mut self, turn: Time, is_visible: bool);

    /// Serves a message in the network at its turn, and returns its passage, which is reserved. The sending side is
    /// the processor's, or that of a memory from which it gets the message.
    fn serve(&mut self, network: &Network, egress: &mut Egress, message: &OutgoingMessage) -> Passage;

    /// Puts a message into its receiver's inbox at once. The receiver does not take it before its arrival.
    fn deliver(&mut self, arrived: ArrivedHeader, parcel: Parcel);

    /// Puts the earliest message that `wait` asks for into `got`, which must be empty, and returns when the
    /// processor goes on, as [`Purpose`] says. Returns at the deadline
    /// and leaves `got` empty if the processor can take no message by then.
    fn receive(&mut self, wait: &mut MessageWait, got: &mut Option<ArrivedMessage>);

    /// Tells the clock that the processor has looked for messages in vain very often. Returns whether no
    /// processor is left that could send one: all others have finished, wait for messages or look in vain
    /// too, and no message is under way.
    fn report_vain_looks(&mut self) -> bool;

    /// Fails the run because of a call of this processor.
    fn fail(&mut self, cause: Cause);

    /// Tells the clock that the program has ended at its local time `at`. `well` tells whether it returned.
    fn end(&mut self, at: Time, well: bool);
}

/// Fails the run, and ends the processor's program: its stack is unwound, so drops run, and the panic hook stays
/// silent, since the run has an error.
#[cold]
pub fn fail_program(clock: &mut (impl Clock + ?Sized), cause: Cause) -> ! {
    clock.fail(cause.clone());
    raise(cause)
}

/// The two steps of which most calls consist, as methods of the clock.
///
/// So both are compiled for each clock with its methods inlined: a message on the virtual clock takes a tenth less
/// time than with a dynamic call for each method. A call of several steps does the same steps on a `dyn Clock`.
pub trait StepClock: Clock {
    /// Calls [`Engine::send_step`].
    fn send(&mut self, engine: &mut Engine, to: usize, tag: RawTag, words: usize, parcel: Parcel) -> u32;

    /// Calls [`Engine::receive_step`].
    fn receive_next(
        &mut self,
        engine: &mut Engine,
        filter: RecvFilter,
        until: Time,
        got: &mut Option<ArrivedMessage>,
    );
}

impl<C: Clock> StepClock for C {
    fn send(&mut self, engine: &mut Engine, to: usize, tag: RawTag, words: usize, parcel: Parcel) -> u32 {
        engine.send_step(self, to, tag, words, parcel)
    }

    fn receive_next(
        &mut self,
        engine: &mut Engine,
        filter: RecvFilter,
        until: Time,
        got: &mut Option<ArrivedMessage>,
    ) {
        engine.receive_step(self, (filter, Purpose::Receive, WaitReason::Message), until, got);
    }
}
