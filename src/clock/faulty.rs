//! A clock on which things go wrong.

use parking_lot::Mutex;

use super::contract::{Clock, pass_on};
use crate::error::{Cause, raise, stop};
use crate::message::parcel::Parcel;
use crate::message::{Envelope, Outside, Pack, Packed, Receiver, Seen};
use crate::params::ParamsError;
use crate::rules::network::{Exit, Network, Passage};
use crate::rules::pace::Outgoing;
use crate::rules::reception::Reception;
use crate::time::Time;
use crate::trace::Faults;

/// A processor's view of its clock where messages are lost or come twice, and processors crash. The network serves a
/// message that is lost as all others, so that its sender sees no difference.
pub(crate) struct Faulty<'a> {
    clock: &'a mut dyn Clock,
    faults: &'a Faults,
    /// The processor's number.
    id: usize,
    /// Whether the processor has crashed.
    has_crashed: bool,
    /// What has happened.
    happened: &'a Mutex<Faults>,
    /// How often its program was unwound because of that.
    stops: u32,
}

impl<'a> Faulty<'a> {
    /// Notes in `happened` what goes wrong.
    pub(crate) fn new(
        id: usize,
        clock: &'a mut dyn Clock,
        faults: &'a Faults,
        happened: &'a Mutex<Faults>,
    ) -> Faulty<'a> {
        Faulty { clock, faults, id, has_crashed: false, happened, stops: 0 }
    }

    /// Unwinds the program of a processor that has crashed, also if it caught that before.
    fn ends_if_crashed(&mut self) {
        if self.has_crashed {
            stop(self.id, &mut self.stops);
        }
    }
}

impl Clock for Faulty<'_> {
    pass_on!(clock);

    fn wait_until(&mut self, t: Time) {
        self.ends_if_crashed();
        self.clock.wait_until(t);
    }

    fn act_at(&mut self, t: Time) {
        self.ends_if_crashed();
        self.clock.act_at(t);
    }

    fn serve(&mut self, network: &Network, exit: &mut Exit, message: &Outgoing) -> Passage {
        // Requests may send a message before one of a lower number.
        let last = self.faults.crashed.get(&self.id).copied();
        if let Some(last) = last.filter(|last| message.number as usize >= *last) {
            self.has_crashed = true;
            self.happened.lock().crashed.insert(self.id, last);
            self.ends_if_crashed();
        }
        self.clock.serve(network, exit, message)
    }

    fn deliver(&mut self, seen: Seen, parcel: Parcel) {
        let (arrival, outside) = seen;
        let (id, tag) = (outside.id(), outside.tag);
        // The barrier's signals are no messages, and have the number of the next one.
        if tag.is_signal() || outside.from == outside.to.id() {
            return self.clock.deliver(seen, parcel);
        }
        if self.faults.lost.contains(&id) {
            self.happened.lock().lost.insert(id);
            return;
        }
        let is_alone = tag.is_first() && !tag.is_request();
        if let Some(later) = self.faults.twice.get(&id).copied().filter(|_| is_alone) {
            self.happened.lock().twice.insert(id, later);
            let to = Receiver::new(outside.to.id(), false);
            self.clock.deliver((arrival + later, Outside { to, ..outside }), copy(&parcel));
        }
        self.clock.deliver(seen, parcel);
    }

    fn receive(&mut self, reception: &mut Reception, got: &mut Option<Envelope>) {
        self.ends_if_crashed();
        self.clock.receive(reception, got);
    }
}

/// Copies what is in a parcel.
fn copy(parcel: &Parcel) -> Parcel {
    let mut pack = Pack::whole();
    let of = parcel.pack(&mut pack);
    if let Some(type_name) = pack.refused {
        let why = format!(
            "a {type_name} cannot come twice, as it does not say how it is packed; derive `Payload`, \
             or leave out duplicates"
        );
        raise(Cause::Params(ParamsError::new(why)));
    }
    Parcel::new(Packed { came: pack.bytes, begin: 0, slice: None, of })
}
