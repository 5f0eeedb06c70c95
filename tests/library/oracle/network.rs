//! The network by brute force: the costs of messages, and the reservation of their ways.

use std::cell::RefCell;

use loggp::{Capacity, Level, Noise, PS, Params, Ports, Time};

/// The kind of a message: a program's, or a part of LogGPS's rendezvous, which has its sender and number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum MessageKind {
    Plain(usize),
    Request(usize, (usize, u64)),
    Reply((usize, u64)),
    Data(usize, (usize, u64)),
    /// What goes to a memory.
    Put,
    /// A request to a memory, which answers with so many words.
    Get(usize),
    /// The memory's answer to a request.
    Answer((usize, u64)),
}

/// The one that lets a message enter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum SentBy {
    Processor,
    /// Its receiver, which reads it from its sender's memory. The sender's processor, which may send C messages, takes
    /// no part.
    Reader,
    /// A memory, which is a sender of its own.
    Memory,
}

impl MessageKind {
    /// Returns whether this is the first message of its send.
    pub(crate) fn is_first(self) -> bool {
        matches!(self, MessageKind::Plain(_) | MessageKind::Request(..)) || self.is_one_sided()
    }

    /// Returns whether this goes to a memory.
    pub(crate) fn is_one_sided(self) -> bool {
        matches!(self, MessageKind::Put | MessageKind::Get(_))
    }
}

/// A message with a reserved way.
#[derive(Clone, Debug)]
pub(crate) struct PromisedMessage {
    pub from: usize,
    pub to: usize,
    /// The number among its sender's messages.
    pub number: u64,
    pub words: usize,
    pub kind: MessageKind,
    /// The length of the message that it announces, in words.
    pub offers: usize,
    pub by: SentBy,
    /// Time from the first word to the last at a port.
    pub s: i64,
    pub ask: i64,
    pub enter: i64,
    pub first: i64,
    pub arrival: i64,
}

/// What is added to the number of a request for that of its answer: it comes behind all messages of the memory's processor.
pub(crate) const ANSWERS: u64 = 1 << 32;

impl PromisedMessage {
    /// Returns the key by which messages in an inbox are ordered.
    pub(crate) fn key(&self) -> (i64, usize, u64) {
        (self.arrival, self.from, self.number)
    }
}

/// A message that needs a way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WayRequest {
    pub from: usize,
    pub to: usize,
    /// Time from the first word to the last at a port.
    pub s: i64,
    pub latency: i64,
    pub ready: i64,
    /// True if it must not overtake earlier messages between the same two processors.
    pub in_order: bool,
    pub by: SentBy,
}

/// The times of a message's way: its admission, its entry, and the arrivals of its first and last words.
pub(crate) struct Way {
    pub admitted: i64,
    pub enter: i64,
    pub first: i64,
    pub arrival: i64,
}

/// Returns whether a machine's G_l is negative.
pub(crate) fn has_negative_G_l(params: &Params) -> bool {
    params.gps().is_some_and(|gps| gps.G_l < Time::ZERO)
}

/// Returns the number of messages that may be in transit from a processor or to one: ceil(L/g) and at least one
/// (LogP 3), without limit if g = 0, or the machine's explicit C.
fn capacity(params: &Params) -> Option<usize> {
    if let Some(C) = params.C {
        return Some(C.get()).filter(|C| *C != Params::NO_LIMIT);
    }
    let (L, g) = (params.L.as_ps(), params.g.as_ps());
    (g > 0).then(|| ((L + g - 1) / g).max(1) as usize)
}

/// Returns whether two non-empty intervals overlap.
fn overlap(a: (i64, i64), b: (i64, i64)) -> bool {
    a.0 < b.1 && b.0 < a.1
}

/// A message in transit at one level, where it is so until it is received.
struct Held {
    from: usize,
    to: usize,
    since: i64,
    until: Option<i64>,
}

pub(crate) struct Network {
    pub params: Params,
    /// True if a message is in transit until it is received.
    pub until_received: bool,
    /// True if a message holds a credit of its sender for its receiver, until that is back.
    by_credits: bool,
    /// Every message of the run for which that is so.
    held: Vec<Held>,
    levels: Vec<Level>,
    ports: Ports,
    noise: Option<Noise>,
    /// For each processor, whether noise leaves it the picoseconds looked up so far.
    is_running: RefCell<Vec<Vec<bool>>>,
    /// Every message of the run, in the order of reservation.
    promised: Vec<PromisedMessage>,
}

