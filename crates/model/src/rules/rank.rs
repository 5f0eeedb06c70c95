//! A processor as the rules see it: its local time, its gaps, and the steps of a send and of a reception. Who
//! drives it, the engine of a program or the loop of a run without programs, says which comes next.

use crate::log::{Activity, ActivityKind, IndexedEvent, IndexedKind, Message};
use crate::message::MessageId;
use crate::rules::network::Network;
use crate::time::Time;
use crate::transport::{DataRead, Departure, Egress, Ingresses, Passage};

/// The local time and the two gaps of a processor.
#[derive(Debug)]
#[repr(C)]
pub struct Rank {
    /// The local time.
    pub now: Time,
    /// The end of the receive gap, which the last reception began; long before the run if there was none.
    receive_gap_end: Time,
    /// The sending side, which has the end of the send gap.
    pub egress: Egress,
}

/// A message that waits for its turn.
#[derive(Clone, Copy, Debug)]
pub struct OutgoingMessage {
    /// The time at which the network serves the message, before it is ready to enter.
    pub turn: Time,
    /// True if other processors can see the turn: then all earlier turns must be over before this one.
    pub is_visible: bool,
    pub departure: Departure,
    pub to: usize,
    pub words: usize,
    /// The number of messages that the sender prepared before this one.
    pub number: u32,
}

impl OutgoingMessage {
    pub fn id(&self, from: usize) -> MessageId {
        MessageId { from, number: self.number as usize }
    }

    /// Returns the record of the message, which processor `from` has sent, or another has let it send.
    pub fn record(&self, network: &Network, (from, by): (usize, usize), passage: &Passage) -> Message {
        let OutgoingMessage { turn, departure, to, words, .. } = *self;
        let Passage { enter, first, arrival, .. } = *passage;
        let (latency, place) = (departure.latency, network.place(turn, by));
        Message { id: self.id(from), to, words, latency, place, enter, first, arrival }
    }

    /// Returns the answer of a memory, of so many words, to the request that arrives at a time. In a trace it is a message
    /// of the processor that asked, which has this egress, to itself.
    pub fn answer(
        &self,
        network: &Network,
        egress: &mut Egress,
        words: usize,
        arrival: Time,
    ) -> OutgoingMessage {
        let (number, asked) = (self.number.wrapping_add(1), (arrival, self.departure.asked_at));
        let departure = network.prepare_answer(egress, self.to, (number, words), asked);
        OutgoingMessage { departure, to: egress.processor(), words, number, ..*self }
    }
}

/// When a processor knows that all is there that it has put into others' memories, by memory in order.
#[derive(Clone, Debug, Default)]
pub struct Acknowledged(Vec<(u32, Time)>);

impl Acknowledged {
    /// Notes a message of a processor that arrives at a memory. The processor knows that L later: a word comes back.
    pub fn add(&mut self, network: &Network, (from, memory): (usize, usize), arrival: Time) {
        let known = arrival + network.params_between(from, memory).L;
        match self.0.binary_search_by_key(&(memory as u32), |(memory, _)| *memory) {
            Ok(index) => self.0[index].1 = known.max(self.0[index].1),
            Err(index) => self.0.insert(index, (memory as u32, known)),
        }
    }

    /// Returns when all is known to be in one memory, or in all; 0 if nothing was put there.
    pub fn last(&self, of: Option<usize>) -> Time {
        let known = self.0.iter().filter(|(memory, _)| of.is_none_or(|of| of == *memory as usize));
        known.map(|(_, known)| *known).max().unwrap_or_default()
    }
}

/// Returns the events of the send of a message by a processor, which was called at one time and began at another:
/// the gap, the overhead, the stall and the wait for the port.
#[inline]
pub fn send_events(
    id: usize,
    (called, begin): (Time, Time),
    passage: &Passage,
) -> impl Iterator<Item = IndexedEvent> {
    let Passage { ready, admitted, enter, .. } = *passage;
    let ends = [
        (begin, IndexedKind::Gap),
        (ready, IndexedKind::Send),
        (admitted, IndexedKind::Stall),
        (enter, IndexedKind::Port),
    ];
    events_in_a_row(id, called, ends)
}

