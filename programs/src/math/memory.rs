//! Memory for a processor, before time 0.

use std::hint::black_box;

/// Allocates `len` values and writes them all: the host may only promise the memory of a vector of zeros.
pub fn allocate_written<T: Copy>(len: usize, value: T) -> Vec<T> {
    let mut memory = Vec::with_capacity(len);
    memory.resize_with(len, || black_box(value));
    memory
}
