//! Ctrl-C and its like: the command ends at once, and leaves nothing half done behind.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use indicatif::ProgressBar;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXCPU, SIGXFSZ};
use signal_hook::flag;
use signal_hook::iterator::Signals;

use super::number::count;

/// The signals that end the command, and what it says then.
const SIGNALS: [(i32, &str); 4] = [
    (SIGINT, "interrupted"),
    (SIGTERM, "terminated"),
    (SIGHUP, "hung up"),
    (SIGXCPU, "out of processor time"),
];

/// A file that is to be whole or not there.
pub struct Unfinished {
    /// What it will be, such as `trace`.
    pub what: &'static str,
    /// Where the file shall be when it is whole.
    pub target: PathBuf,
    /// Where the file is until it is whole.
    pub draft: PathBuf,
}

/// The files that are not finished.
static DRAFTS: Mutex<Vec<Unfinished>> = Mutex::new(Vec::new());
/// What stands on the terminal, and must go from there.
static BAR: Mutex<Option<ProgressBar>> = Mutex::new(None);
/// How many rows, or whatever it is that the command writes, have been written.
static ROWS: AtomicUsize = AtomicUsize::new(0);
/// What the command writes, and what is to be said of it at the end.
static WRITES: Mutex<(&str, &str)> = Mutex::new(("row", ""));

/// From now on these signals end the command in good order. Where a signal cannot be had, or there is no thread to wait
/// for it, it ends the command anyhow. One that the command was started to ignore, as `nohup` does, is left alone.
pub fn watch() {
    // A file that becomes longer than `ulimit -f` allows is an error of who writes it, and no end of the command.
    drop(flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false))));
    let ignored = ignored();
    let (tell, watched) = channel();
    let watch = move || {
        let signals =
            SIGNALS.iter().map(|(signal, _)| *signal).filter(|signal| ignored & (1 << (signal - 1)) == 0);
        let signals = Signals::new(signals);
        drop(tell);
        if let Ok(mut signals) = signals {
            signals.forever().for_each(end);
        }
    };
    if thread::Builder::new().name("loggp signals".into()).spawn(watch).is_ok() {
        let _: Result<(), _> = watched.recv(); // its end is what there is to hear
    }
}

/// The signals that this process ignores, the first in the lowest bit; none where the host does not say.
fn ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let bits = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    bits.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).unwrap_or(0)
}

/// The drafts there are. While this is held, the command is not interrupted.
pub fn drafts() -> MutexGuard<'static, Vec<Unfinished>> {
    DRAFTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the drafts, for a command that ends before they are whole. It asks for no memory.
fn remove(drafts: &[Unfinished]) {
    for unfinished in drafts {
        drop(fs::remove_file(&unfinished.draft)); // there is nobody to tell
    }
}

/// Removes the drafts there are, unless somebody holds them at this moment.
pub fn try_remove_drafts() {
    if let Ok(drafts) = DRAFTS.try_lock() {
        remove(&drafts);
    }
}

/// Notes that there is a bar on the terminal, or none any more. Whoever does so waits while the command is being ended.
pub fn set_bar(bar: Option<ProgressBar>) {
    *BAR.lock().unwrap_or_else(PoisonError::into_inner) = bar;
}

/// From now on the command writes this and not rows; and what is to be said if it is ended after some.
pub fn set_writes(what: &'static str, then: &'static str) {
    *WRITES.lock().unwrap_or_else(PoisonError::into_inner) = (what, then);
}

/// Notes that so many more rows have been written.
pub fn wrote(rows: usize) {
    ROWS.fetch_add(rows, Ordering::SeqCst);
}

/// Ends the command, with the exit status that shells give to what a signal ended. The main thread may be anywhere,
/// and the processors' threads go with it.
fn end(signal: i32) {
    let mut bar = BAR.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(bar) = bar.take() {
        bar.finish_and_clear();
    }
    let drafts = drafts();
    remove(&drafts);
    let what = SIGNALS.iter().find(|(other, _)| *other == signal).map_or("ended", |(_, what)| what);
    drop(match ROWS.load(Ordering::SeqCst) {
        0 => writeln!(io::stderr(), "{what}; nothing was written"),
        rows => {
            let (thing, then) = *WRITES.lock().unwrap_or_else(PoisonError::into_inner);
            writeln!(io::stderr(), "{what} after {}{then}", count(rows, thing))
        }
    });
    process::exit(128 + signal);
}
