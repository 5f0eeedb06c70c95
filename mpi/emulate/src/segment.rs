//! The file that the command shares with the ranks: a header, and a slot for each rank, in which the rank and the command
//! take turns.
//!
//! Whose turn it is says a word on which the other one waits (futex). Only who has the turn touches the slot. The offsets
//! are those of `recorder/emulate.h`.

use std::fs::File;
use std::io;
use std::num::NonZeroUsize;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rustix::fs::{FallocateFlags, fallocate, ftruncate};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use rustix::thread::futex::{self, Timespec};

use crate::threads::Threads;

const HEADER_BYTES: usize = 4096;
const SLOT_BYTES: usize = 384 << 10;
/// The bytes of shared memory that each rank takes.
pub const RANK_BYTES: u64 = SLOT_BYTES as u64;
const CALL_AREA: usize = 4096;
const CALL_BYTES: usize = 60 << 10;
const WINDOW: usize = 64 << 10;
/// The most bytes of data in one post or answer.
pub(crate) const WINDOW_BYTES: usize = SLOT_BYTES - WINDOW;
/// The most words of an answer.
pub(crate) const MOST_WORDS: usize = CALL_BYTES / 8;
const VERSION: u32 = 3;

/// What the ranks need to know beforehand; the bits of the header's flags.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Flags {
    /// The clocks of the host show the machine's time too.
    pub has_clocks: bool,
    /// Computing takes no time.
    pub work_is_free: bool,
    /// Calls that need no answer may be posted with later ones.
    pub may_defer: bool,
    /// The ranks look for faults of their own, and say of which types their data are.
    pub is_checked: bool,
}

/// The shared file. It has no name in its folder: whatever becomes of this process, nothing is left.
pub(crate) struct Segment {
    file: File,
    map: NonNull<u8>,
    slots: usize,
}

// SAFETY: what threads share in the map is read and written as atomics, or by whoever has a slot's turn.
unsafe impl Send for Segment {}
// SAFETY: as for `Send`.
unsafe impl Sync for Segment {}

/// What a rank posts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PostForm {
    Calls,
    /// A piece of the data of the calls that come next.
    Chunk,
    /// The wish for the next piece of an answer's data.
    Next,
}

/// The slot of a rank.
#[derive(Clone, Copy)]
pub(crate) struct Slot<'a> {
    base: NonNull<u8>,
    segment: &'a Segment,
}

impl Segment {
    /// Creates the file. It takes no memory before its ranks attach.
    pub(crate) fn create(slots: usize, flags: Flags) -> io::Result<Segment> {
        let file = tempfile::tempfile_in("/dev/shm")?;
        let bytes = HEADER_BYTES + slots * SLOT_BYTES;
        ftruncate(&file, bytes as u64)?;
        // A page for which there is no room would end the command when it is touched.
        fallocate(&file, FallocateFlags::empty(), 0, HEADER_BYTES as u64)?;
        let length = NonZeroUsize::new(bytes).expect("it has a header");
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new place of the file's length, which nothing else maps; it lives as long as the segment.
        let map =
            unsafe { mmap(std::ptr::null_mut(), length.get(), protection, MapFlags::SHARED, &file, 0) }?;
        let map = NonNull::new(map.cast::<u8>()).expect("a map is nowhere at 0");
        let segment = Segment { file, map, slots };
        let bits = [flags.has_clocks, flags.work_is_free, flags.may_defer, flags.is_checked];
        let bits =
            bits.into_iter().zip(0..).fold(0, |bits, (is_set, place)| bits | u32::from(is_set) << place);
        for (at, word) in [(8, VERSION), (12, slots as u32), (16, bits), (20, std::process::id())] {
            segment.word(at).store(word, Ordering::Relaxed);
        }
        for (at, half) in [(0, b"LOGG"), (4, b"PEMU")] {
            segment.word(at).store(u32::from_le_bytes(*half), Ordering::Release);
        }
        Ok(segment)
    }

    /// Returns the path by which ranks open the file while this process has it.
    pub(crate) fn path(&self) -> PathBuf {
        format!("/proc/{}/fd/{}", std::process::id(), self.file.as_raw_fd()).into()
    }

    pub(crate) fn slots(&self) -> usize {
        self.slots
    }

    /// Tells all ranks to end at once, when they next look.
    pub(crate) fn give_up(&self) {
        self.word(24).store(1, Ordering::Release);
    }

    pub(crate) fn slot(&self, rank: usize) -> Slot<'_> {
        assert!(rank < self.slots, "there are slots for {} ranks", self.slots);
        // SAFETY: the slot lies in the map.
        Slot { base: unsafe { self.map.add(HEADER_BYTES + rank * SLOT_BYTES) }, segment: self }
    }

    /// Returns why a process that is no rank yet cannot be one, if one has said so.
    pub(crate) fn refusal(&self) -> Option<String> {
        const TEXT: usize = 64;
        if self.word(28).load(Ordering::Acquire) != 2 {
            return None;
        }
        let mut text = [0; HEADER_BYTES - TEXT];
        self.file.read_exact_at(&mut text, TEXT as u64).ok()?;
        let end = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
        Some(String::from_utf8_lossy(&text[..end]).into_owned())
    }

    fn word(&self, at: usize) -> &AtomicU32 {
        // SAFETY: `at` is a word's offset in the header, which the map has; processes touch it as an atomic.
        unsafe { self.map.add(at).cast::<AtomicU32>().as_ref() }
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        let bytes = HEADER_BYTES + self.slots * SLOT_BYTES;
        // SAFETY: it is mapped so, and no slot outlives the segment.
        _ = unsafe { munmap(self.map.as_ptr().cast(), bytes) };
    }
}

