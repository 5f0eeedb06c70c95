//! Coroutines, and the memory that their stacks and those of threads lie in.

mod arena;
pub(super) mod coroutines;
pub(super) mod overflow;
pub(crate) mod prefetch;

use std::fs::read_to_string;
use std::path::Path;

/// The mappings that a run needs beside its processors, and those that a program may need.
pub(crate) const SPARE_MAPPINGS: u64 = 128;

/// How many mappings the process may still make, some that it may need for other things aside.
fn spare_mappings() -> usize {
    let most = first_number("/proc/sys/vm/max_map_count");
    let used = read_to_string("/proc/self/maps").map(|maps| maps.lines().count() as u64);
    let spare = most.zip(used.ok()).map(|(most, used)| most.saturating_sub(used + 2 * SPARE_MAPPINGS));
    spare.map_or(usize::MAX, |spare| spare as usize)
}

/// The number that a file begins with.
pub(crate) fn first_number(path: impl AsRef<Path>) -> Option<u64> {
    read_to_string(path).ok()?.split_whitespace().next()?.parse().ok()
}
