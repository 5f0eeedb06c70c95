//! Prefetching of memory that will be needed soon.

/// Prefetches this number of cache lines from the address `top` on.
#[inline]
pub fn prefetch_lines(top: usize, lines: usize) {
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
