//! Where the processes of a real machine run, and what its MPI was told, as far as they can know.

use std::sync::Arc;
use std::{env, fs};

use loggp::{Link, Machine, Params, RunError};

/// Where a process runs.
#[derive(Clone, Debug)]
pub struct Placed {
    /// The name of the node.
    pub host: String,
    /// The cores on which it may run, as `0-3,8`.
    pub cores: Option<String>,
    /// The socket of those cores, if they are all of one.
    pub socket: Option<String>,
    /// The variables of its environment that settle how MPI sends.
    pub settings: Vec<(String, String)>,
}

/// What variables that settle how MPI sends begin with.
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

/// Where each process runs. All of them must call it.
pub fn places(link: &Arc<dyn Link>) -> Result<Vec<Placed>, RunError> {
    let machine = Machine::new(Params::builder(link.p()).build()?).over(link.clone());
    let run = machine.run_across(|_| {
        let cores = read("/proc/self/status").and_then(|status| {
            let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
            Some(allowed.trim().to_string())
        });
        let socket = cores.as_deref().and_then(socket);
        let is_setting = |(name, _): &(String, String)| SETTINGS.iter().any(|of| name.starts_with(of));
        let all = env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        let mut settings: Vec<_> = all.filter(is_setting).collect();
        settings.sort();
        (read("/proc/sys/kernel/hostname").unwrap_or_default(), cores, socket, settings)
    })?;
    let placed = |(host, cores, socket, settings)| Placed { host, cores, socket, settings };
    Ok(run.results.into_iter().map(placed).collect())
}

fn read(path: &str) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_string())
}

/// The socket of some cores, if they are all of one.
fn socket(cores: &str) -> Option<String> {
    let ends = cores.split([',', '-']);
    let mut sockets =
        ends.map(|core| read(&format!("/sys/devices/system/cpu/cpu{core}/topology/physical_package_id")));
    let first = sockets.next()??;
    sockets.all(|socket| socket.as_ref() == Some(&first)).then_some(first)
}
