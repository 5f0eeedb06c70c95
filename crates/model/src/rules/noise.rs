//! The rule of noise: a busy time is lengthened by the detours that fall into it.
//!
//! Work of length w that begins at t is done when the processor has had w outside of its detours. While
//! detours lengthen the work, more detours may fall into the longer time. Computing is lengthened so, and so
//! is the overhead o of messages and requests. Waits are not.
//!
//! No state is kept: a processor's detours follow from its number.

use crate::params::{Detours, Noise};
use crate::time::Time;

impl Noise {
    /// Returns when a processor has done work of length `work` that begins at `start`.
    #[doc(hidden)]
    pub fn end(&self, id: usize, start: Time, work: Time) -> Time {
        if work <= Time::ZERO {
            return start + work;
        }
        let detours = self.detours_of(id);
        let (mut now, mut left) = (start, work);
        let cycle = self.cycle();
        if left > cycle {
            // Each cycle has the same free time, wherever it begins.
            let free = detours.free(now, now + cycle);
            let cycles = (left.as_ps() - 1) / free.as_ps();
            (now, left) = (now + cycles * cycle, left - cycles * free);
        }
        while now < Time::MAX {
            let (from, until) = detours.detour_after(now);
            if now + left <= from {
                return now + left;
            }
            left -= (from - now).max(Time::ZERO);
            now = until;
        }
        now
    }

    /// Returns the earliest time, but not before `least`, at which a processor can have begun work of length
    /// `work` that is done at `end`.
    pub(crate) fn earliest_start(&self, id: usize, end: Time, work: Time, least: Time) -> Time {
        if work <= Time::ZERO {
            return end;
        }
        let detours = self.detours_of(id);
        let (mut now, mut left) = (end, work);
        while now > least {
            let (from, until) = detours.detour_before(now);
            let free = (now - until).max(Time::ZERO);
            if free > left {
                now -= left;
                break;
            }
            left -= free;
            now = from;
        }
        now.max(least)
    }

    /// Returns the time from `start` to `end` that a processor has outside of its detours.
    pub fn free(&self, id: usize, start: Time, end: Time) -> Time {
        let (detours, cycle) = (self.detours_of(id), self.cycle());
        let length = end - start;
        if length == Time::MAX {
            return length; // a trace may have any times
        }
        let cycles = length.as_ps() / cycle.as_ps();
        match cycles {
            ..=0 => detours.free(start, end),
            _ => cycles * detours.free(start, start + cycle) + detours.free(start + cycles * cycle, end),
        }
    }
}

impl Detours<'_> {
    /// Returns the start and the end of the first detour that ends after a moment.
    fn detour_after(&self, t: Time) -> (Time, Time) {
        match self {
            Detours::Periods(periods) => {
                let next = |&(period, length, phase): &(Time, Time, Time)| {
                    let number = (t - length - phase).as_ps().div_euclid(period.as_ps()) + 1;
                    let start = phase + number * period;
                    (start, start + length)
                };
                periods.iter().map(next).min().expect("there is one")
            }
            Detours::Record(record, _) => {
                let (round, at) = self.record_position(t);
                let (start, end) = record[record.partition_point(|(_, end)| *end <= at)];
                (start + round, end + round)
            }
        }
    }

    /// Returns the start and the end of the detour that ends last among those that begin before a moment.
    fn detour_before(&self, t: Time) -> (Time, Time) {
        match self {
            Detours::Periods(periods) => {
                let last = |&(period, length, phase): &(Time, Time, Time)| {
                    let number = ((t - phase).as_ps() - 1).div_euclid(period.as_ps());
                    let start = phase + number * period;
                    (start, start + length)
                };
                periods.iter().map(last).max_by_key(|(_, end)| *end).expect("there is one")
            }
            Detours::Record(record, _) => {
                let (round, at) = self.record_position(t - Time::from_ps(1));
                match record.partition_point(|(start, _)| *start <= at).checked_sub(1) {
                    Some(last) => (record[last].0 + round, record[last].1 + round),
                    None => {
                        let (start, end) = record[record.len() - 1];
                        (start + round - end, round)
                    }
                }
            }
        }
    }

    /// Returns the start of the repetition of a record that has this moment, and the moment's position in the
    /// record.
    fn record_position(&self, t: Time) -> (Time, Time) {
        let Detours::Record(record, offset) = self else { return (Time::ZERO, t) };
        let cycle = record[record.len() - 1].1.as_ps();
        let at = Time::from_ps((t + *offset).as_ps().rem_euclid(cycle));
        (t - at, at)
    }

    /// Returns the time from `start` to `end` that is outside of the detours.
    fn free(&self, start: Time, end: Time) -> Time {
        let (mut now, mut free) = (start, Time::ZERO);
        while now < end {
            let (from, until) = self.detour_after(now);
            free += (from.min(end) - now).max(Time::ZERO);
            now = until;
        }
        free
    }
}

#[cfg(test)]
#[path = "noise_tests.rs"]
mod tests;
