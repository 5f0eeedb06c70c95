//! Bare threads for the peers, pinned as the machine pins its own.

use std::sync::LazyLock;

use core_affinity::CoreId;

/// The host's cores, looked up once, since that opens files and takes longer than a measurement.
static CORES: LazyLock<Vec<CoreId>> = LazyLock::new(|| core_affinity::get_core_ids().unwrap_or_default());

/// Returns the number of cores for this many threads.
pub(crate) fn cores(threads: usize) -> usize {
    CORES.len().clamp(1, threads)
}

/// Pins the calling thread, which is number `id` of `threads`, to its core.
pub(crate) fn pin(id: usize, threads: usize) {
    if let Some(core) = CORES.get(id % cores(threads)) {
        core_affinity::set_for_current(*core);
    }
}
