//! The events of a run in a kept order, made where they are asked for, and its critical path.

use std::cell::RefCell;
use std::ops::Range;

use loggp_model::log::{IndexedEvent, IndexedKind};
use loggp_model::message::MessageId;
use loggp_model::params::{Level, LeveledParams, Params, Ports};
use loggp_model::rules::rank::{reception_events, send_events};
use loggp_model::time::Time;
use loggp_model::transport::Passage;
use loggp_trace::Message;
use loggp_trace::path::{EventIndex, Formula, FormulaBuilder, MessageKind, Path};

use super::order::{Act, KeptMessage};
use super::run::KeptRun;

/// Most events of an act.
const MOST: usize = 4;

/// The number of acts whose events are kept.
const KEPT: usize = 8;

/// The events of a run. A walk asks often for those of the last few acts, which are kept.
struct KeptEvents<'r, 'a> {
    run: &'r KeptRun<'a>,
    recent: [RefCell<ActEvents>; KEPT],
}

/// The events of an act.
#[derive(Clone, Copy)]
struct ActEvents {
    act: usize,
    count: usize,
    events: [IndexedEvent; MOST],
}

impl ActEvents {
    const NONE: ActEvents = {
        let (start, end, kind) = (Time::ZERO, Time::ZERO, IndexedKind::Idle);
        let none = IndexedEvent { id: 0, request: None, start, end, kind };
        ActEvents { act: usize::MAX, count: 0, events: [none; MOST] }
    };
}

impl KeptRun<'_> {
    /// Returns the critical path. The indices of its messages are among all, sorted by id.
    pub fn path(&self) -> Path {
        Path::of_run(&self.events())
    }

    /// Returns the formula of the critical path, in less time than the path itself.
    pub fn formula(&self) -> Formula {
        let (params, levels) = (*self.network.params(), self.levels.clone());
        FormulaBuilder::new(&LeveledParams { params, levels }).of_run(&self.events())
    }

    fn events(&self) -> KeptEvents<'_, '_> {
        let recent = [const { RefCell::new(ActEvents::NONE) }; KEPT];
        KeptEvents { run: self, recent }
    }

    /// Returns the rank of an act.
    fn rank(&self, act: usize) -> usize {
        match self.order.acts[act] {
            Act::Send(message) | Act::Put(message) | Act::Get(message) => {
                self.order.messages[message as usize].from as usize
            }
            Act::Read(message) | Act::Receive(message) => self.order.messages[message as usize].to as usize,
            Act::Calc(_) | Act::Flush(_) => {
                self.order.begins.partition_point(|begin| *begin as usize <= act) - 1
            }
        }
    }

    pub(crate) fn id(&self, message: u32) -> MessageId {
        let from = self.order.owner(message) as usize;
        MessageId { from, number: (message - self.order.first_messages[from]) as usize }
    }

    /// Makes the events of an act.
    fn make_events(&self, act: usize, made: &mut ActEvents) {
        let rank = self.rank(act);
        let (begin, end) = self.times.spans[act];
        let is_first = act == self.order.begins[rank] as usize;
        let called = if is_first { Time::ZERO } else { self.times.spans[act - 1].1 };
        (made.act, made.count) = (act, 0);
        let mut add = |event: IndexedEvent| {
            made.events[made.count] = event;
            made.count += 1;
        };
        match self.order.acts[act] {
            Act::Calc(_) if begin < end => {
                let kind = IndexedKind::Work;
                add(IndexedEvent { id: rank, request: None, start: begin, end, kind });
            }
            Act::Flush(_) if begin < end => {
                let kind = IndexedKind::Idle;
                add(IndexedEvent { id: rank, request: None, start: begin, end, kind });
            }
            Act::Calc(_) | Act::Flush(_) => (),
            Act::Send(message) | Act::Read(message) | Act::Put(message) | Act::Get(message) => {
                send_events(rank, (called, begin), &self.times.passages[message as usize]).for_each(add);
            }
            Act::Receive(message) => {
                let arrival = self.times.passages[message as usize].arrival;
                reception_events(rank, called, [arrival, begin, end]).for_each(add);
            }
        }
    }

    fn acts_of(&self, rank: usize) -> Range<usize> {
        self.order.begins[rank] as usize..self.order.begins[rank + 1] as usize
    }
}

impl KeptEvents<'_, '_> {
    /// Passes the events of an act to `of`.
    #[inline]
    fn with<T>(&self, act: usize, of: impl FnOnce(&[IndexedEvent]) -> T) -> T {
        let mut kept = self.recent[act % KEPT].borrow_mut();
        if kept.act != act {
            self.run.make_events(act, &mut kept);
        }
        of(&kept.events[..kept.count])
    }

    /// Returns the index of the event of this kind of an act.
    fn place_of(&self, act: usize, kind: IndexedKind) -> Option<usize> {
        self.with(act, |events| Some(MOST * act + events.iter().position(|event| event.kind == kind)?))
    }

