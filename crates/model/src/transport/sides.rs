//! The state of a processor's sending side and of its receiving side.

use std::collections::HashMap;
use std::ops::DerefMut;

use parking_lot::{Mutex, MutexGuard};

use super::busy_intervals::Port;
use super::capacity::{MoreTransits, Occupancy};
use super::judge::{Judge, PlainJudge};
use crate::params::Ports;
use crate::time::Time;

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
    pub(super) extras: Option<Box<RareEgressState>>,
}

/// The state of an [`Egress`] that is needed only if latencies are drawn, there are several levels, or a message
/// could be overtaken or must not overtake.
#[derive(Debug, Default)]
pub(super) struct RareEgressState {
    /// Messages in transit from the processor that are not in `occupancy`.
    pub(super) more: MoreTransits,
    /// Draws latencies, once one was drawn.
    rng: Option<fastrand::Rng>,
    /// True if messages to the same processor arrive in the order in which they enter.
    keeps_order: bool,
    /// The latest arrival, by receiver, of messages that a later one could overtake.
    latest_arrivals: HashMap<u32, Time>,
}

impl Egress {
    /// Creates the sending side of a processor, or of its memory, that has sent nothing, on a machine with so many inner
    /// levels.
    pub(crate) fn new(processor: usize, inner_levels: usize) -> Egress {
        let (send_gap_end, occupancy) = (Time::ZERO, Occupancy::default());
        let mut egress =
            Egress { processor: processor as u32, next_number: 0, send_gap_end, occupancy, extras: None };
        if inner_levels > 0 {
            egress.extras().more = MoreTransits::new(inner_levels);
        }
        egress
    }

    #[inline]
    pub fn processor(&self) -> usize {
        self.processor as usize
    }

    /// Lets no message overtake an earlier one to the same processor from now on.
    pub fn keep_order(&mut self) {
        self.extras().keeps_order = true;
    }

    pub(super) fn extras(&mut self) -> &mut RareEgressState {
        self.extras.get_or_insert_default()
    }

    /// Returns the messages in transit from the processor at a level.
    #[inline]
    pub(super) fn occupancy(&self, level: usize) -> &Occupancy {
        let extras = self.extras.as_ref().filter(|_| level > 0);
        extras.map_or(&self.occupancy, |extras| extras.more.at(level))
    }

    #[inline]
    pub(super) fn occupancy_mut(&mut self, level: usize) -> &mut Occupancy {
        let extras = self.extras.as_mut().filter(|_| level > 0);
        extras.map_or(&mut self.occupancy, |extras| extras.more.at_mut(level))
    }

    /// Returns what is in transit that is counted otherwise.
    pub(super) fn more(&self) -> Option<&MoreTransits> {
        self.extras.as_ref().map(|extras| &extras.more)
    }

    pub(super) fn more_mut(&mut self) -> &mut MoreTransits {
        &mut self.extras().more
    }

    /// Returns the earliest time at which the first word of a message to `to` may come out, so that the
    /// message does not overtake another if it must not.
    #[inline(never)]
    pub(super) fn min_first(&self, to: usize, stream: Time) -> Time {
        let extras = self.extras.as_ref().filter(|extras| extras.keeps_order);
        let latest = extras.and_then(|extras| extras.latest_arrivals.get(&(to as u32)));
        latest.map_or(Time::ZERO, |arrival| *arrival - stream)
    }

