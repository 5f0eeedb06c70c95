//! The way of a message through a level of the network: the search among the reservations of others, and its own.
//!
//! A message finds the earliest way that fits from the moment on at which it is ready, and reserves it. There is no
//! queue, and a reservation never changes: the departure that asks first is served first. The rules that are numbered 2
//! and 3 (capacity, port) are here.

use parking_lot::Mutex;

use super::busy_intervals::BusyIntervals;
use super::capacity::{Capacity, Limits, Room};
use super::judge::Judge;
use super::ports::GroupPorts;
use super::sides::{Egress, Ingress, Ingresses};
use crate::params::{Level, Params, Ports};
use crate::time::Time;

/// A message that asks the network for its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
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

impl Departure {
    /// Creates the departure of a message that asks when it is ready, and with which no sender is busy.
    pub fn when_ready(ready: Time, latency: Time, stream: Time) -> Departure {
        Departure { ready, asked_at: ready, latency, stream, overhead: Time::ZERO }
    }

    /// Lets the message ask again at a time from which on there is room.
    pub(crate) fn defer_to(&mut self, at: Time) {
        (self.ready, self.asked_at) = (at, at);
    }
}

/// The times of a message in the network, as [`Network::serve`](crate::rules::network::Network::serve) reserved them.
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
    /// True if a departure that asked later was served before at one of the two ends; never on the virtual clock.
    pub out_of_order: bool,
}

/// The transport between processors at one level.
#[derive(Debug)]
pub(crate) struct LevelTransport {
    /// The number of the level; 0 for the machine itself.
    number: usize,
    /// The index of its first [`Ingress`] among those of all levels.
    first_ingress: usize,
    ports: Ports,
    /// The limits of the messages in transit: who may enter, who waits, and what ends a transit.
    pub limits: Limits,
    /// True if a message may overtake another that did not wait for its receiver's port: latencies differ, or
    /// a negative G_l shortens the transit. Otherwise the gap lets each message enter when all of the one
    /// before has entered.
    may_overtake: bool,
    /// The ports of the groups, if the processors of a group share one.
    group_ports: Option<Mutex<GroupPorts>>,
}

impl LevelTransport {
    /// Creates the transport of a level by its number, on a machine of `all` processors; `within` is the next level
    /// within it, if any. All latencies are L if `is_exact`.
    pub(crate) fn new(
        number: usize,
        params: &Params,
        (ports, capacity): (Ports, Capacity),
        (within, all): (Option<&Level>, usize),
        is_exact: bool,
    ) -> LevelTransport {
        let group_ports = within.filter(|within| within.one_port);
        LevelTransport {
            number,
            first_ingress: number * all,
            ports,
            limits: Limits::new(capacity, params, all),
            may_overtake: !is_exact || params.has_negative_G_l(),
            group_ports: group_ports.map(|within| Mutex::new(GroupPorts::new(within.params.P, all))),
        }
    }

    /// Serves a departure at this level, as [`Network::serve`](crate::rules::network::Network::serve) does at all.
    #[inline(always)]
    pub(crate) fn serve(
        &self,
        ingresses: &mut (impl Ingresses + ?Sized),
        egress: &mut Egress,
        to: usize,
        departure: &Departure,
    ) -> Passage {
        let Departure { ready, asked_at, latency, stream, .. } = *departure;
        let min_first = if egress.extras.is_none() { Time::ZERO } else { egress.min_first(to, stream) };
        // Made where it is needed: then the usual message need not lie in memory.
        let sought = || SoughtWay { ready, asked_at, latency, stream, min_first };
        let first = min_first.max(ready + latency);
        let mut transit = Transit { enter: ready, first, arrival: first + stream };
        let (mut admitted, mut out_of_order) = (ready, false);
        if stream > Time::ZERO {
            // 2. Capacity, and 3. port.
            (admitted, transit, out_of_order) = self.serve_long(ingresses, egress, to, sought());
        } else if self.limits.at_ends != usize::MAX {
            let (mut ingress, mut judge) = ingresses.hold(self.first_ingress + to);
            let (ingress, judge) = (&mut *ingress, &mut judge);
            out_of_order = ingress.mark_served(asked_at);
            // 2. Capacity.
            if self.is_full_after(judge, egress, ingress, ready) {
                (admitted, transit) = self.find_transit(judge, egress, (ingress, None), to, sought());
            }
            self.reserve_room(judge, egress, ingress, to, &transit, asked_at);
        } else if self.limits.is_own() {
            (admitted, transit) = self.serve_own(ingresses, egress, to, sought());
        }
        let Transit { enter, first, arrival } = transit;
        // A message of one word without extras cannot be overtaken: the next one enters later, and takes as
        // long.
        let is_usual = stream <= Time::ZERO && egress.extras.is_none();
        if !is_usual && (first > enter + latency || self.may_overtake) {
            egress.note_arrival(to, arrival, asked_at);
        }
        Passage { ready, admitted, enter, first, arrival, out_of_order }
    }

