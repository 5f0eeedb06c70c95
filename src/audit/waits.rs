//! Whether a message waited with reason.
//!
//! A message asks for its way when it is ready, or when it would be there if a negative G_l makes that earlier.
//! Who asks first is served first, and at the same moment the one whose place is before the other's. What was
//! promised to those served before is all that a message may wait for: its own end of the network or its
//! receiver's is full, or a port is taken. So the requests are gone through in that order, and each is held
//! against the promises made until then, as the trace says them. Who enters too early is in the way of
//! another, and found where messages and ports are watched; who enters too late is found here.

use std::collections::HashSet;

use super::auditor::{Auditor, Rule, broken};
use super::flight::{Flight, Place, Sent};
use super::room::{Room, Rooms};
use crate::time::Time;
use crate::trace::{ActivityKind, Message, Trace};

/// What a message finds on its way: the places that it needs, as far as anything is promised there.
struct Way<'a> {
    /// The message.
    flight: &'a Flight<'a>,
    /// The two ends of the network.
    ends: [Option<&'a Room>; 2],
    /// The sender's port.
    exit: Option<&'a Room>,
    /// The receiver's port.
    entrance: Option<&'a Room>,
    /// These are one port, where the message must also get out of its own way.
    itself: bool,
}

impl Auditor<'_> {
    /// Holds every message's waits against what was promised to those who asked before, if it is known who did.
    pub(super) fn judge_waits(&mut self) {
        if self.trace.out_of_order > 0 {
            return;
        }
        let served: Vec<Flight> = self.order.iter().map(|place| self.flights[*place]).collect();
        let ports = self.trace.ports;
        let stays = served.iter().flat_map(|flight| flight.stays(ports));
        let mut promised = Rooms::new(stays, |place| self.capacity(place));
        let free = free_barriers(self.trace);
        for at_once in served.chunk_by(|a, b| a.ask() == b.ask()) {
            // If the trace does not tell their order, each may have come before all others, or after them.
            let chained = may_be_chained(at_once, &free, self.trace.params.o);
            for group in at_once.chunks(if chained { at_once.len() } else { 1 }) {
                let least = |flight: &Flight| self.way(flight, &promised).admitted(flight.ready());
                let least: Vec<Time> = group.iter().map(least).collect();
                let promise = |promised: &mut Rooms| {
                    let stays = group.iter().flat_map(|flight| flight.stays(ports));
                    stays.for_each(|stay| promised.promise(stay));
                };
                if chained {
                    promise(&mut promised);
                }
                for (flight, least) in group.iter().zip(least) {
                    self.judge(&self.way(flight, &promised), least);
                }
                if !chained {
                    promise(&mut promised);
                }
            }
        }
    }

    /// What a message finds on its way.
    fn way<'a>(&self, flight: &'a Flight, promised: &'a Rooms) -> Way<'a> {
        let ports = flight.ports(self.trace.ports);
        let [exit, entrance] = ports.map(|port| promised.at(port).filter(|_| flight.spread > Time::ZERO));
        let Message { id, to, .. } = *flight.message;
        let ends = [Place::From(id.from), Place::To(to)].map(|end| promised.at(end));
        Way { flight, ends, exit, entrance, itself: flight.spread > Time::ZERO && ports[0] == ports[1] }
    }

    /// Holds a message's waits against its way. `least` is when its stall can have ended at the earliest.
    fn judge(&mut self, way: &Way, least: Time) {
        let Flight { message, spread, sent, not_before, .. } = *way.flight;
        let &Message { id, to, enter, first, arrival, .. } = message;
        let (out, keeps_order) = (way.first(enter), not_before.is_some());
        let ahead = not_before.map_or(arrival, |moment| moment + spread);
        broken!(self, "{id} to {to}",
            not_before.is_some_and(|moment| first < moment) => Rule::Order,
                "is there at {arrival}, and one before it at {ahead}";
            first > out && (spread > Time::ZERO || keeps_order) => Rule::Latency,
                "enters at {enter} and comes out at {first}, and there was room at {out}";
        );
        let Some(Sent { ready, admitted, entered, .. }) = sent else { return };
        let most = way.admitted(least);
        let early = admitted < least && least <= entered;
        let soonest = way.enter(most);
        broken!(self, "{id} to {to}",
            admitted > most => Rule::Stall, "stalls from {ready} to {admitted}, and there was room at {most}";
            early => Rule::Stall, "stalls from {ready} to {admitted}, and there was no room before {least}";
            admitted <= most && !early && entered > soonest => Rule::Wait,
                "waits for a port until {entered}, and could enter at {soonest}";
        );
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
fn may_be_chained(at_once: &[Flight], free: &HashSet<Time>, o: Time) -> bool {
    let Some(first) = at_once.first() else { return false };
    let no_time = |flight: &Flight| {
        let Message { id, to, arrival, .. } = *flight.message;
        arrival <= flight.ask() && id.from != to
    };
    let several = at_once.iter().any(|flight| flight.message.id.from != first.message.id.from);
    let leaves = free.contains(&first.ask()) || free.contains(&(first.ask() - o));
    several && (leaves || at_once.iter().any(no_time))
}

impl Way<'_> {
    /// When the first word comes out if it enters then.
    fn first(&self, enter: Time) -> Time {
        let Flight { message, spread, not_before, .. } = *self.flight;
        let latency = if self.itself { message.latency.max(spread) } else { message.latency };
        let soonest = not_before.map_or(enter + latency, |moment| moment.max(enter + latency));
        self.entrance.map_or(soonest, |port| port.fit(soonest, spread))
    }

    /// The earliest moment, not before `from`, at which both ends have room.
    fn admitted(&self, from: Time) -> Time {
        let ends = || self.ends.iter().flatten();
        let shortest = self.flight.message.latency + self.flight.spread; // nothing or less if it is never in transit
        let mut enter = from;
        loop {
            let fit = ends().fold(enter, |enter, end| end.fit(enter, shortest));
            if fit > enter {
                enter = fit;
                continue;
            }
            let arrival = self.first(enter) + self.flight.spread;
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
    fn enter(&self, admitted: Time) -> Time {
        let mut enter = admitted;
        loop {
            let port = self.exit.map_or(enter, |port| port.fit(enter, self.flight.spread));
            if port == enter {
                return enter;
            }
            enter = self.admitted(port);
        }
    }
}