    /// Notes the arrival of a message to `to` that could be overtaken.
    #[inline(never)]
    pub(super) fn note_arrival(&mut self, to: usize, arrival: Time, asked_at: Time) {
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

    /// Takes the number of the next message, for one that is prepared, for data that their receiver reads, or for the
    /// answer of a memory.
    #[inline]
    pub fn keep_number(&mut self) {
        self.next_number = self.next_number.wrapping_add(1);
    }

    /// Returns the end of the send gap.
    #[inline]
    pub fn send_gap_end(&self) -> Time {
        self.send_gap_end
    }

    /// Sets the end of the send gap.
    #[inline(always)]
    pub(crate) fn set_send_gap_end(&mut self, at: Time) {
        self.send_gap_end = at;
    }

    /// Returns what draws the processor's latencies, which `make` makes at first.
    pub(crate) fn rng(&mut self, make: impl FnOnce() -> fastrand::Rng) -> &mut fastrand::Rng {
        self.extras().rng.get_or_insert_with(make)
    }

    /// Returns the largest number of messages that were in transit from the processor at once.
    pub(crate) fn most_in_transit(&self) -> usize {
        let more = self.extras.as_ref().map_or(0, |extras| extras.more.most());
        self.occupancy.most.max(more) as usize
    }
}

/// The receiving side of a processor and its ports, which other processors share.
#[derive(Debug, Default)]
#[repr(align(64))]
pub struct Ingress {
    pub(super) occupancy: Occupancy,
    /// The single port, or the one for receiving if there are two.
    pub(super) port: Port,
    /// The port for sending, if there are two.
    pub(super) send_port: Port,
    /// The latest `asked_at` of the departures that were served.
    last_served: Time,
}

impl Ingress {
    /// Notes that a departure of this time is served. Returns whether a later departure was served before.
    #[inline]
    pub(super) fn mark_served(&mut self, asked_at: Time) -> bool {
        let is_late = asked_at < self.last_served;
        self.last_served = self.last_served.max(asked_at);
        is_late
    }

    /// Returns the largest number of messages that were in transit to the processor at its level at once.
    pub fn most_in_transit(&self) -> usize {
        self.occupancy.most as usize
    }

    /// Returns the port through which its processor's long messages leave.
    pub(super) fn port_out(&mut self, ports: Ports) -> &mut Port {
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

    /// Compares the times of messages.
    type Judge<'a>: Judge
    where
        Self: 'a;

    /// Holds one of them, to be used with who compares times there.
    fn hold(&mut self, index: usize) -> (Self::Guard<'_>, Self::Judge<'_>);

    /// Holds two of them, which must differ.
    fn hold_both(&mut self, one: usize, other: usize) -> ([Self::Guard<'_>; 2], Self::Judge<'_>);
}

/// The receiving sides on one thread.
impl Ingresses for [Ingress] {
    type Guard<'a> = &'a mut Ingress;
    type Judge<'a> = PlainJudge;

    #[inline(always)]
    fn hold(&mut self, index: usize) -> (&mut Ingress, PlainJudge) {
        (&mut self[index], PlainJudge)
    }

    #[inline]
    fn hold_both(&mut self, one: usize, other: usize) -> ([&mut Ingress; 2], PlainJudge) {
        (self.get_disjoint_mut([one, other]).expect("both exist and differ"), PlainJudge)
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
    type Judge<'a>
        = PlainJudge
    where
        Self: 'a;

    #[inline]
    fn hold(&mut self, index: usize) -> (MutexGuard<'_, Ingress>, PlainJudge) {
        (self[index].lock(), PlainJudge)
    }

    #[inline]
    fn hold_both(&mut self, one: usize, other: usize) -> ([MutexGuard<'_, Ingress>; 2], PlainJudge) {
        // All threads lock in the same order, which cannot deadlock.
        let [lower, higher] = [one.min(other), one.max(other)].map(|index| self[index].lock());
        (if one < other { [lower, higher] } else { [higher, lower] }, PlainJudge)
    }
}

/// The receiving sides on one thread, where somebody watches the comparisons.
pub struct Watched<'s, J> {
    pub sides: &'s mut [Ingress],
    pub judge: &'s mut J,
}

impl<J: Judge> Ingresses for Watched<'_, J> {
    type Guard<'a>
        = &'a mut Ingress
    where
        Self: 'a;
    type Judge<'a>
        = &'a mut J
    where
        Self: 'a;

    #[inline(always)]
    fn hold(&mut self, index: usize) -> (&mut Ingress, &mut J) {
        (&mut self.sides[index], self.judge)
    }

    #[inline]
    fn hold_both(&mut self, one: usize, other: usize) -> ([&mut Ingress; 2], &mut J) {
        (self.sides.get_disjoint_mut([one, other]).expect("both exist and differ"), self.judge)
    }
}
