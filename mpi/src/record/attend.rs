//! Waits for the program that is recorded, and ends all that it started when a signal is to end the command.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{self, Command, ExitStatus};
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, getpgid, getpgrp, kill_process};
use rustix::termios::tcgetpgrp;
use signal_hook::consts::{SIGCHLD, SIGINT, SIGTERM};

use loggp_command::host::interrupt;

/// The time that the program has to end after a signal, and again after it was killed.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);
/// A signal that comes again so soon is the same one: `timeout` sends it to its child and to their group.
const AGAIN: Duration = Duration::from_millis(500);

/// The end of a program.
pub(crate) enum End {
    Exited(ExitStatus),
    /// A signal to this command ended it; it is killed if that was not enough.
    Interrupted {
        signal: i32,
        is_killed: bool,
    },
}

/// The state after a signal, until all processes have ended.
struct Ending {
    signal: i32,
    is_killed: bool,
    since: Instant,
    /// The processes that have the signal.
    told: Vec<Pid>,
    /// True if a terminal sent the signal, to all in the group of this process.
    is_of_terminal: bool,
}

/// Starts a command and waits for its end. A signal that is to end this process goes on to it, and nothing
/// is left of what it started: what does not end is killed, sooner if there is a second signal. So it is if a
/// signal ended the command itself.
pub(super) fn run(command: &mut Command) -> io::Result<End> {
    // Ranks whose launcher ended become children of this process. Where that cannot be, they are not found.
    #[cfg(target_os = "linux")]
    let _: Result<(), _> = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    let signals = interrupt::take_signals();
    let mut child = command.spawn()?;
    let mut ending: Option<Ending> = None;
    let mut lost = None;
    loop {
        let exited = child.try_wait()?;
        match (&mut ending, exited) {
            (None, None) => (),
            (None, Some(status)) if status.signal().is_none() => return Ok(End::Exited(status)),
            (None, Some(status)) => {
                lost = Some(End::Exited(status));
                ending = Some(Ending::new(SIGTERM));
                continue;
            }
            (Some(ending), _) => {
                let launcher = exited.is_none().then_some(child.id());
                let mut running = children(launcher);
                if running.is_empty() {
                    // Ranks whose parent ended while others were looked at are found now.
                    running = children(launcher);
                }
                if running.is_empty() {
                    return Ok(lost.unwrap_or(ending.end()));
                }
                ending.tell(&running, child.id());
            }
        }
        let patience =
            ending.as_ref().map_or(Duration::MAX, |ending| PATIENCE.saturating_sub(ending.since.elapsed()));
        match (signals.next(patience), &mut ending) {
            (Ok(SIGCHLD), _) => (),
            (Ok(signal), None) => ending = Some(Ending::new(signal)),
            (Ok(_), Some(ending)) if ending.since.elapsed() < AGAIN => (),
            (Err(RecvTimeoutError::Timeout), Some(ending)) if ending.is_killed => {
                return Ok(lost.unwrap_or(ending.end()));
            }
            (Ok(_) | Err(RecvTimeoutError::Timeout), Some(ending)) => ending.kill(),
            (Err(_), _) => return Ok(End::Exited(child.wait()?)),
        }
    }
}

impl Ending {
    fn new(signal: i32) -> Self {
        let is_foreground = |tty: File| tcgetpgrp(tty).is_ok_and(|group| group == getpgrp());
        let is_of_terminal = signal == SIGINT && File::open("/dev/tty").is_ok_and(is_foreground);
        Ending { signal, is_killed: false, since: Instant::now(), told: Vec::new(), is_of_terminal }
    }

    /// Tells processes to end that were not told yet, the launcher by the signal, or kills all.
    fn tell(&mut self, processes: &[Pid], launcher: u32) {
        for &process in processes {
            let is_launcher = process.as_raw_nonzero().get() as u32 == launcher;
            let has_it = || self.is_of_terminal && getpgid(Some(process)) == Ok(getpgrp());
            let signal = if self.is_killed {
                Signal::KILL
            } else if self.told.contains(&process) || is_launcher && has_it() {
                continue;
            } else if is_launcher {
                Signal::from_named_raw(self.signal).unwrap_or(Signal::TERM)
            } else {
                Signal::TERM
            };
            self.told.push(process);
            let _: Result<(), _> = kill_process(process, signal); // it may have ended
        }
    }

    fn kill(&mut self) {
        self.is_killed = true;
        self.since = Instant::now();
    }

    fn end(&self) -> End {
        End::Interrupted { signal: self.signal, is_killed: self.is_killed }
    }
}

/// Returns the children of this process that run: the one that is given, and those whose parent has ended,
/// where the host tells.
fn children(child: Option<u32>) -> Vec<Pid> {
    let parent = process::id().to_string();
    // The state and the parent stand behind the name, which may have parentheses too.
    let is_child = |stat: &str| {
        let mut words = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
        words.next().is_some_and(|state| state != "Z") && words.next() == Some(&parent)
    };
    let folders = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = folders.filter_map(|folder| folder.file_name().to_str()?.parse::<u32>().ok());
    let found =
        ids.filter(|id| fs::read_to_string(format!("/proc/{id}/stat")).is_ok_and(|stat| is_child(&stat)));
    let ids: BTreeSet<u32> = found.chain(child).collect();
    ids.into_iter().filter_map(|id| Pid::from_raw(id as i32)).collect()
}
