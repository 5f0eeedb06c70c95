//! An index of what happened in a run, by which its causes are found: of a trace, or of a run that keeps less.

use std::collections::HashMap;
use std::ops::Range;

use loggp_model::log::{ActivityKind, IndexedEvent, Message};
use loggp_model::params::{Level, Params, Ports, innermost_level, level_params};
use loggp_model::time::Time;

use super::events::{Event, Events};
use super::message_kind::MessageKind;

/// Returns the first of some indices that is not before something, where all that are lie first.
pub fn partition_index(indices: Range<usize>, is_before: impl Fn(usize) -> bool) -> usize {
    let Range { start: mut low, end: mut high } = indices;
    while low < high {
        let middle = low + (high - low) / 2;
        if is_before(middle) { low = middle + 1 } else { high = middle }
    }
    low
}

/// The events of a run by their indices, and its messages, sorted by id.
pub trait EventIndex {
    fn params(&self) -> &Params;

    fn levels(&self) -> &[Level];

    /// Returns the ports between the groups of the outermost level.
    fn ports(&self) -> Ports;

    /// Returns the number of the level at which processors send to each other.
    #[inline]
    fn level_between(&self, x: usize, y: usize) -> usize {
        innermost_level(self.levels(), x, y)
    }

    /// Returns the parameters of a level.
    #[inline]
    fn params_at(&self, level: usize) -> &Params {
        level_params(self.params(), self.levels(), level)
    }

    /// Returns the ports of a level.
    fn ports_at(&self, level: usize) -> Ports {
        level.checked_sub(1).map_or(self.ports(), |within| self.levels()[within].ports)
    }

    /// Returns the processors that share a processor's port at a level.
    fn port_sharers(&self, level: usize, id: usize) -> Range<usize> {
        match self.levels().get(level).filter(|within| within.one_port) {
            None => id..id + 1,
            Some(Level { params: Params { P, .. }, .. }) => id / P * P..(id / P + 1) * P,
        }
    }

    /// Returns the level of a message.
    fn level_of(&self, message: usize) -> usize {
        if self.levels().is_empty() {
            return 0;
        }
        self.level_between(self.origin(message), self.indexed_message(message).to)
    }

    /// Returns how a message gets to where it goes.
    fn kind_of(&self, message: usize) -> MessageKind;

    /// Returns whether any message is a memory's answer.
    fn has_answers(&self) -> bool;

    /// Returns whether its receiver reads a message from its sender's memory.
    #[inline]
    fn is_read(&self, message: usize) -> bool {
        self.kind_of(message) == MessageKind::Read
    }

    /// Returns whether a message is a memory's answer to the message before it.
    #[inline]
    fn is_answer(&self, message: usize) -> bool {
        self.kind_of(message) == MessageKind::Answer
    }

    /// Returns the processor at which a message enters: its sender, or the one whose memory answers.
    fn origin(&self, message: usize) -> usize {
        match message.checked_sub(1).filter(|_| self.is_answer(message)) {
            Some(request) => self.indexed_message(request).to,
            None => self.indexed_message(message).id.from,
        }
    }

    /// Returns the time at which the last processor finished.
    fn finish(&self) -> Time;

    /// Returns the index of the last event of each processor that was ever active.
    fn last_events(&self) -> impl Iterator<Item = usize>;

    /// Returns a number that is greater than any index.
    fn index_limit(&self) -> usize;

    fn indexed_event(&self, index: usize) -> IndexedEvent;

    /// Returns the index of the event before one on the same track, if there is one.
    fn event_before(&self, index: usize) -> Option<usize>;

    /// Returns the index of the event after one on the same track, if there is one.
    fn event_after(&self, index: usize) -> Option<usize>;

    fn number_of_messages(&self) -> usize;

    fn indexed_message(&self, message: usize) -> Message;

    /// Returns when a message entered, when its first word came out, and when it arrived.
    fn message_times(&self, message: usize) -> [Time; 3];

    /// Returns the message that an event sent or received; `None` for other events.
    fn message_at(&self, index: usize) -> Option<usize>;

    /// Returns the index of the event that sent a message, if there is one.
    fn sent_at(&self, message: usize) -> Option<usize>;

    /// Returns the messages that a processor sent.
    fn messages_from(&self, id: usize) -> Range<usize> {
        let all = 0..self.number_of_messages();
        let first_from =
            |id| partition_index(all.clone(), |message| self.indexed_message(message).id.from < id);
        first_from(id)..first_from(id + 1)
    }

