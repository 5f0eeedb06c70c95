//! GOAL as text: reads it and writes it. `docs/reference/replay.md` has the grammar.

use std::collections::HashMap;
use std::io::{self, BufRead, BufWriter, Write};

use loggp::{Operation, Placed, Requirement, Schedule, ScheduleBuilder, ScheduleError, Time};

use super::lexer::{Lexer, Token};
use super::{GoalError, begin, length, units};

/// Reads a text.
pub fn read(input: &mut dyn BufRead, unit: Time) -> Result<Schedule, GoalError> {
    let mut reader = Reader { lexer: Lexer::new(input), unit, labels: HashMap::new() };
    reader.keyword("num_ranks", "a schedule begins with the number of its ranks, as in num_ranks 8")?;
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
            Token::Word(word) if word == b"rank" => {
                let rank = reader.number("the number of a rank")?;
                let rank = usize::try_from(rank).unwrap_or(usize::MAX);
                builder.rank(rank).map_err(|why| reader.error(why))?;
                written += 1;
                reader.rank(&mut builder)?;
            }
            other => {
                return Err(reader.expected("rank, with its number and {", &other));
            }
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
    labels: HashMap<Vec<u8>, u32>,
}

impl Reader<'_> {
    fn error(&self, why: ScheduleError) -> GoalError {
        self.lexer.error(why.to_string())
    }

    fn expected(&self, what: &str, found: &Token) -> GoalError {
        self.lexer.error(format!("here belongs {what}, and not {}", found.said()))
    }

    /// The next word that is no end of a line.
    fn token(&mut self) -> Result<Token, GoalError> {
        loop {
            match self.lexer.next()? {
                Token::Line => (),
                token => return Ok(token),
            }
        }
    }

    fn keyword(&mut self, keyword: &str, why: &str) -> Result<(), GoalError> {
        match self.token()? {
            Token::Word(word) if word == keyword.as_bytes() => Ok(()),
            other => Err(self.lexer.error(format!("{why}, and not with {}", other.said()))),
        }
    }

    fn number(&mut self, what: &str) -> Result<u64, GoalError> {
        match self.lexer.next()? {
            Token::Number(number) => Ok(number),
            other => Err(self.expected(what, &other)),
        }
    }

    /// A number that may be -1, for any.
    fn number_or_any(&mut self, what: &str, may_be_any: bool) -> Result<Option<u32>, GoalError> {
        match self.lexer.next()? {
            Token::Number(number) => match u32::try_from(number) {
                Ok(number) if number < u32::MAX => Ok(Some(number)),
                _ => Err(self.lexer.error(format!("{what} is less than {}, and {number} is not", u32::MAX))),
            },
            Token::Any if may_be_any => Ok(None),
            other => Err(self.expected(what, &other)),
        }
    }

    fn byte(&mut self, what: &str) -> Result<u8, GoalError> {
        let number = self.number(what)?;
        u8::try_from(number)
            .map_err(|_| self.lexer.error(format!("{what} is at most 255, and {number} is more")))
    }

    /// Reads a rank, whose number has been read.
    fn rank(&mut self, builder: &mut ScheduleBuilder) -> Result<(), GoalError> {
        self.labels.clear();
        match self.token()? {
            Token::Sign(b'{') => (),
            other => return Err(self.expected("{", &other)),
        }
        loop {
            match self.token()? {
                Token::Sign(b'}') => return Ok(()),
                Token::Word(word) if is_operation(&word) => {
                    self.operation(builder, &word)?;
                }
                Token::Word(label) => match self.lexer.next()? {
                    Token::Sign(b':') => {
                        if self.labels.contains_key(&label) {
                            let label = Token::Word(label).said();
                            return Err(self.lexer.error(format!(
                                "{label} names two operations of a rank; give each another name"
                            )));
                        }
                        let operation = match self.lexer.next()? {
                            Token::Word(word) if is_operation(&word) => self.operation(builder, &word)?,
                            other => return Err(self.expected("send, recv or calc", &other)),
                        };
                        self.labels.insert(label, operation);
                    }
                    Token::Word(word) if word == b"requires" || word == b"irequires" => {
                        let later = self.label(&label)?;
                        let earlier = match self.lexer.next()? {
                            Token::Word(earlier) => self.label(&earlier)?,
                            other => return Err(self.expected("the name of an operation", &other)),
                        };
                        let requirement = Requirement { later, earlier, begun: word == b"irequires" };
                        builder.require(requirement).map_err(|why| self.error(why))?;
                        let end = self.lexer.next()?;
                        self.ends(end)?;
                    }
                    other => return Err(self.expected("a colon, requires or irequires", &other)),
                },
                Token::End => return Err(self.lexer.error("the file ends within a rank; end that with }")),
                other => return Err(self.expected("an operation, a name or }", &other)),
            }
        }
    }

    /// The operation with a name.
    fn label(&self, label: &[u8]) -> Result<u32, GoalError> {
        self.labels.get(label).copied().ok_or_else(|| {
            let label = Token::Word(label.into()).said();
            self.lexer
                .error(format!("{label} names no operation of this rank so far; write the operation first"))
        })
    }

    /// Reads an operation, whose first word this is. Returns its number.
    fn operation(&mut self, builder: &mut ScheduleBuilder, word: &[u8]) -> Result<u32, GoalError> {
        let (mut cpu, mut nic) = (0, 0);
        if word == b"calc" {
            let number = self.number("how long it takes")?;
            let time = length(number, self.unit).ok_or_else(|| {
                self.lexer
                    .error(format!("{number} units of {} are after the end of time; give fewer", self.unit))
            })?;
            let end = self.parts(&mut cpu, &mut nic, None)?;
            let placed = Placed { what: Operation::Calc(time), cpu, nic };
            let number = builder.place(placed).map_err(|why| self.error(why))?;
            self.ends(end)?;
            return Ok(number);
        }
        let sends = word == b"send";
        let bytes = self.number("how many bytes, as in 8b")?;
        match self.lexer.next()? {
            Token::Word(b) if b == b"b" => (),
            other => return Err(self.expected("b, for bytes", &other)),
        }
        let preposition = if sends { "to" } else { "from" };
        match self.lexer.next()? {
            Token::Word(word) if word == preposition.as_bytes() => (),
            other => return Err(self.expected(preposition, &other)),
        }
        let peer = self.number_or_any("the number of a rank", !sends)?;
        let (mut what, place) = (Operation::Calc(Time::ZERO), self.lexer.place());
        let mut tag = Some(0);
        let end = self.parts(&mut cpu, &mut nic, Some((&mut tag, !sends)))?;
        match (sends, peer, tag) {
            (true, Some(to), Some(tag)) => what = Operation::Send { to, bytes, tag },
            (false, from, tag) => what = Operation::Recv { from, bytes, tag },
            _ => (),
        }
        let placed = builder.place(Placed { what, cpu, nic });
        let number = placed.map_err(|why| {
            let (line, column) = place;
            GoalError::Text { line, column, why: why.to_string() }
        })?;
        self.ends(end)?;
        Ok(number)
    }

    /// Reads what may follow: a tag, a processor, an interface. Returns what comes then.
    fn parts(
        &mut self,
        cpu: &mut u8,
        nic: &mut u8,
        mut tag: Option<(&mut Option<u32>, bool)>,
    ) -> Result<Token, GoalError> {
        loop {
            match self.lexer.next()? {
                Token::Word(word) if word == b"cpu" => *cpu = self.byte("the number of a processor")?,
                Token::Word(word) if word == b"nic" => *nic = self.byte("the number of an interface")?,
                Token::Word(word) if word == b"tag" && tag.is_some() => {
                    if let Some((tag, may_be_any)) = &mut tag {
                        **tag = self.number_or_any("a tag", *may_be_any)?;
                    }
                }
                end => return Ok(end),
            }
        }
    }

    /// An operation or a requirement ends with its line, or with its rank.
    fn ends(&mut self, end: Token) -> Result<(), GoalError> {
        match end {
            Token::Line => Ok(()),
            Token::Sign(b'}') | Token::End => {
                self.lexer.give_back(end);
                Ok(())
            }
            other => Err(self.expected("the end of the line", &other)),
        }
    }
}

fn is_operation(word: &[u8]) -> bool {
    [&b"send"[..], b"recv", b"calc"].contains(&word)
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
