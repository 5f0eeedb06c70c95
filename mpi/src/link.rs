//! The real machine of `--on mpi`.

use std::sync::Arc;

use loggp_command::annex::{RealMachine, StartedMachine};
use loggp_mpi_link::Mpi;

/// The processes that `mpirun` has started.
pub(crate) struct MpiMachine;

impl RealMachine for MpiMachine {
    fn start(&self) -> Result<StartedMachine, String> {
        let mpi = Mpi::start()?;
        let (here, cores) = (mpi.here, mpi.cores);
        Ok(StartedMachine { link: Arc::new(mpi), here, cores })
    }
}
