//! Faults of which each run draws a few, whatever its order.

use std::fmt;

use fastrand::Rng;

use crate::message::MessageId;
use crate::time::Time;
use crate::trace::Faults;

/// How many faults a run has at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct MostFaults {
    /// So many messages are lost.
    pub losses: usize,
    /// So many messages come twice.
    pub duplicates: usize,
    /// So many processors crash.
    pub crashes: usize,
}

impl MostFaults {
    /// Returns whether no run has any.
    pub(super) fn is_none(self) -> bool {
        self == MostFaults::default()
    }

    /// Draws those of a run: as many as there may be or fewer, each number as often. `messages` are those of a run without, and
    /// none is under way for more than `longest`.
    pub(super) fn draw(self, messages: &[MessageId], P: usize, longest: Time, seed: u64) -> Faults {
        let mut faults = Faults::default();
        if self.is_none() {
            return faults;
        }
        let mut dice = Rng::with_seed(!seed);
        for _ in 0..dice.usize(..=self.losses) {
            faults.lost.insert(self.message(messages, P, &mut dice));
        }
        for _ in 0..dice.usize(..=self.duplicates) {
            let later = Time::from_ps(dice.i64(1..=longest.as_ps().max(1)));
            faults.twice.insert(self.message(messages, P, &mut dice), later);
        }
        for _ in 0..dice.usize(..=self.crashes) {
            let MessageId { from, number } = self.message(messages, P, &mut dice);
            faults.crashed.insert(from, number);
        }
        faults
    }

    /// Draws a message: one of these, or one of those that a processor sends only in answer to faults, one for each.
    fn message(self, messages: &[MessageId], P: usize, dice: &mut Rng) -> MessageId {
        let answers = self.losses + self.duplicates + self.crashes;
        let drawn = dice.usize(..messages.len() + P * answers);
        messages.get(drawn).copied().unwrap_or_else(|| {
            let (from, answer) = ((drawn - messages.len()) / answers, (drawn - messages.len()) % answers);
            let sent = messages.iter().filter(|message| message.from == from).count();
            MessageId { from, number: sent + answer }
        })
    }
}

impl fmt::Display for MostFaults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MostFaults { losses, duplicates, crashes } = *self;
        let said = [
            (losses, "message", "lost"),
            (duplicates, "message", "twice"),
            (crashes, "processor", "crashed"),
        ];
        let said = said.into_iter().filter(|(most, ..)| *most > 0);
        for (place, (most, what, fate)) in said.enumerate() {
            let (begin, s) = (if place == 0 { "at most" } else { "and" }, if most == 1 { "" } else { "s" });
            write!(f, ", {begin} {most} {what}{s} {fate}")?;
        }
        Ok(())
    }
}
