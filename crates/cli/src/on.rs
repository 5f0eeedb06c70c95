//! A real machine in place of the emulated one: what `--on mpi` asks for.

#[cfg(feature = "mpi")]
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, OnceLock};
#[cfg(feature = "mpi")]
use std::time::Duration;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};
use loggp::Link;
#[cfg(any(feature = "mpi", test))]
use loggp::{Machine, Params};
#[cfg(any(feature = "mpi", test))]
use loggp_study::Failed;

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

/// How long MPI may take to start.
#[cfg(feature = "mpi")]
const PATIENCE: Duration = Duration::from_secs(60);

/// Starts MPI. From then on only process 0 writes anything.
#[cfg(feature = "mpi")]
fn mpi(oversubscribe: bool) -> Result<Arc<dyn Link>, Failure> {
    if let Some(link) = LINK.get() {
        return Ok(link.clone());
    }
    // MPI waits for processes that never start it, because they have other arguments.
    let (started, waits) = channel::<()>();
    std::thread::spawn(move || {
        if waits.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
            let why =
                format!("not all processes have started MPI after {PATIENCE:?}; give all the same arguments");
            _ = Failure::Request(why).tell();
            std::process::exit(2);
        }
    });
    let mpi = loggp_mpi::Mpi::start().map_err(Failure::Run)?;
    drop(started);
    let (here, cores) = (mpi.here, mpi.cores);
    let link: Arc<dyn Link> = LINK.get_or_init(|| Arc::new(mpi)).clone();
    if !speaks() {
        let nowhere = std::fs::OpenOptions::new().write(true).open("/dev/null")?;
        rustix::stdio::dup2_stdout(&nowhere).map_err(std::io::Error::from)?;
        rustix::stdio::dup2_stderr(&nowhere).map_err(std::io::Error::from)?;
    }
    agree(&link, &given())?;
    if here > cores && !oversubscribe {
        return Err(Failure::Request(format!(
            "{here} processes share {cores} cores, so that times say little; start at most {cores} here, or give --oversubscribe"
        )));
    }
    Ok(link)
}

/// What this process was started with.
#[cfg(feature = "mpi")]
fn given() -> String {
    let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    words.collect::<Vec<_>>().join(" ")
}

/// Refuses processes that were started with different arguments.
#[cfg(any(feature = "mpi", test))]
fn agree(link: &Arc<dyn Link>, given: &str) -> Result<(), Failure> {
    let params = Params::builder(link.p()).build().map_err(Failure::request)?;
    let run = Machine::new(params).over(link.clone()).run_across(|_| given.to_string());
    let all = run.map_err(Failed::from)?.results;
    match all.iter().position(|other| *other != all[0]) {
        None => Ok(()),
        Some(other) => Err(Failure::Request(format!(
            "process 0 was started with `{}`, and process {other} with `{}`; give all the same arguments",
            all[0], all[other]
        ))),
    }
}

/// Says how to get a command that can.
#[cfg(not(feature = "mpi"))]
fn mpi(_oversubscribe: bool) -> Result<Arc<dyn Link>, Failure> {
    Err(Failure::request(
        "this loggp was built without MPI; build it with `cargo build --release --features mpi`, as docs/start/cluster.md says",
    ))
}

#[cfg(test)]
mod tests {
    use loggp::Channels;

    use super::*;

    #[test]
    fn all_are_started_with_the_same() {
        let said = |given: [&'static str; 3]| {
            let rank = |(link, given)| move || agree(&(Arc::new(link) as Arc<dyn Link>), given);
            let ranks = Channels::between(3).into_iter().zip(given).map(rank).map(std::thread::spawn);
            let ranks: Vec<_> = ranks.collect();
            let mut said: Vec<_> =
                ranks.into_iter().map(|rank| rank.join().unwrap()).map(Result::err).collect();
            let said: Vec<_> = said.drain(..).map(|failure| failure.and_then(Failure::sentence)).collect();
            assert!(said.iter().all(|one| *one == said[0]), "{said:?}");
            said[0].clone()
        };
        assert_eq!(said(["compare fft"; 3]), None);
        let different = said(["compare fft --size 1k", "compare fft --size 1k", "calibrate"]).unwrap();
        let all = "process 0 was started with `compare fft --size 1k`, and process 2 with `calibrate`; give all the same arguments";
        assert_eq!(different, all);
    }
}
