//! Whether a message waited with reason.
//!
//! A message asks for its way when it is ready, or when it would be there if a negative G_l makes that earlier.
//! Who asks first is served first, and at the same moment the one whose place is before the other's. What was
//! promised to those served before is all that a message may wait for: its own end of the network or its
//! receiver's is full, or a port is taken. So the requests are gone through in that order, and each is held
//! against the promises made until then, as the trace says them. Who enters too early is in the way of
//! another, and found where messages and ports are watched; who enters too late is found here.

use std::collections::{HashMap, HashSet};

use super::room::{Room, Rooms};
use super::{Auditor, Flight, PortName, Rule};
use crate::params::Ports;
use crate::time::Time;
use crate::trace::{ActivityKind, Message, Trace};

/// A message that asks for its way.
struct Request<'a> {
    /// When it asks.
    ask: Time,
    /// The message that asks.
    message: &'a Message,
    /// How long its last word comes after the first.
    spread: Time,
    /// When it was ready, when its stall was over, and when its sender went on; if anybody sent it.
    sent: Option<[Time; 3]>,
    /// It comes out no earlier, so that it overtakes none on the same way.
    not_before: Time,
}

impl<'a> Auditor<'a> {
    /// Holds every message's waits against what was promised to those who asked before.
    pub(super) fn judge_requests(&mut self, trace: &Trace) {
        if self.audit.out_of_order > 0 {
            return self.judge_without_order();
        }
        let requests = self.requests();
        let free = free_barriers(trace);
        let mut promises = Promises::new(&requests, self.audit.capacity, self.ports);
        for at_once in requests.chunk_by(|a, b| a.ask == b.ask) {
            if may_be_chained(at_once, &free, self.params.o) {
                self.judge_chain(at_once, &mut promises);
                continue;
            }
            for request in at_once {
                let way = promises.way(request);
                let least = way.admitted(request.ready(), request.message.latency);
                self.judge(request, &way, least);
                promises.make(request);
            }
        }
    }

    /// Requests of one moment whose order the trace does not tell: each may have come before all others, or
    /// after them.
    fn judge_chain(&mut self, at_once: &[Request], promises: &mut Promises) {
        let least =
            |request: &Request| promises.way(request).admitted(request.ready(), request.message.latency);
        let least: Vec<Time> = at_once.iter().map(least).collect();
        at_once.iter().for_each(|request| promises.make(request));
        for (request, least) in at_once.iter().zip(least) {
            self.judge(request, &promises.way(request), least);
        }
    }

    /// Holds a message's waits against its way. `least` is when its stall can have ended at the earliest.
    fn judge(&mut self, request: &Request, way: &Way, least: Time) {
        let &Message { id, to, latency, enter, first, .. } = request.message;
        let out = way.first(enter, latency);
        if first < way.not_before && self.keeps_order(id) {
            let (arrival, ahead) = (request.message.arrival, way.not_before + request.spread);
            let sentence = format!("{id} is there at {arrival}, and one before it at {ahead}");
            self.report(Rule::Order, sentence);
        }
        if (request.spread > Time::ZERO || self.keeps_order(id)) && first > out {
            let sentence = format!("{id} enters at {enter} and comes out at {first}");
            self.report(Rule::Latency, format!("{sentence}, and processor {to}'s port had room at {out}"));
        }
        let Some([ready, admitted, entered]) = request.sent else { return };
        let most = way.admitted(least, latency);
        if admitted > most {
            let sentence = format!("{id} to {to} stalls from {ready} to {admitted}");
            self.report(Rule::Stall, format!("{sentence}, and there was room at {most}"));
        } else if admitted < least && least <= entered {
            let sentence = format!("{id} to {to} stalls from {ready} to {admitted}");
            self.report(Rule::Stall, format!("{sentence}, and there was no room before {least}"));
        } else {
            let most = way.enter(most, latency);
            if entered > most {
                let sentence = format!("{id} to {to} waits for a port until {entered}");
                self.report(Rule::Wait, format!("{sentence}, and could enter at {most}"));
            }
        }
    }

