//! The stacks of the processors that are coroutines: one mapping for all of them.
//!
//! If each stack had a mapping, the host's limit of mappings would limit the processors, and most of the time in which a
//! run starts and ends would go into mapping. Here each stack has its place in one mapping, with a guard page below it
//! that nobody may touch. Linux since 6.13 can guard pages inside of a mapping, so every stack gets a guard. Elsewhere a
//! guard takes two mappings, so only as many stacks get one as the host allows, and the others have a **canary**: some
//! words at the stack's end, which are checked whenever its processor goes to sleep.
//!
//! A run's mapping is kept for the next run, which then finds its guards there and its pages touched.

use std::io::{Error, Result};
use std::num::NonZeroUsize;
use std::ops::Deref;
use std::ptr::{null_mut, with_exposed_provenance_mut};

use corosensei::stack::{Stack, StackPointer};
use parking_lot::Mutex;

use super::mappings::spare_mappings;

/// The stacks of a run. When it is dropped, they are kept for another.
pub(in crate::clock) struct Arena(Mapping);

/// Stacks in a mapping of their own.
#[derive(Clone, Copy)]
pub(in crate::clock) struct Mapping {
    /// The address where it begins.
    start: usize,
    /// How many stacks there are.
    count: usize,
    /// The bytes from one stack to the next: the stack and its guard.
    each: usize,
    /// The bytes of a page, and so of a guard.
    page: usize,
    /// How many stacks have a guard. The others have a canary.
    guarded: usize,
}

/// A stack of an [`Arena`]; the arena must outlive it.
pub(in crate::clock) struct ArenaStack {
    /// The highest address, where the stack begins.
    base: NonZeroUsize,
    /// The lowest address, where its guard begins.
    limit: NonZeroUsize,
}

/// At how many places of their pages stacks begin. If all began at the same one, what processors use of their stacks would lie
/// in few sets of the caches, and push each other out.
const BEGINNINGS: usize = 8;

/// The bytes from one of these places to the next: a cache line.
const LINE: usize = 64;

/// Each word of a canary.
const CANARY: u64 = 0x006c_6f67_6770_5f21;

/// The words of a canary: two cache lines. A frame that grows over the stack's end overwrites them unless it has a hole
/// there.
const CANARY_WORDS: usize = 16;

/// How many stacks are kept at most, of all mappings together. Most programs touch two pages of a stack, so that these are 128
/// MiB, which a process holds until it ends. Of runs with more processors nothing is kept.
const MOST_KEPT: usize = 16 << 10;

/// Mappings that no run uses, the oldest first.
struct Kept(Vec<Mapping>);

/// Those of this process. Each core of a run has a thread of its own, which ends with the run, so threads keep nothing.
static KEPT: Mutex<Kept> = Mutex::new(Kept(Vec::new()));

impl Kept {
    /// The smallest that has so many stacks, so far apart.
    fn take(&mut self, count: usize, each: usize) -> Option<Mapping> {
        let fits = |at: &usize| self.0[*at].each == each && self.0[*at].count >= count;
        let found = (0..self.0.len()).filter(fits).min_by_key(|at| self.0[*at].count)?;
        Some(self.0.remove(found))
    }

    /// Keeps one more, and gives the oldest back to the host while they are too many.
    fn put(&mut self, mapping: Mapping) {
        self.0.push(mapping);
        while self.0.iter().map(|mapping| mapping.count).sum::<usize>() > MOST_KEPT {
            self.0.remove(0).unmap();
        }
    }
}

/// Gives all that is kept back to the host.
pub(crate) fn unmap_kept() {
    KEPT.lock().0.drain(..).for_each(Mapping::unmap);
}

impl Arena {
    /// `count` stacks of `size` bytes each, guards not counted.
    pub(super) fn new(count: usize, size: usize) -> Result<Arena> {
        let kept = KEPT.lock().take(count, Mapping::each(size)?);
        kept.map_or_else(|| Mapping::new(count, size), Ok).map(Arena)
    }
}

impl Deref for Arena {
    type Target = Mapping;

