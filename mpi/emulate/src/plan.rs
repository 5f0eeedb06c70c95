//! The messages of a collective at one rank, and their order.

use std::collections::VecDeque;
use std::sync::Arc;

use loggp::schedule::{Operation, Schedule};
use loggp::{Payload, Tag, Time};
use loggp_mpi_trace::call::CollectiveKind;

/// A message without data that counts for so many bytes: the data of collectives go another way.
pub(crate) struct Blank(pub u64);

impl Blank {
    /// Creates a message of a word.
    pub(crate) fn word() -> Blank {
        Blank(8)
    }
}

impl Payload for Blank {
    fn bytes(&self) -> usize {
        self.0 as usize
    }
}

pub(crate) type BlankTag = Tag<Blank>;

/// What decides the messages of a collective.
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct PlanKey {
    pub kind: CollectiveKind,
    pub communicator: u32,
    pub root: Option<u32>,
    pub counts: [Vec<u64>; 2],
    pub is_immediate: bool,
}

/// What a rank does in a collective.
#[derive(Debug)]
pub(crate) struct CollectivePlan {
    pub operations: Vec<Operation>,
    /// How many operations each waits for.
    needs: Vec<u32>,
    /// The operations that wait for each, and whether its begin is enough.
    followers: Vec<Vec<(u32, bool)>>,
}

impl CollectivePlan {
    /// Reads the part of one rank.
    pub(crate) fn of_rank(schedule: &Schedule, rank: usize) -> CollectivePlan {
        let operations: Vec<Operation> = schedule.operations(rank).map(|placed| placed.operation).collect();
        let (mut needs, mut followers) = (vec![0; operations.len()], vec![Vec::new(); operations.len()]);
        for requirement in schedule.requirements_of(rank) {
            needs[requirement.later as usize] += 1;
            followers[requirement.earlier as usize].push((requirement.later, requirement.begun));
        }
        CollectivePlan { operations, needs, followers }
    }
}

/// A few operations, in order.
#[derive(Default)]
pub(crate) struct OperationSet(Vec<u32>);

impl OperationSet {
    fn insert(&mut self, operation: u32) {
        if let Err(index) = self.0.binary_search(&operation) {
            self.0.insert(index, operation);
        }
    }

    pub(crate) fn remove(&mut self, operation: u32) {
        if let Ok(index) = self.0.binary_search(&operation) {
            self.0.remove(index);
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().copied()
    }

    pub(crate) fn first(&self) -> Option<u32> {
        self.0.first().copied()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// How far a rank is in its plan.
pub(crate) struct PlanProgress {
    pub plan: Arc<CollectivePlan>,
    needs: Vec<u32>,
    pub left: usize,
    /// Operations that are ready and have not begun; a receive begins as soon as it is ready.
    pub ready: OperationSet,
    /// Receives that have begun and got nothing yet.
    pub posted: OperationSet,
    /// Senders of messages that came before their receives were ready.
    early: VecDeque<usize>,
}

impl PlanProgress {
    pub(crate) fn new(plan: &Arc<CollectivePlan>) -> PlanProgress {
        let mut progress = PlanProgress {
            plan: plan.clone(),
            needs: plan.needs.clone(),
            left: plan.operations.len(),
            ready: OperationSet::default(),
            posted: OperationSet::default(),
            early: VecDeque::new(),
        };
        for operation in 0..plan.operations.len() as u32 {
            if plan.needs[operation as usize] == 0 {
                progress.make_ready(operation);
            }
        }
        progress
    }

    fn make_ready(&mut self, operation: u32) {
        let Operation::Recv { from, .. } = self.plan.operations[operation as usize] else {
            self.ready.insert(operation);
            return;
        };
        self.posted.insert(operation);
        self.begin(operation);
        let came = self.early.iter().position(|sender| from.is_none_or(|from| from as usize == *sender));
        if let Some(came) = came {
            self.early.remove(came);
            self.posted.remove(operation);
            self.end(operation);
        }
    }

    pub(crate) fn begin(&mut self, operation: u32) {
        self.ready.remove(operation);
        self.notify(operation, true);
    }

    pub(crate) fn end(&mut self, operation: u32) {
        self.left -= 1;
        self.notify(operation, false);
    }

    fn notify(&mut self, operation: u32, is_begun: bool) {
        for index in 0..self.plan.followers[operation as usize].len() {
            let (later, needs_begin) = self.plan.followers[operation as usize][index];
            if needs_begin == is_begun {
                self.needs[later as usize] -= 1;
                if self.needs[later as usize] == 0 {
                    self.make_ready(later);
                }
            }
        }
    }

    /// Returns the sender for which all receives wait that have begun, if it is one.
    pub(crate) fn only_sender(&self) -> Option<usize> {
        let sender = |operation: u32| match self.plan.operations[operation as usize] {
            Operation::Recv { from, .. } => from,
            _ => None,
        };
        let first = sender(self.posted.first()?)?;
        self.posted.iter().all(|operation| sender(operation) == Some(first)).then_some(first as usize)
    }

    /// Notes that a message has been received.
    pub(crate) fn receive(&mut self, sender: usize) {
        let takes = |operation: &u32| match self.plan.operations[*operation as usize] {
            Operation::Recv { from, .. } => from.is_none_or(|from| from as usize == sender),
            _ => false,
        };
        let posted = self.posted.iter().find(takes);
        match posted {
            Some(operation) => {
                self.posted.remove(operation);
                self.end(operation);
            }
            None => self.early.push_back(sender),
        }
    }
}

/// Returns a time that is `speed` times the one of a rank's computing.
pub(crate) fn scaled(ns: u64, speed: f64) -> Time {
    Time::from_ps((ns as f64 * 1000.0 * speed).round() as i64)
}
