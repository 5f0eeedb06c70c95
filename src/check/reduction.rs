//! Reduces an order that shows a failure to few late messages (delta debugging: Zeller and Hildebrandt, "Simplifying and
//! Isolating Failure-Inducing Input", 2002).

use std::collections::{HashMap, HashSet};

use super::late_few::late_only;
use crate::machine::Order;
use crate::message::MessageId;
use crate::params::Ties;
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
        let mut ties = vec![Ties::Number];
        ties.extend((order.ties() != Ties::Number).then_some(order.ties()));
        for ties in ties {
            if let Some((few, late)) = reduction.fewest(&late, ties)
                && few.len() < best.0
            {
                best = (few.len(), reduction.order(&few, late, ties));
            }
            if best.0 <= 2 {
                break;
            }
        }
        best.1
    }

    /// The fewest messages that were found, and how long they are under way.
    fn fewest(&mut self, all: &[MessageId], ties: Ties) -> Option<(Vec<MessageId>, Late)> {
        if self.fails(&[], Late::Most, ties) {
            return Some((Vec::new(), Late::Most));
        }
        if let Some(one) = all.iter().find(|one| self.fails(&[**one], Late::Most, ties)) {
            return Some((vec![*one], Late::Most));
        }
        let found = [Late::Most, Late::AsLong].into_iter().find(|late| self.fails(all, *late, ties));
        let few = found.map(|late| (self.minimal(all.to_vec(), late, ties), late));
        if few.as_ref().is_some_and(|(few, _)| few.len() <= 2) {
            return few;
        }
        let pairs =
            all.iter().enumerate().flat_map(|(i, one)| all[..i].iter().map(move |other| [*other, *one]));
        let pair = pairs.take(MOST / 2).find(|pair| self.fails(pair, Late::Most, ties));
        pair.map(|pair| (pair.to_vec(), Late::Most)).or(few)
    }

    /// A part of these messages of which none can be left out.
    fn minimal(&mut self, mut late: Vec<MessageId>, how: Late, ties: Ties) -> Vec<MessageId> {
        let mut parts = 2;
        while late.len() > 1 {
            let size = late.len().div_ceil(parts);
            let without = |begin: usize| [&late[..begin], &late[late.len().min(begin + size)..]].concat();
            let fewer = (0..late.len()).step_by(size).map(without).find(|rest| self.fails(rest, how, ties));
            match fewer {
                Some(rest) => (late, parts) = (rest, (parts - 1).max(2)),
                None if size == 1 => break,
                None => parts = (2 * parts).min(late.len()),
            }
        }
        late
    }

    /// Whether it fails when these messages are late.
    fn fails(&mut self, late: &[MessageId], how: Late, ties: Ties) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        let order = self.order(late, how, ties);
        (self.fails)(&order)
    }

    /// The order in which these messages are late.
    fn order(&self, late: &[MessageId], how: Late, ties: Ties) -> Order {
        let late: HashSet<MessageId> = late.iter().copied().collect();
        match how {
            Late::Most => late_only(late, ties),
            Late::AsLong => {
                let few = self.latencies.iter().filter(|(id, _)| late.contains(id)).copied();
                let latencies: HashMap<MessageId, Time> = few.collect();
                let latency =
                    move |message, _, _, _| Some(latencies.get(&message).copied().unwrap_or_default());
                Order::ruled(Rule::new(latency), ties)
            }
        }
    }
}
