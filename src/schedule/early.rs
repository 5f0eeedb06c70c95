//! Receives that wait for nothing, and name their sender and their tag: all are posted at the beginning.
//!
//! In most schedules these are most receives, so none is kept anywhere until its message comes: then it is found in its
//! rank's script.

use super::mail::wanted;
use super::progress::Progress;
use super::stored::{ANY, Kind, Packed, Role, Schedule};
use crate::message::matching::Receive;
use crate::message::{Matched, RawTag};
use crate::time::Time;

/// The early receives of all scripts.
#[derive(Debug)]
pub(super) struct Early {
    /// For each script as many places as it has operations: first its early receives, by sender, tag and number, and then
    /// [`NONE`].
    receives: Vec<u32>,
}

/// The early receives of a rank.
pub(super) struct EarlyOf<'a, 'b> {
    /// Those of all scripts.
    early: &'a Early,
    /// Which ones have met their messages.
    progress: &'a mut Progress<'b>,
    /// The rank.
    rank: u32,
}

/// No receive.
const NONE: u32 = u32::MAX;

/// Whether an operation is an early receive.
#[inline]
pub(super) fn is_early(packed: &Packed) -> bool {
    packed.kind == Kind::Recv && packed.needs == 0 && packed.peer != ANY && packed.tag != ANY
}

impl Early {
    /// Those of a schedule.
    pub(super) fn new(schedule: &Schedule) -> Early {
        let mut receives = Vec::with_capacity(schedule.operations.len());
        for &Role { place, len, .. } in &schedule.ranks {
            if (place as usize) < receives.len() {
                continue; // an earlier rank has the script
            }
            let script = &schedule.operations[place as usize..(place + len) as usize];
            receives.extend((0..len).filter(|number| is_early(&script[*number as usize])));
            let key = |number: &u32| (script[*number as usize].peer, script[*number as usize].tag, *number);
            receives[place as usize..].sort_unstable_by_key(key);
            receives.resize((place + len) as usize, NONE);
        }
        Early { receives }
    }

    /// Those of a rank.
    #[inline]
    pub(super) fn of<'a, 'b>(&'a self, progress: &'a mut Progress<'b>, rank: u32) -> EarlyOf<'a, 'b> {
        EarlyOf { early: self, progress, rank }
    }
}

impl EarlyOf<'_, '_> {
    /// The first one that takes a message and has not met another.
    #[inline]
    pub(super) fn first(&self, message: &impl Matched) -> Option<Receive> {
        let schedule = self.progress.schedule;
        let Role { begin, place, len, .. } = schedule.ranks[self.rank as usize];
        let sought = (schedule.in_script(self.rank as usize, message.from()), message.tag().requested());
        let script = &schedule.operations[place as usize..(place + len) as usize];
        let key = |number: u32| {
            let Packed { peer, tag, .. } = script[number as usize];
            (peer, RawTag::scheduled(Some(tag)))
        };
        // Of those that take the same messages the first ones have met theirs.
        let is_before = |number: &u32| {
            *number != NONE && (key(*number), !self.progress.has_met(begin + number)) < (sought, true)
        };
        let receives = &self.early.receives[place as usize..(place + len) as usize];
        let number = *receives.get(receives.partition_point(is_before))?;
        (number != NONE && key(number) == sought).then(|| {
            let operation = begin + number;
            let want = wanted(&schedule.operation(self.rank as usize, operation));
            Receive { place: (Time::ZERO, operation), want }
        })
    }

    /// One of them has met its message.
    #[inline]
    pub(super) fn meets(&mut self, receive: Receive) {
        self.progress.meets(receive.place.1);
    }
}
