//! The strategies by which a check chooses orders.

use loggp_model::message::MessageId;
use loggp_model::params::Ties;
use loggp_model::text::names;
use loggp_model::time::Time;
use loggp_trace::Order;

use super::faults::FaultLimits;
use super::few_changes::{self, few_changes};
use super::late_few::{self, late_few, probability};
use super::one_end::{self, one_end};
use super::random;

names!(Strategy:
    "mixed" Mixed "random" Random "late-few" LateFew "few-changes" FewChanges "one-end" OneEnd "ties" Ties "systematic" Systematic);

/// A choice of the orders that a [check](crate::Check) tries. The first run always has the machine's
/// own order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Strategy {
    /// The next five strategies, one run of each in turn.
    #[default]
    Mixed,
    /// Each message is under way for a random time from 0 to L, and any processor goes first.
    Random,
    /// One or two messages are under way for L, and all others arrive at once.
    LateFew,
    /// All that a processor sends is under way for L, or all arrives at once, and one to three times a
    /// processor changes from one to the other.
    FewChanges,
    /// All messages from one processor, or all to it, are under way for L, and all others arrive at once.
    /// After each has been tried, ties are drawn too.
    OneEnd,
    /// Latencies are exact, and any processor goes first.
    Ties,
    /// All orders that differ in what a receive from anyone, a look or a wait takes.
    Systematic,
}

/// Generates the order of each run of a check.
#[derive(Debug)]
pub(super) struct OrderGenerator {
    pub strategy: Strategy,
    pub P: usize,
    pub seed: u64,
    pub faults: FaultLimits,
    /// The longest time for which a message can be under way.
    pub longest: Time,
    /// The messages of the first run.
    pub messages: Vec<MessageId>,
}

impl OrderGenerator {
    /// Returns the order of a run other than run 0, which has the machine's own order.
    pub(super) fn order(&self, run: usize) -> Order {
        let (strategy, number) = OrderGenerator::strategy_of(self.strategy, run);
        let seed = seed(self.seed, run);
        let order = match strategy {
            Strategy::LateFew => late_few(&self.messages, OrderGenerator::late_count(number), seed),
            Strategy::FewChanges => few_changes(&self.messages, self.P, number, seed),
            Strategy::OneEnd if number < one_end::count(self.P) => one_end(self.P, number, Ties::Number),
            Strategy::OneEnd => one_end(self.P, number, Ties::Random { seed }),
            Strategy::Ties => random::ties(seed),
            _ => random::random(seed),
        };
        let faults = self.faults.draw(&self.messages, self.P, self.longest, seed).into();
        Order { faults, ..order }
    }

    /// Returns the strategy of a run, and the number of runs of that strategy before it.
    fn strategy_of(strategy: Strategy, run: usize) -> (Strategy, usize) {
        const MIXED: [Strategy; 5] =
            [Strategy::OneEnd, Strategy::LateFew, Strategy::FewChanges, Strategy::Random, Strategy::Ties];
        let number = run - 1;
        match strategy {
            Strategy::Mixed => (MIXED[number % MIXED.len()], number / MIXED.len()),
            strategy => (strategy, number),
        }
    }

    /// Returns the number of late messages in a run of [`Strategy::LateFew`].
    fn late_count(number: usize) -> usize {
        1 + number % late_few::MAX_LATE
    }

    /// Counts the runs of strategy `of` among the first `runs` runs whose number within that strategy
    /// satisfies `is_such`.
    pub(super) fn count_runs(
        strategy: Strategy,
        runs: usize,
        of: Strategy,
        is_such: impl Fn(usize) -> bool,
    ) -> usize {
        let drawn = (1..runs).map(|run| OrderGenerator::strategy_of(strategy, run));
        drawn.filter(|(other, number)| *other == of && is_such(*number)).count()
    }

    /// Returns a lower bound of the probability that `few` particular messages of `n` are late in one of
    /// `runs` runs, or `None` if no run has so many late messages.
    pub(super) fn late_probability(strategy: Strategy, n: usize, few: usize, runs: usize) -> Option<f64> {
        let tried = OrderGenerator::count_runs(strategy, runs, Strategy::LateFew, |number| {
            OrderGenerator::late_count(number) == few
        });
        (tried > 0 && n >= few).then(|| probability(n, few, tried))
    }

    /// Returns the same bound for `few` particular changes, where all processors start with high priority.
    pub(super) fn changes_probability(strategy: Strategy, n: usize, few: usize, runs: usize) -> Option<f64> {
        let is_such = |number| few_changes::is_all_high(number) && few_changes::change_count(number) == few;
        let tried = OrderGenerator::count_runs(strategy, runs, Strategy::FewChanges, is_such);
        (tried > 0 && n >= few).then(|| probability(n, few, tried))
    }
}

/// Derives the seed of a run.
fn seed(seed: u64, run: usize) -> u64 {
    fastrand::Rng::with_seed(seed ^ (run as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)).u64(..)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Check;

    #[test]
    fn audits_see_every_strategy_of_the_mixture() {
        let strategies = |of: &mut dyn Iterator<Item = usize>| -> std::collections::HashSet<Strategy> {
            of.filter(|run| *run > 0).map(|run| OrderGenerator::strategy_of(Strategy::Mixed, run).0).collect()
        };
        for audits in [1, 5, 50] {
            let check = Check::new().audits(audits);
            let mut audited = (0..1000).filter(|run| check.is_audited(*run));
            assert_eq!(strategies(&mut audited), strategies(&mut (0..1000)), "one of {audits}");
            assert_eq!((0..1000).filter(|run| check.is_audited(*run)).count(), 1000 / audits);
        }
    }
}
