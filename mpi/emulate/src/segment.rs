//! The file that the command shares with the ranks: a header, and a slot for each rank, in which the rank and the command
//! take turns.
//!
//! Whose turn it is says a word on which the other one waits (futex). Only who has the turn touches the slot. The offsets
//! are those of `recorder/emulate.h`.

use std::io;
use std::path::PathBuf;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

use loggp_mpi_trace::recording::post::Address;
use rustix::thread::futex;

use crate::ending::RankEnd;
use crate::shared_file::{HEADER_BYTES, SharedFile, wake};
use crate::threads::Threads;

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
const VERSION: u32 = 6;
/// Nobody's turn: for which no rank waits.
const GIVEN_UP: u32 = 2;

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

/// The shared file.
pub(crate) struct Segment {
    file: SharedFile,
    slots: usize,
}

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
    /// Where the slot begins behind the file's header.
    at: usize,
    segment: &'a Segment,
}

impl Segment {
    /// Creates the file. It takes no memory before its ranks attach.
    pub(crate) fn create(slots: usize, flags: Flags) -> io::Result<Segment> {
        let bits = [flags.has_clocks, flags.work_is_free, flags.may_defer, flags.is_checked];
        let bits =
            bits.into_iter().zip(0..).fold(0, |bits, (is_set, index)| bits | u32::from(is_set) << index);
        let words = [(8, VERSION), (12, slots as u32), (16, bits), (20, std::process::id())];
        Ok(Segment { file: SharedFile::create(slots * SLOT_BYTES, b"LOGGPEMU", &words)?, slots })
    }

    /// Returns the path by which ranks open the file while this process has it.
    pub(crate) fn path(&self) -> PathBuf {
        self.file.path()
    }

    pub(crate) fn slots(&self) -> usize {
        self.slots
    }

    /// Ends all ranks that wait for the command, or will.
    pub(crate) fn give_up(&self) {
        self.file.word(24).store(1, Ordering::SeqCst);
        let slots = (0..self.slots).map(|rank| self.slot(rank));
        slots.filter(|slot| slot.attached().is_some()).for_each(|slot| slot.give_up());
    }

    pub(crate) fn slot(&self, rank: usize) -> Slot<'_> {
        assert!(rank < self.slots, "there are slots for {} ranks", self.slots);
        let at = rank * SLOT_BYTES;
        Slot { base: self.file.part(at), at, segment: self }
    }

    /// Returns why a process that is no rank yet cannot be one, if one has said so.
    pub(crate) fn refusal(&self) -> Option<String> {
        let is_there = self.file.word(28).load(Ordering::Acquire) == 2;
        is_there.then(|| self.file.text(64, HEADER_BYTES).ok())?
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

    /// Returns the process and the number of all ranks, once the rank has come.
    pub(crate) fn attached(&self) -> Option<(i32, usize)> {
        // The rank makes room for its slot, so until it has come the slot is not touched: a read of the file takes none.
        let mut begin = [0; 16];
        let read = self.segment.file.read_part(self.at, &mut begin);
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

    /// Returns what the rank says of its end, whoever has the turn.
    pub(crate) fn end(&self) -> RankEnd {
        let signal = Some(self.word(64).load(Ordering::Acquire)).filter(|signal| *signal != 0);
        let status = self.word(68).load(Ordering::Acquire).checked_sub(1);
        RankEnd {
            signal: signal.map(|signal| signal as i32),
            status: status.map(|status| status as i32),
            frames: self.frames(),
        }
    }

    /// Returns where the rank is, if it has said so since it was asked.
    pub(crate) fn told_place(&self) -> Option<RankEnd> {
        let is_told = self.word(72).load(Ordering::Acquire) != 0;
        is_told.then(|| RankEnd { frames: self.frames(), ..RankEnd::default() })
    }

    fn frames(&self) -> Vec<Address> {
        let mut bytes = vec![0; (self.word(76).load(Ordering::Acquire) as usize).min(CALL_AREA - 80)];
        // The file is read, since the rank may write meanwhile.
        match self.segment.file.read_part(self.at + 80, &mut bytes) {
            Ok(()) => RankEnd::read_frames(&bytes),
            Err(_) => Vec::new(),
        }
    }

    /// Returns whether it is the command's turn.
    pub(crate) fn has_post(&self) -> bool {
        self.word(0).load(Ordering::Acquire) == 1
    }

    /// Waits for a post, or until it is [roused](Slot::rouse). Returns whether there is one.
    pub(crate) fn wait(&self) -> bool {
        if !self.has_post() {
            // However it ends, the word says what is.
            let _: Result<_, _> = futex::wait(self.word(0), futex::Flags::empty(), 0, None);
        }
        self.has_post()
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
        for (index, word) in words.iter().enumerate() {
            self.set_long(CALL_AREA + 8 * index, *word);
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
        wake(self.word(0));
    }

    /// Wakes a rank that waits, or will in a moment: it gave the turn away before, or else sees that the command has given up.
    fn give_up(&self) {
        self.word(0).store(GIVEN_UP, Ordering::SeqCst);
        self.rouse();
    }

    /// Wakes who waits for a post, to look whether the rank still is there.
    pub(crate) fn rouse(&self) {
        wake(self.word(0));
    }
}