    /// Returns the index of the last event of these acts.
    fn last_of(&self, acts: Range<usize>) -> Option<usize> {
        let last = |act: usize| self.with(act, |events| Some(MOST * act + events.len().checked_sub(1)?));
        acts.rev().find_map(last)
    }
}

/// The index of an event is the number of its act, times [`MOST`], and its number in the act.
impl EventIndex for KeptEvents<'_, '_> {
    fn params(&self) -> &Params {
        self.run.network.params()
    }

    fn levels(&self) -> &[Level] {
        &self.run.levels
    }

    fn ports(&self) -> Ports {
        self.run.order.ports
    }

    fn finish(&self) -> Time {
        self.run.time
    }

    fn last_events(&self) -> impl Iterator<Item = usize> {
        (0..self.run.order.ranks()).filter_map(|rank| self.last_of(self.run.acts_of(rank)))
    }

    fn index_limit(&self) -> usize {
        MOST * self.run.order.acts.len()
    }

    fn indexed_event(&self, index: usize) -> IndexedEvent {
        self.with(index / MOST, |events| events[index % MOST])
    }

    fn event_before(&self, index: usize) -> Option<usize> {
        let act = index / MOST;
        match index % MOST {
            0 => self.last_of(self.run.order.begins[self.run.rank(act)] as usize..act),
            _ => Some(index - 1),
        }
    }

    fn event_after(&self, index: usize) -> Option<usize> {
        let act = index / MOST;
        if index % MOST + 1 < self.with(act, <[_]>::len) {
            return Some(index + 1);
        }
        let mut later = act + 1..self.run.acts_of(self.run.rank(act)).end;
        later.find(|act| self.with(*act, |events| !events.is_empty())).map(|act| MOST * act)
    }

    fn number_of_messages(&self) -> usize {
        self.run.times.passages.len()
    }

    fn indexed_message(&self, message: usize) -> Message {
        let KeptMessage { from, to, words, .. } = self.run.order.messages[message];
        let [enter, first, arrival] = self.message_times(message);
        let (from, to) = (from as usize, to as usize);
        let latency = self.run.network.params_between(from, to).L;
        let id = self.run.id(message as u32);
        // The place decides between messages of the same turn, which are sent.
        Message { id, to, words: words as usize, latency, place: from, enter, first, arrival }
    }

    fn message_times(&self, message: usize) -> [Time; 3] {
        let Passage { enter, first, arrival, .. } = self.run.times.passages[message];
        [enter, first, arrival]
    }

    fn message_at(&self, index: usize) -> Option<usize> {
        let message = match self.run.order.acts[index / MOST] {
            Act::Calc(_) | Act::Flush(_) => return None,
            Act::Send(message) | Act::Read(message) | Act::Put(message) | Act::Get(message) => {
                message as usize
            }
            Act::Receive(message) => message as usize,
        };
        let kind = self.indexed_event(index).kind;
        matches!(kind, IndexedKind::Send | IndexedKind::Receive).then_some(message)
    }

    fn sent_at(&self, message: usize) -> Option<usize> {
        if self.run.order.is_answer(message as u32) {
            return None;
        }
        self.place_of(self.run.order.messages[message].sent_by as usize, IndexedKind::Send)
    }

    fn messages_from(&self, id: usize) -> Range<usize> {
        self.run.order.first_messages[id] as usize..self.run.order.first_messages[id + 1] as usize
    }

    fn kind_of(&self, message: usize) -> MessageKind {
        let order = self.run.order;
        match order.acts[order.messages[message].sent_by as usize] {
            Act::Read(_) => MessageKind::Read,
            Act::Put(_) => MessageKind::Put,
            Act::Get(request) if request as usize == message => MessageKind::Request,
            Act::Get(_) => MessageKind::Answer,
            _ => MessageKind::Sent,
        }
    }

    fn has_answers(&self) -> bool {
        self.run.order.has_answers
    }

    fn is_read(&self, message: usize) -> bool {
        self.run.order.is_read(message as u32)
    }

    fn is_answer(&self, message: usize) -> bool {
        self.run.order.is_answer(message as u32)
    }

    fn is_sent_in_order(&self) -> bool {
        !self.run.order.has_reads && !self.run.order.has_answers
    }

    fn reception_before(&self, index: usize) -> Option<Option<usize>> {
        let act = index / MOST;
        let earlier = self.run.order.begins[self.run.rank(act)] as usize..act;
        let receives = |act: &usize| matches!(self.run.order.acts[*act], Act::Receive(_));
        Some(earlier.rev().find(receives).and_then(|act| self.place_of(act, IndexedKind::Receive)))
    }

    fn receptions(&self, id: usize) -> Vec<usize> {
        self.run.acts_of(id).filter_map(|act| self.place_of(act, IndexedKind::Receive)).collect()
    }
}
