//! Ctrl-C and other signals: the command ends at once, and leaves no unfinished file behind.

use std::fs;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{self, Child, Command};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use indicatif::ProgressBar;
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM, SIGXCPU, SIGXFSZ};
use signal_hook::flag;
use signal_hook::iterator::{Handle, Signals};

use crate::error::CliError;
use crate::number::count;
use crate::tell::words::listed;

/// The signals that end the command, and the message of each.
const SIGNALS: [(i32, &str); 4] = [
    (SIGINT, "interrupted"),
    (SIGTERM, "terminated"),
    (SIGHUP, "hung up"),
    (SIGXCPU, "out of processor time"),
];

/// A file that is being written under a temporary name.
pub struct UnfinishedFile {
    /// Kind of the file, such as `trace`, which is also the name of the option that asks for it.
    pub kind: &'static str,
    /// Path of the finished file.
    pub target: PathBuf,
    /// Path of the temporary file.
    pub draft: PathBuf,
    /// The content of the file if the command is interrupted.
    pub kept: Option<KeptRows>,
}

/// A report so far: its text, and how many rows that has.
#[derive(Default)]
pub struct KeptRows {
    pub text: Vec<u8>,
    pub rows: usize,
}

static DRAFTS: Mutex<Vec<UnfinishedFile>> = Mutex::new(Vec::new());
/// The progress bar on the terminal, which is cleared at the end.
static BAR: Mutex<Option<ProgressBar>> = Mutex::new(None);
/// Number of rows, or of other items that the command writes, that are written.
static WRITTEN: AtomicUsize = AtomicUsize::new(0);
/// Name of the items that the command writes, and the end of the message after an interruption.
static WRITTEN_ITEM: Mutex<(&str, &str)> = Mutex::new(("row", ""));

/// The end of the message after an interruption: the files that are kept, and their use.
static KEPT: Mutex<Option<String>> = Mutex::new(None);
/// What the command has so far and prints if it is interrupted, and how many rows that are.
static SO_FAR: Mutex<Option<(String, usize)>> = Mutex::new(None);
/// Whether the first signal that would end the command only sets `STOP`.
static STOPS: AtomicBool = AtomicBool::new(false);
/// Set by such a signal.
static STOP: AtomicBool = AtomicBool::new(false);
/// The signal that interrupted the command.
static STOPPED_BY: AtomicI32 = AtomicI32::new(0);
/// By this further signals are watched, if any can be.
static HANDLE: OnceLock<Handle> = OnceLock::new();
/// The processes that have to end with the command: the groups of programs that it started.
static GROUPS: Mutex<Vec<Pid>> = Mutex::new(Vec::new());
/// The receiver of signals, which then do not end the command.
static TAKER: Mutex<Option<Sender<i32>>> = Mutex::new(None);

/// The signals, while they do not end the command.
pub struct TakenSignals(Receiver<i32>);

/// Takes the signals that would end the command, and SIGCHLD, until what is returned is dropped.
pub fn take_signals() -> TakenSignals {
    let (tell, told) = channel();
    if HANDLE.get().is_some_and(|handle| handle.add_signal(SIGCHLD).is_ok()) {
        *taker() = Some(tell);
    }
    TakenSignals(told)
}

impl TakenSignals {
    /// Returns the next signal if there is one within so long; `Disconnected` if signals cannot be watched.
    pub fn next(&self, within: Duration) -> Result<i32, RecvTimeoutError> {
        self.0.recv_timeout(within)
    }
}

impl Drop for TakenSignals {
    fn drop(&mut self) {
        *taker() = None;
    }
}

fn taker() -> MutexGuard<'static, Option<Sender<i32>>> {
    TAKER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a thread that ends the command in good order at these signals. If that fails, they end the command
/// as they do by default. Signals that the command was started to ignore, as `nohup` does, stay ignored.
pub fn watch_signals() {
    // A file that grows beyond `ulimit -f` is an error of its writer, and must not end the command.
    drop(flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false))));
    let ignored = ignored_signals();
    let (tell, watched) = channel();
    let watch = move || {
        let signals =
            SIGNALS.iter().map(|(signal, _)| *signal).filter(|signal| ignored & (1 << (signal - 1)) == 0);
        let signals = Signals::new(signals);
        if let Ok(signals) = &signals {
            HANDLE.get_or_init(|| signals.handle());
        }
        drop(tell);
        if let Ok(mut signals) = signals {
            signals.forever().for_each(|signal| match &*taker() {
                Some(taker) => drop(taker.send(signal)),
                None if signal == SIGCHLD => (),
                None if STOPS.swap(false, Ordering::SeqCst) => {
                    STOPPED_BY.store(signal, Ordering::SeqCst);
                    STOP.store(true, Ordering::SeqCst);
                }
                None => exit_on(signal),
            });
        }
    };
    if thread::Builder::new().name("loggp signals".into()).spawn(watch).is_ok() {
        let _: Result<(), _> = watched.recv(); // returns when `tell` is dropped
    }
}

/// Returns the signals that this process ignores, signal 1 in the lowest bit; 0 if the host does not tell.
fn ignored_signals() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let bits = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    bits.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).unwrap_or(0)
}

/// Locks the unfinished files. While the lock is held, the command is not interrupted.
pub fn drafts() -> MutexGuard<'static, Vec<UnfinishedFile>> {
    DRAFTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes unfinished files. It allocates no memory.
fn remove(drafts: &[UnfinishedFile]) {
    for unfinished in drafts {
        drop(fs::remove_file(&unfinished.draft)); // nothing can be done if it fails
    }
}

