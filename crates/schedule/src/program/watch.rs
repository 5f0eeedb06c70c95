//! Divides the time of a play while it goes on, so that no operation's moments need be kept.

use loggp_model::time::Time;

use super::index::{CallGroup, CallSpan, RankIndex};
use super::schedule::ProgramSchedule;
use super::times::{RankComparison, TimePair, time};
use crate::Beginning;

/// Watches a play of a program's schedule, and divides the time of each rank.
#[derive(Debug)]
pub struct PlayWatch<'a> {
    pub(super) ranks: Vec<RankWatch<'a>>,
}

/// Watches one rank.
#[derive(Debug)]
pub(super) struct RankWatch<'a> {
    index: &'a RankIndex,
    /// The number of the rank's operations.
    operations: u32,
    threads: Vec<ThreadWatch>,
    /// First operations of calls that have begun before those of earlier calls, as those of immediate collectives may.
    early: Vec<(u32, Time, Time)>,
    computing: Time,
    groups: Vec<(CallGroup, Time)>,
}

/// Follows the calls of a thread in their order.
#[derive(Clone, Copy, Debug, Default)]
struct ThreadWatch {
    /// The next call with operations, and the first one of these; `u32::MAX` if there is none.
    next: usize,
    first: u32,
    /// The group whose time runs, and since when.
    now: Option<(CallGroup, Time)>,
}

impl<'a> PlayWatch<'a> {
    /// Creates a watch for a program, whose calls must be known.
    pub fn new(program: &'a ProgramSchedule) -> PlayWatch<'a> {
        let ranks = program.ranks.iter().enumerate().map(|(rank, index)| {
            let mut watch = RankWatch {
                index,
                operations: program.schedule.operations(rank).len() as u32,
                threads: vec![ThreadWatch::default(); index.spans.threads()],
                early: Vec::new(),
                computing: Time::ZERO,
                groups: Vec::new(),
            };
            (0..watch.threads.len()).for_each(|thread| watch.go_to(thread, 0));
            watch
        });
        PlayWatch { ranks: ranks.collect() }
    }

    /// Notes that an operation begins.
    #[inline]
    pub fn begin(&mut self, beginning: Beginning) {
        let Beginning { rank, operation, at, end, .. } = beginning;
        if let Some(rank) = self.ranks.get_mut(rank) {
            rank.begin(operation, at, end.unwrap_or(at));
        }
    }
}

impl RankWatch<'_> {
    #[inline]
    fn begin(&mut self, operation: u32, begin: Time, end: Time) {
        let Some(mut thread) = self.threads.iter().position(|thread| thread.first == operation) else {
            if self.threads.iter().any(|thread| thread.first < operation) {
                self.keep_early(operation, begin, end);
            }
            return;
        };
        let (mut begin, mut end) = (begin, end);
        loop {
            self.begin_call(thread, begin, end);
            if self.early.is_empty() {
                return;
            }
            let is_next =
                |one: &(u32, Time, Time)| self.threads.iter().position(|thread| thread.first == one.0);
            let next = self.early.iter().enumerate().find_map(|(index, one)| Some((index, is_next(one)?)));
            let Some((index, of_thread)) = next else { return };
            thread = of_thread;
            (_, begin, end) = self.early.swap_remove(index);
        }
    }

    /// Keeps an operation for later if it is the first one of a call.
    #[cold]
    fn keep_early(&mut self, operation: u32, begin: Time, end: Time) {
        let Some(call) = self.index.spans.call_of(operation) else { return };
        let is_first = |span: &CallSpan| {
            span.first == operation && call > self.threads[usize::from(span.kind.thread)].next
        };
        if self.index.spans.get(call).is_some_and(|span| is_first(&span)) {
            self.early.push((operation, begin, end));
        }
    }

    /// Notes that the first operation of a thread's next call begins.
    fn begin_call(&mut self, thread: usize, begin: Time, end: Time) {
        let ThreadWatch { next, now, .. } = self.threads[thread];
        let Some(CallSpan { kind, .. }) = self.index.spans.get(next) else { return };
        if let Some((group, since)) = now {
            self.add(group, begin - since);
        }
        let mut since = begin;
        if kind.has_calc {
            self.computing += end - begin;
            since = end;
        }
        self.threads[thread].now = Some((kind.group, since));
        self.go_to(thread, next + 1);
    }

    /// Makes the first call of a thread from this one on its next one. Calls without operations count for those before.
    fn go_to(&mut self, thread: usize, call: usize) {
        let spans = &self.index.spans;
        let ThreadWatch { next, first, now } = &mut self.threads[thread];
        for call in call..spans.len() {
            let Some(span) = spans.get(call) else { break };
            if usize::from(span.kind.thread) != thread {
                continue;
            }
            let until = spans.get(call + 1).map_or(self.operations, |after| after.first);
            if span.first < until {
                (*next, *first) = (call, span.first);
                return;
            }
            *now = now.or(Some((span.kind.group, Time::ZERO)));
        }
        (*next, *first) = (spans.len(), u32::MAX);
    }

    fn add(&mut self, group: CallGroup, time: Time) {
        let time = time.max(Time::ZERO);
        match self.groups.iter_mut().find(|(other, _)| *other == group) {
            Some((_, sum)) => *sum += time,
            None => self.groups.push((group, time)),
        }
    }

    /// Returns the times of the rank, which ends so.
    pub(super) fn finish(mut self, end: TimePair) -> RankComparison {
        if let Some((group, since)) = self.threads.first().and_then(|thread| thread.now)
            && group != CallGroup::END
        {
            self.add(group, end.predicted - since);
        }
        let recorded = self.index.inside_ns.iter();
        let mut groups: Vec<(CallGroup, TimePair)> = recorded
            .map(|(group, ns)| (*group, TimePair { recorded: time(*ns), predicted: Time::ZERO }))
            .collect();
        for (group, predicted) in self.groups {
            match groups.iter_mut().find(|(other, _)| *other == group) {
                Some((_, pair)) => pair.predicted = predicted,
                None if predicted > Time::ZERO => {
                    groups.push((group, TimePair { recorded: Time::ZERO, predicted }));
                }
                None => (),
            }
        }
        groups.sort_by_key(|(group, _)| *group);
        let computing = TimePair { recorded: time(self.index.computing_ns), predicted: self.computing };
        RankComparison { end, computing, groups }
    }
}
