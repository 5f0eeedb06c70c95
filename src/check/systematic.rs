//! All orders: a run for each way in which receives, looks and waits can take messages.
//!
//! From each run others branch off: one receive, as early as may be, takes another message, and whatever does not follow
//! it stays as it is ([`History::turn`]). The messages that would have come before are late for as long as it takes, and all
//! others arrive at once. So every run is one of the machine's own, under latencies from 0 to L. Two runs that take the same
//! are one.
//!
//! Nothing is missed where no branch is out of reach: let a run be missing, and take one that was made and has the most in common with it. Of what they take
//! differently something comes first, so that both have all in common on which it depends. Then the missing take is among
//! those that the run that was made could have got, and the run that branches off there has more in common with the missing one.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use super::history::{Delays, History, Turn};
use super::reduction::delayed;
use crate::machine::Order;
use crate::params::Ties;

/// Goes through all orders.
#[derive(Debug)]
pub(super) struct Systematic {
    /// The runs to be made.
    queue: VecDeque<Branch>,
    /// The branches that were found.
    found: HashSet<u64>,
    /// What the runs took.
    taken: HashSet<u64>,
    /// How many branches no latencies were found for.
    out_of_reach: usize,
}

/// A run that is to be made.
#[derive(Debug, Default)]
pub(super) struct Branch {
    /// How long messages are under way in it.
    delays: Arc<Delays>,
    /// The takes that it settles.
    settled: HashSet<u64>,
    /// What these take.
    key: u64,
    /// Whether it is not known that there is such a run.
    is_a_guess: bool,
}

/// How much the systematic strategy has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Coverage {
    /// How many orders there were that differ in what a receive, a look or a wait takes.
    pub orders: usize,
    /// Whether all runs were made that it knows of.
    pub is_done: bool,
    /// In how many places something else would be taken if messages could be under way for longer than L, or if
    /// processors came later.
    pub out_of_reach: usize,
}

impl Systematic {
    pub(super) fn new() -> Systematic {
        let queue = VecDeque::from([Branch::default()]);
        Systematic { queue, found: HashSet::new(), taken: HashSet::new(), out_of_reach: 0 }
    }

    /// The next runs, so many at most.
    pub(super) fn next(&mut self, most: usize) -> Vec<Branch> {
        let some = self.queue.len().min(most);
        self.queue.drain(..some).collect()
    }

    /// Finds the branches of a run that was made.
    pub(super) fn learns(&mut self, branch: &Branch, history: &History) {
        if history.taken_of(&branch.settled) != branch.key && !branch.is_a_guess {
            self.out_of_reach += 1; // what was late has changed more than it should
        }
        if !self.taken.insert(history.key_of_all()) {
            return;
        }
        for take in history.takes.iter().filter(|take| !history.is_settled(take, &branch.settled)) {
            self.found.insert(history.key_up_to(take));
        }
        for take in &history.takes {
            if history.came_too_early(take) && self.found.insert(!history.key_up_to(take)) {
                self.out_of_reach += 1;
            }
            for (other, cut) in history.others(take) {
                match history.turn(take, other, cut) {
                    Ok(Turn { delays, settled, key, is_a_guess }) if self.found.insert(key) => {
                        self.queue.push_back(Branch { delays: Arc::new(delays), settled, key, is_a_guess });
                    }
                    Err(key) if self.found.insert(key) => self.out_of_reach += 1,
                    _ => (),
                }
            }
        }
    }

    /// How much it has seen.
    pub(super) fn coverage(&self) -> Coverage {
        let (orders, out_of_reach) = (self.taken.len(), self.out_of_reach);
        Coverage { orders, is_done: self.queue.is_empty(), out_of_reach }
    }
}

impl Branch {
    /// The order of the run.
    pub(super) fn order(&self) -> Order {
        delayed(self.delays.clone(), Ties::Number)
    }
}
