//! A program without a launcher: one process of it, the keeper, stays at the end of `MPI_Init`, and forks all ranks whenever it is
//! asked. What both tell each other lies in a file; the offsets are those of `recorder/forks.c`.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::{FallocateFlags, fallocate, ftruncate};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use rustix::thread::futex::{self, Timespec};

use crate::session::Session;

const BYTES: usize = 4096;
const VERSION: u32 = 1;
const WHY: usize = 64;
const PATH: usize = 2048;

/// The file, and the keeper that has it.
pub struct Nursery {
    file: File,
    map: NonNull<u8>,
}

// SAFETY: what threads share in the map is read and written as atomics, or by whoever has the turn.
unsafe impl Send for Nursery {}
// SAFETY: as for `Send`.
unsafe impl Sync for Nursery {}

/// What the keeper has said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Keeper {
    /// No rank runs. The exit status is that of the first one that did not end with 0, of the ranks before.
    Ready(u32),
    /// It cannot fork, since it has threads: why.
    Cannot(String),
    /// The program calls what an emulated one cannot: why.
    Refuses(String),
    /// The program has ended before it came so far.
    Ended,
}

impl Nursery {
    /// Prepares for a program.
    pub fn create() -> io::Result<Nursery> {
        let file = tempfile::tempfile_in("/dev/shm")?;
        ftruncate(&file, BYTES as u64)?;
        fallocate(&file, FallocateFlags::empty(), 0, BYTES as u64)?;
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new place of the file's length, which nothing else maps; it lives as long as the nursery.
        let map = unsafe { mmap(std::ptr::null_mut(), BYTES, protection, MapFlags::SHARED, &file, 0) }?;
        let map = NonNull::new(map.cast::<u8>()).expect("a map is nowhere at 0");
        let nursery = Nursery { file, map };
        for (at, word) in [(8, VERSION), (12, std::process::id())] {
            nursery.word(at).store(word, Ordering::Relaxed);
        }
        for (at, half) in [(0, b"LOGG"), (4, b"PFRK")] {
            nursery.word(at).store(u32::from_le_bytes(*half), Ordering::Release);
        }
        Ok(nursery)
    }

    /// Returns the variables that the program needs.
    pub fn variables(&self) -> [(&'static str, OsString); 1] {
        let path = format!("/proc/{}/fd/{}", std::process::id(), self.file.as_raw_fd());
        [("LOGGP_FORKS", path.into())]
    }

    fn word(&self, at: usize) -> &AtomicU32 {
        // SAFETY: `at` is a word's offset in the map; processes touch it as an atomic.
        unsafe { self.map.add(at).cast::<AtomicU32>().as_ref() }
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
            let _: Result<_, _> = futex::wait(self.word(16), futex::Flags::empty(), 0, Some(&LOOK));
        }
    }

    /// Returns what the keeper says, if it waits for an answer.
    pub fn has_said(&self) -> Option<Keeper> {
        if self.word(16).load(Ordering::Acquire) != 1 {
            return None;
        }
        Some(match self.word(20).load(Ordering::Relaxed) {
            1 => Keeper::Ready(self.word(28).load(Ordering::Relaxed)),
            2 => Keeper::Cannot(self.why()),
            _ => Keeper::Refuses(self.why()),
        })
    }

    fn why(&self) -> String {
        let mut text = [0; PATH - WHY];
        if self.file.read_exact_at(&mut text, WHY as u64).is_err() {
            return String::new();
        }
        let end = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
        String::from_utf8_lossy(&text[..end]).into_owned()
    }

    /// Lets the keeper, which is ready, fork so many ranks for a session.
    pub fn fork(&self, session: &Session, ranks: usize) -> io::Result<()> {
        let [(_, path)] = session.variables();
        self.file.write_all_at(&[path.as_bytes(), &[0]].concat(), PATH as u64)?;
        self.word(24).store(ranks as u32, Ordering::Relaxed);
        self.give_turn();
        Ok(())
    }

    /// Lets the keeper end, and the ranks that still run.
    pub fn end(&self) {
        self.word(32).store(1, Ordering::Release);
        self.give_turn();
    }

    fn give_turn(&self) {
        self.word(16).store(0, Ordering::Release);
        let _: io::Result<_> = futex::wake(self.word(16), futex::Flags::empty(), 1).map_err(io::Error::from);
    }
}

impl Drop for Nursery {
    fn drop(&mut self) {
        self.end();
        // SAFETY: it is mapped so, and nothing refers to it any more.
        let _: Result<_, _> = unsafe { munmap(self.map.as_ptr().cast(), BYTES) };
    }
}
