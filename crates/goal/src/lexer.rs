//! The words of a GOAL text, with their places.

use loggp::outside;

use super::GoalError;
use super::blocks::Block;

/// A word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token<'a> {
    /// A name or a keyword.
    Word(&'a [u8]),
    /// A whole number.
    Number(u64),
    /// -1, which stands for any.
    Any,
    /// A colon or a brace.
    Sign(u8),
    /// The end of a line.
    Line,
    /// The end of the text.
    End,
}

/// No name is longer.
const LONGEST: usize = 255;

/// Reads a block word by word.
pub struct Lexer<'a> {
    block: &'a Block,
    text: &'a [u8],
    /// Where the last word began.
    at: usize,
    /// Where the next byte is.
    next: usize,
}

impl<'a> Lexer<'a> {
    /// From where the ranks of the block begin.
    pub fn of(block: &'a Block) -> Lexer<'a> {
        Lexer { block, text: &block.text, at: block.from, next: block.from }
    }

    /// The error that something is wrong where the last word began.
    pub fn error(&self, why: impl Into<String>) -> GoalError {
        self.block.error(self.at, why)
    }

    /// Where the last word began.
    pub fn place(&self) -> usize {
        self.at
    }

    /// Where the next word or the space before it begins.
    pub fn next_place(&self) -> usize {
        self.next
    }

    /// The next word is the one at this place.
    pub fn go_to(&mut self, place: usize) {
        self.next = place;
    }

    /// The next word.
    pub fn next(&mut self) -> Result<Token<'a>, GoalError> {
        loop {
            self.at = self.next;
            let Some(&byte) = self.text.get(self.at) else { return Ok(Token::End) };
            match byte {
                b' ' | b'\t' | b'\r' => self.next += 1,
                b'/' => self.comment()?,
                b'0'..=b'9' => return self.number().map(Token::Number),
                b'a'..=b'z' | b'A'..=b'Z' | b'_' => return self.word(),
                b'\n' => {
                    self.next += 1;
                    return Ok(Token::Line);
                }
                b'{' | b'}' | b':' => {
                    self.next += 1;
                    return Ok(Token::Sign(byte));
                }
                b'-' => {
                    self.next += 1;
                    return match self.number()? {
                        1 => Ok(Token::Any),
                        _ => Err(self.error("a number below 0 can only be -1, for any")),
                    };
                }
                byte => return Err(self.error(format!("{} belongs to no word", said(byte)))),
            }
        }
    }

    /// Takes the bytes from here on that are such.
    fn take(&mut self, is_such: impl Fn(&u8) -> bool) -> &'a [u8] {
        let rest = &self.text[self.next..];
        let length = rest.iter().position(|byte| !is_such(byte)).unwrap_or(rest.len());
        self.next += length;
        &rest[..length]
    }

    /// Leaves out a comment.
    fn comment(&mut self) -> Result<(), GoalError> {
        let comment = &self.text[self.at..];
        match comment.get(1) {
            Some(b'/') => drop(self.take(|byte| *byte != b'\n')),
            Some(b'*') => match comment[2..].windows(2).position(|end| end == b"*/") {
                Some(length) => self.next += length + 4,
                None => return Err(self.error("this comment does not end; end it with */")),
            },
            _ => return Err(self.error("/ belongs to no word; a comment begins with // or /*")),
        }
        Ok(())
    }

    fn number(&mut self) -> Result<u64, GoalError> {
        let more = |number: u64, digit: &u8| number.checked_mul(10)?.checked_add(u64::from(digit - b'0'));
        let number = self.take(u8::is_ascii_digit).iter().try_fold(0, more);
        number.ok_or_else(|| self.error(format!("a number is at most {}", u64::MAX)))
    }

    fn word(&mut self) -> Result<Token<'a>, GoalError> {
        let word = self.take(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        match word.len() {
            0..=LONGEST => Ok(Token::Word(word)),
            _ => Err(self.error(format!("a name has at most {LONGEST} letters"))),
        }
    }
}

impl Token<'_> {
    /// What errors call it.
    pub fn said(&self) -> String {
        match self {
            Token::Word(word) => outside(&String::from_utf8_lossy(word)).to_string(),
            Token::Number(number) => number.to_string(),
            Token::Any => "-1".into(),
            Token::Sign(sign) => said(*sign),
            Token::Line => "the end of the line".into(),
            Token::End => "the end of the file".into(),
        }
    }
}

/// What errors call a byte.
fn said(byte: u8) -> String {
    if byte.is_ascii_graphic() { char::from(byte).to_string() } else { format!("the byte {byte}") }
}
