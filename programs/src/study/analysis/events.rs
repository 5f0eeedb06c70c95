//! What happened in a run, found at once: each processor's activities in their order, and who did what about a message.

use std::ops::Range;

use loggp::{Activity, ActivityKind, Message, MessageId, Time, Trace};

/// The events of a trace that keeps the rules of the machine; the auditor says whether one does.
pub struct Events<'a> {
    /// The trace.
    pub trace: &'a Trace,
    /// When the last processor finished.
    pub finish: Time,
    /// The activities, track by track.
    activities: Vec<&'a Activity>,
    /// The processors that did anything.
    tracks: Vec<Track>,
    /// The messages, by sender and as it sent them.
    messages: Vec<&'a Message>,
    /// For each message, the place of the activity that sent it.
    sends: Vec<Option<u32>>,
    /// For each message, the place of the activity that received it.
    receives: Vec<Option<u32>>,
}

/// A processor that did something, one thing after the other.
#[derive(Clone, Debug)]
pub struct Track {
    /// The processor.
    pub id: usize,
    /// The places of its activities.
    pub places: Range<usize>,
    /// The place of the first message that it sent.
    first_message: usize,
}

impl<'a> Events<'a> {
    /// Sorts out what a trace says.
    pub fn of(trace: &'a Trace) -> Events<'a> {
        let mut activities: Vec<&Activity> = trace.activities.iter().collect();
        // What lasts no time comes before what begins with it.
        activities.sort_by_key(|activity| (activity.id, activity.start, activity.end));
        let mut messages: Vec<&Message> = trace.messages.iter().collect();
        messages.sort_by_key(|message| message.id);
        let mut tracks: Vec<Track> = Vec::new();
        for of_one in activities.chunk_by(|a, b| a.id == b.id) {
            let (id, start) = (of_one[0].id, tracks.last().map_or(0, |track| track.places.end));
            let first_message = messages.partition_point(|message| message.id.from < id);
            tracks.push(Track { id, places: start..start + of_one.len(), first_message });
        }
        let finish = activities.iter().map(|activity| activity.end).max().unwrap_or_default();
        let nobody = vec![None; messages.len()];
        let (sends, receives) = (nobody.clone(), nobody);
        let mut events = Events { trace, finish, activities, tracks, messages, sends, receives };
        for place in 0..events.activities.len() {
            match events.activities[place].what {
                ActivityKind::Send(id) => {
                    if let Some(message) = events.named(id) {
                        events.sends[message] = Some(place as u32);
                    }
                }
                ActivityKind::Receive(id) => {
                    if let Some(message) = events.named(id) {
                        events.receives[message] = Some(place as u32);
                    }
                }
                _ => (),
            }
        }
        events
    }

    /// The processors that did anything, by number.
    pub fn tracks(&self) -> &[Track] {
        &self.tracks
    }

    /// The track of a processor.
    pub fn track(&self, id: usize) -> Option<&Track> {
        let place = self.tracks.binary_search_by_key(&id, |track| track.id).ok()?;
        Some(&self.tracks[place])
    }

    /// The activity at a place.
    pub fn activity(&self, place: usize) -> &'a Activity {
        self.activities[place]
    }

    /// How many activities there are.
    pub fn activities(&self) -> usize {
        self.activities.len()
    }

    /// What the same processor did before.
    pub fn before(&self, place: usize) -> Option<usize> {
        let before = place.checked_sub(1)?;
        (self.activities[before].id == self.activities[place].id).then_some(before)
    }

    /// What the same processor did next.
    pub fn after(&self, place: usize) -> Option<usize> {
        let after = self.activities.get(place + 1)?;
        (after.id == self.activities[place].id).then_some(place + 1)
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
        let place = self.track(id.from)?.first_message.checked_add(id.number)?;
        self.messages.get(place).is_some_and(|message| message.id == id).then_some(place)
    }

    /// The activity that sent a message.
    pub fn sent(&self, message: usize) -> Option<usize> {
        self.sends[message].map(|place| place as usize)
    }

    /// The activity that received a message.
    pub fn received(&self, message: usize) -> Option<usize> {
        self.receives[message].map(|place| place as usize)
    }

    /// The message that an activity sent or received.
    pub fn subject(&self, place: usize) -> Option<usize> {
        match self.activities[place].what {
            ActivityKind::Send(id) | ActivityKind::Receive(id) => self.named(id),
            _ => None,
        }
    }
}
