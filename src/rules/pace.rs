//! When a processor can send and receive: its local time, and its gaps.

use crate::rules::network::{Ask, Exit, Network};
use crate::time::Time;

/// A processor's local time and gaps. It does not count where the time went.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Pace {
    /// The local time.
    pub now: Time,
    /// When the gap after the last reception is over; long before the run, if there was none.
    receives_from: Time,
    pub exit: Exit,
}

/// A message to which its sender has turned, and which waits for its turn in the network.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outgoing {
    /// When the message's turn is to be served by the network.
    pub turn: Time,
    /// Whether other processors can see the turn: then all earlier turns must have been taken before it.
    pub is_seen: bool,
    /// What the message asks the network for.
    pub request: Ask,
    pub to: usize,
    pub words: usize,
    /// To how many messages the sender had turned before.
    pub number: u32,
}

impl Outgoing {
    /// Whether its turn would come after the end of time.
    #[inline]
    pub(crate) fn never_comes(&self) -> bool {
        self.request.ask == Time::MAX
    }
}

impl Pace {
    /// A processor at time 0.
    pub(crate) fn new(id: usize, network: &Network) -> Pace {
        Pace { now: Time::ZERO, receives_from: Time::from_ps(i64::MIN), exit: network.exit(id) }
    }

    /// The moment from which on a send of k words need not wait for the gap after the last send.
    #[inline]
    pub(crate) fn next_send(&self, network: &Network, to: usize, k: usize) -> Time {
        self.exit.gap_over() - network.send_overhead(self.exit.id(), to, k)
    }

    /// When the overhead of a send of k words would begin, and when the message's turn would be, if the latency is
    /// exactly L.
    #[inline]
    pub(crate) fn foresees(&self, network: &Network, to: usize, k: usize) -> (Time, Time) {
        let request = network.foreseen(&self.exit, to, k, self.now);
        (self.now.max(self.next_send(network, to, k)), network.turn(&request))
    }

    /// Turns to a message, which then waits for its turn.
    #[inline(always)]
    pub(crate) fn turns_to(&mut self, network: &Network, to: usize, words: usize) -> Outgoing {
        let number = self.exit.requests();
        let request = network.request(&mut self.exit, to, words, self.now);
        let (turn, is_seen) = (network.turn(&request), network.is_seen(&request));
        Outgoing { turn, is_seen, request, to, words, number }
    }

    /// Puts off a message that must wait because others of the processor have entered meanwhile: until the gap after them is
    /// over, and until `turn`. Returns whether its turn is later now.
    pub(crate) fn puts_off(&self, network: &Network, message: &mut Outgoing, turn: Time) -> bool {
        let later = network.put_off(&self.exit, (message.to, message.words), &mut message.request, turn);
        message.turn = network.turn(&message.request);
        later
    }

    /// The moment from which on the processor could receive a message: the gap since its last reception began is over.
    #[inline]
    pub(crate) fn next_receive(&self) -> Time {
        self.now.max(self.receives_from)
    }

    /// Whether the gap since its last reception began is not over.
    pub(crate) fn must_wait_to_receive(&self) -> bool {
        self.receives_from > self.now
    }

    /// 4. Reception: it starts once the message has arrived and the processor is ready. Returns when it starts. The gap
    ///    after it is that between the two processors.
    #[inline]
    pub(crate) fn receives(&mut self, network: &Network, from: usize, arrival: Time) -> Time {
        let start = self.next_receive().max(arrival);
        self.receives_from = start + network.between(from, self.exit.id()).g;
        start
    }
}
