//! The memory that a thread holds, counted by an allocator.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, which counts.
struct CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

thread_local! {
    /// Bytes that this thread has allocated and not freed: now, and at most.
    static HELD: Cell<(isize, isize)> = const { Cell::new((0, 0)) };
}

/// Counts bytes that this thread allocated, or freed if negative.
fn count(more: isize) {
    // A thread that is ending counts nothing.
    _ = HELD.try_with(|held| {
        let (now, most) = held.get();
        held.set((now + more, most.max(now + more)));
    });
}

/// Starts to count, and returns the bytes that are allocated now.
pub(super) fn start_count() -> isize {
    let (now, _) = HELD.get();
    HELD.set((now, now));
    now
}

/// Returns the largest number of bytes allocated since, beyond `before`.
pub(super) fn peak_since(before: isize) -> usize {
    let (_, most) = HELD.get();
    (most - before).unsigned_abs()
}

// SAFETY: every call is passed on to the system's allocator.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size as isize - layout.size() as isize);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.realloc(memory, layout, size) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(memory, layout) }
    }
}
