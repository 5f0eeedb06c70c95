//! The network: when a message enters it and when it arrives, among all others.
//!
//! Both clocks use this code; the cost of a message by itself is in `params/costs.rs`. A send has two steps.
//! When it is called, [`Network::prepare_entry`] computes when the message will be ready: its [`Entry`], which
//! asks the network for the message's way. At the message's turn, before it is ready, [`Network::serve`] looks at
//! the reservations of both processors, finds the earliest way that fits, and reserves it. There is no queue, and
//! a reservation never changes: the entry that asks first is served first.
//! `docs/reference/model.md` explains the rules and names their sources:
//!
//! 1. **overhead and send gap**: `ready = max(t + o, send_gap_end)`, in [`Network::prepare_entry`];
//! 2. **capacity**: at most ceil(L/g) messages in transit from and to a processor, [`Occupancy`];
//! 3. **port**: a long message occupies the ports of both ends for (k-1)G, [`BusyIntervals`];
//! 4. **reception and receive gap**: `start = max(t, arrival, receive_gap_end)`, in `rank.rs`,
//!    `Rank::predict_reception`.
//!
//! Where a message is in transit until it is received, its end is not known when it enters, so nothing can be
//! reserved: [`Rooms`] counts the messages, and lets those wait that find no room.

use std::collections::HashMap;
use std::ops::DerefMut;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

use super::busy_intervals::BusyIntervals;
use super::capacity::Occupancy;
use super::judge::{Judge, Plain};
use super::rooms::{Admitted, Rooms};
use crate::message::MessageId;
use crate::params::{
    Capacity, Latency, Level, Noise, Params, PerLevel, Ports, Protocol, ReceptionCost, Surcharge, Ties,
};
use crate::rules::choice::{Choice, Places};
use crate::time::Time;

/// The most words of a message, or of an answer.
pub const MOST_WORDS: usize = u32::MAX as usize;

/// A message that asks the network for its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The end of the send gap and of the overhead: without contention the message enters then.
    pub ready: Time,
    /// The time at which it asks: `ready`, or the arrival if a negative G_l makes that earlier, because the
    /// receiver must know of the message by then. The turn is earlier, by the network's `head_start`.
    pub asked_at: Time,
    /// Time in transit of the first word.
    pub latency: Time,
    /// Time from the first word to the last.
    pub stream: Time,
    /// Time for which its sender is busy with it, without noise.
    pub overhead: Time,
}

impl Entry {
    /// Creates the entry of a message that asks when it is ready, and with which no sender is busy.
    pub fn when_ready(ready: Time, latency: Time, stream: Time) -> Entry {
        Entry { ready, asked_at: ready, latency, stream, overhead: Time::ZERO }
    }

    /// Lets the message ask again at a time from which on there is room.
    pub(crate) fn defer_to(&mut self, at: Time) {
        (self.ready, self.asked_at) = (at, at);
    }
}

/// The times of a message in the network, as [`Network::serve`] reserved them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passage {
    /// The end of the send gap and of the overhead: without contention the message enters then.
    pub ready: Time,
    /// The end of the stall: the capacity admits the message, which may still have to wait for a port.
    pub admitted: Time,
    /// The first word enters, and the sender goes on.
    pub enter: Time,
    /// The first word comes out.
    pub first: Time,
    /// The last word has come out, and the message can be received.
    pub arrival: Time,
    /// True if an entry that asked later was served before at one of the two ends; never on the virtual clock.
    pub out_of_order: bool,
}

/// The sending side of a processor, which no other processor uses.
#[derive(Debug)]
#[repr(C)]
pub struct Egress {
    processor: u32,
    /// The number of the processor's next message.
    next_number: u32,
    /// The end of the send gap: the entry of the last message's last word, plus g.
    send_gap_end: Time,
    /// Messages in transit from the processor, at the machine's outermost level.
    occupancy: Occupancy,
    /// State that few machines need, apart from the state that every message touches.
    extras: Option<Box<RareEgressState>>,
}

/// The state of an [`Egress`] that is needed only if latencies are drawn, there are several levels, or a message
/// could be overtaken or must not overtake.
#[derive(Debug, Default)]
struct RareEgressState {
    /// Messages in transit from the processor, at each of the inner levels.
    inner_occupancy: Box<[Occupancy]>,
    /// Draws latencies, once one was drawn.
    rng: Option<fastrand::Rng>,
    /// True if messages to the same processor arrive in the order in which they enter.
    keeps_order: bool,
    /// The latest arrival, by receiver, of messages that a later one could overtake.
    latest_arrivals: HashMap<u32, Time>,
}

impl Egress {
    #[inline]
    pub fn processor(&self) -> usize {
        self.processor as usize
    }

