//! The events of a run, with an index: the track of each processor and request, and the events of each
//! message.

use std::ops::Range;

use loggp_model::message::MessageId;
use loggp_model::time::Time;

use super::message_kind::MessageKind;
use crate::{Activity, ActivityKind, Call, CallKind, Message, Progress, Trace};

/// An activity of a processor or of one of its requests.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Event<'a> {
    /// The processor.
    pub id: usize,
    /// The number of the request, or `None` if the processor itself was active.
    pub request: Option<u32>,
    /// Its start.
    pub start: Time,
    /// Its end.
    pub end: Time,
    /// Its kind.
    pub kind: &'a ActivityKind,
}

impl Event<'_> {
    /// Returns its length.
    pub fn length(&self) -> Time {
        self.end - self.start
    }
}

/// The events of a trace. The trace must keep the rules of the machine, which an [audit](crate::audit::audit)
/// finds out.
#[derive(Debug)]
#[non_exhaustive]
pub struct Events<'a> {
    /// The trace.
    pub trace: &'a Trace,
    /// Time at which the last processor finished.
    pub finish: Time,
    /// The events, track by track.
    events: Vec<Event<'a>>,
    /// The tracks of processors that were ever active, and of their requests.
    tracks: Vec<Track>,
    /// The messages, sorted by id.
    messages: Vec<&'a Message>,
    /// For each message, the index of the send.
    sends: Vec<Option<u32>>,
    /// For each message, the index of the reception.
    receives: Vec<Option<u32>>,
    /// For each message, how it gets to where it goes.
    kinds: Vec<MessageKind>,
    /// True if any message is a memory's answer.
    pub(super) has_answers: bool,
}

/// The track of a processor or of one of its requests: consecutive events.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Track {
    /// The processor.
    pub id: usize,
    /// The number of the request, or `None` if the track is the processor's own.
    pub request: Option<u32>,
    /// Indices of its events.
    pub indices: Range<usize>,
    /// Index of the first message that the processor sent.
    first_message: usize,
}

impl<'a> Events<'a> {
    /// Indexes the events of a trace. Mostly they are in order already, which a sort may not see at once.
    pub fn new(trace: &'a Trace) -> Events<'a> {
        let mut messages: Vec<&Message> = trace.messages.iter().collect();
        if !messages.is_sorted_by_key(|message| message.id) {
            messages.sort_by_key(|message| message.id);
        }
        let events = sorted_events(trace);
        let mut tracks: Vec<Track> = Vec::new();
        for of_one in events.chunk_by(|a, b| (a.id, a.request) == (b.id, b.request)) {
            let Event { id, request, .. } = of_one[0];
            let start = tracks.last().map_or(0, |track| track.indices.end);
            let first_message = messages.partition_point(|message| message.id.from < id);
            tracks.push(Track { id, request, indices: start..start + of_one.len(), first_message });
        }
        let own = events.iter().filter(|event| event.request.is_none());
        let finish = own.map(|event| event.end).max().unwrap_or_default();
        let nobody = vec![None; messages.len()];
        let (sends, receives) = (nobody.clone(), nobody);
        let (kinds, has_answers) = (vec![MessageKind::Sent; messages.len()], false);
        let mut events =
            Events { trace, finish, events, tracks, messages, sends, receives, kinds, has_answers };
        for index in 0..events.events.len() {
            let Some(message) = events.message_of(index) else { continue };
            match events.events[index].kind {
                ActivityKind::Send(_) => events.sends[message] = Some(index as u32),
                _ => events.receives[message] = Some(index as u32),
            }
        }
        events.find_kinds();
        events
    }

    /// Finds out how the messages get to where they go. No processor sends a memory's answer. What goes to a memory
    /// its calls say, or in a played trace that no processor receives it.
    fn find_kinds(&mut self) {
        let all = 0..self.messages.len();
        if self.trace.rendezvous.is_read() {
            for message in all.clone() {
                let Message { id, to, words, .. } = *self.messages[message];
                if self.trace.params_between(id.from, to).is_synchronous(words) {
                    self.kinds[message] = MessageKind::Read;
                }
            }
        }
        for Call { kind, .. } in &self.trace.calls {
            if let CallKind::OneSided { sent: Some(sent), .. } = kind
                && let Some(message) = self.message_index(sent.message)
            {
                self.kinds[message] = MessageKind::Put;
            }
        }
        for message in all {
            match (self.sends[message], self.receives[message]) {
                (None, Some(_)) => {
                    self.has_answers = true;
                    self.kinds[message] = MessageKind::Answer;
                    if let Some(request) = message.checked_sub(1) {
                        self.kinds[request] = MessageKind::Request;
                    }
                }
                (Some(_), None) if self.trace.reaches_memories => self.kinds[message] = MessageKind::Put,
                _ => (),
            }
        }
    }

    /// Returns the tracks of processors.
    pub fn processors(&self) -> impl Iterator<Item = &Track> {
        self.tracks.iter().filter(|track| track.request.is_none())
    }

    /// Returns all tracks: each processor's, followed by those of its requests.
    pub fn tracks(&self) -> &[Track] {
        &self.tracks
    }

    /// Returns the track of a processor or of one of its requests, if it was ever active.
    pub fn track(&self, id: usize, request: Option<u32>) -> Option<&Track> {
        let key = |track: &Track| (track.id, track.request);
        // Where all processors are active, and without requests, it lies at its number.
        if let Some(track) = self.tracks.get(id).filter(|track| key(track) == (id, request)) {
            return Some(track);
        }
        let index = self.tracks.binary_search_by_key(&(id, request), key).ok()?;
        Some(&self.tracks[index])
    }

    /// Returns the event at an index.
    pub fn event(&self, index: usize) -> Event<'a> {
        self.events[index]
    }

