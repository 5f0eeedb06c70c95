//! The network: when a message enters it and when it arrives, among all others.
//!
//! That is decided here alone, for both clocks; what a message costs by itself is in `params/costs.rs`. A send has two
//! moments. When it is called, [`Network::request`] says when the message will be ready. At that moment,
//! [`Network::serve`] looks at what is already promised to the two processors, finds the earliest way that
//! fits, and promises that too. No queue is processed and nothing happens later: a promise is never moved, so
//! who asks first is served first. The rules and their sources are told at length in `docs/reference/model.md`:
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

/// A send that was called: what the network is asked for, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ask {
    /// The overhead and the gap are over: without contention the message would enter now.
    pub ready: Time,
    /// When the network is asked: when the message is ready, or at its arrival where a negative G_l makes that
    /// earlier, for its receiver must know of it then.
    pub ask: Time,
    /// How long its first word will be under way.
    pub(crate) latency: Time,
    /// How long its last word comes after the first.
    stream: Time,
}

/// A message's way through the network, as [`Network::serve`] promised it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Passage {
    /// The overhead and the gap are over: without contention the message would enter now.
    pub ready: Time,
    /// The capacity alone would let it in.
    pub admitted: Time,
    /// The first word enters, and the sender goes on.
    pub enter: Time,
    /// The first word comes out.
    pub first: Time,
    /// The last word has come out: the message is there.
    pub arrival: Time,
    /// Whether a later request for one of the two ends was served before this one. On the virtual clock none is.
    pub out_of_order: bool,
}

/// The sending side of a processor, which nobody else touches.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Exit {
    /// The processor.
    id: u32,
    /// How many requests it has made.
    requests: u32,
    /// The gap after the last send is over.
    next: Time,
    /// Messages in transit from the processor.
    room: Transits,
    /// What few machines have. It lies elsewhere, so that what every message touches lies close together.
    extras: Option<Box<Extras>>,
}

/// What the sending side of a processor has where latencies are drawn, ports are two, or messages keep their order.
#[derive(Debug)]
struct Extras {
    /// The port for sending, where it is not the one for receiving and was ever used.
    port: Option<Stretches>,
    /// What latencies are drawn with.
    dice: fastrand::Rng,
    /// When the last message to each other processor arrives, if messages to one keep their order.
    in_order: Option<HashMap<u32, Time>>,
}

impl Exit {
    /// The processor.
    #[inline]
    pub(crate) fn id(&self) -> usize {
        self.id as usize
    }

    /// From now on messages to one processor arrive in the order in which they enter.
    pub(crate) fn keeps_order(&mut self) {
        self.extras().in_order.get_or_insert_default();
    }

    /// What few machines have.
    fn extras(&mut self) -> &mut Extras {
        self.extras.get_or_insert_with(|| {
            Box::new(Extras { port: None, dice: fastrand::Rng::with_seed(0), in_order: None })
        })
    }

    /// When the first word of a message to `y` comes out at the earliest, if messages to one processor keep their order.
    #[inline(never)]
    fn not_before(&self, y: usize, stream: Time) -> Time {
        let in_order = self.extras.as_ref().and_then(|extras| extras.in_order.as_ref());
        let last = in_order.and_then(|in_order| in_order.get(&(y as u32)));
        last.map_or(Time::ZERO, |arrival| *arrival - stream)
    }

    /// Notes when the last message to `y` arrives, if messages to one processor keep their order.
    #[inline(never)]
    fn has_sent_to(&mut self, y: usize, arrival: Time) {
        if let Some(extras) = &mut self.extras
            && let Some(in_order) = &mut extras.in_order
        {
            in_order.insert(y as u32, arrival);
        }
    }

