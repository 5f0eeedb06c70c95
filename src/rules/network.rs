//! The network: when a message enters it and when it arrives, among all others.
//!
//! Both clocks use this code; what a message costs by itself is in `params/costs.rs`. A send has two
//! moments. When it is called, [`Network::request`] says when the message will be ready. At that moment,
//! [`Network::serve`] looks at what is already promised to the two processors, finds the earliest way that
//! fits, and promises it to the message. There is no queue, and a promise is never changed, so the message that
//! asks first is served first. The rules and their sources are told at length in `docs/reference/model.md`:
//!
//! 1. **overhead and gap**: `ready = max(t + o, gap over)` in [`Network::request`];
//! 2. **capacity**: at most ceil(L/g) messages in transit from and to a processor, [`Transits`], in `capacity.rs`;
//! 3. **port**: the (k-1)G of a long message occupy both ends, [`Stretches`];
//! 4. **reception**: `start = max(t, arrival, last start + g)`, in `pace.rs`.

use std::collections::HashMap;
use std::ops::DerefMut;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use smallvec::SmallVec;

use super::capacity::Transits;
use super::stretches::Stretches;
use crate::message::MessageId;
use crate::params::{ByLevel, Latency, Level, Noise, Params, Ports, ReceptionCost, Surcharge, Ties};
use crate::rules::choice::{Choice, Drawn, Places};
use crate::time::Time;

/// What a message asks the network for, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ask {
    /// When the overhead and the gap are over: without contention the message would enter then.
    pub ready: Time,
    /// When the message asks: when it is ready, or at its arrival if a negative G_l makes that earlier, because the
    /// receiver must know of the message by then.
    pub ask: Time,
    /// How long the first word will be under way.
    pub(crate) latency: Time,
    /// How long after the first word the last word follows.
    stream: Time,
}

impl Ask {
    /// Of a message that asks when it is ready.
    pub(crate) fn when_ready(ready: Time, latency: Time, stream: Time) -> Ask {
        Ask { ready, ask: ready, latency, stream }
    }
}

/// A message's way through the network, as [`Network::serve`] promised it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Passage {
    /// When the overhead and the gap are over: without contention the message would enter then.
    pub ready: Time,
    /// When the capacity lets the message in; it may still have to wait for a port.
    pub admitted: Time,
    /// When the first word enters, and the sender goes on.
    pub enter: Time,
    /// When the first word comes out.
    pub first: Time,
    /// When the last word has come out, and the message can be received.
    pub arrival: Time,
    /// Whether a message that asked later at one of the two ends was served before; never on the virtual clock.
    pub out_of_order: bool,
}

/// The sending side of a processor, which nobody else touches.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Exit {
    /// The processor.
    id: u32,
    /// How many messages of the processor have asked for a way.
    requests: u32,
    /// When the gap after the last send is over.
    next: Time,
    /// Messages in transit from the processor, but for those to processors of its own group.
    room: Transits,
    /// State that few machines need. It lies elsewhere, so that the state that every message touches lies close together.
    extras: Option<Box<Extras>>,
}

/// The state of a processor's sending side if latencies are drawn, there are two ports or several levels, or a message could
/// be overtaken or must not overtake.
#[derive(Debug)]
struct Extras {
    /// For each level the port for sending, if there are two ports and it was ever used.
    ports: SmallVec<[Port; 1]>,
    /// Messages in transit at each of the levels within.
    rooms: Box<[Transits]>,
    /// Draws latencies.
    dice: fastrand::Rng,
    /// Whether messages to the same processor arrive in the order in which they enter.
    keeps_order: bool,
    /// For each receiver the latest arrival of a message that a later one could overtake.
    latest: HashMap<u32, Time>,
}

impl Exit {
    #[inline]
    pub(crate) fn id(&self) -> usize {
        self.id as usize
    }

    /// From now on no message overtakes an earlier one to the same processor.
    pub(crate) fn keep_order(&mut self) {
        self.extras().keeps_order = true;
    }

    fn extras(&mut self) -> &mut Extras {
        self.extras.get_or_insert_with(|| {
            let ((ports, rooms, latest), keeps_order) = Default::default();
            Box::new(Extras { ports, rooms, dice: fastrand::Rng::with_seed(0), keeps_order, latest })
        })
    }

