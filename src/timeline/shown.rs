//! What a page tells apart beyond a trace's own kinds: the requests and replies before long messages, and the detours in what
//! processors did.

use super::kinds::{RENDEZVOUS, is_busy, kind_of};
use crate::path::{Events, Track};
use crate::time::Time;

/// What is shown of a run's events.
#[derive(Debug, Default)]
pub(super) struct Shown {
    /// Whether each message is a request or a reply; as far as the trace has calls, which say it.
    asks: Vec<bool>,
    /// The detours in what each processor did, by processor and time.
    detours: Vec<Vec<(Time, Time)>>,
}

/// A page has no more detours than this, and none if there would be more.
const MOST: i64 = 1 << 22;

impl Shown {
    /// Looks through a run.
    pub(super) fn of(events: &Events) -> Shown {
        let mut asks = vec![false; events.messages()];
        let agreed = events.trace.calls.iter().filter_map(|call| call.what.sent()?.rendezvous.as_deref());
        for place in agreed.flat_map(|two| [two.request, two.reply]).filter_map(|id| events.named(id)) {
            asks[place] = true;
        }
        Shown { asks, detours: Shown::detours(events) }
    }

    /// The number of the kind as which an event is shown.
    pub(super) fn kind(&self, events: &Events, place: usize) -> usize {
        match events.subject(place) {
            Some(message) if self.asks[message] => RENDEZVOUS,
            _ => kind_of(events.event(place).what),
        }
    }

    /// The places of the messages that are requests or replies.
    pub(super) fn asking(&self) -> impl Iterator<Item = usize> {
        self.asks.iter().enumerate().filter(|(_, asks)| **asks).map(|(place, _)| place)
    }

    /// The detours of a run; none if it had no noise.
    fn detours(events: &Events) -> Vec<Vec<(Time, Time)>> {
        let Some(noise) = events.trace.noise.as_ref() else { return Vec::new() };
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
            return Vec::new();
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
        events.processors().map(of_track).collect()
    }

    /// The detours of the processor that is so far among those that did something.
    pub(super) fn detours_of(&self, nth: usize) -> &[(Time, Time)] {
        self.detours.get(nth).map_or(&[], |all| all)
    }

    /// All detours.
    pub(super) fn all_detours(&self) -> impl Iterator<Item = (Time, Time)> {
        self.detours.iter().flatten().copied()
    }
}
