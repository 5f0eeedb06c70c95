//! Reduces an order under which a program fails to few late messages (delta debugging: Zeller and
//! Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002).

use std::collections::{HashMap, HashSet};

use loggp_model::message::MessageId;
use loggp_model::rules::choice::LatencyRule;
use loggp_model::time::Time;
use loggp_trace::{Faults, Order};

use super::deadline::{Deadline, SearchBudget};
use super::late_few::late_only;

/// The most runs that are made to reduce an order.
const MAX_RUNS: usize = 3000;

/// The reduction of one order.
pub(super) struct Reduction<'a> {
    /// Returns whether a run under an order fails in the same way as the one to be reduced.
    fails: &'a mut dyn FnMut(&Order) -> bool,
    latencies: Vec<(MessageId, Time)>,
    /// The runs that may still be made.
    budget: SearchBudget,
}

/// The time for which late messages are under way.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DelayLength {
    /// Each message's latency in the run that failed.
    AsRecorded,
    /// L.
    Longest,
}

impl Reduction<'_> {
    /// Returns the order with the fewest late messages that was found, in which all others arrive at once.
    /// `latencies` are those of the run that failed.
    pub(super) fn reduce(
        order: &Order,
        latencies: Vec<(MessageId, Time)>,
        deadline: Deadline,
        fails: &mut dyn FnMut(&Order) -> bool,
    ) -> Order {
        let late: Vec<MessageId> =
            latencies.iter().filter(|(_, latency)| *latency > Time::ZERO).map(|(id, _)| *id).collect();
        let budget = SearchBudget { tries: MAX_RUNS, deadline };
        let mut reduction = Reduction { fails, latencies, budget };
        let mut best = (usize::MAX, order.clone());
        // Mostly the failure does not depend on which processor goes first.
        let order = &reduction.drop_faults(order.clone());
        let usual = Order { faults: order.faults.clone(), ..Order::default() };
        let is_usual = order.ties == usual.ties && order.precedence().is_empty();
        for base in [&usual, order].into_iter().take(if is_usual { 1 } else { 2 }) {
            if let Some((few, late)) = reduction.find_fewest(&late, base)
                && few.len() < best.0
            {
                best = (few.len(), reduction.order(&few, late, base));
            }
            if best.0 <= 2 {
                break;
            }
        }
        let order = reduction.drop_precedence(best.1);
        reduction.drop_faults(order)
    }

    /// Returns the order without the faults that the failure does not need.
    fn drop_faults(&mut self, mut order: Order) -> Order {
        loop {
            let faults = order.faults().clone();
            let tried = without_each(&faults).map_while(|faults| {
                let fewer = Order { faults: faults.into(), ..order.clone() };
                (!self.budget.is_spent()).then(|| self.has_failed(&fewer).then_some(fewer))
            });
            let Some(fewer) = tried.flatten().next() else { return order };
            order = fewer;
        }
    }

    /// Returns the order without the moments of its precedence that the failure does not need.
    fn drop_precedence(&mut self, mut order: Order) -> Order {
        for time in order.precedence().clone().into_keys() {
            let mut fewer = order.precedence().clone();
            fewer.remove(&time);
            let without = Order { precedence: fewer.into(), ..order.clone() };
            if self.has_failed(&without) {
                order = without;
            }
        }
        order
    }

    /// Finds few messages that must be late, with ties and faults as in `base`. Returns them and the time for
    /// which they are under way, or `None` if no run with late messages fails.
    fn find_fewest(&mut self, all: &[MessageId], base: &Order) -> Option<(Vec<MessageId>, DelayLength)> {
        if self.is_failing_with(&[], DelayLength::Longest, base) {
            return Some((Vec::new(), DelayLength::Longest));
        }
        if let Some(one) = all.iter().find(|one| self.is_failing_with(&[**one], DelayLength::Longest, base)) {
            return Some((vec![*one], DelayLength::Longest));
        }
        let found = [DelayLength::Longest, DelayLength::AsRecorded]
            .into_iter()
            .find(|late| self.is_failing_with(all, *late, base));
        let few = found.map(|late| (self.minimize(all.to_vec(), late, base), late));
        if few.as_ref().is_some_and(|(few, _)| few.len() <= 2) {
            return few;
        }
        let pairs =
            all.iter().enumerate().flat_map(|(i, one)| all[..i].iter().map(move |other| [*other, *one]));
        let pair =
            pairs.take(MAX_RUNS / 2).find(|pair| self.is_failing_with(pair, DelayLength::Longest, base));
        pair.map(|pair| (pair.to_vec(), DelayLength::Longest)).or(few)
    }

    /// Leaves out messages until none of the rest can be left out.
    fn minimize(&mut self, mut late: Vec<MessageId>, length: DelayLength, base: &Order) -> Vec<MessageId> {
        let mut parts = 2;
        while late.len() > 1 {
            let size = late.len().div_ceil(parts);
            let without = |begin: usize| [&late[..begin], &late[late.len().min(begin + size)..]].concat();
            let fewer = (0..late.len()).step_by(size).find_map(|begin| {
                let rest = (!self.budget.is_spent()).then(|| without(begin))?; // it is long
                self.is_failing_with(&rest, length, base).then_some(rest)
            });
            match fewer {
                Some(rest) => (late, parts) = (rest, (parts - 1).max(2)),
                None if size == 1 => break,
                None => parts = (2 * parts).min(late.len()),
            }
        }
        late
    }

    /// Returns whether the program fails when these messages are late.
    fn is_failing_with(&mut self, late: &[MessageId], length: DelayLength, base: &Order) -> bool {
        let order = self.order(late, length, base);
        self.has_failed(&order)
    }

    /// Returns whether the program fails under an order; `false` if no run or no time is left.
    fn has_failed(&mut self, order: &Order) -> bool {
        self.budget.take() && (self.fails)(order)
    }

    /// Returns the order in which these messages are late, with ties, precedence and faults as in `base`.
    fn order(&self, late: &[MessageId], length: DelayLength, base: &Order) -> Order {
        let late: HashSet<MessageId> = late.iter().copied().collect();
        let order = match length {
            DelayLength::Longest => late_only(late),
            DelayLength::AsRecorded => {
                let few = self.latencies.iter().filter(|(id, _)| late.contains(id)).copied();
                let latencies: HashMap<MessageId, Time> = few.collect();
                let latency =
                    move |message, _, _, _| Some(latencies.get(&message).copied().unwrap_or_default());
                Order::from_rule(LatencyRule::new(latency))
            }
        };
        let Order { ties, precedence, faults, .. } = base.clone();
        Order { ties, precedence, faults, ..order }
    }
}

/// Returns, for each fault, these faults without that one.
fn without_each(faults: &Faults) -> impl Iterator<Item = Faults> {
    let without = |remove: &dyn Fn(&mut Faults)| {
        let mut fewer = faults.clone();
        remove(&mut fewer);
        fewer
    };
    let lost = faults.lost.iter().map(move |message| without(&|faults| _ = faults.lost.remove(message)));
    let twice = faults.twice.keys().map(move |message| without(&|faults| _ = faults.twice.remove(message)));
    let crashed = faults.crashed.keys().map(move |id| without(&|faults| _ = faults.crashed.remove(id)));
    lost.chain(twice).chain(crashed)
}