    /// The messages in transit from the processor at a level.
    #[inline]
    fn room(&self, level: usize) -> &Transits {
        match &self.extras {
            _ if level == 0 => &self.room,
            Some(extras) => &extras.rooms[level - 1],
            None => &self.room,
        }
    }

    #[inline]
    fn room_mut(&mut self, level: usize) -> &mut Transits {
        match &mut self.extras {
            _ if level == 0 => &mut self.room,
            Some(extras) => &mut extras.rooms[level - 1],
            None => &mut self.room,
        }
    }

    /// The port for sending at a level, if there are two ports and it was ever used.
    fn port(&self, level: usize) -> Option<&Stretches> {
        self.extras.as_ref()?.ports.get(level)?.as_deref()
    }

    fn port_mut(&mut self, level: usize) -> &mut Port {
        let ports = &mut self.extras().ports;
        if ports.len() <= level {
            ports.resize_with(level + 1, || None);
        }
        &mut ports[level]
    }

    /// When the first word of a message to `y` may come out, so that the message overtakes none if it must not.
    #[inline(never)]
    fn not_before(&self, y: usize, stream: Time) -> Time {
        let extras = self.extras.as_ref().filter(|extras| extras.keeps_order);
        let latest = extras.and_then(|extras| extras.latest.get(&(y as u32)));
        latest.map_or(Time::ZERO, |arrival| *arrival - stream)
    }

    /// Notes when a message to `y` arrives that asked at `ask` and could be overtaken.
    #[inline(never)]
    fn note_arrival(&mut self, y: usize, arrival: Time, ask: Time) {
        let latest = &mut self.extras().latest;
        if latest.len() == latest.capacity() {
            // Later messages ask later, so they do not arrive before these.
            latest.retain(|_, arrival| *arrival > ask);
            latest.reserve(latest.len() + 1);
        }
        let latest = latest.entry(y as u32).or_insert(arrival);
        *latest = arrival.max(*latest);
    }

    /// Whether the next message may overtake one that was sent before.
    #[inline]
    pub(crate) fn may_overtake(&self) -> bool {
        self.extras.as_ref().is_some_and(|extras| !extras.keeps_order && !extras.latest.is_empty())
    }

    /// How many messages of the processor have asked for a way.
    #[inline]
    pub(crate) fn requests(&self) -> u32 {
        self.requests
    }

    /// When the gap after the last send is over.
    #[inline]
    pub(crate) fn gap_over(&self) -> Time {
        self.next
    }

    /// The most messages that were in transit from the processor at once.
    pub(crate) fn most_in_transit(&self) -> usize {
        let inner = self.extras.iter().flat_map(|extras| &extras.rooms);
        inner.chain([&self.room]).map(|room| room.most as usize).max().unwrap_or(0)
    }
}

/// The receiving side of a processor, which its senders share.
#[derive(Debug, Default)]
#[repr(align(64))]
pub(crate) struct Entrance {
    /// Messages in transit to the processor.
    room: Transits,
    /// The port, if it was ever used: the single one, or the one for receiving if there are two.
    port: Port,
    /// The latest time at which a message asked that was served.
    served: Time,
}

impl Entrance {
    /// Notes that a message that asks at this time is served. Returns whether one that asked later was served before.
    #[inline]
    fn has_served(&mut self, ask: Time) -> bool {
        let late = ask < self.served;
        self.served = self.served.max(ask);
        late
    }
}

/// The receiving sides of all processors at all levels. Whoever drives the network keeps them, since one thread alone needs
/// no locks.
pub(crate) trait Entrances {
    /// An entrance that is held, so that nobody else uses it.
    type Held<'a>: DerefMut<Target = Entrance>
    where
        Self: 'a;

    /// Holds an entrance.
    fn hold(&mut self, place: usize) -> Self::Held<'_>;

    /// Holds two entrances, which must not be the same.
    fn hold_both(&mut self, one: usize, other: usize) -> [Self::Held<'_>; 2];
}

/// Those of one thread.
impl Entrances for [Entrance] {
    type Held<'a> = &'a mut Entrance;

    #[inline]
    fn hold(&mut self, place: usize) -> &mut Entrance {
        &mut self[place]
    }

