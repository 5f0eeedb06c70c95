//! Splits a GOAL text into tokens.

use loggp_model::text::escaped;

use super::GoalError;
use super::blocks::TextBlock;

/// A token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token<'a> {
    /// A name or a keyword.
    Word(&'a [u8]),
    /// A whole number.
    Number(u64),
    /// -1, for any.
    Any,
    /// A colon or a brace.
    Sign(u8),
    /// The end of a line.
    Line,
    /// The end of the text.
    End,
}

/// The longest name in bytes.
const LONGEST: usize = 255;

/// A lexer of a block.
pub(crate) struct Lexer<'a> {
    block: &'a TextBlock,
    text: &'a [u8],
    /// The index of the last token.
    pub at: usize,
    /// The index of the next token or the space before it.
    pub next: usize,
}

impl<'a> Lexer<'a> {
    /// Creates a lexer at the start of the block's ranks.
    pub(crate) fn new(block: &'a TextBlock) -> Lexer<'a> {
        Lexer { block, text: &block.text, at: block.from, next: block.from }
    }

    /// Returns an error at the last token.
    pub(crate) fn error(&self, why: impl Into<String>) -> GoalError {
        self.block.error(self.at, why)
    }

    /// Returns the next token.
    pub(crate) fn next(&mut self) -> Result<Token<'a>, GoalError> {
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
                byte => return Err(self.error(format!("{} belongs to no word", describe_byte(byte)))),
            }
        }
    }

    /// Takes bytes as long as `is_such` holds.
    fn take(&mut self, is_such: impl Fn(&u8) -> bool) -> &'a [u8] {
        let rest = &self.text[self.next..];
        let length = rest.iter().position(|byte| !is_such(byte)).unwrap_or(rest.len());
        self.next += length;
        &rest[..length]
    }

    /// Skips a comment.
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
    /// Returns the name of the token in errors.
    pub(crate) fn describe(&self) -> String {
        match self {
            Token::Word(word) => escaped(&String::from_utf8_lossy(word)).to_string(),
            Token::Number(number) => number.to_string(),
            Token::Any => "-1".into(),
            Token::Sign(sign) => describe_byte(*sign),
            Token::Line => "the end of the line".into(),
            Token::End => "the end of the file".into(),
        }
    }
}

/// Returns the name of a byte in errors.
fn describe_byte(byte: u8) -> String {
    if byte.is_ascii_graphic() { char::from(byte).to_string() } else { format!("the byte {byte}") }
}