impl Network {
    pub(crate) fn new(
        params: Params,
        levels: Vec<Level>,
        ports: Ports,
        capacity: Capacity,
        noise: Option<Noise>,
    ) -> Network {
        let is_limited = |params: &Params| self::capacity(params).is_some();
        let is_limited = is_limited(&params) || levels.iter().any(|level| is_limited(&level.params));
        let (until_received, held) = (capacity == Capacity::Received && is_limited, vec![]);
        let by_credits = capacity == Capacity::Credits;
        let is_running = RefCell::new(vec![vec![]; params.P]);
        let promised = vec![];
        Network { params, until_received, by_credits, held, levels, ports, noise, is_running, promised }
    }

    /// Returns whether noise leaves the next picosecond to the processor.
    fn is_running(&self, x: usize, t: i64) -> bool {
        let Some(noise) = &self.noise else { return true };
        let Ok(place) = usize::try_from(t) else {
            return noise.detours(x, t * PS, (t + 1) * PS).is_empty();
        };
        let known = &mut self.is_running.borrow_mut()[x];
        while known.len() <= place {
            let start = known.len() as i64;
            known.resize(known.len() + 1000, true);
            for (from, until) in noise.detours(x, start * PS, (start + 1000) * PS) {
                known[from.as_ps() as usize..until.as_ps() as usize].fill(false);
            }
        }
        known[place]
    }

    /// Returns the end of an activity of length `time` under noise, picosecond by picosecond.
    pub(crate) fn busy_until(&self, x: usize, start: i64, mut time: i64) -> i64 {
        let mut now = start;
        while time > 0 {
            time -= i64::from(self.is_running(x, now));
            now += 1;
        }
        now
    }

    /// Returns the earliest start, not before `least`, of an activity of length `time` that ends at `end`
    /// under noise.
    pub(crate) fn start_of_activity(&self, x: usize, least: i64, end: i64, time: i64) -> i64 {
        let had = |begin: i64| (begin..end).filter(|t| self.is_running(x, *t)).count() as i64;
        if time == 0 { end } else { (least..end).find(|begin| had(*begin) <= time).unwrap_or(end) }
    }

    /// Returns the number of levels within the machine that have both processors in one group.
    fn depth(&self, x: usize, y: usize) -> usize {
        self.levels.iter().filter(|level| x / level.params.P == y / level.params.P).count()
    }

    /// Returns the parameters between two processors: those of the innermost group that has both.
    pub(crate) fn between(&self, x: usize, y: usize) -> &Params {
        match self.depth(x, y) {
            0 => &self.params,
            depth => &self.levels[depth - 1].params,
        }
    }

    /// Iterates over the parameters of all levels.
    fn all(&self) -> impl Iterator<Item = &Params> {
        self.levels.iter().map(|level| &level.params).chain([&self.params])
    }

    // The costs of a message.

    /// Returns the number of words that count: LogP and LogGP have no message shorter than a word.
    pub(crate) fn counted_words(&self, (x, y): (usize, usize), words: usize) -> u64 {
        let least = if self.between(x, y).gps().is_some() { 0 } else { 1 };
        words.max(least) as u64
    }

    /// Returns the overhead of sending: o (LogP 3); o' + k O_s (LogGPS, table 3), and R above S where the receiver has
    /// to agree.
    pub(crate) fn send_overhead(&self, (x, y): (usize, usize), words: usize, kind: MessageKind) -> i64 {
        let params = self.between(x, y);
        let agrees = self.waits_for_receiver((x, y), words) && !kind.is_one_sided();
        let agreed = if agrees { params.R } else { Time::ZERO };
        (agreed + params.o + words as i64 * params.gps().map_or(Time::ZERO, |gps| gps.O_s)).as_ps()
    }

    /// Returns the overhead of receiving: o (LogP 3); o' + k O_r (LogGPS, table 3).
    pub(crate) fn recv_overhead(&self, (x, y): (usize, usize), words: usize) -> i64 {
        let params = self.between(x, y);
        (params.o + words as i64 * params.gps().map_or(Time::ZERO, |gps| gps.O_r)).as_ps()
    }

    /// Returns the time from the first word to the last: (k-1)G (LogGP 2.1), where a message of no words
    /// counts as one word; kG_s, or sG_s + (k-s)G_l (LogGPS, table 3).
    pub(crate) fn stream(&self, (x, y): (usize, usize), words: usize) -> i64 {
        let (k, params) = (words as i64, self.between(x, y));
        match params.gps() {
            None => (k - 1).max(0) * params.G().unwrap().as_ps(),
            Some(gps) if words <= gps.s => k * gps.G_s.as_ps(),
            Some(gps) => gps.s as i64 * gps.G_s.as_ps() + (k - gps.s as i64) * gps.G_l.as_ps(),
        }
    }