    /// Returns the number of events.
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Returns whether there are no events.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Returns the index of the event before one on the same track, if there is one.
    pub fn previous(&self, index: usize) -> Option<usize> {
        let before = index.checked_sub(1)?;
        self.is_same(before, index).then_some(before)
    }

    /// Returns the index of the event after one on the same track, if there is one.
    pub fn next(&self, index: usize) -> Option<usize> {
        (index + 1 < self.events.len() && self.is_same(index, index + 1)).then_some(index + 1)
    }

    /// Returns whether two events are on the same track.
    fn is_same(&self, one: usize, other: usize) -> bool {
        let track = |index: usize| (self.events[index].id, self.events[index].request);
        track(one) == track(other)
    }

    /// Returns the number of messages.
    pub fn message_count(&self) -> usize {
        self.messages.len()
    }

    /// Returns the message at an index.
    pub fn message(&self, index: usize) -> &'a Message {
        self.messages[index]
    }

    /// Returns the index of the message with an id, if there is one.
    pub fn message_index(&self, id: MessageId) -> Option<usize> {
        let index = self.track(id.from, None)?.first_message.checked_add(id.number)?;
        self.messages.get(index).is_some_and(|message| message.id == id).then_some(index)
    }

    /// Returns the index of the event that sent a message, if there is one.
    pub fn send_event(&self, message: usize) -> Option<usize> {
        self.sends[message].map(|index| index as usize)
    }

    /// Returns the index of the event that received a message, if there is one.
    pub fn receive_event(&self, message: usize) -> Option<usize> {
        self.receives[message].map(|index| index as usize)
    }

    /// Returns how a message gets to where it goes.
    pub(super) fn kind_of(&self, message: usize) -> MessageKind {
        self.kinds[message]
    }

    /// Returns whether a message waits for its receiver: it has more than S words, and does not go to a memory.
    pub fn is_synchronous(&self, message: usize) -> bool {
        let Message { id, to, words, .. } = *self.messages[message];
        match self.kinds[message] {
            MessageKind::Put | MessageKind::Request | MessageKind::Answer => false,
            MessageKind::Read => true,
            MessageKind::Sent => self.trace.params_between(id.from, to).is_synchronous(words),
        }
    }

    /// Returns the index of the message that an event sent or received; `None` for other events.
    pub fn message_of(&self, index: usize) -> Option<usize> {
        self.message_index(self.events[index].kind.message()?)
    }
}

/// Returns the events of a trace in the order of the trace.
pub fn all_events(trace: &Trace) -> impl Iterator<Item = Event<'_>> {
    let own = trace.activities.iter().map(|activity| {
        let Activity { id, start, end, kind } = activity;
        Event { id: *id, request: None, start: *start, end: *end, kind }
    });
    let beside = trace.progress.iter().map(|progress| {
        let Progress { id, request, start, end, kind } = progress;
        Event { id: *id, request: Some(*request), start: *start, end: *end, kind }
    });
    own.chain(beside)
}

/// Returns the events of a trace, track by track: each processor's own come before those of its requests.
pub(crate) fn sorted_events(trace: &Trace) -> Vec<Event<'_>> {
    let mut events: Vec<Event> = all_events(trace).collect();
    // An event of no length comes before a longer one that begins at the same moment.
    let key = |event: &Event| (event.id, event.request, event.start, event.end);
    if !events.is_sorted_by_key(key) {
        events.sort_by_key(key);
    }
    events
}
