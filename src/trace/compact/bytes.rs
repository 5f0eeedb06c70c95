//! The bytes of a small file, in either direction.

use std::io::{BufReader, BufWriter, Error, ErrorKind, Read, Result, Write};
use std::slice;

/// A small file that is either written or read, by the same functions. A written file writes what a function is given, and
/// returns it. A read file ignores what a function is given, and returns what the file says.
pub(super) enum File<'a> {
    Written(BufWriter<&'a mut dyn Write>),
    Read {
        input: BufReader<&'a mut dyn Read>,
        /// How many bytes were read.
        at: u64,
    },
}

impl File<'_> {
    pub(super) fn byte(&mut self, mut byte: u8) -> Result<u8> {
        match self {
            File::Written(out) => out.write_all(&[byte])?,
            File::Read { input, at } => {
                input.read_exact(slice::from_mut(&mut byte)).map_err(|error| match error.kind() {
                    ErrorKind::UnexpectedEof => Error::other("the file ends in the middle of the trace"),
                    _ => error,
                })?;
                *at += 1;
            }
        }
        Ok(byte)
    }

    /// Writes these bytes, or reads so many.
    pub(super) fn bytes(&mut self, mut bytes: Vec<u8>, length: u64) -> Result<Vec<u8>> {
        match self {
            File::Written(out) => out.write_all(&bytes)?,
            File::Read { input, at } => {
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

    /// Ends the file; a file that is read must have no more bytes.
    pub(super) fn end(&mut self) -> Result<()> {
        match self {
            File::Written(out) => out.flush(),
            File::Read { input, .. } => match input.read(&mut [0])? {
                0 => Ok(()),
                _ => Err(Error::other("the trace is over, and the file goes on")),
            },
        }
    }

    /// Says in an error at which byte of the file it happened.
    pub(super) fn place(&self) -> String {
        match self {
            File::Written(_) => String::new(),
            File::Read { at, .. } => format!("at byte {at}: "),
        }
    }
}
