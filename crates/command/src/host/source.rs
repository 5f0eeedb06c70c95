//! Inputs: files, and stdin, which is called `-`. All that the command reads is opened here.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::os::fd::{AsFd, IntoRawFd};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::interrupt;
use super::links::link_target;
use crate::error::system_reason;

/// An input, which ends.
pub struct InputBytes<R = File> {
    /// The bytes that were looked at before it is read.
    begin: Cursor<Vec<u8>>,
    input: R,
    /// The bytes that may still be read.
    left: u64,
}

/// The files that the command reads, and must not write.
static FILES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
/// Streams that were looked at, and that nobody has read yet: they have no second beginning.
static BEGUN: Mutex<Vec<(PathBuf, InputBytes)>> = Mutex::new(Vec::new());

/// The most bytes that are read from what is no file.
const LONGEST_STREAM: u64 = 1 << 32;
/// The bytes by which the kind of an input is known.
const BEGINNING: u64 = 4096;

fn lock<T>(all: &Mutex<Vec<T>>) -> MutexGuard<'_, Vec<T>> {
    all.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns whether there is an input of this name: stdin, or a file.
pub fn is_there(path: &Path) -> bool {
    is_stdin(path) || path.exists()
}

/// Returns whether the command reads a file, so that it must not write it.
pub fn is_read(file: &PathBuf) -> bool {
    lock(&FILES).contains(file)
}

fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

fn is_stream(path: &Path) -> bool {
    is_stdin(path) || !path.is_file()
}

/// Opens an input. From then on the command refuses to write the same file.
pub fn open_source(path: &Path) -> io::Result<InputBytes> {
    let mut begun = lock(&BEGUN);
    if let Some(place) = begun.iter().position(|(other, _)| other == path) {
        return Ok(begun.swap_remove(place).1);
    }
    let input = match is_stdin(path) {
        true => File::from(io::stdin().as_fd().try_clone_to_owned()?),
        false => File::open(path)?,
    };
    if let Ok(target) = link_target(if is_stdin(path) { Path::new("/dev/stdin") } else { path }) {
        let drafts = interrupt::drafts();
        if let Some(draft) = drafts.iter().find(|draft| draft.target == target) {
            return Err(io::Error::other(format!(
                "it would be written as --{}; give that another name",
                draft.kind
            )));
        }
        lock(&FILES).push(target);
    }
    let left = if input.metadata()?.is_file() { u64::MAX } else { LONGEST_STREAM };
    Ok(InputBytes { begin: Cursor::default(), input, left })
}

/// Returns the first bytes of an input, which can be read from its beginning afterwards.
pub fn beginning(path: &Path) -> io::Result<Vec<u8>> {
    let mut source = open_source(path)?;
    if source.begin.get_ref().is_empty() {
        let mut begin = Vec::new();
        source.by_ref().take(BEGINNING).read_to_end(&mut begin)?;
        source.begin = Cursor::new(begin);
    }
    let begin = source.begin.get_ref().clone();
    if is_stream(path) {
        lock(&BEGUN).push((path.into(), source));
    }
    Ok(begin)
}

/// Returns the name of a file with what an input has, for a reader that goes back and forth in it.
pub fn as_file(path: &Path) -> io::Result<PathBuf> {
    if !is_stream(path) {
        return Ok(path.into());
    }
    let mut copy = tempfile::tempfile()?;
    io::copy(&mut open_source(path)?, &mut copy)?;
    // It stays open, and goes with the command.
    Ok(format!("/dev/fd/{}", copy.into_raw_fd()).into())
}

/// Reads an input of at most `most` bytes, or says why not; `limit` says what a longer one means.
pub fn read_source(path: &Path, most: u64, limit: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let read = open_source(path).and_then(|source| source.take(most + 1).read_to_end(&mut bytes));
    read.map_err(|error| format!("it cannot be read: {}", system_reason(&error)))?;
    match bytes.len() as u64 > most {
        true => Err(format!("it is longer than {most} bytes{limit}")),
        false => Ok(bytes),
    }
}

impl<R: Read> Read for InputBytes<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let begin = self.begin.read(buffer)?;
        if begin > 0 {
            return Ok(begin);
        }
        let most = buffer.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let read = self.input.read(if most == 0 { buffer } else { &mut buffer[..most] })?;
        self.left = self.left.checked_sub(read as u64).ok_or_else(|| {
            io::Error::other(format!(
                "it is no file, and goes on after {LONGEST_STREAM} bytes; write it to a file, and give that"
            ))
        })?;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pipe or a device ends at its limit, and what was looked at is read first.
    #[test]
    fn a_stream_has_a_limit() {
        for (length, is_read) in [(5, true), (6, true), (7, false)] {
            let mut source = InputBytes {
                begin: Cursor::new(b"b".to_vec()),
                input: io::repeat(b'a').take(length),
                left: 6,
            };
            let mut bytes = Vec::new();
            let read = source.read_to_end(&mut bytes);
            assert_eq!((read.is_ok(), bytes.len()), (is_read, 1 + length.min(6) as usize));
            assert!(is_read || read.unwrap_err().to_string().contains("is no file, and goes on after"));
        }
    }
}
