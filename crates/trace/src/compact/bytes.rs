//! The bytes of a compact file, written or read.

use std::io::{BufReader, BufWriter, Error, ErrorKind, Read, Result, Write};
use std::slice;

/// A compact file that is written or read, by the same functions. While writing, a function writes its
/// argument and returns it; while reading, it ignores its argument and returns what the file has.
pub(super) enum CompactFile<'a> {
    Written(BufWriter<&'a mut dyn Write>),
    Read {
        input: BufReader<&'a mut dyn Read>,
        /// The number of bytes read so far.
        at: u64,
    },
}

impl CompactFile<'_> {
    pub(super) fn byte(&mut self, mut byte: u8) -> Result<u8> {
        match self {
            CompactFile::Written(out) => out.write_all(&[byte])?,
            CompactFile::Read { input, at } => {
                input.read_exact(slice::from_mut(&mut byte)).map_err(|error| match error.kind() {
                    ErrorKind::UnexpectedEof => Error::other("the file ends in the middle of the trace"),
                    _ => error,
                })?;
                *at += 1;
            }
        }
        Ok(byte)
    }

    /// Writes `bytes`, or reads `length` bytes.
    pub(super) fn bytes(&mut self, mut bytes: Vec<u8>, length: u64) -> Result<Vec<u8>> {
        match self {
            CompactFile::Written(out) => out.write_all(&bytes)?,
            CompactFile::Read { input, at } => {
                let read = input.take(length).read_to_end(&mut bytes)? as u64;
                *at += read;
                if read != length {
                    let why = format!("a text is said to have {length} bytes, and the file ends");
                    return Err(Error::other(why));
                }
            }
        }
        Ok(bytes)
    }

    /// Flushes a written file, or checks that a read file has no more bytes.
    pub(super) fn end(&mut self) -> Result<()> {
        match self {
            CompactFile::Written(out) => out.flush(),
            CompactFile::Read { input, .. } => match input.read(&mut [0])? {
                0 => Ok(()),
                _ => Err(Error::other("the trace is over, and the file goes on")),
            },
        }
    }

    /// Returns the prefix of an error that says at which byte of the file it occurred.
    pub(super) fn position(&self) -> String {
        match self {
            CompactFile::Written(_) => String::new(),
            CompactFile::Read { at, .. } => format!("at byte {at}: "),
        }
    }
}