    /// Returns whether each processor's messages are known to enter in the order of their numbers.
    fn is_sent_in_order(&self) -> bool {
        false
    }

    /// Returns the index of the reception before one on the same processor, if there is one; `None` if that is
    /// not known without a list of all.
    fn reception_before(&self, _place: usize) -> Option<Option<usize>> {
        None
    }

    /// Returns the indices of a processor's receptions, by their start.
    fn receptions(&self, id: usize) -> Vec<usize>;

    /// Returns the indices of a request's events; none in runs without requests.
    fn request_events(&self, _id: usize, _request: u32) -> Range<usize> {
        0..0
    }

    /// Returns the index at which each request was called for; none in runs without requests.
    fn posts(&self) -> HashMap<(usize, u32), usize> {
        HashMap::new()
    }

    /// Returns the number of each barrier event, and for each number the event of the processor that came
    /// last; none in runs without barriers.
    fn barriers(&self) -> (HashMap<usize, usize>, Vec<usize>) {
        Default::default()
    }
}

impl EventIndex for Events<'_> {
    fn params(&self) -> &Params {
        &self.trace.params
    }

    fn levels(&self) -> &[Level] {
        &self.trace.levels
    }

    fn ports(&self) -> Ports {
        self.trace.ports
    }

    fn kind_of(&self, message: usize) -> MessageKind {
        Events::kind_of(self, message)
    }

    fn has_answers(&self) -> bool {
        self.has_answers
    }

    fn finish(&self) -> Time {
        self.finish
    }

    fn last_events(&self) -> impl Iterator<Item = usize> {
        self.processors().map(|track| track.indices.end - 1)
    }

    fn index_limit(&self) -> usize {
        self.len()
    }

    fn indexed_event(&self, index: usize) -> IndexedEvent {
        let Event { id, request, start, end, kind } = self.event(index);
        IndexedEvent { id, request, start, end, kind: kind.into() }
    }

    fn event_before(&self, index: usize) -> Option<usize> {
        self.previous(index)
    }

    fn event_after(&self, index: usize) -> Option<usize> {
        self.next(index)
    }

    fn number_of_messages(&self) -> usize {
        self.message_count()
    }

    fn indexed_message(&self, message: usize) -> Message {
        self.message(message).clone()
    }

    fn message_times(&self, message: usize) -> [Time; 3] {
        let Message { enter, first, arrival, .. } = self.message(message);
        [*enter, *first, *arrival]
    }

    fn message_at(&self, index: usize) -> Option<usize> {
        self.message_of(index)
    }

    fn sent_at(&self, message: usize) -> Option<usize> {
        self.send_event(message)
    }

    fn receptions(&self, id: usize) -> Vec<usize> {
        let first = self.tracks().partition_point(|track| track.id < id);
        let own = self.tracks()[first..].iter().take_while(|track| track.id == id);
        let is_one = |index: &usize| matches!(self.event(*index).kind, ActivityKind::Receive(_));
        let mut indices: Vec<usize> = own.flat_map(|track| track.indices.clone()).filter(is_one).collect();
        indices.sort_by_key(|index| self.event(*index).start);
        indices
    }

    fn request_events(&self, id: usize, request: u32) -> Range<usize> {
        self.track(id, Some(request)).map_or(0..0, |track| track.indices.clone())
    }

    fn posts(&self) -> HashMap<(usize, u32), usize> {
        let post = |index: usize| match self.event(index) {
            Event { id, request: None, kind: ActivityKind::Post(request), .. } => {
                Some(((id, *request), index))
            }
            _ => None,
        };
        (0..self.len()).filter_map(post).collect()
    }

    fn barriers(&self) -> (HashMap<usize, usize>, Vec<usize>) {
        let (mut numbers, mut lasts) = (HashMap::new(), Vec::new());
        for track in self.processors() {
            let waits = |index: &usize| self.event(*index).kind == &ActivityKind::Barrier;
            for (number, index) in track.indices.clone().filter(waits).enumerate() {
                numbers.insert(index, number);
                match lasts.get_mut(number) {
                    None => lasts.push(index),
                    Some(last) if self.event(*last).start < self.event(index).start => *last = index,
                    Some(_) => (),
                }
            }
        }
        (numbers, lasts)
    }
}
