//! Parses the ranks of a GOAL text.

use loggp_model::time::Time;
use loggp_schedule::{Operation, PlacedOperation, Requirement, ScheduleBuilder};
use rustc_hash::FxHashMap;

use super::blocks::TextBlock;
use super::lexer::{Lexer, Token};
use super::{GoalError, length};

/// A statement of a text, and the index at which an error about it is reported.
pub(crate) enum Statement {
    /// The beginning of the rank with this number.
    Rank(u64, usize),
    /// An operation of the rank.
    Operation(PlacedOperation, usize),
    /// A requirement between two operations of the rank.
    Requirement(Requirement, usize),
    /// The end of the rank.
    End(usize),
}

/// A parser of a block's ranks.
pub(crate) struct RankParser<'a> {
    lexer: Lexer<'a>,
    /// Length of a unit of `calc`.
    unit: Time,
    statements: Vec<Statement>,
    /// The number of operations of the current rank so far.
    operations: u32,
    /// The numbers of its named operations.
    labels: FxHashMap<&'a [u8], u32>,
}

/// If there is room for fewer labels than this, the map is cleared instead of replaced.
const FEW: usize = 1 << 10;

impl<'a> RankParser<'a> {
    fn new(block: &'a TextBlock, unit: Time) -> RankParser<'a> {
        RankParser {
            lexer: Lexer::new(block),
            unit,
            statements: Vec::new(),
            operations: 0,
            labels: FxHashMap::default(),
        }
    }

    /// Parses the beginning of a text, which has the number of ranks.
    pub(crate) fn read_header(block: &mut TextBlock, unit: Time) -> Result<ScheduleBuilder, GoalError> {
        let mut begin = RankParser::new(block, unit);
        match begin.token()? {
            Token::Word(b"num_ranks") => (),
            other => {
                return Err(begin.lexer.error(format!(
                    "a schedule begins with the number of its ranks, as in num_ranks 8, and not with {}",
                    other.describe()
                )));
            }
        }
        let ranks = begin.number("the number of ranks")?;
        let builder = super::new_builder(ranks).map_err(|why| begin.lexer.error(why))?;
        block.from = begin.lexer.next;
        Ok(builder)
    }

    /// Parses a block. Returns its statements, and the error after them if there is one.
    pub(crate) fn read_ranks(block: &TextBlock, unit: Time) -> (Vec<Statement>, Result<(), GoalError>) {
        let mut ranks = RankParser::new(block, unit);
        let end = ranks.ranks();
        (ranks.statements, end)
    }

    /// Returns the name of an operation of the rank whose number is at this index, or `None` if it has none.
    pub(crate) fn operation_name(block: &TextBlock, rank: usize, operation: u32) -> Option<String> {
        let mut ranks = RankParser::new(block, Time::ZERO);
        ranks.lexer.next = rank;
        ranks.lexer.next().and_then(|_| ranks.rank()).ok()?;
        let (name, _) = ranks.labels.iter().find(|(_, number)| **number == operation)?;
        Some(Token::Word(name).describe())
    }

    fn ranks(&mut self) -> Result<(), GoalError> {
        loop {
            match self.token()? {
                Token::End => return Ok(()),
                Token::Word(b"rank") => {
                    let rank = self.number("the number of a rank")?;
                    self.statements.push(Statement::Rank(rank, self.lexer.at));
                    self.rank()?;
                    self.statements.push(Statement::End(self.lexer.at));
                }
                other => return Err(self.expected("rank, with its number and {", other)),
            }
        }
    }

    fn expected(&self, what: &str, found: Token) -> GoalError {
        self.lexer.error(format!("here belongs {what}, and not {}", found.describe()))
    }

    /// Returns the next token that is not the end of a line.
    fn token(&mut self) -> Result<Token<'a>, GoalError> {
        loop {
            match self.lexer.next()? {
                Token::Line => (),
                token => return Ok(token),
            }
        }
    }

