//! A file that this process shares with others, which map it too. It has no name in its folder: whatever becomes of this process,
//! nothing is left.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::{FallocateFlags, fallocate, ftruncate};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use rustix::thread::futex;

/// The bytes of the header, with which the file begins.
pub(crate) const HEADER_BYTES: usize = 4096;

/// The file, and its map here.
pub(crate) struct SharedFile {
    file: File,
    map: NonNull<u8>,
    bytes: usize,
}

// SAFETY: what threads share in the map is read and written as atomics, or by whoever has the turn.
unsafe impl Send for SharedFile {}
// SAFETY: as for `Send`.
unsafe impl Sync for SharedFile {}

impl SharedFile {
    /// Creates a file with a header and so many bytes behind it, which take no memory before they are touched. The header begins
    /// with a magic word of 8 bytes, which is there last, and has words at these offsets.
    pub(crate) fn create(behind: usize, magic: &[u8; 8], words: &[(usize, u32)]) -> io::Result<SharedFile> {
        let file = tempfile::tempfile_in("/dev/shm")?;
        let bytes = HEADER_BYTES + behind;
        ftruncate(&file, bytes as u64)?;
        // A page for which there is no room would end the command when it is touched.
        fallocate(&file, FallocateFlags::empty(), 0, HEADER_BYTES as u64)?;
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new place of the file's length, which nothing else maps; it lives as long as the value.
        let map = unsafe { mmap(std::ptr::null_mut(), bytes, protection, MapFlags::SHARED, &file, 0) }?;
        let map = NonNull::new(map.cast::<u8>()).expect("a map is nowhere at 0");
        let shared = SharedFile { file, map, bytes };
        for (at, word) in words {
            shared.word(*at).store(*word, Ordering::Relaxed);
        }
        for (at, half) in [0, 4].into_iter().zip(magic.as_chunks().0) {
            shared.word(at).store(u32::from_le_bytes(*half), Ordering::Release);
        }
        Ok(shared)
    }

    /// Returns the path by which others open the file while this process has it.
    pub(crate) fn path(&self) -> PathBuf {
        format!("/proc/{}/fd/{}", std::process::id(), self.file.as_raw_fd()).into()
    }

    /// Returns a word of the header by its offset.
    pub(crate) fn word(&self, at: usize) -> &AtomicU32 {
        assert!(at < HEADER_BYTES, "the header has no word at {at}");
        // SAFETY: the word lies in the header, which the map has; processes touch it as an atomic.
        unsafe { self.map.add(at).cast::<AtomicU32>().as_ref() }
    }

    /// Returns where a part behind the header begins.
    pub(crate) fn part(&self, at: usize) -> NonNull<u8> {
        assert!(HEADER_BYTES + at < self.bytes, "the file has no part at {at}");
        // SAFETY: the part lies in the map.
        unsafe { self.map.add(HEADER_BYTES + at) }
    }

    /// Returns the text at an offset of the header, which ends with a 0 or before `end`.
    pub(crate) fn text(&self, at: usize, end: usize) -> io::Result<String> {
        let mut text = vec![0; end - at];
        self.file.read_exact_at(&mut text, at as u64)?;
        let length = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
        Ok(String::from_utf8_lossy(&text[..length]).into_owned())
    }

    /// Writes a text with a 0 behind it at an offset of the header.
    pub(crate) fn set_text(&self, at: usize, text: &[u8]) -> io::Result<()> {
        self.file.write_all_at(&[text, &[0]].concat(), at as u64)
    }

    /// Reads bytes at the offset of a part, which takes no memory if nobody has touched it.
    pub(crate) fn read_part(&self, at: usize, bytes: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(bytes, (HEADER_BYTES + at) as u64)
    }
}

impl Drop for SharedFile {
    fn drop(&mut self) {
        // SAFETY: it is mapped so, and nothing that refers to it outlives it.
        let _: Result<_, _> = unsafe { munmap(self.map.as_ptr().cast(), self.bytes) };
    }
}

/// Wakes whoever waits on a word.
pub(crate) fn wake(word: &AtomicU32) {
    let _: Result<_, _> = futex::wake(word, futex::Flags::empty(), 1);
}
