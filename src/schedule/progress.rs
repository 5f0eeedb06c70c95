//! How far a schedule is: which operations wait for others, which are ready, and which are done.

use super::stored::{Packed, Schedule};
use crate::clock::stacks::prefetch::prefetch_value;
use crate::time::Time;

/// Which operations of a schedule wait, are ready, or are done.
#[derive(Debug)]
pub(super) struct Progress<'a> {
    /// What there is to do.
    pub schedule: &'a Schedule,
    /// Of each operation: for how many it still waits, as a negative number; then since when it is ready, in picoseconds;
    /// and the end of time when it is done.
    states: Vec<i64>,
    /// How many are not done.
    pub left: usize,
    /// Those that have become ready and were not taken up yet.
    pub fresh: Vec<u32>,
}

impl<'a> Progress<'a> {
    /// Nothing is done.
    pub(super) fn new(schedule: &'a Schedule) -> Progress<'a> {
        let states = schedule.all().iter().map(|operation| -i64::from(operation.needs)).collect();
        Progress { schedule, states, left: schedule.len(), fresh: Vec::new() }
    }

    /// What an operation is.
    #[inline]
    pub(super) fn operation(&self, operation: u32) -> &'a Packed {
        self.schedule.operation(operation)
    }

    /// Fetches what is known of an operation, which will be needed soon.
    #[inline]
    pub(super) fn prefetch(&self, operation: u32) {
        prefetch_value(self.schedule.operation(operation));
        prefetch_value(&self.states[operation as usize]);
        prefetch_value(self.schedule.first_follower(operation));
    }

    /// Fetches which operations wait for one.
    #[inline]
    pub(super) fn prefetch_followers(&self, operation: u32) {
        if let Some(first) = self.schedule.followers(operation).first() {
            prefetch_value(first);
        }
    }

    /// Since when an operation is ready, which it must be.
    #[inline]
    pub(super) fn ready_since(&self, operation: u32) -> Time {
        Time::from_ps(self.states[operation as usize])
    }

    /// Whether an operation is ready, and not done.
    pub(super) fn is_ready(&self, operation: u32) -> bool {
        (0..i64::MAX).contains(&self.states[operation as usize])
    }

    /// Whether it is done.
    pub(super) fn is_done(&self, operation: u32) -> bool {
        self.states[operation as usize] == i64::MAX
    }

    /// An operation that has begun is ready to go on.
    pub(super) fn is_ready_again(&mut self, operation: u32, at: Time) {
        self.states[operation as usize] = at.as_ps().min(i64::MAX - 1);
    }

    /// The operations of a rank that wait for nothing become ready.
    pub(super) fn begin(&mut self, rank: usize) {
        let free = self.schedule.range(rank).filter(|operation| self.states[*operation] == 0);
        self.fresh.extend(free.map(|operation| operation as u32));
    }

    /// An operation has begun.
    #[inline]
    pub(super) fn begins(&mut self, operation: u32, at: Time) {
        self.tell(operation, true, at);
    }

    /// An operation is done.
    #[inline]
    pub(super) fn ends(&mut self, operation: u32, at: Time) {
        self.states[operation as usize] = i64::MAX;
        self.left -= 1;
        self.tell(operation, false, at);
    }

    /// Tells those that wait for an operation's beginning, or for its end.
    #[inline]
    fn tell(&mut self, operation: u32, begun: bool, at: Time) {
        for follower in self.schedule.followers(operation) {
            if follower.waits_for_begin() == begun {
                let later = follower.operation();
                let state = &mut self.states[later as usize];
                *state += 1;
                if *state == 0 {
                    // The end of time is what marks those that are done.
                    *state = at.as_ps().min(i64::MAX - 1);
                    self.fresh.push(later);
                }
            }
        }
    }
}
