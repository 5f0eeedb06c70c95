//! Numbers and texts, read from bytes that may be anything.

use std::borrow::Cow;

/// What is wrong with bytes, and where.
#[derive(Debug)]
pub(super) struct Wrong {
    pub at: usize,
    pub what: Cow<'static, str>,
}

/// A position in bytes, from which is read on.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    pub bytes: &'a [u8],
    pub at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Cursor { bytes, at: 0 }
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.at >= self.bytes.len()
    }

    /// Returns an error at this position.
    pub(super) fn wrong<T>(&self, what: impl Into<Cow<'static, str>>) -> Result<T, Wrong> {
        Err(Wrong { at: self.at, what: what.into() })
    }

    #[inline]
    pub(super) fn byte(&mut self) -> Result<u8, Wrong> {
        let Some(&byte) = self.bytes.get(self.at) else { return self.wrong("a record ends too early") };
        self.at += 1;
        Ok(byte)
    }

    /// Reads a number of 7 bits in each byte, the lowest first.
    #[inline]
    pub(super) fn number(&mut self) -> Result<u64, Wrong> {
        let first = self.byte()?;
        if first < 128 { Ok(u64::from(first)) } else { self.long_number(first) }
    }

    fn long_number(&mut self, first: u8) -> Result<u64, Wrong> {
        let mut number = u64::from(first & 127);
        for shift in (7..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Ok(number);
            }
        }
        self.wrong("a number has more than 64 bits")
    }

    #[inline]
    pub(super) fn signed(&mut self) -> Result<i64, Wrong> {
        let number = self.number()?;
        Ok((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    #[inline]
    pub(super) fn small(&mut self) -> Result<u32, Wrong> {
        let number = self.number()?;
        u32::try_from(number).or_else(|_| self.wrong(format!("{number} has more than 32 bits")))
    }

    /// Reads how many items of at least a byte follow.
    pub(super) fn length(&mut self) -> Result<usize, Wrong> {
        let number = self.number()?;
        let left = self.bytes.len() - self.at;
        match usize::try_from(number) {
            Ok(length) if length <= left => Ok(length),
            _ => self.wrong(format!("{number} items do not fit in {left} bytes")),
        }
    }

    pub(super) fn text(&mut self) -> Result<Cow<'a, str>, Wrong> {
        let length = self.length()?;
        let text = &self.bytes[self.at..self.at + length];
        self.at += length;
        Ok(String::from_utf8_lossy(text))
    }
}
