//! Draws a few faults for each run, independently of its order.

use std::fmt;

use fastrand::Rng;

use crate::message::MessageId;
use crate::time::Time;
use crate::trace::Faults;

/// The most faults of each kind in one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FaultLimits {
    pub losses: usize,
    pub duplicates: usize,
    pub crashes: usize,
}

impl FaultLimits {
    /// Returns whether runs have no faults.
    pub(super) fn is_none(self) -> bool {
        self == FaultLimits::default()
    }

    /// Draws the faults of a run: of each kind a number from 0 to the limit, uniformly. `messages` are those
    /// of a run without faults, and none of them is under way for longer than `longest`.
    pub(super) fn draw(self, messages: &[MessageId], P: usize, longest: Time, seed: u64) -> Faults {
        let mut faults = Faults::default();
        if self.is_none() {
            return faults;
        }
        let mut dice = Rng::with_seed(!seed);
        for _ in 0..dice.usize(..=self.losses) {
            faults.lost.insert(self.draw_message(messages, P, &mut dice));
        }
        for _ in 0..dice.usize(..=self.duplicates) {
            let later = Time::from_ps(dice.i64(1..=longest.as_ps().max(1)));
            faults.twice.insert(self.draw_message(messages, P, &mut dice), later);
        }
        for _ in 0..dice.usize(..=self.crashes) {
            let MessageId { from, number } = self.draw_message(messages, P, &mut dice);
            faults.crashed.insert(from, number);
        }
        faults
    }

    /// Draws one of these messages, or one that a processor sends only in answer to faults: each processor
    /// has one such message for each fault.
    fn draw_message(self, messages: &[MessageId], P: usize, dice: &mut Rng) -> MessageId {
        let answers = self.losses + self.duplicates + self.crashes;
        let drawn = dice.usize(..messages.len() + P * answers);
        messages.get(drawn).copied().unwrap_or_else(|| {
            let (from, answer) = ((drawn - messages.len()) / answers, (drawn - messages.len()) % answers);
            let sent = messages.iter().filter(|message| message.from == from).count();
            MessageId { from, number: sent + answer }
        })
    }
}

impl fmt::Display for FaultLimits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FaultLimits { losses, duplicates, crashes } = *self;
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
