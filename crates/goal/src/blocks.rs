//! A text in blocks, each of which ends where a rank does.

use std::io::Read;
use std::mem::take;

use memchr::memmem::find;
use memchr::{memchr, memchr_iter, memrchr};

use super::GoalError;

/// A part of a text.
#[derive(Default)]
pub struct Block {
    pub text: Vec<u8>,
    /// Where its ranks begin.
    pub from: usize,
    /// Lines that end before it.
    lines: u64,
    /// Bytes before it in its first line.
    columns: u64,
}

impl Block {
    /// The error that something is wrong at a place.
    pub fn error(&self, place: usize, why: impl Into<String>) -> GoalError {
        let (lines, columns) = self.place(place);
        GoalError::Text { line: 1 + lines, column: 1 + columns, why: why.into() }
    }

    /// How many lines end before a place, and how many bytes are before it in its own.
    fn place(&self, place: usize) -> (u64, u64) {
        let before = &self.text[..place];
        match memrchr(b'\n', before) {
            Some(end) => {
                (self.lines + memchr_iter(b'\n', before).count() as u64, (before.len() - end - 1) as u64)
            }
            None => (self.lines, self.columns + before.len() as u64),
        }
    }
}

/// Fetches a text block by block.
pub struct Blocks<'a> {
    input: &'a mut dyn Read,
    /// A block has about so many bytes.
    bytes: usize,
    /// What comes next, as far as it has been fetched.
    next: Block,
}

/// A longer block is refused: whatever a rank says fits into less, and input without an end does not.
const LONGEST: usize = 1 << 32;

impl<'a> Blocks<'a> {
    pub fn of(input: &'a mut dyn Read, bytes: usize) -> Blocks<'a> {
        Blocks { input, bytes, next: Block::default() }
    }

    /// The next block; the last one may be empty, and then there is none.
    pub fn next(&mut self) -> Result<Option<Block>, GoalError> {
        let mut block = take(&mut self.next);
        loop {
            let known = block.text.len();
            if known >= LONGEST {
                let why = format!("a rank has more than {LONGEST} bytes; write it as .bin, which is shorter");
                return Err(block.error(0, why));
            }
            let more = self.bytes.max(known) as u64;
            if (&mut *self.input).take(more).read_to_end(&mut block.text)? == 0 {
                return Ok(Some(block).filter(|block| !block.text.is_empty()));
            }
            if let Some(end) = end_of_rank(&block.text) {
                let (lines, columns) = block.place(end);
                self.next = Block { text: block.text.split_off(end), from: 0, lines, columns };
                return Ok(Some(block));
            }
        }
    }
}

/// Where the last rank ends that does so in a text: a brace that is in no comment ends one.
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
