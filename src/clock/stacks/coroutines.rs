//! Processors as coroutines. The virtual clock has them on its one thread, and the wall clock, if coroutines carry its
//! processors, on the thread of each core.

use corosensei::{Coroutine, CoroutineResult, Yielder};

use super::arena::{Arena, ArenaStack};
use super::overflow::{Stacks, end_process};
use crate::error::Cause;

/// The coroutines of one thread. They yield a `Y`, and return a `T`.
pub(in crate::clock) struct Coroutines<Y, T> {
    /// One for each processor.
    all: Vec<Coroutine<(), Y, T, ArenaStack>>,
    /// The numbers of the coroutines' processors.
    ids: Vec<u32>,
    /// How many bytes each stack has.
    size: usize,
    /// The coroutines' stacks. This field comes last, as the stacks must be dropped after the coroutines.
    arena: Arena,
}

impl<Y, T> Coroutines<Y, T> {
    /// A coroutine for each of these processors, with `size` bytes of stack. It calls `start` when it is first resumed.
    pub(crate) fn new(
        ids: impl Iterator<Item = usize>,
        size: usize,
        stacks: &Stacks,
        start: &impl Fn(usize, &Yielder<(), Y>) -> T,
    ) -> Result<Coroutines<Y, T>, Cause> {
        let ids: Vec<u32> = ids.map(|id| id as u32).collect();
        let count = ids.len();
        let refused = |error| no_room(count, size, &error);
        let arena = Arena::new(count, size).map_err(refused)?;
        let mut all = Vec::with_capacity(count);
        for (place, id) in ids.iter().enumerate() {
            let id = *id as usize;
            let stack = arena.stack(place).map_err(refused)?;
            stacks.coroutine(id, &stack);
            let program = move |yielder: &Yielder<(), Y>, ()| start(id, yielder);
            // SAFETY: what `start` borrows outlives the caller's call, and after that call no coroutine is resumed.
            all.push(unsafe { Coroutine::with_stack_unchecked(stack, program) });
        }
        Ok(Coroutines { all, ids, size, arena })
    }

    /// Lets the coroutine at this place run until it yields or ends.
    #[inline]
    pub(crate) fn resume(&mut self, place: usize) -> CoroutineResult<Y, T> {
        let result = self.all[place].resume(());
        if !self.arena.is_whole(place) {
            end_process(self.ids[place] as usize, self.size);
        }
        result
    }

    /// Whether any coroutine has started and not ended.
    pub(crate) fn any_waits(&self) -> bool {
        (0..self.all.len()).any(|place| self.waits(place))
    }

    /// Whether the coroutine at this place has started and not ended.
    fn waits(&self, place: usize) -> bool {
        self.all[place].started() && !self.all[place].done()
    }

    /// Lets all coroutines that have started run until they end. They must not wait for each other any more.
    pub(crate) fn end(mut self, mut ended: impl FnMut(usize, T)) {
        for place in 0..self.all.len() {
            // In a failed run no call waits: a program that catches the panic goes on until it ends.
            while self.waits(place) {
                if let CoroutineResult::Return(result) = self.resume(place) {
                    ended(place, result);
                }
            }
        }
    }
}

/// The error that this computer has no room for the stacks.
fn no_room(count: usize, size: usize, error: &std::io::Error) -> Cause {
    Cause::Host(format!(
        "this computer has no room for {count} stacks of {} KiB ({error}); use fewer processors or smaller stacks",
        size / 1024
    ))
}
