//! Early receives: those that wait for no other operation and name both sender and tag, so that all are
//! posted at the start.
//!
//! In most schedules most receives are early. None is stored as posted: when a message arrives, its receive
//! is looked up in the rank's script.

use loggp_model::message::matching::PostedReceive;
use loggp_model::message::{Matchable, RawTag};
use loggp_model::time::Time;

use super::operations::{ANY, OperationKind, PackedOperation};
use super::progress::ScheduleProgress;
use super::storage::{RankScript, Schedule};

/// The early receives of all scripts.
#[derive(Debug)]
pub(super) struct EarlyReceives {
    /// For each rank, where the list of its script begins.
    of_ranks: Box<[u32]>,
    /// The lists, each with its length first: a script's early receives, sorted by sender, tag and number.
    receives: Vec<u32>,
}

/// The early receives of one rank.
pub(super) struct RankEarlyReceives<'a, 'b> {
    early: &'a EarlyReceives,
    /// Says which receives have got their messages.
    progress: &'a mut ScheduleProgress<'b>,
    rank: u32,
}

/// The list of scripts without early receives.
const EMPTY: u32 = 0;

/// Returns whether an operation is an early receive.
#[inline]
pub(super) fn is_early(packed: &PackedOperation) -> bool {
    matches!(packed.kind, OperationKind::Recv(_)) && !packed.waits && packed.peer != ANY && packed.tag != ANY
}

impl EarlyReceives {
    /// Collects the early receives of a schedule.
    pub(super) fn new(schedule: &Schedule) -> EarlyReceives {
        let mut receives = vec![0];
        // The list of each script, by its index: ranks may share one, and a new one lies behind all others.
        let mut lists: Vec<(u32, u32)> = Vec::new();
        let of_rank = |&RankScript { index, len, .. }: &RankScript| {
            if len == 0 {
                return EMPTY;
            }
            if lists.last().is_some_and(|(last, _)| index <= *last) {
                return lists
                    .binary_search_by_key(&index, |(index, _)| *index)
                    .map_or(EMPTY, |at| lists[at].1);
            }
            let script = |number: u32| schedule.operations.get((index + number) as usize);
            let (list, begin) = (receives.len() as u32, receives.len() + 1);
            receives.push(0);
            receives.extend((0..len).filter(|number| is_early(&script(*number))));
            let count = receives.len() - begin;
            let list = if count == 0 { EMPTY } else { list };
            if list == EMPTY {
                receives.pop();
            } else {
                receives[list as usize] = count as u32;
                let key = |number: &u32| (script(*number).peer, script(*number).tag, *number);
                receives[begin..].sort_unstable_by_key(key);
            }
            lists.push((index, list));
            list
        };
        EarlyReceives { of_ranks: schedule.ranks.iter().map(of_rank).collect(), receives }
    }

    /// Returns the early receives of a rank.
    #[inline]
    pub(super) fn of_rank<'a, 'b>(
        &'a self,
        progress: &'a mut ScheduleProgress<'b>,
        rank: u32,
    ) -> RankEarlyReceives<'a, 'b> {
        RankEarlyReceives { early: self, progress, rank }
    }
}

impl RankEarlyReceives<'_, '_> {
    /// Returns the first early receive that accepts a message and has not got one yet.
    #[inline]
    pub(super) fn find_receive(&self, message: &impl Matchable) -> Option<PostedReceive> {
        let schedule = self.progress.schedule;
        let RankScript { begin, index, .. } = schedule.ranks[self.rank as usize];
        let sought =
            (schedule.peer_in_script(self.rank as usize, message.from()), message.tag().without_announce());
        let list = self.early.of_ranks[self.rank as usize] as usize;
        let receives = &self.early.receives[list + 1..][..self.early.receives[list] as usize];
        let key = |number: u32| {
            let PackedOperation { peer, tag, .. } = schedule.operations.get((index + number) as usize);
            (peer, RawTag::from_schedule(Some(tag)))
        };
        // Among receives with the same sender and tag, those that have got their messages come first.
        let is_before =
            |number: &u32| (key(*number), !self.progress.has_met(begin + number)) < (sought, true);
        let number = *receives.get(receives.partition_point(is_before))?;
        (key(number) == sought).then(|| {
            let operation = begin + number;
            let filter = schedule.operation(self.rank as usize, operation).filter();
            PostedReceive { order: (Time::ZERO, operation), filter }
        })
    }

    /// Notes that a receive has got its message.
    #[inline]
    pub(super) fn mark_met(&mut self, receive: PostedReceive) {
        self.progress.mark_met(receive.order.1);
    }
}