    /// Lets no message overtake an earlier one to the same processor from now on.
    pub fn keep_order(&mut self) {
        self.extras().keeps_order = true;
    }

    fn extras(&mut self) -> &mut RareEgressState {
        self.extras.get_or_insert_default()
    }

    /// Returns the messages in transit from the processor at a level.
    #[inline]
    fn occupancy(&self, level: usize) -> &Occupancy {
        let extras = self.extras.as_ref().filter(|_| level > 0);
        extras.map_or(&self.occupancy, |extras| &extras.inner_occupancy[level - 1])
    }

    #[inline]
    fn occupancy_mut(&mut self, level: usize) -> &mut Occupancy {
        let extras = self.extras.as_mut().filter(|_| level > 0);
        extras.map_or(&mut self.occupancy, |extras| &mut extras.inner_occupancy[level - 1])
    }

    /// Returns the earliest time at which the first word of a message to `to` may come out, so that the
    /// message does not overtake another if it must not.
    #[inline(never)]
    fn min_first(&self, to: usize, stream: Time) -> Time {
        let extras = self.extras.as_ref().filter(|extras| extras.keeps_order);
        let latest = extras.and_then(|extras| extras.latest_arrivals.get(&(to as u32)));
        latest.map_or(Time::ZERO, |arrival| *arrival - stream)
    }

    /// Notes the arrival of a message to `to` that could be overtaken.
    #[inline(never)]
    fn note_arrival(&mut self, to: usize, arrival: Time, asked_at: Time) {
        let latest = &mut self.extras().latest_arrivals;
        if latest.len() == latest.capacity() {
            // Later messages ask later, so they do not arrive before these.
            latest.retain(|_, arrival| *arrival > asked_at);
            latest.reserve(latest.len() + 1);
        }
        let latest = latest.entry(to as u32).or_insert(arrival);
        *latest = arrival.max(*latest);
    }

    /// Returns whether the next message may overtake an earlier one.
    #[inline]
    pub fn may_overtake(&self) -> bool {
        self.extras.as_ref().is_some_and(|extras| !extras.keeps_order && !extras.latest_arrivals.is_empty())
    }

    /// Returns whether this is the side of a processor that has sent the message of a number. A memory numbers none:
    /// its answers have numbers of the processors that ask.
    pub fn has_sent(&self, number: u32) -> bool {
        number < self.next_number
    }

    /// Returns the number of the processor's next message.
    #[inline]
    pub fn next_number(&self) -> u32 {
        self.next_number
    }

    /// Keeps a number for data that their receiver reads, or for the answer of a memory.
    pub fn keep_number(&mut self) {
        self.next_number = self.next_number.wrapping_add(1);
    }

    /// Returns the end of the send gap.
    #[inline]
    pub fn send_gap_end(&self) -> Time {
        self.send_gap_end
    }

    /// Returns the largest number of messages that were in transit from the processor at once.
    pub(crate) fn most_in_transit(&self) -> usize {
        let inner = self.extras.iter().flat_map(|extras| &extras.inner_occupancy);
        inner.chain([&self.occupancy]).map(|occupancy| occupancy.most as usize).max().unwrap_or(0)
    }
}

/// The receiving side of a processor and its ports, which other processors share.
#[derive(Debug, Default)]
#[repr(align(64))]
pub struct Ingress {
    occupancy: Occupancy,
    /// The single port, or the one for receiving if there are two.
    port: Port,
    /// The port for sending, if there are two.
    send_port: Port,
    /// The latest `asked_at` of the entries that were served.
    last_served: Time,
}

impl Ingress {
    /// Notes that an entry of this time is served. Returns whether a later entry was served before.
    #[inline]
    fn mark_served(&mut self, asked_at: Time) -> bool {
        let is_late = asked_at < self.last_served;
        self.last_served = self.last_served.max(asked_at);
        is_late
    }

    /// Returns the largest number of messages that were in transit to the processor at its level at once.
    pub fn most_in_transit(&self) -> usize {
        self.occupancy.most as usize
    }

    /// Returns the port through which its processor's long messages leave.
    fn port_out(&mut self, ports: Ports) -> &mut Port {
        if ports == Ports::Single { &mut self.port } else { &mut self.send_port }
    }
}

/// Returns the largest number of messages that were in transit to each processor at once, from those at each of the
/// receiving sides, which are one for each processor at one level after the other.
pub fn most_in_transit_to(P: usize, sides: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut most = vec![0; P];
    for (side, at_side) in sides.enumerate() {
        most[side % P] = at_side.max(most[side % P]);
    }
    most
}

/// The receiving sides of all processors at all levels. The driver of the network keeps them, since one
/// thread alone needs no locks.
pub trait Ingresses {
    /// Exclusive access to one of them.
    type Guard<'a>: DerefMut<Target = Ingress>
    where
        Self: 'a;

