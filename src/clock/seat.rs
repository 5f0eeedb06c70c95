//! A processor's seat at its clock: its inbox, and the wait for a message or a time. All clocks use it, so
//! that waiting means the same on each.

use loggp_model::error::{Cause, ProcStatus, ProcessorState};
use loggp_model::message::matching::{Inbox, first_pair};
use loggp_model::message::parcel::Parcel;
use loggp_model::message::{
    ArrivedHeader, ArrivedMessage, Header, MatchKey, Matchable, RawTag, RecvFilter, SentMessage, TagNames,
};
use loggp_model::params::{PerLevel, ReceptionCost};
use loggp_model::prefetch::prefetch_lines;
use loggp_model::rules::message_wait::{MessageWait, PostedReceives, Purpose, WaitReason};
use loggp_model::time::{PS, Time};

use super::run_info::RunInfo;

/// A processor as its clock sees it. It fills four cache lines: one for what the processor waits for, two for
/// its first two messages, and one for rarely used fields.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Seat {
    /// The time at which the processor runs next: the end of time if a message must arrive first. After the
    /// program's end, the time of the end.
    wake_time: Time,
    /// The tag of the messages that its call receives, while it waits for one.
    tag: RawTag,
    /// The earliest time at which the processor takes a message, while it waits for one.
    earliest: Time,
    /// The end of the wait for a message, while there is such a wait.
    deadline: Time,
    /// The latest arrival of a message that the processor has taken, or the latest end of a poll that found
    /// nothing. Messages with an earlier arrival should have been delivered by now.
    decided_until: Time,
    /// The sender of the messages that the processor's call receives, or [`RecvFilter::ANY_SENDER`].
    from: u32,
    /// The sender whose first message the processor would take now, or [`NO_SENDER`].
    best: u32,
    /// The ticket of its one entry on the agenda that is up to date. A wait that begins or changes takes a
    /// new ticket.
    ticket: u32,
    /// The purpose of the wait for a message, if there is such a wait.
    purpose: Option<Purpose>,
    program: ProgramState,
    /// True after 2^20 polls in a row that found nothing.
    looks_in_vain: bool,
    /// True if the processor waits for more than its call's message: for requests, or for a grant. Else
    /// `requests` and `wait_reason` are not read.
    wants_more: bool,
    /// The messages that were delivered to the processor and not taken.
    inbox: Inbox<ArrivedMessage>,
    /// The receives of the processor's requests, while it waits. The requests were posted before the call's
    /// receive.
    requests: Option<Box<PostedReceives>>,
    /// The reason of its wait, for errors.
    wait_reason: WaitReason,
    /// The number of messages that were delivered too late: they arrive before
    /// [`decided_until`](Seat::decided_until).
    out_of_order: u32,
}

/// Stands for no sender.
const NO_SENDER: u32 = u32::MAX;

/// The state of a processor's program.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum ProgramState {
    #[default]
    NotStarted,
    Running,
    /// The program has unwound because the run has failed.
    Failed,
    Finished,
}

impl Default for Seat {
    fn default() -> Seat {
        Seat {
            wake_time: Time::ZERO,
            tag: RawTag::NOTHING,
            earliest: Time::ZERO,
            deadline: Time::ZERO,
            decided_until: Time::ZERO,
            from: RecvFilter::ANY_SENDER,
            best: NO_SENDER,
            ticket: 0,
            purpose: None,
            program: ProgramState::NotStarted,
            looks_in_vain: false,
            wants_more: false,
            inbox: Inbox::default(),
            requests: None,
            wait_reason: WaitReason::Message,
            out_of_order: 0,
        }
    }
}

impl Seat {
    /// Makes a seat with room for a few messages, so that nothing is allocated when they are delivered.
    pub(super) fn with_room() -> Seat {
        Seat { inbox: Inbox::with_overflow_buffer(), ..Seat::default() }
    }

    /// Prefetches the part that a message touches.
    #[inline]
    pub(super) fn prefetch(&self) {
        prefetch_lines((&raw const *self).addr(), 3);
    }

    pub(super) fn start(&mut self) {
        self.program = ProgramState::Running;
    }

    /// Notes that the processor's program has ended at `at`. Nothing wakes it any more.
    pub(super) fn end(&mut self, at: Time, well: bool) {
        self.program = if well { ProgramState::Finished } else { ProgramState::Failed };
        if self.purpose.is_none() {
            self.wake_time = at;
        }
    }

    /// Makes the processor wait until `t`.
    #[inline]
    pub(super) fn wait_until(&mut self, t: Time) {
        self.ticket = self.ticket.wrapping_add(1);
        self.wake_time = t;
        self.looks_in_vain = false;
    }

    /// Notes that 2^20 polls in a row have found nothing.
    pub(super) fn mark_vain_looks(&mut self) {
        self.looks_in_vain = true;
    }

