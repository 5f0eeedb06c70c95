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
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

use super::capacity::Transits;
use super::stretches::Stretches;
use crate::message::MessageId;
use crate::params::Params;
use crate::params::{Latency, Ports, ReceptionCost, Surcharge, Ties};
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
    /// Messages in transit from the processor.
    room: Transits,
    /// State that few machines need. It lies elsewhere, so that the state that every message touches lies close together.
    extras: Option<Box<Extras>>,
}

/// The state of a processor's sending side if latencies are drawn, there are two ports, or messages keep their order.
#[derive(Debug)]
struct Extras {
    /// The port for sending, if there are two ports and it was ever used.
    port: Option<Stretches>,
    /// Draws latencies.
    dice: fastrand::Rng,
    /// When the last message to each processor arrives, if messages keep their order.
    in_order: Option<HashMap<u32, Time>>,
}

impl Exit {
    #[inline]
    pub(crate) fn id(&self) -> usize {
        self.id as usize
    }

    /// From now on messages to the same processor arrive in the order in which they enter.
    pub(crate) fn keeps_order(&mut self) {
        self.extras().in_order.get_or_insert_default();
    }

    fn extras(&mut self) -> &mut Extras {
        self.extras.get_or_insert_with(|| {
            Box::new(Extras { port: None, dice: fastrand::Rng::with_seed(0), in_order: None })
        })
    }

    /// When the first word of a message to `y` may come out, so that the message does not overtake the one before.
    #[inline(never)]
    fn not_before(&self, y: usize, stream: Time) -> Time {
        let in_order = self.extras.as_ref().and_then(|extras| extras.in_order.as_ref());
        let last = in_order.and_then(|in_order| in_order.get(&(y as u32)));
        last.map_or(Time::ZERO, |arrival| *arrival - stream)
    }

    /// Notes when the last message to `y` arrives, if messages keep their order.
    #[inline(never)]
    fn has_sent_to(&mut self, y: usize, arrival: Time) {
        if let Some(extras) = &mut self.extras
            && let Some(in_order) = &mut extras.in_order
        {
            in_order.insert(y as u32, arrival);
        }
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
        self.room.most as usize
    }
}

/// The receiving side of a processor, which its senders share. With its lock it fills a cache line.
#[derive(Debug, Default)]
struct Entrance {
    /// Messages in transit to the processor.
    room: Transits,
    /// The port, if it was ever used: the single one, or the one for receiving if there are two.
    port: Option<Box<Stretches>>,
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

/// The network between the processors.
#[derive(Debug)]
pub(crate) struct Network {
    params: Params,
    ports: Ports,
    /// Settles what the rules leave open.
    choice: Arc<dyn Choice>,
    /// Whether each word is under way for exactly L.
    is_exact: bool,
    /// The capacity, `usize::MAX` if unlimited.
    capacity: usize,
    reception_cost: ReceptionCost,
    /// What longer messages cost beyond the parameters.
    surcharge: Surcharge,
    /// How long before they ask all messages are served: their order stays the same. It is o, because each message costs
    /// its sender at least that: so a sender whose gap is over need not wait at all. It is 0 if G_l is negative, because
    /// then messages may ask before o is over.
    head_start: Time,
    /// Whether all messages must be served in order, even those that share nothing, since they may take no time at all.
    has_chains: bool,
    /// The costs of a message of one word, which nearly all messages have.
    one_word: Costs,
    /// The longest message that can be sent, in words.
    longest: usize,
    /// The receiving side of each processor.
    entrances: Box<[LockedEntrance]>,
}

/// An entrance in a cache line of its own, which one sender at a time may hold.
#[derive(Debug, Default)]
#[repr(align(64))]
struct LockedEntrance(Mutex<Entrance>);

/// What a message of some length costs, apart from its reception.
#[derive(Clone, Copy, Debug, Default)]
struct Costs {
    /// How long the sender is busy.
    send: Time,
    /// How long after the first word the last word follows.
    stream: Time,
}

impl Network {
    /// A network in which nothing has been sent.
    pub(crate) fn new(params: Params, ports: Ports, latency: Latency) -> Network {
        let choice = Arc::new(Drawn::new(&params, latency, Ties::default()));
        Network::settled_by(params, ports, choice, Surcharge::default())
    }

