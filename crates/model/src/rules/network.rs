//! The network: what a message costs, when it asks for its way, and when that is decided.
//!
//! Both clocks use this code; the cost of a message by itself is in `params/costs.rs`. A send has two steps.
//! When it is called, [`Network::prepare_departure`] computes when the message will be ready: its [`Departure`], which
//! asks the network for the message's way. At the message's turn, before it is ready, [`Network::serve`] lets
//! [`transport`](crate::transport) find the earliest way that fits, and reserve it.
//! `docs/reference/model.md` explains the rules and names their sources:
//!
//! 1. **overhead and send gap**: `ready = max(t + o, send_gap_end)`, in [`Network::prepare_departure`];
//! 2. **capacity**: at most ceil(L/g) messages in transit from and to a processor, in `transport/way.rs`;
//! 3. **port**: a long message occupies the ports of both ends for (k-1)G, in `transport/way.rs`;
//! 4. **reception and receive gap**: `start = max(t, arrival, receive_gap_end)`, in `rank.rs`,
//!    `Rank::predict_reception`.

use std::collections::HashMap;
use std::ops::DerefMut;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

use crate::message::MessageId;
use crate::params::{Latency, Level, Noise, Params, PerLevel, Ports, ReceptionCost, Surcharge, Ties};
use crate::rules::choice::{Choice, Places};
use crate::time::Time;
use crate::transport::{
    Admitted, Departure, Egress, Ingress, Ingresses, LevelTransport, Passage, Protocol, Transport,
};

/// The most words of a message, or of an answer.
pub const MOST_WORDS: usize = u32::MAX as usize;

/// The network between the processors.
#[derive(Debug)]
pub struct Network {
    params: Params,
    levels: PerLevel<LevelCosts>,
    /// Decides what the rules leave open.
    choice: Arc<Choice>,
    /// True if every latency is exactly L.
    is_exact: bool,
    noise: Option<Noise>,
    rendezvous: Protocol,
    /// turn = `asked_at` - `head_start`, with one `head_start` for all messages: the least o. One value keeps turns
    /// in the order of departures, and the least o keeps a turn from coming before its send. It is 0 if G_l is
    /// negative, because then messages may ask before o is over.
    head_start: Time,
    /// True if all messages are [visible](Network::is_visible): they compete for room at a level, or L and o can
    /// both be 0. A message could then cause another at the same instant, so every send must wait for its turn.
    is_always_visible: bool,
    /// True if messages of any level compete for room with those of other processors.
    is_shared: bool,
    /// True if messages of any level take room until they are received.
    has_rooms: bool,
    level_count: usize,
    /// The sending side of each processor's memory that has answered a request.
    memories: Mutex<HashMap<usize, Egress>>,
}

/// The costs of messages at one level, and their transport.
#[derive(Debug)]
struct LevelCosts {
    params: Params,
    transport: LevelTransport,
    reception_cost: ReceptionCost,
    /// Extra cost of longer messages.
    surcharge: Surcharge,
    /// The costs of a message of one word, as nearly all messages are.
    one_word: MessageCosts,
    /// The longest message that can be sent, in words.
    longest: usize,
}

/// The costs of a message of some length, apart from its reception.
#[derive(Clone, Copy, Debug, Default)]
struct MessageCosts {
    /// Overhead of the sender.
    send: Time,
    /// Time from the first word to the last.
    stream: Time,
}

/// Returns the longest message that can be sent with these parameters, in words.
fn longest(params: &Params) -> usize {
    params.longest_message().unwrap_or(usize::MAX).min(MOST_WORDS)
}

impl LevelCosts {
    /// Creates the costs of a level with these parameters.
    fn new(params: Params, transport: LevelTransport, surcharge: Surcharge) -> LevelCosts {
        let costs = LevelCosts {
            params,
            transport,
            reception_cost: ReceptionCost::new(&params, &surcharge),
            surcharge,
            one_word: MessageCosts::default(),
            longest: longest(&params),
        };
        LevelCosts { one_word: costs.compute_message_costs(1), ..costs }
    }

    #[inline]
    fn message_costs(&self, k: usize) -> MessageCosts {
        if k == 1 { self.one_word } else { self.compute_message_costs(k) }
    }

    /// Computes the costs of a message of k words.
    fn compute_message_costs(&self, k: usize) -> MessageCosts {
        let (send, stream) = (self.params.send_overhead(k), self.params.stream(k));
        match k > self.surcharge.above {
            true => MessageCosts { send: send + self.surcharge.send, stream: stream + self.surcharge.stream },
            false => MessageCosts { send, stream },
        }
    }

