//! Ctrl-C: the command ends at once, and leaves nothing half done behind.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use indicatif::ProgressBar;

use super::number::count;

/// The exit status of what was interrupted.
const INTERRUPTED: i32 = 130;

/// Files that are to be whole or not there.
static DRAFTS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
/// What stands on the terminal, and must go from there.
static BAR: Mutex<Option<ProgressBar>> = Mutex::new(None);
/// How many rows have been written.
static ROWS: AtomicUsize = AtomicUsize::new(0);

/// From now on Ctrl-C ends the command in good order. Where the host does not have it, it ends anyhow.
pub fn watch() {
    drop(ctrlc::set_handler(end));
}

/// The drafts there are. While this is held, the command is not interrupted.
pub fn drafts() -> MutexGuard<'static, Vec<PathBuf>> {
    DRAFTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// There is a bar on the terminal, or none any more.
pub fn set_bar(bar: Option<ProgressBar>) {
    *BAR.lock().unwrap_or_else(PoisonError::into_inner) = bar;
}

/// So many more rows have been written.
pub fn wrote(rows: usize) {
    ROWS.fetch_add(rows, Ordering::SeqCst);
}

/// Ends the command. The main thread may be anywhere, and the processors' threads go with it.
fn end() {
    if let Some(bar) = BAR.lock().unwrap_or_else(PoisonError::into_inner).take() {
        bar.finish_and_clear();
    }
    let drafts = drafts();
    for draft in &*drafts {
        drop(fs::remove_file(draft)); // there is nobody to tell
    }
    drop(match ROWS.load(Ordering::SeqCst) {
        0 => writeln!(io::stderr(), "interrupted; nothing was written"),
        rows => writeln!(io::stderr(), "interrupted after {}", count(rows, "row")),
    });
    process::exit(INTERRUPTED);
}