    /// How many requests the processor has made.
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

/// The receiving side of a processor, which all who send to it share: with its lock, a cache line.
#[derive(Debug, Default)]
struct Entrance {
    /// Messages in transit to the processor.
    room: Transits,
    /// The port, if it was ever used: for both directions, or for receiving alone.
    port: Option<Box<Stretches>>,
    /// When the last request that was served had asked.
    served: Time,
}

impl Entrance {
    /// Notes when a request asks that is served now. Returns whether a later one was served before.
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
    /// What everything costs.
    params: Params,
    /// Whether a port serves both directions.
    ports: Ports,
    /// What settles what the rules leave open.
    choice: Arc<dyn Choice>,
    /// Whether each word is under way for exactly L.
    is_exact: bool,
    /// The capacity, `usize::MAX` if unlimited.
    capacity: usize,
    /// What a reception takes.
    reception_cost: ReceptionCost,
    /// What longer messages cost beside.
    surcharge: Surcharge,
    /// How long before they ask requests are served. Each message costs its sender o at least, so if all requests are
    /// served by o earlier, they are served in the same order, and a sender that has not to wait for its gap need not
    /// wait at all. But where a negative G_l lets messages arrive within their overhead, they may ask before o is over.
    head_start: Time,
    /// Whether all requests have to be served in their order, shared or not, since messages may take no time at all.
    has_chains: bool,
    /// What the sender of one word is busy for and how long that is under way, as nearly all messages have one.
    one_word: Costs,
    /// The longest message that can be sent, in words.
    longest: usize,
    /// The receiving side of each processor.
    entrances: Box<[LockedEntrance]>,
}

/// An entrance that one sender holds at a time.
#[derive(Debug, Default)]
#[repr(align(64))]
struct LockedEntrance(Mutex<Entrance>);

/// What a message of some length costs, apart from its reception.
#[derive(Clone, Copy, Debug, Default)]
struct Costs {
    /// How long its sender is busy.
    send: Time,
    /// How long after its first word its last follows.
    stream: Time,
}

impl Network {
    /// A network in which nothing has been sent.
    pub(crate) fn new(params: Params, ports: Ports, latency: Latency) -> Network {
        let choice = Arc::new(Drawn::new(&params, latency, Ties::default()));
        Network::settled_by(params, ports, choice, Surcharge::default())
    }

    /// A network with something that settles what the rules leave open.
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

    /// The parameters.
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

    /// Who has which place among those that act at the same time.
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

    /// What a message of k words costs.
    #[inline]
    fn costs(&self, k: usize) -> Costs {
        if k == 1 { self.one_word } else { self.costs_of_any(k) }
    }

    /// The same, from the parameters.
    fn costs_of_any(&self, k: usize) -> Costs {
        let (send, stream) = (self.params.send_overhead(k), self.params.stream(k));
        match k > self.surcharge.above {
            true => Costs { send: send + self.surcharge.send, stream: stream + self.surcharge.stream },
            false => Costs { send, stream },
        }
    }

    /// What a reception takes.
    #[inline]
    pub(crate) fn reception_cost(&self) -> ReceptionCost {
        self.reception_cost
    }

    /// When a request is to be served, so that all are served in the order in which they ask.
    #[inline]
    pub(crate) fn turn(&self, request: &Ask) -> Time {
        request.ask - self.head_start
    }

    /// The least time from the turn of a request to the arrival of its message, whatever is sent.
    pub(crate) fn lookahead(&self) -> Time {
        let under_way = self.is_exact && !self.params.shrinks();
        self.head_start + if under_way { self.params.L } else { Time::ZERO }
    }

    /// What a send of k words asks the network for, if its processor, whose exit this is, calls it at `t`.
    #[inline]
    pub(crate) fn request(&self, exit: &mut Exit, k: usize, t: Time) -> Ask {
        let mut request = self.foreseen(exit, k, t);
        if !self.is_exact {
            request = self.drawn(exit, k, request);
        }
        exit.requests = exit.requests.wrapping_add(1);
        request
    }

    /// A request with a latency that is drawn.
    #[cold]
    fn drawn(&self, exit: &mut Exit, k: usize, request: Ask) -> Ask {
        let Ask { ready, latency: L, stream, .. } = request;
        // Where G_l takes back more than the overhead, less would let it arrive before its send.
        let least = (-(self.send_overhead(k) + stream)).max(Time::ZERO).min(L);
        let message = MessageId { from: exit.id(), number: exit.requests as usize };
        let latency = self.choice.latency(message, &mut exit.extras().dice, least, L);
        Ask { latency, ask: ready.min(ready + latency + stream), ..request }
    }

