//! What a clock knows of a processor: its messages, and what it waits for. Both clocks use it, so that waiting means the
//! same on both.

use super::contract::Foreknown;
use super::stacks::prefetch::prefetch_lines;
use crate::error::{Cause, Doing, ProcessorState};
use crate::message::matching::{Inbox, first_pair};
use crate::message::parcel::Parcel;
use crate::message::{Envelope, Key, Letter, Matched, Names, RawTag, Seen, Want};
use crate::params::{ByLevel, ReceptionCost};
use crate::rules::reception::{Awaits, Purpose, Reception, Requested};
use crate::time::{PS, Time};

/// A processor as its clock sees it. It fills four cache lines: one for what the processor waits for, two for its first two
/// messages, and one for what few messages touch.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Seat {
    /// When the processor runs next: the end of time if a message must come first. Once it has ended, when it did.
    wake: Time,
    /// The tag of the messages that its call takes, if it waits for one.
    tag: RawTag,
    /// When its reception can start, if it waits for a message.
    ready: Time,
    /// When it gives up, if it waits for a message.
    deadline: Time,
    /// The latest arrival of a message that it has taken, or end of a look in vain. Messages that arrive earlier should
    /// have come by now.
    decided: Time,
    /// The sender of the messages that its call takes, or [`Want::ANYONE`].
    from: u32,
    /// The sender whose first message the processor would take now, or [`NOBODY`].
    best: u32,
    /// The ticket of its one entry on the agenda that counts; a wait that begins or changes takes a new one.
    ticket: u32,
    /// What the processor does with the message, if it waits for one.
    purpose: Option<Purpose>,
    /// Whether the program has started or ended.
    stage: Stage,
    /// Whether the processor has done nothing but look for messages in vain, for long.
    in_vain: bool,
    /// Whether it waits for more than its call's message: for requests, or for an agreement. If not, these are not looked at.
    wants_more: bool,
    /// The messages that were sent to the processor and not taken.
    inbox: Inbox<Envelope>,
    /// The receives of its requests, while it waits. They were posted before its call.
    requests: Option<Box<Requested>>,
    /// What errors say that the processor waits for.
    awaits: Awaits,
    /// How many messages were delivered too late: they arrive before [`decided`](Seat::decided).
    out_of_order: u32,
}

/// Stands for no sender.
const NOBODY: u32 = u32::MAX;

/// Whether a processor's program has started or ended.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Stage {
    #[default]
    NotStarted,
    Running,
    /// The program has unwound, since the run has failed.
    Failed,
    Finished,
}

impl Default for Seat {
    fn default() -> Seat {
        Seat {
            wake: Time::ZERO,
            tag: RawTag::NOTHING,
            ready: Time::ZERO,
            deadline: Time::ZERO,
            decided: Time::ZERO,
            from: Want::ANYONE,
            best: NOBODY,
            ticket: 0,
            purpose: None,
            stage: Stage::NotStarted,
            in_vain: false,
            wants_more: false,
            inbox: Inbox::default(),
            requests: None,
            awaits: Awaits::Message,
            out_of_order: 0,
        }
    }
}

impl Seat {
    /// A seat with room for a few messages, so that nothing is allocated when they come.
    pub(super) fn with_room() -> Seat {
        Seat { inbox: Inbox::with_room(), ..Seat::default() }
    }

    /// Fetches what a message touches of it into the cache, without waiting for it.
    #[inline]
    pub(super) fn prefetch(&self) {
        prefetch_lines((&raw const *self).addr(), 3);
    }

    pub(super) fn start(&mut self) {
        self.stage = Stage::Running;
    }

    /// The processor's program has ended at `at`. Nothing wakes it any more.
    pub(super) fn end(&mut self, at: Time, well: bool) {
        self.stage = if well { Stage::Finished } else { Stage::Failed };
        if self.purpose.is_none() {
            self.wake = at;
        }
    }

    /// The processor waits until `t`.
    #[inline]
    pub(super) fn wait_until(&mut self, t: Time) {
        self.ticket = self.ticket.wrapping_add(1);
        self.wake = t;
        self.in_vain = false;
    }

