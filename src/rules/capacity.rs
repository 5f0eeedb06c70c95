//! Capacity: at most ceil(L/g) messages are in transit from a processor at once, and at most as many to it (LogP, section
//! 3).

use smallvec::SmallVec;

use super::stretches::{Stretches, forget};
use crate::time::Time;

/// The capacity of one end: how many messages are in transit there when. Mostly that is one at a time, for which it has
/// room in itself.
#[derive(Debug, Default)]
pub(super) struct Transits {
    /// When the one message enters.
    enter: Time,
    /// When the last message arrives.
    last: Time,
    /// Up to here there was no room, the one message aside. A request that is served out of order finds its past taken.
    since: Time,
    /// What there is to know of several; it stays when they have arrived, for the next ones.
    overlapping: Option<Box<Overlapping>>,
    /// The most messages that were in transit at once.
    pub most: u32,
    /// Whether there are several.
    overlap: bool,
}

/// Several messages that may be in transit at the same time.
#[derive(Debug, Default)]
struct Overlapping {
    /// When messages enter, in order. The earliest ones are forgotten when as many have arrived.
    enters: SmallVec<[Time; 2]>,
    /// When messages arrive, in order.
    arrivals: SmallVec<[Time; 2]>,
    /// The stretches of time in which there are as many as there may be.
    full: Stretches,
}

impl Transits {
    /// The overlapping, if there are several messages.
    #[inline]
    fn overlapping(&self) -> Option<&Overlapping> {
        if self.overlap { self.overlapping.as_deref() } else { None }
    }

    /// From when on there is room for ever.
    #[inline]
    pub(super) fn full_end(&self, capacity: usize) -> Time {
        if capacity == 1 { self.since.max(self.last) } else { self.since }
    }

    /// If there is no room at some moment of [enter, arrival): when there is room again after the last one.
    #[inline]
    pub(super) fn full_until(&self, enter: Time, arrival: Time, capacity: usize) -> Option<Time> {
        if arrival <= enter {
            return None;
        }
        match self.overlapping() {
            Some(overlapping) => overlapping.full.last_end(enter, arrival),
            None if capacity == 1 && self.enter < arrival => Some(self.last).filter(|end| *end > enter),
            None => Some(self.since).filter(|end| *end > enter),
        }
    }

    /// Takes in a message that is in transit during [enter, arrival), for a request that asks `now`: what has
    /// arrived by then is in nobody's way any more.
    #[inline]
    pub(super) fn take(&mut self, enter: Time, arrival: Time, now: Time, capacity: usize) {
        if self.last <= now {
            // All have arrived, and nothing is in transit but this one.
            self.since = self.full_end(capacity);
            (self.enter, self.last, self.overlap) = (enter, arrival, false);
            self.most = self.most.max(1);
            return;
        }
        self.take_among(enter, arrival, now, capacity);
    }

    /// Takes in a message that may be in transit while others are.
    #[inline(never)]
    fn take_among(&mut self, enter: Time, arrival: Time, now: Time, capacity: usize) {
        let overlapping = self.overlapping.get_or_insert_default();
        if !self.overlap {
            self.overlap = true;
            overlapping.begin(self.enter, self.last, self.since, capacity);
        }
        self.last = self.last.max(arrival);
        self.most = self.most.max(overlapping.take(enter, arrival, now, capacity) as u32);
        self.since = overlapping.full.end;
    }
}

impl Overlapping {
    /// There was one message, and before it no room up to `since`.
    fn begin(&mut self, enter: Time, arrival: Time, since: Time, capacity: usize) {
        self.enters.clear();
        self.arrivals.clear();
        self.enters.push(enter);
        self.arrivals.push(arrival);
        self.full.stretches.clear();
        (self.full.end, self.full.forgotten) = (since, since);
        if capacity == 1 {
            self.full.stretches.push((enter, arrival));
            self.full.end = arrival;
        }
    }

    /// Takes in a message. Returns how many are in transit at once while it is.
    pub(crate) fn take(&mut self, enter: Time, arrival: Time, now: Time, capacity: usize) -> usize {
        if self.arrivals.len() == self.arrivals.capacity() {
            let past = self.arrivals.partition_point(|time| *time <= now);
            forget(&mut self.arrivals, past);
            forget(&mut self.enters, past);
        }
        insert(&mut self.enters, enter);
        insert(&mut self.arrivals, arrival);

        // The number of messages in transit can only rise where one enters.
        let (mut moment, mut most) = (enter, 0);
        let mut entered = self.enters.partition_point(|time| *time <= enter);
        loop {
            let arrived = self.arrivals.partition_point(|time| *time <= moment);
            let in_transit = entered - arrived;
            most = most.max(in_transit);
            let next = self.enters.get(entered).copied().filter(|next| *next < arrival);
            if in_transit == capacity {
                self.full.take(moment, self.arrivals[arrived], now);
            }
            let Some(next) = next else { return most };
            // Between here and there some may arrive, and free room that was taken with this message.
            moment = next;
            entered += self.enters[entered..].iter().take_while(|time| **time == next).count();
        }
    }
}

/// Puts a time into its place among others; mostly that is the last.
#[inline]
fn insert(times: &mut SmallVec<[Time; 2]>, time: Time) {
    let later = times.iter().rev().take_while(|other| **other > time).count();
    times.insert(times.len() - later, time);
}