    /// A network with a choice that settles what the rules leave open.
    pub(crate) fn settled_by(
        params: Params,
        ports: Ports,
        choice: Arc<dyn Choice>,
        surcharge: Surcharge,
    ) -> Network {
        let capacity = params.capacity().unwrap_or(usize::MAX);
        let entrances = (0..params.P).map(|_| LockedEntrance::default()).collect();
        let is_exact = choice.is_exact();
        let reception_cost = ReceptionCost::under(&params, &surcharge, is_exact);
        let head_start = if params.shrinks() { Time::ZERO } else { params.o };
        let (has_chains, one_word) = (false, Costs::default());
        let longest = params.longest().unwrap_or(usize::MAX).min(u32::MAX as usize);
        let network = Network {
            params,
            ports,
            choice,
            is_exact,
            capacity,
            reception_cost,
            surcharge,
            head_start,
            has_chains,
            one_word,
            longest,
            entrances,
        };
        let has_chains = network.lookahead() == Time::ZERO && !network.is_instant_pair();
        Network { has_chains, one_word: network.costs_of_any(1), ..network }
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
        if self.params.gps().is_some() {
            exit.keeps_order(); // LogGPS speaks of MPI, where no message overtakes another between the same two
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

    /// The longest message that can be sent, in words.
    #[inline]
    pub(crate) fn longest(&self) -> usize {
        self.longest
    }

    /// How long the sender of k words is busy.
    #[inline]
    pub(crate) fn send_overhead(&self, k: usize) -> Time {
        self.costs(k).send
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

    #[inline]
    pub(crate) fn reception_cost(&self) -> ReceptionCost {
        self.reception_cost
    }

    /// When a message is to be served, so that all messages are served in the order in which they ask.
    #[inline]
    pub(crate) fn turn(&self, request: &Ask) -> Time {
        request.ask - self.head_start
    }

    /// The least time from a message's turn to its arrival, whatever is sent.
    pub(crate) fn lookahead(&self) -> Time {
        let under_way = self.is_exact && !self.params.shrinks();
        self.head_start + if under_way { self.params.L } else { Time::ZERO }
    }

    /// What a message of k words asks the network for, if the processor with this exit calls its send at `t`.
    #[inline]
    pub(crate) fn request(&self, exit: &mut Exit, k: usize, t: Time) -> Ask {
        let mut request = self.foreseen(exit, k, t);
        if !self.is_exact {
            request = self.drawn(exit, k, request);
        }
        exit.requests = exit.requests.wrapping_add(1);
        request
    }

    /// The same ask with a latency that is drawn.
    #[cold]
    fn drawn(&self, exit: &mut Exit, k: usize, request: Ask) -> Ask {
        let Ask { ready, latency: L, stream, .. } = request;
        // With a negative G_l a shorter latency could let the message arrive before its send.
        let least = (-(self.send_overhead(k) + stream)).max(Time::ZERO).min(L);
        let message = MessageId { from: exit.id(), number: exit.requests as usize };
        let latency = self.choice.latency(message, &mut exit.extras().dice, least, L);
        Ask { latency, ask: ready.min(ready + latency + stream), ..request }
    }

    /// What a message of k words would ask for if its send were called at `t` and its latency were exactly L.
    #[inline]
    pub(crate) fn foreseen(&self, exit: &Exit, k: usize, t: Time) -> Ask {
        let (Costs { send, stream }, latency) = (self.costs(k), self.params.L);
        // 1. Overhead, which may overlap the gap after the send before.
        let ready = exit.next.max(t + send);
        Ask { ready, ask: ready.min(ready + latency + stream), latency, stream }
    }

    /// Puts off a message that must wait because others of its processor have been served meanwhile: until the gap after
    /// them is over, and until its turn is no earlier than `turn`. Returns whether that made it later.
    pub(crate) fn put_off(&self, exit: &Exit, request: &mut Ask, turn: Time) -> bool {
        let later = (exit.next - request.ready).max(turn - self.turn(request));
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
        request.stream > Time::ZERO || self.capacity != usize::MAX
    }

    /// Whether other processors can see that this message is served: then all that ask earlier must have been served.
    #[inline]
    pub(crate) fn is_seen(&self, request: &Ask) -> bool {
        self.has_chains || self.is_shared(request)
    }

    /// Whether there are at most two processors, and no message takes any time: then messages are received in the order
    /// in which they were sent. (If ties are drawn, the processor with the lower number may act second, and its messages
    /// come after those that the other sent to itself.)
    pub(crate) fn is_instant_pair(&self) -> bool {
        let instant = self.lookahead() == Time::ZERO && self.is_exact;
        let by_number = self.choice.is_by_number();
        self.params.P <= 2 && by_number && instant && self.params.G() == Some(Time::ZERO)
    }

    /// Gives a message from `x`, whose exit this is, its way to `y`. All messages that ask earlier must have been
    /// served.
    #[inline]
    pub(crate) fn serve(&self, x: usize, exit: &mut Exit, y: usize, request: Ask) -> Passage {
        let Ask { ready, ask, latency, stream } = request;
        let not_before = if exit.extras.is_none() { Time::ZERO } else { exit.not_before(y, stream) };
        let first = not_before.max(ready + latency);
        let mut way = Way { enter: ready, first, arrival: first + stream };
        let (mut admitted, mut out_of_order) = (ready, false);
        if stream > Time::ZERO {
            (admitted, way, out_of_order) = self.serve_long(x, exit, y, &request, not_before);
        } else if self.capacity != usize::MAX {
            let to = &mut *self.entrances[y].0.lock();
            out_of_order = to.has_served(ask);
            // 2. Capacity.
            if self.has_no_room(exit, to, ready) {
                (admitted, way) = self.find(exit, to, None, x == y, &request, not_before);
            }
            self.take_room(exit, to, &way, ask);
        }
        let Way { enter, first, arrival } = way;
        exit.next = enter + stream.max(Time::ZERO) + self.params.g;
        if exit.extras.is_some() {
            exit.has_sent_to(y, arrival);
        }
        Passage { ready, admitted, enter, first, arrival, out_of_order }
    }

    /// Serves a message of several words, which needs the ports. Returns when it is admitted, its way, and whether it is
    /// out of order.
    #[inline(never)]
    fn serve_long(
        &self,
        x: usize,
        exit: &mut Exit,
        y: usize,
        request: &Ask,
        not_before: Time,
    ) -> (Time, Way, bool) {
        let mut ends = self.lock(x, y, self.ports == Ports::Single);
        let mut out_of_order = ends.receiver.has_served(request.ask);
        if let Some(sender) = &mut ends.sender {
            out_of_order |= sender.has_served(request.ask);
        }
        let Ends { receiver, sender } = &mut ends;
        let (admitted, way) = self.find(exit, receiver, sender.as_deref_mut(), x == y, request, not_before);
        self.take_room(exit, receiver, &way, request.ask);
        (admitted, way, out_of_order)
    }

    /// Whether one of the ends is full at some moment after `ready`.
    #[inline]
    fn has_no_room(&self, exit: &Exit, to: &Entrance, ready: Time) -> bool {
        exit.room.full_end(self.capacity).max(to.room.full_end(self.capacity)) > ready
    }

    /// Takes room at both ends for a message with this way.
    #[inline]
    fn take_room(&self, exit: &mut Exit, to: &mut Entrance, way: &Way, ask: Time) {
        if self.capacity != usize::MAX && way.arrival > way.enter {
            exit.room.take(way.enter, way.arrival, ask, self.capacity);
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
            from: &exit.room,
            to: &receiver.room,
            out: match &sender {
                Some(sender) => sender.port.as_deref(),
                None if single => receiver.port.as_deref(),
                None => exit.extras.as_ref().and_then(|extras| extras.port.as_ref()),
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
                Some(sender) => &mut **sender.port.get_or_insert_default(),
                None if single => &mut **receiver.port.get_or_insert_default(),
                None => exit.extras().port.get_or_insert_default(),
            };
            out.take(way.enter, way.enter + stream, ask);
            receiver.port.get_or_insert_default().take(way.first, way.arrival, ask);
        }
        (admitted, way)
    }

    /// The most messages that were in transit to `y` at once.
    pub(crate) fn most_in_transit_to(&self, y: usize) -> usize {
        self.entrances[y].0.lock().room.most as usize
    }

    /// Locks `y`'s entrance, and `x`'s too if asked.
    #[inline]
    fn lock(&self, x: usize, y: usize, both: bool) -> Ends<'_> {
        if both && x != y {
            return self.lock_both(x, y);
        }
        Ends { receiver: self.entrances[y].0.lock(), sender: None }
    }

    /// Locks both entrances, in an order that cannot deadlock.
    #[inline(never)]
    fn lock_both(&self, x: usize, y: usize) -> Ends<'_> {
        let [lower, higher] = [x.min(y), x.max(y)].map(|id| self.entrances[id].0.lock());
        let (sender, receiver) = if x < y { (lower, higher) } else { (higher, lower) };
        Ends { receiver, sender: Some(sender) }
    }
}

/// The entrances that a send has to hold: the receiver's, and the sender's if its port is wanted.
struct Ends<'a> {
    receiver: MutexGuard<'a, Entrance>,
    /// The sender's entrance, unless the sender is the receiver.
    sender: Option<MutexGuard<'a, Entrance>>,
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
