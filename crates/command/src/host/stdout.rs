//! Standard output. If its reader closes it, as `head` does, the command ends silently, unless it still has
//! files to write. Everything that the command says goes through here or through `error::say`, which see to it that no
//! text from a file gives orders to a terminal.

use std::io::{self, ErrorKind, StdoutLock, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use loggp_document::{Width, printable};

use super::interrupt;

/// Standard output, which may be closed by its reader.
pub struct Stdout {
    lock: StdoutLock<'static>,
    is_for_file: bool,
}

/// True if stdout gets what else would be written to a file, and nothing beside it.
static IS_KEPT_FOR_FILE: AtomicBool = AtomicBool::new(false);

/// Keeps stdout for what else would be written to a file: from now on tables and notes are dropped.
pub fn keep_for_file() {
    IS_KEPT_FOR_FILE.store(true, Ordering::SeqCst);
}

/// Returns whether tables and notes are dropped.
pub fn is_kept_for_file() -> bool {
    IS_KEPT_FOR_FILE.load(Ordering::SeqCst)
}

/// True if the command writes a folder, whose files are not all open yet.
static WRITES_FOLDER: AtomicBool = AtomicBool::new(false);

/// Lets the command continue after stdout is closed, because it writes a folder.
pub fn expect_folder() {
    WRITES_FOLDER.store(true, Ordering::SeqCst);
}

/// The width of tables if neither a terminal nor `COLUMNS` gives one.
const DEFAULT_WIDTH: usize = 100;

/// Returns the width for standard output: that of its terminal, or else that of files.
pub fn width() -> Width {
    let terminal = rustix::termios::tcgetwinsize(rustix::stdio::stdout());
    match terminal.map_or(0, |size| usize::from(size.ws_col)) {
        0 => width_of_files(),
        columns => Width { table: columns, prose: columns },
    }
}

/// Returns the width for files: tables are as wide as `COLUMNS`, and prose is not folded.
pub fn width_of_files() -> Width {
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.trim().parse().ok());
    Width { table: columns.filter(|columns| *columns > 0).unwrap_or(DEFAULT_WIDTH), prose: usize::MAX }
}

impl Stdout {
    /// Locks stdout for tables and notes.
    pub fn lock() -> Stdout {
        Stdout { lock: io::stdout().lock(), is_for_file: false }
    }

    /// Locks stdout for what else would be written to a file.
    pub fn for_file() -> Stdout {
        Stdout { is_for_file: true, ..Stdout::lock() }
    }
}

/// Turns a closed pipe into success as long as there are files to write.
fn ignore_closed_pipe<T>(written: io::Result<T>, success: T) -> io::Result<T> {
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {
            let owes = WRITES_FOLDER.load(Ordering::SeqCst) || !interrupt::drafts().is_empty();
            if owes { Ok(success) } else { Err(error) }
        }
        written => written,
    }
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.is_for_file && is_kept_for_file() {
            return Ok(bytes.len());
        }
        // What is written may quote files, and a terminal must not take that for orders.
        let has_orders = |byte: &u8| matches!(byte, ..b'\t' | 0x0b..b' ' | 0x7f | 0xc2 | 0xe2);
        match bytes.iter().any(has_orders) {
            false => ignore_closed_pipe(self.lock.write(bytes), bytes.len()),
            true => {
                // Bytes that are no text are the rest of a character that was written in part.
                let written = bytes.utf8_chunks().try_for_each(|chunk| {
                    self.lock.write_all(printable(chunk.valid()).as_bytes())?;
                    self.lock.write_all(chunk.invalid())
                });
                ignore_closed_pipe(written.map(|()| bytes.len()), bytes.len())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        ignore_closed_pipe(self.lock.flush(), ())
    }
}
