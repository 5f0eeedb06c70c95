//! What a clock knows of a processor: its messages, and what it waits for.
//!
//! Both clocks seat their processors here, so that waiting means the same on both.

use crate::error::{Doing, ProcessorState, WantedMessage};
use crate::message::inbox::Inbox;
use crate::message::{Envelope, Letter, RawTag, Want};
use crate::params::ReceptionCost;
use crate::rules::node::{Purpose, Reception};
use crate::time::{PS, Time};

/// A processor as its clock sees it. It fills four cache lines: what it waits for, its first two messages, and what few
/// messages touch.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Seat {
    /// When it runs next, the end of time if a message must come first; and once it has ended, when it did.
    wake: Time,
    /// If it waits for a message: the tag that this must have.
    tag: RawTag,
    /// And from when on its reception can start.
    ready: Time,
    /// And the moment at which it gives up.
    deadline: Time,
    /// It has taken a message that arrived then, or looked in vain until then. What comes later arrives no earlier.
    decided: Time,
    /// If it waits for a message: whom this must come from, or [`ANYONE`].
    from: u32,
    /// And the sender of the message that it would take now, or [`NOBODY`]: it would take the first of that one's.
    best: u32,
    /// The ticket of the one entry on the agenda that counts; each wait and each change of it takes a new one.
    ticket: u32,
    /// What it does with the message, if it waits for one.
    purpose: Option<Purpose>,
    /// Whether the tag has a name.
    is_named: bool,
    /// How far its program is.
    stage: Stage,
    /// Whether it does nothing but look for messages, and has done so in vain for long.
    in_vain: bool,
    /// The messages that came for it and were not taken.
    inbox: Inbox,
    /// What errors call the tag, if it is named.
    name: Option<&'static str>,
    /// How many messages came when one that arrives later had been taken, or when it had looked in vain for longer.
    out_of_order: u32,
}

/// Stands for any sender. No processor has this number.
const ANYONE: u32 = u32::MAX;
/// Stands for no sender.
const NOBODY: u32 = u32::MAX;

/// How far a processor's program is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Stage {
    #[default]
    NotStarted,
    Running,
    /// Its program has unwound, since the run has failed.
    Failed,
    Finished,
}

impl Default for Seat {
    fn default() -> Seat {
        Seat {
            wake: Time::ZERO,
            tag: RawTag::ANY,
            ready: Time::ZERO,
            deadline: Time::ZERO,
            decided: Time::ZERO,
            from: ANYONE,
            best: NOBODY,
            ticket: 0,
            purpose: None,
            is_named: false,
            stage: Stage::NotStarted,
            in_vain: false,
            inbox: Inbox::default(),
            name: None,
            out_of_order: 0,
        }
    }
}

/// When a processor goes on if its reception takes this message; nothing if it gives up first, or has a better one, of
/// which the arrival and the sender are given.
#[inline]
fn granted(
    reception: &Reception,
    envelope: &Envelope,
    best: impl FnOnce() -> Option<(Time, u32)>,
    cost: &ReceptionCost,
) -> Option<Time> {
    let Envelope { arrival, ref letter } = *envelope;
    let Letter { from, to, words, .. } = *letter;
    reception.start(arrival)?;
    let of_others = from != to && !reception.want.tag.is_signal();
    let unseen = arrival == reception.deadline && of_others && cost.is_instant(words);
    if unseen || best().is_some_and(|best| (arrival, from) >= best) {
        return None;
    }
    Some(reception.over(arrival, letter, cost))
}

impl Seat {
    /// A seat that has room for a few messages, so that the first ones do not wait for it.
    pub fn with_room() -> Seat {
        Seat { inbox: Inbox::with_room(), ..Seat::default() }
    }

    /// The processor starts its program.
    pub fn start(&mut self) {
        self.stage = Stage::Running;
    }

    /// The processor's program has ended at `at`. Nothing wakes it any more.
    pub fn end(&mut self, at: Time, well: bool) {
        self.stage = if well { Stage::Finished } else { Stage::Failed };
        if self.purpose.is_none() {
            self.wake = at;
        }
    }