    fn hold(&mut self, index: usize) -> Self::Guard<'_>;

    /// Holds two of them, which must differ.
    fn hold_both(&mut self, one: usize, other: usize) -> [Self::Guard<'_>; 2];
}

/// The receiving sides on one thread.
impl Ingresses for [Ingress] {
    type Guard<'a> = &'a mut Ingress;

    #[inline]
    fn hold(&mut self, index: usize) -> &mut Ingress {
        &mut self[index]
    }

    #[inline]
    fn hold_both(&mut self, one: usize, other: usize) -> [&mut Ingress; 2] {
        self.get_disjoint_mut([one, other]).expect("both exist and differ")
    }
}

/// A receiving side that several threads share.
pub type LockedIngress = Mutex<Ingress>;

/// The receiving sides on several threads.
impl Ingresses for &[LockedIngress] {
    type Guard<'a>
        = MutexGuard<'a, Ingress>
    where
        Self: 'a;

    #[inline]
    fn hold(&mut self, index: usize) -> MutexGuard<'_, Ingress> {
        self[index].lock()
    }

    #[inline]
    fn hold_both(&mut self, one: usize, other: usize) -> [MutexGuard<'_, Ingress>; 2] {
        // All threads lock in the same order, which cannot deadlock.
        let [lower, higher] = [one.min(other), one.max(other)].map(|index| self[index].lock());
        if one < other { [lower, higher] } else { [higher, lower] }
    }
}

/// The ports of a level's groups, where the processors of a group share one.
#[derive(Debug)]
struct GroupPorts {
    group_size: usize,
    groups: Box<[GroupPort]>,
}

/// The reservations of long messages at a port; `None` if it was never used.
type Port = Option<Box<BusyIntervals>>;

/// The port that the processors of a group share.
#[derive(Debug, Default)]
struct GroupPort {
    /// The single port, or the one for sending if there are two.
    send_port: Port,
    /// The port for receiving, if there are two.
    receive_port: Port,
    /// The latest `asked_at` of the entries that were served.
    last_served: Time,
}

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
    protocol: Protocol,
    /// turn = `asked_at` - `head_start`, with one `head_start` for all messages: the least o. One value keeps turns
    /// in the order of entries, and the least o keeps a turn from coming before its send. It is 0 if G_l is
    /// negative, because then messages may ask before o is over.
    head_start: Time,
    /// True if all messages are [visible](Network::is_visible): the capacity of a level is limited, or L and o can
    /// both be 0. A message could then cause another at the same instant, so every send must wait for its turn.
    is_always_visible: bool,
    /// True if the capacity of any level is limited.
    has_capacity: bool,
    /// True if the capacity of any level is limited, and a message is in transit until it is received.
    has_rooms: bool,
    level_count: usize,
    /// The sending side of each processor's memory that has answered a request.
    memories: Mutex<HashMap<usize, Egress>>,
}