/// Writes the rows so far into the files that have some, and returns the names of these and the most rows.
fn write_kept(drafts: &[UnfinishedFile]) -> (Vec<String>, usize) {
    let (mut names, mut most) = (Vec::new(), 0);
    for UnfinishedFile { target, draft, kept, .. } in drafts {
        let Some(KeptRows { text, rows }) = kept else { continue };
        // The command may be writing the draft itself.
        let mut own = draft.clone().into_os_string();
        own.push(".rows");
        match fs::write(&own, text).and_then(|()| fs::rename(&own, target)) {
            Ok(()) => {
                names.push(target.file_name().unwrap_or_default().to_string_lossy().into_owned());
                most = most.max(*rows);
            }
            Err(_) => drop(fs::remove_file(&own)), // nothing can be done if it fails
        }
    }
    (names, most)
}

/// Removes all unfinished files, unless they are locked.
pub fn try_remove_drafts() {
    if let Ok(drafts) = DRAFTS.try_lock() {
        remove(&drafts);
    }
}

/// Registers the progress bar, or removes it. Blocks while the command is being ended.
pub fn set_bar(bar: Option<ProgressBar>) {
    *BAR.lock().unwrap_or_else(PoisonError::into_inner) = bar;
}

/// Sets the name of the items that the command writes in place of rows, and the end of the message if it is
/// interrupted after some.
pub fn set_written_item(what: &'static str, then: &'static str) {
    *WRITTEN_ITEM.lock().unwrap_or_else(PoisonError::into_inner) = (what, then);
}

/// Sets what is kept if the command is interrupted, a sentence, in place of that nothing was written.
pub fn set_kept(sentence: Option<String>) {
    *KEPT.lock().unwrap_or_else(PoisonError::into_inner) = sentence;
}

/// Starts a program that Ctrl-C does not reach, and which is told to end if a signal ends the command.
pub fn spawn_apart(program: &mut Command) -> io::Result<Child> {
    // While the lock is held, the command is not ended.
    let mut groups = GROUPS.lock().unwrap_or_else(PoisonError::into_inner);
    let child = program.process_group(0).spawn()?;
    groups.retain(|group| test_kill_process_group(*group).is_ok());
    groups.extend(Pid::from_raw(child.id() as i32));
    Ok(child)
}

/// Lets the first signal that would end the command only set the flag that is returned; the next one ends it.
pub fn stop_in_order() -> &'static AtomicBool {
    STOPS.store(true, Ordering::SeqCst);
    &STOP
}

/// Returns whether a signal has stopped the command in order.
pub fn is_stopped() -> bool {
    STOP.load(Ordering::SeqCst)
}

/// Returns the error of a command that a signal stopped in order, after so much; `None` if none did.
pub fn stopped(after: &str) -> Option<CliError> {
    STOPS.store(false, Ordering::SeqCst);
    let signal = STOPPED_BY.load(Ordering::SeqCst);
    let sentence = || format!("{} after {after}", name_signal(signal));
    (signal != 0).then(|| CliError::Program(128 + signal as u8, sentence()))
}

/// Sets what the command prints if it is interrupted: a table of so many rows.
pub fn set_so_far(so_far: Option<(String, usize)>) {
    *SO_FAR.lock().unwrap_or_else(PoisonError::into_inner) = so_far;
}

/// Returns what a signal that ends the command does to it, such as `terminated`.
pub fn name_signal(signal: i32) -> &'static str {
    SIGNALS.iter().find(|(other, _)| *other == signal).map_or("ended", |(_, what)| what)
}

/// Counts more rows as written.
pub fn add_written(rows: usize) {
    WRITTEN.fetch_add(rows, Ordering::SeqCst);
}

/// Ends the command with the exit status that shells use for a signal, whatever its other threads are doing.
fn exit_on(signal: i32) {
    let mut bar = BAR.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(bar) = bar.take() {
        bar.finish_and_clear();
    }
    let drafts = drafts();
    let (files, rows_of_files) = write_kept(&drafts);
    remove(&drafts);
    for group in &*GROUPS.lock().unwrap_or_else(PoisonError::into_inner) {
        let _: Result<(), _> = kill_process_group(*group, Signal::TERM);
    }
    let what = name_signal(signal);
    if let Some((table, rows)) = SO_FAR.lock().unwrap_or_else(PoisonError::into_inner).take() {
        let (tell, told) = channel();
        let write = move || {
            // The main thread has the lock of stdout.
            let out = rustix::stdio::stdout().try_clone_to_owned();
            drop(out.map(|out| fs::File::from(out).write_all(table.as_bytes())));
            let _: Result<(), _> = tell.send(());
        };
        // A reader that does not read does not hold up the end.
        if thread::Builder::new().spawn(write).is_ok() && told.recv_timeout(Duration::from_secs(1)).is_ok() {
            add_written(rows);
        }
    }
    let kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let kept_in = if files.is_empty() { String::new() } else { format!(", kept in {}", listed(&files)) };
    drop(match WRITTEN.load(Ordering::SeqCst).max(rows_of_files) {
        0 => writeln!(io::stderr(), "{what}; {}", kept.as_deref().unwrap_or("nothing was written")),
        rows => {
            let (thing, then) = *WRITTEN_ITEM.lock().unwrap_or_else(PoisonError::into_inner);
            writeln!(io::stderr(), "{what} after {}{kept_in}{then}", count(rows, thing))
        }
    });
    process::exit(128 + signal);
}
