//! The host's cores, and the choice of those that a run uses.

use std::collections::HashSet;
use std::fs::read_to_string;
use std::path::Path;

use core_affinity::CoreId;
use parking_lot::Mutex;

/// The folder in which Linux describes the computer.
const DEVICES: &str = "/sys/devices";

/// The cores that a run may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HostCores {
    /// The numbers of all cores, first those that a run uses by default.
    ids: Vec<usize>,
    /// The number of cores that a run uses by default.
    default_count: usize,
    /// The reason why a run does not use the others, or why it could not choose; `None` if there was nothing
    /// to choose.
    pub why: Option<&'static str>,
}

impl HostCores {
    /// Finds the cores on which this process may run. Their description is read again only when they have
    /// changed.
    pub(crate) fn detect() -> HostCores {
        /// The result of the last call, with the cores' numbers.
        static LAST_RESULT: Mutex<Option<(Vec<usize>, HostCores)>> = Mutex::new(None);
        let ids: Vec<usize> =
            core_affinity::get_core_ids().unwrap_or_default().into_iter().map(|id| id.id).collect();
        let mut known = LAST_RESULT.lock();
        if let Some((_, cores)) = known.as_ref().filter(|(same, _)| *same == ids) {
            return cores.clone();
        }
        let cores = HostCores::from_devices(Path::new(DEVICES), &ids);
        *known = Some((ids, cores.clone()));
        cores
    }

    /// Chooses among the cores with these numbers, as a folder describes them. A core whose description is
    /// unclear is used.
    fn from_devices(devices: &Path, ids: &[usize]) -> HostCores {
        let read = |path: String| read_to_string(devices.join(path)).ok();
        let of_core = |id: usize, file: &str| read(format!("system/cpu/cpu{id}/{file}"));
        // Threads of the same core list the same siblings, and the first of them stands for the core.
        let siblings =
            |id: usize| of_core(id, "topology/thread_siblings_list").and_then(|list| numbers(&list));
        let mut seen = HashSet::new();
        let mut is_first = |id: &usize| {
            let siblings = siblings(*id).filter(|siblings| siblings.contains(id));
            siblings.is_none_or(|siblings| seen.insert(siblings))
        };
        let (first, threads): (Vec<usize>, Vec<usize>) = ids.iter().partition(|id| is_first(id));
        // Intel's hybrids list their fast cores. Elsewhere a slow core has less than half of the largest
        // capacity.
        let fast = read("cpu_core/cpus".into()).and_then(|list| numbers(&list));
        let capacity = |id: usize| of_core(id, "cpu_capacity")?.trim().parse::<u64>().ok();
        let most = first.iter().filter_map(|id| capacity(*id)).max().unwrap_or(0);
        let is_fast = |id: &usize| match &fast {
            Some(fast) => fast.contains(id),
            None => capacity(*id).is_none_or(|capacity| 2 * capacity >= most),
        };
        let (mut chosen, slow): (Vec<usize>, Vec<usize>) = first.into_iter().partition(is_fast);
        let why = match (threads.is_empty(), slow.is_empty() || chosen.is_empty()) {
            (true, true) if ids.len() > 1 && ids.iter().all(|id| siblings(*id).is_none()) => {
                Some("this computer does not tell which cores are threads of another, so all are taken")
            }
            (true, true) => None,
            (false, true) => Some("one thread is taken of each core; --cores takes more"),
            (true, false) => Some("only the fast cores are taken; --cores takes more"),
            (false, false) => Some("one thread is taken of each fast core; --cores takes more"),
        };
        let fast = if chosen.is_empty() { slow.len() } else { chosen.len() };
        chosen.extend(slow.into_iter().chain(threads));
        HostCores { ids: chosen, default_count: fast, why }
    }

    /// Returns the number of cores on which this process may run.
    pub(crate) fn count(&self) -> usize {
        self.ids.len()
    }

    /// Returns the cores' identifiers in the order in which a run uses them.
    pub(in crate::clock) fn ids(&self) -> Vec<CoreId> {
        self.ids.iter().map(|id| CoreId { id: *id }).collect()
    }
}

