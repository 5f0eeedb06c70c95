//! The progress of a play: which operations wait for others, which are ready, and which are done.

use std::collections::HashMap;
use std::fmt;

use loggp_model::prefetch::prefetch_lines;
use loggp_model::time::Time;

use super::operations::PackedOperation;
use super::storage::Schedule;

/// Prefetches a value.
#[inline]
pub(super) fn prefetch_value<T>(value: &T) {
    prefetch_lines((&raw const *value).addr(), size_of::<T>().div_ceil(64));
}

/// The state of every operation of a schedule during a play.
#[derive(Debug)]
pub(super) struct ScheduleProgress<'a> {
    pub schedule: &'a Schedule,
    /// For each operation, the number of operations that it still waits for (at most [`MANY`]), or [`READY`],
    /// [`MET`] or [`DONE`].
    states: Vec<u8>,
    /// The exact count for operations that wait for [`MANY`] or more others.
    many: HashMap<u32, u32>,
    /// The number of operations that are not done.
    pub remaining: usize,
    /// True if the play itself says which operation of a row is ready.
    knows_rows: bool,
    /// True if any operation waits for the beginning of another.
    awaits_starts: bool,
    /// Operations that have become ready and are not queued yet, each with the time since which it is ready.
    pub newly_ready: Vec<(Time, u32)>,
    /// When each operation began and was done, if that is wanted.
    pub moments: Option<Vec<(Time, Time)>>,
    /// The receives that named another length than their message had, if any.
    pub misnamed: Option<MisnamedLengths>,
}

/// Receives that named another length than their message had.
#[derive(Debug)]
pub(super) struct MisnamedLengths {
    count: u64,
    /// The first one: its rank, its number there, and the bytes that it names.
    receive: (u32, u32, u64),
    /// Its message: the rank that sent it, and its bytes.
    message: (u32, u64),
}

impl fmt::Display for MisnamedLengths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MisnamedLengths { count, receive: (rank, number, named), message: (from, sent) } = self;
        match count {
            1 => f.write_str("1 receive names another length than its message has, which counts")?,
            _ => write!(f, "{count} receives name other lengths than their messages have, which count")?,
        }
        let bytes = if *named == 1 { "byte" } else { "bytes" };
        let in_mpi = if named < sent { ", which MPI refuses" } else { "" };
        write!(
            f,
            "; the first is number {number}, counted from 0, of rank {rank}, with {named} {bytes} for a message of \
             {sent} from rank {from}{in_mpi}"
        )
    }
}

/// The operation waits for this many others or more.
const MANY: u8 = 250;
const READY: u8 = 253;
/// The receive is ready and has got its message.
const MET: u8 = 254;
const DONE: u8 = 255;

