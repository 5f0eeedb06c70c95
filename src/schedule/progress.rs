//! How far a schedule is: which operations wait for others, which are ready, and which are done.

use std::collections::HashMap;

use super::stored::{Packed, Schedule};
use crate::clock::stacks::prefetch::prefetch_value;
use crate::time::Time;

/// Which operations of a schedule wait, are ready, or are done.
#[derive(Debug)]
pub(super) struct Progress<'a> {
    /// What there is to do.
    pub schedule: &'a Schedule,
    /// Of each operation: for how many it still waits, or how far it is.
    states: Vec<u8>,
    /// For how many those still wait that wait for [`MANY`] or more.
    many: HashMap<u32, u32>,
    /// How many are not done.
    pub left: usize,
    /// Those that have become ready and were not taken up yet, and since when they are.
    pub fresh: Vec<(Time, u32)>,
}

/// An operation waits for so many others, or more.
const MANY: u8 = 250;
/// An operation is ready.
const READY: u8 = 253;
/// A receive is ready and has got its message.
const MET: u8 = 254;
/// An operation is done.
const DONE: u8 = 255;

impl<'a> Progress<'a> {
    /// Nothing is done.
    pub(super) fn new(schedule: &'a Schedule) -> Progress<'a> {
        let (mut states, mut many) = (Vec::with_capacity(schedule.len()), HashMap::new());
        for role in &schedule.ranks {
            for packed in &schedule.operations[role.place as usize..(role.place + role.len) as usize] {
                if packed.needs >= u32::from(MANY) {
                    many.insert(states.len() as u32, packed.needs);
                }
                states.push(packed.needs.min(u32::from(MANY)) as u8);
            }
        }
        Progress { schedule, states, many, left: schedule.len(), fresh: Vec::new() }
    }

    /// What a rank's operation is.
    #[inline]
    pub(super) fn operation(&self, rank: u32, operation: u32) -> Packed {
        self.schedule.operation(rank as usize, operation)
    }

    /// Fetches what is known of an operation, which will be needed soon.
    #[inline]
    pub(super) fn prefetch(&self, rank: u32, operation: u32) {
        let place = self.schedule.place(rank as usize, operation);
        prefetch_value(&self.schedule.operations[place]);
        prefetch_value(&self.states[operation as usize]);
        prefetch_value(&self.schedule.first[place]);
    }

    /// Fetches which operations wait for one.
    #[inline]
    pub(super) fn prefetch_followers(&self, rank: u32, operation: u32) {
        if let Some(first) = self.schedule.followers(self.schedule.place(rank as usize, operation)).first() {
            prefetch_value(first);
        }
    }

    /// Whether an operation is ready, and not done.
    pub(super) fn is_ready(&self, operation: u32) -> bool {
        (READY..DONE).contains(&self.states[operation as usize])
    }

    /// Whether it is done.
    pub(super) fn is_done(&self, operation: u32) -> bool {
        self.states[operation as usize] == DONE
    }

    /// Whether it is a receive that has met its message, or done.
    #[inline]
    pub(super) fn has_met(&self, operation: u32) -> bool {
        self.states[operation as usize] >= MET
    }

    /// A receive that is ready has met its message.
    #[inline]
    pub(super) fn meets(&mut self, operation: u32) {
        self.states[operation as usize] = MET;
    }

    /// The operations of a rank that wait for nothing become ready.
    pub(super) fn begin(&mut self, rank: usize) {
        for operation in self.schedule.range(rank) {
            if self.states[operation as usize] == 0 {
                self.states[operation as usize] = READY;
                self.fresh.push((Time::ZERO, operation));
            }
        }
    }

    /// An operation has begun.
    #[inline]
    pub(super) fn begins(&mut self, rank: u32, operation: u32, at: Time) {
        self.tell(rank, operation, true, at);
    }

    /// An operation is done.
    #[inline]
    pub(super) fn ends(&mut self, rank: u32, operation: u32, at: Time) {
        self.states[operation as usize] = DONE;
        self.left -= 1;
        self.tell(rank, operation, false, at);
    }

    /// Whether an operation waits for another one's beginning.
    #[inline]
    pub(super) fn is_awaited(&self, rank: u32, operation: u32) -> bool {
        let followers = self.schedule.followers(self.schedule.place(rank as usize, operation));
        followers.iter().any(|follower| follower.waits_for_begin())
    }

    /// Tells those that wait for an operation's beginning, or for its end.
    #[inline]
    fn tell(&mut self, rank: u32, operation: u32, begun: bool, at: Time) {
        let schedule = self.schedule;
        let (place, begin) = (schedule.place(rank as usize, operation), schedule.ranks[rank as usize].begin);
        for follower in schedule.followers(place) {
            if follower.waits_for_begin() == begun && self.waits_for_one_less(begin + follower.operation()) {
                self.fresh.push((at, begin + follower.operation()));
            }
        }
    }

    /// Something for which an operation waits has happened. Returns whether it is ready now.
    #[inline]
    fn waits_for_one_less(&mut self, operation: u32) -> bool {
        let state = &mut self.states[operation as usize];
        if *state == MANY
            && let Some(left) = self.many.get_mut(&operation)
        {
            *left -= 1;
            if *left >= u32::from(MANY) {
                return false;
            }
        }
        *state -= 1;
        if *state == 0 {
            *state = READY;
        }
        *state == READY
    }
}