/// Returns the events of a reception, which was called at one time: the wait for the arrival, the gap and the
/// overhead, which end at these times.
#[inline]
pub fn reception_events(
    id: usize,
    called: Time,
    [arrival, start, end]: [Time; 3],
) -> impl Iterator<Item = IndexedEvent> {
    let ends = [(arrival, IndexedKind::Idle), (start, IndexedKind::Gap), (end, IndexedKind::Receive)];
    events_in_a_row(id, called, ends)
}

/// Returns events of a processor, each from the end of the one before. Waits that take no time are left out; a
/// send that costs nothing is a send.
#[inline]
fn events_in_a_row<const N: usize>(
    id: usize,
    mut now: Time,
    ends: [(Time, IndexedKind); N],
) -> impl Iterator<Item = IndexedEvent> {
    ends.into_iter().filter_map(move |(end, kind)| {
        let start = now;
        now = start.max(end);
        let is_wait = !matches!(kind, IndexedKind::Send | IndexedKind::Receive);
        (start < end || !is_wait).then_some(IndexedEvent { id, request: None, start, end, kind })
    })
}

/// Returns the activity of an event that belongs to the send or the reception of a message.
fn activity(IndexedEvent { id, start, end, kind, .. }: IndexedEvent, message: MessageId) -> Activity {
    let kind = match kind {
        IndexedKind::Send => ActivityKind::Send(message),
        IndexedKind::Receive => ActivityKind::Receive(message),
        IndexedKind::Gap => ActivityKind::Gap,
        IndexedKind::Stall => ActivityKind::Stall,
        IndexedKind::Port => ActivityKind::Port,
        _ => ActivityKind::Idle,
    };
    Activity { id, start, end, kind }
}

/// Returns the activities of the send of a message by a processor, as [`send_events`] has them.
pub fn send_activities(
    id: usize,
    message: MessageId,
    times: (Time, Time),
    passage: &Passage,
) -> impl Iterator<Item = Activity> {
    send_events(id, times, passage).map(move |event| activity(event, message))
}

/// Returns the activities of a reception, as [`reception_events`] has them.
pub fn reception_activities(
    id: usize,
    message: MessageId,
    called: Time,
    ends: [Time; 3],
) -> impl Iterator<Item = Activity> {
    reception_events(id, called, ends).map(move |event| activity(event, message))
}

impl Rank {
    /// Creates a processor at time 0.
    pub fn new(id: usize, network: &Network) -> Rank {
        Rank { now: Time::ZERO, receive_gap_end: Time::from_ps(i64::MIN), egress: network.new_egress(id) }
    }

    /// Returns the earliest time at which a send of k words need not wait for the send gap.
    #[inline]
    pub fn next_send(&self, network: &Network, to: usize, k: usize) -> Time {
        self.egress.send_gap_end() - network.send_overhead(self.egress.processor(), to, k)
    }

    /// Predicts when the overhead of a send of k words would begin, and the message's turn, if the latency is
    /// exactly L.
    #[inline]
    pub fn predict_send(&self, network: &Network, to: usize, k: usize) -> (Time, Time) {
        let departure = network.predict_departure(&self.egress, to, k, self.now);
        (self.now.max(self.egress.send_gap_end() - departure.overhead), network.turn_time(&departure))
    }

    /// Prepares a send that is called now. The message then waits for its turn.
    #[inline(always)]
    pub fn prepare_send(&mut self, network: &Network, to: usize, words: usize) -> OutgoingMessage {
        let number = self.egress.next_number();
        let departure = network.prepare_departure(&mut self.egress, to, words, self.now);
        let (turn, is_visible) = (network.turn_time(&departure), network.is_visible(&departure));
        OutgoingMessage { turn, is_visible, departure, to, words, number }
    }

    /// Predicts when the overhead of a message to a memory would begin, and its turn, as
    /// [`predict_send`](Rank::predict_send) does for a send.
    pub fn predict_one_sided(&self, network: &Network, to: usize, words: usize) -> (Time, Time) {
        let departure = network.predict_one_sided(&self.egress, to, words, self.now);
        (self.now.max(self.egress.send_gap_end() - departure.overhead), network.turn_time(&departure))
    }

