//! Processors as coroutines: what the virtual clock has on its one thread, and the wall clock, if coroutines carry its
//! processors, on each core's.

use std::iter::StepBy;
use std::ops::Range;

use corosensei::{Coroutine, CoroutineResult, Yielder};

use super::arena::{Arena, ArenaStack};
use super::overflow::{Stacks, end_process};
use crate::error::Cause;

/// The coroutines of one thread. They give way with a `Y`, and return a `T`.
pub(in crate::clock) struct Coroutines<Y, T> {
    /// One for each processor.
    all: Vec<Coroutine<(), Y, T, ArenaStack>>,
    /// The numbers of their processors.
    ids: StepBy<Range<usize>>,
    /// How many bytes each stack has.
    size: usize,
    /// Their stacks, which must be dropped after them.
    arena: Arena,
}

impl<Y, T> Coroutines<Y, T> {
    /// A coroutine for each of these processors, with so many bytes of stack, that will `start` when it is resumed.
    pub(crate) fn new(
        ids: StepBy<Range<usize>>,
        size: usize,
        stacks: &Stacks,
        start: &impl Fn(usize, &Yielder<(), Y>) -> T,
    ) -> Result<Coroutines<Y, T>, Cause> {
        let count = ids.len();
        let refused = |error| no_room(count, size, &error);
        let arena = Arena::new(count, size).map_err(refused)?;
        let mut all = Vec::with_capacity(count);
        for (place, id) in ids.clone().enumerate() {
            let stack = arena.stack(place).map_err(refused)?;
            stacks.coroutine(id, &stack);
            let program = move |yielder: &Yielder<(), Y>, ()| start(id, yielder);
            // SAFETY: what `start` borrows lives as long as the caller's call, in which the coroutines end or are
            // never resumed after it.
            all.push(unsafe { Coroutine::with_stack_unchecked(stack, program) });
        }
        Ok(Coroutines { all, ids, size, arena })
    }

    /// Lets the one at this place run until it gives way or ends.
    #[inline]
    pub(crate) fn resume(&mut self, place: usize) -> CoroutineResult<Y, T> {
        let result = self.all[place].resume(());
        if !self.arena.is_whole(place) {
            end_process(self.ids.clone().nth(place).unwrap_or(place), self.size);
        }
        result
    }

    /// Whether one has started and not ended.
    pub(crate) fn any_waits(&self) -> bool {
        (0..self.all.len()).any(|place| self.waits(place))
    }

    /// Whether the one at this place has started and not ended.
    fn waits(&self, place: usize) -> bool {
        self.all[place].started() && !self.all[place].done()
    }

    /// Lets all that have started and not ended run until they have. They must not wait for each other any more.
    pub(crate) fn end(mut self, mut ended: impl FnMut(usize, T)) {
        for place in 0..self.all.len() {
            // Who catches what unwinds it goes on until it ends, and never waits.
            while self.waits(place) {
                if let CoroutineResult::Return(result) = self.resume(place) {
                    ended(place, result);
                }
            }
        }
    }
}

/// The error of a computer that has no room for the stacks.
fn no_room(count: usize, size: usize, error: &std::io::Error) -> Cause {
    Cause::Host(format!(
        "this computer has no room for {count} stacks of {} KiB ({error}); use fewer processors or smaller stacks",
        size / 1024
    ))
}