    /// The processor waits until `t`.
    #[inline]
    pub fn wait_until(&mut self, t: Time) {
        self.ticket = self.ticket.wrapping_add(1);
        self.wake = t;
        self.in_vain = false;
    }

    /// The processor has looked for messages in vain for long.
    pub fn looks_in_vain(&mut self) {
        self.in_vain = true;
    }

    /// Whether nothing more can come of it by itself: it has ended, waits for a message, or looks for one in vain; and
    /// none is under way to it.
    pub fn is_hopeless(&self) -> bool {
        let expects = || self.inbox.iter().any(|envelope| envelope.arrival > self.wake);
        self.has_finished() || self.is_blocked() || (self.in_vain && !expects())
    }

    /// Whether its program has ended.
    pub fn has_finished(&self) -> bool {
        self.stage == Stage::Finished
    }

    /// The processor waits for a message, as [`Clock::receive`](super::Clock::receive) says.
    #[inline]
    pub fn ask(&mut self, id: u32, reception: &Reception, cost: &ReceptionCost) {
        let Reception { want, ready, deadline, purpose } = *reception;
        self.ticket = self.ticket.wrapping_add(1);
        (self.tag, self.from) = (want.tag, want.from.unwrap_or(ANYONE));
        (self.ready, self.deadline, self.purpose) = (ready, deadline, Some(purpose));
        self.is_named = want.name.is_some();
        if self.is_named {
            self.name = want.name;
        }
        let first = self.inbox.first(&want);
        let mut over = first.and_then(|e| Some((granted(reception, e, || None, cost)?, e.letter.from)));
        if over.is_none() && cost.is_instant(0) && want.from.is_none() && !want.tag.is_signal() {
            // What the others send in this instant is not seen; what the processor itself has sent is.
            let own = self.inbox.first(&Want { from: Some(id), ..want });
            over = own.and_then(|e| Some((granted(reception, e, || None, cost)?, id)));
        }
        (self.wake, self.best) = over.unwrap_or((deadline, NOBODY));
    }

    /// What it waits for, if for a message.
    #[inline]
    fn reception(&self) -> Option<Reception> {
        let from = (self.from != ANYONE).then_some(self.from);
        let name = if self.is_named { self.name } else { None };
        let (want, purpose) = (Want { from, tag: self.tag, name }, self.purpose?);
        Some(Reception { want, ready: self.ready, deadline: self.deadline, purpose })
    }

    /// Puts a message into the inbox. Returns whether that changes when the processor wakes: then its old
    /// ticket counts no more.
    #[inline]
    pub fn put(&mut self, envelope: Envelope, cost: &ReceptionCost) -> bool {
        if envelope.arrival < self.decided && !envelope.letter.tag.is_signal() {
            self.out_of_order += 1;
        }
        // Whether it waits for the end of a reception or gives up then: what arrives later is too late.
        let wake = match &self.reception() {
            Some(reception) if envelope.arrival <= self.wake && reception.want.matches(&envelope.letter) => {
                granted(reception, &envelope, || self.best(), cost)
            }
            _ => None,
        };
        self.in_vain = false;
        if let Some(wake) = wake {
            (self.wake, self.best) = (wake, envelope.letter.from);
            self.ticket = self.ticket.wrapping_add(1);
        }
        self.inbox.put(envelope);
        wake.is_some()
    }

    /// The arrival and the sender of the message that it would take now. What others sent in the same instant may not
    /// have been seen, so it is the best one of its sender.
    #[inline]
    fn best(&mut self) -> Option<(Time, u32)> {
        if self.best == NOBODY {
            return None;
        }
        let want = Want { from: Some(self.best), tag: self.tag, name: None };
        self.inbox.first(&want).map(|envelope| (envelope.arrival, self.best))
    }

