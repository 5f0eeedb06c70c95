//! A program without a launcher: one process of it, the keeper, stays at the end of `MPI_Init`, and forks all ranks whenever it is
//! asked. What both tell each other lies in a file; the offsets are those of `recorder/forks.c`.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::Ordering;

use rustix::thread::futex::{self, Timespec};

use crate::session::Session;
use crate::shared_file::{SharedFile, wake};

const VERSION: u32 = 1;
// The offsets in the file.
const TURN: usize = 16;
const STATE: usize = 20;
const RANKS: usize = 24;
const STATUS: usize = 28;
const IS_OVER: usize = 32;
const WHY: usize = 64;
const PATH: usize = 2048;

/// The file that the command shares with the keeper.
pub struct Nursery(SharedFile);

/// The state of the keeper, as it says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Keeper {
    /// No rank runs. The exit status is that of the first one that did not end with 0, of the ranks before.
    Ready(u32),
    /// It cannot fork, since it has threads: why.
    Cannot(String),
    /// The program has ended before it came so far.
    Ended,
}

impl Nursery {
    /// Prepares for a program.
    pub fn create() -> io::Result<Nursery> {
        SharedFile::create(0, b"LOGGPFRK", &[(8, VERSION), (12, std::process::id())]).map(Nursery)
    }

    /// Returns the variables that the program needs.
    pub fn variables(&self) -> [(&'static str, OsString); 1] {
        [("LOGGP_FORKS", self.0.path().into())]
    }

    /// Waits until no rank runs and the keeper can fork, or cannot.
    pub fn wait(&self, mut is_over: impl FnMut() -> bool) -> Keeper {
        const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
        loop {
            if let Some(said) = self.has_said() {
                return said;
            }
            if is_over() {
                return Keeper::Ended;
            }
            // However it ends, the word says what is.
            let _: Result<_, _> = futex::wait(self.0.word(TURN), futex::Flags::empty(), 0, Some(&LOOK));
        }
    }

    /// Returns what the keeper says, if it waits for an answer.
    pub fn has_said(&self) -> Option<Keeper> {
        if self.0.word(TURN).load(Ordering::Acquire) != 1 {
            return None;
        }
        Some(match self.0.word(STATE).load(Ordering::Relaxed) {
            1 => Keeper::Ready(self.0.word(STATUS).load(Ordering::Relaxed)),
            _ => Keeper::Cannot(self.why()),
        })
    }

    fn why(&self) -> String {
        self.0.text(WHY, PATH).unwrap_or_default()
    }

    /// Lets the keeper, which is ready, fork so many ranks for a session.
    pub fn fork(&self, session: &Session, ranks: usize) -> io::Result<()> {
        let [(_, path)] = session.variables();
        self.0.set_text(PATH, path.as_bytes())?;
        self.0.word(RANKS).store(ranks as u32, Ordering::Relaxed);
        self.give_turn();
        Ok(())
    }

    /// Lets the keeper end, and the ranks that still run.
    pub fn end(&self) {
        self.0.word(IS_OVER).store(1, Ordering::Release);
        self.give_turn();
    }

    fn give_turn(&self) {
        self.0.word(TURN).store(0, Ordering::Release);
        wake(self.0.word(TURN));
    }
}

impl Drop for Nursery {
    fn drop(&mut self) {
        self.end();
    }
}
