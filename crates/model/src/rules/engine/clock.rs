//! What an engine asks of its clock.

use super::Engine;
use crate::error::{Cause, raise};
use crate::message::parcel::Parcel;
use crate::message::{ArrivedHeader, Envelope, RawTag, RecvFilter};
use crate::rules::message_wait::{MessageWait, Purpose, WaitReason};
use crate::rules::network::{Egress, Entry, Network, Passage};
use crate::rules::rank::OutgoingMessage;
use crate::time::Time;

/// The stack of a thread that carries processors, on which code runs that needs more stack than a processor
/// has, or that must know its stack, as interpreters do.
pub trait ThreadStack {
    /// Runs code there. A panic goes through to the caller.
    fn run(&self, code: &mut (dyn FnMut() + Send));
}

/// The stack on which the caller is, for processors that are threads.
struct OwnStack;

impl ThreadStack for OwnStack {
    fn run(&self, code: &mut (dyn FnMut() + Send)) {
        code();
    }
}

/// A processor's view of its clock.
///
/// The clock decides when the processor may act, and what happens until then. The
/// [network](crate::rules::network) decides what an act costs. After a send, local time is the entry time although
/// the clock has only reached the earlier turn.
pub trait Clock {
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
    #[inline(always)]
    fn wait_for_turn(&mut self, turn: Time, is_visible: bool) {
        match is_visible {
            true => self.wait_to_act(turn),
            false => self.wait_until(turn),
        }
    }

    /// Serves a message in the network at its turn, and returns its passage, which is reserved.
    fn serve(&mut self, network: &Network, egress: &mut Egress, message: &OutgoingMessage) -> Passage;

    /// Serves the answer of a processor's memory to this processor, which is served with its request.
    fn serve_answer(&mut self, _network: &Network, _memory: usize, _entry: &Entry) -> Passage {
        let sentence = "one-sided messages are those of an emulated machine, and here are real ones";
        self.fail_program(Cause::Host(sentence.into()))
    }

    /// Puts a message into its receiver's inbox at once. The receiver does not take it before its arrival.
    fn deliver(&mut self, arrived: ArrivedHeader, parcel: Parcel);

    /// Puts the earliest message that `wait` asks for into `got`, which must be empty, and returns when the
    /// processor goes on, as [`Purpose`] says. Returns at the deadline
    /// and leaves `got` empty if the processor can take no message by then.
    fn receive(&mut self, wait: &mut MessageWait, got: &mut Option<Envelope>);

    /// Promises that the processor does not act before `t`, whatever its program does until its next call.
    fn promise_no_act_before(&mut self, _t: Time) {}

    /// Returns the stack of the thread that carries the processor.
    fn thread_stack<'s>(&self) -> Box<dyn ThreadStack + 's>
    where
        Self: 's,
    {
        Box::new(OwnStack)
    }

    /// Returns the time that has passed on a real machine, or `None` on an emulated one.
    fn real_time(&mut self) -> Option<Time> {
        None
    }

    /// Returns whether the run has ended before its programs: those that are left are unwound.
    fn is_cut(&self) -> bool {
        false
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

    /// Fails the run, and ends the processor's program: its stack is unwound, so drops run, and the panic
    /// hook stays silent, since the run has an error.
    #[cold]
    fn fail_program(&mut self, cause: Cause) -> ! {
        self.fail(cause.clone());
        raise(cause)
    }

    // The two steps of which all calls consist are here too, so that both are compiled for each clock with its
    // methods inlined: a message on the virtual clock takes a tenth less time than with a dynamic call for each
    // method. A call of several steps does the same steps on a `dyn Clock`.

    /// Calls [`Engine::send_step`].
    fn send(&mut self, engine: &mut Engine, to: usize, tag: RawTag, words: usize, parcel: Parcel) -> u32 {
        engine.send_step(self, to, tag, words, parcel)
    }

    /// Calls [`Engine::receive_step`].
    fn receive_next(
        &mut self,
        engine: &mut Engine,
        filter: RecvFilter,
        until: Time,
        got: &mut Option<Envelope>,
    ) {
        engine.receive_step(self, (filter, Purpose::Receive, WaitReason::Message), until, got);
    }
}