    /// The processor has looked for messages in vain for long.
    pub(super) fn looks_in_vain(&mut self) {
        self.in_vain = true;
    }

    /// Whether the processor can do nothing more by itself: it has ended, waits for a message, or looks for one in vain and
    /// none is under way to it.
    pub(super) fn is_hopeless(&self) -> bool {
        let expects = || self.inbox.iter().any(|envelope| envelope.arrival > self.wake);
        self.has_finished() || self.is_blocked() || (self.in_vain && !expects())
    }

    pub(super) fn has_finished(&self) -> bool {
        self.stage == Stage::Finished
    }

    /// The processor waits for a message, as [`Clock::receive`](super::Clock::receive) says. Returns when it runs next.
    #[inline]
    pub(super) fn ask(&mut self, reception: &mut Reception, cost: &ByLevel<ReceptionCost>) -> Time {
        self.ticket = self.ticket.wrapping_add(1);
        Want { from: self.from, tag: self.tag } = reception.want;
        (self.ready, self.deadline, self.purpose) =
            (reception.ready, reception.deadline, Some(reception.purpose));
        self.wants_more = reception.requests.is_some() || reception.awaits != Awaits::Message;
        if self.wants_more {
            self.exchanges_more(reception);
        }
        (self.wake, self.best) = (self.deadline, NOBODY);
        if self.ready > self.deadline {
            return self.wake;
        }
        let first = self.seen(self.want(), cost);
        if let Some((key, wake)) = first {
            (self.wake, self.best) = (wake, key.1);
        }
        if self.wants_more {
            self.asks_for_requests(first.map(|(key, _)| key));
        }
        self.wake
    }

    /// Takes the receives of the processor's requests and what it awaits beside its call's message, or gives them back.
    #[cold]
    fn exchanges_more(&mut self, reception: &mut Reception) {
        if let Some(requests) = &mut reception.requests {
            std::mem::swap(&mut self.requests, requests);
        }
        self.awaits = reception.awaits;
    }

    /// The receives of the processor's requests, while it waits.
    #[inline]
    fn requests(&self) -> Option<&Requested> {
        if self.wants_more { self.requests.as_deref() } else { None }
    }

    #[inline]
    fn requests_mut(&mut self) -> Option<&mut Requested> {
        if self.wants_more { self.requests.as_deref_mut() } else { None }
    }

    /// If a message for one of the requests comes no later than the call's, the processor takes that first.
    #[cold]
    fn asks_for_requests(&mut self, first: Option<Key>) {
        let Some(requests) = &mut self.requests else { return };
        if let Some((key, receive)) = first_pair(&mut self.inbox, &mut requests.posted, self.deadline)
            && first.is_none_or(|first| key <= first)
        {
            (self.wake, self.best) = (self.ready.max(key.0), key.1);
            requests.chosen = Some(receive);
        }
    }

    /// What the processor's call takes.
    #[inline(always)]
    fn want(&self) -> Want {
        Want { from: self.from, tag: self.tag }
    }

    /// The first message that a receive takes, if it arrives in time and is seen, and when its reception is over.
    #[inline(always)]
    fn seen(&mut self, want: Want, cost: &ByLevel<ReceptionCost>) -> Option<(Key, Time)> {
        let (message, purpose) = (self.inbox.first(want)?, self.purpose?);
        let key = message.key();
        if key.0 > self.deadline {
            return None;
        }
        if !purpose.sees(message.seen(), self.deadline) {
            return self.seen_behind(want, purpose, cost);
        }
        Some((key, purpose.over(message.seen(), self.ready, cost)))
    }

    /// The same, if the first message that has arrived is not seen. One that has arrived at the same time may be: one that has
    /// taken time, or that the processor has sent to itself.
    #[cold]
    fn seen_behind(
        &self,
        want: Want,
        purpose: Purpose,
        cost: &ByLevel<ReceptionCost>,
    ) -> Option<(Key, Time)> {
        let is_there = |message: &&Envelope| {
            let in_time = message.arrival <= self.deadline && purpose.sees(message.seen(), self.deadline);
            in_time && want.takes(*message)
        };
        let first = self.inbox.iter().filter(is_there).min_by_key(|message| message.key())?;
        Some((first.key(), purpose.over(first.seen(), self.ready, cost)))
    }

