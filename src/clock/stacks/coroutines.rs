//! Processors as coroutines. The virtual clock runs them on its one thread, and the wall clock, if its
//! processors are coroutines, on the thread of each core.

use corosensei::{Coroutine, CoroutineResult, Yielder};
use loggp_model::error::Cause;

use super::arena::{Arena, ArenaStack};
use super::overflow::{WatchedStacks, end_process};
use crate::clock::StackSettings;

/// The coroutines of one thread. They yield values of `Y` and return a `T`.
pub(in crate::clock) struct Coroutines<Y, T> {
    all: Vec<Coroutine<(), Y, T, ArenaStack>>,
    stacks: Box<WatchedStacks>,
    /// The coroutines' stacks. This field comes last, because the stacks must be dropped after the
    /// coroutines.
    arena: Arena,
}

impl<Y, T> Coroutines<Y, T> {
    /// Makes a coroutine for each of these processors. A coroutine calls `start` when it is first resumed.
    pub(crate) fn new(
        ids: impl Iterator<Item = usize>,
        StackSettings { size, may_be_unguarded }: StackSettings,
        start: &impl Fn(usize, &Yielder<(), Y>) -> T,
    ) -> Result<Coroutines<Y, T>, Cause> {
        let ids: Vec<u32> = ids.map(|id| id as u32).collect();
        let count = ids.len();
        let arena = Arena::new(count, size).map_err(|error| {
            let kib = size / 1024;
            Cause::Host(format!(
                "this computer has no room for {count} stacks of {kib} KiB ({error}); use fewer processors or smaller stacks"
            ))
        })?;
        let guarded = arena.guarded_of(count);
        if guarded < count && !may_be_unguarded {
            return Err(Cause::Host(format!(
                "this computer guards {guarded} of {count} stacks; use fewer processors, or let \
                 Machine::unguarded_stacks do without guards, if no stack overflows"
            )));
        }
        let coroutine = |(index, id): (usize, &u32)| {
            let id = *id as usize;
            let program = move |yielder: &Yielder<(), Y>, ()| start(id, yielder);
            // SAFETY: the borrows of `start` outlive the caller's call, and after that call no coroutine is
            // resumed.
            unsafe { Coroutine::with_stack_unchecked(arena.stack(index), program) }
        };
        let all = ids.iter().enumerate().map(coroutine).collect();
        let stacks = WatchedStacks::new(arena.start, arena.stride, arena.page, ids, size);
        Ok(Coroutines { all, stacks, arena })
    }

    /// Runs the coroutine with this index until it yields or ends.
    #[inline]
    pub(crate) fn resume(&mut self, index: usize) -> CoroutineResult<Y, T> {
        let result = self.all[index].resume(());
        if !self.arena.is_whole(index) {
            end_process(self.stacks.ids[index], self.stacks.size);
        }
        result
    }

    /// Returns whether any coroutine has started and not ended.
    pub(crate) fn has_suspended(&self) -> bool {
        (0..self.all.len()).any(|index| self.is_suspended(index))
    }

    /// Returns whether the coroutine with this index has started and not ended.
    fn is_suspended(&self, index: usize) -> bool {
        self.all[index].started() && !self.all[index].done()
    }

    /// Runs all coroutines that have started to their ends. They must not wait for each other any more.
    pub(crate) fn run_to_end(mut self, mut on_end: impl FnMut(usize, T)) {
        for index in 0..self.all.len() {
            // In a failed run no call waits: a program that catches the panic goes on until it ends.
            while self.is_suspended(index) {
                if let CoroutineResult::Return(result) = self.resume(index) {
                    on_end(index, result);
                }
            }
        }
    }
}
