//! The stacks of the processors that are coroutines: one mapping for all of them.
//!
//! If each stack had its own mapping, the host's limit of mappings would limit the processors, and a run
//! would spend most of its start and end on mapping. Here all stacks lie in one mapping, each above a guard
//! page that must not be touched. Linux since 6.13 can guard pages inside a mapping, so every stack gets a
//! guard. Elsewhere a guard takes two mappings, so only as many stacks can have one as the host allows. A run with
//! more stacks is refused, unless it [may do without](crate::Machine::unguarded_stacks). Then the others have
//! a **canary**: words at the stack's end, which are checked whenever the processor goes to sleep.
//!
//! A run's mapping is kept for the next run, which then finds its guards there and its pages touched.

use std::io::{Error, Result};
use std::num::NonZeroUsize;
use std::ops::Deref;
use std::ptr::{null_mut, with_exposed_provenance_mut};
use std::sync::LazyLock;

use corosensei::stack::{Stack, StackPointer};
use parking_lot::Mutex;

use super::mappings::spare_mappings;

/// The stacks of a run. When it is dropped, its mapping is kept for another run.
pub(in crate::clock) struct Arena(Mapping);

/// A mapping with stacks.
#[derive(Clone, Copy)]
pub(in crate::clock) struct Mapping {
    /// The address of the first byte.
    pub(super) start: usize,
    /// The number of stacks.
    count: usize,
    /// The bytes from one stack to the next: those of a stack and its guard.
    pub(super) stride: usize,
    /// The size of a page, and so of a guard, in bytes.
    pub(super) page: usize,
    /// The number of stacks that have a guard. The others have a canary.
    guarded: usize,
}

/// A stack of an [`Arena`]; the arena must outlive the stack.
pub(in crate::clock) struct ArenaStack {
    /// The highest address, at which the stack begins.
    base: NonZeroUsize,
    /// The lowest address, at which its guard begins.
    limit: NonZeroUsize,
}

/// The number of different offsets in their pages at which stacks begin. With one offset for all, the used
/// parts of the stacks would fall into few sets of the caches, and evict each other.
const OFFSETS: usize = 8;

/// The bytes from one of these offsets to the next: a cache line.
const LINE: usize = 64;

/// Each word of a canary.
const CANARY: u64 = 0x006c_6f67_6770_5f21;

/// The number of words of a canary, which is two cache lines. A frame that grows over the stack's end
/// overwrites them, unless it leaves a hole there.
const CANARY_WORDS: usize = 16;

/// The largest number of stacks that are kept, of all mappings together. Most programs touch two pages of a
/// stack, so these are 128 MiB, which the process holds until it ends. The mapping of a run with more
/// processors is not kept.
const MOST_KEPT: usize = 16 << 10;

/// Mappings that no run uses, oldest first.
struct KeptMappings(Vec<Mapping>);

/// The kept mappings of this process. They are not thread-local, because the threads end with their run.
static KEPT: Mutex<KeptMappings> = Mutex::new(KeptMappings(Vec::new()));

impl KeptMappings {
    /// Removes and returns the smallest mapping that has at least `count` stacks with this stride, if there
    /// is one.
    fn take(&mut self, count: usize, stride: usize) -> Option<Mapping> {
        let is_large_enough =
            |position: &usize| self.0[*position].stride == stride && self.0[*position].count >= count;
        let found =
            (0..self.0.len()).filter(is_large_enough).min_by_key(|position| self.0[*position].count)?;
        Some(self.0.remove(found))
    }

    /// Keeps one more mapping, and unmaps the oldest ones while there are too many stacks.
    fn put(&mut self, mapping: Mapping) {
        self.0.push(mapping);
        while self.0.iter().map(|mapping| mapping.count).sum::<usize>() > MOST_KEPT {
            self.0.remove(0).unmap();
        }
    }
}

/// Returns whether the host guards any number of stacks within one mapping.
pub(crate) fn guards_any_number() -> bool {
    static GUARDS: LazyLock<bool> = LazyLock::new(|| {
        let mapping = Mapping::without_guards(1, 1);
        mapping.is_ok_and(|mapping| {
            let guarded = mapping.guard_within();
            mapping.unmap();
            guarded == 1
        })
    });
    // Where the host reports no limit on mappings, it is taken to have none.
    *GUARDS || spare_mappings() == usize::MAX
}

