//! GOAL as text: reads it and writes it. `docs/reference/replay.md` has the grammar.

use std::collections::HashMap;
use std::io::{self, BufWriter, Read, Write};

use loggp::{Operation, Placed, Requirement, Schedule, ScheduleBuilder, ScheduleError, Time};

use super::lexer::{Lexer, Token};
use super::{GoalError, begin, length, units};

/// A longer text than this is refused: whatever a schedule says fits into less, and input without an end does not.
const LONGEST: u64 = 1 << 32;

/// Reads a text.
pub fn read(input: &mut dyn Read, unit: Time) -> Result<Schedule, GoalError> {
    let mut text = Vec::new();
    input.take(LONGEST).read_to_end(&mut text)?;
    let mut reader = Reader { lexer: Lexer::new(&text), unit, labels: HashMap::new() };
    if text.len() as u64 == LONGEST {
        return Err(reader
            .lexer
            .error(format!("the text is longer than {LONGEST} bytes; write it as .bin, which is shorter")));
    }
    match reader.token()? {
        Token::Word(b"num_ranks") => (),
        other => {
            return Err(reader.lexer.error(format!(
                "a schedule begins with the number of its ranks, as in num_ranks 8, and not with {}",
                other.said()
            )));
        }
    }
    let ranks = reader.number("the number of ranks")?;
    let mut builder = begin(ranks).map_err(|why| reader.lexer.error(why))?;
    let mut written = 0;
    loop {
        match reader.token()? {
            Token::End if written == ranks => break,
            Token::End => {
                return Err(reader.lexer.error(format!(
                    "the file ends after {written} ranks, and num_ranks says {ranks}; write all, also those that do nothing"
                )));
            }
            Token::Word(b"rank") => {
                let rank = reader.number("the number of a rank")?;
                let rank = usize::try_from(rank).unwrap_or(usize::MAX);
                builder.rank(rank).map_err(|why| reader.error(why))?;
                written += 1;
                reader.rank(&mut builder)?;
            }
            other => return Err(reader.expected("rank, with its number and {", other)),
        }
    }
    builder.build().map_err(|why| reader.error(why))
}

/// Reads rank by rank.
struct Reader<'a> {
    lexer: Lexer<'a>,
    /// How long a unit of `calc` is.
    unit: Time,
    /// The operations of the rank that have names.
    labels: HashMap<&'a [u8], u32>,
}

impl<'a> Reader<'a> {
    fn error(&self, why: ScheduleError) -> GoalError {
        let label = |operation| self.labels.iter().find(|(_, number)| **number == operation);
        self.lexer.error(why.naming(|operation| Some(Token::Word(label(operation)?.0).said())))
    }

    fn expected(&self, what: &str, found: Token) -> GoalError {
        self.lexer.error(format!("here belongs {what}, and not {}", found.said()))
    }