    /// Returns whether the processor can do nothing more by itself: it has ended, waits for a message, or polls
    /// in vain while no message is under way to the processor.
    pub(super) fn is_hopeless(&self) -> bool {
        let expects = || self.inbox.iter().any(|message| message.arrival > self.wake_time);
        self.has_finished() || self.is_blocked() || (self.looks_in_vain && !expects())
    }

    pub(super) fn has_finished(&self) -> bool {
        self.program == ProgramState::Finished
    }

    /// Starts the wait for a message of [`Clock::receive`](super::Clock::receive). Returns the time at which
    /// the processor runs next.
    #[inline(always)]
    pub(super) fn start_wait(&mut self, wait: &mut MessageWait, cost: &PerLevel<ReceptionCost>) -> Time {
        self.ticket = self.ticket.wrapping_add(1);
        RecvFilter { from: self.from, tag: self.tag } = wait.filter;
        (self.earliest, self.deadline, self.purpose) = (wait.earliest, wait.deadline, Some(wait.purpose));
        self.wants_more = wait.posted_receives.is_some() || wait.wait_reason != WaitReason::Message;
        if self.wants_more {
            self.swap_requests(wait);
        }
        (self.wake_time, self.best) = (self.deadline, NO_SENDER);
        if self.earliest > self.deadline {
            return self.wake_time;
        }
        let first = self.first_visible(self.call_filter(), cost);
        if let Some((key, wake_time)) = first {
            (self.wake_time, self.best) = (wake_time, key.1);
        }
        if self.wants_more {
            self.choose_request(first.map(|(key, _)| key));
        }
        self.wake_time
    }

    /// Takes the receives of the processor's requests from `wait`, or gives them back, and notes the
    /// reason of the wait.
    #[cold]
    fn swap_requests(&mut self, wait: &mut MessageWait) {
        if let Some(requests) = &mut wait.posted_receives {
            std::mem::swap(&mut self.requests, requests);
        }
        self.wait_reason = wait.wait_reason;
    }

    #[inline]
    fn requests(&self) -> Option<&PostedReceives> {
        if self.wants_more { self.requests.as_deref() } else { None }
    }

    #[inline]
    fn requests_mut(&mut self) -> Option<&mut PostedReceives> {
        if self.wants_more { self.requests.as_deref_mut() } else { None }
    }

    /// Chooses the first message for one of the requests, if it arrives no later than the call's.
    #[cold]
    fn choose_request(&mut self, first: Option<MatchKey>) {
        let Some(requests) = &mut self.requests else { return };
        if let Some((key, receive)) = first_pair(&mut self.inbox, &mut requests.queue, self.deadline)
            && first.is_none_or(|first| key <= first)
        {
            (self.wake_time, self.best) = (self.earliest.max(key.0), key.1);
            requests.chosen = Some(receive);
        }
    }

    /// Returns the filter of the processor's call.
    #[inline(always)]
    fn call_filter(&self) -> RecvFilter {
        RecvFilter { from: self.from, tag: self.tag }
    }

    /// Returns the first message that the filter takes, if it arrives in time and the receive sees it, and
    /// the end of its reception.
    #[inline(always)]
    fn first_visible(
        &mut self,
        filter: RecvFilter,
        cost: &PerLevel<ReceptionCost>,
    ) -> Option<(MatchKey, Time)> {
        let (message, purpose) = (self.inbox.first(filter)?, self.purpose?);
        let key = message.key();
        if key.0 > self.deadline {
            return None;
        }
        if !purpose.can_see(message.arrived_header(), self.deadline) {
            // Taken apart, so that the usual one need not lie in memory.
            let (key, end) = self.first_visible_behind(filter, purpose, cost)?;
            return Some((key, end));
        }
        Some((key, purpose.end(message.arrived_header(), self.earliest, cost)))
    }

    /// Like [`first_visible`](Seat::first_visible), where the receive does not see the first message. It may
    /// see another one that arrives at the same time: one that has taken time, or that the processor has sent
    /// to itself.
    #[cold]
    fn first_visible_behind(
        &self,
        filter: RecvFilter,
        purpose: Purpose,
        cost: &PerLevel<ReceptionCost>,
    ) -> Option<(MatchKey, Time)> {
        let is_there = |message: &&ArrivedMessage| {
            let in_time =
                message.arrival <= self.deadline && purpose.can_see(message.arrived_header(), self.deadline);
            in_time && filter.can_take(*message)
        };
        let first = self.inbox.iter().filter(is_there).min_by_key(|message| message.key())?;
        Some((first.key(), purpose.end(first.arrived_header(), self.earliest, cost)))
    }