impl<'a> ScheduleProgress<'a> {
    /// Returns the state at the start of a play. One that `knows_rows` says itself which operation of a row is ready, so that
    /// nothing need be counted there.
    pub(super) fn new(schedule: &'a Schedule, knows_rows: bool) -> ScheduleProgress<'a> {
        let (mut states, mut many) = (Vec::with_capacity(schedule.len()), HashMap::new());
        let awaits_starts = schedule.followers.iter().any(|follower| follower.needs_only_start());
        for script in &schedule.ranks {
            let (begin, index) = (states.len(), script.index as usize);
            states.resize(begin + script.len as usize, 0);
            if script.is_in_row && knows_rows {
                continue;
            }
            let ends = [index, index + script.len as usize].map(|index| schedule.first[index] as usize);
            for follower in &schedule.followers[ends[0]..ends[1]] {
                let operation = begin + follower.operation() as usize;
                let needs = &mut states[operation];
                if *needs < MANY - 1 {
                    *needs += 1;
                } else {
                    *needs = MANY;
                    *many.entry(operation as u32).or_insert(u32::from(MANY) - 1) += 1;
                }
            }
        }
        let remaining = schedule.len();
        let newly_ready = Vec::new();
        let (moments, misnamed) = (None, None);
        ScheduleProgress {
            schedule,
            states,
            many,
            remaining,
            knows_rows,
            awaits_starts,
            newly_ready,
            moments,
            misnamed,
        }
    }

    /// Returns an operation of a rank.
    #[inline]
    pub(super) fn operation(&self, rank: u32, operation: u32) -> PackedOperation {
        self.schedule.operation(rank as usize, operation)
    }

    /// Returns whether an operation of a rank is a receive.
    #[inline]
    pub(super) fn is_receive(&self, rank: u32, operation: u32) -> bool {
        self.schedule.operations.is_receive(self.schedule.index(rank as usize, operation))
    }

    /// Prefetches the data of an operation that will be needed soon.
    #[inline]
    pub(super) fn prefetch(&self, rank: u32, operation: u32) {
        let index = self.schedule.index(rank as usize, operation);
        prefetch_value(self.schedule.operations.word(index));
        prefetch_value(&self.states[operation as usize]);
        prefetch_value(&self.schedule.first[index]);
    }

    /// Prefetches the operations that wait for one.
    #[inline]
    pub(super) fn prefetch_followers(&self, rank: u32, operation: u32) {
        if let Some(first) = self.schedule.followers(self.schedule.index(rank as usize, operation)).first() {
            prefetch_value(first);
        }
    }

    /// Returns whether the play itself says which operation of a rank is ready, as they wait for each other in a row.
    pub(super) fn is_in_row(&self, rank: usize) -> bool {
        self.knows_rows && self.schedule.ranks[rank].is_in_row
    }

    /// Returns whether an operation is ready and not done.
    pub(super) fn is_ready(&self, operation: u32) -> bool {
        (READY..DONE).contains(&self.states[operation as usize])
    }

    /// Returns whether an operation is done.
    #[inline]
    pub(super) fn is_done(&self, operation: u32) -> bool {
        self.states[operation as usize] == DONE
    }

    /// Returns whether an operation is done, or is a receive that has got its message.
    #[inline]
    pub(super) fn has_met(&self, operation: u32) -> bool {
        self.states[operation as usize] >= MET
    }

    /// Notes that a receive that is ready has got its message.
    #[inline]
    pub(super) fn mark_met(&mut self, operation: u32) {
        self.states[operation as usize] = MET;
    }

    /// Makes the operations of a rank ready that wait for nothing.
    pub(super) fn start_rank(&mut self, rank: usize) {
        for operation in self.schedule.range(rank) {
            if self.states[operation as usize] == 0 {
                self.states[operation as usize] = READY;
                self.newly_ready.push((Time::ZERO, operation));
            }
        }
    }

    /// Notes that an operation is ready, as the one before it in a row is done.
    #[inline]
    pub(super) fn start_in_row(&mut self, operation: u32) {
        self.states[operation as usize] = READY;
    }

    /// Notes that an operation is done for which only the next one in a row waits.
    #[inline]
    pub(super) fn end_in_row(&mut self, operation: u32, at: Time) {
        self.states[operation as usize] = DONE;
        self.remaining -= 1;
        if let Some(moments) = &mut self.moments {
            moments[operation as usize].1 = at;
        }
    }

    /// Returns whether it matters when operations begin.
    pub(super) fn needs_beginnings(&self) -> bool {
        self.awaits_starts || self.moments.is_some()
    }

    /// Notes that an operation has begun.
    #[inline]
    pub(super) fn start(&mut self, rank: u32, operation: u32, at: Time) {
        if let Some(moments) = &mut self.moments {
            moments[operation as usize].0 = at;
        }
        if self.awaits_starts && !self.is_in_row(rank as usize) {
            self.notify_followers(rank, operation, true, at);
        }
    }

    /// Notes that an operation is done.
    #[inline]
    pub(super) fn end(&mut self, rank: u32, operation: u32, at: Time) {
        self.end_in_row(operation, at);
        self.notify_followers(rank, operation, false, at);
    }

    /// Notes that a receive, named by its rank and its number, has got the message of a send.
    #[inline(always)]
    pub(super) fn meet(&mut self, (rank, receive): (u32, u32), (from, send): (u32, u32)) {
        let schedule = self.schedule;
        let bytes =
            |rank: u32, operation| schedule.operations.bytes(schedule.index(rank as usize, operation));
        let (named, sent) = (bytes(rank, receive), bytes(from, send));
        if named != sent {
            let number = receive - self.schedule.ranks[rank as usize].begin;
            let first = MisnamedLengths { count: 0, receive: (rank, number, named), message: (from, sent) };
            self.misnamed.get_or_insert(first).count += 1;
        }
    }

    /// Returns whether any operation waits for the beginning of this one.
    #[inline]
    pub(super) fn is_start_awaited(&self, rank: u32, operation: u32) -> bool {
        let followers = self.schedule.followers(self.schedule.index(rank as usize, operation));
        followers.iter().any(|follower| follower.needs_only_start())
    }

    /// Counts down the operations that wait for an operation's beginning (`begun`) or for its end.
    #[inline]
    fn notify_followers(&mut self, rank: u32, operation: u32, begun: bool, at: Time) {
        let schedule = self.schedule;
        let (index, begin) = (schedule.index(rank as usize, operation), schedule.ranks[rank as usize].begin);
        for follower in schedule.followers(index) {
            if follower.needs_only_start() == begun && self.count_down(begin + follower.operation()) {
                self.newly_ready.push((at, begin + follower.operation()));
            }
        }
    }

    /// Counts one requirement of an operation as met. Returns whether the operation is ready now.
    #[inline]
    fn count_down(&mut self, operation: u32) -> bool {
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