    /// What a send would ask for whose latency is exactly L.
    #[inline]
    pub(crate) fn foreseen(&self, exit: &Exit, k: usize, t: Time) -> Ask {
        let (Costs { send, stream }, latency) = (self.costs(k), self.params.L);
        // 1. Overhead, which may overlap the gap after the send before.
        let ready = exit.next.max(t + send);
        Ask { ready, ask: ready.min(ready + latency + stream), latency, stream }
    }

    /// Puts a request off that was made before others of its processor were served: until the gap after them is over,
    /// and until its turn is no earlier than `turn`. Returns whether that changed it.
    pub(crate) fn put_off(&self, exit: &Exit, request: &mut Ask, turn: Time) -> bool {
        let later = (exit.next - request.ready).max(turn - self.turn(request));
        if later > Time::ZERO {
            request.ready += later;
            request.ask += later;
        }
        later > Time::ZERO
    }

    /// Whether a request and those of others can be in each other's way, so that it matters who is served first.
    #[inline]
    pub(crate) fn is_shared(&self, request: &Ask) -> bool {
        request.stream > Time::ZERO || self.capacity != usize::MAX
    }

    /// Whether others can see that a request is served, so that all which come before it must have been.
    #[inline]
    pub(crate) fn is_seen(&self, request: &Ask) -> bool {
        self.has_chains || self.is_shared(request)
    }

    /// Whether there are two processors at most, whose messages all take no time: what one sends, the other receives
    /// in the order in which it was sent. (Where ties are drawn, the one with the lower number may act second, and then
    /// what it sends comes after what the other has sent to itself.)
    pub(crate) fn is_instant_pair(&self) -> bool {
        let instant = self.lookahead() == Time::ZERO && self.is_exact;
        let by_number = self.choice.is_by_number();
        self.params.P <= 2 && by_number && instant && self.params.G() == Some(Time::ZERO)
    }

    /// Serves a request of `x`, whose exit this is, for k words to `y`. All requests that come before it, in the
    /// order of the times at which they ask, must have been served.
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

    /// Serves a request for several words, which share ports with others: when it is admitted, its way, and whether it
    /// is out of order.
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

    /// Takes room at both ends for a message that goes its way.
    #[inline]
    fn take_room(&self, exit: &mut Exit, to: &mut Entrance, way: &Way, ask: Time) {
        if self.capacity != usize::MAX && way.arrival > way.enter {
            exit.room.take(way.enter, way.arrival, ask, self.capacity);
            to.room.take(way.enter, way.arrival, ask, self.capacity);
        }
    }

    /// Finds a way for a message that is long, or has no room at once: when the capacity alone would let it in, and its
    /// way through the ports, which it takes. The sender's entrance is its own where that is not the receiver's too.
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
            // A message to oneself through a single port comes in when it is out.
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

    /// Takes part in no send any more: the most messages that were in transit to `y` at once.
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
    /// Where the message goes.
    receiver: MutexGuard<'a, Entrance>,
    /// Where it comes from, unless that is the same processor.
    sender: Option<MutexGuard<'a, Entrance>>,
}

/// A way that a message could take.
#[derive(Clone, Copy)]
struct Way {
    /// The first word enters.
    enter: Time,
    /// The first word comes out.
    first: Time,
    /// The last word has come out.
    arrival: Time,
}

/// What a message has to fit in between.
struct Search<'a> {
    /// How many messages there may be in transit at either end.
    capacity: usize,
    /// The messages in transit from its sender.
    from: &'a Transits,
    /// The messages in transit to its receiver.
    to: &'a Transits,
    /// The port that it leaves through; nothing if no message has used it.
    out: Option<&'a Stretches>,
    /// The port that it comes in through.
    into: Option<&'a Stretches>,
    /// The least time from entering to coming out.
    before_first: Time,
    /// It comes out no earlier, so that it overtakes none that goes the same way.
    not_before: Time,
    /// How long its last word comes after the first.
    stream: Time,
}

impl Search<'_> {
    /// The earliest way from `ready` on that fits, whether or not it must find its sender's port free.
    ///
    /// Who enters later never arrives earlier. So where there is no room at some moment of a transit, none that
    /// begins up to that moment fits either, and the search goes on when there is room again.
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
                // Where it is never in transit once it need not wait for one before it, it needs no room from then on.
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
