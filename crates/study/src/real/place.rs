//! Places of the processes of a real machine, and the settings of its MPI, as far as they can be read.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::{env, fs};

use loggp::link::Link;
use loggp::{Machine, Params, RunError};

/// The place of a process.
#[derive(Clone, Debug)]
pub struct ProcessPlace {
    /// Name of the node.
    pub host: String,
    /// Cores on which it may run, as `0-3,8`.
    pub cores: Option<String>,
    /// Socket of those cores, if they are all of one.
    pub socket: Option<String>,
    /// Environment variables that control how MPI sends.
    pub settings: Vec<(String, String)>,
}

/// Prefixes of variables that control how MPI sends.
const SETTINGS: [&str; 12] = [
    "OMPI_MCA_btl",
    "OMPI_MCA_pml",
    "OMPI_MCA_mtl",
    "OMPI_MCA_coll",
    "OMPI_MCA_hwloc",
    "OMPI_MCA_rmaps",
    "MPIR_CVAR_",
    "MPICH_",
    "I_MPI_",
    "UCX_",
    "FI_",
    "SLURM_CPU_BIND",
];

/// Returns the place of each process. All processes must call this function.
pub fn read_places(link: &Arc<dyn Link>) -> Result<Vec<ProcessPlace>, RunError> {
    let machine = Machine::new(Params::builder(link.P()).build()?).with_link(link.clone());
    let run = machine.measure_across(|_| {
        let cores = read("/proc/self/status").and_then(|status| {
            let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
            Some(allowed.trim().to_string())
        });
        let socket = cores.as_deref().and_then(socket);
        let is_setting =
            |(name, _): &(String, String)| SETTINGS.iter().any(|prefix| name.starts_with(prefix));
        let all = env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        let mut settings: Vec<_> = all.filter(is_setting).collect();
        settings.sort();
        (read("/proc/sys/kernel/hostname").unwrap_or_default(), cores, socket, settings)
    })?;
    let placed = |(host, cores, socket, settings)| ProcessPlace { host, cores, socket, settings };
    Ok(run.results.into_iter().map(placed).collect())
}

fn read(path: &str) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_string())
}

/// Returns the socket of some cores, if they are all of one.
fn socket(cores: &str) -> Option<String> {
    let ends = cores.split([',', '-']);
    let mut sockets =
        ends.map(|core| read(&format!("/sys/devices/system/cpu/cpu{core}/topology/physical_package_id")));
    let first = sockets.next()??;
    sockets.all(|socket| socket.as_ref() == Some(&first)).then_some(first)
}

/// Nested groups of consecutive processes, from all of them to those of a socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessGroups {
    /// Number of processes in a group of each level.
    pub sizes: Vec<usize>,
    /// Name of what makes no level, since its groups are not equal or not consecutive.
    pub scattered: Option<&'static str>,
}

/// Returns the levels that places show.
pub fn nested_groups(places: &[ProcessPlace]) -> ProcessGroups {
    let mut found = ProcessGroups { sizes: vec![places.len()], scattered: None };
    let nodes = places.iter().map(|placed| (&placed.host, None)).collect::<Vec<_>>();
    let sockets = places.iter().map(|placed| (&placed.host, placed.socket.as_ref())).collect();
    for (name, keys) in [("nodes", nodes), ("sockets", sockets)] {
        let all: BTreeSet<_> = keys.iter().collect();
        let runs: Vec<usize> = keys.chunk_by(PartialEq::eq).map(<[_]>::len).collect();
        let size = runs[0];
        if runs.len() > all.len() || runs.iter().any(|run| *run != size) {
            found.scattered = Some(name);
            break;
        }
        if 1 < size && size < found.sizes[found.sizes.len() - 1] {
            found.sizes.push(size);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_consecutive_groups() {
        let grouped = |text: &str| {
            let placed = |word: &str| ProcessPlace {
                host: word[..1].into(),
                cores: None,
                socket: word.get(1..).filter(|rest| !rest.is_empty()).map(Into::into),
                settings: Vec::new(),
            };
            let ProcessGroups { sizes, scattered } =
                nested_groups(&text.split(' ').map(placed).collect::<Vec<_>>());
            (sizes, scattered)
        };
        assert_eq!(grouped("a a"), (vec![2], None));
        assert_eq!(grouped("a b c"), (vec![3], None));
        assert_eq!(grouped("a0 a0 a1 a1 b0 b0 b1 b1"), (vec![8, 4, 2], None));
        assert_eq!(grouped("a0 a0 a1 a1"), (vec![4, 2], None));
        assert_eq!(grouped("a0 a1 b0 b1"), (vec![4, 2], None));
        assert_eq!(grouped("a0 a1 a0 a1"), (vec![4], Some("sockets")));
        assert_eq!(grouped("a b a b"), (vec![4], Some("nodes")));
        assert_eq!(grouped("a a a b"), (vec![4], Some("nodes")));
    }
}
