//! Splits a text into blocks that end at the end of a rank.

use std::io::Read;
use std::mem::take;

use memchr::memmem::find;
use memchr::{memchr, memchr_iter, memrchr};

use super::GoalError;

/// A part of a text, of whole ranks.
#[derive(Default)]
pub(crate) struct TextBlock {
    pub text: Vec<u8>,
    /// The index at which its ranks begin.
    pub from: usize,
    /// The number of lines before the block.
    lines: u64,
    /// The number of bytes before the block in its first line.
    columns: u64,
}

impl TextBlock {
    /// Returns an error at an index of the block.
    pub(crate) fn error(&self, position: usize, why: impl Into<String>) -> GoalError {
        let (lines, columns) = self.position(position);
        GoalError::Text { line: 1 + lines, column: 1 + columns, why: why.into() }
    }

    /// Returns the number of lines before an index, and the number of bytes before it in its line.
    fn position(&self, position: usize) -> (u64, u64) {
        let before = &self.text[..position];
        match memrchr(b'\n', before) {
            Some(end) => {
                (self.lines + memchr_iter(b'\n', before).count() as u64, (before.len() - end - 1) as u64)
            }
            None => (self.lines, self.columns + before.len() as u64),
        }
    }
}

/// A reader of a text, block by block.
pub(crate) struct BlockReader<'a> {
    input: &'a mut dyn Read,
    /// The approximate size of a block in bytes.
    bytes: usize,
    /// The part of the next block that has been read already.
    next: TextBlock,
}

/// The longest rank in bytes, against endless input.
const LONGEST: u64 = 1 << 30;
/// The longest line in bytes, against endless input.
const LONGEST_LINE: usize = 1 << 20;

impl<'a> BlockReader<'a> {
    pub(crate) fn new(input: &'a mut dyn Read, bytes: usize) -> BlockReader<'a> {
        BlockReader { input, bytes, next: TextBlock::default() }
    }

    /// Returns the next block, or `None` at the end of the text.
    pub(crate) fn next(&mut self) -> Result<Option<TextBlock>, GoalError> {
        let mut block = take(&mut self.next);
        loop {
            let known = block.text.len();
            if known as u64 >= LONGEST {
                let why = format!("a rank has more than {LONGEST} bytes; write it as .bin, which is shorter");
                return Err(block.error(0, why));
            }
            let more = self.bytes.max(known) as u64;
            if (&mut *self.input).take(more).read_to_end(&mut block.text)? == 0 {
                return Ok(Some(block).filter(|block| !block.text.is_empty()));
            }
            if let Some(end) = end_of_rank(&block.text) {
                let (lines, columns) = block.position(end);
                self.next = TextBlock { text: block.text.split_off(end), from: 0, lines, columns };
                return Ok(Some(block));
            }
            let begin = memrchr(b'\n', &block.text).map_or(0, |end| end + 1);
            if block.text.len() - begin > LONGEST_LINE {
                return Err(block.error(begin, format!("a line has at most {LONGEST_LINE} bytes")));
            }
        }
    }
}

/// Returns the index after the last closing brace outside of comments, which ends a rank.
fn end_of_rank(text: &[u8]) -> Option<usize> {
    let (mut from, mut last) = (0, None);
    loop {
        let comment = memchr(b'/', &text[from..]).map(|length| from + length);
        let brace = memrchr(b'}', &text[from..comment.unwrap_or(text.len())]);
        last = brace.map(|length| from + length + 1).or(last);
        let Some(comment) = comment.filter(|comment| comment + 1 < text.len()) else { return last };
        let rest = &text[comment + 2..];
        let length = match text[comment + 1] {
            b'/' => memchr(b'\n', rest),
            b'*' => find(rest, b"*/").map(|length| length + 2),
            _ => Some(0),
        };
        let Some(length) = length else { return last };
        from = comment + 2 + length;
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, repeat};

    use crate::read;

    /// A line that never ends is refused early.
    #[test]
    fn a_line_without_an_end_is_refused() {
        for byte in [0, b' ', b'a', b'/', b'{', 0xff] {
            for begin in ["", "num_ranks 1\nrank 0 {\n"] {
                let mut read_bytes = 0;
                let endless = begin.as_bytes().chain(repeat(byte));
                let counted = Counted { input: endless, read: &mut read_bytes };
                let error = read(counted, loggp_model::time::NS).map(drop).unwrap_err().to_string();
                assert!(error.contains("a line has at most 1048576 bytes"), "{byte} {begin:?}: {error}");
                assert!(read_bytes < 1 << 23, "{byte} {begin:?}: {read_bytes}");
            }
        }
    }

    /// Counts what is read.
    struct Counted<'a, R> {
        input: R,
        read: &'a mut usize,
    }

    impl<R: Read> Read for Counted<'_, R> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let read = self.input.read(buffer)?;
            *self.read += read;
            Ok(read)
        }
    }
}
