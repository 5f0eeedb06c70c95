//! Prefetching of stacks and values that will be needed soon.
//!
//! With thousands of processors, a processor that is resumed waits for its stack, page table included, to
//! come from main memory: longer than all else that a message costs. The agenda knows the processor after the
//! next one, so the memory of that one is prefetched while the next one runs.

/// The number of cache lines of its stack that a processor touches between two sleeps, if its program is a
/// loop of sends and receives. With 16,384 processors, each line that is not prefetched costs as much as all
/// the rules of a message, so a few too many are better than too few.
const STACK_LINES: usize = 13;

/// The number of cache lines of a processor's own state that its calls touch.
pub(crate) const PROC_LINES: usize = 3;

/// The number of bytes below its sleeping point that a processor touches: its next send reaches deeper, by
/// two cache lines.
const REACH_BELOW: usize = 128;

/// Prefetches the stack of a processor that sleeps at the address `top`.
#[inline]
pub(crate) fn prefetch_stack(top: usize) {
    prefetch_lines(top.wrapping_sub(REACH_BELOW), STACK_LINES);
}

/// Prefetches a value.
#[inline]
pub(crate) fn prefetch_value<T>(value: &T) {
    prefetch_lines((&raw const *value).addr(), size_of::<T>().div_ceil(64));
}

/// Prefetches this number of cache lines from the address `top` on.
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