    /// Puts a message into the inbox. Returns the processor's new wake time if the message changes it, which
    /// makes the old entry on the agenda out of date, and else `None`.
    #[inline(always)]
    pub(super) fn put(
        &mut self,
        arrived: ArrivedHeader,
        parcel: Parcel,
        cost: &PerLevel<ReceptionCost>,
    ) -> Option<Time> {
        let (arrival, header) = arrived;
        if arrival < self.decided_until && !header.tag.is_signal() {
            self.out_of_order += 1;
        }
        self.looks_in_vain = false;
        // A message that arrives after `wake_time` changes nothing: the processor takes another one then, or
        // gives up.
        let waits = arrival <= self.wake_time && self.earliest <= self.deadline;
        let mut woken = None;
        if waits
            && let Some(purpose) = self.purpose
            && self.is_better(purpose, arrived)
        {
            self.wake_time = purpose.end(arrived, self.earliest, cost);
            self.best = header.from;
            self.ticket = self.ticket.wrapping_add(1);
            woken = Some(self.wake_time);
        }
        self.inbox
            .put_with(arrived.key(), || ArrivedMessage { arrival, message: SentMessage { header, parcel } });
        woken
    }

    /// Returns whether the processor takes this message rather than the one that it would have taken.
    #[inline(always)]
    fn is_better(&mut self, purpose: Purpose, arrived: ArrivedHeader) -> bool {
        let receive = self.requests_mut().and_then(|requests| requests.queue.first(&arrived));
        let wants = || self.call_filter().can_take(&arrived) && purpose.can_see(arrived, self.deadline);
        if arrived.0 > self.deadline || !(receive.is_some() || wants()) {
            return false;
        }
        let is_better = self.best().is_none_or(|best| arrived.key() < best);
        if is_better && let Some(requests) = self.requests_mut() {
            requests.chosen = receive;
        }
        is_better
    }

    /// Returns the message that the processor would take now. It is looked up by its sender, because the
    /// processor may not see a message of another sender in the same instant.
    #[inline(always)]
    fn best(&mut self) -> Option<MatchKey> {
        if self.best == NO_SENDER {
            return None;
        }
        self.inbox.first(self.best_filter()).map(Matchable::key)
    }

    /// Returns the filter that finds that message.
    #[inline(always)]
    fn best_filter(&self) -> RecvFilter {
        let chosen = self.requests().and_then(|requests| requests.chosen);
        RecvFilter { from: self.best, tag: chosen.map_or(self.tag, |receive| receive.filter.tag) }
    }

    /// Ends the processor's wait for a message: puts the message into `got`, if there is one, and gives its
    /// requests' receives back.
    #[inline(always)]
    pub(super) fn finish_wait(&mut self, wait: &mut MessageWait, got: &mut Option<ArrivedMessage>) {
        let Some(purpose) = self.purpose.take() else { return };
        let best = self.best_filter();
        if self.wants_more {
            self.swap_requests(wait);
        }
        if self.best == NO_SENDER {
            return self.advance_decided(self.deadline);
        }
        match purpose {
            Purpose::Look => *got = self.inbox.first(best).map(ArrivedMessage::without_payload),
            _ => self.inbox.take_into(best, got),
        }
        if let Some(got) = got {
            self.advance_decided(got.arrival);
        }
    }

    /// Notes that the processor has taken a message that arrived at `until`, or polled in vain until then.
    /// Signals do not count.
    #[inline]
    fn advance_decided(&mut self, until: Time) {
        if !self.tag.is_signal() {
            self.decided_until = self.decided_until.max(until);
        }
    }

    /// Returns the time t such that the processor may go on once every message with arrival <= t has been
    /// delivered. `None`: it waits for no message, or needs its turn instead.
    ///
    /// A signal is always the right message, so nothing need be known; but while requests go on, a signal may
    /// be sent any time before its arrival. The processor needs its turn where signals are acts, and where one of
    /// its requests waits for the signal that there is room.
    #[inline]
    pub(super) fn known_until(&mut self, signals_are_acts: bool) -> Option<Time> {
        self.purpose?;
        match self.tag.is_signal() {
            _ if self.requests().is_some_and(|requests| requests.awaits_room) => None,
            true if signals_are_acts || self.requests().is_some() || self.deadline < Time::MAX => None,
            true => Some(-PS),
            false => Some(self.best().map_or(self.deadline, |(arrival, ..)| arrival)),
        }
    }

    /// Returns whether the processor, which is `id` and one of an instant pair, certainly takes a message of the
    /// other one next. While it waits for a signal too, that may be sent any time before its arrival.
    #[inline]
    pub(super) fn takes_from_other(&self, id: u32) -> bool {
        self.purpose.is_some() && self.best != NO_SENDER && self.best != id && !self.tag.is_signal()
    }