/// Parses the numbers of a list such as `0-3,8`. Returns `None` if the text is no such list.
fn numbers(list: &str) -> Option<Vec<usize>> {
    let mut numbers = Vec::new();
    for part in list.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        if last < first || last > first + 4096 {
            return None;
        }
        numbers.extend(first..=last);
    }
    Some(numbers)
}

/// Returns the number of the host's cores that `P` processors use if they may use `most`. `usize::MAX` stands
/// for the default.
pub(crate) fn cores_for(P: usize, most: usize) -> usize {
    if most.min(P) <= 1 {
        return 1; // asking the host takes longer than a short run
    }
    let most = if most == usize::MAX { HostCores::detect().default_count } else { most };
    most.min(available_cores()).min(P).max(1)
}

/// Returns the number of cores that the host offers: those on which this process may run, but no more than
/// its control group has time for. In a container with a quota of two cores on a large host, more threads
/// would be throttled in turn.
pub(crate) fn available_cores() -> usize {
    let may_run = std::thread::available_parallelism().map_or(1, usize::from);
    core_affinity::get_core_ids().map_or(may_run, |ids| ids.len().clamp(1, may_run))
}

/// Returns whether the host lets a thread be pinned to a core.
pub(crate) fn can_pin() -> bool {
    // The calling thread stays where it may be.
    let pinned = std::thread::Builder::new().spawn(|| pin(0, &HostCores::detect().ids()));
    pinned.is_ok_and(|thread| thread.join().unwrap_or(false))
}

/// Pins the calling thread to a core, or to one that is shared if the host has too few. Returns whether the
/// host allowed that.
pub(in crate::clock) fn pin(core: usize, ids: &[CoreId]) -> bool {
    ids.get(core % ids.len().max(1)).is_some_and(|core| core_affinity::set_for_current(*core))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the order of four cores, the number of those used by default, and whether a reason is given,
    /// for a folder with these files.
    fn cores(name: &str, files: &[(&str, &str)]) -> (Vec<usize>, usize, bool) {
        let root = std::env::temp_dir().join(format!("loggp-cores-{name}-{}", std::process::id()));
        for (file, text) in files {
            std::fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            std::fs::write(root.join(file), text).unwrap();
        }
        let HostCores { ids, default_count: chosen, why } = HostCores::from_devices(&root, &[0, 1, 2, 3]);
        _ = std::fs::remove_dir_all(root);
        (ids, chosen, why.is_some())
    }

    #[test]
    fn one_thread_of_each_fast_core_is_used() {
        let siblings = |lists: [&'static str; 4]| {
            let names = ["system/cpu/cpu0", "system/cpu/cpu1", "system/cpu/cpu2", "system/cpu/cpu3"];
            names.map(|name| format!("{name}/topology/thread_siblings_list")).into_iter().zip(lists)
        };
        let with = |name: &str, lists, more: &[(&str, &str)]| {
            let files: Vec<(String, &str)> = siblings(lists).collect();
            let files = files.iter().map(|(file, text)| (file.as_str(), *text));
            cores(name, &files.chain(more.iter().copied()).collect::<Vec<_>>())
        };
        let alone = ["0\n", "1\n", "2\n", "3\n"];
        assert_eq!(with("alone", alone, &[]), (vec![0, 1, 2, 3], 4, false));
        assert_eq!(with("threads", ["0,2\n", "1,3\n", "0,2\n", "1,3\n"], &[]), (vec![0, 1, 2, 3], 2, true));
        assert_eq!(with("pairs", ["0-1\n", "0-1\n", "2-3\n", "2-3\n"], &[]), (vec![0, 2, 1, 3], 2, true));
        let hybrid = with("hybrid", ["0-1", "0-1", "2", "3"], &[("cpu_core/cpus", "0-1\n")]);
        assert_eq!(hybrid, (vec![0, 2, 3, 1], 1, true));
        let capacities =
            [("system/cpu/cpu0/cpu_capacity", "400\n"), ("system/cpu/cpu3/cpu_capacity", "1024\n")];
        assert_eq!(with("little", alone, &capacities), (vec![1, 2, 3, 0], 3, true));
        assert_eq!(
            with("nonsense", ["x", "9-0", "", "0"], &[("cpu_core/cpus", "-")]),
            (vec![0, 1, 2, 3], 4, false)
        );
        assert_eq!(cores("nothing", &[]), (vec![0, 1, 2, 3], 4, true));
    }
}
