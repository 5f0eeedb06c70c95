//! The program that is checked: how it is started again and again, what it is given, and one run of it.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};

use loggp::check::TrialResult;
use loggp::{Cause, ClockKind, Machine, RunError};
use loggp_emulate::{Checks, Fault, FaultKind, Notes, Session, Settings};

use super::Assumed;
use super::entry::Entry;
use super::suppress::Suppressions;
use crate::emulate::MPI_SETTINGS;
use crate::ranks::{KeptProgram, nowhere, refuse_memory, say_launched};
use crate::record::start::Launch;
use loggp_command::error::{CliError, system_reason};
use loggp_command::host::interrupt;

/// Ranks that a run has ended are not waited for: Open MPI 4 and 5 give them a second, in each run that fails.
const END_AT_ONCE: [(&str, &str); 2] =
    [("OMPI_MCA_odls_base_sigkill_timeout", "0"), ("PRTE_MCA_odls_base_sigkill_timeout", "0")];

/// The program that is checked.
pub(super) struct CheckedProgram<'s> {
    starter: Starter,
    settings: Settings,
    streams: Streams,
    pub(super) suppressions: &'s Suppressions,
    pub(super) seen: Seen,
}

/// How the program is started again and again.
enum Starter {
    Launcher(Launch),
    Forks(KeptProgram),
}

/// A program that has been started.
pub(super) struct StartedRun<'a> {
    session: Session,
    end: Ending<'a>,
    pub(super) ranks: usize,
}

impl StartedRun<'_> {
    /// Ends the ranks, which are not run.
    pub(super) fn give_up(&self) {
        self.session.give_up();
    }
}

/// Whose end is that of a started program.
enum Ending<'a> {
    Launcher(Child),
    Forks(&'a KeptProgram),
}

/// Observations of a program's runs, beside their results.
#[derive(Default)]
pub(super) struct Seen {
    /// True if a call has depended on the order of messages.
    has_choices: AtomicBool,
    /// Why the program cannot be checked.
    refused: OnceLock<String>,
    /// What was found by runs that failed, by the text of their errors.
    failures: Mutex<Vec<(String, Found)>>,
    /// What was left out, each with the line that says so.
    left_out: Mutex<Vec<(Fault, String)>>,
    /// The faults that did not end their runs.
    notes: Mutex<Notes>,
}

/// What a run has found.
#[derive(Clone, Default)]
pub(super) struct Found {
    /// Empty if what ended the run is no fault of the program.
    pub(super) faults: Vec<Fault>,
    /// The last lines that the program wrote to stderr, if it ended badly.
    pub(super) stderr: Vec<String>,
}

impl Seen {
    /// Returns whether a call has depended on the order of messages: else all orders are one.
    pub(super) fn has_choices(&self) -> bool {
        self.has_choices.load(Ordering::Relaxed)
    }

    /// Returns the error of a check that came to no verdict.
    pub(super) fn error(&self, why: RunError) -> CliError {
        self.refused.get().map_or_else(|| CliError::run(why), CliError::request)
    }

    fn note(&self, error: &str, found: Found) {
        let mut failures = self.failures.lock().expect("nobody panics with it");
        if failures.iter().all(|(known, _)| known != error) {
            failures.push((error.into(), found));
        }
    }

    /// Notes faults that are left out, each kind at its places once.
    fn leave_out(&self, faults: Vec<(Fault, String)>) {
        let mut left_out = self.left_out.lock().expect("nobody panics with it");
        for (fault, rule) in faults {
            let is_that =
                |(other, _): &(Fault, String)| (other.kind, &other.places) == (fault.kind, &fault.places);
            if !left_out.iter().any(is_that) {
                left_out.push((fault, rule));
            }
        }
    }

    /// Returns the faults that did not end the runs, but for what is left out.
    pub(super) fn notes(&self, suppressions: &Suppressions) -> Vec<Fault> {
        let notes = self.notes.lock().expect("nobody panics with it");
        let fault = |((kind, what), ranks): (&(FaultKind, String), &BTreeSet<usize>)| {
            let first = ranks.first().copied().unwrap_or_default();
            let others = match ranks.len() {
                1 => String::new(),
                2 => " (1 rank more too)".into(),
                n => format!(" ({} ranks more too)", n - 1),
            };
            Fault::new(*kind, &format!("rank {first} {what}{others}"))
        };
        let (kept, left_out) = suppressions.part(notes.iter().map(fault));
        self.leave_out(left_out);
        kept
    }

