//! Reduces an order that shows a failure to few late messages (delta debugging: Zeller and Hildebrandt, "Simplifying and
//! Isolating Failure-Inducing Input", 2002).

use std::collections::{HashMap, HashSet};

use super::late_few::late_only;
use crate::machine::Order;
use crate::message::MessageId;
use crate::rules::choice::Rule;
use crate::time::Time;

/// So many runs at most are made to reduce an order.
const MOST: usize = 3000;

/// Reduces one order.
pub(super) struct Reduction<'a> {
    /// Whether a run under an order fails as the one did that is to be reduced.
    fails: &'a mut dyn FnMut(&Order) -> bool,
    /// The latencies of the messages in the run that failed.
    latencies: Vec<(MessageId, Time)>,
    /// How many runs may still be made.
    left: usize,
}

/// How long a message is to be under way.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Late {
    /// As long as in the run that failed.
    AsLong,
    /// For L.
    Most,
}

impl Reduction<'_> {
    /// The order in which the fewest messages are late of all that were found, and all others arrive at once. `latencies` are
    /// those of the run that failed.
    pub(super) fn of(
        order: &Order,
        latencies: Vec<(MessageId, Time)>,
        fails: &mut dyn FnMut(&Order) -> bool,
    ) -> Order {
        let late: Vec<MessageId> =
            latencies.iter().filter(|(_, latency)| *latency > Time::ZERO).map(|(id, _)| *id).collect();
        let mut reduction = Reduction { fails, latencies, left: MOST };
        let mut best = (usize::MAX, order.clone());
        // Mostly it does not matter who goes first.
        let order = &reduction.least_faults(order.clone());
        let usual = Order::default().with_faults(order.faults().clone());
        let is_usual = order.ties() == usual.ties() && order.precedence().is_empty();
        for who in [&usual, order].into_iter().take(if is_usual { 1 } else { 2 }) {
            if let Some((few, late)) = reduction.fewest(&late, who)
                && few.len() < best.0
            {
                best = (few.len(), reduction.order(&few, late, who));
            }
            if best.0 <= 2 {
                break;
            }
        }
        let order = reduction.least_precedence(best.1);
        reduction.least_faults(order)
    }

    /// The same order without the faults that do not matter.
    fn least_faults(&mut self, mut order: Order) -> Order {
        while let Some(fewer) = order.faults().clone().fewer().find_map(|faults| {
            let fewer = order.clone().with_faults(faults);
            self.still_fails(&fewer).then_some(fewer)
        }) {
            order = fewer;
        }
        order
    }

    /// The same order without the moments at which it does not matter who goes first.
    fn least_precedence(&mut self, mut order: Order) -> Order {
        for time in order.precedence().clone().into_keys() {
            let mut fewer = order.precedence().clone();
            fewer.remove(&time);
            let without = order.clone().preceded_by(fewer);
            if self.still_fails(&without) {
                order = without;
            }
        }
        order
    }

    /// The fewest messages that were found, and how long they are under way.
    fn fewest(&mut self, all: &[MessageId], who: &Order) -> Option<(Vec<MessageId>, Late)> {
        if self.fails(&[], Late::Most, who) {
            return Some((Vec::new(), Late::Most));
        }
        if let Some(one) = all.iter().find(|one| self.fails(&[**one], Late::Most, who)) {
            return Some((vec![*one], Late::Most));
        }
        let found = [Late::Most, Late::AsLong].into_iter().find(|late| self.fails(all, *late, who));
        let few = found.map(|late| (self.minimal(all.to_vec(), late, who), late));
        if few.as_ref().is_some_and(|(few, _)| few.len() <= 2) {
            return few;
        }
        let pairs =
            all.iter().enumerate().flat_map(|(i, one)| all[..i].iter().map(move |other| [*other, *one]));
        let pair = pairs.take(MOST / 2).find(|pair| self.fails(pair, Late::Most, who));
        pair.map(|pair| (pair.to_vec(), Late::Most)).or(few)
    }

    /// A part of these messages of which none can be left out.
    fn minimal(&mut self, mut late: Vec<MessageId>, how: Late, who: &Order) -> Vec<MessageId> {
        let mut parts = 2;
        while late.len() > 1 {
            let size = late.len().div_ceil(parts);
            let without = |begin: usize| [&late[..begin], &late[late.len().min(begin + size)..]].concat();
            let fewer = (0..late.len()).step_by(size).map(without).find(|rest| self.fails(rest, how, who));
            match fewer {
                Some(rest) => (late, parts) = (rest, (parts - 1).max(2)),
                None if size == 1 => break,
                None => parts = (2 * parts).min(late.len()),
            }
        }
        late
    }

    /// Whether it fails when these messages are late.
    fn fails(&mut self, late: &[MessageId], how: Late, who: &Order) -> bool {
        let order = self.order(late, how, who);
        self.still_fails(&order)
    }

    /// Whether it fails under an order, if there is a run left to find out.
    fn still_fails(&mut self, order: &Order) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        (self.fails)(order)
    }

    /// The order in which these messages are late, and who goes first as in another one.
    fn order(&self, late: &[MessageId], how: Late, who: &Order) -> Order {
        let late: HashSet<MessageId> = late.iter().copied().collect();
        let order = match how {
            Late::Most => late_only(late),
            Late::AsLong => {
                let few = self.latencies.iter().filter(|(id, _)| late.contains(id)).copied();
                let latencies: HashMap<MessageId, Time> = few.collect();
                let latency =
                    move |message, _, _, _| Some(latencies.get(&message).copied().unwrap_or_default());
                Order::ruled(Rule::new(latency))
            }
        };
        order.with_ties(who.ties()).preceded_by(who.precedence().clone()).with_faults(who.faults().clone())
    }
}