/// The parameters and limits of one level.
#[derive(Debug)]
struct LevelCosts {
    /// The number of the level; 0 for the machine's own parameters.
    number: usize,
    /// The index of its first [`Ingress`] among those of all levels.
    first_ingress: usize,
    params: Params,
    ports: Ports,
    /// The capacity, `usize::MAX` if unlimited.
    capacity: usize,
    reception_cost: ReceptionCost,
    /// Extra cost of longer messages.
    surcharge: Surcharge,
    /// The costs of a message of one word, as nearly all messages are.
    one_word: MessageCosts,
    /// The longest message that can be sent, in words.
    longest: usize,
    /// True if a message may overtake another that did not wait for its receiver's port: latencies differ, or
    /// a negative G_l shortens the transit. Otherwise the gap lets each message enter when all of the one
    /// before has entered.
    may_overtake: bool,
    /// The ports of the groups, if the processors of a group share one.
    group_ports: Option<Mutex<GroupPorts>>,
    /// The messages in transit, if they are so until they are received. Then `capacity` is unlimited.
    rooms: Option<Mutex<Rooms>>,
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
    /// Creates the costs of a level on a machine of `all` processors; `within` is the next level within it,
    /// if any.
    fn new(
        level: usize,
        params: Params,
        ports: Ports,
        (within, all): (Option<&Level>, usize),
        surcharge: Surcharge,
        is_exact: bool,
    ) -> LevelCosts {
        let group_ports = within.filter(|within| within.one_port).map(|within| {
            let (size, groups) = (within.params.P, all.div_ceil(within.params.P));
            Mutex::new(GroupPorts {
                group_size: size,
                groups: (0..groups).map(|_| GroupPort::default()).collect(),
            })
        });
        let costs = LevelCosts {
            number: level,
            first_ingress: level * all,
            params,
            ports,
            capacity: params.capacity().unwrap_or(usize::MAX),
            reception_cost: ReceptionCost::new(&params, &surcharge),
            surcharge,
            one_word: MessageCosts::default(),
            longest: longest(&params),
            may_overtake: !is_exact || params.has_negative_G_l(),
            group_ports,
            rooms: None,
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
    pub fn new(params: Params, levels: &[Level], ports: Ports, latency: Latency) -> Network {
        let choice = Arc::new(Choice::new(&params, latency, Ties::default()));
        Network::with_choice(params, ports, levels, choice, Surcharge::default())
    }

    /// Creates a network with these inner levels, and a choice that decides what the rules leave open.
    pub fn with_choice(
        params: Params,
        ports: Ports,
        levels: &[Level],
        choice: Arc<Choice>,
        surcharge: Surcharge,
    ) -> Network {
        let (is_exact, all_params) = (choice.is_exact(), params);
        let costs = |number: usize, params: Params, ports: Ports| {
            let within = (levels.get(number), all_params.P);
            LevelCosts::new(number, params, ports, within, surcharge, is_exact)
        };
        let by_level = PerLevel::new(costs(0, params, ports), levels, |number, level| {
            costs(number, level.params, level.ports)
        });
        let head_start =
            |costs: &LevelCosts| if costs.params.has_negative_G_l() { Time::ZERO } else { costs.params.o };
        let head_start = by_level.iter().map(head_start).min().unwrap_or_default();
        let has_capacity = by_level.iter().any(|costs| costs.capacity != usize::MAX);
        let network = Network {
            params,
            choice,
            is_exact,
            noise: None,
            protocol: Protocol::Push,
            head_start,
            is_always_visible: false,
            has_capacity,
            has_rooms: false,
            level_count: 1 + levels.len(),
            levels: by_level,
            memories: Mutex::default(),
        };
        Network { is_always_visible: network.compute_visibility(), ..network }
    }

    /// Returns this network with messages that are in transit until the given moment. Where that is their
    /// reception, it may free room at the moment at which it starts, so no message is served in advance.
    pub fn with_capacity(mut self, capacity: Capacity) -> Network {
        if capacity == Capacity::Received && self.has_capacity {
            (self.has_rooms, self.head_start) = (true, Time::ZERO);
            for costs in self.levels.iter_mut().filter(|costs| costs.capacity != usize::MAX) {
                let capacity = std::mem::replace(&mut costs.capacity, usize::MAX);
                costs.rooms = Some(Mutex::new(Rooms::new(capacity, self.params.P)));
            }
            self.is_always_visible = self.compute_visibility();
        }
        self
    }

    /// Returns whether messages are in transit until they are received, and their number is limited.
    #[inline]
    pub fn has_rooms(&self) -> bool {
        self.has_rooms
    }

    /// Asks for room for a message to `to` at both ends. Returns whether it is admitted at once; if not, a later
    /// [`free_room`](Network::free_room) admits it.
    pub(crate) fn ask_for_room(&self, id: MessageId, to: usize, at: Time) -> bool {
        let rooms = &self.levels.between(id.from, to).rooms;
        rooms.as_ref().is_none_or(|rooms| rooms.lock().ask(id, to, at))
    }

    /// Frees the room of a message from one processor to another, whose reception starts. Returns the messages
    /// that this admits.
    pub(crate) fn free_room(&self, from: usize, to: usize, at: Time) -> Admitted {
        let rooms = &self.levels.between(from, to).rooms;
        rooms.as_ref().map(|rooms| rooms.lock().free(from, to, at)).unwrap_or_default()
    }

    /// Returns the largest numbers of messages that were in transit from a processor at once, and to it, in a run
    /// that has ended and in which they were so until they were received.
    pub fn most_in_rooms(&self, id: usize) -> [usize; 2] {
        let rooms = self.levels.iter().flat_map(|costs| &costs.rooms);
        let most = rooms.map(|rooms| rooms.lock().most(id));
        most.reduce(|one, other| [one[0].max(other[0]), one[1].max(other[1])]).unwrap_or_default()
    }

    /// Returns this network between processors with noise.
    pub fn with_noise(self, noise: Option<Noise>) -> Network {
        Network { noise, ..self }
    }

    /// Returns this network with long messages that move in this way.
    pub fn with_rendezvous(self, protocol: Protocol) -> Network {
        Network { protocol, ..self }
    }

    /// Returns the way in which a message of k words moves that its receiver must be ready for, or `None` for others.
    #[inline]
    pub fn rendezvous(&self, from: usize, to: usize, k: usize) -> Option<Protocol> {
        self.is_synchronous(from, to, k).then_some(self.protocol)
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
        let (send_gap_end, occupancy) = (Time::ZERO, Occupancy::default());
        let mut egress =
            Egress { processor: processor as u32, next_number: 0, send_gap_end, occupancy, extras: None };
        if self.level_count > 1 {
            egress.extras().inner_occupancy = (1..self.level_count).map(|_| Occupancy::default()).collect();
        }
        egress
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

    /// Returns the turn of a message: the time at which it is to be served. Entries are served in the order in
    /// which they ask, since all turns are earlier than that by the same `head_start`.
    #[inline]
    pub fn turn_time(&self, entry: &Entry) -> Time {
        entry.asked_at - self.head_start
    }

    /// Returns the least time from the turn of any message to its arrival.
    pub fn lookahead(&self) -> Time {
        let min_transit = |costs: &LevelCosts| {
            if self.is_exact && !costs.params.has_negative_G_l() { costs.params.L } else { Time::ZERO }
        };
        self.head_start + self.levels.iter().map(min_transit).min().unwrap_or_default()
    }

    /// Creates the entry of a message of k words to `to`, whose send is called at `t`, and counts the
    /// message.
    #[inline(always)]
    pub(crate) fn prepare_entry(&self, egress: &mut Egress, to: usize, k: usize, t: Time) -> Entry {
        let entry = self.predict_entry(egress, to, k, t);
        self.number_entry(egress, to, entry)
    }

    /// Creates the entry of a message to a memory, as [`prepare_entry`](Network::prepare_entry) does of one to a
    /// processor.
    pub(crate) fn prepare_one_sided(&self, egress: &mut Egress, to: usize, k: usize, t: Time) -> Entry {
        let entry = self.predict_one_sided(egress, to, k, t);
        self.number_entry(egress, to, entry)
    }

    /// Counts a message, and draws its latency, if that is not exact.
    #[inline(always)]
    fn number_entry(&self, egress: &mut Egress, to: usize, mut entry: Entry) -> Entry {
        if !self.is_exact {
            let message = MessageId { from: egress.processor(), number: egress.next_number as usize };
            entry = self.draw_latency(egress, (message, to), entry);
        }
        egress.next_number = egress.next_number.wrapping_add(1);
        entry
    }

    /// Creates the entry of a message of k words that the processor with this egress reads from the memory of its
    /// sender. It begins at `t`, and asks when its o and the latency of its request are over.
    pub(crate) fn prepare_read(&self, egress: &mut Egress, message: MessageId, k: usize, t: Time) -> Entry {
        let (from, to) = (message.from, egress.processor());
        let (L, stream) = (self.params_between(from, to).L, self.stream(from, to, k));
        let ready = self.busy_until(to, t, self.read_overhead(from, to));
        let entry = Entry::when_ready(ready, L, stream);
        if self.is_exact { entry } else { self.draw_latency(egress, (message, to), entry) }
    }

    /// Returns the time that a processor spends on the request of a read from another's memory: the o of a message
    /// of no words, and L.
    pub(crate) fn read_overhead(&self, from: usize, to: usize) -> Time {
        self.send_overhead(to, from, 0) + self.params_between(from, to).L
    }

    /// Creates the entry of a memory's answer of k words to the processor with this egress, whose message has this
    /// number: it is ready when the request is there, and asks with the request. No processor is busy with it, so no
    /// negative G_l takes back time in which one would be.
    pub fn prepare_answer(
        &self,
        egress: &mut Egress,
        memory: usize,
        (number, k): (u32, usize),
        (ready, asked_at): (Time, Time),
    ) -> Entry {
        let costs = self.levels.between(memory, egress.processor());
        let (latency, stream) = (costs.params.L, costs.message_costs(k).stream.max(Time::ZERO));
        let mut entry = Entry { asked_at, ..Entry::when_ready(ready, latency, stream) };
        if !self.is_exact {
            let message = MessageId { from: egress.processor(), number: number as usize };
            entry.latency = self.draw_latency(egress, (message, message.from), entry).latency;
        }
        entry
    }

    /// Returns the sending side of a processor's memory, by which its answers go as messages of a sender of its own.
    pub fn memory(&self, processor: usize) -> impl DerefMut<Target = Egress> {
        MutexGuard::map(self.memories.lock(), |memories| {
            memories.entry(processor).or_insert_with(|| self.new_memory(processor))
        })
    }

    /// Draws the latency of a message.
    #[cold]
    fn draw_latency(&self, egress: &mut Egress, (message, to): (MessageId, usize), entry: Entry) -> Entry {
        let Entry { ready, latency: L, stream, overhead, .. } = entry;
        // With a negative G_l a shorter latency could let the message arrive before its send.
        let least = (-(overhead + stream)).max(Time::ZERO).min(L);
        let id = egress.processor();
        let rng = egress.extras().rng.get_or_insert_with(|| self.choice.rng(id));
        let latency = self.choice.latency(message, to, rng, ready, (least, L));
        Entry { latency, asked_at: ready.min(ready + latency + stream), ..entry }
    }

    /// Predicts the entry of a message of k words to `to`, whose send would be called at `t`, if its
    /// latency were exactly L.
    #[inline(always)]
    pub fn predict_entry(&self, egress: &Egress, to: usize, k: usize, t: Time) -> Entry {
        let costs = self.levels.between(egress.processor(), to);
        self.entry_at(egress, costs.params.L, costs.message_costs(k), t)
    }

    /// Predicts the entry of a message to a memory, as [`predict_entry`](Network::predict_entry) does of one to a
    /// processor.
    pub fn predict_one_sided(&self, egress: &Egress, to: usize, k: usize, t: Time) -> Entry {
        let costs = self.levels.between(egress.processor(), to);
        self.entry_at(egress, costs.params.L, costs.one_sided_costs(k), t)
    }

    /// Returns the entry of a message of these costs, whose send is called at `t`.
    #[inline(always)]
    fn entry_at(&self, egress: &Egress, latency: Time, costs: MessageCosts, t: Time) -> Entry {
        let MessageCosts { send, stream } = costs;
        // 1. Overhead and send gap, which may overlap.
        let mut ready = egress.send_gap_end.max(t + send);
        if let Some(noise) = &self.noise {
            // The overhead begins as it would without noise, and lasts longer.
            ready = noise.end(egress.processor(), t.max(egress.send_gap_end - send), send);
        }
        Entry { ready, asked_at: ready.min(ready + latency + stream), latency, stream, overhead: send }
    }

    /// Defers an entry because other messages of its processor were served meanwhile: until the send gap is
    /// over, and until its turn is no earlier than `turn`. Returns whether the entry is later now.
    pub(crate) fn defer(&self, egress: &Egress, entry: &mut Entry, turn: Time) -> bool {
        let by_turn = turn - self.turn_time(entry);
        let mut later = (egress.send_gap_end - entry.ready).max(by_turn);
        if let Some(noise) = &self.noise {
            // The overhead begins later, so other detours lengthen it.
            let ready_at_turn =
                if by_turn > Time::ZERO { entry.ready + by_turn } else { egress.send_gap_end };
            let start = egress.send_gap_end.max(ready_at_turn) - entry.overhead;
            later = noise.end(egress.processor(), start, entry.overhead) - entry.ready;
        }
        if later > Time::ZERO {
            entry.ready += later;
            entry.asked_at += later;
        }
        later > Time::ZERO
    }

    /// Returns whether all messages are visible, whatever their length.
    fn compute_visibility(&self) -> bool {
        self.has_capacity || self.lookahead() == Time::ZERO
    }

    /// Returns whether other processors can see that this message is served, because it competes with theirs
    /// for a port or the capacity. Then all earlier entries must be served before it.
    #[inline]
    pub fn is_visible(&self, entry: &Entry) -> bool {
        self.is_always_visible || entry.stream > Time::ZERO
    }

    /// Returns whether this is a pair of processors whose messages take no time and share nothing: each arrives
    /// at its turn, and at equal times the turns of processor 0 come first.
    pub fn is_instant_pair(&self) -> bool {
        let takes_no_time = self.is_exact && self.lookahead() == Time::ZERO;
        let shares_nothing = self.params.G() == Some(Time::ZERO) && !self.has_capacity;
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

    /// Serves an entry of the processor with this egress for a message to `to`: finds the earliest way that
    /// fits, and reserves it. All earlier entries must have been served.
    #[inline(always)]
    pub fn serve(
        &self,
        ingresses: &mut (impl Ingresses + ?Sized),
        egress: &mut Egress,
        to: usize,
        entry: &Entry,
    ) -> Passage {
        self.serve_judged(&mut Plain, ingresses, egress, to, entry)
    }

    /// Serves an entry as [`serve`](Network::serve) does, and lets `judge` compare the times on whose order
    /// it depends when the message enters and arrives.
    #[inline(always)]
    pub fn serve_judged(
        &self,
        judge: &mut impl Judge,
        ingresses: &mut (impl Ingresses + ?Sized),
        egress: &mut Egress,
        to: usize,
        entry: &Entry,
    ) -> Passage {
        let Entry { ready, asked_at, latency, stream, .. } = *entry;
        let from = egress.processor();
        let costs = self.levels.between(from, to);
        let min_first = if egress.extras.is_none() { Time::ZERO } else { egress.min_first(to, stream) };
        let first = min_first.max(ready + latency);
        let mut transit = Transit { enter: ready, first, arrival: first + stream };
        let (mut admitted, mut out_of_order) = (ready, false);
        if stream > Time::ZERO {
            // 2. Capacity, and 3. port.
            (admitted, transit, out_of_order) =
                costs.serve_long(judge, ingresses, egress, to, *entry, min_first);
        } else if costs.capacity != usize::MAX {
            let ingress = &mut *ingresses.hold(costs.first_ingress + to);
            out_of_order = ingress.mark_served(asked_at);
            // 2. Capacity.
            if costs.is_full_after(judge, egress, ingress, ready) {
                (admitted, transit) =
                    costs.find_transit(judge, egress, (ingress, None), from == to, *entry, min_first);
            }
            costs.reserve_room(judge, egress, ingress, &transit, asked_at);
        }
        let Transit { enter, first, arrival } = transit;
        // The next send gap begins when the last word has entered.
        egress.send_gap_end = enter + stream.max(Time::ZERO) + costs.params.g;
        // A message of one word without extras cannot be overtaken: the next one enters later, and takes as
        // long.
        let is_usual = stream <= Time::ZERO && egress.extras.is_none();
        if !is_usual && (first > enter + latency || costs.may_overtake) {
            egress.note_arrival(to, arrival, asked_at);
        }
        Passage { ready, admitted, enter, first, arrival, out_of_order }
    }
}

impl LevelCosts {
    /// Serves a message of several words, which needs the ports. Returns when the capacity admits it, its
    /// transit, and whether it is out of order.
    #[inline(never)]
    fn serve_long(
        &self,
        judge: &mut impl Judge,
        ingresses: &mut (impl Ingresses + ?Sized),
        egress: &mut Egress,
        to: usize,
        entry: Entry,
        min_first: Time,
    ) -> (Time, Transit, bool) {
        let (from, all) = (egress.processor(), self.first_ingress);
        let (mut receiver, mut sender) = match from != to {
            true => {
                let [sender, receiver] = ingresses.hold_both(all + from, all + to);
                (receiver, Some(sender))
            }
            false => (ingresses.hold(all + to), None),
        };
        let mut out_of_order = receiver.mark_served(entry.asked_at);
        if let Some(sender) = sender.as_mut().filter(|_| self.ports == Ports::Single) {
            out_of_order |= sender.mark_served(entry.asked_at);
        }
        let (receiver, sender) = (&mut *receiver, &mut sender);
        let mut find = |egress: &mut Egress, receiver: &mut Ingress, sender: Option<&mut Ingress>| {
            let (admitted, transit) =
                self.find_transit(judge, egress, (receiver, sender), from == to, entry, min_first);
            self.reserve_room(judge, egress, receiver, &transit, entry.asked_at);
            (admitted, transit)
        };
        let (admitted, transit) = match &self.group_ports {
            None => find(egress, receiver, sender.as_deref_mut()),
            Some(group_ports) => {
                let mut group_ports = group_ports.lock();
                out_of_order |= group_ports.mark_served(from, to, entry.asked_at);
                group_ports.swap_ports(self, (from, sender.as_deref_mut()), (to, receiver));
                let found = find(egress, receiver, sender.as_deref_mut());
                group_ports.swap_ports(self, (from, sender.as_deref_mut()), (to, receiver));
                found
            }
        };
        (admitted, transit, out_of_order)
    }

    /// Returns whether one of the ends is full at some moment after `ready`.
    #[inline(always)]
    fn is_full_after(&self, judge: &mut impl Judge, egress: &Egress, ingress: &Ingress, ready: Time) -> bool {
        let sender = egress.occupancy(self.number);
        let free = sender.free_from(self.capacity).max(ingress.occupancy.free_from(self.capacity));
        judge.is_before(ready, free)
    }

    /// Reserves room at both ends for a message with this transit.
    #[inline(always)]
    fn reserve_room(
        &self,
        judge: &mut impl Judge,
        egress: &mut Egress,
        ingress: &mut Ingress,
        &Transit { enter, arrival, .. }: &Transit,
        asked_at: Time,
    ) {
        if self.capacity != usize::MAX && arrival > enter {
            let (now, way) = (judge.forgets_before(asked_at), (enter, arrival));
            egress.occupancy_mut(self.number).reserve(judge, way, now, self.capacity);
            ingress.occupancy.reserve(judge, way, now, self.capacity);
        }
    }

    /// Finds the transit of a message that is long or has to stall, and reserves the ports for it. Returns
    /// when the capacity admits the message, and its transit. `sender` is the sender's ingress, if its port
    /// is needed and is not the receiver's.
    #[inline(never)]
    fn find_transit(
        &self,
        judge: &mut impl Judge,
        egress: &mut Egress,
        (receiver, sender): (&mut Ingress, Option<&mut Ingress>),
        is_to_itself: bool,
        Entry { ready, asked_at, latency, stream, .. }: Entry,
        min_first: Time,
    ) -> (Time, Transit) {
        let (single, occupies) = (self.ports == Ports::Single, stream.max(Time::ZERO));
        let search = TransitSearch {
            capacity: self.capacity,
            sender: egress.occupancy(self.number),
            receiver: &receiver.occupancy,
            send_port: match (sender.as_deref().unwrap_or(receiver), single) {
                (sender, true) => sender.port.as_deref(),
                (sender, false) => sender.send_port.as_deref(),
            },
            receive_port: receiver.port.as_deref(),
            // Through a single port a message to its own sender comes in only when all of it has gone out.
            min_latency: if single && is_to_itself { latency.max(occupies) } else { latency },
            min_first,
            stream,
        };
        let has_room = !self.is_full_after(judge, egress, receiver, ready);
        let admitted = if has_room { ready } else { search.earliest_transit(judge, ready, false).enter };
        let transit = search.earliest_transit(judge, admitted, stream > Time::ZERO);
        if stream > Time::ZERO {
            let out = sender.unwrap_or(receiver).port_out(self.ports);
            let now = judge.forgets_before(asked_at);
            out.get_or_insert_default().reserve(judge, transit.enter, transit.enter + stream, now);
            receiver.port.get_or_insert_default().reserve(judge, transit.first, transit.arrival, now);
        }
        (admitted, transit)
    }
}

impl GroupPorts {
    /// Notes that an entry between two groups is served. Returns whether a later entry was served before.
    fn mark_served(&mut self, from: usize, to: usize, asked_at: Time) -> bool {
        let mut is_late = false;
        for processor in [from, to] {
            let group = &mut self.groups[processor / self.group_size];
            is_late |= asked_at < group.last_served;
            group.last_served = group.last_served.max(asked_at);
        }
        is_late
    }

    /// Swaps the ports of two groups with those of their processors, where [`LevelCosts::find_transit`]
    /// looks.
    fn swap_ports(
        &mut self,
        costs: &LevelCosts,
        (from, sender): (usize, Option<&mut Ingress>),
        (to, receiver): (usize, &mut Ingress),
    ) {
        let [from_group, to_group] = [from, to].map(|processor| processor / self.group_size);
        if let Some(sender) = sender {
            std::mem::swap(sender.port_out(costs.ports), &mut self.groups[from_group].send_port);
        }
        let group = &mut self.groups[to_group];
        let into = if costs.ports == Ports::Single { &mut group.send_port } else { &mut group.receive_port };
        std::mem::swap(&mut receiver.port, into);
    }
}

/// Possible times of a message in transit.
#[derive(Clone, Copy)]
struct Transit {
    /// The first word enters.
    enter: Time,
    /// The first word comes out.
    first: Time,
    /// The last word has come out.
    arrival: Time,
}

/// The search for the transit of a message among the reservations of others.
struct TransitSearch<'a> {
    capacity: usize,
    /// The messages in transit from the sender.
    sender: &'a Occupancy,
    /// The messages in transit to the receiver.
    receiver: &'a Occupancy,
    /// The port through which the message leaves; `None` if it was never used.
    send_port: Option<&'a BusyIntervals>,
    /// The port through which the message comes in; `None` if it was never used.
    receive_port: Option<&'a BusyIntervals>,
    /// The least time in transit of the first word.
    min_latency: Time,
    /// The earliest time at which the first word may come out, so that the message does not overtake another.
    min_first: Time,
    /// Time from the first word to the last.
    stream: Time,
}

impl TransitSearch<'_> {
    /// Finds the earliest transit from `ready` on that fits. The sender's port must be free only if
    /// `through_port`.
    ///
    /// A message that enters later never arrives earlier. So if there is no room at some moment of a transit,
    /// no transit that begins before that moment fits either, and the search goes on when there is room
    /// again.
    fn earliest_transit(&self, judge: &mut impl Judge, ready: Time, through_port: bool) -> Transit {
        let mut enter = ready;
        loop {
            if through_port && let Some(out) = self.send_port {
                enter = out.earliest_fit(judge, enter, self.stream);
            }
            let mut first = self.min_first.max(enter + self.min_latency);
            if self.stream > Time::ZERO
                && let Some(into) = self.receive_port
            {
                first = into.earliest_fit(judge, first, self.stream);
            }
            let arrival = first + self.stream;
            let at_sender = self.sender.next_room(judge, (enter, arrival), self.capacity);
            let at_receiver = self.receiver.next_room(judge, (enter, arrival), self.capacity);
            match at_sender.max(at_receiver) {
                // A negative G_l may cancel the latency: then the message is in transit only while it waits
                // for the message before it, and needs no room after that.
                Some(room_again) if self.min_latency + self.stream <= Time::ZERO => {
                    enter = room_again.min(enter.max(self.min_first + self.stream));
                }
                Some(room_again) => enter = room_again,
                None => return Transit { enter, first, arrival },
            }
        }
    }
}

#[cfg(test)]
#[path = "network_tests.rs"]
mod tests;