    /// The processor has woken from what it asked: the message that it got, if any.
    #[inline]
    pub fn answer(&mut self) -> Option<Envelope> {
        let purpose = self.purpose.take()?;
        if self.best == NOBODY {
            self.decides(self.deadline);
            return None;
        }
        let want = Want { from: Some(self.best), tag: self.tag, name: None };
        if purpose == Purpose::Look {
            let seen = self.inbox.first(&want).map(Envelope::outside)?;
            self.decides(seen.arrival);
            return Some(seen);
        }
        let got = self.inbox.take(&want);
        if let Some(envelope) = &got {
            self.decides(envelope.arrival);
        }
        got
    }

    /// It has taken a message that arrived then, or looked in vain until then. Signals say nothing of other messages.
    #[inline]
    fn decides(&mut self, until: Time) {
        if !self.tag.is_signal() {
            self.decided = self.decided.max(until);
        }
    }

    /// If it waits for a message: by when everything must be known that arrives, so that it takes the right one. Signals
    /// have one sender and one meaning. And if there are only two processors, whose messages arrive as they are sent,
    /// nothing can come before one that is there.
    #[inline]
    pub fn known_until(&mut self, one_of_a_pair: Option<u32>) -> Option<Time> {
        self.purpose?;
        let best = self.best();
        let of_the_other = one_of_a_pair.is_some_and(|id| best.is_some_and(|(_, from)| from != id));
        if self.tag.is_signal() || of_the_other {
            return Some(-PS);
        }
        Some(best.map_or(self.deadline, |(arrival, _)| arrival))
    }

    /// Whether it waits for a message and has one of another processor than `id`, which sits here. If it is one of a pair
    /// whose messages arrive as they are sent, it will take that one.
    #[inline]
    pub fn is_certain(&self, id: u32) -> bool {
        self.purpose.is_some() && self.best != NOBODY && self.best != id
    }

    /// How many messages came after one had been taken that arrived later, or after a look in vain.
    pub fn out_of_order(&self) -> u64 {
        self.out_of_order.into()
    }

    /// When the processor runs next.
    pub fn wake(&self) -> Time {
        let has_ended = matches!(self.stage, Stage::Finished | Stage::Failed);
        if has_ended { Time::MAX } else { self.wake }
    }

    /// The ticket that an entry on the agenda must show.
    pub fn ticket(&self) -> u32 {
        self.ticket
    }

    /// Whether it waits for a message and for no time.
    pub fn is_blocked(&self) -> bool {
        self.purpose.is_some() && self.wake == Time::MAX
    }

    /// Whether it waits for what comes after the end of time: a reception of which it knows, or a moment.
    pub fn is_at_the_end_of_time(&self) -> bool {
        let waits = match self.reception() {
            Some(Reception { want, ready, .. }) => {
                let ends = |e: &Envelope| e.arrival == Time::MAX && want.matches(&e.letter);
                self.best != NOBODY || ready == Time::MAX || self.inbox.iter().any(ends)
            }
            None => self.stage == Stage::Running,
        };
        self.wake == Time::MAX && waits
    }

    /// The messages that it has not received.
    pub fn messages(&self) -> impl Iterator<Item = &Envelope> + Clone {
        self.inbox.iter()
    }

    /// What processor `id`, which sits here, is doing.
    pub fn state(&self, id: usize) -> ProcessorState {
        let waits_for = self.reception();
        let at = waits_for.map_or(self.wake, |reception| reception.ready);
        let doing = match (self.stage, waits_for) {
            (Stage::NotStarted, _) => Doing::NotStarted,
            (Stage::Finished, _) => Doing::Finished,
            (Stage::Running | Stage::Failed, Some(reception)) => {
                Doing::WaitingFor(WantedMessage(reception.want))
            }
            (Stage::Running | Stage::Failed, None) if self.in_vain => Doing::Looking,
            (Stage::Running | Stage::Failed, None) => Doing::Running,
        };
        ProcessorState { id, at, doing }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seat_fills_its_cache_lines_as_it_says() {
        assert_eq!(size_of::<Seat>(), 4 * 64);
        assert_eq!(std::mem::offset_of!(Seat, inbox) + Inbox::SLOTS, 64);
    }
}