    /// Serves a message of several words, which needs the ports. Returns when the capacity admits it, its
    /// transit, and whether it is out of order.
    #[inline(never)]
    fn serve_long(
        &self,
        ingresses: &mut (impl Ingresses + ?Sized),
        egress: &mut Egress,
        to: usize,
        sought: SoughtWay,
    ) -> (Time, Transit, bool) {
        let (from, all) = (egress.processor(), self.first_ingress);
        let (mut receiver, mut sender, mut judge) = match from != to {
            true => {
                let ([sender, receiver], judge) = ingresses.hold_both(all + from, all + to);
                (receiver, Some(sender), judge)
            }
            false => {
                let (receiver, judge) = ingresses.hold(all + to);
                (receiver, None, judge)
            }
        };
        let judge = &mut judge;
        let mut out_of_order = receiver.mark_served(sought.asked_at);
        if let Some(sender) = sender.as_mut().filter(|_| self.ports == Ports::Single) {
            out_of_order |= sender.mark_served(sought.asked_at);
        }
        let (receiver, sender) = (&mut *receiver, &mut sender);
        let mut reserve = |egress: &mut Egress, receiver: &mut Ingress, sender: Option<&mut Ingress>| {
            self.reserve_transit(judge, egress, (receiver, sender), to, sought)
        };
        let (admitted, transit) = match &self.group_ports {
            None => reserve(egress, receiver, sender.as_deref_mut()),
            Some(group_ports) => {
                let mut group_ports = group_ports.lock();
                out_of_order |= group_ports.mark_served(from, to, sought.asked_at);
                group_ports.swap_ports(self.ports, (from, sender.as_deref_mut()), (to, receiver));
                let reserved = reserve(egress, receiver, sender.as_deref_mut());
                group_ports.swap_ports(self.ports, (from, sender.as_deref_mut()), (to, receiver));
                reserved
            }
        };
        (admitted, transit, out_of_order)
    }

    /// Serves a message of one word that shares its room with others of its sender alone, so that nobody else sees
    /// when it is served. Returns when the capacity admits it, and its transit.
    #[inline(never)]
    fn serve_own(
        &self,
        ingresses: &mut (impl Ingresses + ?Sized),
        egress: &mut Egress,
        to: usize,
        sought: SoughtWay,
    ) -> (Time, Transit) {
        let (mut receiver, mut judge) = ingresses.hold(self.first_ingress + to);
        self.reserve_transit(&mut judge, egress, (&mut receiver, None), to, sought)
    }

    /// Finds the transit of a message, and reserves the ports and the room for it. Returns when the capacity admits it,
    /// and its transit. `sender` is as in [`find_transit`](LevelTransport::find_transit).
    #[inline(always)]
    fn reserve_transit(
        &self,
        judge: &mut impl Judge,
        egress: &mut Egress,
        (receiver, sender): (&mut Ingress, Option<&mut Ingress>),
        to: usize,
        sought: SoughtWay,
    ) -> (Time, Transit) {
        let (admitted, transit) = self.find_transit(judge, egress, (receiver, sender), to, sought);
        self.reserve_room(judge, egress, receiver, to, &transit, sought.asked_at);
        (admitted, transit)
    }

    /// Returns whether one of the ends is full at some moment after `ready`.
    #[inline(always)]
    fn is_full_after(&self, judge: &mut impl Judge, egress: &Egress, ingress: &Ingress, ready: Time) -> bool {
        let sender = egress.occupancy(self.number);
        let free =
            sender.free_from(self.limits.at_ends).max(ingress.occupancy.free_from(self.limits.at_ends));
        judge.is_before(ready, free)
    }

    /// Reserves room at both ends for a message with this transit.
    #[inline(always)]
    fn reserve_room(
        &self,
        judge: &mut impl Judge,
        egress: &mut Egress,
        ingress: &mut Ingress,
        to: usize,
        &Transit { enter, arrival, .. }: &Transit,
        asked_at: Time,
    ) {
        let (now, way) = (judge.forgets_before(asked_at), (enter, arrival));
        if self.limits.at_ends != usize::MAX {
            if arrival > enter {
                egress.occupancy_mut(self.number).reserve(judge, way, now, self.limits.at_ends);
                ingress.occupancy.reserve(judge, way, now, self.limits.at_ends);
            }
        } else if self.limits.is_own() {
            self.limits.reserve_own(judge, egress.more_mut(), to, way, now);
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
        to: usize,
        SoughtWay { ready, asked_at, latency, stream, min_first }: SoughtWay,
    ) -> (Time, Transit) {
        let (single, occupies) = (self.ports == Ports::Single, stream.max(Time::ZERO));
        let search = TransitSearch {
            room: self.limits.room((egress.occupancy(self.number), egress.more()), &receiver.occupancy, to),
            send_port: match (sender.as_deref().unwrap_or(receiver), single) {
                (sender, true) => sender.port.as_deref(),
                (sender, false) => sender.send_port.as_deref(),
            },
            receive_port: receiver.port.as_deref(),
            // Through a single port a message to its own sender comes in only when all of it has gone out.
            min_latency: if single && egress.processor() == to { latency.max(occupies) } else { latency },
            min_first,
            stream,
        };
        let has_room = !search.room.is_full_after(judge, ready);
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

/// The times of a message by which its way is sought.
#[derive(Clone, Copy)]
struct SoughtWay {
    /// As in its [`Departure`], like the next three.
    ready: Time,
    asked_at: Time,
    latency: Time,
    stream: Time,
    /// The earliest time at which the first word may come out, so that the message does not overtake another.
    min_first: Time,
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
    /// The room that the message needs.
    room: Room<'a>,
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
            match self.room.next(judge, (enter, arrival)) {
                // A negative G_l may cancel the latency: then the message is in transit only while it waits
                // for the message before it, and needs no room after that.
                Some(room_again) if self.min_latency + self.stream + self.room.beyond <= Time::ZERO => {
                    enter = room_again.min(enter.max(self.min_first + self.stream));
                }
                Some(room_again) => enter = room_again,
                None => return Transit { enter, first, arrival },
            }
        }
    }
}
