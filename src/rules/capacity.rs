//! Capacity: at most ceil(L/g) messages are in transit from a processor at once, and at most ceil(L/g) to it (LogP,
//! section 3).

use smallvec::SmallVec;

use super::stretches::{Stretches, forget};
use crate::time::Time;

/// The messages in transit from one processor, or to it. Mostly there is one at a time, which needs no allocation.
#[derive(Debug, Default)]
pub(super) struct Transits {
    /// When the message enters, if there is only one.
    enter: Time,
    /// When the last message arrives.
    last: Time,
    /// When there was last no room, an only message aside. A message that is served out of order finds no room before.
    since: Time,
    /// The messages, if there are several. It is kept when all have arrived, so that the next ones need not allocate.
    overlapping: Option<Box<Overlapping>>,
    /// The most messages that were in transit at once.
    pub most: u32,
    /// Whether there are several messages.
    overlap: bool,
}

/// Several messages that may be in transit at the same time.
#[derive(Debug, Default)]
struct Overlapping {
    /// When messages enter, in order. For each arrival that is forgotten, so is the earliest entry.
    enters: SmallVec<[Time; 2]>,
    /// When messages arrive, in order.
    arrivals: SmallVec<[Time; 2]>,
    /// When as many messages are in transit as there may be.
    full: Stretches,
}

impl Transits {
    #[inline]
    fn overlapping(&self) -> Option<&Overlapping> {
        if self.overlap { self.overlapping.as_deref() } else { None }
    }

    /// The moment from which on there is always room.
    #[inline]
    pub(super) fn full_end(&self, capacity: usize) -> Time {
        if capacity == 1 { self.since.max(self.last) } else { self.since }
    }

    /// If there is no room at some moment of [enter, arrival): when there is room again after the last such moment.
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

    /// Adds a message that is in transit during [enter, arrival), and asks for its way `now`: messages that have
    /// arrived by then are in nobody's way any more.
    #[inline]
    pub(super) fn take(&mut self, enter: Time, arrival: Time, now: Time, capacity: usize) {
        if self.last <= now {
            // All others have arrived.
            self.since = self.full_end(capacity);
            (self.enter, self.last, self.overlap) = (enter, arrival, false);
            self.most = self.most.max(1);
            return;
        }
        self.take_among(enter, arrival, now, capacity);
    }

    /// Adds a message that may be in transit while others are.
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
    /// Begins with the only message that there was, and with no room up to `since`.
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

    /// Adds a message. Returns how many are in transit at once, at most, while it is.
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
            // Before the next one enters, messages may arrive and make room again: so it is counted anew there.
            moment = next;
            entered += self.enters[entered..].iter().take_while(|time| **time == next).count();
        }
    }
}

/// Puts a time into its place among the others, mostly the last.
#[inline]
fn insert(times: &mut SmallVec<[Time; 2]>, time: Time) {
    let later = times.iter().rev().take_while(|other| **other > time).count();
    times.insert(times.len() - later, time);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::PS;

    /// A message may enter before another that was served first, if it takes less time to ask.
    #[test]
    fn who_arrives_when_the_only_message_enters_finds_room() {
        let mut transits = Transits::default();
        transits.take(10 * PS, 20 * PS, Time::ZERO, 1);
        let full_until = |enter: i64, arrival: i64| transits.full_until(enter * PS, arrival * PS, 1);
        assert_eq!([full_until(5, 10), full_until(5, 11), full_until(20, 25)], [None, Some(20 * PS), None]);
    }
}
