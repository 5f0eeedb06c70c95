//! What a clock knows of a processor: its messages, and what it waits for.
//!
//! Both clocks seat their processors here, so that waiting means the same on both.

use crate::error::{Doing, ProcessorState, WantedMessage};
use crate::inbox::Inbox;
use crate::message::{Envelope, Letter, Want};
use crate::network::ReceptionCost;
use crate::node::{Purpose, Reception};
use crate::time::{PS, Time};

/// A processor as its clock sees it. What every message touches comes first.
#[derive(Debug, Default)]
#[repr(C)]
pub(super) struct Seat {
    /// The messages that came for it and were not taken.
    inbox: Inbox,
    /// What it waits for, if for a message.
    waits_for: Option<Wish>,
    /// When it runs next, the end of time if a message must come first; and once it has ended, when it did.
    wake: Time,
    /// The ticket of the one entry on the agenda that counts; each wait and each change of it takes a new one.
    ticket: u32,
    /// How many messages came when one that arrives later had been taken, or when it had looked in vain for longer.
    out_of_order: u32,
    /// It has taken a message that arrived then, or looked in vain until then. What comes later arrives no earlier.
    decided: Time,
    /// How far its program is.
    stage: Stage,
    /// Whether it does nothing but look for messages, and has done so in vain for long.
    in_vain: bool,
}

/// A receive that waits.
#[derive(Clone, Copy, Debug)]
struct Wish {
    /// Which message it takes, and when.
    reception: Reception,
    /// The arrival and the sender of the message that it would take now; the end of time if there is none.
    best: (Time, u32),
}

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

impl Wish {
    /// When the processor goes on if it takes this message; nothing if it has a better one or gives up first.
    #[inline]
    fn granted_by(&mut self, envelope: &Envelope, cost: &ReceptionCost) -> Option<Time> {
        let Envelope { arrival, ref letter } = *envelope;
        let Letter { from, to, words, .. } = *letter;
        self.reception.start(arrival)?;
        let instant = cost.is_instant(words) && !self.reception.want.tag.is_signal();
        let unseen = arrival == self.reception.deadline && from != to && instant;
        let key = (arrival, from);
        if unseen || key >= self.best {
            return None;
        }
        self.best = key;
        Some(self.reception.over(arrival, letter, cost))
    }
}

impl Seat {
    /// The processor starts its program.
    pub fn start(&mut self) {
        self.stage = Stage::Running;
    }

    /// The processor's program has ended at `at`. Nothing wakes it any more.
    pub fn end(&mut self, at: Time, well: bool) {
        self.stage = if well { Stage::Finished } else { Stage::Failed };
        if self.waits_for.is_none() {
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
    pub fn ask(&mut self, id: u32, reception: Reception, cost: &ReceptionCost) {
        let Reception { want, deadline, .. } = reception;
        let mut wish = Wish { reception, best: (Time::MAX, 0) };
        self.ticket = self.ticket.wrapping_add(1);
        let mut over = self.inbox.first(&want).and_then(|envelope| wish.granted_by(envelope, cost));
        if over.is_none() && !want.tag.is_signal() && cost.is_instant(0) {
            // What the others send in this instant is not seen; what the processor itself has sent is.
            let own = Want { from: Some(id), ..want };
            let own = if want.from.is_none() { self.inbox.first(&own) } else { None };
            over = own.and_then(|envelope| wish.granted_by(envelope, cost));
        }
        self.wake = over.unwrap_or(deadline);
        self.waits_for = Some(wish);
    }

    /// Puts a message into the inbox. Returns whether that changes when the processor wakes: then its old
    /// ticket counts no more.
    #[inline]
    pub fn put(&mut self, envelope: Envelope, cost: &ReceptionCost) -> bool {
        if envelope.arrival < self.decided && !envelope.letter.tag.is_signal() {
            self.out_of_order += 1;
        }
        let wake = match &mut self.waits_for {
            Some(wish) if wish.reception.want.matches(&envelope.letter) => wish.granted_by(&envelope, cost),
            _ => None,
        };
        self.inbox.put(envelope);
        self.in_vain = false;
        if let Some(wake) = wake {
            self.wake = wake;
            self.ticket = self.ticket.wrapping_add(1);
        }
        wake.is_some()
    }

    /// The processor has woken from what it asked: the message that it got, if any.
    #[inline]
    pub fn answer(&mut self) -> Option<Envelope> {
        let Wish { reception: Reception { want, deadline, purpose, .. }, best } = self.waits_for.take()?;
        if !want.tag.is_signal() {
            self.decided = self.decided.max(best.0.min(deadline));
        }
        if best.0 == Time::MAX {
            return None;
        }
        // The best one of its sender: what others sent in the same instant may not have been seen.
        let want = Want { from: Some(best.1), ..want };
        match purpose {
            Purpose::Look => self.inbox.first(&want).map(Envelope::outside),
            Purpose::Take | Purpose::Fetch => self.inbox.take(&want),
        }
    }

    /// If it waits for a message: by when everything must be known that arrives, so that it takes the right one. Signals
    /// have one sender and one meaning. And if there are only two processors, whose messages arrive as they are sent,
    /// nothing can come before one that is there.
    #[inline]
    pub fn known_until(&self, one_of_a_pair: Option<u32>) -> Option<Time> {
        let &Wish { reception: Reception { want, deadline, .. }, best: (arrival, from) } =
            self.waits_for.as_ref()?;
        let of_the_other = one_of_a_pair.is_some_and(|id| id != from) && arrival < Time::MAX;
        if want.tag.is_signal() || of_the_other { Some(-PS) } else { Some(arrival.min(deadline)) }
    }

    /// Whether it waits for a message and has one of another processor than `id`, which sits here. If it is one of a pair
    /// whose messages arrive as they are sent, it will take that one.
    #[inline]
    pub fn is_certain(&self, id: u32) -> bool {
        self.waits_for.as_ref().is_some_and(|wish| wish.best.0 < Time::MAX && wish.best.1 != id)
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
        self.waits_for.is_some() && self.wake == Time::MAX
    }

    /// Whether it waits for what comes after the end of time: a reception of which it knows, or a moment.
    pub fn is_at_the_end_of_time(&self) -> bool {
        let granted = self.waits_for.is_some_and(|wish| wish.best.0 < Time::MAX);
        let ends = |e: &Envelope| e.arrival == Time::MAX;
        let arrives =
            |wish: &Wish| self.inbox.iter().any(|e| wish.reception.want.matches(&e.letter) && ends(e));
        let late =
            self.waits_for.as_ref().is_some_and(|wish| wish.reception.ready == Time::MAX || arrives(wish));
        let waits = self.stage == Stage::Running && self.waits_for.is_none();
        self.wake == Time::MAX && (granted || late || waits)
    }

    /// The messages that it has not received.
    pub fn messages(&self) -> impl Iterator<Item = &Envelope> + Clone {
        self.inbox.iter()
    }

    /// What processor `id`, which sits here, is doing.
    pub fn state(&self, id: usize) -> ProcessorState {
        let doing = match (self.stage, self.waits_for) {
            (Stage::NotStarted, _) => Doing::NotStarted,
            (Stage::Finished, _) => Doing::Finished,
            (Stage::Running | Stage::Failed, Some(wish)) => {
                Doing::WaitingFor(WantedMessage(wish.reception.want))
            }
            (Stage::Running | Stage::Failed, None) if self.in_vain => Doing::Looking,
            (Stage::Running | Stage::Failed, None) => Doing::Running,
        };
        ProcessorState { id, at: self.waits_for.map_or(self.wake, |wish| wish.reception.ready), doing }
    }
}