    /// Returns whether a message of an instant pair may matter to what the processor does next. A message that
    /// was sent after that must not be seen yet.
    #[inline]
    pub(super) fn needs(&self, (arrival, header): (Time, &Header)) -> bool {
        let id = header.to.id();
        let is_earlier = || (arrival, header.from) < (self.wake_time(), id);
        !header.to.is_instant() || !self.takes_from_other(id) && is_earlier()
    }

    /// Returns the number of messages that were delivered after the processor had taken a later one, or had
    /// polled in vain.
    pub(super) fn out_of_order(&self) -> u64 {
        self.out_of_order.into()
    }

    /// Returns the time at which the processor runs next, or the end of time if it never does.
    pub(super) fn wake_time(&self) -> Time {
        let has_ended = matches!(self.program, ProgramState::Finished | ProgramState::Failed);
        if has_ended { Time::MAX } else { self.wake_time }
    }

    /// Returns the ticket of the entry on the agenda that is up to date.
    pub(super) fn ticket(&self) -> u32 {
        self.ticket
    }

    /// Returns whether the processor waits for a message without a deadline, and none is under way.
    pub(super) fn is_blocked(&self) -> bool {
        self.purpose.is_some() && self.wake_time == Time::MAX
    }

    /// Returns whether the processor waits for a reception or a moment at the end of time.
    pub(super) fn is_waiting_for_end_of_time(&self) -> bool {
        let ends =
            |message: &ArrivedMessage| message.arrival == Time::MAX && self.call_filter().can_take(message);
        let waits = match self.purpose {
            Some(_) => self.best != NO_SENDER || self.earliest == Time::MAX || self.inbox.iter().any(ends),
            None => self.program == ProgramState::Running,
        };
        self.wake_time == Time::MAX && waits
    }

    /// Returns the messages that the processor has not received.
    pub(super) fn messages(&self) -> impl Iterator<Item = &ArrivedMessage> + Clone {
        self.inbox.iter()
    }

    /// Returns what the processor, whose number is `id`, is doing.
    pub(super) fn state(&self, id: usize, names: &TagNames) -> ProcessorState {
        let at = if self.purpose.is_some() { self.earliest } else { self.wake_time };
        let status = match (self.program, self.purpose) {
            (ProgramState::NotStarted, _) => ProcStatus::NotStarted,
            (ProgramState::Finished, _) => ProcStatus::Finished,
            (ProgramState::Running | ProgramState::Failed, Some(_)) => {
                let requests = self.requests().and_then(|requests| requests.status.clone());
                let wait_reason = if self.wants_more { self.wait_reason } else { WaitReason::Message };
                requests.unwrap_or_else(|| wait_reason.status(self.call_filter(), names.name(self.tag)))
            }
            (ProgramState::Running | ProgramState::Failed, None) if self.looks_in_vain => ProcStatus::Looking,
            (ProgramState::Running | ProgramState::Failed, None) => ProcStatus::Running,
        };
        ProcessorState { id, at, status, place: None }
    }
}

/// Returns the cause of a run's failure once no processor will run any more, or `None` if the run has
/// succeeded.
pub(super) fn failure_cause<'a>(
    seats: impl Iterator<Item = &'a Seat> + Clone,
    run_info: &RunInfo,
) -> Option<Cause> {
    if let Some(id) = seats.clone().position(Seat::is_waiting_for_end_of_time) {
        return Some(Cause::EndOfTime { id });
    }
    let waiting = seats.clone().filter(|seat| seat.is_blocked()).count();
    if waiting > 0 {
        return Some(Cause::Deadlock { waiting, of: seats.count() });
    }
    if run_info.faults.may_leave_messages() || run_info.end.may_leave_messages {
        return None;
    }
    // A duplicated message needs to be received only once.
    let is_due = |seat: &'a Seat, message: &'a ArrivedMessage| {
        let id = message.message.header.id();
        let comes_later =
            |other: &ArrivedMessage| other.message.header.id() == id && other.arrival > message.arrival;
        !run_info.faults.twice.contains_key(&id) || seat.messages().any(comes_later)
    };
    let left = seats.enumerate().flat_map(|(to, seat)| {
        let left = seat.messages().filter(move |message| is_due(seat, message));
        left.map(move |message| (to, message))
    });
    let (to, first) = left.clone().min_by_key(|(to, message)| (message.arrival, *to))?;
    let (from, arrival) = (first.message.header.from as usize, first.arrival);
    let about = run_info.tag_names.describe(first.message.header.tag);
    Some(Cause::NotReceived { count: left.count(), from, to, about, arrival })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seat_fills_four_cache_lines() {
        assert_eq!(size_of::<Seat>(), 4 * 64);
        assert_eq!(std::mem::offset_of!(Seat, inbox) + Inbox::<ArrivedMessage>::SLOTS, 64);
    }
}
