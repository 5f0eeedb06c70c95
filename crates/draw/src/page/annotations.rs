//! Requests and replies before long messages, and detours in processors' activities: what a page shows beyond
//! a trace's own kinds.

use loggp_model::log::kinds::kind_number;
use loggp_model::time::Time;
use loggp_trace::path::{Events, Track};

use super::kinds::RENDEZVOUS;

/// Requests, replies and detours of a run.
#[derive(Debug, Default)]
pub(super) struct Annotations {
    /// For each message, whether it is a request or a reply, as far as the trace has the calls.
    are_handshakes: Vec<bool>,
    /// The detours of each processor that did something, by time.
    detours: Vec<Vec<(Time, Time)>>,
}

/// The most detours of a page. If there are more, it has none.
const MOST: u64 = 1 << 22;

impl Annotations {
    /// Finds the requests, replies and detours of a run.
    pub(super) fn new(events: &Events) -> Annotations {
        let mut are_handshakes = vec![false; events.message_count()];
        let agreed = events.trace.calls.iter().filter_map(|call| call.kind.sent()?.rendezvous.as_deref());
        for index in agreed.flat_map(|two| [two.request, two.reply]).filter_map(|id| events.message_index(id))
        {
            are_handshakes[index] = true;
        }
        Annotations { are_handshakes, detours: Annotations::detours(events) }
    }

    /// Returns the number of the kind as which an event is shown.
    pub(super) fn kind(&self, events: &Events, index: usize) -> usize {
        match events.message_of(index) {
            Some(message) if self.are_handshakes[message] => RENDEZVOUS,
            _ => kind_number(events.event(index).kind),
        }
    }

    /// Returns the indices of the messages that are requests or replies.
    pub(super) fn handshakes(&self) -> impl Iterator<Item = usize> {
        self.are_handshakes
            .iter()
            .enumerate()
            .filter(|(_, is_handshake)| **is_handshake)
            .map(|(index, _)| index)
    }

    /// Returns the detours of a run; none if it had no noise.
    fn detours(events: &Events) -> Vec<Vec<(Time, Time)>> {
        let Some(noise) = events.trace.noise.as_ref() else { return Vec::new() };
        let span = |track: &Track| {
            let all = track.indices.clone().map(|index| events.event(index));
            let from = all.clone().map(|event| event.start).min().unwrap_or_default();
            let until = all.map(|event| event.end).max().unwrap_or_default();
            // A trace from a file may have any times.
            (from.max(Time::ZERO), until.clamp(Time::ZERO, Time::MAX / 4))
        };
        let count = |track: &Track| {
            let (from, until) = span(track);
            noise.max_detours(until - from)
        };
        if events.processors().map(count).fold(0, u64::saturating_add) > MOST {
            return Vec::new();
        }
        let of_track = |track: &Track| {
            let (from, until) = span(track);
            let all = noise.detours(track.id, from, until);
            let mut taken = Vec::new();
            let mut now = from;
            for index in track.indices.clone() {
                let event = events.event(index);
                // A trace from a file may have events that overlap.
                let start = event.start.max(now);
                if !event.kind.is_busy() || start >= event.end {
                    continue;
                }
                now = event.end;
                taken.extend(clip(&all, start, event.end));
            }
            taken
        };
        events.processors().map(of_track).collect()
    }

    /// Returns the detours of the `nth` processor of those that did something.
    pub(super) fn detours_of(&self, nth: usize) -> &[(Time, Time)] {
        self.detours.get(nth).map_or(&[], |all| all)
    }

    /// Returns the parts of these detours between two moments.
    pub(super) fn detours_within(
        &self,
        nth: usize,
        from: Time,
        until: Time,
    ) -> impl Iterator<Item = (Time, Time)> {
        clip(self.detours_of(nth), from, until)
    }

    /// Returns all detours.
    pub(super) fn all_detours(&self) -> impl Iterator<Item = (Time, Time)> {
        self.detours.iter().flatten().copied()
    }
}

/// Returns the parts of sorted intervals that lie between two moments.
fn clip(all: &[(Time, Time)], from: Time, until: Time) -> impl Iterator<Item = (Time, Time)> {
    let first = all.partition_point(|(_, end)| *end <= from);
    let here = all[first..].iter().take_while(move |(begin, _)| *begin < until);
    here.map(move |(begin, end)| ((*begin).max(from), (*end).min(until)))
}