    /// Returns the longest message that can be sent to a memory, in words.
    fn longest_one_sided(&self) -> usize {
        longest(&Params { R: Time::ZERO, ..self.params })
    }

    /// Returns the costs of a message of k words to a memory: those of any message but R, since nobody has to agree.
    fn one_sided_costs(&self, k: usize) -> MessageCosts {
        let (costs, R) = (self.message_costs(k), self.params.R);
        if self.params.is_synchronous(k) { MessageCosts { send: costs.send - R, ..costs } } else { costs }
    }
}

impl Network {
    /// Creates a network with these inner levels in which nothing has been sent.
    pub fn new(
        params: Params,
        levels: &[Level],
        transport: impl Into<Transport>,
        latency: Latency,
    ) -> Network {
        let choice = Arc::new(Choice::new(&params, latency, Ties::default()));
        Network::with_choice(params, transport.into(), levels, choice, Surcharge::default())
    }

    /// Creates a network with these inner levels, and a choice that decides what the rules leave open.
    pub fn with_choice(
        params: Params,
        transport: Transport,
        levels: &[Level],
        choice: Arc<Choice>,
        surcharge: Surcharge,
    ) -> Network {
        let (is_exact, all) = (choice.is_exact(), params.P);
        let costs = |number: usize, params: Params, ports: Ports| {
            let (way, within) = ((ports, transport.capacity), (levels.get(number), all));
            let transport = LevelTransport::new(number, &params, way, within, is_exact);
            LevelCosts::new(params, transport, surcharge)
        };
        let levels_within = levels.len();
        let levels = PerLevel::new(costs(0, params, transport.ports), levels, |number, level| {
            costs(number, level.params, level.ports)
        });
        let has_rooms = levels.iter().any(|costs| costs.transport.limits.has_rooms());
        // A reception frees room at the moment at which it starts, so then no message is served in advance.
        let asks_early = |costs: &LevelCosts| has_rooms || costs.params.has_negative_G_l();
        let head_start = |costs: &LevelCosts| if asks_early(costs) { Time::ZERO } else { costs.params.o };
        let is_shared = levels.iter().any(|costs| costs.transport.limits.is_shared());
        let head_start = levels.iter().map(head_start).min().unwrap_or_default();
        let network = Network {
            params,
            choice,
            is_exact,
            noise: None,
            rendezvous: transport.rendezvous,
            head_start,
            is_always_visible: false,
            is_shared,
            has_rooms,
            level_count: 1 + levels_within,
            levels,
            memories: Mutex::default(),
        };
        Network { is_always_visible: network.compute_visibility(), ..network }
    }

    /// Returns whether messages are in transit until they are received, and their number is limited.
    #[inline]
    pub fn has_rooms(&self) -> bool {
        self.has_rooms
    }

    /// Asks for room for a message to `to` that takes it until it is received. Returns whether it is admitted at once;
    /// if not, a later [`free_room`](Network::free_room) admits it.
    pub(crate) fn ask_for_room(&self, id: MessageId, to: usize, at: Time) -> bool {
        self.levels.between(id.from, to).transport.limits.ask(id, to, at)
    }

    /// Frees the room of a message from one processor to another, whose reception starts. Returns the messages
    /// that this admits.
    pub(crate) fn free_room(&self, from: usize, to: usize, at: Time) -> Admitted {
        self.levels.between(from, to).transport.limits.free(from, to, at)
    }

    /// Returns the largest numbers of messages that were in transit from a processor at once, and to it, in a run
    /// that has ended and in which they were so until they were received.
    pub fn most_in_rooms(&self, id: usize) -> [usize; 2] {
        let most = self.levels.iter().map(|costs| costs.transport.limits.most_in_rooms(id));
        most.reduce(|one, other| [one[0].max(other[0]), one[1].max(other[1])]).unwrap_or_default()
    }

    /// Returns this network between processors with noise.
    pub fn with_noise(self, noise: Option<Noise>) -> Network {
        Network { noise, ..self }
    }

    /// Returns the way in which a message of k words moves that its receiver must be ready for, or `None` for others.
    #[inline]
    pub fn rendezvous(&self, from: usize, to: usize, k: usize) -> Option<Protocol> {
        self.is_synchronous(from, to, k).then_some(self.rendezvous)
    }

