//! The host's cores: which ones there are, and which ones a run takes.

use std::collections::HashSet;
use std::fs::read_to_string;
use std::path::Path;

use core_affinity::CoreId;
use parking_lot::Mutex;

/// Where Linux describes the computer.
const DEVICES: &str = "/sys/devices";

/// The cores that a run may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cores {
    /// All of them, first those that a run takes unless told.
    ids: Vec<usize>,
    /// How many a run takes unless told.
    taken: usize,
    /// Why it takes no others, or why it could not choose; nothing if there was nothing to choose.
    pub why: Option<&'static str>,
}

impl Cores {
    /// Those on which this process may run. What the computer says of them is read again only when they are others.
    pub(crate) fn here() -> Cores {
        /// Those of the last time, by their numbers.
        static KNOWN: Mutex<Option<(Vec<usize>, Cores)>> = Mutex::new(None);
        let ids: Vec<usize> =
            core_affinity::get_core_ids().unwrap_or_default().into_iter().map(|id| id.id).collect();
        let mut known = KNOWN.lock();
        if let Some((_, cores)) = known.as_ref().filter(|(same, _)| *same == ids) {
            return cores.clone();
        }
        let cores = Cores::of(Path::new(DEVICES), &ids);
        *known = Some((ids, cores.clone()));
        cores
    }

    /// Those with these numbers, as a folder describes them. What it does not tell clearly leaves a core in.
    fn of(devices: &Path, ids: &[usize]) -> Cores {
        let told = |path: String| read_to_string(devices.join(path)).ok();
        let of_core = |id: usize, file: &str| told(format!("system/cpu/cpu{id}/{file}"));
        // Threads of the same core name the same siblings; the first of them stands for it.
        let siblings =
            |id: usize| of_core(id, "topology/thread_siblings_list").and_then(|list| numbers(&list));
        let mut seen = HashSet::new();
        let mut is_first = |id: &usize| {
            let siblings = siblings(*id).filter(|siblings| siblings.contains(id));
            siblings.is_none_or(|siblings| seen.insert(siblings))
        };
        let (first, threads): (Vec<usize>, Vec<usize>) = ids.iter().partition(|id| is_first(id));
        // Intel's hybrids list their fast cores; elsewhere a slow one has less than half of the largest capacity.
        let fast = told("cpu_core/cpus".into()).and_then(|list| numbers(&list));
        let capacity = |id: usize| of_core(id, "cpu_capacity")?.trim().parse::<u64>().ok();
        let most = first.iter().filter_map(|id| capacity(*id)).max().unwrap_or(0);
        let is_fast = |id: &usize| match &fast {
            Some(fast) => fast.contains(id),
            None => capacity(*id).is_none_or(|capacity| 2 * capacity >= most),
        };
        let (mut taken, slow): (Vec<usize>, Vec<usize>) = first.into_iter().partition(is_fast);
        let why = match (threads.is_empty(), slow.is_empty() || taken.is_empty()) {
            (true, true) if ids.len() > 1 && ids.iter().all(|id| siblings(*id).is_none()) => {
                Some("this computer does not tell which cores are threads of another, so all are taken")
            }
            (true, true) => None,
            (false, true) => Some("one thread is taken of each core; --cores takes more"),
            (true, false) => Some("only the fast cores are taken; --cores takes more"),
            (false, false) => Some("one thread is taken of each fast core; --cores takes more"),
        };
        let fast = if taken.is_empty() { slow.len() } else { taken.len() };
        taken.extend(slow.into_iter().chain(threads));
        Cores { ids: taken, taken: fast, why }
    }

    /// As the system calls them.
    pub(in crate::clock) fn ids(&self) -> Vec<CoreId> {
        self.ids.iter().map(|id| CoreId { id: *id }).collect()
    }
}

/// The numbers of a list such as `0-3,8`; nothing if it is none.
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

/// How many of the host's cores `P` processors use if they may use `most`, or all that a run takes unless told.
pub(crate) fn cores_for(P: usize, most: usize) -> usize {
    if most.min(P) <= 1 {
        return 1; // to ask the host takes longer than a short run
    }
    let most = if most == usize::MAX { Cores::here().taken } else { most };
    most.min(available_cores()).min(P).max(1)
}

/// How many cores the host offers: those on which this process may run, but no more than its control group has time for. In a
/// container with a quota of two cores on a large host, more of them would wait for each other to be let run.
pub(crate) fn available_cores() -> usize {
    let may_run = std::thread::available_parallelism().map_or(1, usize::from);
    core_affinity::get_core_ids().map_or(may_run, |ids| ids.len().clamp(1, may_run))
}

/// Pins the calling thread to a core, or to one that is shared if the host has too few. Returns whether that worked.
pub(in crate::clock) fn pin(core: usize, ids: &[CoreId]) -> bool {
    ids.get(core % ids.len().max(1)).is_some_and(|core| core_affinity::set_for_current(*core))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The order of four cores, how many of them are taken, and whether there is a reason, in a folder with these files.
    fn cores(name: &str, files: &[(&str, &str)]) -> (Vec<usize>, usize, bool) {
        let root = std::env::temp_dir().join(format!("loggp-cores-{name}-{}", std::process::id()));
        for (file, text) in files {
            std::fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            std::fs::write(root.join(file), text).unwrap();
        }
        let Cores { ids, taken, why } = Cores::of(&root, &[0, 1, 2, 3]);
        _ = std::fs::remove_dir_all(root);
        (ids, taken, why.is_some())
    }

    #[test]
    fn takes_a_thread_of_each_fast_core() {
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
