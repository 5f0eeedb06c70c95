//! The critical path: what the end of a run waited for, and what that waited for, back to the start.
//!
//! Of all that had to be over before something could begin, the last to be over is on the path. So the path
//! has no waits for others: it goes on with what the others did. Its hops follow each other without a hole,
//! from 0 to the end.

use std::collections::HashMap;

use loggp_model::log::{IndexedEvent, IndexedKind};
use loggp_model::time::Time;

use super::blockers::{Blocker, Blockers};
use super::events::Events;
use super::index::EventIndex;
use super::message_kind::MessageKind;
use crate::Message;

/// A kind of hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HopKind {
    /// Computing.
    Work,
    /// Overhead at a sender.
    SendOverhead,
    /// Overhead at a receiver.
    ReceiveOverhead,
    /// Time under way of a message's first word.
    Latency,
    /// Time from a message's first word to its last.
    Stream,
    /// The gap between two messages.
    Gap,
    /// A message in transit that left no room for another one.
    Stall,
    /// A message in a port for which another one waited.
    Port,
    /// The machine's own barrier, after all processors have come.
    Barrier,
    /// A wait for a moment.
    Idle,
}

impl HopKind {
    /// All kinds, in the order of the reports.
    pub const ALL: [HopKind; 10] = [
        HopKind::Work,
        HopKind::SendOverhead,
        HopKind::ReceiveOverhead,
        HopKind::Latency,
        HopKind::Stream,
        HopKind::Gap,
        HopKind::Stall,
        HopKind::Port,
        HopKind::Barrier,
        HopKind::Idle,
    ];

    /// Returns its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            HopKind::Work => "work",
            HopKind::SendOverhead => "o at senders",
            HopKind::ReceiveOverhead => "o at receivers",
            HopKind::Latency => "L",
            HopKind::Stream => "G",
            HopKind::Gap => "g",
            HopKind::Stall => "stall",
            HopKind::Port => "port",
            HopKind::Barrier => "barrier",
            HopKind::Idle => "idle",
        }
    }
}

/// The part of the parameters that determines the length of a hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HopTerm {
    /// No parameter.
    Fixed,
    /// The overhead of sending this many words.
    Send(usize),
    /// The overhead of sending this many words to a memory.
    OneSided(usize),
    /// The overhead of receiving this many words.
    Receive(usize),
    /// The latency, or the value that was drawn instead.
    Latency,
    /// The time from the first to the last of this many words.
    Stream(usize),
    /// The gap.
    Gap,
}

/// A section of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hop {
    /// Its kind.
    pub kind: HopKind,
    /// The parameters that determine its length.
    pub term: HopTerm,
    /// Its processor; for a message under way, the sender.
    pub id: usize,
    /// The number of the level whose parameters determine its length, from 1 for the outermost; 0 for the
    /// machine's own.
    pub level: usize,
    /// Index of its message, if it has one.
    pub message: Option<usize>,
    /// Its start.
    pub start: Time,
    /// Its end, which is before its start where a negative G_l takes time back.
    pub end: Time,
}

impl Hop {
    /// Returns its length.
    pub fn length(&self) -> Time {
        self.end - self.start
    }
}

/// The critical path of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Path {
    /// The hops, from the start of the run to its end.
    pub hops: Vec<Hop>,
}

impl Path {
    /// Finds the critical path through these events.
    pub fn from_events(events: &Events) -> Path {
        Path::of_run(events)
    }

    /// Finds the critical path of a run.
    #[doc(hidden)]
    pub fn of_run(index: &impl EventIndex) -> Path {
        let mut hops = Vec::new();
        for_each_hop(index, |hop| hops.push(*hop));
        hops.reverse();
        Path { hops }
    }

    /// Returns the length of all hops of a kind.
    pub fn length_of(&self, kind: HopKind) -> Time {
        self.hops.iter().filter(|hop| hop.kind == kind).map(Hop::length).sum()
    }

    /// Returns its length, which is that of the run.
    pub fn length(&self) -> Time {
        self.hops.iter().map(Hop::length).sum()
    }
}

/// Passes the hops of the critical path through these events to `on`, from the last to the first.
pub(super) fn for_each_hop(events: &impl EventIndex, mut on: impl FnMut(&Hop)) {
    let mut walk = Walk::new(events);
    let mut begun = (events.finish(), 0);
    let mut at = last_event(events).map(WalkPosition::End);
    // No event is passed twice, since the walk never goes forward in time. A trace with messages of no length
    // could be made up in which it is: so the steps are limited.
    let mut steps = 2 * (events.index_limit() + events.number_of_messages());
    while let Some(here) = at {
        if steps == 0 {
            walk.add_hop(HopKind::Idle, HopTerm::Fixed, begun.1, None, Time::ZERO, begun.0);
            walk.hops.iter().for_each(&mut on);
            break;
        }
        steps -= 1;
        at = walk.step(here);
        for hop in walk.hops.drain(..) {
            begun = (hop.start, hop.id);
            on(&hop);
        }
    }
}

