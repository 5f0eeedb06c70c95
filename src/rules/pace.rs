//! When a processor can do what: its local time, and its gaps.

use crate::rules::network::{Ask, Exit, Network, Passage};
use crate::time::Time;

/// When a processor can do what, and no account of where its time went.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Pace {
    /// Its local time.
    pub now: Time,
    /// When it began the last reception, from where the gap counts; long before all, if there was none.
    received_at: Time,
    /// Its end of the network.
    pub exit: Exit,
}

/// A message to which its sender has turned, and which waits for its turn in the network.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outgoing {
    /// When its turn to ask the network is.
    pub turn: Time,
    /// Whether others can see that, so that all that comes before it must have been done.
    pub is_seen: bool,
    /// What it asks the network for.
    pub request: Ask,
    /// Where it goes.
    pub to: usize,
    /// How long it is.
    pub words: usize,
    /// To how many messages its sender had turned before.
    pub number: u32,
}

impl Pace {
    /// A processor at time 0.
    pub(crate) fn new(id: usize, network: &Network) -> Pace {
        Pace { now: Time::ZERO, received_at: Time::from_ps(i64::MIN), exit: network.exit(id) }
    }

    /// From when on a send of k words would not have to wait for the gap after the last one.
    #[inline]
    pub(crate) fn next_send(&self, network: &Network, k: usize) -> Time {
        self.exit.gap_over() - network.send_overhead(k)
    }

    /// When it would begin with the overhead of a send of k words, and when the message's turn would be, if its latency
    /// is exactly L.
    #[inline]
    pub(crate) fn foresees(&self, network: &Network, k: usize) -> (Time, Time) {
        let request = network.foreseen(&self.exit, k, self.now);
        (request.ready - network.send_overhead(k), network.turn(&request))
    }

    /// Turns to a message, which then waits for its turn; or nothing, if that is after the end of time.
    #[inline]
    pub(crate) fn turns_to(&mut self, network: &Network, to: usize, words: usize) -> Option<Outgoing> {
        let number = self.exit.requests();
        let request = network.request(&mut self.exit, words, self.now);
        let (turn, is_seen) = (network.turn(&request), network.is_seen(&request));
        (request.ask < Time::MAX).then_some(Outgoing { turn, is_seen, request, to, words, number })
    }

    /// Puts a message off until the gap is over after those that have entered since it was turned to, and until `turn`.
    /// Returns whether its turn is later now.
    pub(crate) fn puts_off(&self, network: &Network, message: &mut Outgoing, turn: Time) -> bool {
        let later = network.put_off(&self.exit, &mut message.request, turn);
        message.turn = network.turn(&message.request);
        later
    }

    /// The message's turn has come: it gets its way. The processor goes on when it enters.
    #[inline]
    pub(crate) fn enters(&mut self, network: &Network, message: &Outgoing) -> Passage {
        network.serve(self.exit.id(), &mut self.exit, message.to, message.request)
    }

    /// From when on it could receive a message: it is free, and the gap since its last reception began is over.
    #[inline]
    pub(crate) fn next_receive(&self, network: &Network) -> Time {
        self.now.max(self.received_at + network.params().g)
    }

    /// Whether the gap since its last reception began runs.
    pub(crate) fn must_wait_to_receive(&self, network: &Network) -> bool {
        self.received_at + network.params().g > self.now
    }

    /// 4. Reception: that of a message starts once it is there and the processor ready. Returns when.
    #[inline]
    pub(crate) fn receives(&mut self, network: &Network, arrival: Time) -> Time {
        self.received_at = self.next_receive(network).max(arrival);
        self.received_at
    }
}
