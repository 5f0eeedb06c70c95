//! Whether a message waited with reason.
//!
//! A message asks for its way when it is ready, or when it would arrive if a negative G_l makes that earlier.
//! The message that asks first is served first. Of messages that ask at the same moment, the one whose sender has
//! the earlier place is served first. A message may wait only for what was promised to messages served before
//! it: its own end of the network or its receiver's is full, or a port is taken. So this module goes through the
//! messages in the order in which they are served, and holds each against the promises made until then, as the
//! trace says them. A message that enters too late is found here. One that enters too early takes the place of
//! another message, which `messages.rs` finds.

use std::collections::HashSet;

use super::auditor::{Auditor, Rule, broken};
use super::flight::{Flight, Place, Sent};
use super::room::{Room, Rooms};
use crate::time::Time;
use crate::trace::{ActivityKind, Message, Trace};

/// The places that a message needs on its way; a place at which nothing is ever promised is `None`.
struct Way<'a> {
    /// The message.
    flight: &'a Flight<'a>,
    /// The two ends of the network.
    ends: [Option<&'a Room>; 2],
    /// The sender's port.
    exit: Option<&'a Room>,
    /// The receiver's port.
    entrance: Option<&'a Room>,
    /// Whether a processor with a single port sends itself a long message: the port must send all of it before it receives
    /// any of it.
    itself: bool,
}

impl Auditor<'_> {
    /// Holds every message's waits against what was promised to messages that asked before it. A run in which the host let
    /// acts happen out of their order is not judged, since nobody knows which message asked first.
    pub(super) fn judge_waits(&mut self) {
        if self.trace.out_of_order > 0 {
            return;
        }
        let served: Vec<Flight> = self.order.iter().map(|place| self.flights[*place]).collect();
        let stays = served.iter().flat_map(|flight| flight.stays());
        let mut promised = Rooms::new(stays, |place| self.capacity(place));
        let free = free_barriers(self.trace);
        for at_once in served.chunk_by(|a, b| a.ask() == b.ask()) {
            // If the trace does not tell the order of these messages, each may have been served before all others, or after
            // them.
            let chained = may_be_chained(at_once, &free);
            for group in at_once.chunks(if chained { at_once.len() } else { 1 }) {
                let least = |flight: &Flight| self.way(flight, &promised).admitted(flight.ready());
                let least: Vec<Time> = group.iter().map(least).collect();
                let promise = |promised: &mut Rooms| {
                    let stays = group.iter().flat_map(|flight| flight.stays());
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

    /// The way of a message.
    fn way<'a>(&self, flight: &'a Flight, promised: &'a Rooms) -> Way<'a> {
        let (ports, level) = (flight.ports, flight.level);
        let [exit, entrance] = ports.map(|port| promised.at(port).filter(|_| flight.spread > Time::ZERO));
        let Message { id, to, .. } = *flight.message;
        let ends = [Place::From(level, id.from), Place::To(level, to)].map(|end| promised.at(end));
        Way { flight, ends, exit, entrance, itself: flight.spread > Time::ZERO && ports[0] == ports[1] }
    }

    /// Holds a message's waits against its way. `least` is the earliest moment at which its stall can have ended.
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

/// The moments at which barriers that cost nothing ended. A processor that left such a barrier may act after other
/// processors of the same moment, whatever their numbers.
fn free_barriers(trace: &Trace) -> HashSet<Time> {
    let free = trace.barrier == Some(Time::ZERO);
    let barriers = trace.activities.iter().filter(|activity| free && activity.what == ActivityKind::Barrier);
    barriers.map(|activity| activity.end).collect()
}

/// Whether some of the messages that ask at one moment may have been caused by others of them: then the caused ones are
/// served later, whatever the numbers of their senders. A processor that leaves a barrier and sends asks o later.
fn may_be_chained(at_once: &[Flight], free: &HashSet<Time>) -> bool {
    let Some(first) = at_once.first() else { return false };
    let no_time = |flight: &Flight| {
        let Message { id, to, arrival, .. } = *flight.message;
        arrival <= flight.ask() && id.from != to
    };
    let several = at_once.iter().any(|flight| flight.message.id.from != first.message.id.from);
    let leaves = free.contains(&first.ask())
        || at_once.iter().any(|flight| free.contains(&(first.ask() - flight.params.o)));
    several && (leaves || at_once.iter().any(no_time))
}

impl Way<'_> {
    /// When the message's first word comes out of the network if the message enters at `enter`.
    fn first(&self, enter: Time) -> Time {
        let Flight { message, spread, not_before, .. } = *self.flight;
        let latency = if self.itself { message.latency.max(spread) } else { message.latency };
        let soonest = not_before.map_or(enter + latency, |moment| moment.max(enter + latency));
        self.entrance.map_or(soonest, |port| port.fit(soonest, spread))
    }

    /// The earliest moment, not before `from`, at which both ends of the network have room for the message.
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
            // The receiver's port keeps the message in transit for longer than `shortest`. Entering later would not
            // make it arrive earlier; so it cannot enter before the last full moment of this transit is over.
            match ends().filter_map(|end| end.full_until(enter, arrival)).max() {
                Some(over) => enter = over,
                None => return enter,
            }
        }
    }

    /// The earliest moment at which the message can enter, if both ends have room at `admitted` and not before.
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