    #[inline]
    fn hold_both(&mut self, one: usize, other: usize) -> [&mut Entrance; 2] {
        self.get_disjoint_mut([one, other]).expect("they are there, and not the same")
    }
}

/// An entrance that one thread at a time may hold.
pub(crate) type LockedEntrance = Mutex<Entrance>;

/// Those of several threads.
impl Entrances for &[LockedEntrance] {
    type Held<'a>
        = MutexGuard<'a, Entrance>
    where
        Self: 'a;

    #[inline]
    fn hold(&mut self, place: usize) -> MutexGuard<'_, Entrance> {
        self[place].lock()
    }

    #[inline]
    fn hold_both(&mut self, one: usize, other: usize) -> [MutexGuard<'_, Entrance>; 2] {
        // Everybody locks in the same order, which cannot deadlock.
        let [lower, higher] = [one.min(other), one.max(other)].map(|place| self[place].lock());
        if one < other { [lower, higher] } else { [higher, lower] }
    }
}

/// The ports of a level's groups.
#[derive(Debug)]
struct Cards {
    /// How many processors a group has.
    size: usize,
    /// The port of each group.
    of_groups: Box<[Card]>,
}

/// What is promised to long messages at a port, if it was ever used.
type Port = Option<Box<Stretches>>;

/// The port of a group whose processors share one.
#[derive(Debug, Default)]
struct Card {
    /// The single port, or the one for sending if there are two.
    out: Port,
    /// The port for receiving, if there are two.
    into: Port,
    /// The latest time at which a message asked that was served.
    served: Time,
}

/// The network between the processors.
#[derive(Debug)]
pub(crate) struct Network {
    params: Params,
    /// What holds at each level.
    terms: ByLevel<Terms>,
    /// Settles what the rules leave open.
    choice: Arc<dyn Choice>,
    /// Whether each word is under way for exactly L.
    is_exact: bool,
    /// The noise of the processors.
    noise: Option<Noise>,
    /// Whether latencies are exact and there is no noise.
    is_plain: bool,
    /// How long before they ask all messages are served: their order stays the same. It is the least o, because each message
    /// costs its sender at least that: so a sender whose gap is over need not wait at all. It is 0 if G_l is negative, because
    /// then messages may ask before o is over.
    head_start: Time,
    /// Whether all messages must be served in order, even those that share nothing, since they may take no time at all.
    has_chains: bool,
    /// Whether there is a capacity at any level.
    has_capacity: bool,
    /// How many levels there are.
    levels: usize,
}

/// What holds for messages of one level.
#[derive(Debug)]
struct Terms {
    /// The number of the level; that of the machine's own parameters is 0.
    level: usize,
    /// Where its entrances begin among all.
    entrances: usize,
    params: Params,
    ports: Ports,
    /// The capacity, `usize::MAX` if unlimited.
    capacity: usize,
    reception_cost: ReceptionCost,
    /// What longer messages cost beyond the parameters.
    surcharge: Surcharge,
    /// The costs of a message of one word, which nearly all messages have.
    one_word: Costs,
    /// The longest message that can be sent, in words.
    longest: usize,
    /// Whether a message may overtake another that did not wait for its receiver's port: latencies differ, or a negative G_l
    /// takes back a part of the way. Otherwise the gap lets each message enter when all of the one before has entered.
    may_overtake: bool,
    /// The ports of groups whose processors share one.
    cards: Option<Mutex<Cards>>,
}

/// What a message of some length costs, apart from its reception.
#[derive(Clone, Copy, Debug, Default)]
struct Costs {
    /// How long the sender is busy.
    send: Time,
    /// How long after the first word the last word follows.
    stream: Time,
}

impl Terms {
    /// The terms of a level; `within` is the level within it, if there is one, on a machine of `all` processors.
    fn new(
        level: usize,
        params: Params,
        ports: Ports,
        (within, all): (Option<&Level>, usize),
        surcharge: Surcharge,
        is_exact: bool,
    ) -> Terms {
        let cards = within.filter(|within| within.one_port).map(|within| {
            let (size, groups) = (within.params.P, all / within.params.P);
            Mutex::new(Cards { size, of_groups: (0..groups).map(|_| Card::default()).collect() })
        });
        let terms = Terms {
            level,
            entrances: level * all,
            params,
            ports,
            capacity: params.capacity().unwrap_or(usize::MAX),
            reception_cost: ReceptionCost::under(&params, &surcharge),
            surcharge,
            one_word: Costs::default(),
            longest: params.longest().unwrap_or(usize::MAX).min(u32::MAX as usize),
            may_overtake: !is_exact || params.shrinks(),
            cards,
        };
        Terms { one_word: terms.costs_of_any(1), ..terms }
    }