    #[inline]
    pub(crate) fn noise(&self) -> Option<&Noise> {
        self.noise.as_ref()
    }

    /// Returns when processor `id` is done that is busy for `time` from `start` on; noise makes that later.
    #[inline]
    pub fn busy_until(&self, id: usize, start: Time, time: Time) -> Time {
        match &self.noise {
            None => start + time,
            Some(noise) => noise.end(id, start, time),
        }
    }

    pub fn params(&self) -> &Params {
        &self.params
    }

    /// Creates the sending side of a processor that has sent nothing.
    pub fn new_egress(&self, processor: usize) -> Egress {
        let mut egress = self.new_memory(processor);
        if self.params.gps().is_some() {
            // LogGPS models MPI, where no message overtakes another between the same two processors.
            egress.keep_order();
        }
        egress
    }

    /// Creates the sending side of a processor's memory that has answered nothing.
    fn new_memory(&self, processor: usize) -> Egress {
        Egress::new(processor, self.level_count - 1)
    }

    /// Returns the place of a processor among those that act at `time`.
    pub fn place(&self, time: Time, id: usize) -> usize {
        self.choice.place(time, id as u32) as usize
    }

    /// Returns the processor that has a place among those that act at `time`.
    pub fn processor_at(&self, time: Time, place: usize) -> usize {
        self.choice.processor_at(time, place as u32) as usize
    }

    /// Returns the places of processors that act at the same time.
    pub fn places(&self) -> Places {
        Places::new(&self.choice)
    }

    /// Returns the longest message that can be sent between two processors, in words.
    #[inline]
    pub fn longest(&self, from: usize, to: usize) -> usize {
        self.levels.between(from, to).longest
    }

    /// Returns the longest message that can be sent to a processor's memory, in words: no R keeps its sender busy.
    pub fn longest_one_sided(&self, from: usize, to: usize) -> usize {
        self.levels.between(from, to).longest_one_sided()
    }

    /// Returns whether a message of k words waits until its receiver is ready for it.
    #[inline]
    pub fn is_synchronous(&self, from: usize, to: usize, k: usize) -> bool {
        self.levels.between(from, to).params.is_synchronous(k)
    }

    /// Returns the longest message that can be sent between any two processors, and to their memories, in words.
    pub fn least_longest(&self) -> usize {
        self.levels.iter().map(LevelCosts::longest_one_sided).min().unwrap_or(usize::MAX)
    }

    /// Returns whether a message of k words waits for its receiver at any level.
    pub fn may_be_synchronous(&self, k: usize) -> bool {
        self.levels.iter().any(|costs| costs.params.is_synchronous(k))
    }

    /// Returns the parameters between two processors.
    #[inline]
    pub fn params_between(&self, from: usize, to: usize) -> &Params {
        &self.levels.between(from, to).params
    }

    /// Returns whether the processors differ and the latency between them is always exactly L. Then no
    /// message arrives before it enters, as a negative G_l would allow.
    pub(crate) fn has_fixed_latency(&self, from: usize, to: usize) -> bool {
        from != to && self.is_exact && !self.params_between(from, to).has_negative_G_l()
    }

    /// Returns the overhead of the sender of k words.
    #[inline]
    pub(crate) fn send_overhead(&self, from: usize, to: usize, k: usize) -> Time {
        self.levels.between(from, to).message_costs(k).send
    }

    /// Returns the time from the first word to the last of a message of k words.
    #[inline]
    pub(crate) fn stream(&self, from: usize, to: usize, k: usize) -> Time {
        self.levels.between(from, to).message_costs(k).stream
    }

    /// Returns the overhead of the receiver of k words.
    #[inline]
    pub fn recv_overhead(&self, from: usize, to: usize, k: usize) -> Time {
        self.levels.between(from, to).reception_cost.overhead(k)
    }

    /// Returns the costs of receptions, for code that does not have the network.
    pub fn reception_costs(&self) -> PerLevel<ReceptionCost> {
        self.levels.map(|costs| costs.reception_cost)
    }

    /// Returns the turn of a message: the time at which it is to be served. Departures are served in the order in
    /// which they ask, since all turns are earlier than that by the same `head_start`.
    #[inline]
    pub fn turn_time(&self, departure: &Departure) -> Time {
        departure.asked_at - self.head_start
    }

