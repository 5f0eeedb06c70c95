//! A clock on which things go wrong.

use std::collections::BTreeSet;

use parking_lot::Mutex;

use super::contract::Clock;
use crate::error::{Cause, stop};
use crate::message::parcel::Parcel;
use crate::message::{Envelope, MessageId, Seen};
use crate::rules::network::{Exit, Network, Passage};
use crate::rules::pace::Outgoing;
use crate::rules::reception::Reception;
use crate::time::Time;
use crate::trace::Faults;

/// A processor's view of its clock where messages are lost and processors crash. The network serves a message that is lost as
/// all others, so that its sender sees no difference.
pub(crate) struct Faulty<'a> {
    clock: &'a mut dyn Clock,
    faults: &'a Faults,
    /// The processor's number.
    id: usize,
    /// Whether the processor has crashed.
    has_crashed: bool,
    /// Notes that.
    crashed: &'a Mutex<BTreeSet<usize>>,
    /// How often its program was unwound because of that.
    stops: u32,
}

impl<'a> Faulty<'a> {
    /// Notes in `crashed` if the processor crashes.
    pub(crate) fn new(
        id: usize,
        clock: &'a mut dyn Clock,
        faults: &'a Faults,
        crashed: &'a Mutex<BTreeSet<usize>>,
    ) -> Faulty<'a> {
        Faulty { clock, faults, id, has_crashed: false, crashed, stops: 0 }
    }

    /// Unwinds the program of a processor that has crashed, also if it caught that before.
    fn ends_if_crashed(&mut self) {
        if self.has_crashed {
            stop(self.id, &mut self.stops);
        }
    }
}

impl Clock for Faulty<'_> {
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
        let last = self.faults.crashed.get(&self.id);
        if last.is_some_and(|last| message.number as usize >= *last) {
            self.has_crashed = true;
            self.crashed.lock().insert(self.id);
            self.ends_if_crashed();
        }
        self.clock.serve(network, exit, message)
    }

    fn most_to(&self, network: &Network) -> usize {
        self.clock.most_to(network)
    }

    fn deliver(&mut self, seen: Seen, parcel: Parcel) {
        let outside = &seen.1;
        let id = MessageId { from: outside.from as usize, number: outside.number as usize };
        // The barrier's signals are no messages, and have the number of the next one.
        let is_message = !outside.tag.is_signal() && outside.from != outside.to.id();
        if !(is_message && self.faults.lost.contains(&id)) {
            self.clock.deliver(seen, parcel);
        }
    }

    fn receive(&mut self, reception: &mut Reception, got: &mut Option<Envelope>) {
        self.ends_if_crashed();
        self.clock.receive(reception, got);
    }

    fn not_before(&mut self, t: Time) {
        self.clock.not_before(t);
    }

    fn computes_from(&mut self, t: Time) {
        self.clock.computes_from(t);
    }

    fn has_computed(&mut self) {
        self.clock.has_computed();
    }

    fn looks_in_vain(&mut self) -> bool {
        self.clock.looks_in_vain()
    }

    fn fail(&mut self, cause: Cause) {
        self.clock.fail(cause);
    }

    fn end(&mut self, at: Time, well: bool) {
        self.clock.end(at, well);
    }
}
