//! The error of a program that cannot be read or made into a schedule.

/// An error in what was recorded of a rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramError {
    /// The rank, if it is the error of one.
    pub rank: Option<usize>,
    /// The line in the rank's file, from 1, if that has lines.
    pub line: Option<u64>,
    /// The error, in one sentence.
    pub why: String,
}

impl ProgramError {
    /// Creates the error of a rank.
    pub fn of_rank(rank: usize, why: impl Into<String>) -> ProgramError {
        ProgramError { rank: Some(rank), line: None, why: why.into() }
    }

    /// Creates the error of a line of a rank's file.
    pub fn of_line(rank: usize, line: u64, why: impl Into<String>) -> ProgramError {
        ProgramError { rank: Some(rank), line: Some(line), why: why.into() }
    }

    /// Creates the error of a program as a whole.
    pub fn of_program(why: impl Into<String>) -> ProgramError {
        ProgramError { rank: None, line: None, why: why.into() }
    }
}

impl std::fmt::Display for ProgramError {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        match (self.rank, self.line) {
            (Some(rank), Some(line)) => write!(out, "rank {rank}, line {line}: {}", self.why),
            (Some(rank), None) => write!(out, "rank {rank}: {}", self.why),
            _ => out.write_str(&self.why),
        }
    }
}

impl std::error::Error for ProgramError {}