    /// Puts a message into the inbox. If that changes when the processor wakes, returns when that is: then its old entry on
    /// the agenda counts no more.
    #[inline]
    pub(super) fn put(&mut self, seen: Seen, parcel: Parcel, cost: &ByLevel<ReceptionCost>) -> Option<Time> {
        let (arrival, outside) = seen;
        if arrival < self.decided && !outside.tag.is_signal() {
            self.out_of_order += 1;
        }
        self.in_vain = false;
        // A message that arrives after `wake` changes nothing: the processor takes another one then, or gives up.
        let waits = arrival <= self.wake && self.ready <= self.deadline;
        let purpose = self.purpose.filter(|purpose| waits && self.is_better(*purpose, seen));
        if let Some(purpose) = purpose {
            self.wake = purpose.over(seen, self.ready, cost);
            self.best = outside.from;
            self.ticket = self.ticket.wrapping_add(1);
        }
        self.inbox.put_made(seen.key(), || Envelope { arrival, letter: Letter { outside, parcel } });
        purpose.map(|_| self.wake)
    }

    /// Whether the processor takes this message rather than the one that it would have taken.
    #[inline]
    fn is_better(&mut self, purpose: Purpose, seen: Seen) -> bool {
        let receive = self.requests_mut().and_then(|requests| requests.posted.first(&seen));
        let wants = || self.want().takes(&seen) && purpose.sees(seen, self.deadline);
        if seen.0 > self.deadline || !(receive.is_some() || wants()) {
            return false;
        }
        let is_better = self.best().is_none_or(|best| seen.key() < best);
        if is_better && let Some(requests) = self.requests_mut() {
            requests.chosen = receive;
        }
        is_better
    }

    /// The message that the processor would take now. It is looked up by its sender, because a message of another sender in
    /// the same instant may not be seen.
    #[inline(always)]
    fn best(&mut self) -> Option<Key> {
        if self.best == NOBODY {
            return None;
        }
        self.inbox.first(self.taken()).map(Matched::key)
    }

    /// The want that finds that message.
    #[inline(always)]
    fn taken(&self) -> Want {
        let chosen = self.requests().and_then(|requests| requests.chosen);
        Want { from: self.best, tag: chosen.map_or(self.tag, |receive| receive.want.tag) }
    }

    /// The processor's wait for a message is over: puts the message that it got into `got`, if any, and gives its requests'
    /// receives back.
    #[inline]
    pub(super) fn answer(&mut self, reception: &mut Reception, got: &mut Option<Envelope>) {
        let Some(purpose) = self.purpose.take() else { return };
        let taken = self.taken();
        if self.wants_more {
            self.exchanges_more(reception);
        }
        if self.best == NOBODY {
            return self.decides(self.deadline);
        }
        match purpose {
            Purpose::Look => *got = self.inbox.first(taken).map(Envelope::outside),
            _ => self.inbox.take_into(taken, got),
        }
        if let Some(got) = got {
            self.decides(got.arrival);
        }
    }

    /// The processor has taken a message that arrived at `until`, or looked in vain until then. Signals do not count.
    #[inline]
    fn decides(&mut self, until: Time) {
        if !self.tag.is_signal() {
            self.decided = self.decided.max(until);
        }
    }

    /// If the processor waits for a message: the arrival up to which all messages must have been delivered, so that it takes
    /// the right one; `None` if all earlier acts must have been done.
    ///
    /// A signal is always the right one, so nothing need be known; but while requests go on, a signal may be sent any time
    /// before its arrival.
    #[inline]
    pub(super) fn known_until(&mut self) -> Option<Time> {
        self.purpose?;
        match self.tag.is_signal() {
            true if self.requests().is_some() || self.deadline < Time::MAX => None,
            true => Some(-PS),
            false => Some(self.best().map_or(self.deadline, |(arrival, ..)| arrival)),
        }
    }

