//! The words of a GOAL text, with their places.

use std::io::BufRead;

use super::GoalError;

/// A word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    /// A name or a keyword.
    Word(Vec<u8>),
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

/// Reads a text word by word.
pub struct Lexer<'a> {
    input: &'a mut dyn BufRead,
    /// What was read and not used yet, and how much of it was used.
    buffer: Vec<u8>,
    used: usize,
    /// Where the next byte is.
    line: u64,
    column: u64,
    /// Where the last word began.
    at: (u64, u64),
    /// A word that was given back, and comes again.
    back: Option<Token>,
}

impl<'a> Lexer<'a> {
    pub fn new(input: &'a mut dyn BufRead) -> Lexer<'a> {
        Lexer { input, buffer: Vec::new(), used: 0, line: 1, column: 1, at: (1, 1), back: None }
    }

    /// The error that something is wrong where the last word began.
    pub fn error(&self, why: impl Into<String>) -> GoalError {
        let (line, column) = self.at;
        GoalError::Text { line, column, why: why.into() }
    }

    /// Where the last word began: its line and its column.
    pub fn place(&self) -> (u64, u64) {
        self.at
    }

    /// Gives the last word back.
    pub fn give_back(&mut self, token: Token) {
        self.back = Some(token);
    }

    /// The next byte, which stays.
    #[inline]
    fn peek(&mut self) -> Result<Option<u8>, GoalError> {
        if self.used == self.buffer.len() {
            self.fill()?;
        }
        Ok(self.buffer.get(self.used).copied())
    }

    /// Reads more.
    #[cold]
    fn fill(&mut self) -> Result<(), GoalError> {
        self.buffer.clear();
        self.used = 0;
        loop {
            match self.input.fill_buf() {
                Ok(bytes) => {
                    self.buffer.extend_from_slice(bytes);
                    let read = bytes.len();
                    self.input.consume(read);
                    return Ok(());
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => (),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Takes the next byte.
    #[inline]
    fn take(&mut self) {
        if self.buffer.get(self.used) == Some(&b'\n') {
            (self.line, self.column) = (self.line + 1, 1);
        } else {
            self.column += 1;
        }
        self.used += 1;
    }

    /// The next word.
    pub fn next(&mut self) -> Result<Token, GoalError> {
        if let Some(token) = self.back.take() {
            return Ok(token);
        }
        loop {
            let byte = self.peek()?;
            self.at = (self.line, self.column);
            let Some(byte) = byte else { return Ok(Token::End) };
            match byte {
                b' ' | b'\t' | b'\r' => self.take(),
                b'\n' => {
                    self.take();
                    return Ok(Token::Line);
                }
                b'{' | b'}' | b':' => {
                    self.take();
                    return Ok(Token::Sign(byte));
                }
                b'/' => self.comment()?,
                b'0'..=b'9' => return self.number(),
                b'-' => {
                    self.take();
                    return match self.peek()? {
                        Some(b'0'..=b'9') if self.number()? == Token::Number(1) => Ok(Token::Any),
                        _ => Err(self.error("a number below 0 can only be -1, for any")),
                    };
                }
                byte if byte.is_ascii_alphabetic() || byte == b'_' => return self.word(),
                byte => return Err(self.error(format!("{} belongs to no word", said(byte)))),
            }
        }
    }

    /// Leaves out a comment.
    fn comment(&mut self) -> Result<(), GoalError> {
        self.take();
        match self.peek()? {
            Some(b'/') => {
                while self.peek()?.is_some_and(|byte| byte != b'\n') {
                    self.take();
                }
                Ok(())
            }
            Some(b'*') => {
                self.take();
                let mut before = 0;
                while let Some(byte) = self.peek()? {
                    self.take();
                    if (before, byte) == (b'*', b'/') {
                        return Ok(());
                    }
                    before = byte;
                }
                Err(self.error("this comment does not end; end it with */"))
            }
            _ => Err(self.error("/ belongs to no word; a comment begins with // or /*")),
        }
    }

    fn number(&mut self) -> Result<Token, GoalError> {
        let mut number: u64 = 0;
        while let Some(digit @ b'0'..=b'9') = self.peek()? {
            let more = number.checked_mul(10).and_then(|number| number.checked_add(u64::from(digit - b'0')));
            number = more.ok_or_else(|| self.error(format!("a number is at most {}", u64::MAX)))?;
            self.take();
        }
        Ok(Token::Number(number))
    }

    fn word(&mut self) -> Result<Token, GoalError> {
        let mut word = Vec::new();
        while let Some(byte) = self.peek()?.filter(|byte| byte.is_ascii_alphanumeric() || *byte == b'_') {
            if word.len() == LONGEST {
                return Err(self.error(format!("a name has at most {LONGEST} letters")));
            }
            word.push(byte);
            self.take();
        }
        Ok(Token::Word(word))
    }
}

impl Token {
    /// What errors call it.
    pub fn said(&self) -> String {
        match self {
            Token::Word(word) => String::from_utf8_lossy(word).into_owned(),
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
