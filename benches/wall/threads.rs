//! Bare threads, which the peers run on: pinned as the machine pins its own.

use std::sync::LazyLock;

use core_affinity::CoreId;

/// The host's cores. The host is asked once: that opens files, which takes longer than what is measured.
static CORES: LazyLock<Vec<CoreId>> = LazyLock::new(|| core_affinity::get_core_ids().unwrap_or_default());

/// How many cores there are for so many threads.
pub fn cores(threads: usize) -> usize {
    CORES.len().clamp(1, threads)
}

/// Pins the calling thread, which is this one of so many, to its core.
pub fn pin(id: usize, threads: usize) {
    if let Some(core) = CORES.get(id % cores(threads)) {
        core_affinity::set_for_current(*core);
    }
}
