//! The events of a run in a kept order, made where they are asked for, and its critical path.

use smallvec::SmallVec;

use super::kept_order::{Act, KeptMessage};
use super::kept_run::KeptRun;
use crate::message::MessageId;
use crate::params::{Level, Params, Ports};
use crate::path::{EventIndex, IndexedEvent, IndexedKind, Path};
use crate::rules::network::Passage;
use crate::rules::pace::{reception_activities, send_activities};
use crate::time::Time;
use crate::trace::{Activity, Message};

/// Most events of an act.
const MOST: usize = 4;

impl KeptRun<'_> {
    /// Returns the critical path. The places of its messages are among all, sorted by id.
    pub fn path(&self) -> Path {
        Path::of_run(self)
    }

    /// Returns the rank of an act.
    fn rank(&self, act: usize) -> usize {
        self.order.begins.partition_point(|begin| *begin as usize <= act) - 1
    }

    fn id(&self, message: u32) -> MessageId {
        let from = self.order.messages[message as usize].from as usize;
        MessageId { from, number: (message - self.order.first_messages[from]) as usize }
    }

    /// Returns the events of an act.
    fn events(&self, act: usize) -> SmallVec<[IndexedEvent; MOST]> {
        let rank = self.rank(act);
        let (begin, end) = self.spans[act];
        let is_first = act == self.order.begins[rank] as usize;
        let called = if is_first { Time::ZERO } else { self.spans[act - 1].1 };
        let event = |Activity { id, start, end, kind }| IndexedEvent {
            id,
            request: None,
            start,
            end,
            kind: (&kind).into(),
        };
        match self.order.acts[act] {
            Act::Calc(_) => {
                let work =
                    IndexedEvent { id: rank, request: None, start: begin, end, kind: IndexedKind::Work };
                (begin < end).then_some(work).into_iter().collect()
            }
            Act::Send(message) => {
                let passage = &self.passages[message as usize];
                send_activities(self.id(message), (called, begin), passage).map(event).collect()
            }
            Act::Receive(message) => {
                let arrival = self.passages[message as usize].arrival;
                reception_activities(rank, self.id(message), called, [arrival, begin, end])
                    .map(event)
                    .collect()
            }
        }
    }

    /// Returns the place of the event of this kind of an act.
    fn place_of(&self, act: usize, kind: IndexedKind) -> Option<usize> {
        Some(MOST * act + self.events(act).iter().position(|event| event.kind == kind)?)
    }

    /// Returns the place of the last event of these acts.
    fn last_of(&self, acts: std::ops::Range<usize>) -> Option<usize> {
        let last = |act: usize| self.events(act).len().checked_sub(1).map(|last| MOST * act + last);
        acts.rev().find_map(last)
    }

    fn acts_of(&self, rank: usize) -> std::ops::Range<usize> {
        self.order.begins[rank] as usize..self.order.begins[rank + 1] as usize
    }
}

/// The place of an event is the number of its act, times [`MOST`], and its number in the act.
impl EventIndex for KeptRun<'_> {
    fn params(&self) -> &Params {
        self.network.params()
    }

    fn levels(&self) -> &[Level] {
        &self.levels
    }

    fn ports(&self) -> Ports {
        self.order.ports
    }

    fn finish(&self) -> Time {
        self.time
    }

    fn last_events(&self) -> impl Iterator<Item = usize> {
        (0..self.order.ranks()).filter_map(|rank| self.last_of(self.acts_of(rank)))
    }

    fn place_limit(&self) -> usize {
        MOST * self.order.acts.len()
    }

    fn indexed_event(&self, place: usize) -> IndexedEvent {
        self.events(place / MOST)[place % MOST]
    }

    fn event_before(&self, place: usize) -> Option<usize> {
        let act = place / MOST;
        match place % MOST {
            0 => self.last_of(self.order.begins[self.rank(act)] as usize..act),
            _ => Some(place - 1),
        }
    }

    fn event_after(&self, place: usize) -> Option<usize> {
        let act = place / MOST;
        if place % MOST + 1 < self.events(act).len() {
            return Some(place + 1);
        }
        let mut later = act + 1..self.acts_of(self.rank(act)).end;
        later.find(|act| !self.events(*act).is_empty()).map(|act| MOST * act)
    }

    fn number_of_messages(&self) -> usize {
        self.passages.len()
    }

    fn indexed_message(&self, message: usize) -> Message {
        let KeptMessage { from, to, words, .. } = self.order.messages[message];
        let Passage { enter, first, arrival, .. } = self.passages[message];
        let (from, to) = (from as usize, to as usize);
        let latency = self.network.params_between(from, to).L;
        let id = self.id(message as u32);
        // The place decides between messages of the same turn, which are sent.
        Message { id, to, words: words as usize, latency, place: from, enter, first, arrival }
    }

    fn message_at(&self, place: usize) -> Option<usize> {
        let message = match self.order.acts[place / MOST] {
            Act::Calc(_) => return None,
            Act::Send(message) | Act::Receive(message) => message as usize,
        };
        let kind = self.indexed_event(place).kind;
        matches!(kind, IndexedKind::Send | IndexedKind::Receive).then_some(message)
    }

    fn sent_at(&self, message: usize) -> Option<usize> {
        self.place_of(self.order.messages[message].sent_by as usize, IndexedKind::Send)
    }

    fn receptions(&self, id: usize) -> Vec<usize> {
        self.acts_of(id).filter_map(|act| self.place_of(act, IndexedKind::Receive)).collect()
    }
}