/// Unmaps all mappings that are kept.
pub(crate) fn unmap_kept() {
    KEPT.lock().0.drain(..).for_each(Mapping::unmap);
}

impl Arena {
    /// Makes `count` stacks of `size` bytes each, without their guards. As many have one as the host allows.
    pub(super) fn new(count: usize, size: usize) -> Result<Arena> {
        let kept = KEPT.lock().take(count, Mapping::stride(size)?);
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
    /// Maps `count` stacks of `size` bytes each, without their guards.
    fn new(count: usize, size: usize) -> Result<Mapping> {
        let mut mapping = Mapping::without_guards(count, size)?;
        mapping.guarded = mapping.guard();
        for index in mapping.guarded..count {
            // SAFETY: the words belong to the stack, which is not used yet.
            unsafe { mapping.canary(index).write([CANARY; CANARY_WORDS]) };
        }
        Ok(mapping)
    }

    /// Returns the bytes from one stack to the next, for stacks of `size` bytes.
    fn stride(size: usize) -> Result<usize> {
        let page = rustix::param::page_size();
        let stride = size.checked_next_multiple_of(page).and_then(|size| size.checked_add(page));
        stride.ok_or_else(|| Error::from_raw_os_error(libc::ENOMEM))
    }

    /// Maps the memory, without guards and canaries.
    fn without_guards(count: usize, size: usize) -> Result<Mapping> {
        let (stride, page) = (Mapping::stride(size)?, rustix::param::page_size());
        let length = stride.checked_mul(count).ok_or_else(|| Error::from_raw_os_error(libc::ENOMEM))?;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANON | libc::MAP_NORESERVE;
        // SAFETY: the host chooses the address, so the mapping overlaps no other.
        let start = unsafe { libc::mmap(null_mut(), length, access, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(Error::last_os_error());
        }
        #[cfg(any(target_os = "linux", target_os = "android"))]
        // SAFETY: the range is the mapping. A huge page would span many stacks, of which each needs little.
        unsafe {
            libc::madvise(start, length, libc::MADV_NOHUGEPAGE);
        }
        Ok(Mapping { start: start.expose_provenance(), count, stride, page, guarded: 0 })
    }

    /// Guards as many stacks as the host allows, from the first on. Returns their number.
    fn guard(&self) -> usize {
        let guarded = self.guard_within();
        if guarded > 0 {
            return guarded;
        }
        let bottom = |index: usize| self.bottom(index).cast::<libc::c_void>();
        // SAFETY: the page is the lowest of the stack's memory, which is not used yet.
        let protect = |index| unsafe { libc::mprotect(bottom(index), self.page, libc::PROT_NONE) == 0 };
        (0..self.count.min(spare_mappings() / 2)).take_while(|index| protect(*index)).count()
    }

    /// Guards stacks without mappings of their own, from the first on. Returns their number, 0 if the host
    /// cannot.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn guard_within(&self) -> usize {
        /// Makes guard pages without a mapping of their own (Linux 6.13).
        const MADV_GUARD_INSTALL: libc::c_int = 102;
        let bottom = |index: usize| self.bottom(index).cast::<libc::c_void>();
        // SAFETY: the page is the lowest of the stack's memory, which is not used yet.
        let install = |index| unsafe { libc::madvise(bottom(index), self.page, MADV_GUARD_INSTALL) == 0 };
        (0..self.count).take_while(|index| install(*index)).count()
    }

    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    fn guard_within(&self) -> usize {
        0
    }

    /// Returns the number of the first `count` stacks that have a guard.
    pub(super) fn guarded_of(&self, count: usize) -> usize {
        self.guarded.min(count)
    }

    /// Returns the stack with an index. A stack may have one user at a time, and the arena must outlive the
    /// stack.
    pub(super) fn stack(&self, index: usize) -> ArenaStack {
        assert!(index < self.count);
        let limit = self.bottom(index).addr();
        let address = |address| NonZeroUsize::new(address).expect("it lies in the mapping");
        let base = limit + self.stride - index % OFFSETS * LINE;
        ArenaStack { base: address(base), limit: address(limit) }
    }

    /// Returns whether the stack with an index has not overflowed, as far as can be known: it has a guard, or
    /// its canary is whole. The stack's processor must not run meanwhile.
    #[inline]
    pub(super) fn is_whole(&self, index: usize) -> bool {
        // SAFETY: the words belong to the stack, and are read by no one else.
        index < self.guarded || unsafe { self.canary(index).read_volatile() == [CANARY; CANARY_WORDS] }
    }

    /// Returns the lowest address of a stack's memory, at which its guard or canary begins.
    fn bottom(&self, index: usize) -> *mut u8 {
        with_exposed_provenance_mut(self.start + index * self.stride)
    }

    /// Returns the canary of a stack that has one.
    fn canary(&self, index: usize) -> *mut [u64; CANARY_WORDS] {
        self.bottom(index).cast()
    }

    /// Gives the memory back to the host. No arena may have the memory.
    fn unmap(self) {
        // SAFETY: the mapping has no other owner, and no stack of it is used any more.
        unsafe { libc::munmap(self.bottom(0).cast(), self.stride * self.count) };
    }
}

// SAFETY: the base and the limit lie in the mapping, far enough apart, and the lowest page is a guard.
// `Coroutines::new` refuses stacks without guards, unless the caller of `Machine::unguarded_stacks` has promised
// that none overflows. The canary of such a stack only tells of a promise that was broken.
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

