//! Prefetching of stacks that will be needed soon.
//!
//! With thousands of processors, a processor that is resumed waits for its stack, page table included, to
//! come from main memory: longer than all else that a message costs. The agenda knows the processor after the
//! next one, so the memory of that one is prefetched while the next one runs.

use loggp_model::prefetch::prefetch_lines;

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