    /// Returns the faults that were left out, each with the line that says so.
    pub(super) fn left_out(&self) -> Vec<(Fault, String)> {
        self.left_out.lock().expect("nobody panics with it").clone()
    }

    /// Returns what was found by a run that failed with this error.
    pub(super) fn found(&self, error: &str) -> Found {
        let failures = self.failures.lock().expect("nobody panics with it");
        failures.iter().find(|(known, _)| known == error).map(|(_, found)| found.clone()).unwrap_or_default()
    }
}

/// Where what the program reads comes from, and where what it writes goes.
pub(super) struct Streams {
    /// The file that is the command's standard input, and where it is to be read from. Each run has it from there.
    stdin: Option<(File, Mutex<u64>)>,
    /// A file for stderr, or `None` if both outputs go where those of the command go.
    stderr: Option<File>,
}

impl Streams {
    /// Takes a file as standard input, if the command has one. Refuses what can be read only once.
    pub(super) fn new(is_silent: bool, has_stdin: bool) -> Result<Streams, CliError> {
        let refuse = |why: std::io::Error| {
            CliError::Request(format!(
                "no file can be made for what the program prints: {}",
                system_reason(&why)
            ))
        };
        let stdin = rustix::stdio::stdin().try_clone_to_owned().map(File::from).ok().filter(|_| has_stdin);
        let is_file = |file: &File| file.metadata().is_ok_and(|file| file.is_file());
        let is_waiting = |file: &File| {
            let is_other = file.metadata().is_ok_and(|file| !file.is_file());
            is_other
                && !rustix::termios::isatty(file)
                && rustix::io::ioctl_fionread(file).is_ok_and(|bytes| bytes > 0)
        };
        if stdin.as_ref().is_some_and(is_waiting) {
            return Err(CliError::request(
                "what a pipe brings can be read once, and each run of the program needs it; give a file as standard input: < FILE",
            ));
        }
        let at = |mut file: File| file.stream_position().ok().map(|at| (file, Mutex::new(at)));
        Ok(Streams {
            stdin: stdin.filter(is_file).and_then(at),
            stderr: if is_silent { Some(tempfile::tempfile().map_err(refuse)?) } else { None },
        })
    }

    /// Returns the streams for a process that is started.
    fn stdio(&self) -> (Stdio, Option<Stdio>) {
        let stdin = self.stdin.as_ref().and_then(|(file, _)| file.try_clone().ok());
        let stderr = self.stderr.as_ref().and_then(|file| file.try_clone().ok());
        (stdin.map_or_else(Stdio::null, Stdio::from), stderr.map(Stdio::from))
    }

    /// Notes how far a program has read that stays at this point.
    fn keep_position(&self) {
        if let Some((file, at)) = &self.stdin
            && let Ok(position) = (&*file).stream_position()
        {
            *at.lock().expect("nobody panics with it") = position;
        }
    }

    /// Sets both streams to where a run begins.
    fn rewind(&self) {
        // What cannot be set is as it was.
        if let Some((file, at)) = &self.stdin {
            let _: std::io::Result<_> =
                (&*file).seek(SeekFrom::Start(*at.lock().expect("nobody panics with it")));
        }
        if let Some(mut file) = self.stderr.as_ref() {
            let _: std::io::Result<()> = file.set_len(0);
            let _: std::io::Result<_> = file.seek(SeekFrom::Start(0));
        }
    }

    /// Returns the last lines that a run has written to stderr.
    fn last_lines(&self) -> Vec<String> {
        const LINES: usize = 10;
        const BYTES: u64 = 4096;
        let Some(mut file) = self.stderr.as_ref() else { return Vec::new() };
        let (mut text, length) = (Vec::new(), file.metadata().map_or(0, |file| file.len()));
        let from = length.saturating_sub(BYTES);
        // The processes write where this one reads, and have ended.
        if file.seek(SeekFrom::Start(from)).and_then(|_| file.take(BYTES).read_to_end(&mut text)).is_err() {
            return Vec::new();
        }
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().skip(usize::from(from > 0)).collect();
        lines[lines.len().saturating_sub(LINES)..].iter().map(|line| (*line).into()).collect()
    }
}

