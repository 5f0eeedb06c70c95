//! What happened in a run, found at once: what each processor did and each of its requests, in its order, and who did what
//! about a message.

use std::ops::Range;

use crate::message::MessageId;
use crate::time::Time;
use crate::trace::{ActivityKind, Message, Trace};

/// What was done for a while.
#[derive(Clone, Copy, Debug)]
pub struct Event<'a> {
    /// The processor.
    pub id: usize,
    /// The request that did it beside what its processor did, if it was one.
    pub request: Option<u32>,
    /// When it began.
    pub start: Time,
    /// When it was over.
    pub end: Time,
    /// What it was.
    pub what: &'a ActivityKind,
}

impl Event<'_> {
    /// How long it took.
    pub fn length(&self) -> Time {
        self.end - self.start
    }
}

/// The events of a trace that keeps the rules of the machine; the auditor says whether one does.
#[derive(Debug)]
pub struct Events<'a> {
    /// The trace.
    pub trace: &'a Trace,
    /// When the last processor finished.
    pub finish: Time,
    /// What was done, track by track.
    events: Vec<Event<'a>>,
    /// The processors that did anything, and their requests.
    tracks: Vec<Track>,
    /// The messages, by sender and as it sent them.
    messages: Vec<&'a Message>,
    /// For each message, the place of the event that sent it.
    sends: Vec<Option<u32>>,
    /// For each message, the place of the event that received it.
    receives: Vec<Option<u32>>,
}

/// A processor, or one of its requests, that did something, one thing after the other.
#[derive(Clone, Debug)]
pub struct Track {
    /// The processor.
    pub id: usize,
    /// The request, if it is one.
    pub request: Option<u32>,
    /// The places of what it did.
    pub places: Range<usize>,
    /// The place of the first message that the processor sent.
    first_message: usize,
}

impl<'a> Events<'a> {
    /// Sorts out what a trace says.
    pub fn of(trace: &'a Trace) -> Events<'a> {
        let mut messages: Vec<&Message> = trace.messages.iter().collect();
        messages.sort_by_key(|message| message.id);
        let mut events = all(trace);
        // What lasts no time comes before what begins with it.
        events.sort_by_key(|event| (event.id, event.request, event.start, event.end));
        let mut tracks: Vec<Track> = Vec::new();
        for of_one in events.chunk_by(|a, b| (a.id, a.request) == (b.id, b.request)) {
            let Event { id, request, .. } = of_one[0];
            let start = tracks.last().map_or(0, |track| track.places.end);
            let first_message = messages.partition_point(|message| message.id.from < id);
            tracks.push(Track { id, request, places: start..start + of_one.len(), first_message });
        }
        let own = events.iter().filter(|event| event.request.is_none());
        let finish = own.map(|event| event.end).max().unwrap_or_default();
        let nobody = vec![None; messages.len()];
        let (sends, receives) = (nobody.clone(), nobody);
        let mut events = Events { trace, finish, events, tracks, messages, sends, receives };
        for place in 0..events.events.len() {
            let Some(message) = events.subject(place) else { continue };
            match events.events[place].what {
                ActivityKind::Send(_) => events.sends[message] = Some(place as u32),
                _ => events.receives[message] = Some(place as u32),
            }
        }
        events
    }

    /// The processors that did anything.
    pub fn processors(&self) -> impl Iterator<Item = &Track> {
        self.tracks.iter().filter(|track| track.request.is_none())
    }

    /// All tracks: each processor's, and behind it those of its requests.
    pub fn tracks(&self) -> &[Track] {
        &self.tracks
    }

    /// What a processor did, or one of its requests.
    pub fn track(&self, id: usize, request: Option<u32>) -> Option<&Track> {
        let place =
            self.tracks.binary_search_by_key(&(id, request), |track| (track.id, track.request)).ok()?;
        Some(&self.tracks[place])
    }

    /// What happened at a place.
    pub fn event(&self, place: usize) -> Event<'a> {
        self.events[place]
    }

    /// How many events there are.
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Whether nothing happened.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// What the same processor did before, or the same request.
    pub fn before(&self, place: usize) -> Option<usize> {
        let before = place.checked_sub(1)?;
        self.is_same(before, place).then_some(before)
    }

    /// What the same processor did next, or the same request.
    pub fn after(&self, place: usize) -> Option<usize> {
        (place + 1 < self.events.len() && self.is_same(place, place + 1)).then_some(place + 1)
    }

    /// Whether two events are on one track.
    fn is_same(&self, one: usize, other: usize) -> bool {
        let track = |place: usize| (self.events[place].id, self.events[place].request);
        track(one) == track(other)
    }

    /// How many messages there are.
    pub fn messages(&self) -> usize {
        self.messages.len()
    }

    /// The message at a place.
    pub fn message(&self, place: usize) -> &'a Message {
        self.messages[place]
    }

    /// The place of a message with this name.
    pub fn named(&self, id: MessageId) -> Option<usize> {
        let place = self.track(id.from, None)?.first_message.checked_add(id.number)?;
        self.messages.get(place).is_some_and(|message| message.id == id).then_some(place)
    }

    /// The event that sent a message.
    pub fn sent(&self, message: usize) -> Option<usize> {
        self.sends[message].map(|place| place as usize)
    }

    /// The event that received a message.
    pub fn received(&self, message: usize) -> Option<usize> {
        self.receives[message].map(|place| place as usize)
    }

    /// The message that an event sent or received.
    pub fn subject(&self, place: usize) -> Option<usize> {
        match self.events[place].what {
            ActivityKind::Send(id) | ActivityKind::Receive(id) => self.named(*id),
            _ => None,
        }
    }
}

/// All that a trace says was done.
fn all(trace: &Trace) -> Vec<Event<'_>> {
    let own = trace.activities.iter().map(|activity| Event {
        id: activity.id,
        request: None,
        start: activity.start,
        end: activity.end,
        what: &activity.what,
    });
    let beside = trace.progress.iter().map(|progress| Event {
        id: progress.id,
        request: Some(progress.request),
        start: progress.start,
        end: progress.end,
        what: &progress.what,
    });
    own.chain(beside).collect()
}
