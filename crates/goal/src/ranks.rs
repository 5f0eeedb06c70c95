//! The ranks of a GOAL text: what they say, word by word.

use loggp::{Operation, Placed, Requirement, ScheduleBuilder, Time};
use rustc_hash::FxHashMap;

use super::blocks::Block;
use super::lexer::{Lexer, Token};
use super::{GoalError, length};

/// What a text says, and the place after which that is known.
pub enum Said {
    /// A rank with this number begins.
    Rank(u64, usize),
    /// It has an operation.
    Operation(Placed, usize),
    /// One of its operations waits for another.
    Requirement(Requirement, usize),
    /// It ends.
    End(usize),
}

/// Reads the ranks of a block.
pub struct Ranks<'a> {
    lexer: Lexer<'a>,
    /// How long a unit of `calc` is.
    unit: Time,
    /// What they say.
    said: Vec<Said>,
    /// How many operations the rank has.
    operations: u32,
    /// Those that have names.
    labels: FxHashMap<&'a [u8], u32>,
}

/// No more names than these are forgotten one by one.
const FEW: usize = 1 << 10;

impl<'a> Ranks<'a> {
    fn of(block: &'a Block, unit: Time) -> Ranks<'a> {
        Ranks { lexer: Lexer::of(block), unit, said: Vec::new(), operations: 0, labels: FxHashMap::default() }
    }

    /// Reads the beginning of a text, before its first rank, which says how many there are.
    pub fn begin(block: &mut Block, unit: Time) -> Result<ScheduleBuilder, GoalError> {
        let mut begin = Ranks::of(block, unit);
        match begin.token()? {
            Token::Word(b"num_ranks") => (),
            other => {
                return Err(begin.lexer.error(format!(
                    "a schedule begins with the number of its ranks, as in num_ranks 8, and not with {}",
                    other.said()
                )));
            }
        }
        let ranks = begin.number("the number of ranks")?;
        let builder = super::begin(ranks).map_err(|why| begin.lexer.error(why))?;
        block.from = begin.lexer.next_place();
        Ok(builder)
    }

    /// Reads all of them. Returns what they say, and what is wrong after that, if anything is.
    pub fn read(block: &Block, unit: Time) -> (Vec<Said>, Result<(), GoalError>) {
        let mut ranks = Ranks::of(block, unit);
        let end = ranks.ranks();
        (ranks.said, end)
    }

    /// The name of an operation of the rank whose number is at this place.
    pub fn name(block: &Block, rank: usize, operation: u32) -> Option<String> {
        let mut ranks = Ranks::of(block, Time::ZERO);
        ranks.lexer.go_to(rank);
        ranks.lexer.next().and_then(|_| ranks.rank()).ok()?;
        let (name, _) = ranks.labels.iter().find(|(_, number)| **number == operation)?;
        Some(Token::Word(name).said())
    }

    fn ranks(&mut self) -> Result<(), GoalError> {
        loop {
            match self.token()? {
                Token::End => return Ok(()),
                Token::Word(b"rank") => {
                    let rank = self.number("the number of a rank")?;
                    self.said.push(Said::Rank(rank, self.lexer.place()));
                    self.rank()?;
                    self.said.push(Said::End(self.lexer.place()));
                }
                other => return Err(self.expected("rank, with its number and {", other)),
            }
        }
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
    fn rank(&mut self) -> Result<(), GoalError> {
        self.operations = 0;
        match self.labels.capacity() {
            ..FEW => self.labels.clear(),
            _ => self.labels = FxHashMap::default(),
        }
        match self.token()? {
            Token::Sign(b'{') => (),
            other => return Err(self.expected("{", other)),
        }
        loop {
            match self.token()? {
                Token::Sign(b'}') => return Ok(()),
                Token::Word(word @ (b"send" | b"recv" | b"calc")) => {
                    self.operation(word)?;
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
                            Token::Word(word @ (b"send" | b"recv" | b"calc")) => self.operation(word)?,
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
                        self.said.push(Said::Requirement(requirement, self.lexer.place()));
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
    fn operation(&mut self, word: &[u8]) -> Result<u32, GoalError> {
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
        self.said.push(Said::Operation(Placed { what, cpu, nic }, place));
        self.operations += 1;
        self.ends(end)?;
        Ok(self.operations - 1)
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
                self.lexer.go_to(self.lexer.place());
                Ok(())
            }
            other => Err(self.expected("the end of the line", other)),
        }
    }
}