impl Slot<'_> {
    fn word(&self, at: usize) -> &AtomicU32 {
        // SAFETY: `at` is a word's offset in the slot; both sides touch it as an atomic.
        unsafe { self.base.add(at).cast::<AtomicU32>().as_ref() }
    }

    fn long(&self, at: usize) -> u64 {
        // SAFETY: `at` is the offset of 64 bits in the slot, which belongs to the command while it has the turn.
        unsafe { self.base.add(at).cast::<u64>().read() }
    }

    fn set_long(&self, at: usize, value: u64) {
        // SAFETY: as for `long`.
        unsafe { self.base.add(at).cast::<u64>().write(value) };
    }

    fn bytes(&self, at: usize, length: usize) -> &[u8] {
        assert!(at + length <= SLOT_BYTES, "a rank posts more than its slot has");
        // SAFETY: the bytes lie in the slot, and the rank does not write while the command has the turn.
        unsafe { std::slice::from_raw_parts(self.base.add(at).as_ptr(), length) }
    }

    fn write(&self, at: usize, bytes: &[u8]) {
        assert!(at + bytes.len() <= SLOT_BYTES, "an answer is longer than a slot");
        // SAFETY: the bytes lie in the slot, which belongs to the command while it has the turn.
        unsafe { self.base.add(at).copy_from_nonoverlapping(NonNull::from(bytes).cast(), bytes.len()) };
    }

    /// Returns where the slot begins in the file.
    fn offset(&self) -> usize {
        self.base.as_ptr() as usize - self.segment.map.as_ptr() as usize
    }

    /// Returns the process and the number of all ranks, once the rank has come.
    pub(crate) fn attached(&self) -> Option<(i32, usize)> {
        // The rank makes room for its slot, so until it has come the slot is not touched: a read of the file takes none.
        let mut begin = [0; 16];
        let read = self.segment.file.read_exact_at(&mut begin, self.offset() as u64);
        if read.is_err() || begin[12..] == [0; 4] {
            return None;
        }
        (self.word(12).load(Ordering::Acquire) == 1).then(|| {
            let pid = self.word(4).load(Ordering::Relaxed) as i32;
            (pid, self.word(8).load(Ordering::Relaxed) as usize)
        })
    }

    /// Returns what the rank says of its threads, whoever has the turn.
    pub(crate) fn threads(&self) -> Option<Threads> {
        Threads::of_word(self.word(52).load(Ordering::Acquire))
    }

    /// Returns whether it is the command's turn.
    pub(crate) fn has_post(&self) -> bool {
        self.word(0).load(Ordering::Acquire) == 1
    }

    /// Waits for a post, no longer than a time. Returns whether there is one.
    pub(crate) fn wait(&self, most: Duration) -> bool {
        let time = Timespec { tv_sec: most.as_secs() as i64, tv_nsec: i64::from(most.subsec_nanos()) };
        while !self.has_post() {
            let waited = futex::wait(self.word(0), futex::Flags::empty(), 0, Some(&time));
            if waited == Err(Errno::TIMEDOUT) {
                return self.has_post();
            }
        }
        true
    }

    /// Returns the form of the post.
    pub(crate) fn form(&self) -> PostForm {
        match self.word(16).load(Ordering::Relaxed) {
            1 => PostForm::Chunk,
            2 => PostForm::Next,
            _ => PostForm::Calls,
        }
    }

    /// Returns the records of the post.
    pub(crate) fn records(&self) -> &[u8] {
        self.bytes(CALL_AREA, self.word(20).load(Ordering::Relaxed) as usize)
    }

    /// Returns the data of the post.
    pub(crate) fn data(&self) -> &[u8] {
        self.bytes(WINDOW, self.long(24) as usize)
    }

    /// Answers, and gives the rank the turn: the machine's time, the words of the answer, and a piece of its data, of
    /// which there are `total` bytes in all.
    pub(crate) fn answer(&self, now_ps: i64, words: &[u64], piece: &[u8], total: usize) {
        assert!(words.len() <= MOST_WORDS, "an answer has more words than its slot");
        for (place, word) in words.iter().enumerate() {
            self.set_long(CALL_AREA + 8 * place, *word);
        }
        self.word(48).store(words.len() as u32, Ordering::Relaxed);
        self.write(WINDOW, piece);
        self.set_long(24, piece.len() as u64);
        self.set_long(32, total as u64);
        self.set_long(40, now_ps as u64);
        self.wake();
    }

    /// Gives the rank the turn.
    fn wake(&self) {
        self.word(0).store(0, Ordering::Release);
        let _: io::Result<_> = futex::wake(self.word(0), futex::Flags::empty(), 1).map_err(io::Error::from);
    }

    /// Wakes a rank that waits, to look whether the command has given up.
    pub(crate) fn rouse(&self) {
        let _: io::Result<_> = futex::wake(self.word(0), futex::Flags::empty(), 1).map_err(io::Error::from);
    }
}
