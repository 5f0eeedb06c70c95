//! Early receives: those that wait for no other operation and name both sender and tag, so that all are
//! posted at the start.
//!
//! In most schedules most receives are early. None is stored as posted: when a message arrives, its receive
//! is looked up in the rank's script.

use super::mail::recv_filter;
use super::progress::ScheduleProgress;
use super::storage::{ANY, OperationKind, PackedOperation, RankScript, Schedule};
use crate::message::matching::PostedReceive;
use crate::message::{Matchable, RawTag};
use crate::time::Time;

/// The early receives of all scripts.
#[derive(Debug)]
pub(super) struct EarlyReceives {
    /// For each script, as many places as it has operations: first its early receives, sorted by sender, tag
    /// and number, and then [`NONE`].
    receives: Vec<u32>,
}

/// The early receives of one rank.
pub(super) struct RankEarlyReceives<'a, 'b> {
    early: &'a EarlyReceives,
    /// Says which receives have got their messages.
    progress: &'a mut ScheduleProgress<'b>,
    rank: u32,
}

/// Stands for no receive.
const NONE: u32 = u32::MAX;

/// Returns whether an operation is an early receive.
#[inline]
pub(super) fn is_early(packed: &PackedOperation) -> bool {
    packed.kind == OperationKind::Recv && packed.needs == 0 && packed.peer != ANY && packed.tag != ANY
}

impl EarlyReceives {
    /// Collects the early receives of a schedule.
    pub(super) fn new(schedule: &Schedule) -> EarlyReceives {
        let mut receives = Vec::with_capacity(schedule.operations.len());
        for &RankScript { place, len, .. } in &schedule.ranks {
            if (place as usize) < receives.len() {
                continue; // an earlier rank has the script
            }
            let script = &schedule.operations[place as usize..(place + len) as usize];
            receives.extend((0..len).filter(|number| is_early(&script[*number as usize])));
            let key = |number: &u32| (script[*number as usize].peer, script[*number as usize].tag, *number);
            receives[place as usize..].sort_unstable_by_key(key);
            receives.resize((place + len) as usize, NONE);
        }
        EarlyReceives { receives }
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
        let RankScript { begin, place, len, .. } = schedule.ranks[self.rank as usize];
        let sought =
            (schedule.peer_in_script(self.rank as usize, message.from()), message.tag().without_request());
        let script = &schedule.operations[place as usize..(place + len) as usize];
        let key = |number: u32| {
            let PackedOperation { peer, tag, .. } = script[number as usize];
            (peer, RawTag::from_schedule(Some(tag)))
        };
        // Among receives with the same sender and tag, those that have got their messages come first.
        let is_before = |number: &u32| {
            *number != NONE && (key(*number), !self.progress.has_met(begin + number)) < (sought, true)
        };
        let receives = &self.early.receives[place as usize..(place + len) as usize];
        let number = *receives.get(receives.partition_point(is_before))?;
        (number != NONE && key(number) == sought).then(|| {
            let operation = begin + number;
            let filter = recv_filter(&schedule.operation(self.rank as usize, operation));
            PostedReceive { place: (Time::ZERO, operation), filter }
        })
    }

    /// Notes that a receive has got its message.
    #[inline]
    pub(super) fn mark_met(&mut self, receive: PostedReceive) {
        self.progress.mark_met(receive.place.1);
    }
}
