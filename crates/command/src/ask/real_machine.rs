//! A real machine in place of the emulated one, which `--on mpi` asks for.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};
use loggp::link::Link;
use loggp::{Machine, Params};
use loggp_study::StudyError;

use super::arguments;
use crate::annex::{self, StartedMachine};
use crate::error::CliError;

/// The options for a real machine. A command itself refuses other options that don't apply to one.
#[derive(Args, Default)]
#[command(next_display_order = 24)]
pub struct RealMachineOptions {
    /// Measure on a real machine, and not on the wall clock
    #[arg(long, value_name = "MACHINE", value_parser = PossibleValuesParser::new([mpi_value()]))]
    pub on: Option<String>,
    /// More processes than cores, whose times say little
    #[arg(long, requires = "on")]
    oversubscribe: bool,
}

fn mpi_value() -> PossibleValue {
    PossibleValue::new("mpi").help("The processes that mpirun has started are the processors")
}

impl RealMachineOptions {
    /// Starts and returns the real machine, if one is asked for.
    pub fn link(&self) -> Result<Option<Arc<dyn Link>>, CliError> {
        self.on.is_some().then(|| start_mpi(self.oversubscribe)).transpose()
    }
}

/// The link of the real machine, once it is started.
static LINK: OnceLock<Arc<dyn Link>> = OnceLock::new();

/// Returns whether this process writes the output: it is the only one, or process 0.
pub fn is_output_process() -> bool {
    LINK.get().is_none_or(|link| link.id() == 0)
}

/// Limit of the time that MPI takes to start.
const PATIENCE: Duration = Duration::from_secs(60);

/// Starts MPI. From then on only process 0 writes to stdout and stderr.
fn start_mpi(oversubscribe: bool) -> Result<Arc<dyn Link>, CliError> {
    if let Some(link) = LINK.get() {
        return Ok(link.clone());
    }
    let Some(machine) = annex::real_machine() else {
        return Err(CliError::request(
            "this loggp was built without MPI; build it with `cargo build --release --features mpi-link`, as docs/start/cluster.md says",
        ));
    };
    // If other processes have other arguments, they may never start MPI, and it waits for them forever.
    let (sender, receiver) = channel::<()>();
    std::thread::spawn(move || {
        if receiver.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
            let why =
                format!("not all processes have started MPI after {PATIENCE:?}; give all the same arguments");
            _ = CliError::Request(why).report();
            std::process::exit(2);
        }
    });
    let StartedMachine { link, here, cores } = machine.start().map_err(CliError::Run)?;
    drop(sender);
    let link = LINK.get_or_init(|| link).clone();
    if !is_output_process() {
        let nowhere = std::fs::OpenOptions::new().write(true).open("/dev/null")?;
        rustix::stdio::dup2_stdout(&nowhere).map_err(std::io::Error::from)?;
        rustix::stdio::dup2_stderr(&nowhere).map_err(std::io::Error::from)?;
    }
    check_same_arguments(&link, &arguments::words().collect::<Vec<_>>().join(" "))?;
    if here > cores && !oversubscribe {
        return Err(CliError::Request(format!(
            "{here} processes share {cores} cores, so that times say little; start at most {cores} here, or give --oversubscribe"
        )));
    }
    Ok(link)
}

/// Fails if processes were started with different arguments.
fn check_same_arguments(link: &Arc<dyn Link>, arguments: &str) -> Result<(), CliError> {
    let params = Params::builder(link.P()).build().map_err(CliError::request)?;
    let run = Machine::new(params).with_link(link.clone()).measure_across(|_| arguments.to_string());
    let all = run.map_err(StudyError::from)?.results;
    match all.iter().position(|other| *other != all[0]) {
        None => Ok(()),
        Some(other) => Err(CliError::Request(format!(
            "process 0 was started with `{}`, and process {other} with `{}`; give all the same arguments",
            all[0], all[other]
        ))),
    }
}

#[cfg(test)]
mod tests {
    use loggp::link::Channels;

    use super::*;

    #[test]
    fn different_arguments_are_refused() {
        let check = |arguments: [&'static str; 3]| {
            let rank = |(link, arguments)| {
                move || check_same_arguments(&(Arc::new(link) as Arc<dyn Link>), arguments)
            };
            let ranks = Channels::between(3).into_iter().zip(arguments).map(rank).map(std::thread::spawn);
            let ranks: Vec<_> = ranks.collect();
            let results = ranks.into_iter().map(|rank| rank.join().unwrap().err());
            let sentences: Vec<_> = results.map(|error| error.and_then(CliError::into_sentence)).collect();
            assert!(sentences.iter().all(|sentence| *sentence == sentences[0]), "{sentences:?}");
            sentences[0].clone()
        };
        assert_eq!(check(["compare fft"; 3]), None);
        let different = check(["compare fft --size 1k", "compare fft --size 1k", "calibrate"]).unwrap();
        let all = "process 0 was started with `compare fft --size 1k`, and process 2 with `calibrate`; give all the same arguments";
        assert_eq!(different, all);
    }
}
