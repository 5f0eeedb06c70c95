//! Which orders a check tries.

use super::faults::MostFaults;
use super::few_changes::{self, few_changes};
use super::late_few::{self, late_few, probability};
use super::one_end::{self, one_end};
use super::random;
use crate::machine::Order;
use crate::message::MessageId;
use crate::params::Ties;
use crate::text::names;
use crate::time::Time;

names!(Strategy:
    "mixed" Mixed "random" Random "late-few" LateFew "few-changes" FewChanges "one-end" OneEnd "ties" Ties "systematic" Systematic);

/// Which orders of messages a [check](crate::Check) tries. The first run is always that of the machine as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Strategy {
    /// The next five, one run of each in turn.
    #[default]
    Mixed,
    /// Each message is under way for any time from 0 to L, and any processor goes first.
    Random,
    /// One or two messages are under way for L, and all others arrive at once.
    LateFew,
    /// All that a processor sends is under way for L, or all arrives at once, and one to three times a processor changes
    /// from one to the other.
    FewChanges,
    /// One processor's messages are under way for L, those that it sends or those that it gets, and all others arrive at
    /// once. When each has been tried, ties are drawn too.
    OneEnd,
    /// Latencies are exact, and any processor goes first.
    Ties,
    /// All orders that differ in what a receive from anyone, a look or a wait takes.
    Systematic,
}

/// Draws orders, each by its number.
#[derive(Debug)]
pub(super) struct Drawing {
    /// How they are drawn.
    pub strategy: Strategy,
    /// The number of processors.
    pub P: usize,
    /// The same seed draws the same.
    pub seed: u64,
    /// How many faults a run has at most.
    pub faults: MostFaults,
    /// For how long a message can be under way.
    pub longest: Time,
    /// The messages of the first run.
    pub messages: Vec<MessageId>,
}

impl Drawing {
    /// The order of a run. Run 0 is that of the machine as it is.
    pub(super) fn order(&self, run: usize) -> Order {
        let (strategy, number) = Drawing::of(self.strategy, run);
        let seed = seed(self.seed, run);
        let order = match strategy {
            Strategy::LateFew => late_few(&self.messages, Drawing::few(number), seed),
            Strategy::FewChanges => few_changes(&self.messages, self.P, number, seed),
            Strategy::OneEnd if number < one_end::count(self.P) => one_end(self.P, number, Ties::Number),
            Strategy::OneEnd => one_end(self.P, number, Ties::Random { seed }),
            Strategy::Ties => random::ties(seed),
            _ => random::random(seed),
        };
        order.with_faults(self.faults.draw(&self.messages, self.P, self.longest, seed))
    }

    /// The strategy of a run, and how many runs of it there were before.
    fn of(strategy: Strategy, run: usize) -> (Strategy, usize) {
        const MIXED: [Strategy; 5] =
            [Strategy::OneEnd, Strategy::LateFew, Strategy::FewChanges, Strategy::Random, Strategy::Ties];
        let number = run - 1;
        match strategy {
            Strategy::Mixed => (MIXED[number % MIXED.len()], number / MIXED.len()),
            strategy => (strategy, number),
        }
    }

    /// How many messages are late in a run of that strategy.
    fn few(number: usize) -> usize {
        1 + number % late_few::MOST
    }

    /// How many of the first runs are of a strategy, and have such a number among its runs.
    pub(super) fn count(
        strategy: Strategy,
        runs: usize,
        of: Strategy,
        is_such: impl Fn(usize) -> bool,
    ) -> usize {
        let drawn = (1..runs).map(|run| Drawing::of(strategy, run));
        drawn.filter(|(other, number)| *other == of && is_such(*number)).count()
    }

    /// A lower bound of the probability that so many runs have one in which so many given messages of n are late; nothing if
    /// no run was to have so many.
    pub(super) fn late(strategy: Strategy, n: usize, few: usize, runs: usize) -> Option<f64> {
        let tried = Drawing::count(strategy, runs, Strategy::LateFew, |number| Drawing::few(number) == few);
        (tried > 0 && n >= few).then(|| probability(n, few, tried))
    }

    /// The same for so many given changes, where all go first at the beginning.
    pub(super) fn changes(strategy: Strategy, n: usize, few: usize, runs: usize) -> Option<f64> {
        let is_such = |number| few_changes::all_go_first(number) && few_changes::changes(number) == few;
        let tried = Drawing::count(strategy, runs, Strategy::FewChanges, is_such);
        (tried > 0 && n >= few).then(|| probability(n, few, tried))
    }
}

/// The seed of a run.
fn seed(seed: u64, run: usize) -> u64 {
    fastrand::Rng::with_seed(seed ^ (run as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)).u64(..)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Check;

    #[test]
    fn audits_see_every_strategy_of_the_mixture() {
        let strategies = |of: &mut dyn Iterator<Item = usize>| -> std::collections::HashSet<Strategy> {
            of.filter(|run| *run > 0).map(|run| Drawing::of(Strategy::Mixed, run).0).collect()
        };
        for audits in [1, 5, 50] {
            let check = Check::new().audits(audits);
            let mut audited = (0..1000).filter(|run| check.is_audited(*run));
            assert_eq!(strategies(&mut audited), strategies(&mut (0..1000)), "one of {audits}");
            assert_eq!((0..1000).filter(|run| check.is_audited(*run)).count(), 1000 / audits);
        }
    }
}