/// Returns the index of the event that ended last, if there are any events.
pub fn last_event(events: &impl EventIndex) -> Option<usize> {
    events.last_events().max_by_key(|index| (events.indexed_event(*index).end, usize::MAX - index))
}

/// The position of a walk, up to which the path has been followed back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WalkPosition {
    /// The end of an event.
    End(usize),
    /// The start of a reception.
    Reception(usize),
    /// The entry of a message.
    Entry(usize),
    /// The arrival of a message. If it has a kind, the message left room or a port to another one.
    Arrival(usize, Option<HopKind>),
}

/// A walk from the end of a run to its start.
pub struct Walk<'e, Index> {
    events: &'e Index,
    blockers: Blockers<'e, Index>,
    /// The number of each barrier event, and for each number the event of the processor that came last.
    barriers: Option<(HashMap<usize, usize>, Vec<usize>)>,
    /// The event in which each request was called for.
    posts: Option<HashMap<(usize, u32), usize>>,
    /// The hops of the last step, the last one first.
    hops: Vec<Hop>,
}

impl<'e, Index: EventIndex> Walk<'e, Index> {
    /// Creates a walk that has not begun.
    pub fn new(events: &'e Index) -> Walk<'e, Index> {
        Walk { events, blockers: Blockers::new(events), barriers: None, posts: None, hops: Vec::new() }
    }

    /// Returns the position to which one step leads back, or `None` at the start of the run.
    pub fn cause(&mut self, at: WalkPosition) -> Option<WalkPosition> {
        self.hops.clear();
        self.step(at)
    }

    /// Goes back by one cause. Returns `None` at the start of the run.
    fn step(&mut self, at: WalkPosition) -> Option<WalkPosition> {
        match at {
            WalkPosition::End(index) => self.step_from_end(index),
            WalkPosition::Reception(index) => self.step_from_reception(index),
            WalkPosition::Entry(message) => self.step_from_entry(message),
            WalkPosition::Arrival(message, held) => Some(self.step_from_arrival(message, held)),
        }
    }

    /// Adds a hop, unless its length is 0.
    fn add_hop(
        &mut self,
        kind: HopKind,
        term: HopTerm,
        id: usize,
        message: Option<usize>,
        start: Time,
        end: Time,
    ) {
        if start != end {
            let level = message.map_or(0, |message| self.events.level_of(message));
            self.hops.push(Hop { kind, term, id, level, message, start, end });
        }
    }

    /// Adds the gap after a message, which is that of the message's level. It is of a `later` message.
    fn add_gap(&mut self, after: Option<usize>, id: usize, later: Option<usize>, start: Time, end: Time) {
        self.add_hop(HopKind::Gap, HopTerm::Gap, id, later, start, end);
        if let Some(hop) = self.hops.last_mut().filter(|_| start != end) {
            hop.level = after.map_or(0, |message| self.events.level_of(message));
        }
    }

    /// Returns the position before an event. Before a request's first event, that is the end of its
    /// processor's event before the call for the request.
    fn position_before(&mut self, index: usize) -> Option<WalkPosition> {
        if let Some(before) = self.events.event_before(index) {
            return Some(WalkPosition::End(before));
        }
        let IndexedEvent { id, request, .. } = self.events.indexed_event(index);
        let posts = self.posts.get_or_insert_with(|| self.events.posts());
        let post = *posts.get(&(id, request?))?;
        self.events.event_before(post).map(WalkPosition::End)
    }

    /// Adds the overhead of a call for a request, or of a wait for it.
    fn add_request_overhead(&mut self, request: u32, id: usize, start: Time, end: Time) {
        let mut indices = self.events.request_events(id, request);
        let sends = indices.find_map(|index| match self.events.indexed_event(index).kind {
            IndexedKind::Send => Some(true),
            IndexedKind::Receive => Some(false),
            _ => None,
        });
        match sends {
            Some(true) => self.add_hop(HopKind::SendOverhead, HopTerm::Send(0), id, None, start, end),
            _ => self.add_hop(HopKind::ReceiveOverhead, HopTerm::Receive(0), id, None, start, end),
        }
    }

    /// Steps back from the end of an event.
    fn step_from_end(&mut self, index: usize) -> Option<WalkPosition> {
        let IndexedEvent { id, start, end, kind: what, .. } = self.events.indexed_event(index);
        let kind = match what {
            IndexedKind::Receive => {
                let message = self.events.message_at(index);
                let words = message.map_or(0, |message| self.events.indexed_message(message).words);
                self.add_hop(HopKind::ReceiveOverhead, HopTerm::Receive(words), id, message, start, end);
                return Some(WalkPosition::Reception(index));
            }
            IndexedKind::Send | IndexedKind::Stall | IndexedKind::Port => {
                if let Some(message) = self.sent_message(index) {
                    return Some(WalkPosition::Entry(message));
                }
                HopKind::Idle
            }
            IndexedKind::Barrier => return self.step_from_barrier(index),
            IndexedKind::Post(request) => {
                self.add_request_overhead(request, id, start, end);
                return self.position_before(index);
            }
            IndexedKind::Wait(request) => {
                let last = self.events.request_events(id, request).last();
                // A request that was done before costs only the overhead of the wait.
                if let Some(last) = last.filter(|last| self.events.indexed_event(*last).end == end) {
                    return Some(WalkPosition::End(last));
                }
                self.add_request_overhead(request, id, start, end);
                return self.position_before(index);
            }
            IndexedKind::Work => HopKind::Work,
            IndexedKind::Gap => HopKind::Gap,
            IndexedKind::Idle => {
                if let Some(put) = self.blockers.acknowledged(id, end) {
                    let arrival = self.events.indexed_message(put).arrival;
                    self.add_hop(HopKind::Latency, HopTerm::Latency, id, Some(put), arrival, end);
                    return Some(WalkPosition::Arrival(put, None));
                }
                HopKind::Idle
            }
        };
        self.add_hop(kind, HopTerm::Fixed, id, None, start, end);
        self.position_before(index)
    }

    /// Returns the message that a processor was sending.
    fn sent_message(&self, mut index: usize) -> Option<usize> {
        while matches!(self.events.indexed_event(index).kind, IndexedKind::Stall | IndexedKind::Port) {
            index = self.events.event_before(index)?;
        }
        self.events.message_at(index)
    }

    /// Steps back from the start of a reception: the gap was over, the message had arrived, or the processor
    /// was free.
    fn step_from_reception(&mut self, index: usize) -> Option<WalkPosition> {
        let IndexedEvent { id, start, .. } = self.events.indexed_event(index);
        let Some(before) = self.events.event_before(index) else { return self.position_before(index) };
        match self.events.indexed_event(before).kind {
            IndexedKind::Gap => {
                if let Some((last, begun)) = self.blockers.reception_before_gap(index) {
                    let [message, later] = [last, index].map(|index| self.events.message_at(index));
                    self.add_gap(message, id, later, begun, start);
                    return Some(WalkPosition::Reception(last));
                }
            }
            IndexedKind::Idle => {
                let message = self.events.message_at(index);
                if let Some(message) =
                    message.filter(|message| self.events.indexed_message(*message).arrival == start)
                {
                    return Some(WalkPosition::Arrival(message, None));
                }
            }
            _ => (),
        }
        Some(WalkPosition::End(before))
    }

    /// Steps back from the entry of a message: its wait was over, or its overhead.
    fn step_from_entry(&mut self, message: usize) -> Option<WalkPosition> {
        let Some(send) = self.events.sent_at(message) else { return self.step_from_answer(message) };
        let IndexedEvent { id, start, end, .. } = self.events.indexed_event(send);
        let (words, kind) = (self.events.indexed_message(message).words, self.events.kind_of(message));
        let (term, asked) = match kind {
            MessageKind::Sent => (HopTerm::Send(words), end),
            MessageKind::Read => {
                (HopTerm::Send(0), end - self.events.params_at(self.events.level_of(message)).L)
            }
            _ => (HopTerm::OneSided(words), end),
        };
        let waits: Vec<IndexedEvent> =
            std::iter::successors(self.events.event_after(send), |at| self.events.event_after(*at))
                .map(|at| self.events.indexed_event(at))
                .take_while(|wait| matches!(wait.kind, IndexedKind::Stall | IndexedKind::Port))
                .collect();
        let cause = match waits.last().map(|wait| wait.kind) {
            None => None,
            Some(IndexedKind::Port) => self.blockers.of_port(message),
            Some(_) => self.blockers.of_stall(message),
        };
        if let Some(cause) = cause {
            return Some(self.step_to_blocker(cause, HopKind::Stall));
        }
        for wait in waits.iter().rev() {
            let kind = if wait.kind == IndexedKind::Stall { HopKind::Stall } else { HopKind::Port };
            self.add_hop(kind, HopTerm::Fixed, id, Some(message), wait.start, wait.end);
        }
        let waited = self
            .events
            .event_before(send)
            .is_some_and(|at| self.events.indexed_event(at).kind == IndexedKind::Gap);
        if waited && let Some(last) = self.blockers.before_gap(message, id, end) {
            let gone = self.blockers.last_word_out(last);
            self.add_gap(Some(last), id, Some(message), gone, end);
            self.add_stream(last, HopKind::Stream);
            return Some(WalkPosition::Entry(last));
        }
        // A request's send begins when the message of an earlier request to the same processor has entered.
        if waited
            && kind != MessageKind::Read
            && let Some(last) = self.blockers.ahead(message, start)
        {
            self.add_hop(HopKind::SendOverhead, term, id, Some(message), start, end);
            return Some(WalkPosition::Entry(last));
        }
        self.add_hop(HopKind::Latency, HopTerm::Latency, id, Some(message), asked, end);
        self.add_hop(HopKind::SendOverhead, term, id, Some(message), start, asked);
        self.position_before(send)
    }

    /// Steps back from a moment at which a message left what another one waited for; `transit` is the kind of the
    /// wait for one in transit.
    fn step_to_blocker(&mut self, blocker: Blocker, transit: HopKind) -> WalkPosition {
        match blocker {
            Blocker::InTransit(other) => WalkPosition::Arrival(other, Some(transit)),
            Blocker::AtIngress(other) => WalkPosition::Arrival(other, Some(HopKind::Port)),
            Blocker::AtEgress(other) => {
                self.add_stream(other, HopKind::Port);
                WalkPosition::Entry(other)
            }
        }
    }

    /// Steps back from the entry of a memory's answer: its wait was over, or its request, which is the message
    /// before it, was there.
    fn step_from_answer(&mut self, message: usize) -> Option<WalkPosition> {
        let [answer, request] =
            [message, message.checked_sub(1)?].map(|index| self.events.indexed_message(index));
        if answer.id.from != request.id.from || request.arrival > answer.enter {
            return None;
        }
        if request.arrival < answer.enter {
            if let Some(blocker) = self.blockers.of_port(message) {
                return Some(self.step_to_blocker(blocker, HopKind::Stall));
            }
            let id = request.to;
            self.add_hop(HopKind::Port, HopTerm::Fixed, id, Some(message), request.arrival, answer.enter);
        }
        Some(WalkPosition::Arrival(message - 1, None))
    }

    /// Adds the time in which the words of a message go out.
    fn add_stream(&mut self, message: usize, kind: HopKind) {
        let Message { id, words, enter, .. } = self.events.indexed_message(message);
        self.add_hop(
            kind,
            HopTerm::Stream(words),
            id.from,
            Some(message),
            enter,
            self.blockers.last_word_out(message),
        );
    }

    /// Steps back from the arrival of a message: the stream of its words, and the latency of the first one.
    fn step_from_arrival(&mut self, message: usize, held: Option<HopKind>) -> WalkPosition {
        let Message { id, words, latency, enter, first, arrival, .. } = self.events.indexed_message(message);
        if first > enter + latency
            && !self.events.is_read(message)
            && !self.events.is_answer(message)
            && let Some(earlier) = self.blockers.predecessor(message)
        {
            return WalkPosition::Arrival(earlier, held);
        }
        let kind = |own| held.unwrap_or(own);
        self.add_hop(kind(HopKind::Stream), HopTerm::Stream(words), id.from, Some(message), first, arrival);
        let soonest = enter + latency;
        if first > soonest {
            if let Some(blocker) = self.blockers.of_ingress(message) {
                return self.step_to_blocker(blocker, HopKind::Port);
            }
            self.add_hop(HopKind::Port, HopTerm::Fixed, id.from, Some(message), soonest, first);
        }
        self.add_hop(
            kind(HopKind::Latency),
            HopTerm::Latency,
            id.from,
            Some(message),
            enter,
            soonest.min(first),
        );
        WalkPosition::Entry(message)
    }

    /// Steps back from the end of a barrier to the processor that came last.
    fn step_from_barrier(&mut self, index: usize) -> Option<WalkPosition> {
        let (numbers, lasts) = self.barriers.get_or_insert_with(|| self.events.barriers());
        let last = numbers.get(&index).and_then(|number| lasts.get(*number)).copied().unwrap_or(index);
        let IndexedEvent { id, start, .. } = self.events.indexed_event(last);
        self.add_hop(HopKind::Barrier, HopTerm::Fixed, id, None, start, self.events.indexed_event(index).end);
        self.position_before(last)
    }
}
