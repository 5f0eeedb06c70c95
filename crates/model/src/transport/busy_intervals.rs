//! Intervals in which a long message occupies a port (LogGP, section 2), or in which the capacity at an end
//! of the network is used up.

use smallvec::{Array, SmallVec};

use super::judge::Judge;
use crate::time::Time;

/// Reserved intervals of time.
#[derive(Debug, Default)]
pub(super) struct BusyIntervals {
    /// The intervals, sorted; two that touch are joined.
    pub intervals: SmallVec<[(Time, Time); 1]>,
    /// The end of the last interval.
    pub end: Time,
    /// Intervals before this time were dropped. A message that is served out of order finds all that time
    /// reserved.
    pub forgotten_before: Time,
}

impl BusyIntervals {
    /// Returns the start of the earliest free interval of this length from `from` on.
    pub(super) fn earliest_fit(&self, judge: &mut impl Judge, from: Time, length: Time) -> Time {
        let mut start = from.max(self.forgotten_before);
        let next = judge.count_until(&self.intervals, start, |(_, end)| *end);
        for (taken, end) in &self.intervals[next..] {
            if !judge.is_before(*taken, start + length) {
                break;
            }
            start = *end;
        }
        start
    }

    /// Returns the end of the last interval that has a moment in [from, until), or `None` if there is none.
    pub(super) fn last_busy_end(&self, judge: &mut impl Judge, from: Time, until: Time) -> Option<Time> {
        let begun = judge.count_before(&self.intervals, until, |(start, _)| *start);
        let last = self.intervals[..begun].last().map_or(self.forgotten_before, |(_, end)| *end);
        Some(last).filter(|end| judge.is_before(from, *end))
    }

    /// Reserves [start, end), all or part of which is free, for a message that is served `now`: intervals
    /// that ended by then are not needed any more.
    pub(super) fn reserve(&mut self, judge: &mut impl Judge, start: Time, end: Time, now: Time) {
        if self.end <= now {
            self.forgotten_before = self.end;
            self.intervals.clear();
        }
        if let Some((_, last)) = self.intervals.last_mut()
            && judge.is_same(start, *last)
        {
            (*last, self.end) = (end, end);
            return;
        }
        self.end = self.end.max(end);
        if self.intervals.len() == self.intervals.capacity() {
            let past = self.intervals.partition_point(|(_, end)| *end <= now);
            self.forgotten_before =
                past.checked_sub(1).map_or(self.forgotten_before, |last| self.intervals[last].1);
            drop_past(&mut self.intervals, past);
        }
        let touches =
            |(_, until): &&(Time, Time)| judge.is_same(*until, start) || judge.is_before(start, *until);
        let touched = self.intervals.iter().rev().take_while(touches).count();
        let from = self.intervals.len() - touched;
        let until = from + judge.count_until(&self.intervals[from..], end, |(from, _)| *from);
        if from == until {
            return self.intervals.insert(from, (start, end));
        }
        let (first, last) = (self.intervals[from].0, self.intervals[until - 1].1);
        self.intervals[from] = (if judge.is_before(first, start) { first } else { start }, end.max(last));
        self.intervals.drain(from + 1..until);
    }
}

/// The reservations of long messages at a port; `None` if it was never used.
pub(super) type Port = Option<Box<BusyIntervals>>;

/// Drops the first `past` items of a full list. If that makes little room, the list grows, so that its items
/// are not moved at each call.
pub(super) fn drop_past<A: Array>(items: &mut SmallVec<A>, past: usize) {
    const FEW: usize = 16;
    items.drain(..past);
    if items.len() > FEW && 2 * items.len() > items.capacity() {
        items.reserve(items.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::PS;
    use crate::transport::judge::PlainJudge;

    #[test]
    fn past_intervals_are_dropped() {
        let mut taken = BusyIntervals::default();
        for i in 1..1000 {
            taken.reserve(&mut PlainJudge, 10 * i * PS, (10 * i + 5) * PS, 10 * (i - 2) * PS);
            assert_eq!(taken.earliest_fit(&mut PlainJudge, 10 * i * PS, PS), (10 * i + 5) * PS);
        }
        assert!(taken.intervals.capacity() <= 64 && taken.forgotten_before > 9000 * PS, "{taken:?}");
    }
}