    #[inline]
    fn costs(&self, k: usize) -> Costs {
        if k == 1 { self.one_word } else { self.costs_of_any(k) }
    }

    /// What a message of k words costs, computed anew.
    fn costs_of_any(&self, k: usize) -> Costs {
        let (send, stream) = (self.params.send_overhead(k), self.params.stream(k));
        match k > self.surcharge.above {
            true => Costs { send: send + self.surcharge.send, stream: stream + self.surcharge.stream },
            false => Costs { send, stream },
        }
    }
}

impl Network {
    /// A network of one level in which nothing has been sent.
    pub(crate) fn new(params: Params, ports: Ports, latency: Latency) -> Network {
        let choice = Arc::new(Drawn::new(&params, latency, Ties::default()));
        Network::settled_by(params, ports, &[], choice, Surcharge::default())
    }

    /// A network with these levels within it, and a choice that settles what the rules leave open.
    pub(crate) fn settled_by(
        params: Params,
        ports: Ports,
        levels: &[Level],
        choice: Arc<dyn Choice>,
        surcharge: Surcharge,
    ) -> Network {
        let (is_exact, all_params) = (choice.is_exact(), params);
        let terms = |number: usize, params: Params, ports: Ports| {
            let within = (levels.get(number), all_params.P);
            Terms::new(number, params, ports, within, surcharge, is_exact)
        };
        let by_level = ByLevel::new(terms(0, params, ports), levels, |number, level| {
            terms(number, level.params, level.ports)
        });
        let head_start = |terms: &Terms| if terms.params.shrinks() { Time::ZERO } else { terms.params.o };
        let head_start = by_level.all().map(head_start).min().unwrap_or_default();
        let has_capacity = by_level.all().any(|terms| terms.capacity != usize::MAX);
        let network = Network {
            params,
            choice,
            is_exact,
            noise: None,
            is_plain: is_exact,
            head_start,
            has_chains: false,
            has_capacity,
            levels: 1 + levels.len(),
            terms: by_level,
        };
        Network { has_chains: network.lookahead() == Time::ZERO, ..network }
    }

    /// The same network between processors with this noise.
    pub(crate) fn with_noise(self, noise: Option<Noise>) -> Network {
        Network { is_plain: self.is_exact && noise.is_none(), noise, ..self }
    }

    /// The noise of the processors, if there is any.
    #[inline]
    pub(crate) fn noise(&self) -> Option<&Noise> {
        self.noise.as_ref()
    }

    /// When a processor is done that is busy for so long from a moment on.
    #[inline]
    pub(crate) fn busy_until(&self, id: usize, start: Time, time: Time) -> Time {
        match &self.noise {
            None => start + time,
            Some(noise) => disturbed(noise, id, start, time),
        }
    }

    pub(crate) fn params(&self) -> &Params {
        &self.params
    }

    /// The sending side of processor `x`.
    pub(crate) fn exit(&self, x: usize) -> Exit {
        let mut exit =
            Exit { id: x as u32, requests: 0, next: Time::ZERO, room: Transits::default(), extras: None };
        if !self.is_exact {
            exit.extras().dice = self.choice.dice(x);
        }
        if self.levels > 1 {
            exit.extras().rooms = (1..self.levels).map(|_| Transits::default()).collect();
        }
        if self.params.gps().is_some() {
            exit.keep_order(); // LogGPS speaks of MPI, where no message overtakes another between the same two
        }
        exit
    }

    /// The place of a processor among those that act at `time`.
    pub(crate) fn place(&self, time: Time, id: usize) -> usize {
        self.choice.place(time, id as u32) as usize
    }

