//! A real machine in place of the emulated one, which `--on mpi` asks for.

use std::io::{self, Write};
#[cfg(feature = "mpi")]
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, OnceLock};
#[cfg(feature = "mpi")]
use std::time::Duration;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};
use loggp::link::Link;
#[cfg(any(feature = "mpi", test))]
use loggp::{Machine, Params};
use loggp::{SEC, Time};
use loggp_study::StudyError;
use loggp_study::real::RoughMachine;

use super::error::CliError;
use super::number::rough_time;
use super::row::Task;

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

/// Says how long the model expects each task to take on the real machine, on a terminal or not, and leaves out
/// those that would take over a minute, unless they were named.
pub fn expect(tasks: Vec<Task>, are_named: bool) -> Result<Vec<Task>, CliError> {
    const LONG: Time = Time::from_ps(60 * SEC.as_ps());
    let Some(link) = tasks.first().and_then(|task| task.study.emulation.link.clone()) else {
        return Ok(tasks);
    };
    let rough = RoughMachine::measure(&link).map_err(StudyError::from)?;
    let studies: Vec<_> = tasks.iter().map(|task| &task.study).collect();
    let times = rough.expected_times(&link, &studies).map_err(StudyError::from)?;
    let text = |(task, time): (&Task, &Option<Time>)| Some(format!("{} {}", task.name, rough_time((*time)?)));
    let said = tasks.iter().zip(&times).filter_map(text);
    let [L, o, g, byte] =
        [rough.L, rough.o, rough.g, Time::from_ps((1e3 * rough.byte) as i64)].map(rough_time);
    let line = format!(
        "a few messages show roughly L = {L}, o = {o}, g = {g}, {byte} a byte; with these the model expects: {}",
        said.collect::<Vec<_>>().join(", ")
    );
    drop(writeln!(io::stderr(), "{line}"));
    let is_long = |time: &Option<Time>| !are_named && time.is_some_and(|time| time > LONG);
    let (long, rest): (Vec<_>, Vec<_>) = tasks.into_iter().zip(times).partition(|(_, time)| is_long(time));
    let names = long.iter().map(|(task, _)| task.name.as_str()).collect::<Vec<_>>().join(", ");
    if rest.is_empty() {
        return Err(CliError::Request(format!(
            "each would take over a minute: {names}; name those that shall run, or give a smaller --size"
        )));
    }
    if !names.is_empty() {
        CliError::Request(format!("{names}, which would take over a minute; name it to run it")).warn();
    }
    Ok(rest.into_iter().map(|(task, _)| task).collect())
}

/// The link of the real machine, once it is started.
static LINK: OnceLock<Arc<dyn Link>> = OnceLock::new();

/// Returns whether this process writes the output: it is the only one, or process 0.
pub fn is_output_process() -> bool {
    LINK.get().is_none_or(|link| link.id() == 0)
}

/// Limit of the time that MPI takes to start.
#[cfg(feature = "mpi")]
const PATIENCE: Duration = Duration::from_secs(60);

/// Starts MPI. From then on only process 0 writes to stdout and stderr.
#[cfg(feature = "mpi")]
fn start_mpi(oversubscribe: bool) -> Result<Arc<dyn Link>, CliError> {
    if let Some(link) = LINK.get() {
        return Ok(link.clone());
    }
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
    let mpi = loggp_mpi::Mpi::start().map_err(CliError::Run)?;
    drop(sender);
    let (here, cores) = (mpi.here, mpi.cores);
    let link: Arc<dyn Link> = LINK.get_or_init(|| Arc::new(mpi)).clone();
    if !is_output_process() {
        let nowhere = std::fs::OpenOptions::new().write(true).open("/dev/null")?;
        rustix::stdio::dup2_stdout(&nowhere).map_err(std::io::Error::from)?;
        rustix::stdio::dup2_stderr(&nowhere).map_err(std::io::Error::from)?;
    }
    check_same_arguments(&link, &arguments())?;
    if here > cores && !oversubscribe {
        return Err(CliError::Request(format!(
            "{here} processes share {cores} cores, so that times say little; start at most {cores} here, or give --oversubscribe"
        )));
    }
    Ok(link)
}

/// Returns the arguments of this process.
#[cfg(feature = "mpi")]
fn arguments() -> String {
    let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    words.collect::<Vec<_>>().join(" ")
}

/// Fails if processes were started with different arguments.
#[cfg(any(feature = "mpi", test))]
fn check_same_arguments(link: &Arc<dyn Link>, arguments: &str) -> Result<(), CliError> {
    let params = Params::builder(link.P()).build().map_err(CliError::request)?;
    let run = Machine::new(params).with_link(link.clone()).run_across(|_| arguments.to_string());
    let all = run.map_err(StudyError::from)?.results;
    match all.iter().position(|other| *other != all[0]) {
        None => Ok(()),
        Some(other) => Err(CliError::Request(format!(
            "process 0 was started with `{}`, and process {other} with `{}`; give all the same arguments",
            all[0], all[other]
        ))),
    }
}

/// Refuses, because the command was built without MPI.
#[cfg(not(feature = "mpi"))]
fn start_mpi(_oversubscribe: bool) -> Result<Arc<dyn Link>, CliError> {
    Err(CliError::request(
        "this loggp was built without MPI; build it with `cargo build --release --features mpi`, as docs/start/cluster.md says",
    ))
}

#[cfg(test)]
mod tests {
    use loggp::link::Channels;
    use loggp_programs::broadcast::BROADCAST;
    use loggp_programs::{Case, Emulation};
    use loggp_study::Study;

    use super::*;

    /// What takes over a minute is left out by all processes, unless it is named.
    #[test]
    fn long_runs_are_left_out_unless_they_are_named() {
        let expect = |channels: Channels| {
            let link: Arc<dyn Link> = Arc::new(channels);
            let task = |name: &str, repeat: usize| {
                let case = Case::new(&BROADCAST, "optimal", Params::builder(2).build().unwrap());
                let emulation = Emulation { link: Some(link.clone()), ..Emulation::default() };
                let study = Study { repeat, emulation, ..Study::new(case) };
                Task { name: name.into(), machine: None, study, swept: None }
            };
            // Even a message in 10 ns takes longer than a minute so often.
            let [short, long] = [("short", 1), ("long", 10_000_000_000)];
            let tasks =
                |which: &[(&str, usize)]| which.iter().map(|(name, n)| task(name, *n)).collect::<Vec<_>>();
            let names = |kept: Vec<Task>| kept.into_iter().map(|task| task.name).collect::<Vec<_>>();
            let unnamed = names(super::expect(tasks(&[short, long]), false).unwrap());
            let named = names(super::expect(tasks(&[short, long]), true).unwrap());
            let refused = super::expect(tasks(&[long]), false).err().and_then(CliError::into_sentence);
            (unnamed, named, refused)
        };
        let ranks = Channels::between(2).into_iter().map(|link| std::thread::spawn(move || expect(link)));
        for rank in ranks.collect::<Vec<_>>() {
            let (unnamed, named, refused) = rank.join().unwrap();
            assert_eq!((unnamed, named), (vec!["short".to_string()], vec!["short".into(), "long".into()]));
            assert_eq!(
                refused.unwrap(),
                "each would take over a minute: long; name those that shall run, or give a smaller --size"
            );
        }
    }

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