    /// The next word that is no end of a line.
    fn token(&mut self) -> Result<Token<'a>, GoalError> {
        loop {
            match self.lexer.next()? {
                Token::Line => (),
                token => return Ok(token),
            }
        }
    }

    fn number(&mut self, what: &str) -> Result<u64, GoalError> {
        let token = self.lexer.next()?;
        self.number_in(token, what)
    }

    fn number_in(&self, token: Token, what: &str) -> Result<u64, GoalError> {
        match token {
            Token::Number(number) => Ok(number),
            other => Err(self.expected(what, other)),
        }
    }

    /// A rank or a tag; nothing for -1, which may stand for any.
    fn number_or_any(&mut self, what: &str) -> Result<Option<u32>, GoalError> {
        match self.lexer.next()? {
            Token::Any => Ok(None),
            token => self.in_32_bits(self.number_in(token, what)?, what).map(Some),
        }
    }

    fn number_of_32_bits(&mut self, what: &str) -> Result<u32, GoalError> {
        let number = self.number(what)?;
        self.in_32_bits(number, what)
    }

    fn in_32_bits(&self, number: u64, what: &str) -> Result<u32, GoalError> {
        let allowed = u32::try_from(number).ok().filter(|number| *number < u32::MAX);
        allowed
            .ok_or_else(|| self.lexer.error(format!("{what} is less than {}, and {number} is not", u32::MAX)))
    }

    fn byte(&mut self, what: &str) -> Result<u8, GoalError> {
        let number = self.number(what)?;
        u8::try_from(number)
            .map_err(|_| self.lexer.error(format!("{what} is at most 255, and {number} is more")))
    }

    fn keyword(&mut self, keyword: &str, what: &str) -> Result<(), GoalError> {
        match self.lexer.next()? {
            Token::Word(word) if word == keyword.as_bytes() => Ok(()),
            other => Err(self.expected(what, other)),
        }
    }

    /// Reads a rank, whose number has been read.
    fn rank(&mut self, builder: &mut ScheduleBuilder) -> Result<(), GoalError> {
        self.labels.clear();
        match self.token()? {
            Token::Sign(b'{') => (),
            other => return Err(self.expected("{", other)),
        }
        loop {
            match self.token()? {
                Token::Sign(b'}') => return Ok(()),
                Token::Word(word @ (b"send" | b"recv" | b"calc")) => {
                    self.operation(builder, word)?;
                }
                Token::Word(label) => match self.lexer.next()? {
                    Token::Sign(b':') => {
                        if self.labels.contains_key(label) {
                            let label = Token::Word(label).said();
                            return Err(self.lexer.error(format!(
                                "{label} names two operations of a rank; give each another name"
                            )));
                        }
                        let operation = match self.lexer.next()? {
                            Token::Word(word @ (b"send" | b"recv" | b"calc")) => {
                                self.operation(builder, word)?
                            }
                            other => return Err(self.expected("send, recv or calc", other)),
                        };
                        self.labels.insert(label, operation);
                    }
                    Token::Word(word @ (b"requires" | b"irequires")) => {
                        let later = self.label(label)?;
                        let earlier = match self.lexer.next()? {
                            Token::Word(earlier) => self.label(earlier)?,
                            other => return Err(self.expected("the name of an operation", other)),
                        };
                        let requirement = Requirement { later, earlier, begun: word == b"irequires" };
                        builder.require(requirement).map_err(|why| self.error(why))?;
                        let end = self.lexer.next()?;
                        self.ends(end)?;
                    }
                    other => return Err(self.expected("a colon, requires or irequires", other)),
                },
                Token::End => return Err(self.lexer.error("the file ends within a rank; end that with }")),
                other => return Err(self.expected("an operation, a name or }", other)),
            }
        }
    }

    /// The operation with a name.
    fn label(&self, label: &[u8]) -> Result<u32, GoalError> {
        self.labels.get(label).copied().ok_or_else(|| {
            let label = Token::Word(label).said();
            self.lexer
                .error(format!("{label} names no operation of this rank so far; write the operation first"))
        })
    }

    /// Reads an operation, whose first word this is. Returns its number.
    fn operation(&mut self, builder: &mut ScheduleBuilder, word: &[u8]) -> Result<u32, GoalError> {
        let mut what = match word {
            b"calc" => self.calc()?,
            b"send" => {
                let bytes = self.bytes("to")?;
                Operation::Send { bytes, to: self.number_of_32_bits("the number of a rank")?, tag: 0 }
            }
            _ => {
                let bytes = self.bytes("from")?;
                Operation::Recv { bytes, from: self.number_or_any("the number of a rank")?, tag: Some(0) }
            }
        };
        let place = self.lexer.place();
        let (mut cpu, mut nic) = (0, 0);
        let end = loop {
            match (self.lexer.next()?, &mut what) {
                (Token::Word(b"cpu"), _) => cpu = self.byte("the number of a processor")?,
                (Token::Word(b"nic"), _) => nic = self.byte("the number of an interface")?,
                (Token::Word(b"tag"), Operation::Send { tag, .. }) => {
                    *tag = self.number_of_32_bits("a tag")?
                }
                (Token::Word(b"tag"), Operation::Recv { tag, .. }) => *tag = self.number_or_any("a tag")?,
                (end, _) => break end,
            }
        };
        let number = builder.place(Placed { what, cpu, nic });
        let number = number.map_err(|why| self.lexer.error_at(place, why.to_string()))?;
        self.ends(end)?;
        Ok(number)
    }

    fn calc(&mut self) -> Result<Operation, GoalError> {
        let number = self.number("how long it takes")?;
        let time = length(number, self.unit).ok_or_else(|| {
            self.lexer.error(format!("{number} units of {} are after the end of time; give fewer", self.unit))
        })?;
        Ok(Operation::Calc(time))
    }

    /// How many bytes go to a rank, or come from one.
    fn bytes(&mut self, preposition: &str) -> Result<u64, GoalError> {
        let bytes = self.number("how many bytes, as in 8b")?;
        self.keyword("b", "b, for bytes")?;
        self.keyword(preposition, preposition)?;
        Ok(bytes)
    }

    /// An operation or a requirement ends with its line, or with its rank.
    fn ends(&mut self, end: Token) -> Result<(), GoalError> {
        match end {
            Token::Line => Ok(()),
            Token::Sign(b'}') | Token::End => {
                self.lexer.give_back();
                Ok(())
            }
            other => Err(self.expected("the end of the line", other)),
        }
    }
}

/// Writes a text.
pub fn write(schedule: &Schedule, out: &mut dyn Write, unit: Time) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    writeln!(out, "num_ranks {}", schedule.ranks())?;
    for rank in 0..schedule.ranks() {
        writeln!(out, "\nrank {rank} {{")?;
        for (number, Placed { what, cpu, nic }) in (1..).zip(schedule.operations(rank)) {
            let any = |number: Option<u32>| number.map_or(-1, i64::from);
            match what {
                Operation::Send { to, bytes, tag } => {
                    write!(out, "l{number}: send {bytes}b to {to} tag {tag}")
                }
                Operation::Recv { from, bytes, tag } => {
                    write!(out, "l{number}: recv {bytes}b from {} tag {}", any(from), any(tag))
                }
                Operation::Calc(time) => write!(out, "l{number}: calc {}", units(time, unit)?),
            }?;
            if cpu > 0 {
                write!(out, " cpu {cpu}")?;
            }
            if nic > 0 && !matches!(what, Operation::Calc(_)) {
                write!(out, " nic {nic}")?;
            }
            writeln!(out)?;
        }
        for Requirement { later, earlier, begun } in schedule.requirements_of(rank) {
            let requires = if begun { "irequires" } else { "requires" };
            writeln!(out, "l{} {requires} l{}", later + 1, earlier + 1)?;
        }
        writeln!(out, "}}")?;
    }
    out.flush()
}
