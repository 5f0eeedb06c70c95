//! The memory that a thread holds. Only tests count it.

use std::cell::Cell;

thread_local! {
    /// Bytes that this thread has allocated and not freed: now, and at most.
    static HELD: Cell<(isize, isize)> = const { Cell::new((0, 0)) };
}

/// Counts bytes that this thread allocated, or freed if negative.
pub fn count(more: isize) {
    // A thread that is ending counts nothing.
    _ = HELD.try_with(|held| {
        let (now, most) = held.get();
        held.set((now + more, most.max(now + more)));
    });
}

/// Starts to count, and returns the bytes that are allocated now.
pub fn start_count() -> isize {
    let (now, _) = HELD.get();
    HELD.set((now, now));
    now
}

/// Returns the largest number of bytes allocated since, beyond `before`.
pub fn peak_since(before: isize) -> usize {
    let (_, most) = HELD.get();
    (most - before).unsigned_abs()
}