    /// The processor that has a place among those that act at `time`.
    pub(crate) fn who(&self, time: Time, place: usize) -> usize {
        self.choice.who(time, place as u32) as usize
    }

    /// The places of processors that act at the same time.
    pub(crate) fn places(&self) -> Places {
        Places::new(&self.choice)
    }

    /// The longest message that `x` can send to `y`, in words.
    #[inline]
    pub(crate) fn longest(&self, x: usize, y: usize) -> usize {
        self.terms.between(x, y).longest
    }

    /// Whether a message of k words from `x` waits until `y` receives it.
    #[inline]
    pub(crate) fn is_synchronous(&self, x: usize, y: usize, k: usize) -> bool {
        self.terms.between(x, y).params.is_synchronous(k)
    }

    /// Whether a message of k words waits for its receiver at some level.
    pub(crate) fn may_be_synchronous(&self, k: usize) -> bool {
        self.terms.all().any(|terms| terms.params.is_synchronous(k))
    }

    /// The parameters between two processors.
    #[inline]
    pub(crate) fn between(&self, x: usize, y: usize) -> &Params {
        &self.terms.between(x, y).params
    }

    /// Whether a message to another processor is known to be sent no later than it arrives: its latency is L, and its way does
    /// not begin within its overhead, as a negative G_l says.
    pub(crate) fn is_timely(&self, x: usize, y: usize) -> bool {
        x != y && self.is_exact && !self.between(x, y).shrinks()
    }

    /// How long the sender of k words is busy.
    #[inline]
    pub(crate) fn send_overhead(&self, x: usize, y: usize, k: usize) -> Time {
        self.terms.between(x, y).costs(k).send
    }

    /// How long the receiver of k words is busy.
    #[inline]
    pub(crate) fn recv_overhead(&self, x: usize, y: usize, k: usize) -> Time {
        self.terms.between(x, y).reception_cost.of(k)
    }

    /// What receptions cost, for those who ask without the network.
    pub(crate) fn reception_cost(&self) -> ByLevel<ReceptionCost> {
        self.terms.map(|terms| terms.reception_cost)
    }

    /// When a message is to be served, so that all messages are served in the order in which they ask.
    #[inline]
    pub(crate) fn turn(&self, request: &Ask) -> Time {
        request.ask - self.head_start
    }

    /// The least time from a message's turn to its arrival, whatever is sent.
    pub(crate) fn lookahead(&self) -> Time {
        let under_way = |terms: &Terms| {
            if self.is_exact && !terms.params.shrinks() { terms.params.L } else { Time::ZERO }
        };
        self.head_start + self.terms.all().map(under_way).min().unwrap_or_default()
    }

    /// What a message of k words to `y` asks the network for, if the processor with this exit calls its send at `t`.
    #[inline]
    pub(crate) fn request(&self, exit: &mut Exit, y: usize, k: usize, t: Time) -> Ask {
        let Ask { mut ready, mut ask, mut latency, stream } = self.plain(exit, y, k, t);
        if !self.is_plain {
            Ask { ready, ask, latency, .. } = self.settled(exit, y, k, t);
        }
        exit.requests = exit.requests.wrapping_add(1);
        Ask { ready, ask, latency, stream }
    }

    /// The same ask with the noise and a latency that is drawn, as far as there are these.
    #[cold]
    fn settled(&self, exit: &mut Exit, y: usize, k: usize, t: Time) -> Ask {
        let request = self.noisy(exit, y, k, t, self.plain(exit, y, k, t));
        if self.is_exact { request } else { self.drawn(exit, y, k, request) }
    }

    /// The same ask with the noise, if there is any: the overhead begins as it would without, and lasts longer.
    fn noisy(&self, exit: &Exit, y: usize, k: usize, t: Time, request: Ask) -> Ask {
        let Some(noise) = &self.noise else { return request };
        let overhead = self.send_overhead(exit.id(), y, k);
        let ready = noise.end(exit.id(), t.max(exit.next - overhead), overhead);
        Ask { ready, ask: request.ask + (ready - request.ready), ..request }
    }