    fn number(&mut self, what: &str) -> Result<u64, GoalError> {
        match self.lexer.next()? {
            Token::Number(number) => Ok(number),
            other => Err(self.expected(what, other)),
        }
    }

    /// Parses a rank or a tag, or -1 for any, which is `None`.
    fn number_or_any(&mut self, what: &str) -> Result<Option<u32>, GoalError> {
        match self.lexer.next()? {
            Token::Any => Ok(None),
            Token::Number(number) => self.check_u32(number, what).map(Some),
            other => Err(self.expected(what, other)),
        }
    }

    fn number_u32(&mut self, what: &str) -> Result<u32, GoalError> {
        let number = self.number(what)?;
        self.check_u32(number, what)
    }

    fn check_u32(&self, number: u64, what: &str) -> Result<u32, GoalError> {
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

    /// Parses a rank after its number.
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
                            let label = Token::Word(label).describe();
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
                        self.statements.push(Statement::Requirement(requirement, self.lexer.at));
                        let end = self.lexer.next()?;
                        self.finish_line(end)?;
                    }
                    other => return Err(self.expected("a colon, requires or irequires", other)),
                },
                Token::End => return Err(self.lexer.error("the file ends within a rank; end that with }")),
                other => return Err(self.expected("an operation, a name or }", other)),
            }
        }
    }

    /// Returns the number of the operation with a name.
    fn label(&self, label: &[u8]) -> Result<u32, GoalError> {
        self.labels.get(label).copied().ok_or_else(|| {
            let label = Token::Word(label).describe();
            self.lexer
                .error(format!("{label} names no operation of this rank so far; write the operation first"))
        })
    }

    /// Parses an operation after its first word. Returns its number.
    fn operation(&mut self, word: &[u8]) -> Result<u32, GoalError> {
        let mut what = match word {
            b"calc" => self.calc()?,
            b"send" => {
                let bytes = self.bytes("to")?;
                Operation::Send { bytes, to: self.number_u32("the number of a rank")?, tag: 0 }
            }
            _ => {
                let bytes = self.bytes("from")?;
                Operation::Recv { bytes, from: self.number_or_any("the number of a rank")?, tag: Some(0) }
            }
        };
        let position = self.lexer.at;
        let (mut cpu, mut nic) = (0, 0);
        let end = loop {
            match (self.lexer.next()?, &mut what) {
                (Token::Word(b"cpu"), _) => cpu = self.byte("the number of a processor")?,
                (Token::Word(b"nic"), _) => nic = self.byte("the number of an interface")?,
                (Token::Word(b"tag"), Operation::Send { tag, .. }) => *tag = self.number_u32("a tag")?,
                (Token::Word(b"tag"), Operation::Recv { tag, .. }) => *tag = self.number_or_any("a tag")?,
                (end, _) => break end,
            }
        };
        self.statements.push(Statement::Operation(PlacedOperation { operation: what, cpu, nic }, position));
        self.operations += 1;
        self.finish_line(end)?;
        Ok(self.operations - 1)
    }

    fn calc(&mut self) -> Result<Operation, GoalError> {
        let number = self.number("how long it takes")?;
        let time = length(number, self.unit).ok_or_else(|| {
            self.lexer.error(format!("{number} units of {} are after the end of time; give fewer", self.unit))
        })?;
        Ok(Operation::Calc(time))
    }

    /// Parses a size in bytes and the preposition before a rank.
    fn bytes(&mut self, preposition: &str) -> Result<u64, GoalError> {
        let bytes = self.number("how many bytes, as in 8b")?;
        self.keyword("b", "b, for bytes")?;
        self.keyword(preposition, preposition)?;
        Ok(bytes)
    }

    /// Checks that an operation or a requirement ends with its line or its rank.
    fn finish_line(&mut self, end: Token) -> Result<(), GoalError> {
        match end {
            Token::Line => Ok(()),
            Token::Sign(b'}') | Token::End => {
                self.lexer.next = self.lexer.at;
                Ok(())
            }
            other => Err(self.expected("the end of the line", other)),
        }
    }
}