    /// Prepares a message to a memory. All see its turn: an answer is served with its request. If it `is_request`,
    /// the number after its own is kept for the answer.
    pub fn prepare_one_sided(
        &mut self,
        network: &Network,
        to: usize,
        words: usize,
        is_request: bool,
    ) -> OutgoingMessage {
        let number = self.egress.next_number();
        let departure = network.prepare_one_sided(&mut self.egress, to, words, self.now);
        if is_request {
            self.egress.keep_number();
        }
        let turn = network.turn_time(&departure);
        OutgoingMessage { turn, is_visible: true, departure, to, words, number }
    }

    /// Predicts when a read from the memory of `from` would begin, and its turn, as
    /// [`predict_send`](Rank::predict_send) does for a send.
    pub fn predict_read(&self, network: &Network, from: usize) -> (Time, Time) {
        let id = self.egress.processor();
        let ready = network.busy_until(id, self.now, network.read_overhead(from, id));
        (self.now, network.turn_time(&Departure::when_ready(ready, Time::ZERO, Time::ZERO)))
    }

    /// Prepares a read, which begins now. It then waits for its turn.
    pub fn prepare_read(
        &mut self,
        network: &Network,
        DataRead { message, words, .. }: DataRead,
    ) -> OutgoingMessage {
        let words = words as usize;
        let departure = network.prepare_read(&mut self.egress, message, words, self.now);
        let (turn, is_visible) = (network.turn_time(&departure), network.is_visible(&departure));
        let (to, number) = (self.egress.processor(), message.number as u32);
        OutgoingMessage { turn, is_visible, departure, to, words, number }
    }

    /// Defers a message because others of the processor have entered meanwhile: until the gap after them is
    /// over, and until `turn`. Returns whether its turn is later now.
    pub(crate) fn defer(&self, network: &Network, message: &mut OutgoingMessage, turn: Time) -> bool {
        let later = network.defer(&self.egress, &mut message.departure, turn);
        message.turn = network.turn_time(&message.departure);
        later
    }

    /// Returns the earliest time at which a reception can start: now, or at the end of the receive gap.
    #[inline]
    pub(crate) fn next_reception(&self) -> Time {
        self.now.max(self.receive_gap_end)
    }

    /// Returns whether the receive gap keeps the processor from receiving now.
    pub(crate) fn is_in_receive_gap(&self) -> bool {
        self.receive_gap_end > self.now
    }

    /// Computes for a time, which noise makes longer.
    #[inline(always)]
    pub fn compute(&mut self, network: &Network, time: Time) {
        self.now = network.busy_until(self.egress.processor(), self.now, time);
    }

    /// Sends a message at its turn, and goes on when it enters.
    #[inline(always)]
    pub fn send(
        &mut self,
        network: &Network,
        ingresses: &mut (impl Ingresses + ?Sized),
        to: usize,
        departure: &Departure,
    ) -> Passage {
        let passage = network.serve(ingresses, &mut self.egress, to, departure);
        self.now = passage.enter;
        passage
    }

    /// Reads a message from its sender's memory at its turn, and goes on when it enters.
    pub fn read(
        &mut self,
        network: &Network,
        ingresses: &mut (impl Ingresses + ?Sized),
        from: usize,
        departure: &Departure,
    ) -> Passage {
        let (mut sender, to) = (network.new_egress(from), self.egress.processor());
        let passage = network.serve(ingresses, &mut sender, to, departure);
        self.now = passage.enter;
        passage
    }

    /// Predicts when the reception of a message of k words would start and end: it starts once the message has
    /// arrived, the receiver is free and the receive gap is over (rule 4).
    #[inline(always)]
    pub fn predict_reception(
        &self,
        network: &Network,
        (from, k): (usize, usize),
        arrival: Time,
    ) -> (Time, Time) {
        let (id, start) = (self.egress.processor(), self.next_reception().max(arrival));
        (start, network.busy_until(id, start, network.recv_overhead(from, id, k)))
    }

    /// Receives a message of k words, and goes on when its reception ends. Returns when that starts and ends. The
    /// next receive gap begins at the start: it is the g between the two processors.
    #[inline(always)]
    pub fn receive(&mut self, network: &Network, (from, k): (usize, usize), arrival: Time) -> (Time, Time) {
        let (start, end) = self.predict_reception(network, (from, k), arrival);
        self.receive_gap_end = start + network.params_between(from, self.egress.processor()).g;
        self.now = end;
        (start, end)
    }
}