    #[inline]
    fn deref(&self) -> &Mapping {
        &self.0
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        KEPT.lock().put(self.0);
    }
}

impl Mapping {
    /// `count` stacks of `size` bytes each, guards not counted.
    fn new(count: usize, size: usize) -> Result<Mapping> {
        let mut mapping = Mapping::without_guards(count, size)?;
        mapping.guarded = mapping.guard();
        for place in mapping.guarded..count {
            // SAFETY: the words lie in the stack's place, which nobody uses yet.
            unsafe { mapping.canary(place).write([CANARY; CANARY_WORDS]) };
        }
        Ok(mapping)
    }

    /// The bytes from one stack to the next.
    fn each(size: usize) -> Result<usize> {
        let page = rustix::param::page_size();
        let each = size.checked_next_multiple_of(page).and_then(|size| size.checked_add(page));
        each.ok_or_else(|| Error::from_raw_os_error(libc::ENOMEM))
    }

    /// Only the mapping, without guards and canaries.
    fn without_guards(count: usize, size: usize) -> Result<Mapping> {
        let (each, page) = (Mapping::each(size)?, rustix::param::page_size());
        let length = each.checked_mul(count).ok_or_else(|| Error::from_raw_os_error(libc::ENOMEM))?;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANON | libc::MAP_NORESERVE;
        // SAFETY: the host chooses where, so the mapping is nobody else's.
        let start = unsafe { libc::mmap(null_mut(), length, access, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(Error::last_os_error());
        }
        #[cfg(any(target_os = "linux", target_os = "android"))]
        // SAFETY: the range is the mapping. A huge page would hold many stacks, of which each needs little.
        unsafe {
            libc::madvise(start, length, libc::MADV_NOHUGEPAGE);
        }
        Ok(Mapping { start: start.expose_provenance(), count, each, page, guarded: 0 })
    }

    /// Guards as many stacks as the host allows, from the first on. Returns how many.
    fn guard(&self) -> usize {
        let at = |place: usize| self.bottom(place).cast::<libc::c_void>();
        #[cfg(any(target_os = "linux", target_os = "android"))]
        {
            /// Makes pages that nobody may touch, without a mapping of their own (Linux 6.13).
            const MADV_GUARD_INSTALL: libc::c_int = 102;
            // SAFETY: the page is the lowest of the stack's place, which nobody uses yet.
            let install = |place| unsafe { libc::madvise(at(place), self.page, MADV_GUARD_INSTALL) == 0 };
            let guarded = (0..self.count).take_while(|place| install(*place)).count();
            if guarded > 0 {
                return guarded;
            }
        }
        // SAFETY: as above.
        let protect = |place| unsafe { libc::mprotect(at(place), self.page, libc::PROT_NONE) == 0 };
        (0..self.count.min(spare_mappings() / 2)).take_while(|place| protect(*place)).count()
    }

    /// The stack at a place. It may have one user at a time, and the arena must outlive it.
    pub(super) fn stack(&self, place: usize) -> Result<ArenaStack> {
        assert!(place < self.count);
        let limit = self.bottom(place).addr();
        let address = |address| NonZeroUsize::new(address).expect("it lies in the mapping");
        let base = limit + self.each - place % BEGINNINGS * LINE;
        Ok(ArenaStack { base: address(base), limit: address(limit) })
    }

    /// Whether the stack at a place has not overflowed, as far as can be known: it has a guard, or its canary is whole.
    /// The stack's processor must not run meanwhile.
    #[inline]
    pub(super) fn is_whole(&self, place: usize) -> bool {
        // SAFETY: the words are the stack's, and nobody else's.
        place < self.guarded || unsafe { self.canary(place).read_volatile() == [CANARY; CANARY_WORDS] }
    }

    /// The lowest address of a stack's place, where its guard or canary begins.
    fn bottom(&self, place: usize) -> *mut u8 {
        with_exposed_provenance_mut(self.start + place * self.each)
    }

    /// The canary of a stack that has one.
    fn canary(&self, place: usize) -> *mut [u64; CANARY_WORDS] {
        self.bottom(place).cast()
    }

    /// Gives it back to the host. No arena has it.
    fn unmap(self) {
        // SAFETY: the mapping is nobody else's, and no stack of it is used any more.
        unsafe { libc::munmap(self.bottom(0).cast(), self.each * self.count) };
    }
}

// SAFETY: the base and the limit lie in the mapping, far enough apart, and the lowest page is a guard. If the host gives no
// guard, `Coroutines::resume` checks the canary when the stack's processor has gone to sleep, and ends the process if it is
// broken, before anything is used that an overflow may have overwritten.
unsafe impl Stack for ArenaStack {
    fn base(&self) -> StackPointer {
        self.base
    }