    /// Returns the least time from the turn of any message to its arrival.
    pub fn lookahead(&self) -> Time {
        let min_transit = |costs: &LevelCosts| {
            if self.is_exact && !costs.params.has_negative_G_l() { costs.params.L } else { Time::ZERO }
        };
        self.head_start + self.levels.iter().map(min_transit).min().unwrap_or_default()
    }

    /// Creates the departure of a message of k words to `to`, whose send is called at `t`, and counts the
    /// message.
    #[inline(always)]
    pub(crate) fn prepare_departure(&self, egress: &mut Egress, to: usize, k: usize, t: Time) -> Departure {
        let departure = self.predict_departure(egress, to, k, t);
        self.number_departure(egress, to, departure)
    }

    /// Creates the departure of a message to a memory, as [`prepare_departure`](Network::prepare_departure) does
    /// of one to a processor.
    pub(crate) fn prepare_one_sided(&self, egress: &mut Egress, to: usize, k: usize, t: Time) -> Departure {
        let departure = self.predict_one_sided(egress, to, k, t);
        self.number_departure(egress, to, departure)
    }

    /// Counts a message, and draws its latency, if that is not exact.
    #[inline(always)]
    fn number_departure(&self, egress: &mut Egress, to: usize, mut departure: Departure) -> Departure {
        if !self.is_exact {
            let message = MessageId { from: egress.processor(), number: egress.next_number() as usize };
            (departure.latency, departure.asked_at) = self.draw_latency(egress, (message, to), departure);
        }
        egress.keep_number();
        departure
    }

    /// Creates the departure of a message of k words that the processor with this egress reads from the memory of its
    /// sender. It begins at `t`, and asks when its o and the latency of its request are over.
    pub(crate) fn prepare_read(&self, egress: &mut Egress, id: MessageId, k: usize, t: Time) -> Departure {
        let (from, to) = (id.from, egress.processor());
        let (L, stream) = (self.params_between(from, to).L, self.stream(from, to, k));
        let ready = self.busy_until(to, t, self.read_overhead(from, to));
        let mut departure = Departure::when_ready(ready, L, stream);
        if !self.is_exact {
            (departure.latency, departure.asked_at) = self.draw_latency(egress, (id, to), departure);
        }
        departure
    }

    /// Returns the time that a processor spends on the request of a read from another's memory: the o of a message
    /// of no words, and L.
    pub(crate) fn read_overhead(&self, from: usize, to: usize) -> Time {
        self.send_overhead(to, from, 0) + self.params_between(from, to).L
    }

    /// Creates the departure of a memory's answer of k words to the processor with this egress, whose message has this
    /// number: it is ready when the request is there, and asks with the request. No processor is busy with it, so no
    /// negative G_l takes back time in which one would be.
    pub fn prepare_answer(
        &self,
        egress: &mut Egress,
        memory: usize,
        (number, k): (u32, usize),
        (ready, asked_at): (Time, Time),
    ) -> Departure {
        let costs = self.levels.between(memory, egress.processor());
        let (latency, stream) = (costs.params.L, costs.message_costs(k).stream.max(Time::ZERO));
        let mut departure = Departure { asked_at, ..Departure::when_ready(ready, latency, stream) };
        if !self.is_exact {
            let message = MessageId { from: egress.processor(), number: number as usize };
            (departure.latency, _) = self.draw_latency(egress, (message, message.from), departure);
        }
        departure
    }

    /// Returns the sending side of a processor's memory, by which its answers go as messages of a sender of its own.
    pub fn memory(&self, processor: usize) -> impl DerefMut<Target = Egress> {
        MutexGuard::map(self.memories.lock(), |memories| {
            memories.entry(processor).or_insert_with(|| self.new_memory(processor))
        })
    }

    /// Draws the latency of a message. Returns it, and when the message asks with it.
    #[cold]
    fn draw_latency(
        &self,
        egress: &mut Egress,
        (message, to): (MessageId, usize),
        departure: Departure,
    ) -> (Time, Time) {
        let Departure { ready, latency: L, stream, overhead, .. } = departure;
        // With a negative G_l a shorter latency could let the message arrive before its send.
        let least = (-(overhead + stream)).max(Time::ZERO).min(L);
        let id = egress.processor();
        let rng = egress.rng(|| self.choice.rng(id));
        let latency = self.choice.latency(message, to, rng, ready, (least, L));
        (latency, ready.min(ready + latency + stream))
    }