    /// How many messages were delivered after the processor had taken a later one, or had looked in vain.
    pub(super) fn out_of_order(&self) -> u64 {
        self.out_of_order.into()
    }

    /// When the processor runs next; the end of time if it does not.
    pub(super) fn wake(&self) -> Time {
        let has_ended = matches!(self.stage, Stage::Finished | Stage::Failed);
        if has_ended { Time::MAX } else { self.wake }
    }

    /// The ticket that an entry on the agenda must have to count.
    pub(super) fn ticket(&self) -> u32 {
        self.ticket
    }

    /// Whether the processor waits for a message without a deadline, and none is under way.
    pub(super) fn is_blocked(&self) -> bool {
        self.purpose.is_some() && self.wake == Time::MAX
    }

    /// Whether the processor waits for something after the end of time: a reception, or a moment.
    pub(super) fn is_at_the_end_of_time(&self) -> bool {
        let ends = |message: &Envelope| message.arrival == Time::MAX && self.want().takes(message);
        let waits = match self.purpose {
            Some(_) => self.best != NOBODY || self.ready == Time::MAX || self.inbox.iter().any(ends),
            None => self.stage == Stage::Running,
        };
        self.wake == Time::MAX && waits
    }

    /// The messages that the processor has not received.
    pub(super) fn messages(&self) -> impl Iterator<Item = &Envelope> + Clone {
        self.inbox.iter()
    }

    /// What the processor, which is `id`, is doing.
    pub(super) fn state(&self, id: usize, names: &Names) -> ProcessorState {
        let at = if self.purpose.is_some() { self.ready } else { self.wake };
        let doing = match (self.stage, self.purpose) {
            (Stage::NotStarted, _) => Doing::NotStarted,
            (Stage::Finished, _) => Doing::Finished,
            (Stage::Running | Stage::Failed, Some(_)) => {
                let requests = self.requests().and_then(|requests| requests.awaited.clone());
                let awaits = if self.wants_more { self.awaits } else { Awaits::Message };
                requests.unwrap_or_else(|| awaits.doing(self.want(), names.of(self.tag)))
            }
            (Stage::Running | Stage::Failed, None) if self.in_vain => Doing::Looking,
            (Stage::Running | Stage::Failed, None) => Doing::Running,
        };
        ProcessorState { id, at, doing }
    }
}

/// Why the run has failed, if it has: no processor will run any more.
pub(super) fn blame<'a>(seats: impl Iterator<Item = &'a Seat> + Clone, known: &Foreknown) -> Option<Cause> {
    if let Some(id) = seats.clone().position(Seat::is_at_the_end_of_time) {
        return Some(Cause::EndOfTime { id });
    }
    let waiting = seats.clone().filter(|seat| seat.is_blocked()).count();
    if waiting > 0 {
        return Some(Cause::Deadlock { waiting, of: seats.count() });
    }
    if known.faults.may_leave_messages() {
        return None;
    }
    // A message that comes twice need be received but once.
    let is_due = |seat: &'a Seat, message: &'a Envelope| {
        let id = message.letter.outside.id();
        let comes_later =
            |other: &Envelope| other.letter.outside.id() == id && other.arrival > message.arrival;
        !known.faults.twice.contains_key(&id) || seat.messages().any(comes_later)
    };
    let left = seats.enumerate().flat_map(|(to, seat)| {
        let left = seat.messages().filter(move |message| is_due(seat, message));
        left.map(move |message| (to, message))
    });
    let (to, first) = left.clone().min_by_key(|(to, message)| (message.arrival, *to))?;
    let (from, arrival) = (first.letter.outside.from as usize, first.arrival);
    let about = known.names.told(first.letter.outside.tag);
    Some(Cause::NotReceived { count: left.count(), from, to, about, arrival })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seat_fills_its_cache_lines_as_it_says() {
        assert_eq!(size_of::<Seat>(), 4 * 64);
        assert_eq!(std::mem::offset_of!(Seat, inbox) + Inbox::<Envelope>::SLOTS, 64);
    }
}