    /// Returns whether a message is above S and waits for its receiver, after a request of no words (LogGPS
    /// 3.1).
    pub(crate) fn waits_for_receiver(&self, (x, y): (usize, usize), words: usize) -> bool {
        self.between(x, y).gps().is_some_and(|gps| words > gps.S)
    }

    /// Returns whether a message's way may lie within its overhead (LogGPS, table 5).
    pub(crate) fn is_early(&self) -> bool {
        self.all().any(has_negative_G_l)
    }

    /// Returns the time at which a message asks for its way: when it is ready, or at its arrival if a
    /// negative G_l lets that be earlier.
    pub(crate) fn ask(&self, way: (usize, usize), words: usize, latency: i64, ready: i64) -> i64 {
        ready.min(ready + latency + self.stream(way, words))
    }

    /// Returns the time by which the turn of a message is earlier than its request for a way. Each message
    /// costs its sender at least the least o, so the order is the same.
    pub(crate) fn head_start(&self) -> i64 {
        if self.is_early() || self.until_received {
            0
        } else {
            self.all().map(|params| params.o.as_ps()).min().unwrap()
        }
    }

    /// Returns the number of messages that may be in transit from a processor or to one, where their ends are
    /// known when they enter.
    fn capacity(&self, x: usize, y: usize) -> Option<usize> {
        capacity(self.between(x, y)).filter(|_| !self.until_received)
    }

    // What is in transit until it is received.

    /// Returns whether both ends have room for one more message.
    pub(crate) fn has_room(&self, from: usize, to: usize) -> bool {
        let Some(C) = capacity(self.between(from, to)) else { return true };
        let depth = self.depth(from, to);
        let there = || self.held.iter().filter(|m| m.until.is_none() && self.depth(m.from, m.to) == depth);
        there().filter(|m| m.from == from).count() < C && there().filter(|m| m.to == to).count() < C
    }

    pub(crate) fn hold(&mut self, from: usize, to: usize, since: i64) {
        if capacity(self.between(from, to)).is_some() {
            self.held.push(Held { from, to, since, until: None });
        }
    }

    pub(crate) fn leave(&mut self, from: usize, to: usize, at: i64) {
        if let Some(m) = self.held.iter_mut().find(|m| (m.from, m.to, m.until) == (from, to, None)) {
            m.until = Some(at);
        }
    }

    // The reservations.

    pub(crate) fn promise(&mut self, message: PromisedMessage) {
        self.promised.push(message);
    }

    /// Returns the intervals in which a port is taken: a processor's only one, or its sending or receiving
    /// one (LogGP 2: "at any given time a processor can either be sending or receiving a single message").
    /// Each level has its own ports, and a group may have one for all its processors.
    fn port(&self, x: usize, sends: bool, depth: usize) -> Vec<(i64, i64)> {
        let same = |y: usize| match self.levels.get(depth).filter(|within| within.one_port) {
            Some(within) => x / within.params.P == y / within.params.P,
            None => x == y,
        };
        let streams = self.promised.iter().filter(|m| m.s > 0 && self.depth(m.from, m.to) == depth);
        let ends = streams.flat_map(|m| [(m.from, true, m.enter, m.s), (m.to, false, m.first, m.s)]);
        let here = ends.filter(|(of, sending, ..)| same(*of) && (self.is_single(depth) || *sending == sends));
        here.map(|(_, _, from, s)| (from, from + s)).collect()
    }

    /// Returns whether a level's ports carry one message, sent or received.
    fn is_single(&self, depth: usize) -> bool {
        let ports = if depth == 0 { self.ports } else { self.levels[depth - 1].ports };
        ports == Ports::Single
    }

    /// Returns the intervals in which messages are in transit: from the first word's departure to the last
    /// one's arrival (LogP 3), or until their credits are back.
    fn transits(&self, which: impl Fn(&PromisedMessage) -> bool) -> Vec<(i64, i64)> {
        let stay = |m: &PromisedMessage| (m.enter, m.arrival + self.way_back(m.from, m.to));
        self.promised.iter().filter(|m| which(m)).map(stay).filter(|(from, to)| from < to).collect()
    }

    /// Returns the time that a credit takes back; 0 where there are none.
    fn way_back(&self, x: usize, y: usize) -> i64 {
        if self.by_credits { self.between(x, y).L.as_ps() } else { 0 }
    }

    /// Returns the most messages in transit at once at one level, from a processor and to it, not counted at
    /// levels of unlimited capacity.
    pub(crate) fn max_in_transit(&self, x: usize) -> (usize, usize) {
        let most = (0..=self.levels.len()).map(|depth| self.max_in_transit_at(x, depth));
        most.reduce(|a, b| (a.0.max(b.0), a.1.max(b.1))).unwrap()
    }