    /// Predicts the departure of a message of k words to `to`, whose send would be called at `t`, if its
    /// latency were exactly L.
    #[inline(always)]
    pub fn predict_departure(&self, egress: &Egress, to: usize, k: usize, t: Time) -> Departure {
        let costs = self.levels.between(egress.processor(), to);
        self.departure_at(egress, costs.params.L, costs.message_costs(k), t)
    }

    /// Predicts the departure of a message to a memory, as [`predict_departure`](Network::predict_departure) does
    /// of one to a processor.
    pub fn predict_one_sided(&self, egress: &Egress, to: usize, k: usize, t: Time) -> Departure {
        let costs = self.levels.between(egress.processor(), to);
        self.departure_at(egress, costs.params.L, costs.one_sided_costs(k), t)
    }

    /// Returns the departure of a message of these costs, whose send is called at `t`.
    #[inline(always)]
    fn departure_at(&self, egress: &Egress, latency: Time, costs: MessageCosts, t: Time) -> Departure {
        let MessageCosts { send, stream } = costs;
        // 1. Overhead and send gap, which may overlap.
        let mut ready = egress.send_gap_end().max(t + send);
        if let Some(noise) = &self.noise {
            // The overhead begins as it would without noise, and lasts longer.
            ready = noise.end(egress.processor(), t.max(egress.send_gap_end() - send), send);
        }
        Departure { ready, asked_at: ready.min(ready + latency + stream), latency, stream, overhead: send }
    }

    /// Defers a departure because other messages of its processor were served meanwhile: until the send gap is
    /// over, and until its turn is no earlier than `turn`. Returns whether the departure is later now.
    pub(crate) fn defer(&self, egress: &Egress, departure: &mut Departure, turn: Time) -> bool {
        let by_turn = turn - self.turn_time(departure);
        let mut later = (egress.send_gap_end() - departure.ready).max(by_turn);
        if let Some(noise) = &self.noise {
            // The overhead begins later, so other detours lengthen it.
            let ready_at_turn =
                if by_turn > Time::ZERO { departure.ready + by_turn } else { egress.send_gap_end() };
            let start = egress.send_gap_end().max(ready_at_turn) - departure.overhead;
            later = noise.end(egress.processor(), start, departure.overhead) - departure.ready;
        }
        if later > Time::ZERO {
            departure.ready += later;
            departure.asked_at += later;
        }
        later > Time::ZERO
    }

    /// Returns whether all messages are visible, whatever their length.
    fn compute_visibility(&self) -> bool {
        self.is_shared || self.lookahead() == Time::ZERO
    }

    /// Returns whether other processors can see that this message is served, because it competes with theirs
    /// for a port or the capacity. Then all earlier departures must be served before it.
    #[inline]
    pub fn is_visible(&self, departure: &Departure) -> bool {
        self.is_always_visible || departure.stream > Time::ZERO
    }

    /// Returns whether this is a pair of processors whose messages take no time and share nothing: each arrives
    /// at its turn, and at equal times the turns of processor 0 come first.
    pub fn is_instant_pair(&self) -> bool {
        let takes_no_time = self.is_exact && self.lookahead() == Time::ZERO;
        let shares_nothing = self.params.G() == Some(Time::ZERO) && !self.is_shared;
        let is_plain = self.params.P == 2 && self.level_count == 1 && self.choice.is_by_number();
        is_plain && takes_no_time && shares_nothing
    }

    /// Returns the number of [`Ingress`]es: one for each processor, at one level after the other.
    pub fn ingress_count(&self) -> usize {
        self.params.P * self.level_count
    }

    /// Creates the receiving sides of all processors, for a run on one thread.
    pub fn new_ingresses(&self) -> Box<[Ingress]> {
        (0..self.ingress_count()).map(|_| Ingress::default()).collect()
    }

    /// Serves a departure of the processor with this egress for a message to `to`: finds the earliest way that
    /// fits, and reserves it. All earlier departures must have been served.
    #[inline(always)]
    pub fn serve(
        &self,
        ingresses: &mut (impl Ingresses + ?Sized),
        egress: &mut Egress,
        to: usize,
        departure: &Departure,
    ) -> Passage {
        let LevelCosts { params, transport, .. } = self.levels.between(egress.processor(), to);
        let passage = transport.serve(ingresses, egress, to, departure);
        // The next send gap begins when the last word has entered.
        egress.set_send_gap_end(passage.enter + departure.stream.max(Time::ZERO) + params.g);
        passage
    }
}

#[cfg(test)]
#[path = "network_tests.rs"]
mod tests;
