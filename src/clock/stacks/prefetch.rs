//! Fetching into the cache what will be needed soon: a stack, or a value.
//!
//! With thousands of processors, resuming one means waiting for its stack to come from main memory, page
//! table included: longer than all else a message costs. The agenda knows who comes after the next, so that
//! one's stack is fetched while the next runs.

/// The cache lines above the stack pointer of a sleeping processor that it touches when it wakes: the frames
/// from its program to where it sleeps.
const LINES: usize = 12;

/// Asks for the stack above `top`, and does not wait for it.
#[inline]
pub(crate) fn prefetch_stack(top: usize) {
    prefetch_lines(top, LINES);
}

/// Asks for a value, and does not wait for it.
#[inline]
pub(crate) fn prefetch_value<T>(value: &T) {
    prefetch_lines((&raw const *value).addr(), size_of::<T>().div_ceil(64));
}

/// Asks for some cache lines.
#[inline]
fn prefetch_lines(top: usize, lines: usize) {
    #[cfg(target_arch = "x86_64")]
    for line in 0..lines {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch is a hint. It reads nothing that the program could see, and of an address that
        // is not mapped it does nothing.
        unsafe { _mm_prefetch::<_MM_HINT_T0>((top as *const i8).wrapping_add(64 * line)) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (top, lines);
}