impl<'s> CheckedProgram<'s> {
    /// Finds out how a program is started. One whose ranks are forks of one process comes to that point now.
    pub(super) fn new(
        Entry { start, words }: &Entry,
        settings: Settings,
        streams: Streams,
        suppressions: &'s Suppressions,
    ) -> Result<CheckedProgram<'s>, CliError> {
        let mut forks = None;
        if let Some(program) = start.forked(words)? {
            let variables = [&MPI_SETTINGS[..], &END_AT_ONCE].concat();
            let kept = KeptProgram::start(&program, &variables, streams.stdio())?;
            streams.keep_position();
            forks = kept.map_err(|why| say_launched(&why)).ok();
        }
        let starter = match forks {
            Some(kept) => Starter::Forks(kept),
            None => Starter::Launcher(Launch::prepare(&start.launched(words)?)?),
        };
        Ok(CheckedProgram { starter, settings, streams, suppressions, seen: Seen::default() })
    }

    /// Starts the program, and waits until its ranks have come.
    pub(super) fn start(&self, assumed: Assumed) -> Result<StartedRun<'_>, CliError> {
        let Assumed { synchronizes, is_unbuffered } = assumed;
        let checks = self.settings.checks.map(|checks| Checks { synchronizes, is_unbuffered, ..checks });
        let settings = Settings { checks, ..self.settings };
        let session = Session::new(settings, ClockKind::Virtual, 1).map_err(|why| refuse_memory(&why))?;
        self.streams.rewind();
        let launch = match &self.starter {
            Starter::Launcher(launch) => launch,
            Starter::Forks(kept) => {
                kept.fork(&session).map_err(CliError::Run)?;
                return Ok(StartedRun { session, end: Ending::Forks(kept), ranks: kept.ranks });
            }
        };
        let mut command = launch.command(session.variables(), &MPI_SETTINGS);
        command.envs(END_AT_ONCE);
        let (stdin, stderr) = self.streams.stdio();
        if let Some(stderr) = stderr {
            command.stdout(nowhere()).stderr(stderr);
        }
        let mut child =
            interrupt::spawn_apart(command.stdin(stdin)).map_err(|error| launch.refusal(&error))?;
        let is_over = || child.try_wait().is_ok_and(|status| status.is_some());
        match session.wait_for_ranks(is_over) {
            Ok(Some(ranks)) => Ok(StartedRun { session, end: Ending::Launcher(child), ranks }),
            Ok(None) => Err(CliError::request(
                "no rank has come: either the program does not call MPI_Init, or its MPI is not that of the library",
            )),
            Err(why) => Err(CliError::Run(why)),
        }
    }

    /// Runs the program once, on a machine with an order, and notes what is found if it fails.
    pub(super) fn trial(
        &self,
        started: Option<StartedRun>,
        machine: &Machine,
        assumed: Assumed,
    ) -> TrialResult<()> {
        let started = match started {
            Some(started) => Ok(started),
            None => self.start(assumed),
        };
        let started = started.map_err(|why| {
            RunError::from(Cause::Host(why.into_sentence().unwrap_or_else(|| "it cannot be started".into())))
        })?;
        let StartedRun { session, end, .. } = started;
        let ran = session.run(machine);
        self.seen.has_choices.fetch_or(session.has_choices(), Ordering::Relaxed);
        let mut notes = self.seen.notes.lock().expect("nobody panics with it");
        session.notes().iter().for_each(|(note, ranks)| notes.entry(note.clone()).or_default().extend(ranks));
        drop(notes);
        session.refused().into_iter().for_each(|why| _ = self.seen.refused.get_or_init(|| why.into()));
        if let Ok(run) = &ran {
            session.release(run.time);
        }
        let ended = match end {
            Ending::Launcher(mut child) => child.wait().map_err(|why| system_reason(&why)),
            Ending::Forks(kept) => kept.status().map(|status| ExitStatus::from_raw((status as i32) << 8)),
        };
        let (text, faults, failed) = match ran.and(ended.map_err(|why| RunError::from(Cause::Host(why)))) {
            Ok(status) if status.success() => return Ok(Ok(())),
            Err(error) => (error.to_string(), session.faults(), Err(error)),
            Ok(status) => {
                let why = format!("the program ended with {status}");
                let may_be_race = session.has_choices();
                let fault = session.late_fault().unwrap_or_else(|| Fault::new(FaultKind::WrongResult, &why));
                let fault = Fault { may_be_race, ..fault };
                (why.clone(), vec![fault], Ok(Err(why)))
            }
        };
        let (kept, left_out) = self.suppressions.part(faults);
        let is_right = kept.is_empty() && !left_out.is_empty();
        self.seen.leave_out(left_out);
        if is_right {
            return Ok(Ok(()));
        }
        let has_ended = kept.iter().any(|fault| fault.kind.is_end());
        let stderr = if has_ended { self.streams.last_lines() } else { Vec::new() };
        self.seen.note(&text, Found { faults: kept, stderr });
        failed
    }
}
