//! Stretches of time: when a port is taken by a long message (LogGP, section 2), and when there is no room at an end of the
//! network.

use smallvec::{Array, SmallVec};

use crate::time::Time;

/// Stretches of time that are taken, such as those of a port, which no two long messages share.
#[derive(Debug, Default)]
pub(super) struct Stretches {
    /// The stretches, in order; two that touch are joined.
    pub stretches: SmallVec<[(Time, Time); 1]>,
    /// When the last stretch ends.
    pub end: Time,
    /// Stretches before this time are forgotten. A message that is served out of order finds all that time taken.
    pub forgotten: Time,
}

impl Stretches {
    /// The earliest `length` of time from `from` on that is free.
    pub(super) fn fit(&self, from: Time, length: Time) -> Time {
        let mut start = from.max(self.forgotten);
        let next = self.stretches.partition_point(|(_, end)| *end <= start);
        for (taken, end) in &self.stretches[next..] {
            if *taken >= start + length {
                break;
            }
            start = *end;
        }
        start
    }

    /// The end of the last stretch that has a moment in [from, until).
    pub(super) fn last_end(&self, from: Time, until: Time) -> Option<Time> {
        let begun = self.stretches.partition_point(|(start, _)| *start < until);
        let last = self.stretches[..begun].last().map_or(self.forgotten, |(_, end)| *end);
        Some(last).filter(|end| *end > from)
    }

    /// Takes [start, end), all or part of which is free, for a message that asks `now`: stretches that ended by then
    /// are in nobody's way any more.
    pub(super) fn take(&mut self, start: Time, end: Time, now: Time) {
        if self.end <= now {
            self.forgotten = self.end;
            self.stretches.clear();
        }
        if let Some((_, last)) = self.stretches.last_mut()
            && start == *last
        {
            (*last, self.end) = (end, end);
            return;
        }
        self.end = self.end.max(end);
        if self.stretches.len() == self.stretches.capacity() {
            let past = self.stretches.partition_point(|(_, end)| *end <= now);
            self.forgotten = past.checked_sub(1).map_or(self.forgotten, |last| self.stretches[last].1);
            forget(&mut self.stretches, past);
        }
        let touched = self.stretches.iter().rev().take_while(|(_, until)| *until >= start).count();
        let from = self.stretches.len() - touched;
        let until = from + self.stretches[from..].partition_point(|(from, _)| *from <= end);
        if from == until {
            return self.stretches.insert(from, (start, end));
        }
        self.stretches[from] = (start.min(self.stretches[from].0), end.max(self.stretches[until - 1].1));
        self.stretches.drain(from + 1..until);
    }
}

/// Drops the first items of a full list. If that makes little room the list grows, so that its items are not moved at
/// each call.
pub(super) fn forget<A: Array>(items: &mut SmallVec<A>, past: usize) {
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

    #[test]
    fn what_is_past_is_forgotten() {
        let mut taken = Stretches::default();
        for i in 1..1000 {
            taken.take(10 * i * PS, (10 * i + 5) * PS, 10 * (i - 2) * PS);
            assert_eq!(taken.fit(10 * i * PS, PS), (10 * i + 5) * PS);
        }
        assert!(taken.stretches.capacity() <= 64 && taken.forgotten > 9000 * PS, "{taken:?}");
    }
}