    /// What can be said of waits if nobody knows who asked first: there must be something to wait for.
    fn judge_without_order(&mut self) {
        for place in 0..self.flights.len() {
            let Flight { message, spread, stall, port, .. } = self.flights[place];
            if let Some(stall) = stall.filter(|_| self.audit.capacity.is_none()) {
                let sentence = format!("{} stalls until {}, without a capacity", message.id, stall.end);
                self.report(Rule::Stall, sentence);
            }
            if let Some(port) = port.filter(|_| spread <= Time::ZERO) {
                let sentence = format!("{} waits for a port until {}, and needs none", message.id, port.end);
                self.report(Rule::Wait, sentence);
            }
        }
    }

    /// All requests, in the order in which they are served.
    fn requests(&self) -> Vec<Request<'a>> {
        let request = |flight: &Flight<'a>| {
            let &Flight { message, spread, send, stall, port, .. } = flight;
            let sent = send.map(|send| {
                let admitted = stall.map_or(send.end, |stall| stall.end);
                [send.end, admitted, port.map_or(admitted, |port| port.end)]
            });
            Request { ask: flight.ask(), message, spread, sent, not_before: Time::ZERO }
        };
        let mut requests: Vec<Request> = self.flights.iter().map(request).collect();
        requests.sort_unstable_by_key(|request| (request.ask, request.message.place, request.message.id));
        let mut last: HashMap<(usize, usize), Time> = HashMap::new();
        for request in requests.iter_mut().filter(|request| self.keeps_order(request.message.id)) {
            let &Message { id, to, arrival, .. } = request.message;
            let ahead = last.entry((id.from, to)).or_insert(Time::ZERO);
            request.not_before = *ahead - request.spread;
            *ahead = arrival.max(*ahead);
        }
        requests
    }
}

impl Request<'_> {
    /// When it was ready, or at least entered.
    fn ready(&self) -> Time {
        self.sent.map_or(self.message.enter, |[ready, ..]| ready)
    }

    /// While it is in transit, if it ever is.
    fn transit(&self) -> Option<(Time, Time)> {
        let Message { enter, arrival, .. } = *self.message;
        (enter < arrival).then_some((enter, arrival))
    }

    /// While it occupies its sender's port and its receiver's, if it occupies any.
    fn streams(&self) -> Option<[(Time, Time); 2]> {
        let Message { enter, first, .. } = *self.message;
        let stream = |start: Time| (start, start + self.spread);
        (self.spread > Time::ZERO).then_some([stream(enter), stream(first)])
    }

    /// Its sender's port, and its receiver's.
    fn ports(&self, dual: bool) -> [PortName; 2] {
        [(self.message.id.from, false), (self.message.to, dual)]
    }
}

/// When barriers that cost nothing ended: processors that left one may act after others of the same moment,
/// whatever their numbers.
fn free_barriers(trace: &Trace) -> HashSet<Time> {
    let free = trace.barrier == Some(Time::ZERO);
    let barriers = trace.activities.iter().filter(|activity| free && activity.what == ActivityKind::Barrier);
    barriers.map(|activity| activity.end).collect()
}

/// Whether some requests of one moment may come from others of the same moment: then they are served after
/// them, whatever the numbers of their senders. Who leaves a barrier and sends asks after o.
fn may_be_chained(at_once: &[Request], free: &HashSet<Time>, o: Time) -> bool {
    let Some(Request { ask, message: first, .. }) = at_once.first() else { return false };
    let no_time = |request: &Request| {
        let Message { id, to, arrival, .. } = *request.message;
        arrival <= request.ask && id.from != to
    };
    let several = at_once.iter().any(|request| request.message.id.from != first.id.from);
    let leaves = free.contains(ask) || free.contains(&(*ask - o));
    several && (leaves || at_once.iter().any(no_time))
}

/// What was promised to those who were served.
struct Promises {
    /// To be in transit from a processor, if not everything may be.
    from: Rooms<usize>,
    /// To be in transit to a processor.
    to: Rooms<usize>,
    /// To use a port.
    ports: Rooms<PortName>,
    /// Whether the ports are dual.
    dual: bool,
}