    /// The same ask with a latency that is drawn.
    fn drawn(&self, exit: &mut Exit, y: usize, k: usize, request: Ask) -> Ask {
        let Ask { ready, latency: L, stream, .. } = request;
        // With a negative G_l a shorter latency could let the message arrive before its send.
        let least = (-(self.send_overhead(exit.id(), y, k) + stream)).max(Time::ZERO).min(L);
        let message = MessageId { from: exit.id(), number: exit.requests as usize };
        let latency = self.choice.latency(message, y, &mut exit.extras().dice, ready, (least, L));
        Ask { latency, ask: ready.min(ready + latency + stream), ..request }
    }

    /// What a message of k words to `y` would ask for if its send were called at `t` and its latency were exactly L.
    #[inline]
    pub(crate) fn foreseen(&self, exit: &Exit, y: usize, k: usize, t: Time) -> Ask {
        let request = self.plain(exit, y, k, t);
        if self.noise.is_none() { request } else { self.noisy(exit, y, k, t, request) }
    }

    /// The same without noise.
    #[inline]
    fn plain(&self, exit: &Exit, y: usize, k: usize, t: Time) -> Ask {
        let terms = self.terms.between(exit.id(), y);
        let (Costs { send, stream }, latency) = (terms.costs(k), terms.params.L);
        // 1. Overhead, which may overlap the gap after the send before.
        let ready = exit.next.max(t + send);
        Ask { ready, ask: ready.min(ready + latency + stream), latency, stream }
    }

    /// Puts off a message that must wait because others of its processor have been served meanwhile: until the gap after
    /// them is over, and until its turn is no earlier than `turn`. Returns whether that made it later.
    pub(crate) fn put_off(&self, exit: &Exit, (y, k): (usize, usize), request: &mut Ask, turn: Time) -> bool {
        let by_turn = turn - self.turn(request);
        let mut later = (exit.next - request.ready).max(by_turn);
        if let Some(noise) = &self.noise {
            // The overhead begins later, and lasts as long as the detours there say.
            let turned = if by_turn > Time::ZERO { request.ready + by_turn } else { exit.next };
            let overhead = self.send_overhead(exit.id(), y, k);
            later = noise.end(exit.id(), exit.next.max(turned) - overhead, overhead) - request.ready;
        }
        if later > Time::ZERO {
            request.ready += later;
            request.ask += later;
        }
        later > Time::ZERO
    }

    /// Whether this message and those of other processors can be in each other's way, so that it matters which is served
    /// first.
    #[inline]
    pub(crate) fn is_shared(&self, request: &Ask) -> bool {
        request.stream > Time::ZERO || self.has_capacity
    }

    /// Whether other processors can see that this message is served: then all that ask earlier must have been served.
    #[inline]
    pub(crate) fn is_seen(&self, request: &Ask) -> bool {
        self.has_chains || self.is_shared(request)
    }

    /// How many entrances there are: one for each processor, at one level after the other.
    pub(crate) fn entrances(&self) -> usize {
        self.params.P * self.levels
    }

    /// Gives a message from the processor whose exit this is its way to `y`. All messages that ask earlier must have been
    /// served.
    #[inline]
    pub(crate) fn serve(
        &self,
        entrances: &mut (impl Entrances + ?Sized),
        exit: &mut Exit,
        y: usize,
        request: &Ask,
    ) -> Passage {
        let Ask { ready, ask, latency, stream } = *request;
        let x = exit.id();
        let terms = self.terms.between(x, y);
        let not_before = if exit.extras.is_none() { Time::ZERO } else { exit.not_before(y, stream) };
        let first = not_before.max(ready + latency);
        let mut way = Way { enter: ready, first, arrival: first + stream };
        let (mut admitted, mut out_of_order) = (ready, false);
        if stream > Time::ZERO {
            (admitted, way, out_of_order) = self.serve_long(terms, entrances, exit, y, request, not_before);
        } else if terms.capacity != usize::MAX {
            let to = &mut *entrances.hold(terms.entrances + y);
            out_of_order = to.has_served(ask);
            // 2. Capacity.
            if terms.has_no_room(exit, to, ready) {
                (admitted, way) = terms.find(exit, to, None, x == y, request, not_before);
            }
            terms.take_room(exit, to, &way, ask);
        }
        let Way { enter, first, arrival } = way;
        exit.next = enter + stream.max(Time::ZERO) + terms.params.g;
        // A message of one word without extras enters and arrives like the one before.
        let is_usual = stream <= Time::ZERO && exit.extras.is_none();
        if !is_usual && (first > enter + latency || terms.may_overtake) {
            exit.note_arrival(y, arrival, ask);
        }
        Passage { ready, admitted, enter, first, arrival, out_of_order }
    }

