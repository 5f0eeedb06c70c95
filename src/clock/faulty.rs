//! A clock that injects faults: lost and duplicated messages, and crashed processors.

use loggp_model::error::{Cause, raise, stop};
use loggp_model::message::parcel::Parcel;
use loggp_model::message::{ArrivedHeader, ArrivedMessage, Header, Pack, PackedValue, Receiver};
use loggp_model::params::ParamsError;
use loggp_model::rules::engine::Clock;
use loggp_model::rules::message_wait::MessageWait;
use loggp_model::rules::network::Network;
use loggp_model::rules::rank::OutgoingMessage;
use loggp_model::time::Time;
use loggp_model::transport::{Egress, Passage};
use loggp_trace::Faults;
use parking_lot::Mutex;

use super::program_clock::{CoreClock, CoroutineClock, ProgramClock, RealClock};

/// A processor's view of a clock on which messages are lost or come twice, and processors crash. The network
/// serves a lost message like any other, so its sender sees no difference.
pub(crate) struct FaultyClock<'a> {
    clock: &'a mut dyn ProgramClock,
    faults: &'a Faults,
    id: usize,
    has_crashed: bool,
    /// The faults that have happened, of all processors.
    happened: &'a Mutex<Faults>,
    /// The number of times that the program was unwound because the processor has crashed.
    stops: u32,
}

impl<'a> FaultyClock<'a> {
    /// Wraps the clock of processor `id`. The faults that happen are noted in `happened`.
    pub(crate) fn new(
        id: usize,
        clock: &'a mut dyn ProgramClock,
        faults: &'a Faults,
        happened: &'a Mutex<Faults>,
    ) -> FaultyClock<'a> {
        FaultyClock { clock, faults, id, has_crashed: false, happened, stops: 0 }
    }

    /// Unwinds the program if the processor has crashed, even if the program has caught that before.
    fn stop_if_crashed(&mut self) {
        if self.has_crashed {
            stop(self.id, &mut self.stops);
        }
    }
}

impl Clock for FaultyClock<'_> {
    fn wait_until(&mut self, t: Time) {
        self.stop_if_crashed();
        self.clock.wait_until(t);
    }

    fn wait_to_act(&mut self, t: Time) {
        self.stop_if_crashed();
        self.clock.wait_to_act(t);
    }

    fn wait_for_turn(&mut self, turn: Time, is_visible: bool) {
        self.stop_if_crashed();
        self.clock.wait_for_turn(turn, is_visible);
    }

    fn serve(&mut self, network: &Network, egress: &mut Egress, message: &OutgoingMessage) -> Passage {
        // A request may send its message before one with a lower number.
        let is_own = egress.processor() == self.id && egress.has_sent(message.number);
        let last = self.faults.crashed.get(&self.id).copied().filter(|_| is_own);
        if let Some(last) = last.filter(|last| message.number as usize >= *last) {
            self.has_crashed = true;
            self.happened.lock().crashed.insert(self.id, last);
            self.stop_if_crashed();
        }
        self.clock.serve(network, egress, message)
    }

    fn deliver(&mut self, arrived: ArrivedHeader, parcel: Parcel) {
        let (arrival, header) = arrived;
        let (id, tag) = (header.id(), header.tag);
        // The barrier's signals are not messages: they have the number of the next message.
        if tag.is_signal() || tag.is_answer() || header.from == header.to.id() {
            return self.clock.deliver(arrived, parcel);
        }
        if self.faults.lost.contains(&id) {
            self.happened.lock().lost.insert(id);
            return;
        }
        let is_alone = tag.is_start_of_send() && !tag.is_announce();
        if let Some(later) = self.faults.twice.get(&id).copied().filter(|_| is_alone) {
            self.happened.lock().twice.insert(id, later);
            let to = Receiver::new(header.to.id(), false);
            self.clock.deliver((arrival + later, Header { to, ..header }), copy(&parcel));
        }
        self.clock.deliver(arrived, parcel);
    }

    fn receive(&mut self, wait: &mut MessageWait, got: &mut Option<ArrivedMessage>) {
        self.stop_if_crashed();
        self.clock.receive(wait, got);
    }

    fn report_vain_looks(&mut self) -> bool {
        self.clock.report_vain_looks()
    }

    fn fail(&mut self, cause: Cause) {
        self.clock.fail(cause);
    }

    fn end(&mut self, at: Time, well: bool) {
        self.clock.end(at, well);
    }
}

impl ProgramClock for FaultyClock<'_> {
    fn coroutine<'s>(&self) -> Option<&(dyn CoroutineClock + 's)>
    where
        Self: 's,
    {
        self.clock.coroutine()
    }

    fn cores(&mut self) -> Option<&mut dyn CoreClock> {
        self.clock.cores()
    }

    fn real(&mut self) -> Option<&mut dyn RealClock> {
        self.clock.real()
    }
}

/// Copies a parcel, or fails the run if its type cannot be packed.
fn copy(parcel: &Parcel) -> Parcel {
    let mut pack = Pack::with_copied_slices();
    let of = parcel.pack(&mut pack);
    if let Some(type_name) = pack.refused_type {
        let why = format!(
            "a {type_name} cannot come twice, as it does not say how it is packed; derive `Payload`, \
             or leave out duplicates"
        );
        raise(Cause::Params(ParamsError::new(why)));
    }
    Parcel::new(PackedValue { bytes: pack.bytes, value_start: 0, slice: None, type_number: of })
}
