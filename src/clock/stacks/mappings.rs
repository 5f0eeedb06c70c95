//! The number of memory mappings that the host leaves to this process.

use std::fs::read_to_string;

use loggp_schedule::memory::first_number;

/// The mappings that a run and its program may need beside those of the processors.
pub(crate) const SPARE_MAPPINGS: u64 = 128;

/// Returns the number of mappings that the process has, and the number that it may have, if the host reports
/// them.
pub(crate) fn mappings() -> Option<(u64, u64)> {
    let used = read_to_string("/proc/self/maps").ok()?.lines().count() as u64;
    Some((used, first_number("/proc/sys/vm/max_map_count")?))
}

/// Returns the number of mappings that the process may still make for guards. Some are left for other things.
pub(super) fn spare_mappings() -> usize {
    let spare = |(used, most): (u64, u64)| most.saturating_sub(used + 2 * SPARE_MAPPINGS) as usize;
    mappings().map_or(usize::MAX, spare)
}
