//! A real machine in place of the emulated one: what `--on mpi` asks for.

use std::sync::{Arc, OnceLock};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use loggp::Link;

use super::failure::Failure;

/// The names of real machines.
pub const REAL: &[super::options::Named] =
    &[("mpi", "The processes that mpirun has started are the processors")];

/// Reads the name of one.
pub fn named() -> impl TypedValueParser<Value = String> {
    let names = REAL.iter().map(|(name, help)| PossibleValue::new(*name).help(*help));
    PossibleValuesParser::new(names)
}

/// The link, once it was asked for.
static LINK: OnceLock<Arc<dyn Link>> = OnceLock::new();

/// Whether this process is the one that says what there is to say.
pub fn speaks() -> bool {
    LINK.get().is_none_or(|link| link.id() == 0)
}

/// Starts MPI. From then on only process 0 writes anything.
#[cfg(feature = "mpi")]
pub fn mpi(oversubscribe: bool) -> Result<Arc<dyn Link>, Failure> {
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
pub fn mpi(_oversubscribe: bool) -> Result<Arc<dyn Link>, Failure> {
    Err(Failure::request(
        "this loggp was built without MPI; build it with `cargo build --release --features mpi`, as docs/start/cluster.md says",
    ))
}
