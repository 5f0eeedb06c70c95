//! How much room for mappings the host leaves.

use std::fs::read_to_string;
use std::path::Path;

/// The mappings that a run needs beside its processors, and those that a program may need.
pub(crate) const SPARE_MAPPINGS: u64 = 128;

/// How many mappings the process has, and how many it may have.
pub(crate) fn mappings() -> Option<(u64, u64)> {
    let used = read_to_string("/proc/self/maps").ok()?.lines().count() as u64;
    Some((used, first_number("/proc/sys/vm/max_map_count")?))
}

/// How many mappings the process may still make for guards; some stay free for other things.
pub(super) fn spare_mappings() -> usize {
    let spare = |(used, most): (u64, u64)| most.saturating_sub(used + 2 * SPARE_MAPPINGS) as usize;
    mappings().map_or(usize::MAX, spare)
}

/// The number that a file begins with.
pub(crate) fn first_number(path: impl AsRef<Path>) -> Option<u64> {
    read_to_string(path).ok()?.split_whitespace().next()?.parse().ok()
}
