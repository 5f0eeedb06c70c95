//! The host's cores.

/// How many of the host's cores `P` processors use if they may use `most`.
pub(crate) fn cores_for(P: usize, most: usize) -> usize {
    most.min(available_cores()).min(P).max(1)
}

/// How many cores the host offers: those on which this process may run, but no more than its control group has time for. In a
/// container with a quota of two cores on a large host, more of them would wait for each other to be let run.
pub(crate) fn available_cores() -> usize {
    let may_run = std::thread::available_parallelism().map_or(1, usize::from);
    core_affinity::get_core_ids().map_or(may_run, |ids| ids.len().clamp(1, may_run))
}

/// Pins the calling thread to a core, or to one that is shared if the host has too few. Returns whether that worked.
pub(in crate::clock) fn pin(core: usize, ids: &[core_affinity::CoreId]) -> bool {
    ids.get(core % ids.len().max(1)).is_some_and(|core| core_affinity::set_for_current(*core))
}
