//! What a page tells apart beyond a trace's own kinds: the requests and replies before long messages, and the detours in what
//! processors did.

use super::kinds::{RENDEZVOUS, kind_of};
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
const MOST: u64 = 1 << 22;

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
        let span = |track: &Track| {
            let all = track.places.clone().map(|place| events.event(place));
            let from = all.clone().map(|event| event.start).min().unwrap_or_default();
            let until = all.map(|event| event.end).max().unwrap_or_default();
            // A trace from a file may say any times.
            (from.max(Time::ZERO), until.clamp(Time::ZERO, Time::MAX / 4))
        };
        let count = |track: &Track| {
            let (from, until) = span(track);
            noise.most_detours(until - from)
        };
        if events.processors().map(count).fold(0, u64::saturating_add) > MOST {
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
                if !event.what.is_busy() || start >= event.end {
                    continue;
                }
                now = event.end;
                taken.extend(within(&all, start, event.end));
            }
            taken
        };
        events.processors().map(of_track).collect()
    }

    /// The detours of the processor that is so far among those that did something.
    pub(super) fn detours_of(&self, nth: usize) -> &[(Time, Time)] {
        self.detours.get(nth).map_or(&[], |all| all)
    }

    /// What of these detours lies between two moments.
    pub(super) fn detours_within(
        &self,
        nth: usize,
        from: Time,
        until: Time,
    ) -> impl Iterator<Item = (Time, Time)> {
        within(self.detours_of(nth), from, until)
    }

    /// All detours.
    pub(super) fn all_detours(&self) -> impl Iterator<Item = (Time, Time)> {
        self.detours.iter().flatten().copied()
    }
}

/// What of intervals, which follow one another, lies between two moments.
fn within(all: &[(Time, Time)], from: Time, until: Time) -> impl Iterator<Item = (Time, Time)> {
    let first = all.partition_point(|(_, end)| *end <= from);
    let here = all[first..].iter().take_while(move |(begin, _)| *begin < until);
    here.map(move |(begin, end)| ((*begin).max(from), (*end).min(until)))
}