    fn max_in_transit_at(&self, x: usize, depth: usize) -> (usize, usize) {
        let has_capacity =
            |m: &PromisedMessage| self.depth(m.from, m.to) == depth && self.capacity(m.from, m.to).is_some();
        let most = |transits: Vec<(i64, i64)>| {
            let at = |m: i64| transits.iter().filter(|(from, to)| (*from..*to).contains(&m)).count();
            transits.iter().map(|(from, _)| at(*from)).max().unwrap_or(0)
        };
        if self.until_received {
            let held = |which: fn(&Held, usize) -> bool| {
                let here = |m: &&Held| which(m, x) && self.depth(m.from, m.to) == depth;
                self.held.iter().filter(here).map(|m| (m.since, m.until.unwrap_or(i64::MAX))).collect()
            };
            return (most(held(|m, x| m.from == x)), most(held(|m, x| m.to == x)));
        }
        let from = |to: Option<usize>| {
            let is_to = |m: &PromisedMessage| to.is_none_or(|to| to == m.to) && m.by == SentBy::Processor;
            self.transits(|m| m.from == x && is_to(m) && has_capacity(m))
        };
        if self.by_credits {
            return ((0..self.params.P).map(|y| most(from(Some(y)))).max().unwrap(), 0);
        }
        let from = from(None);
        (most(from), most(self.transits(|m| m.to == x && has_capacity(m))))
    }

    /// Returns the earliest free way for a message.
    pub(crate) fn way(&self, asks: WayRequest) -> Way {
        let WayRequest { from, to, s, latency, ready, in_order, by } = asks;
        let depth = self.depth(from, to);
        let (out_port, in_port) = (self.port(from, true, depth), self.port(to, false, depth));
        let here = |m: &PromisedMessage| self.depth(m.from, m.to) == depth;
        let sends = |m: &PromisedMessage| here(m) && m.by == by && by != SentBy::Reader;
        let sent = self.transits(|m| m.from == from && sends(m) && (!self.by_credits || m.to == to));
        let coming = self.transits(|m| m.to == to && here(m) && !self.by_credits);
        let free = |port: &[(i64, i64)], at: i64| port.iter().all(|taken| !overlap(*taken, (at, at + s)));
        // Capacity and ports become free only when a reservation ends, so only those moments are tried.
        let earliest = |from: i64, ends: &mut dyn Iterator<Item = i64>, fits: &dyn Fn(i64) -> bool| {
            ends.filter(|end| *end > from).chain([from]).filter(|at| fits(*at)).min().unwrap()
        };
        // The receiver's port is sought from e + L on (LogGP 2). One word, or a stream of negative length,
        // needs none. In MPI no message overtakes another between the same two.
        let is_ahead = |m: &&PromisedMessage| m.by == SentBy::Processor && (m.from, m.to) == (from, to);
        let before = self.promised.iter().filter(|m| in_order && is_ahead(m));
        let ahead = before.map(|m| m.arrival).max();
        let first = |e: i64| {
            let soonest = ahead.map_or(e + latency, |ahead| (e + latency).max(ahead - s));
            let own = |f: i64| self.is_single(depth) && from == to && overlap((e, e + s), (f, f + s));
            let mut ends = in_port.iter().map(|(_, end)| *end).chain([e + s]);
            if s <= 0 { soonest } else { earliest(soonest, &mut ends, &|f| free(&in_port, f) && !own(f)) }
        };
        // LogP 3: it stalls "until the message can be sent without exceeding the capacity limit". How many
        // are in transit grows only where one enters.
        let room = |e: i64| {
            let leaves = first(e) + s + self.way_back(from, to);
            let Some(C) = self.capacity(from, to).filter(|_| leaves > e) else { return true };
            let entries = sent.iter().chain(&coming).map(|(enter, _)| *enter);
            let moments = entries.filter(|m| (e..leaves).contains(m)).chain([e]);
            let fewer = |transits: &[(i64, i64)], m: i64| {
                transits.iter().filter(|(from, to)| (*from..*to).contains(&m)).count() < C
            };
            moments.into_iter().all(|m| fewer(&sent, m) && fewer(&coming, m))
        };
        let ends = || out_port.iter().chain(&sent).chain(&coming).map(|(_, end)| *end).chain(ahead);
        let admitted = earliest(ready, &mut ends(), &room);
        let enter = earliest(ready, &mut ends(), &|e| room(e) && (s <= 0 || free(&out_port, e)));
        Way { admitted, enter, first: first(enter), arrival: first(enter) + s }
    }
}