    /// Runs coroutines on all stacks at the same time. Each writes to most of its stack.
    fn fill(arena: &Mapping) {
        let mut all: Vec<_> = (0..arena.count)
            .map(|index| {
                let program = move |yielder: &Yielder<(), ()>, ()| {
                    let mut room = [index as u8; 12 << 10];
                    std::hint::black_box(&mut room);
                    yielder.suspend(());
                    room.iter().all(|byte| usize::from(*byte) == index)
                };
                Coroutine::with_stack(arena.stack(index), program)
            })
            .collect();
        all.iter_mut()
            .for_each(|coroutine| assert!(matches!(coroutine.resume(()), CoroutineResult::Yield(()))));
        all.iter_mut()
            .for_each(|coroutine| assert!(matches!(coroutine.resume(()), CoroutineResult::Return(true))));
        assert!((0..arena.count).all(|index| arena.is_whole(index)));
    }

    #[test]
    fn stacks_do_not_overlap() {
        let arena = Arena::new(200, 32 << 10).unwrap();
        fill(&arena);
        assert!(arena.guarded > 0);
    }

    /// One stack has a guard and the others have canaries, as on a host that allows only one guard.
    #[test]
    fn broken_canary_tells_of_an_overflow() {
        let mut arena = Mapping::without_guards(4, 32 << 10).unwrap();
        for index in 0..4 {
            // SAFETY: no stack is used yet.
            unsafe { arena.canary(index).write([CANARY; CANARY_WORDS]) };
        }
        arena.guarded = 1;
        fill(&arena);
        for (index, word) in [(0, 5), (2, 0), (3, CANARY_WORDS - 1)] {
            // SAFETY: no stack is used any more.
            unsafe { (*arena.canary(index))[word] = 0 };
        }
        assert_eq!([0, 1, 2, 3].map(|index| arena.is_whole(index)), [true, true, false, false]);
        arena.unmap();
    }

    #[test]
    fn mappings_are_kept_for_later_runs() {
        let mapped = |count| Mapping::without_guards(count, 32 << 10).unwrap();
        let mut kept = KeptMappings(Vec::new());
        let (large, small) = (mapped(20), mapped(10));
        [large, small].into_iter().for_each(|mapping| kept.put(mapping));
        assert!(kept.take(10, small.stride + 1).is_none() && kept.take(21, small.stride).is_none());
        assert_eq!(kept.take(9, small.stride).unwrap().start, small.start);
        assert_eq!(kept.take(9, small.stride).unwrap().start, large.start);
        [large, small, mapped(MOST_KEPT - 10)].into_iter().for_each(|mapping| kept.put(mapping));
        assert_eq!(kept.0.iter().map(|mapping| mapping.count).collect::<Vec<_>>(), [10, MOST_KEPT - 10]);
        kept.put(mapped(MOST_KEPT + 1));
        assert!(kept.0.is_empty());
    }

    #[test]
    fn impossible_mapping_is_an_error() {
        for (count, size) in [(1, usize::MAX), (usize::MAX, 32 << 10), (1 << 20, 1 << 40)] {
            assert!(Arena::new(count, size).is_err());
        }
    }
}
