//! A real machine in place of the emulated one: what `--on mpi` asks for.

use std::sync::{Arc, OnceLock};

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};
use loggp::Link;

use super::failure::Failure;

/// On which machine a command measures. What it then has no use for it says itself.
#[derive(Args)]
pub struct OnOptions {
    /// Measure on a real machine, and not on the wall clock
    #[arg(long, value_name = "MACHINE", value_parser = PossibleValuesParser::new([mpi_named()]))]
    pub on: Option<String>,
    /// More processes than cores, whose times say little
    #[arg(long, requires = "on")]
    oversubscribe: bool,
}

/// The name of MPI.
fn mpi_named() -> PossibleValue {
    PossibleValue::new("mpi").help("The processes that mpirun has started are the processors")
}

impl OnOptions {
    /// The real machine, if one is asked for.
    pub fn link(&self) -> Result<Option<Arc<dyn Link>>, Failure> {
        self.on.is_some().then(|| mpi(self.oversubscribe)).transpose()
    }
}

/// The link, once it was asked for.
static LINK: OnceLock<Arc<dyn Link>> = OnceLock::new();

/// Whether this process is the one that says what there is to say.
pub fn speaks() -> bool {
    LINK.get().is_none_or(|link| link.id() == 0)
}

/// Starts MPI. From then on only process 0 writes anything.
#[cfg(feature = "mpi")]
fn mpi(oversubscribe: bool) -> Result<Arc<dyn Link>, Failure> {
    if let Some(link) = LINK.get() {
        return Ok(link.clone());
    }
    let mpi = loggp_mpi::Mpi::start().map_err(Failure::Run)?;
    let (here, cores) = (mpi.here, mpi.cores);
    let link: Arc<dyn Link> = LINK.get_or_init(|| Arc::new(mpi)).clone();
    if !speaks() {
        let nowhere = std::fs::OpenOptions::new().write(true).open("/dev/null")?;
        rustix::stdio::dup2_stdout(&nowhere).map_err(std::io::Error::from)?;
        rustix::stdio::dup2_stderr(&nowhere).map_err(std::io::Error::from)?;
    }
    if here > cores && !oversubscribe {
        return Err(Failure::Request(format!(
            "{here} processes share {cores} cores, so that times say little; start at most {cores} here, or give --oversubscribe"
        )));
    }
    Ok(link)
}

/// Says how to get a command that can.
#[cfg(not(feature = "mpi"))]
fn mpi(_oversubscribe: bool) -> Result<Arc<dyn Link>, Failure> {
    Err(Failure::request(
        "this loggp was built without MPI; build it with `cargo build --release --features mpi`, as docs/start/cluster.md says",
    ))
}