impl Promises {
    /// Nothing yet, before these requests.
    fn new(requests: &[Request], capacity: Option<usize>, ports: Ports) -> Promises {
        let dual = ports == Ports::Dual;
        let limited = requests.iter().filter(|_| capacity.is_some());
        let transits = limited.filter_map(|request| Some((request.message, request.transit()?)));
        let from = transits.clone().map(|(message, (enter, arrival))| (message.id.from, enter, arrival));
        let to = transits.map(|(message, (enter, arrival))| (message.to, enter, arrival));
        let streams = requests.iter().filter_map(|request| Some((request.ports(dual), request.streams()?)));
        let streams = streams.flat_map(|(ports, streams)| ports.into_iter().zip(streams));
        let capacity = capacity.unwrap_or(usize::MAX);
        Promises {
            from: Rooms::new(capacity, from),
            to: Rooms::new(capacity, to),
            ports: Rooms::new(1, streams.map(|(port, (start, end))| (port, start, end))),
            dual,
        }
    }

    /// Promises a message its way.
    fn make(&mut self, request: &Request) {
        if let Some((enter, arrival)) = request.transit() {
            self.from.promise(request.message.id.from, enter, arrival);
            self.to.promise(request.message.to, enter, arrival);
        }
        if let Some(streams) = request.streams() {
            for (port, (start, end)) in request.ports(self.dual).into_iter().zip(streams) {
                self.ports.promise(port, start, end);
            }
        }
    }

    /// What a message finds on its way.
    fn way(&self, request: &Request) -> Way<'_> {
        let [exit, entrance] = request.ports(self.dual);
        let of_port = |port| (request.spread > Time::ZERO).then(|| self.ports.at(port)).flatten();
        Way {
            not_before: request.not_before,
            ends: [self.from.at(request.message.id.from), self.to.at(request.message.to)],
            exit: of_port(exit),
            entrance: of_port(entrance),
            itself: exit == entrance,
            spread: request.spread,
        }
    }
}

/// The places that a message needs, as far as anything is promised there.
struct Way<'a> {
    /// It comes out no earlier, so that it overtakes none.
    not_before: Time,
    /// The two ends of the network.
    ends: [Option<&'a Room>; 2],
    /// The sender's port.
    exit: Option<&'a Room>,
    /// The receiver's port.
    entrance: Option<&'a Room>,
    /// These are one port, where the message must also get out of its own way.
    itself: bool,
    /// For how long it needs the ports, if more than nothing.
    spread: Time,
}

impl Way<'_> {
    /// When the first word comes out if it enters then.
    fn first(&self, enter: Time, latency: Time) -> Time {
        if self.spread <= Time::ZERO {
            return self.not_before.max(enter + latency);
        }
        let soonest = enter + if self.itself { latency.max(self.spread) } else { latency };
        let soonest = soonest.max(self.not_before);
        self.entrance.map_or(soonest, |port| port.fit(soonest, self.spread))
    }

    /// The earliest moment, not before `from`, at which both ends have room.
    fn admitted(&self, from: Time, latency: Time) -> Time {
        let ends = || self.ends.iter().flatten();
        let shortest = latency + self.spread; // nothing or less if it is never in transit
        let mut enter = from;
        loop {
            let fit = ends().fold(enter, |enter, end| end.fit(enter, shortest));
            if fit > enter {
                enter = fit;
                continue;
            }
            let arrival = self.first(enter, latency) + self.spread;
            if arrival <= enter + shortest {
                return enter;
            }
            // A port keeps it in transit for longer. One that enters later arrives no earlier; so it cannot
            // enter before the last full moment of this transit is over.
            match ends().filter_map(|end| end.full_until(enter, arrival)).max() {
                Some(over) => enter = over,
                None => return enter,
            }
        }
    }

    /// The earliest moment at which it can enter, if both ends have room at `admitted` and not before.
    fn enter(&self, admitted: Time, latency: Time) -> Time {
        let mut enter = admitted;
        loop {
            let port = self.exit.map_or(enter, |port| port.fit(enter, self.spread));
            if port == enter {
                return enter;
            }
            enter = self.admitted(port, latency);
        }
    }
}