    /// Serves a message of several words, which needs the ports. Returns when it is admitted, its way, and whether it is
    /// out of order.
    #[inline(never)]
    fn serve_long(
        &self,
        terms: &Terms,
        entrances: &mut (impl Entrances + ?Sized),
        exit: &mut Exit,
        y: usize,
        request: &Ask,
        not_before: Time,
    ) -> (Time, Way, bool) {
        let (x, all) = (exit.id(), terms.entrances);
        let (mut receiver, mut sender) = match terms.ports == Ports::Single && x != y {
            true => {
                let [sender, receiver] = entrances.hold_both(all + x, all + y);
                (receiver, Some(sender))
            }
            false => (entrances.hold(all + y), None),
        };
        let mut out_of_order = receiver.has_served(request.ask);
        if let Some(sender) = &mut sender {
            out_of_order |= sender.has_served(request.ask);
        }
        let (receiver, sender) = (&mut *receiver, &mut sender);
        let find = |exit: &mut Exit, receiver: &mut Entrance, sender: Option<&mut Entrance>| {
            let (admitted, way) = terms.find(exit, receiver, sender, x == y, request, not_before);
            terms.take_room(exit, receiver, &way, request.ask);
            (admitted, way)
        };
        let (admitted, way) = match &terms.cards {
            None => find(exit, receiver, sender.as_deref_mut()),
            Some(cards) => {
                let mut cards = cards.lock();
                out_of_order |= cards.have_served(x, y, request.ask);
                cards.exchange(terms, (x, exit, sender.as_deref_mut()), (y, receiver));
                let found = find(exit, receiver, sender.as_deref_mut());
                cards.exchange(terms, (x, exit, sender.as_deref_mut()), (y, receiver));
                found
            }
        };
        (admitted, way, out_of_order)
    }

    /// The most messages that were in transit to `y` at once.
    pub(crate) fn most_in_transit_to(&self, y: usize, entrances: &mut (impl Entrances + ?Sized)) -> usize {
        let most = self.terms.all().map(|terms| entrances.hold(terms.entrances + y).room.most as usize);
        most.max().unwrap_or(0)
    }
}

/// When a processor with this noise is done that is busy for so long from a moment on.
#[cold]
fn disturbed(noise: &Noise, id: usize, start: Time, time: Time) -> Time {
    noise.end(id, start, time)
}

impl Terms {
    /// Whether one of the ends is full at some moment after `ready`.
    #[inline]
    fn has_no_room(&self, exit: &Exit, to: &Entrance, ready: Time) -> bool {
        let from = exit.room(self.level);
        from.full_end(self.capacity).max(to.room.full_end(self.capacity)) > ready
    }

    /// Takes room at both ends for a message with this way.
    #[inline(always)]
    fn take_room(&self, exit: &mut Exit, to: &mut Entrance, way: &Way, ask: Time) {
        if self.capacity != usize::MAX && way.arrival > way.enter {
            exit.room_mut(self.level).take(way.enter, way.arrival, ask, self.capacity);
            to.room.take(way.enter, way.arrival, ask, self.capacity);
        }
    }

    /// Finds a way for a message that is long or has to stall, and takes the ports for it. Returns when the capacity lets
    /// the message in, and its way. `sender` is the sender's entrance, if its port is needed and it is not the receiver's.
    #[inline(never)]
    fn find(
        &self,
        exit: &mut Exit,
        receiver: &mut Entrance,
        sender: Option<&mut Entrance>,
        is_to_itself: bool,
        &Ask { ready, ask, latency, stream }: &Ask,
        not_before: Time,
    ) -> (Time, Way) {
        let (single, occupies) = (self.ports == Ports::Single, stream.max(Time::ZERO));
        let search = Search {
            capacity: self.capacity,
            from: exit.room(self.level),
            to: &receiver.room,
            out: match &sender {
                Some(sender) => sender.port.as_deref(),
                None if single => receiver.port.as_deref(),
                None => exit.port(self.level),
            },
            into: receiver.port.as_deref(),
            // Through a single port a message to oneself can come in only when all of it has gone out.
            before_first: if single && is_to_itself { latency.max(occupies) } else { latency },
            not_before,
            stream,
        };
        let room = !self.has_no_room(exit, receiver, ready);
        let admitted = if room { ready } else { search.way(ready, false).enter };
        let way = search.way(admitted, stream > Time::ZERO);
        if stream > Time::ZERO {
            let out = match sender {
                Some(sender) => &mut sender.port,
                None if single => &mut receiver.port,
                None => exit.port_mut(self.level),
            };
            out.get_or_insert_default().take(way.enter, way.enter + stream, ask);
            receiver.port.get_or_insert_default().take(way.first, way.arrival, ask);
        }
        (admitted, way)
    }
}

