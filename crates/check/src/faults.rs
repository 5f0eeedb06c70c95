//! Draws a few faults for each run, independently of its order.

use std::fmt;

use fastrand::Rng;
use loggp_model::message::MessageId;
use loggp_model::time::Time;
use loggp_trace::Faults;

/// A limit on lost messages, or on those that come twice, counts only up to this number, or up to the number
/// of the first run's messages if that is greater.
const MIN_MESSAGES: usize = 64;

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
        let most = messages.len().max(MIN_MESSAGES);
        let [losses, duplicates] = [self.losses, self.duplicates].map(|limit| limit.min(most));
        let crashes = self.crashes.min(P);
        // Each processor has one message for each fault that it sends only in answer to faults.
        let answers = losses + duplicates + crashes;
        let mut sent = vec![0; P];
        messages.iter().for_each(|message| sent[message.from] += 1);
        let mut dice = Rng::with_seed(!seed);
        let message = |dice: &mut Rng| {
            let drawn = dice.usize(..messages.len() + P * answers);
            messages.get(drawn).copied().unwrap_or_else(|| {
                let (from, answer) = ((drawn - messages.len()) / answers, (drawn - messages.len()) % answers);
                MessageId { from, number: sent[from] + answer }
            })
        };
        for _ in 0..dice.usize(..=losses) {
            faults.lost.insert(message(&mut dice));
        }
        for _ in 0..dice.usize(..=duplicates) {
            let later = Time::from_ps(dice.i64(1..=longest.as_ps().max(1)));
            faults.twice.insert(message(&mut dice), later);
        }
        for _ in 0..dice.usize(..=crashes) {
            let MessageId { from, number } = message(&mut dice);
            faults.crashed.insert(from, number);
        }
        faults
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

#[cfg(test)]
mod tests {
    use super::*;
    use loggp_model::time::US;

    #[test]
    fn no_run_has_more_faults_than_there_are_messages_and_processors() {
        let messages: Vec<_> = (0..100).map(|number| MessageId { from: number % 2, number }).collect();
        let all = FaultLimits { losses: usize::MAX, duplicates: usize::MAX, crashes: usize::MAX };
        for (messages, most) in [(&messages[..], 100), (&messages[..3], MIN_MESSAGES), (&[], MIN_MESSAGES)] {
            let drawn: Vec<Faults> = (0..200).map(|seed| all.draw(messages, 2, US, seed)).collect();
            let largest = |count: fn(&Faults) -> usize| drawn.iter().map(count).max().unwrap();
            let found = (largest(|faults| faults.lost.len()), largest(|faults| faults.twice.len()));
            assert!(
                (most / 2..=most).contains(&found.0) && (most / 2..=most).contains(&found.1),
                "{found:?}"
            );
            assert_eq!(largest(|faults| faults.crashed.len()), 2);
        }
    }
}
