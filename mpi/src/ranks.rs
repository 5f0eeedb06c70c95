//! How the ranks of an MPI program are started: as forks of one process, or by a launcher.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::BorrowedFd;
use std::process::{Child, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use clap::Args;
use loggp_emulate::{Keeper, MOST_RANKS, Nursery, Session};

use crate::record::start::{self, Launch, Launcher};
use loggp_command::ask::options::parse_positive;
use loggp_command::error::{CliError, system_reason};
use loggp_command::host::interrupt;

/// The options of a program's start.
#[derive(Args, Clone)]
pub(crate) struct StartOptions {
    /// The program has so many ranks, and the command is the program itself, without mpirun
    #[arg(short = 'n', long = "ranks", value_name = "N", value_parser = parse_positive, allow_negative_numbers = true)]
    #[arg(help_heading = "MPI program")]
    ranks: Option<usize>,
    /// Start the ranks by mpirun or what else the command names, also where they could be forks of one process
    #[arg(long, help_heading = "MPI program")]
    launcher: bool,
}

/// A program whose ranks are forks of one process.
pub(crate) struct ForkedProgram {
    pub(crate) ranks: usize,
    pub(crate) words: Vec<OsString>,
}

impl StartOptions {
    /// Returns the program whose ranks can be forks of one process: one that is named alone, or behind a launcher of which nothing
    /// else is asked than a number of ranks. `None` if the launcher starts it.
    pub(crate) fn forked(&self, words: &[OsString]) -> Result<Option<ForkedProgram>, CliError> {
        if let Some(ranks) = self.ranks.filter(|ranks| *ranks > MOST_RANKS) {
            let sentence = format!("the program has {ranks} ranks, and at most {MOST_RANKS} can be emulated");
            return Err(CliError::Request(sentence));
        }
        if self.ranks.is_some() && start::find_launcher(&words[..1]).1 != Launcher::Other {
            return Err(CliError::request(
                "-n is for a program without its launcher; give -n 4 ./app, or -- mpirun -n 4 ./app",
            ));
        }
        Ok(match (self.launcher, self.ranks) {
            (true, _) => None,
            (false, Some(ranks)) => Some(ForkedProgram { ranks, words: words.to_vec() }),
            (false, None) => behind_launcher(words),
        })
    }

    /// Returns a command as it stands on the command line.
    pub(crate) fn text(&self, words: &str) -> String {
        let launcher = if self.launcher { "--launcher " } else { "" };
        self.ranks.map_or(format!("{launcher}-- {words}"), |ranks| format!("{launcher}-n {ranks} {words}"))
    }

    /// Returns the command that starts the program by its launcher, which is looked for where the command does not name it.
    pub(crate) fn launched(&self, words: &[OsString]) -> Result<Vec<OsString>, CliError> {
        let Some(ranks) = self.ranks else { return Ok(words.to_vec()) };
        let mpi = start::mpi_of_command(words);
        let names = ["mpirun", "mpiexec", "mpirun.openmpi", "mpirun.mpich"].map(OsString::from);
        let is_of_mpi = |name: &&OsString| {
            let launcher = start::find_launcher(std::slice::from_ref(*name)).1;
            launcher != Launcher::Other && (mpi.is_none() || launcher.mpi() == mpi)
        };
        let Some(launcher) = names.iter().find(is_of_mpi) else {
            return Err(CliError::request(
                "no launcher of the program's MPI is found; name it, as in -- mpirun -n 4 ./app",
            ));
        };
        let begin = [launcher.clone(), "-n".into(), ranks.to_string().into()];
        Ok(begin.into_iter().chain(words.iter().cloned()).collect())
    }
}

/// Returns the program behind a launcher that is asked for nothing but ranks of one program.
fn behind_launcher(words: &[OsString]) -> Option<ForkedProgram> {
    let launcher = start::find_launcher(&words[..1]).1.mpi()?;
    let mut rest = words[1..].iter();
    let mut ranks = None;
    let first = loop {
        let word = rest.next()?;
        match word.to_str()? {
            "-n" | "-np" | "--n" | "--np" => ranks = Some(rest.next()?.to_str()?.parse().ok()?),
            "--oversubscribe" | "--allow-run-as-root" => (),
            option if option.starts_with('-') => return None,
            _ => break word,
        }
    };
    // A colon parts several programs.
    let words: Vec<OsString> = [first].into_iter().chain(rest).cloned().collect();
    let is_one = !words.iter().any(|word| word == OsStr::new(":"));
    let is_of_mpi = start::mpi_of_program(first) == Some(launcher);
    let ranks = ranks.filter(|ranks| is_one && is_of_mpi && (1..=MOST_RANKS).contains(ranks))?;
    Some(ForkedProgram { ranks, words })
}

/// Says that the ranks are started by the launcher after all.
pub(crate) fn say_launched(why: &str) {
    let sentence =
        format!("the ranks are started by the launcher, since the program cannot be forked: {why}");
    loggp_command::error::say("note: ", &sentence);
}

/// Returns the error of shared memory that cannot be used.
pub(crate) fn refuse_memory(why: &io::Error) -> CliError {
    CliError::Request(format!("/dev/shm cannot be used: {}; the ranks share it", system_reason(why)))
}

/// Returns where what a program prints goes if nobody wants it. No rank of a launcher has `/dev/null` itself, and Fortran cannot open
/// that once more for its unit 6, as some programs do in all ranks but the first.
pub(crate) fn nowhere() -> Stdio {
    File::options().write(true).open("/dev/zero").map_or_else(|_| Stdio::null(), Stdio::from)
}

/// Returns an output of this command for its ranks.
pub(crate) fn output_for_ranks(own: BorrowedFd) -> Stdio {
    let null = rustix::fs::stat("/dev/null").map(|null| null.st_rdev);
    match rustix::fs::fstat(own) {
        Ok(own) if null == Ok(own.st_rdev) => nowhere(),
        _ => own.try_clone_to_owned().map_or_else(|_| Stdio::inherit(), Stdio::from),
    }
}

/// A program that is kept at the end of `MPI_Init`: all ranks are forked again and again.
pub(crate) struct KeptProgram {
    nursery: Nursery,
    child: Mutex<Child>,
    pub(crate) ranks: usize,
}

impl KeptProgram {
    /// Starts a program with this standard input; with a stderr of its own, what it prints goes nowhere. Returns the reason if it
    /// cannot be forked.
    pub(crate) fn start(
        program: &ForkedProgram,
        settings: &[(&str, &str)],
        (stdin, stderr): (Stdio, Option<Stdio>),
    ) -> Result<Result<KeptProgram, String>, CliError> {
        let launch = Launch::prepare_alone(&program.words)?;
        let nursery = Nursery::create().map_err(|why| refuse_memory(&why))?;
        let mut command = launch.command(nursery.variables(), settings);
        if let Some(stderr) = stderr {
            command.stdout(nowhere()).stderr(stderr);
        } else {
            command.stdout(output_for_ranks(rustix::stdio::stdout()));
        }
        let child = interrupt::spawn_apart(command.stdin(stdin)).map_err(|error| launch.refusal(&error))?;
        let kept = KeptProgram { nursery, child: Mutex::new(child), ranks: program.ranks };
        match kept.wait() {
            Keeper::Ready(_) => Ok(Ok(kept)),
            Keeper::Cannot(why) => Ok(Err(why)),
            Keeper::Ended => Err(CliError::request(
                "no rank has come: either the program does not call MPI_Init, or its MPI is not that of the library",
            )),
        }
    }

    fn has_ended(&self) -> bool {
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        child.try_wait().is_ok_and(|status| status.is_some())
    }

    fn wait(&self) -> Keeper {
        self.nursery.wait(|| self.has_ended())
    }

    /// Forks all ranks for a session, once those before have ended. Returns why they cannot come.
    pub(crate) fn fork(&self, session: &Session) -> Result<(), String> {
        let ended = || "the process from which the ranks are forked has ended".to_owned();
        match self.wait() {
            Keeper::Ready(_) => (),
            Keeper::Cannot(why) => return Err(why),
            Keeper::Ended => return Err(ended()),
        }
        self.nursery.fork(session, self.ranks).map_err(|why| system_reason(&why))?;
        let is_over = || self.has_ended() || self.nursery.has_said().is_some();
        session.wait_for(self.ranks, is_over)?.map(|_| ()).ok_or_else(ended)
    }

    /// Waits until all ranks have ended, and returns their exit status.
    pub(crate) fn status(&self) -> Result<u32, String> {
        match self.wait() {
            Keeper::Ready(status) => Ok(status),
            Keeper::Cannot(why) => Err(why),
            Keeper::Ended => Err("the process from which the ranks are forked has ended".into()),
        }
    }
}

impl Drop for KeptProgram {
    fn drop(&mut self) {
        /// The time in which the process has to end.
        const PATIENCE: Duration = Duration::from_secs(2);
        self.nursery.end();
        let begin = Instant::now();
        while !self.has_ended() && begin.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(1));
        }
        let child = self.child.get_mut().unwrap_or_else(PoisonError::into_inner);
        let _: io::Result<()> = child.kill(); // it has ended, or does not
        let _: io::Result<_> = child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn a_program_is_forked_that_is_named_alone() {
        let options = |ranks, launcher| StartOptions { ranks, launcher };
        let forked = options(Some(3), false).forked(&words("./app -n 5")).ok().flatten();
        assert_eq!(forked.map(|forked| (forked.ranks, forked.words)), Some((3, words("./app -n 5"))));
        assert!(options(Some(3), true).forked(&words("./app")).is_ok_and(|forked| forked.is_none()));
        assert!(options(None, false).forked(&words("./app")).is_ok_and(|forked| forked.is_none()));
        assert!(options(Some(MOST_RANKS + 1), false).forked(&words("./app")).is_err());
    }
}