    fn limit(&self) -> StackPointer {
        self.limit
    }
}

#[cfg(test)]
mod tests {
    use corosensei::{Coroutine, CoroutineResult, Yielder};

    use super::*;

    /// Runs coroutines on all stacks at the same time; each writes to much of its stack.
    fn fill(arena: &Mapping) {
        let mut all: Vec<_> = (0..arena.count)
            .map(|place| {
                let program = move |yielder: &Yielder<(), ()>, ()| {
                    let mut room = [place as u8; 12 << 10];
                    std::hint::black_box(&mut room);
                    yielder.suspend(());
                    room.iter().all(|byte| usize::from(*byte) == place)
                };
                Coroutine::with_stack(arena.stack(place).unwrap(), program)
            })
            .collect();
        all.iter_mut()
            .for_each(|coroutine| assert!(matches!(coroutine.resume(()), CoroutineResult::Yield(()))));
        all.iter_mut()
            .for_each(|coroutine| assert!(matches!(coroutine.resume(()), CoroutineResult::Return(true))));
        assert!((0..arena.count).all(|place| arena.is_whole(place)));
    }

    #[test]
    fn each_stack_is_its_own() {
        let arena = Arena::new(200, 32 << 10).unwrap();
        fill(&arena);
        assert!(arena.guarded > 0);
    }

    /// On a host that has only one guard left, the other stacks have canaries.
    #[test]
    fn a_canary_tells_of_an_overflow() {
        let mut arena = Mapping::without_guards(4, 32 << 10).unwrap();
        for place in 0..4 {
            // SAFETY: no stack is used yet.
            unsafe { arena.canary(place).write([CANARY; CANARY_WORDS]) };
        }
        arena.guarded = 1;
        fill(&arena);
        for (place, word) in [(0, 5), (2, 0), (3, CANARY_WORDS - 1)] {
            // SAFETY: no stack is used any more.
            unsafe { (*arena.canary(place))[word] = 0 };
        }
        assert_eq!([0, 1, 2, 3].map(|place| arena.is_whole(place)), [true, true, false, false]);
        arena.unmap();
    }

    #[test]
    fn keeps_some_mappings_for_later_runs() {
        let mapped = |count| Mapping::without_guards(count, 32 << 10).unwrap();
        let mut kept = Kept(Vec::new());
        let (large, small) = (mapped(20), mapped(10));
        [large, small].into_iter().for_each(|mapping| kept.put(mapping));
        assert!(kept.take(10, small.each + 1).is_none() && kept.take(21, small.each).is_none());
        assert_eq!(kept.take(9, small.each).unwrap().start, small.start);
        assert_eq!(kept.take(9, small.each).unwrap().start, large.start);
        [large, small, mapped(MOST_KEPT - 10)].into_iter().for_each(|mapping| kept.put(mapping));
        assert_eq!(kept.0.iter().map(|mapping| mapping.count).collect::<Vec<_>>(), [10, MOST_KEPT - 10]);
        kept.put(mapped(MOST_KEPT + 1));
        assert!(kept.0.is_empty());
    }

    #[test]
    fn what_cannot_be_mapped_is_an_error() {
        for (count, size) in [(1, usize::MAX), (usize::MAX, 32 << 10), (1 << 20, 1 << 40)] {
            assert!(Arena::new(count, size).is_err());
        }
    }
}
