//! Memory for a processor, before time 0.

use std::hint::black_box;

/// Memory for so many values, all written: a vector of zeros would be memory that the host has only promised.
pub fn written<T: Copy>(len: usize, value: T) -> Vec<T> {
    let mut memory = Vec::with_capacity(len);
    memory.resize_with(len, || black_box(value));
    memory
}
