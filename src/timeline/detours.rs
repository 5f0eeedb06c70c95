//! What noise took of the processors: the parts of what they did in which they were kept from it.

use super::kinds::is_busy;
use crate::path::{Events, Track};
use crate::time::Time;

/// The detours in what each processor did, by processor and time.
#[derive(Debug, Default)]
pub(super) struct Detours(Vec<Vec<(Time, Time)>>);

/// A page has no more detours than this, and none if there would be more.
const MOST: i64 = 1 << 22;

impl Detours {
    /// The detours of a run; none if it had no noise.
    pub(super) fn of(events: &Events) -> Detours {
        let Some(noise) = events.trace.noise.as_ref() else { return Detours::default() };
        let [periods, record] = noise.parts();
        let often = |length: Time| -> i64 {
            let cycles = length.as_ps() / noise.cycle().as_ps();
            let of_periods = periods.iter().map(|(period, _)| length.as_ps() / period.as_ps()).sum::<i64>();
            of_periods.saturating_add(cycles.saturating_mul(record.len() as i64))
        };
        let span = |track: &Track| {
            let all = track.places.clone().map(|place| events.event(place));
            let from = all.clone().map(|event| event.start).min().unwrap_or_default();
            let until = all.map(|event| event.end).max().unwrap_or_default();
            // A trace from a file may say any times.
            (from.max(Time::ZERO), until.clamp(Time::ZERO, Time::MAX / 4))
        };
        let count = |track: &Track| {
            let (from, until) = span(track);
            often((until - from).max(Time::ZERO)).saturating_add(1)
        };
        if events.processors().map(count).fold(0, i64::saturating_add) > MOST {
            return Detours::default();
        }
        let of_track = |track: &Track| {
            let (from, until) = span(track);
            let all = noise.detours(track.id, from, until);
            let mut taken = Vec::new();
            let mut now = from;
            for place in track.places.clone() {
                let event = events.event(place);
                // A trace that no machine made may have events that overlap.
                let start = event.start.max(now);
                if !is_busy(event.what) || start >= event.end {
                    continue;
                }
                now = event.end;
                let first = all.partition_point(|(_, end)| *end <= start);
                let here = all[first..].iter().take_while(|(begin, _)| *begin < event.end);
                taken.extend(here.map(|(begin, end)| ((*begin).max(start), (*end).min(event.end))));
            }
            taken
        };
        Detours(events.processors().map(of_track).collect())
    }

    /// Those of the processor that is so far among those that did something.
    pub(super) fn of_processor(&self, nth: usize) -> &[(Time, Time)] {
        self.0.get(nth).map_or(&[], |all| all)
    }

    /// All of them.
    pub(super) fn all(&self) -> impl Iterator<Item = (Time, Time)> {
        self.0.iter().flatten().copied()
    }
}
