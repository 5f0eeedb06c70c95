//! Where results go. Whoever reads them may stop, as `head` does: then the command ends without a word, unless it still
//! owes somebody a file.

use std::io::{self, ErrorKind, StdoutLock, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use loggp_document::Width;

use super::interrupt;

/// Standard output, as long as somebody reads it.
pub struct Stdout(StdoutLock<'static>);

/// Whether the command has more to write than the files that are begun.
static OWES_FOLDER: AtomicBool = AtomicBool::new(false);

/// From now on the command goes on when nobody reads: what it makes goes into a folder.
pub fn owe_folder() {
    OWES_FOLDER.store(true, Ordering::SeqCst);
}

/// The width of tables where neither a terminal nor `COLUMNS` says one.
const USUAL: usize = 100;

/// Returns the width for standard output: that of its terminal, or else that of files.
pub fn width() -> Width {
    let terminal = rustix::termios::tcgetwinsize(rustix::stdio::stdout());
    match terminal.map_or(0, |size| usize::from(size.ws_col)) {
        0 => width_of_files(),
        columns => Width { table: columns, prose: columns },
    }
}

/// Returns the width for files: tables are as wide as `COLUMNS` says, and prose is not folded.
pub fn width_of_files() -> Width {
    let said = std::env::var("COLUMNS").ok().and_then(|said| said.trim().parse().ok());
    Width { table: said.filter(|columns| *columns > 0).unwrap_or(USUAL), prose: usize::MAX }
}

impl Stdout {
    /// Standard output, for the caller alone.
    pub fn lock() -> Stdout {
        Stdout(io::stdout().lock())
    }
}

/// What nobody reads counts as written as long as there are files to write.
fn unread<T>(written: io::Result<T>, all: T) -> io::Result<T> {
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {
            let owes = OWES_FOLDER.load(Ordering::SeqCst) || !interrupt::drafts().is_empty();
            if owes { Ok(all) } else { Err(error) }
        }
        written => written,
    }
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        unread(self.0.write(bytes), bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        unread(self.0.flush(), ())
    }
}
