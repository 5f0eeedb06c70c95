//! Capacity: at most ceil(L/g) messages are in transit from a processor at once, and at most ceil(L/g) to it
//! (LogP, section 3).

use smallvec::SmallVec;

use crate::time::Time;
use crate::transport::busy_intervals::{BusyIntervals, drop_past};
use crate::transport::judge::Judge;

/// The messages in transit from one processor, or to it. Mostly there is one at a time, which needs no
/// allocation.
#[derive(Debug, Default)]
pub(crate) struct Occupancy {
    /// Entry of the message, if there is only one.
    enter: Time,
    /// Arrival of the last message.
    last: Time,
    /// From here on there is room. Earlier times count as full; the one current message is kept apart in
    /// `enter` and `last`.
    full_before: Time,
    /// The messages, if there are several. It is kept when all have arrived, so that the next ones need not
    /// allocate.
    several: Option<Box<OverlappingTransits>>,
    /// The largest number of messages that were in transit at once.
    pub most: u32,
    has_several: bool,
}

/// Nothing in transit.
pub(super) static NOTHING: Occupancy = Occupancy {
    enter: Time::ZERO,
    last: Time::ZERO,
    full_before: Time::ZERO,
    several: None,
    most: 0,
    has_several: false,
};

/// Several messages that may be in transit at the same time.
#[derive(Debug, Default)]
struct OverlappingTransits {
    /// Entries, sorted. For each arrival that is dropped, so is the earliest entry.
    entries: SmallVec<[Time; 2]>,
    /// Arrivals, sorted.
    arrivals: SmallVec<[Time; 2]>,
    /// The intervals in which the capacity is used up.
    full_intervals: BusyIntervals,
}

impl Occupancy {
    #[inline]
    fn overlapping(&self) -> Option<&OverlappingTransits> {
        if self.has_several { self.several.as_deref() } else { None }
    }

    /// Returns the moment from which on there is always room.
    #[inline]
    pub(crate) fn free_from(&self, capacity: usize) -> Time {
        if capacity == 1 { self.full_before.max(self.last) } else { self.full_before }
    }

    /// Returns when there is room again, if there is none at some moment of [enter, arrival): after the last
    /// such moment. Returns `None` if there is room.
    #[inline]
    pub(crate) fn next_room(
        &self,
        judge: &mut impl Judge,
        (enter, arrival): (Time, Time),
        capacity: usize,
    ) -> Option<Time> {
        if arrival <= enter {
            return None;
        }
        match self.overlapping() {
            Some(overlapping) => overlapping.full_intervals.last_busy_end(judge, enter, arrival),
            None if capacity == 1 && self.enter < arrival => Some(self.last).filter(|end| *end > enter),
            None => Some(self.full_before).filter(|end| *end > enter),
        }
    }

    /// Adds a message that is in transit during [enter, arrival) and whose departure is served `now`: messages
    /// that have arrived by then take no room any more.
    #[inline(always)]
    pub(crate) fn reserve(
        &mut self,
        judge: &mut impl Judge,
        (enter, arrival): (Time, Time),
        now: Time,
        capacity: usize,
    ) {
        if self.last <= now {
            // All others have arrived.
            self.full_before = self.free_from(capacity);
            (self.enter, self.last, self.has_several) = (enter, arrival, false);
            self.most = self.most.max(1);
            return;
        }
        self.reserve_among_several(judge, (enter, arrival), now, capacity);
    }

    /// Adds a message that may be in transit while others are.
    #[inline(never)]
    fn reserve_among_several(
        &mut self,
        judge: &mut impl Judge,
        (enter, arrival): (Time, Time),
        now: Time,
        capacity: usize,
    ) {
        let overlapping = self.several.get_or_insert_default();
        if !self.has_several {
            self.has_several = true;
            overlapping.restart(self.enter, self.last, self.full_before, capacity);
        }
        self.last = self.last.max(arrival);
        self.most = self.most.max(overlapping.reserve(judge, (enter, arrival), now, capacity) as u32);
        self.full_before = overlapping.full_intervals.end;
    }
}

impl OverlappingTransits {
    /// Starts with a single message, and with no room before `full_before`.
    fn restart(&mut self, enter: Time, arrival: Time, full_before: Time, capacity: usize) {
        self.entries.clear();
        self.arrivals.clear();
        self.entries.push(enter);
        self.arrivals.push(arrival);
        self.full_intervals.intervals.clear();
        (self.full_intervals.end, self.full_intervals.forgotten_before) = (full_before, full_before);
        if capacity == 1 {
            self.full_intervals.intervals.push((enter, arrival));
            self.full_intervals.end = arrival;
        }
    }

    /// Adds a message. Returns the largest number of messages in transit at once while it is.
    fn reserve(
        &mut self,
        judge: &mut impl Judge,
        (enter, arrival): (Time, Time),
        now: Time,
        capacity: usize,
    ) -> usize {
        if self.arrivals.len() == self.arrivals.capacity() {
            let past = self.arrivals.partition_point(|time| *time <= now);
            drop_past(&mut self.arrivals, past);
            drop_past(&mut self.entries, past);
        }
        insert_sorted(judge, &mut self.entries, enter);
        insert_sorted(judge, &mut self.arrivals, arrival);

        // The number of messages in transit can only rise where one enters.
        let (mut moment, mut most) = (enter, 0);
        let mut entered = judge.count_until(&self.entries, enter, |time| *time);
        loop {
            let arrived = judge.count_until(&self.arrivals, moment, |time| *time);
            let in_transit = entered - arrived;
            most = most.max(in_transit);
            let next = self.entries.get(entered).copied().filter(|next| judge.is_before(*next, arrival));
            if in_transit == capacity {
                self.full_intervals.reserve(judge, moment, self.arrivals[arrived], now);
            }
            let Some(next) = next else { return most };
            // Messages may arrive and make room again before the next one enters, so count again there.
            moment = next;
            entered += self.entries[entered..].iter().take_while(|time| judge.is_same(**time, next)).count();
        }
    }
}

/// Inserts a time into a sorted list, mostly at its end.
#[inline]
fn insert_sorted(judge: &mut impl Judge, times: &mut SmallVec<[Time; 2]>, time: Time) {
    let later = times.iter().rev().take_while(|other| judge.is_before(time, **other)).count();
    times.insert(times.len() - later, time);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::PS;
    use crate::transport::judge::PlainJudge;

    /// A message may enter before another that was served first, if its overhead is shorter.
    #[test]
    fn message_that_arrives_when_the_only_other_enters_has_room() {
        let mut transits = Occupancy::default();
        transits.reserve(&mut PlainJudge, (10 * PS, 20 * PS), Time::ZERO, 1);
        let full_until =
            |enter: i64, arrival: i64| transits.next_room(&mut PlainJudge, (enter * PS, arrival * PS), 1);
        assert_eq!([full_until(5, 10), full_until(5, 11), full_until(20, 25)], [None, Some(20 * PS), None]);
    }
}
