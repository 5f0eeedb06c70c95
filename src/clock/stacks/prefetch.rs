//! Fetching into the cache what will be needed soon: a stack, or a value.
//!
//! With thousands of processors, resuming one means waiting for its stack to come from main memory, page
//! table included: longer than all else a message costs. The agenda knows the processor after the next one, so what
//! that one touches is fetched while the next one runs.

/// How many cache lines of its stack a processor touches from where it sleeps to where it sleeps next, if its program is a
/// loop of sends and receives. Each that is not fetched costs as much as all the rules of a message where there are 16,384
/// processors, so better a few too many.
const LINES: usize = 13;

/// How many cache lines of a processor's own state its calls touch.
pub(crate) const PROC_LINES: usize = 3;

/// How far below where it sleeps a processor touches its stack: its next send reaches deeper, by two cache lines.
const BELOW: usize = 128;

/// Fetches the stack above `top`, without waiting for it.
#[inline]
pub(crate) fn prefetch_stack(top: usize) {
    prefetch_lines(top.wrapping_sub(BELOW), LINES);
}

/// Fetches a value, without waiting for it.
#[inline]
pub(crate) fn prefetch_value<T>(value: &T) {
    prefetch_lines((&raw const *value).addr(), size_of::<T>().div_ceil(64));
}

/// Fetches so many cache lines, without waiting for them.
#[inline]
pub(crate) fn prefetch_lines(top: usize, lines: usize) {
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