impl Cards {
    /// Notes that a message between two groups that asks at this time is served. Returns whether one that asked later was
    /// served before.
    fn have_served(&mut self, x: usize, y: usize, ask: Time) -> bool {
        let mut late = false;
        for processor in [x, y] {
            let card = &mut self.of_groups[processor / self.size];
            late |= ask < card.served;
            card.served = card.served.max(ask);
        }
        late
    }

    /// Puts the ports of two groups where the ports of their processors are sought, or back.
    fn exchange(
        &mut self,
        terms: &Terms,
        (x, exit, sender): (usize, &mut Exit, Option<&mut Entrance>),
        (y, receiver): (usize, &mut Entrance),
    ) {
        let [from, to] = [x, y].map(|processor| processor / self.size);
        let own_out = sender.map_or_else(|| exit.port_mut(terms.level), |sender| &mut sender.port);
        std::mem::swap(own_out, &mut self.of_groups[from].out);
        let card = &mut self.of_groups[to];
        let into = if terms.ports == Ports::Single { &mut card.out } else { &mut card.into };
        std::mem::swap(&mut receiver.port, into);
    }
}

/// A way that a message could take.
#[derive(Clone, Copy)]
struct Way {
    /// When the first word enters.
    enter: Time,
    /// When the first word comes out.
    first: Time,
    /// When the last word has come out.
    arrival: Time,
}

/// The search for a message's way among what is promised to others.
struct Search<'a> {
    /// How many messages may be in transit at either end.
    capacity: usize,
    /// The messages in transit from its sender.
    from: &'a Transits,
    /// The messages in transit to its receiver.
    to: &'a Transits,
    /// The port through which the message leaves; `None` if no message has used that.
    out: Option<&'a Stretches>,
    /// The port through which the message comes in; `None` if no message has used that.
    into: Option<&'a Stretches>,
    /// The least time from entering to coming out.
    before_first: Time,
    /// The message comes out no earlier, so that it does not overtake one with the same sender and receiver.
    not_before: Time,
    /// How long after the first word the last word follows.
    stream: Time,
}

impl Search<'_> {
    /// The earliest way from `ready` on that fits. The sender's port must be free only if `through_port`.
    ///
    /// A message that enters later never arrives earlier. So if there is no room at some moment of a transit, no
    /// transit that begins before that moment fits either, and the search goes on when there is room again.
    fn way(&self, ready: Time, through_port: bool) -> Way {
        let mut enter = ready;
        loop {
            if through_port && let Some(out) = self.out {
                enter = out.fit(enter, self.stream);
            }
            let mut first = self.not_before.max(enter + self.before_first);
            if self.stream > Time::ZERO
                && let Some(into) = self.into
            {
                first = into.fit(first, self.stream);
            }
            let arrival = first + self.stream;
            let from = self.from.full_until(enter, arrival, self.capacity);
            let to = self.to.full_until(enter, arrival, self.capacity);
            match from.max(to) {
                // A negative G_l may take back the whole way: then only the wait for the message before it is a transit,
                // and once that is over the message needs no room.
                Some(room_again) if self.before_first + self.stream <= Time::ZERO => {
                    enter = room_again.min(enter.max(self.not_before + self.stream));
                }
                Some(room_again) => enter = room_again,
                None => return Way { enter, first, arrival },
            }
        }
    }
}

#[cfg(test)]
#[path = "network_tests.rs"]
mod tests;
